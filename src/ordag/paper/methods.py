"""The methods that the experiments compare, each with its settings and what it is called in a figure."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ordag.arrays import Array
from ordag.errors import OrdagError, PrecisionWarning
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag, to_cpdag
from ordag.graph.dag import Dag
from ordag.graph.distances import hamming
from ordag.graph.graph import Graph
from ordag.learning import learn
from ordag.paper.designs import Replicate, replicate_of, task_seed
from ordag.paper.engine.experiment import Rows, Task

ALPHA = 0.01
"""The level of all tests in the paper's Section 4."""


@dataclass(frozen=True)
class Method:
    """A call of `learn`. `seconds` by p are what one takes on one core, with drawing the data and measuring."""

    label: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = False
    seconds: Mapping[int, float] = field(default_factory=dict)

    def learn(self, X: Array, task: Task) -> Fit:
        random: dict[str, Any] = {"seed": task_seed(task, self.method)} if self.seeded else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)  # the designs of Section 4.1 are as hard as they are
            return learn(X, self.method, **self.settings, **random)


CVS_SECONDS = {3: 0.001, 20: 0.007, 50: 0.03, 100: 0.02, 200: 0.03}

METHODS: dict[str, Method] = {
    "cvs": Method("CVS", "cvs", {"alpha": ALPHA}, seconds=CVS_SECONDS),
    # Colliders by the first separating set, as in pcalg's default: its distances to the truth are those of the other
    # rules on these designs, and it can leave a pair at the first set that separates it.
    "pc": Method("PC", "pc", {"alpha": ALPHA, "colliders": "first"}, seconds={3: 0.002, 20: 0.01, 50: 0.1}),
    "ges": Method("GES", "ges", seconds={3: 0.002, 20: 0.036, 50: 0.62}),
    # The search as published; with kicks it goes on from its local optima, which the paper did not.
    "gds": Method("GDS", "gds", {"kicks": 0}, seeded=True, seconds={3: 0.003, 20: 0.14, 50: 0.85}),
    "gds-kicks": Method("GDS + kicks", "gds", seeded=True, seconds={3: 0.01, 20: 0.27, 50: 5.0}),
    "cvs-bh": Method("CVS, false-discovery rate 1%", "cvs", {"alpha": ALPHA, "correction": "bh"}, seconds=CVS_SECONDS),
    "cvs-bic": Method(
        "CVS, parents by BIC", "cvs", {"parents": "bic"}, seconds={20: 0.01, 50: 0.04, 100: 0.1, 200: 0.8}
    ),
    "cvs-backward": Method("CVS, effects first", "cvs", {"alpha": ALPHA, "direction": "backward"}, seconds=CVS_SECONDS),
}
"""By the name that stands in the results. A new one needs a line here, and its name in the experiments it is for."""


def settings(names: tuple[str, ...]) -> dict[str, Any]:
    """What the results of these methods depend on, for the journal."""
    return {name: {"method": METHODS[name].method, **METHODS[name].settings} for name in names}


def seconds(task: Task) -> float:
    return METHODS[task.method].seconds.get(task.p, 1.0)


def learned(task: Task) -> tuple[dict[str, Any], Fit | None, Replicate]:
    """Learn from the task's data by its method: a row with the distances to the truth, the fit, and the data.

    Distances are Hamming's (Section 4) to the true DAG and between the classes; an undirected edge is two entries. A
    method that refuses the data has a row without distances, and the kind of its refusal under `problem`.
    """
    drawn = replicate_of(task)
    row: dict[str, Any] = {"true_edges": drawn.truth.edge_count}
    try:
        fit = METHODS[task.method].learn(drawn.X, task)
    except OrdagError as error:
        missing = {"edges": None, "dag_distance": None, "class_distance": None}
        return row | missing | {"problem": type(error).__name__}, None, drawn
    distances = {
        "dag_distance": hamming(fit.graph, drawn.truth),
        "class_distance": hamming(class_of(fit.graph), to_cpdag(drawn.truth)),
    }
    return row | {"edges": fit.graph.edge_count, **distances, "problem": ""}, fit, drawn


def measure(task: Task) -> Rows:
    """The row of `learned`, as an experiment's `run`."""
    return [learned(task)[0]]


def class_of(graph: Graph) -> Cpdag:
    """The class of a DAG; what is a class already stays as it is, whether or not some DAG has it."""
    return to_cpdag(graph) if isinstance(graph, Dag) else Cpdag(graph.nodes, graph.adjacency)
