"""The check of knowledge for contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeAlias

from ordag.common.words import shown
from ordag.errors import SettingError
from ordag.graph.formats import Edge
from ordag.graph.graph import arrow

KEYS = ("tiers", "required", "forbidden", "roots", "sinks")

Entry: TypeAlias = tuple[str, str | Edge]
"""An entry of the knowledge: its key, and the name or the arrow."""


class Contradiction(SettingError):
    """Knowledge that no graph satisfies; `entries` are those that conflict."""

    def __init__(self, sentence: str, entries: Iterable[Entry]) -> None:
        super().__init__(sentence)
        self.entries = tuple(entries)


def check_rules(
    tiers: Sequence[Sequence[str]],
    required: Sequence[Edge],
    forbidden: Sequence[Edge],
    roots: Sequence[str],
    sinks: Sequence[str],
) -> None:
    """Raise for the first of these: a name in two tiers, an arrow from a name to itself, or a required arrow that
    is forbidden, leads into a root or out of a sink, is part of a cycle, or leads from a later tier to an earlier."""
    tier = _tiers(tiers)
    for key, edges in (("required", required), ("forbidden", forbidden)):
        for edge in edges:
            if edge[0] == edge[1]:
                raise Contradiction(f"The {key} arrow {arrow(edge)} leads from a variable to itself.", [(key, edge)])
    banned, parentless, childless = set(forbidden), set(roots), set(sinks)
    for edge in required:
        here: Entry = ("required", edge)
        if edge in banned:
            raise Contradiction(f"{arrow(edge)} is both required and forbidden.", [here, ("forbidden", edge)])
        if edge[1] in parentless:
            raise Contradiction(
                f"{arrow(edge)} is required, but {shown(edge[1])} is a root, which has no parents.",
                [here, ("roots", edge[1])],
            )
        if edge[0] in childless:
            raise Contradiction(
                f"{arrow(edge)} is required, but {shown(edge[0])} is a sink, which has no children.",
                [here, ("sinks", edge[0])],
            )
    children: dict[str, list[str]] = {}
    for source, target in required:
        children.setdefault(source, []).append(target)
    earliest = _earliest(children, tier, len(tiers))
    for start in children:
        if earliest[start] < tier.get(start, -1):
            sooner = {name for name in tier if tier[name] < tier[start]}
            path = _path(start, children, sooner)
            words = "arrow leads" if len(path) == 2 else "arrows lead"
            raise Contradiction(
                f"{shown(path[-1])} is in tier {tier[path[-1]] + 1} and {shown(start)} in tier {tier[start] + 1}, but required {words} "
                f"from the later tier to the earlier: {_shown(path)}.",
                [*_along(path), ("tiers", path[-1]), ("tiers", start)],
            )


def _earliest(children: Mapping[str, Sequence[str]], tier: Mapping[str, int], last: int) -> Mapping[str, int]:
    """Return the earliest tier that required arrows lead to from every name, itself included; `last` if they lead to none.

    One pass over the names, effects first. Raises for a cycle.
    """
    earliest: dict[str, int] = {}
    try:
        for name in TopologicalSorter(children).static_order():
            earliest[name] = min(tier.get(name, last), *(earliest[child] for child in children.get(name, ())), last)
    except CycleError as error:
        around = set(error.args[1])
        start = next(name for name in children if name in around)
        cycle = _path(start, children, {start})
        raise Contradiction(f"The required arrows {_shown(cycle)} form a cycle.", _along(cycle)) from None
    return earliest


def _tiers(tiers: Sequence[Sequence[str]]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for number, names in enumerate(tiers):
        if not names:
            raise SettingError(f"Tier {number + 1} of the knowledge is empty: leave it out, or name its variables.")
        for name in names:
            if found.setdefault(name, number) != number:
                raise Contradiction(
                    f"{shown(name)} is in tier {found[name] + 1} and in tier {number + 1}.", [("tiers", name)]
                )
    return found


def _path(start: str, children: Mapping[str, Sequence[str]], ends: Set[str]) -> list[str]:
    """Return a shortest path of at least one arrow from `start` to the nearest of the ends; one must exist."""
    parent: dict[str, str] = {}
    for name in (waiting := [start]):  # which grows meanwhile
        for child in children.get(name, ()):
            if child not in parent:
                parent[child] = name
                waiting.append(child)
    path = [next(name for name in parent if name in ends)]
    while path[-1] != start or len(path) == 1:
        path.append(parent[path[-1]])
    return path[::-1]


def _along(path: Sequence[str]) -> Iterator[Entry]:
    return (("required", edge) for edge in pairwise(path))


def _shown(path: Sequence[str]) -> str:
    return " → ".join(shown(name) for name in path)
