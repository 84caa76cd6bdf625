"""What is known beforehand in, what every learner must keep to out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from graphlib import TopologicalSorter
from itertools import pairwise
from os import PathLike
from typing import Any, Self

import numpy as np

from ordag.arrays import Mask
from ordag.checks import as_list, short
from ordag.errors import ColumnError, SettingError
from ordag.graph.base import Graph
from ordag.graph.gate import checked_nodes
from ordag.knowledge.masks import Constraints, violations
from ordag.knowledge.rules import KEYS, Edge, check_rules
from ordag.learners.regressions import members
from ordag.words import did_you_mean, quoted


@dataclass(frozen=True)
class Knowledge:
    """What is known about the arrows of a graph before looking at the data.

    tiers: groups of names, earliest first; nothing in a later tier is a cause of anything in an earlier one.
    required: arrows (source, target) that are there. forbidden: arrows that are not.
    roots: names without parents. sinks: names without children.

    A name need not be mentioned anywhere, and is then free. Contradictions are refused (SettingError).

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
    def of(cls, given: Knowledge | Mapping[str, Any] | str | PathLike[str]) -> Knowledge:
        """Knowledge from a record, from its entries in a mapping, or from the file at a path."""
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
        """From a mapping with some of the keys tiers, required, forbidden, roots and sinks.

        Values are lists as in the constructor, or text as in a file: {"required": "age -> height, age -> weight"}.
        """
        from ordag.knowledge.files import parsed_value

        if not isinstance(entries, Mapping):
            raise SettingError(f"knowledge={short(entries)}: give a mapping with the entries {', '.join(KEYS)}.")
        for key in entries:
            if key not in KEYS:
                hint = did_you_mean(str(key), KEYS)
                raise SettingError(f"knowledge has no entry {key!r}.{hint} Its entries are {', '.join(KEYS)}.")
        return cls(**{key: parsed_value(key, value) for key, value in entries.items() if value is not None})

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """From a text file (docs/knowledge.md has the format), or from YAML if its name ends in .yaml or .yml."""
        from ordag.knowledge.files import read

        return read(cls, path)

    @classmethod
    def from_text(cls, text: str, source: str = "knowledge") -> Self:
        """From text in the format of the file; `source` is how errors call it."""
        from ordag.knowledge.files import parse

        return parse(cls, text, source)

    def to_text(self) -> str:
        """The same in the format of the file: `Knowledge.from_text` gives it back."""
        from ordag.knowledge.files import written

        return written(self)

    def to_dict(self) -> dict[str, Any]:
        """In plain values, without what is empty: `Knowledge.from_dict` gives it back."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            key: [list(item) if isinstance(item, tuple) else item for item in value]
            for key, value in values.items()
            if value
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that is mentioned, in the order in which they come."""
        groups = (*self.tiers, *self.required, *self.forbidden, self.roots, self.sinks)
        return tuple(dict.fromkeys(name for group in groups for name in group))

    def over(self, names: Sequence[str]) -> Constraints:
        """The masks for a table with columns of these names, which must hold all that are mentioned."""
        names = checked_nodes(names)
        place = {name: j for j, name in enumerate(names)}
        unknown = [name for name in self.names if name not in place]
        if unknown:
            hint = did_you_mean(unknown[:4], names, each=2)
            raise ColumnError(f"The knowledge names {quoted(unknown)}, and the table has no such column.{hint}")
        p = len(names)
        roots, sinks = ({place[name] for name in group} for group in (self.roots, self.sinks))
        required, forbidden = (_mask(p, edges, place) for edges in (self.required, self.forbidden))
        tiers = [[place[name] for name in tier] for tier in self.tiers]
        direct = _direct(p, required, tiers)
        certain = _closure(direct)
        allowed = ~_unpacked(certain, p).T & ~forbidden
        allowed[:, list(roots)] = False
        allowed[list(sinks)] = False
        np.fill_diagonal(allowed, False)
        return Constraints(names, allowed, required, _ends_apart(direct, certain, roots, sinks, p), self.to_dict())

    def violations(self, graph: Graph) -> tuple[str, ...]:
        """What a graph does that goes against this, a sentence each."""
        if not isinstance(graph, Graph):
            raise SettingError(f"graph={short(graph)}: give a Dag or a Cpdag.")
        return tuple(violations(graph, self.over(graph.nodes)))


def _direct(p: int, required: Mask, tiers: Sequence[Sequence[int]]) -> list[int]:
    """What comes immediately before every node, as bits. Between two tiers stands a node of its own, numbered from p
    on: all of the earlier tiers come before it, and it comes before the next tier, so there are few pairs."""
    direct = [sum(1 << int(i) for i in np.flatnonzero(required[:, j])) for j in range(p)]
    for k, (tier, following) in enumerate(pairwise(tiers)):
        direct.append(sum(1 << i for i in tier) | (1 << (p + k - 1) if k else 0))
        for j in following:
            direct[j] |= 1 << (p + k)
    return direct


def _closure(direct: Sequence[int]) -> list[int]:
    """All that comes before every node, given what comes immediately before it; there are no cycles."""
    before = list(direct)
    parents = {j: members(bits) for j, bits in enumerate(direct)}
    for j in TopologicalSorter(parents).static_order():
        for i in parents[j]:
            before[j] |= before[i]
    return before


def _ends_apart(direct: Sequence[int], certain: Sequence[int], roots: set[int], sinks: set[int], p: int) -> Mask:
    """The partial order for orderings: beside what is certain, roots come first and sinks last.

    What has no parents can always be listed first, and what has no children last; a tier's place goes before that.
    """
    alone = roots & sinks
    extended = list(direct)
    for root in roots - alone:
        for j in set(range(p)) - roots:
            if not certain[root] >> j & 1:
                extended[j] |= 1 << root
    if sinks - alone:
        so_far = _closure(extended)
        for sink in sinks - alone:
            extended[sink] |= sum(1 << j for j in set(range(p)) - sinks if not so_far[j] >> sink & 1)
    return _unpacked(_closure(extended), p)


def _unpacked(before: Sequence[int], p: int) -> Mask:
    """[i, j] True where bit i of before[j] is set."""
    size = len(before) // 8 + 1
    rows = [np.frombuffer(bits.to_bytes(size, "little"), dtype=np.uint8) for bits in before[:p]]
    packed = np.array(rows, dtype=np.uint8).reshape(p, size)
    return np.ascontiguousarray(np.unpackbits(packed, axis=1, bitorder="little", count=p).T.astype(bool))


def _mask(p: int, edges: Iterable[Edge], place: Mapping[str, int]) -> Mask:
    mask = np.zeros((p, p), dtype=bool)
    for source, target in edges:
        mask[place[source], place[target]] = True
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
