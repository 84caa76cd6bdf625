"""Find values that were copied rather than measured: repeated rows, and cells filled with the mean of their column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array

CHANCE = 0.1
"""Share of pairs of rows that may agree in the column of most values: where more do, rows of few values agree by chance."""

FEWEST_FILLED, SHARE_FILLED = 5, 0.02
"""The number of cells with one value, and their share of the column, from which they count as filled in."""

TIMES = 5
"""A filled-in value occurs this many times as often as any other value of its column."""


class Duplicates(NamedTuple):
    """The share of rows that repeat another, and the share of pairs of rows that agree in all columns among those that agree in all
    but the column of most values: near 1 for copies."""

    share: float
    copied: float


def duplicates(codes: NDArray[np.intp]) -> Duplicates | None:
    """Count the rows that occur before; None where rows of few values agree by chance.

    Rows that agree by chance in all columns but one agree in that one as rarely as any two rows do, if it has many values; copies
    always do. So among pairs that agree in all columns but the one of most values, the share that agrees in it as well tells one from
    the other.
    """
    n, p = codes.shape
    agree = np.array([_pairs(np.bincount(codes[:, j])) for j in range(p)]) / (n * (n - 1) / 2)
    j = int(np.argmin(agree))
    if p < 2 or agree[j] > CHANCE:
        return None
    whole, others = (np.unique(_labels(part), return_counts=True)[1] for part in (codes, np.delete(codes, j, axis=1)))
    if not _pairs(whole):
        return Duplicates(0.0, 0.0)
    return Duplicates(1.0 - len(whole) / n, _pairs(whole) / _pairs(others))


def _pairs(counts: NDArray[np.intp]) -> float:
    """Count the pairs within groups of these sizes."""
    return float((counts * (counts - 1.0)).sum() / 2.0)


def _labels(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number the rows so that equal rows, and only these, have equal numbers."""
    labels = np.zeros(len(codes), dtype=np.intp)
    for j in range(codes.shape[1]):
        labels = np.unique(labels * (codes[:, j].max() + 1) + codes[:, j], return_inverse=True)[1]
    return labels


def filled_in(X: Array, mean: Array) -> dict[int, float]:
    """Return the columns with many cells of one value that chance does not explain, and the share of these cells.

    The value occurs `TIMES` as often as any other, lies between the quartiles of the rest, and is the mean of the column or no round
    number; or it is the only one that is no whole number.
    """
    n = len(X)
    found = {}
    for j in range(X.shape[1]):
        values, counts = np.unique(X[:, j], return_counts=True)
        k = int(np.argmax(counts))
        value, count = values[k], int(counts[k])
        rest, others = np.delete(values, k), np.delete(counts, k)
        whole = rest == np.round(rest)
        if len(rest) < 2:
            continue
        alone = whole.all() and value != round(value)
        if alone and count >= 2 and values[0] < value < values[-1]:
            found[j] = count / n
            continue
        if count < max(FEWEST_FILLED, SHARE_FILLED * n) or count < TIMES * others.max():
            continue
        low, high = np.quantile(np.repeat(rest, others), [0.25, 0.75])
        is_mean = abs(value - mean[j]) <= 1e-6 * (values[-1] - values[0])
        if low < value < high and (is_mean or value != round(value, 2)):
            found[j] = count / n
    return found
