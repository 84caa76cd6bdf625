"""Do probabilities come back? Every table of a folder is split into halves of its rows at random, and what is said of an arrow in one half
is compared with what is said of it in the other: `python -m benchmarks halves FOLDER`.

No truth is needed, so it takes real tables. The other half has noise of its own, so that a little less than was said is right.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.common.arrays import Array

SPLITS = 20
COLUMNS, ROWS = (3, 15), (150, 20_000)
"""Of the tables that are taken."""

BINS = [(0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 0.99), (0.99, 1.01)]


class Half(NamedTuple):
    """Of one half of the rows: the probability of every arrow, and whether the graph has it."""

    arrows: Array
    graph: Array


def numbers(path: Path) -> Array | None:
    """The numeric columns of a CSV file without row names, constants and counters; complete rows. None if there are too few or too many."""
    frame = pd.read_csv(path)
    frame = frame.loc[:, [not str(name).startswith("Unnamed:") for name in frame]]
    frame = frame.select_dtypes("number").dropna()
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    if not len(X):
        return None
    steps = np.diff(X, axis=0)
    X = X[:, [bool((step != step[0]).any()) for step in steps.T]]
    within = COLUMNS[0] <= X.shape[1] <= COLUMNS[1] and ROWS[0] <= len(X) <= ROWS[1]
    return X if within else None


def halves(X: Array, split: int, **settings: int) -> Iterator[Half]:
    """What each half of the rows says."""
    rows = np.random.default_rng(split).permutation(len(X))
    for part in np.array_split(rows, 2):
        fit = ordag.learn(X[part], method="pooled", **settings)
        assert fit.probabilities is not None
        yield Half(fit.probabilities.arrows, fit.graph.adjacency)


class Compared(NamedTuple):
    """Of all arrows in all halves: the probability here and in the other half, and whether the graph here and there has it."""

    said: Array
    other: Array
    drawn: Array
    found: Array


def compared(folder: Path, splits: int) -> tuple[Compared, int]:
    """Compare the halves of all tables; and count the tables."""
    parts, tables = [], 0
    for path in sorted(folder.glob("*.csv")):
        X = numbers(path)
        if X is None:
            continue
        try:
            pairs = [list(halves(X, split)) for split in range(splits)]
        except ordag.OrdagError:  # an exact linear relation, say
            continue
        tables += 1
        for one, two in pairs:
            for a, b in ((one, two), (two, one)):
                off = ~np.eye(len(a.arrows), dtype=bool)
                parts.append((a.arrows[off], b.arrows[off], a.graph[off], b.graph[off]))
    return Compared(*(np.concatenate(one) for one in zip(*parts, strict=True))), tables


def measured(folder: Path, splits: int = SPLITS) -> str:
    """The table of what was said and what the other half says."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        all_arrows, tables = compared(folder, splits)
    said = all_arrows.said
    lines = []
    which = [(f"{low:g} to {min(high, 1.0):g}", (said >= low) & (said < high)) for low, high in BINS]
    for name, here in [*which, ("arrows of the graph", all_arrows.drawn)]:
        if here.any():
            shares = (said[here].mean(), all_arrows.other[here].mean(), all_arrows.found[here].mean())
            lines.append([name, f"{here.sum():,}", *(f"{100 * one:.0f} %" for one in shares)])
    title = [
        "probability",
        "arrows",
        "said on average",
        "said in the other half",
        "found in the graph of the other half",
    ]
    return f"{tables} tables, {splits} splits each.\n\n{table(title, lines)}"


def main(given: list[str]) -> None:
    """Print the table of a folder: `FOLDER [SPLITS]`."""
    if not given or not Path(given[0]).is_dir():
        sys.exit("name a folder of CSV files: python -m benchmarks halves FOLDER [SPLITS]")
    print(measured(Path(given[0]), int(given[1]) if len(given) > 1 else SPLITS))
