"""The simulations of Section 4: random designs, the methods compared on them, and their distances to the truth.

A replicate is addressed by its design, p, n and number, and its random numbers come from these alone (`seed`): all
methods see the same data, and another method, another replicate, another worker, or running only a part changes
nothing about the rest.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.errors import OrdagError, PrecisionWarning
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag, to_cpdag
from ordag.graph.dag import Dag
from ordag.graph.distances import hamming
from ordag.graph.graph import Graph
from ordag.learning import learn
from ordag.model.sem import LinearSEM
from ordag.model.simulate import Simulation, simulate
from ordag.paper.experiment import Rows, Task

ALPHA = 0.01
"""The level of all tests in Section 4."""

DESIGNS: dict[str, Callable[..., Simulation]] = {
    **{name: partial(simulate, name) for name in ("homogeneous", "heterogeneous", "nonfaithful")},
    "sparse": partial(simulate, "erdos-renyi", degree=4.0),
}
"""Random models by name: functions of p, n and seed. The first three are those of Sections 4.1 to 4.3."""


class Replicate(NamedTuple):
    """Rows, and the graph of the model that generated them."""

    X: Array
    truth: Dag


def standardised(drawn: Simulation, random: np.random.Generator) -> Array:
    """Scale all columns to variance 1."""
    X = drawn.X - drawn.X.mean(axis=0)
    return np.asarray(X / X.std(axis=0))


def rescaled(drawn: Simulation, random: np.random.Generator) -> Array:
    """Multiply each column by its own log-uniform factor between 0.1 and 10."""
    return np.asarray(drawn.X * 10.0 ** random.uniform(-1.0, 1.0, drawn.X.shape[1]))


def variances_as_deviations(drawn: Simulation, random: np.random.Generator) -> Array:
    """Draw new rows from the same model with the error variances taken for standard deviations."""
    return LinearSEM(drawn.sem.B, drawn.sem.omega**2).sample(len(drawn.X), random)


CHANGES: dict[str, Callable[[Simulation, np.random.Generator], Array]] = {
    "standardised": standardised,
    "rescaled": rescaled,
    "variances as deviations": variances_as_deviations,
}
"""Changes of a replicate, named after a slash in the name of a design, as in "homogeneous/standardised"."""


def seed(design: str, p: int, n: int, replicate: int, purpose: str = "data") -> np.random.SeedSequence:
    """Return the seed for one purpose at one address: its SHA-256 digest."""
    address = f"{design}|{p}|{n}|{replicate}|{purpose}"
    return np.random.SeedSequence(int.from_bytes(hashlib.sha256(address.encode()).digest()[:16], "big"))


def task_seed(task: Task, purpose: str) -> np.random.SeedSequence:
    return seed(task.design.partition("/")[0], task.p, task.n, task.replicate, purpose)


def replicate_of(task: Task) -> Replicate:
    """Return the data of a task, the same for every experiment and method."""
    design, _, change = task.design.partition("/")
    drawn = DESIGNS[design](p=task.p, n=task.n, seed=task_seed(task, "data"))
    X = CHANGES[change](drawn, np.random.default_rng(task_seed(task, change))) if change else drawn.X
    return Replicate(X, drawn.dag)


@dataclass(frozen=True)
class Method:
    """A call of `learn`, with its label in figures. `seconds`, by p, include drawing the data and measuring, on one core."""

    label: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = False
    seconds: Mapping[int, float] = field(default_factory=dict)

    def learn(self, X: Array, task: Task) -> Fit:
        random: dict[str, Any] = {"seed": task_seed(task, self.method)} if self.seeded else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)  # the designs of Section 4.1 are ill-conditioned
            return learn(X, self.method, strict=True, **self.settings, **random)


CVS_SECONDS = {3: 0.001, 20: 0.007, 50: 0.03, 100: 0.02, 200: 0.03}

METHODS: dict[str, Method] = {
    "cvs": Method("CVS", "cvs", {"alpha": ALPHA}, seconds=CVS_SECONDS),
    # Colliders by the first separating set, as in pcalg's default: on these designs its distances to the truth are those
    # of the other rules, and it stops testing a pair at the first set that separates it.
    "pc": Method("PC", "pc", {"alpha": ALPHA, "colliders": "first"}, seconds={3: 0.002, 20: 0.01, 50: 0.1}),
    "ges": Method("GES", "ges", seconds={3: 0.002, 20: 0.036, 50: 0.62}),
    # The search as published; with kicks it continues from its local optima, which the paper did not.
    "gds": Method("GDS", "gds", {"kicks": 0}, seeded=True, seconds={3: 0.003, 20: 0.14, 50: 0.85}),
    "gds-kicks": Method("GDS + kicks", "gds", seeded=True, seconds={3: 0.01, 20: 0.27, 50: 5.0}),
    "cvs-bh": Method("CVS, false-discovery rate 1%", "cvs", {"alpha": ALPHA, "correction": "bh"}, seconds=CVS_SECONDS),
    "cvs-bic": Method(
        "CVS, parents by BIC", "cvs", {"parents": "bic"}, seconds={20: 0.01, 50: 0.04, 100: 0.1, 200: 0.8}
    ),
    "cvs-backward": Method("CVS, effects first", "cvs", {"alpha": ALPHA, "direction": "backward"}, seconds=CVS_SECONDS),
}
"""By the name in the results. A new one needs a line here, and its name in the experiments that run it."""


def settings(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings of these methods, for the journal."""
    return {name: {"method": METHODS[name].method, **METHODS[name].settings} for name in names}


def seconds(task: Task) -> float:
    return METHODS[task.method].seconds.get(task.p, 1.0)


def learned(task: Task) -> tuple[dict[str, Any], Fit | None, Replicate]:
    """Learn from the task's data by its method; return a row with the distances to the truth, the fit, and the data.

    Distances are Hamming distances (Section 4) to the true DAG and between the classes; an undirected edge is two entries.
    If a method refuses the data, the row has no distances, and the class of the error under `problem`.
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
    """Return the row of `learned`: the `run` of an experiment."""
    return [learned(task)[0]]


def class_of(graph: Graph) -> Cpdag:
    """Return the class of a DAG; any other graph stays as it is, whether or not it is the class of a DAG."""
    return to_cpdag(graph) if isinstance(graph, Dag) else Cpdag(graph.nodes, graph.adjacency)
