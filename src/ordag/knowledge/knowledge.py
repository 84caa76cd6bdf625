"""`Knowledge`: tiers, required and forbidden arrows, roots and sinks, known before seeing the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np

from ordag.common.arrays import Mask
from ordag.common.checks import as_list, short
from ordag.common.words import did_you_mean, quoted
from ordag.errors import ColumnError, SettingError
from ordag.graph.acyclic import transitive_closure
from ordag.graph.checks import checked_nodes
from ordag.graph.formats import Edge
from ordag.graph.graph import Graph
from ordag.knowledge.files import parsed_entries, parsed_value, read_entries, written
from ordag.knowledge.masks import Constraints, violations
from ordag.knowledge.rules import KEYS, check_rules


@dataclass(frozen=True)
class Knowledge:
    """Background knowledge about the arrows of a graph.

    tiers: groups of names, earliest first; no variable of a later tier causes one of an earlier tier.
    required: arrows (source, target) that the graph has. forbidden: arrows that it does not have.
    roots: names without parents. sinks: names without children.

    Names that are not mentioned are unconstrained. Contradictions raise SettingError.

    >>> Knowledge(tiers=[["age", "sex"], ["income"]], required=[("age", "income")]).required
    (('age', 'income'),)
    """

    tiers: tuple[tuple[str, ...], ...] = ()
    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    roots: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()

    def __init__(
        self,
        tiers: Iterable[Iterable[str]] = (),
        required: Iterable[Iterable[str]] = (),
        forbidden: Iterable[Iterable[str]] = (),
        roots: Iterable[str] = (),
        sinks: Iterable[str] = (),
    ) -> None:
        values = {
            "tiers": tuple(_names(tier, "a tier") for tier in _items(tiers, "tiers")),
            "required": tuple(dict.fromkeys(_edge(edge, "required") for edge in _items(required, "required"))),
            "forbidden": tuple(dict.fromkeys(_edge(edge, "forbidden") for edge in _items(forbidden, "forbidden"))),
            "roots": tuple(dict.fromkeys(_names(roots, "roots"))),
            "sinks": tuple(dict.fromkeys(_names(sinks, "sinks"))),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        check_rules(**values)  # type: ignore[arg-type]

    @classmethod
    def of(cls, given: KnowledgeLike) -> Knowledge:
        """Make knowledge from a record, from a mapping of its entries, or from the file at a path."""
        if isinstance(given, Knowledge):
            return given
        if isinstance(given, Mapping):
            return cls.from_dict(given)
        if isinstance(given, str | PathLike):
            return cls.read(given)
        raise SettingError(
            f"knowledge={short(given)}: give a Knowledge, a mapping with its entries, or the path of a file."
        )

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Self:
        """Make knowledge from a mapping with some of the keys tiers, required, forbidden, roots and sinks.

        Values are lists as in the constructor, or text as in a file: {"required": "age -> height, age -> weight"}.
        """
        if not isinstance(entries, Mapping):
            raise SettingError(f"knowledge={short(entries)}: give a mapping with the entries {', '.join(KEYS)}.")
        for key in entries:
            if key not in KEYS:
                hint = did_you_mean(str(key), KEYS)
                raise SettingError(f"knowledge has no entry {key!r}.{hint} Its entries are {', '.join(KEYS)}.")
        return cls(**{key: parsed_value(key, value) for key, value in entries.items() if value is not None})

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a text file (docs/knowledge.md has the format), or YAML if its name ends in .yaml or .yml."""
        return cls.from_dict(read_entries(path))

    @classmethod
    def from_text(cls, text: str, source: str = "knowledge") -> Self:
        """Parse text in the format of a file; `source` is its name in errors."""
        return cls(**parsed_entries(text, source))

    def to_text(self) -> str:
        """Write in the format of a file, the inverse of `Knowledge.from_text`."""
        return written(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values without empty entries, the inverse of `Knowledge.from_dict`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            key: [list(item) if isinstance(item, tuple) else item for item in value]
            for key, value in values.items()
            if value
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every name mentioned, in order of first mention."""
        groups = (*self.tiers, *self.required, *self.forbidden, self.roots, self.sinks)
        return tuple(dict.fromkeys(name for group in groups for name in group))

    def over(self, names: Sequence[str]) -> Constraints:
        """Return the constraints on a graph over these columns, which must include all names mentioned."""
        names = checked_nodes(names)
        index = {name: j for j, name in enumerate(names)}
        unknown = [name for name in self.names if name not in index]
        if unknown:
            hint = did_you_mean(unknown[:4], names, each=2)
            raise ColumnError(f"The knowledge names {quoted(unknown)}, and the table has no such column.{hint}")
        p = len(names)
        roots, sinks = (np.array([name in group for name in names]) for group in (set(self.roots), set(self.sinks)))
        required, forbidden = (_mask(p, edges, index) for edges in (self.required, self.forbidden))
        direct = _direct(required, [[index[name] for name in tier] for tier in self.tiers])
        certain = transitive_closure(direct)[:p, :p]
        allowed = ~certain.T & ~forbidden
        allowed[:, roots] = False
        allowed[sinks] = False
        np.fill_diagonal(allowed, False)
        return Constraints(names, allowed, required, _with_ends(direct, certain, roots, sinks), self.to_dict())

    def violations(self, graph: Graph) -> tuple[str, ...]:
        """List the edges with which a graph violates this knowledge, one sentence for each."""
        if not isinstance(graph, Graph):
            raise SettingError(f"graph={short(graph)}: give a Dag or a Cpdag.")
        return tuple(violations(graph, self.over(graph.nodes)))


KnowledgeLike: TypeAlias = Knowledge | Mapping[str, Any] | str | PathLike[str]
"""The record, a mapping of its entries, or the path of a file."""


def _direct(required: Mask, tiers: Sequence[Sequence[int]]) -> Mask:
    """Return the direct precedences. Between two tiers there is an extra node, numbered from p on, after all of the earlier
    tiers and before the next, so that there are few pairs."""
    p = len(required)
    direct = np.pad(required, (0, max(len(tiers) - 1, 0)))
    for between, (tier, following) in enumerate(pairwise(tiers), p):
        direct[tier, between] = True
        direct[between, following] = True
        direct[between - 1, between] |= between > p
    return direct


def _with_ends(direct: Mask, certain: Mask, roots: Mask, sinks: Mask) -> Mask:
    """Return the partial order for orderings: the certain precedences, then roots first and sinks last.

    A node without parents can always be listed first, and one without children last; tiers take precedence over that.
    """
    p = len(certain)
    alone = roots & sinks
    extended = direct.copy()
    extended[:p, :p] |= np.outer(roots & ~alone, ~roots) & ~certain.T
    so_far = transitive_closure(extended)[:p, :p]
    extended[:p, :p] |= np.outer(~sinks, sinks & ~alone) & ~so_far.T
    return transitive_closure(extended)[:p, :p]


def _mask(p: int, edges: Iterable[Edge], index: Mapping[str, int]) -> Mask:
    mask = np.zeros((p, p), dtype=bool)
    for source, target in edges:
        mask[index[source], index[target]] = True
    return mask


def _items(values: Any, what: str) -> list[Any]:
    return as_list(values, f"{what}={short(values)} in the knowledge: give a list.")


def _names(values: Any, what: str) -> tuple[str, ...]:
    if isinstance(values, str):
        raise SettingError(f"{values!r} as {what} of the knowledge is a single text: give a list of names.")
    names = _items(values, what)
    for name in names:
        if isinstance(name, Iterable) and not isinstance(name, str):
            raise SettingError(f"There is a list as a name in {what} of the knowledge: give names alone.")
    return tuple(str(name) for name in names)


def _edge(values: Any, what: str) -> Edge:
    ends = _names(values, f"an arrow of {what!r}")
    if len(ends) != 2:
        raise SettingError(f"{list(ends)!r} in {what!r} of the knowledge is no arrow: give its source and its target.")
    return ends[0], ends[1]
