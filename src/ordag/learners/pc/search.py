"""`pc_search`: Moments in, `PcResult` out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.errors import TooFewRowsError
from ordag.graph.cpdag import Cpdag
from ordag.knowledge.masks import Constraints, class_fault
from ordag.learners.pc.independence import Progress, Tester
from ordag.learners.pc.orientation import Orientation, Triples, by_separating_set, by_vote, orient
from ordag.learners.pc.settings import PcSettings
from ordag.learners.pc.skeleton import find_skeleton
from ordag.parents.tests import named_test
from ordag.words import counted, shown


@dataclass(frozen=True, eq=False)
class PcResult:
    """What PC has found, and the evidence for it.

    separating_sets: for every pair that is not joined, the set given which it tested independent.
    p_values: symmetric; for a pair that is not joined that of the test that separated it, for one that is the largest
        met; one on the diagonal.
    levels: the size of the largest sets conditioned on. tests: how many tests were made.
    ambiguous: triples a — b — c that the majority or conservative rule could not decide.
    conflicts: edges that the tests want directed both ways. denied: colliders of the graph that the tests deny; other
        colliders share their edges. refused: colliders that the tests ask for and knowledge rules out.
    valid: whether there are no conflicts, none denied or refused, and the graph is the CPDAG of some DAG (with
        knowledge: the part of a class that keeps to it); if not, `warnings` say what is the matter.
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

    def details(self) -> dict[str, Any]:
        """What there is to tell beside the graph and its tests, in plain values."""
        return {
            "valid": self.valid,
            "levels": self.levels,
            "tests": self.tests,
            "ambiguous": [list(triple) for triple in self.ambiguous],
            "conflicts": [list(pair) for pair in self.conflicts],
            "refused": [list(triple) for triple in self.refused],
        }


def pc_search(
    moments: Moments,
    settings: PcSettings | None = None,
    *,
    progress: Progress | None = None,
    known: Constraints | None = None,
    **given: Any,
) -> PcResult:
    """Learn an equivalence class of DAGs by tests of conditional independence (Spirtes & Glymour 1991).

    settings: or `given` one by one.
    progress: called with the sets gone through and those planned so far.
    known: edges that must and that may not be there. The former are joined whatever the tests say, the latter never;
        edges of which one direction is left have it before any collider is looked at.
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
    """The largest set to condition on: Fisher's z needs n − k − 3 to be positive."""
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
            f"The tests contradict each other: {' and '.join(_collider(found) for found in into)} want the edge "
            f"between {shown(names[i])} and {shown(names[j])} directed both ways. It was left {kept}."
        )
    for i, j in np.argwhere(np.triu(orientation.contested_by_rules)).tolist():
        yield (
            f"The edge between {shown(names[i])} and {shown(names[j])} was left undirected: either direction would make "
            "a collider that the tests deny, or a cycle."
        )
    others = "other colliders or knowledge want" if stated else "other colliders want"
    for a, b, c in _named(names, triples, orientation.denied):
        yield (
            f"The graph has the collider {a} → {b} ← {c}, for {others} its two arrows, but the tests of {a} and {c} speak "
            "against it."
        )
    for a, b, c in _named(names, triples, orientation.refused):
        yield f"The tests ask for the collider {a} → {b} ← {c}, which knowledge rules out. It was not made."
    fault = class_fault(graph, known)
    if fault is not None:
        undecided = int(triples.ambiguous.sum())
        why = f" The tests left {undecided} triples undecided, which may be the reason." if undecided else ""
        what = "part of a class that keeps to knowledge" if stated else "CPDAG of a DAG"
        yield f"The graph is not the {what}: {fault}.{why}"


def _holds(triples: Triples, end: int, middle: int) -> Mask:
    return np.asarray((triples.b == middle) & ((triples.a == end) | (triples.c == end)))


def _collider(found: tuple[tuple[str, str, str], ...]) -> str:
    a, b, c = found[0]
    return f"{a} → {b} ← {c}"
