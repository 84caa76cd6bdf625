"""The methods by name: Ordag's own and the peers, and how a graph is read from what each gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

import ordag
from ordag.common.arrays import Array, Mask
from ordag.errors import GraphError, SettingError
from ordag.graph.cpdag import to_cpdag

Reading = Callable[[Array, ordag.Dag], Mask]
"""From a method's matrix to an adjacency. The truth comes along for the one reading that cheats, and says so."""

DAGMA_THRESHOLD = 0.3


@dataclass(frozen=True)
class Method:
    """A call of worker.py with its settings, and the names under which its matrix is read.

    gives_class: whether the answer is an equivalence class; else it is meant as a DAG.
    largest: the number of variables up to which it is run.
    """

    call: str
    readings: dict[str, Reading]
    settings: dict[str, Any] = field(default_factory=dict)
    gives_class: bool = False
    largest: int = 1000

    @property
    def own(self) -> bool:
        return self.call == "ordag"


def as_it_is(matrix: Array, truth: ordag.Dag) -> Mask:
    return np.asarray(matrix != 0)


def at_default_threshold(matrix: Array, truth: ordag.Dag) -> Mask:
    return np.asarray(np.abs(matrix) >= DAGMA_THRESHOLD)


def at_best_threshold(matrix: Array, truth: ordag.Dag) -> Mask:
    """The nearest to the truth of all acyclic graphs that some threshold gives."""
    sizes = np.abs(matrix)
    candidates = [sizes >= threshold for threshold in np.unique(sizes[sizes > 0])]
    candidates.append(np.zeros_like(truth.adjacency))
    for found in sorted(candidates, key=lambda one: int((one != truth.adjacency).sum())):
        if is_dag(found):
            return np.asarray(found)
    raise AssertionError("the empty graph is acyclic")


def is_dag(adjacency: Mask) -> bool:
    try:
        ordag.Dag([f"X{i}" for i in range(1, len(adjacency) + 1)], adjacency)
    except GraphError:
        return False
    return True


def _own(name: str, largest: int = 1000, gives_class: bool = False, **settings: Any) -> Method:
    return Method("ordag", {name: as_it_is}, settings, gives_class, largest)


def _peer(name: str, call: str, gives_class: bool = False, **settings: Any) -> Method:
    return Method(call, {name: as_it_is}, settings, gives_class)


KNOWS_TRUTH = "DAGMA, best threshold (knows the truth)"
OWN: tuple[Method, ...] = (
    _own("pooled", method="pooled", draws=0),
    _own("cvs, tests at 1 %", method="cvs"),
    _own("cvs, adaptive", method="cvs", parents="adaptive"),
    _own("ges", method="ges", gives_class=True),
    _own("gds", method="gds", seed=0, largest=20),
)
PEERS: tuple[Method, ...] = (
    _peer("FLOP", "flop", penalty=2.0, restarts=20, gives_class=True),
    _peer("sort-and-regress", "sort-and-regress"),
    _peer("PC (causal-learn)", "pc", alpha=0.01, gives_class=True),
    _peer("DirectLiNGAM", "direct-lingam"),
    _peer("BOSS (causal-learn)", "boss", gives_class=True),
    _peer("GRaSP (causal-learn)", "grasp", gives_class=True),
    Method("dagma", {"DAGMA": at_default_threshold, KNOWS_TRUTH: at_best_threshold}),
    _peer("GES (causal-learn)", "ges", gives_class=True),
)
"""From the quickest to the slowest, so that a run that is stopped has whole columns."""

NAMES = tuple(name for method in (*OWN, *PEERS) for name in method.readings)


def unknown_to_ordag(method: Method) -> str:
    """Why `ordag.learn` refuses the settings of one of its own methods; empty if it takes them."""
    X = np.random.default_rng(0).standard_normal((50, 3))
    try:
        ordag.learn(X, **method.settings)
    except SettingError as error:
        return str(error)
    return ""


def score(found: Mask, truth: ordag.Dag, gives_class: bool) -> dict[str, float | None]:
    """How far a graph is from the truth.

    hamming: differing entries of the adjacency; a turned arrow counts 2, an undirected edge has both entries.
    shd: pairs whose edge differs; a turned arrow counts 1.
    turned, joined: arrows between truly adjacent pairs, and those of them that point the wrong way.
    class_hamming: differing entries of the two equivalence classes.
    adjustment: the share of pairs for which the parents found are no valid adjustment set in the true graph (Henckel, Würtzen &
    Weichwald 2024: parent-AID); None where the graph found is neither a DAG nor a class, or gadjid is not installed.
    An edge from a variable to itself, which some packages give for nearly collinear columns, is passed over.
    """
    found = found & ~np.eye(len(found), dtype=bool)
    true, arrows = truth.adjacency, found & ~found.T
    own_class = ordag.Cpdag(truth.nodes, found)
    if not gives_class and is_dag(found):
        own_class = to_cpdag(ordag.Dag(truth.nodes, found))
    return {
        "hamming": ordag.hamming(found, true),
        "shd": ordag.shd(found, true),
        "turned": int((arrows & true.T).sum()),
        "joined": int((arrows & (true | true.T)).sum()),
        "class_hamming": ordag.hamming(own_class, to_cpdag(truth)),
        "adjustment": adjustment(found, truth),
        "edges": int(np.triu(found | found.T).sum()),
    }


def adjustment(found: Mask, truth: ordag.Dag) -> float | None:
    """The parent-adjustment distance, divided by the number of pairs (see `score`)."""
    if find_spec("gadjid") is None:
        return None
    from gadjid import parent_aid

    marks = np.where(found & found.T, 2, found).astype(np.int8)
    try:
        return float(parent_aid(truth.adjacency.astype(np.int8), marks, edge_direction="from row to column")[0])
    except RuntimeError:  # a cycle
        return None
