"""Random designs: the address of a replicate in, data and the true graph behind them out.

A replicate is addressed by its design, p, n and number, and its random numbers come from these alone (`seed`): all
methods see the same data, and another method, another replicate, another worker, or running only a part changes
nothing about the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ordag.arrays import Array
from ordag.graph.dag import Dag
from ordag.model.sem import LinearSEM
from ordag.model.simulate import Simulation, simulate
from ordag.paper.engine.experiment import Task

DESIGNS: dict[str, Callable[..., Simulation]] = {
    **{name: partial(simulate, name) for name in ("homogeneous", "heterogeneous", "nonfaithful")},
    "sparse": partial(simulate, "erdos-renyi", degree=4.0),
}
"""Random models by name: functions of p, n and seed. The first three are Sections 4.1 to 4.3 of the paper."""


class Replicate(NamedTuple):
    """Rows, and the graph of the model that they come from."""

    X: Array
    truth: Dag


def standardised(drawn: Simulation, random: np.random.Generator) -> Array:
    """All columns to variance 1."""
    X = drawn.X - drawn.X.mean(axis=0)
    return np.asarray(X / X.std(axis=0))


def rescaled(drawn: Simulation, random: np.random.Generator) -> Array:
    """Each column in a unit of its own, between a tenth and ten times the old one, log-uniformly."""
    return np.asarray(drawn.X * 10.0 ** random.uniform(-1.0, 1.0, drawn.X.shape[1]))


def variances_as_deviations(drawn: Simulation, random: np.random.Generator) -> Array:
    """New rows from the same model with the error variances taken for standard deviations."""
    return LinearSEM(drawn.sem.B, drawn.sem.omega**2).sample(len(drawn.X), random)


CHANGES: dict[str, Callable[[Simulation, np.random.Generator], Array]] = {
    "standardised": standardised,
    "rescaled": rescaled,
    "variances as deviations": variances_as_deviations,
}
"""What may stand after a slash in the name of a design, as in "homogeneous/standardised": the same replicate, changed."""


def seed(design: str, p: int, n: int, replicate: int, purpose: str = "data") -> np.random.SeedSequence:
    """The source of all randomness for one purpose at one address: its SHA-256 digest."""
    address = f"{design}|{p}|{n}|{replicate}|{purpose}"
    return np.random.SeedSequence(int.from_bytes(hashlib.sha256(address.encode()).digest()[:16], "big"))


def task_seed(task: Task, purpose: str) -> np.random.SeedSequence:
    return seed(task.design.partition("/")[0], task.p, task.n, task.replicate, purpose)


def replicate_of(task: Task) -> Replicate:
    """The data of a task, the same for every experiment and method."""
    design, _, change = task.design.partition("/")
    drawn = DESIGNS[design](p=task.p, n=task.n, seed=task_seed(task, "data"))
    X = CHANGES[change](drawn, np.random.default_rng(task_seed(task, change))) if change else drawn.X
    return Replicate(X, drawn.dag)
