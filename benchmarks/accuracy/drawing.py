"""A cell and a number in, a table and the true graph behind it out.

All randomness comes from the cell's name and the table's number, so that every method sees the same tables, and another
cell, method or table changes nothing about the rest.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ordag
from benchmarks.accuracy.cells import Cell
from ordag.common.arrays import Array

LAYER = 10  # variables per layer of a layered graph
HIDDEN, REACH = 2, 4  # hidden confounders, and how many variables each of them moves
NOISE = 0.25  # variance of the measurement noise, as a share of the error variance


class Drawn(NamedTuple):
    """A table, and the graph of the model that it comes from."""

    X: Array
    truth: ordag.Dag


def draw(cell: Cell, table: int, networks: Path | None = None) -> Drawn:
    """Table number `table` of a cell. `networks` is the folder of the published networks (see `network_folder`)."""
    sem = model(cell, table, networks)
    X = _rows(cell, sem, _random(cell, table, "rows"))
    X = _changed(cell, sem, X, _random(cell, table, "change"))
    columns = _random(cell, table, "columns").permutation(cell.p) if cell.published else np.arange(cell.p)
    names = [f"X{i}" for i in range(1, cell.p + 1)]
    return Drawn(np.ascontiguousarray(X[:, columns]), ordag.Dag(names, sem.dag.adjacency[np.ix_(columns, columns)]))


def model(cell: Cell, table: int, networks: Path | None = None) -> ordag.LinearSEM:
    """The model behind a table: of a random graph, with error variances log-uniform between 1 and the cell's factor."""
    if cell.published:
        if networks is None:
            raise FileNotFoundError(f"{cell.name} needs the networks that come with pgmpy: see network_folder.")
        return published_model(networks / f"{cell.graph}.json")
    if cell.graph in ("homogeneous", "heterogeneous"):
        return ordag.simulate(cell.graph, cell.p, 1, seed=_seed(cell, table, "model")).sem
    if cell.graph in ("erdos-renyi", "scale-free"):
        seed = _seed(cell, table, "model")
        B = ordag.simulate(cell.graph, cell.p, 1, seed=seed, degree=cell.degree, weights=cell.weights).sem.B
    else:
        B = _weights(cell, _random(cell, table, "model"))
    log_variances = _random(cell, table, "variances").uniform(0.0, np.log(cell.spread), cell.p)
    return ordag.LinearSEM(B, np.exp(log_variances))


def network_folder(python: str) -> Path | None:
    """Where pgmpy, if this Python has it, keeps the published networks."""
    look = (
        "from importlib.util import find_spec as f; s = f('pgmpy'); print(s.submodule_search_locations[0] if s else '')"
    )
    try:
        found = subprocess.run([python, "-P", "-c", look], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
    folder = Path(found) / "utils" / "example_models"
    return folder if found and folder.is_dir() else None


def _seed(cell: Cell, table: int, purpose: str) -> np.random.SeedSequence:
    """The source of all randomness for one purpose of one table: its SHA-256 digest."""
    address = f"accuracy|{cell.name}|{table}|{purpose}"
    return np.random.SeedSequence(int.from_bytes(hashlib.sha256(address.encode()).digest()[:16], "big"))


def _random(cell: Cell, table: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng(_seed(cell, table, purpose))


def _weights(cell: Cell, random: np.random.Generator) -> Array:
    """Layered: neighbouring layers only, with the wanted degree on average. Complete: all pairs. Empty: none."""
    place = np.arange(cell.p)
    earlier = np.triu(np.ones((cell.p, cell.p), dtype=bool), 1)
    if cell.graph == "layered":
        allowed = place[None, :] // LAYER - place[:, None] // LAYER == 1
        joined = allowed & (random.random(allowed.shape) < cell.degree * cell.p / 2 / allowed.sum())
    elif cell.graph in ("complete", "empty"):
        joined = earlier & (cell.graph == "complete")
    else:
        raise ValueError(f"{cell.name}: there is no graph {cell.graph!r}.")
    sizes = random.uniform(*cell.weights, joined.shape) * random.choice([-1.0, 1.0], joined.shape)
    order = random.permutation(cell.p)
    B = np.zeros(joined.shape)
    B[np.ix_(order, order)] = np.where(joined, sizes, 0.0)
    return B


def _rows(cell: Cell, sem: ordag.LinearSEM, random: np.random.Generator) -> Array:
    if cell.errors == "normal":
        return sem.sample(cell.n, random)
    shape = (cell.n, cell.p)
    if cell.errors == "t5":
        E = random.standard_t(5, shape) / np.sqrt(5 / 3)
    elif cell.errors == "skewed":
        E = random.standard_exponential(shape) - 1.0
    else:
        raise ValueError(f"{cell.name}: there are no errors {cell.errors!r}.")
    E *= np.sqrt(sem.omega)
    return np.asarray(E + E @ sem.total_effects())


def _changed(cell: Cell, sem: ordag.LinearSEM, X: Array, random: np.random.Generator) -> Array:
    if cell.change == "":
        return X
    if cell.change == "standardised":
        return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))
    if cell.change == "random units":
        return np.asarray(X * 10.0 ** random.uniform(-1.0, 1.0, cell.p))
    if cell.change == "measurement noise":
        return np.asarray(X + random.standard_normal(X.shape) * np.sqrt(NOISE * sem.omega))
    if cell.change == "hidden confounders":
        pushes = np.zeros((HIDDEN, cell.p))
        for row in pushes:
            moved = random.choice(cell.p, REACH, replace=False)
            row[moved] = random.uniform(*cell.weights, REACH) * random.choice([-1.0, 1.0], REACH)
        E = random.standard_normal((cell.n, HIDDEN)) @ pushes
        return np.asarray(X + E + E @ sem.total_effects())
    raise ValueError(f"{cell.name}: there is no change {cell.change!r}.")


@cache
def published_model(path: Path) -> ordag.LinearSEM:
    """A network from pgmpy's JSON: for every node its coefficients, among them the intercept, and its variance."""
    network = json.loads(path.read_text(encoding="utf-8"))
    names, given = network["nodes"], network["cpds"]
    weights = {
        (source, name): given[name]["coefficients"][source][0] for name in names for source in given[name]["parents"]
    }
    intercept = [given[name]["coefficients"]["(Intercept)"][0] for name in names]
    return ordag.LinearSEM.from_edges(names, weights, [given[name]["variance"][0] for name in names], intercept)
