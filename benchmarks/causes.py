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

TABLES = int(os.environ.get("ORDAG_TABLES", "14"))
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
    """Learn with the categories as causes, held fixed, and left out; the graphs compared are those of the best score."""
    start = time.process_time()
    fit = ordag.learn(drawn.columns, cause=["group", "other"])
    seconds = time.process_time() - start
    held = ordag.learn(drawn.columns, adjust=["group", "other"], draws=0)
    out = ordag.learn(drawn.columns, drop=["group", "other"], draws=0)
    cvs = ordag.learn(drawn.columns, cause=["group", "other"], method="cvs", alpha=0.01)
    assert fit.causes is not None
    assert cvs.causes is not None
    assert fit.probabilities is not None
    assert fit.probabilities.causes is not None
    mine, *others = (int((one.best_graph.adjacency != drawn.truth).sum()) for one in (fit, held, out))
    return Result(fit.causes.arrows, fit.probabilities.causes, cvs.causes.arrows, (mine, others[0], others[1]), seconds)


def gathered(levels: int) -> list[tuple[Table, Result]]:
    """Draw and measure all tables with categories of so many values."""
    with threadpool_limits(1):
        return [(one, measured(one)) for one in (Table.drawn(levels, seed) for seed in range(TABLES))]


def report(found: dict[int, list[tuple[Table, Result]]]) -> str:
    """Return the tables of the page, for the numbers of values that were measured."""
    rows, said, true = [], [], []
    for levels, pairs in found.items():
        results = [one for _, one in pairs]
        for drawn, result in pairs:
            said.append(result.probabilities.ravel())
            true.append(np.concatenate([drawn.effects > 0, np.zeros(P, dtype=bool)]))
        false = [
            np.mean([one[1].mean() for one in some])
            for some in zip(*[(r.found, r.tested) for r in results], strict=True)
        ]
        power = [np.mean([one.found[0][drawn.effects == size] for drawn, one in pairs]) for size in SIZES]
        wrong = np.array([one.wrong for one in results], float)
        gain = wrong[:, 1] - wrong[:, 0]
        rows.append(
            [
                str(levels),
                *(f"{one:.1%}" for one in false),
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
    count = len(next(iter(found.values())))
    return "\n\n".join(
        [
            "## Categories as causes",
            f"{count} tables of {P} variables and {ROWS} rows for each number of values, two neighbours on average, units at random. The "
            "category `group` has an effect on three variables: its groups' means have a standard deviation of "
            f"{', '.join(map(str, SIZES))} of that of the errors. `other` has none; *false* is the share of variables that have an arrow "
            "from it. *wrong*: wrong entries of the graph of the best score over the variables, with both as causes, held fixed, "
            "and left out of the table.",
            table(head, rows),
            "What is said and what is true of the arrows from both categories:",
            table(["said", "arrows", "said on average", "there"], calibration),
        ]
    )


def run() -> str:
    return report({levels: gathered(levels) for levels in LEVELS})
