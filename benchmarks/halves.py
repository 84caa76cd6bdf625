"""Do probabilities come back? Every table of a folder is split into halves of its rows at random, and what is said of an arrow in one half
is compared with what is said of it in the other: `python -m benchmarks halves FOLDER`.

No truth is needed, so it takes real tables. The other half has noise of its own, so that a little less than was said is right.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
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
    """Of one half of the rows: the names of its columns, the probability of every arrow, and whether the graph has it."""

    names: tuple[str, ...]
    arrows: Array
    graph: Array

    def of(self, names: Sequence[str]) -> Half:
        """Return the same for some of the columns."""
        here = np.ix_(*[[self.names.index(name) for name in names]] * 2)
        return Half(tuple(names), self.arrows[here], self.graph[here])


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
        yield Half(fit.names, fit.probabilities.arrows, fit.graph.adjacency)


class Compared(NamedTuple):
    """Of all arrows in all halves: the probability here and in the other half, and whether the graph here and there has it."""

    said: Array
    other: Array
    drawn: Array
    found: Array

    @classmethod
    def of(cls, here: Half, there: Half) -> Compared:
        off = ~np.eye(len(here.arrows), dtype=bool)
        return cls(here.arrows[off], there.arrows[off], here.graph[off], there.graph[off])

    @classmethod
    def together(cls, parts: Sequence[Compared]) -> Compared:
        return cls(*(np.concatenate(one) for one in zip(*parts, strict=True)))


def compared(X: Array, split: int) -> Compared:
    """Compare the two halves of one split with each other, either way; a column that is constant in one of them is left out."""
    one, two = halves(X, split)
    both = [name for name in one.names if name in two.names]
    one, two = one.of(both), two.of(both)
    return Compared.together([Compared.of(one, two), Compared.of(two, one)])


def results(folder: Path, splits: int, kept: Path | None) -> Iterator[tuple[str, Compared]]:
    """Yield the splits of all tables by the name of the table, one split of every table after the other.

    kept: a folder for what is done, one file for each; it is read from there when the program is started again.
    """
    tables = {path.stem: X for path in sorted(folder.glob("*.csv")) if (X := numbers(path)) is not None}
    for split in range(splits):
        for name, X in tables.items():
            file = None if kept is None else kept / f"{name}-{split}.npz"
            if file is not None and file.exists():
                with np.load(file) as saved:
                    found = {key: saved[key] for key in saved.files}
                if found:
                    yield name, Compared(**found)
                continue
            try:
                one = compared(X, split)
            except ordag.OrdagError:  # an exact linear relation, say
                one = None
            if file is not None:
                part = file.with_suffix(".part")
                with part.open("wb") as stream:
                    np.savez_compressed(stream, **({} if one is None else one._asdict()))
                part.replace(file)
            if one is not None:
                yield name, one


def measured(folder: Path, splits: int = SPLITS, kept: Path | None = None) -> str:
    """The table of what was said and what the other half says."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        every = list(results(folder, splits, kept))
    all_arrows, tables = Compared.together([one for _, one in every]), Counter(name for name, _ in every)
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
    fewest = min(tables.values())
    each = f"{splits} splits each" if fewest == splits else f"{fewest} to {splits} splits each"
    return f"{len(tables)} tables, {each}.\n\n{table(title, lines)}"


def main(given: list[str]) -> None:
    """Print the table of a folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks halves", description=__doc__)
    parser.add_argument("folder", type=Path, help="of CSV files")
    parser.add_argument("--splits", type=int, default=SPLITS, help=f"of each table, {SPLITS} unless given")
    parser.add_argument("--kept", type=Path, help="a folder for what is done: started again, the program goes on")
    chosen = parser.parse_args(given)
    if not chosen.folder.is_dir():
        parser.error(f"{chosen.folder} is no folder: name a folder of CSV files")
    if chosen.splits < 1:
        parser.error("--splits takes a whole number from 1 on")
    if chosen.kept is not None:
        chosen.kept.mkdir(parents=True, exist_ok=True)
    print(measured(chosen.folder, chosen.splits, chosen.kept))
