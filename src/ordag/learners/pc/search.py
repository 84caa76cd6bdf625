"""The PC algorithm: an equivalence class of DAGs by tests of conditional independence (Spirtes & Glymour 1991)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.settings import choice, whole
from ordag.common.words import counted, shown
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.errors import TooFewRowsError
from ordag.graph.cpdag import Cpdag
from ordag.knowledge.masks import Constraints, class_fault
from ordag.learners.found import Found
from ordag.learners.orient import directed
from ordag.learners.pc.independence import Progress, Tester
from ordag.learners.pc.orientation import Orientation, Triples, by_separating_set, by_vote, orient
from ordag.learners.pc.skeleton import find_skeleton
from ordag.learners.result import Level, Result
from ordag.learners.settings import MethodSettings, edge_test, level_of_tests, way_to_direct
from ordag.parents.tests import Test, named_test

COLLIDERS = ("largest", "first", "majority", "conservative")


@dataclass(frozen=True)
class PcSettings(MethodSettings):
    """The PC algorithm (Spirtes & Glymour): the equivalence class by tests. A Cpdag, or a Dag with `orient_by_order`.

    A pair with a p-value above alpha, given some set of neighbours, is not joined. A triple a — b — c whose ends are not joined
    is a collider, a → b ← c: with colliders="largest" if b is not in the set with the largest p-value of those that separated a
    and c; with "first" if it is not in the first set found, the later of two contradicting colliders winning, as in the R package
    pcalg; with "majority" and "conservative" all separating sets of neighbours vote. Only with "first" does the answer depend on
    the order of the columns.
    """

    name: ClassVar = "pc"
    about: ClassVar = "finds the equivalence class by tests of conditional independence"
    seconds: ClassVar = 1.3e-5

    alpha: float = level_of_tests()
    _: KW_ONLY
    test: str | Test = edge_test()
    colliders: str = choice("largest", COLLIDERS, "how to tell colliders from other triples")
    max_level: int | None = whole(
        0, "give a whole number from 0 on, or None for no limit", "the most variables to condition on"
    )
    orient_by_order: str | None = way_to_direct()


@dataclass(frozen=True, eq=False)
class PcResult(Result):
    """The equivalence class found by PC, and the evidence for it.

    separating_sets: for every pair that is not joined, the set given which it tested independent.
    p_values: symmetric, with ones on the diagonal; for a pair that is not joined, the p-value of the test that separated it,
        for one that is joined, the largest p-value of its tests.
    levels: the size of the largest conditioning sets. tests: the number of tests.
    ambiguous: triples a — b — c that the majority or conservative rule could not decide.
    conflicts: edges that the tests direct both ways. denied: colliders of the graph that the tests contradict, made of arrows of
        other colliders. refused: colliders found by the tests and ruled out by knowledge.
    valid: whether there are no conflicts, no denied or refused colliders, and the graph is the CPDAG of some DAG (with
        knowledge: the part of a class that satisfies it); if not, `warnings` explain why.
    """

    graph: Cpdag
    separating_sets: Mapping[frozenset[str], tuple[str, ...]]
    p_values: Array
    levels: int
    tests: int
    ambiguous: tuple[tuple[str, str, str], ...]
    conflicts: tuple[tuple[str, str], ...]
    denied: tuple[tuple[str, str, str], ...]
    refused: tuple[tuple[str, str, str], ...]
    valid: bool
    warnings: tuple[str, ...]

    p_value_of = "the largest of all tests of the pair"

    def evidence(self, found: Found, source: Indices, target: Indices) -> dict[str, Array]:
        return {"p_value": self.p_values[source, target]}

    def level(self, found: Found) -> Level | None:
        alpha = found.settings["alpha"]
        pairs = math.comb(found.moments.p, 2)
        return Level("p_value", alpha, pairs, float(alpha or 1.0), stands_for=alpha) if found.graph.edge_count else None

    def entries(self, found: Found) -> dict[str, Any]:
        """Return every pair that is not joined, by the positions of its columns, with the set that separates it."""
        names = found.names
        sets = {tuple(sorted(map(names.index, pair))): given for pair, given in self.separating_sets.items()}
        separated = [
            {"pair": [names[i] for i in pair], "given": list(sets[pair]), "p_value": float(self.p_values[pair])}
            for pair in sorted(sets)
        ]
        return {"separated": separated}

    def details(self) -> dict[str, Any]:
        """Return the rest of the result as plain values, for JSON."""
        return {
            "valid": self.valid,
            "levels": self.levels,
            "tests": self.tests,
            "ambiguous": [list(triple) for triple in self.ambiguous],
            "conflicts": [list(pair) for pair in self.conflicts],
            "refused": [list(triple) for triple in self.refused],
        }


def pc(table: Table, settings: PcSettings, known: Constraints | None = None) -> Found:
    """Learn an equivalence class by PC, and direct it along an order if `orient_by_order` is set."""
    result = pc_search(
        table.moments,
        settings,
        progress=lambda done, planned: table.announce(f"PC: {done:,} of {planned:,} sets so far"),
        known=known,
    )
    return Found(
        method_settings=settings,
        moments=table.moments,
        result=result,
        **directed(result.graph, table, settings.orient_by_order, known, result.warnings),
    )


def pc_search(
    moments: Moments,
    settings: PcSettings | None = None,
    *,
    progress: Progress | None = None,
    known: Constraints | None = None,
    **given: Any,
) -> PcResult:
    """Learn an equivalence class of DAGs by tests of conditional independence (Spirtes & Glymour 1991).

    settings: or each setting as a keyword (`given`).
    progress: called with the number of sets tested and planned so far.
    known: required edges are joined and forbidden ones are not, whatever the tests find; edges with one permitted direction
        are directed before colliders are determined.
    """
    settings = settings or PcSettings(**given)
    colliders, limit = settings.colliders, _limit(moments, settings.max_level)
    tester = Tester(moments, named_test(settings.test), settings.alpha, progress)
    skeleton = find_skeleton(tester, moments.p, first=colliders == "first", limit=limit, known=known)
    if colliders in ("first", "largest"):
        triples = by_separating_set(skeleton)
    else:
        triples = by_vote(skeleton, tester, unanimous=colliders == "conservative", limit=limit)
    tester.plan(0)
    orientation = orient(skeleton.adjacency, triples, overwrite=colliders == "first", known=known)
    names = moments.names
    graph = Cpdag(names, orientation.adjacency)
    in_conflict = np.triu(orientation.contested | orientation.contested_by_rules)
    return PcResult(
        graph=graph,
        separating_sets={
            frozenset((names[i], names[j])): tuple(names[s] for s in S) for (i, j), S in skeleton.separating.items()
        },
        p_values=skeleton.p_values,
        levels=skeleton.largest,
        tests=tester.tests,
        ambiguous=_named(names, triples, triples.ambiguous),
        conflicts=tuple((names[i], names[j]) for i, j in np.argwhere(in_conflict).tolist()),
        denied=_named(names, triples, orientation.denied),
        refused=_named(names, triples, orientation.refused),
        valid=class_fault(graph, known) is None
        and not any(mask.any() for mask in (in_conflict, orientation.denied, orientation.refused)),
        warnings=tuple(_warnings(graph, moments.n, triples, orientation, colliders, settings.max_level, known)),
    )


def _limit(moments: Moments, max_level: int | None) -> int:
    """Return the size of the largest conditioning set: Fisher's z needs n − k − 3 to be positive."""
    if moments.n < 4:
        raise TooFewRowsError(f"{counted(moments.n, 'row')}: a test of independence needs at least four.")
    return moments.n - 4 if max_level is None else min(max_level, moments.n - 4)


def _named(names: tuple[str, ...], triples: Triples, chosen: Mask) -> tuple[tuple[str, str, str], ...]:
    columns = (triples.a[chosen].tolist(), triples.b[chosen].tolist(), triples.c[chosen].tolist())
    return tuple((names[a], names[b], names[c]) for a, b, c in zip(*columns, strict=True))


def _warnings(
    graph: Cpdag,
    n: int,
    triples: Triples,
    orientation: Orientation,
    colliders: str,
    max_level: int | None,
    known: Constraints | None,
) -> Iterator[str]:
    names = graph.nodes
    stated = known is not None and bool((graph.skeleton & known.fixed).any())
    most = int(graph.skeleton.sum(axis=1).max(initial=0)) - 1
    if most > n - 4 and (max_level is None or max_level > n - 4):
        yield (
            f"With {counted(n, 'row')} no test could condition on more than {counted(n - 4, 'variable')}, though there "
            f"are nodes with {most + 1} neighbours: some edges have not had all their tests."
        )
    for i, j in np.argwhere(np.triu(orientation.contested)).tolist():
        into = [_named(names, triples, triples.collider & _holds(triples, *ends)) for ends in ((i, j), (j, i))]
        kept = f"as {shown(names[i])} → {shown(names[j])}" if colliders == "first" else "undirected"
        yield (
            f"The tests contradict each other: {' and '.join(_collider(found) for found in into)} direct the edge "
            f"between {shown(names[i])} and {shown(names[j])} both ways. It was left {kept}."
        )
    for i, j in np.argwhere(np.triu(orientation.contested_by_rules)).tolist():
        yield (
            f"The edge between {shown(names[i])} and {shown(names[j])} was left undirected: either direction would make "
            "a collider that the tests deny, or a cycle."
        )
    others = "other colliders or knowledge direct" if stated else "other colliders direct"
    for a, b, c in _named(names, triples, orientation.denied):
        yield (
            f"The graph has the collider {a} → {b} ← {c}, because {others} its two edges this way, but the tests of {a} and {c} "
            "contradict it."
        )
    for a, b, c in _named(names, triples, orientation.refused):
        yield f"The tests find the collider {a} → {b} ← {c}, which knowledge rules out: it was left out."
    fault = class_fault(graph, known)
    if fault is not None:
        undecided = int(triples.ambiguous.sum())
        why = f" The tests left {undecided} triples undecided, which may be the reason." if undecided else ""
        what = "part of a class that satisfies the knowledge" if stated else "CPDAG of a DAG"
        yield f"The graph is not the {what}: {fault}.{why}"


def _holds(triples: Triples, end: int, middle: int) -> Mask:
    return np.asarray((triples.b == middle) & ((triples.a == end) | (triples.c == end)))


def _collider(found: tuple[tuple[str, str, str], ...]) -> str:
    a, b, c = found[0]
    return f"{a} → {b} ← {c}"
