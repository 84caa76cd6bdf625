"""The kinds of tables: from a number to rows and the true graph behind them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ordag
from benchmarks.accuracy.drawing import published_model
from ordag.common.arrays import Array, Mask

Range = tuple[float, float]
STRONG, MEDIUM, WEAK = (0.5, 2.0), (0.3, 1.0), (0.1, 0.5)


class Drawn(NamedTuple):
    X: Array
    truth: Mask


@dataclass(frozen=True)
class Kind:
    """One kind of table; its name with the number of a table is the seed.

    spread: error variances are log-uniform between 1 and this factor. errors: how they are distributed. change: what is done to
    the rows. hidden: common causes that move `reach` columns each, columns of their own if `apart`. noise: variance of measurement
    noise beside an error variance of 1. memory: correlation of the errors of neighbouring rows. network: a published one, in place of
    a random graph. group: the heading under which it stands.
    """

    name: str
    group: str
    p: int
    n: int
    degree: float = 2.0
    weights: Range = MEDIUM
    spread: float = 1.0
    errors: str = "normal"
    change: Callable[[Array, np.random.Generator], Array] = field(default=lambda X, random: X)
    hidden: int = 0
    reach: int = 4
    apart: bool = False
    noise: float = 0.0
    memory: float = 0.0
    network: str = ""

    def draw(self, table: int, networks: Path | None = None) -> Drawn:
        random = np.random.default_rng(
            int.from_bytes(hashlib.sha256(f"honesty|{self.name}|{table}".encode()).digest()[:16], "big")
        )
        if self.network:
            assert networks is not None
            sem = published_model(networks / f"{self.network}.json")
        else:
            B = _weights(self, random)
            sem = ordag.LinearSEM(B, np.exp(random.uniform(0.0, np.log(self.spread), self.p)))
        E = _errors(self, random) * np.sqrt(sem.omega)
        if self.hidden:
            pushes = np.zeros((self.hidden, self.p))
            for k, row in enumerate(pushes):
                moved = random.choice(self.p, min(self.reach, self.p), replace=False)
                if self.apart:
                    moved = np.arange(k * self.reach, (k + 1) * self.reach)
                row[moved] = random.uniform(*self.weights, len(moved)) * random.choice([-1.0, 1.0], len(moved))
            E += random.standard_normal((self.n, self.hidden)) @ pushes
        X = E + E @ sem.total_effects()
        if self.noise:
            X = X + random.standard_normal(X.shape) * np.sqrt(self.noise)
        return Drawn(np.ascontiguousarray(self.change(X, random)), sem.dag.adjacency)


def _weights(kind: Kind, random: np.random.Generator) -> Array:
    p = kind.p
    joined = np.triu(random.random((p, p)) < kind.degree / (p - 1), 1)
    order = random.permutation(p)
    B = np.zeros((p, p))
    B[np.ix_(order, order)] = joined * random.uniform(*kind.weights, (p, p)) * random.choice([-1.0, 1.0], (p, p))
    return B


def _errors(kind: Kind, random: np.random.Generator) -> Array:
    shape = kind.n, kind.p
    if kind.memory:
        E = random.standard_normal(shape)
        for row in range(1, kind.n):
            E[row] = kind.memory * E[row - 1] + np.sqrt(1.0 - kind.memory**2) * E[row]
        return E
    return {
        "normal": lambda: random.standard_normal(shape),
        "t5": lambda: random.standard_t(5, shape) / np.sqrt(5 / 3),
        "exponential": lambda: random.standard_exponential(shape) - 1.0,
        "uniform": lambda: random.uniform(-np.sqrt(3.0), np.sqrt(3.0), shape),
    }[kind.errors]()


def random_units(X: Array, random: np.random.Generator) -> Array:
    return np.asarray(X * 10.0 ** random.uniform(-1.0, 1.0, X.shape[1]))


def standardised(X: Array, random: np.random.Generator) -> Array:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def half_standardised(X: Array, random: np.random.Generator) -> Array:
    half = random.permutation(X.shape[1])[: (X.shape[1] + 1) // 2]
    changed = X.copy()
    changed[:, half] = standardised(X, random)[:, half]
    return changed


def tens_and_fifteens(X: Array, random: np.random.Generator) -> Array:
    return np.asarray(50.0 + standardised(X, random) * np.where(np.arange(X.shape[1]) % 2, 15.0, 10.0))


def by_other_rows(X: Array, random: np.random.Generator) -> Array:
    """Standardised with the means and deviations of the first half of the rows; the second half is the table."""
    first, second = np.array_split(X, 2)
    return np.asarray((second - first.mean(axis=0)) / first.std(axis=0))


def to_range(X: Array, random: np.random.Generator) -> Array:
    return np.asarray((X - X.min(axis=0)) / np.ptp(X, axis=0))


def to_hundred(X: Array, random: np.random.Generator) -> Array:
    return 100.0 * to_range(X, random)


def by_largest(X: Array, random: np.random.Generator) -> Array:
    return np.asarray(X / np.abs(X).max(axis=0))


def robust(X: Array, random: np.random.Generator) -> Array:
    low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    return np.asarray(np.round((X - middle) / (high - low), 3))


def by_deviation(X: Array, random: np.random.Generator) -> Array:
    centred = X - np.median(X, axis=0)
    return np.asarray(centred / np.median(np.abs(centred), axis=0))


def in_clusters(X: Array, random: np.random.Generator) -> Array:
    """Rows in 20 clusters one after the other, each with an effect of its own on every column, as large as the columns vary."""
    cluster = np.repeat(np.arange(20), -(-len(X) // 20))[: len(X)]
    return np.asarray(X + (random.standard_normal((20, X.shape[1])) * X.std(axis=0))[cluster])


def two_groups(X: Array, random: np.random.Generator) -> Array:
    """Half of the rows, at random places, are higher by three standard deviations in a third of the columns."""
    moved = random.permutation(X.shape[1])[: X.shape[1] // 3]
    changed = X.copy()
    changed[np.ix_(random.random(len(X)) < 0.5, moved)] += 3.0 * X.std(axis=0)[moved]
    return changed


def means_filled_in(X: Array, random: np.random.Generator) -> Array:
    """A fifth of all cells hold the mean of their column."""
    return np.asarray(np.where(random.random(X.shape) < 0.2, X.mean(axis=0), X))


CHANCE, VARIANCES, ERRORS = "the model holds", "error variances apart", "errors not Gaussian"
BROKEN, SCALED, NETWORKS = "another model is true", "scaled columns", "published networks"

KINDS: tuple[Kind, ...] = (
    Kind("like the marks: p 5, n 88, weights .3–1", CHANCE, 5, 88),
    Kind("p 10, n 200, weights .5–2", CHANCE, 10, 200, weights=STRONG),
    Kind("p 10, n 1000, weights .3–1", CHANCE, 10, 1000),
    Kind("weak: p 20, n 200, weights .1–.5", CHANCE, 20, 200, 3.0, WEAK),
    Kind("p 30, n 100, weights .3–1", CHANCE, 30, 100, 3.0),
    Kind("p 50, n 1000, weights .5–2", CHANCE, 50, 1000, weights=STRONG),
    Kind("p 100, n 1000, weights .5–2", CHANCE, 100, 1000, weights=STRONG),
    Kind("p 5, n 8, weights .5–2", CHANCE, 5, 8, weights=STRONG),
    Kind("p 5, n 20, weights .5–2", CHANCE, 5, 20, weights=STRONG),
    Kind("p 2, n 100, weights .3–1", CHANCE, 2, 100, 1.0),
    Kind("a factor of 1.01: p 10, n 100,000", VARIANCES, 10, 100_000, spread=1.01),
    Kind("a factor of 2: p 5, n 88", VARIANCES, 5, 88, spread=2.0),
    Kind("a factor of 2: p 10, n 500", VARIANCES, 10, 500, spread=2.0),
    Kind("a factor of 3: p 2, n 100", VARIANCES, 2, 100, 1.0, spread=3.0),
    Kind("a factor of 5: p 10, n 200", VARIANCES, 10, 200, spread=5.0),
    Kind("a factor of 20: p 20, n 1000", VARIANCES, 20, 1000, weights=STRONG, spread=20.0),
    Kind("Student's t, 5 degrees: p 10, n 200", ERRORS, 10, 200, weights=STRONG, errors="t5"),
    Kind("exponential: p 10, n 200", ERRORS, 10, 200, weights=STRONG, errors="exponential"),
    Kind("uniform: p 10, n 200", ERRORS, 10, 200, weights=STRONG, errors="uniform"),
    Kind("one common factor, no arrow: p 6, n 300", BROKEN, 6, 300, 0.0, STRONG, hidden=1, reach=6),
    Kind("two hidden causes of four columns each: p 10, n 1000", BROKEN, 10, 1000, hidden=2),
    Kind("twelve columns of one factor: n 300", BROKEN, 12, 300, 0.0, STRONG, hidden=1, reach=12),
    Kind("five factors of six items each: n 500", BROKEN, 30, 500, 0.0, STRONG, hidden=5, reach=6, apart=True),
    Kind("measurement noise, half an error: p 10, n 1000", BROKEN, 10, 1000, weights=STRONG, noise=0.5),
    Kind("rows correlated .8: p 10, n 200", BROKEN, 10, 200, weights=STRONG, memory=0.8),
    Kind("20 clusters with effects of their own: p 10, n 500", BROKEN, 10, 500, change=in_clusters),
    Kind("two groups mixed: p 10, n 500", BROKEN, 10, 500, change=two_groups),
    Kind("means filled in, 20 %: p 10, n 500", BROKEN, 10, 500, change=means_filled_in),
    Kind("random units: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=random_units),
    Kind("standardised: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=standardised),
    Kind("half of the columns standardised: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=half_standardised),
    Kind("10 z and 15 z: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=tens_and_fifteens),
    Kind("by the deviations of other rows: p 10, n 500", SCALED, 10, 1000, weights=STRONG, change=by_other_rows),
    Kind("to 0–1: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=to_range),
    Kind("to 0–100: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=to_hundred),
    Kind("by the largest absolute value: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=by_largest),
    Kind("by quartiles, three digits: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=robust),
    Kind("by the median deviation: p 10, n 200", SCALED, 10, 200, weights=STRONG, change=by_deviation),
    Kind("ECOLI70: p 46, n 1000", NETWORKS, 46, 1000, network="ecoli70"),
    Kind("MAGIC-NIAB: p 44, n 1000", NETWORKS, 44, 1000, network="magic-niab"),
    Kind("MAGIC-IRRI: p 64, n 1000", NETWORKS, 64, 1000, network="magic-irri"),
    Kind("ARTH150: p 107, n 300", NETWORKS, 107, 300, network="arth150"),
)
