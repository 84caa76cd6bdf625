"""Categories as causes: false arrows, power, calibration, and what categories tell of the directions among variables.

ORDAG_TABLES is the number of tables of each kind.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.common.arrays import Array, Mask

TABLES = int(os.environ.get("ORDAG_TABLES", "30"))
P, ROWS = 8, 300
LEVELS = (2, 3, 6)
SIZES = (0.15, 0.3, 0.6)
"""Standard deviations of the groups' means over that of the errors."""

BINS = [(0.0, 0.02), (0.02, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 0.9), (0.9, 0.98), (0.98, 1.01)]


class Table(NamedTuple):
    """Columns in random units, the true graph, and the arrows of the category `group`, [size, variable]; `other` has none."""

    columns: dict[str, Array]
    truth: Mask
    effects: Array

    @classmethod
    def drawn(cls, levels: int, seed: int) -> Table:
        random = np.random.default_rng([2611, levels, seed])
        order, B = random.permutation(P), np.zeros((P, P))
        weights = random.uniform(0.4, 1.5, (P, P)) * random.choice([-1.0, 1.0], (P, P))
        B[np.ix_(order, order)] = np.where(np.triu(random.random((P, P)) < 2.0 / (P - 1), 1), weights, 0.0)
        sd = np.exp(random.uniform(0.0, np.log(20.0), P) / 2.0)
        effects = np.zeros(P)
        effects[random.permutation(P)[: len(SIZES)]] = SIZES
        group, other = random.integers(0, levels, (2, ROWS))
        means = random.standard_normal((levels, P))
        means = (means - means.mean(axis=0)) / means.std(axis=0) * effects * sd
        X = (random.standard_normal((ROWS, P)) * sd + means[group]) @ np.linalg.inv(np.eye(P) - B)
        X *= 10.0 ** random.uniform(-1.0, 1.0, P)
        named = {f"x{j}": X[:, j] for j in range(P)}
        return cls(named | {"group": np.char.mod("g%d", group), "other": np.char.mod("o%d", other)}, B != 0, effects)


class Result(NamedTuple):
    """Arrows of `group` and `other` that were found, and their probabilities; wrong entries of three graphs; CPU seconds."""

    found: Mask
    probabilities: Array
    tested: Mask
    wrong: tuple[int, int, int]
    seconds: float


def measured(drawn: Table) -> Result:
    """Learn with the categories as causes, held fixed, and left out."""
    start = time.process_time()
    fit = ordag.learn(drawn.columns, cause=["group", "other"])
    seconds = time.process_time() - start
    held = ordag.learn(drawn.columns, adjust=["group", "other"])
    out = ordag.learn(drawn.columns, drop=["group", "other"])
    cvs = ordag.learn(drawn.columns, cause=["group", "other"], method="cvs", alpha=0.01)
    assert fit.causes is not None
    assert cvs.causes is not None
    assert fit.probabilities is not None
    assert fit.probabilities.causes is not None
    wrong = tuple(int((one.graph.adjacency != drawn.truth).sum()) for one in (fit, held, out))
    return Result(fit.causes.arrows, fit.probabilities.causes, cvs.causes.arrows, wrong, seconds)  # type: ignore[arg-type]


def run() -> str:
    rows, said, true = [], [], []
    with threadpool_limits(1):
        for levels in LEVELS:
            drawn = [Table.drawn(levels, seed) for seed in range(TABLES)]
            results = [measured(one) for one in drawn]
            for one, result in zip(drawn, results, strict=True):
                said.append(result.probabilities.ravel())
                true.append(np.concatenate([one.effects > 0, np.zeros(P, dtype=bool)]))
            found, tested = np.array([one.found for one in results]), np.array([one.tested for one in results])
            power = [
                np.mean([one.found[0][own.effects == size] for own, one in zip(drawn, results, strict=True)])
                for size in SIZES
            ]
            wrong = np.array([one.wrong for one in results], float)
            gain = wrong[:, 1] - wrong[:, 0]
            rows.append(
                [
                    str(levels),
                    f"{found[:, 1].mean():.2%}",
                    f"{tested[:, 1].mean():.2%}",
                    *(f"{one:.0%}" for one in power),
                    *(f"{one:.2f}" for one in wrong.mean(axis=0)),
                    f"{gain.mean():+.2f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.2f}",
                    f"{np.mean([one.seconds for one in results]):.1f}",
                ]
            )
    head = ["values", "false, pooled", "false, cvs at 1 %", *(f"found at {size}" for size in SIZES)]
    head += ["wrong: causes", "held fixed", "left out", "held fixed − causes", "CPU s"]
    chances, truth = np.concatenate(said), np.concatenate(true)
    calibration = []
    for low, high in BINS:
        inside = (chances >= low) & (chances < high)
        if inside.any():
            share = f"{chances[inside].mean():.3f}", f"{truth[inside].mean():.3f}"
            calibration.append([f"{low:g} to {min(high, 1.0):g}", str(int(inside.sum())), *share])
    return "\n\n".join(
        [
            f"{TABLES} tables of {P} variables and {ROWS} rows for each number of values, two neighbours on average, units at random. The "
            f"category `group` has an effect on three variables, whose groups' means have a standard deviation of {', '.join(map(str, SIZES))} "
            "of that of the errors; `other` has none. *false*: the share of variables with an arrow from `other`. *wrong*: wrong entries of the "
            "graph over the variables with both as causes, held fixed, and left out of the table.",
            table(head, rows),
            "What is said and what is true of arrows from categories:",
            table(["said", "arrows", "said on average", "there"], calibration),
        ]
    )
