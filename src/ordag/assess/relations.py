"""Columns that follow from each other but for rounding: arrows among them show how they are defined, not what causes what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ordag.assess.finding import Caution
from ordag.common.arrays import Array
from ordag.common.words import listed, shell_word

LEFT = 1e-4
"""Share of a column's variance that others may leave of it."""

MOST_COLUMNS, WIDEST = 5, 400
"""Columns of a relation, and of a table in which relations are looked for."""

NEGLIGIBLE = 0.01
"""Coefficients below this share of the largest, in standard deviations, that may be left out of a relation."""

ROUNDED = 3.0
"""How often the variance that rounding gives may be left of a relation that holds but for rounding."""

DIGITS = 6
"""Decimal places up to which the step between the values of a column is looked for."""


def relation_caution(X: Array, names: Sequence[str]) -> Caution | None:
    """Return a caution about columns of which one is nearly a copy of another, or all follow from each other but for rounding."""
    found = nearly_exact(X)
    if found is None:
        return None
    which = [names[j] for j in found]
    return Caution(
        "relations",
        f"{listed(which)} determine each other but for less than {100.0 * LEFT:.2g} % of their variance: arrows among them show how these "
        "columns are defined, not what causes what.",
        f"Leave out what the others define, such as drop={[which[-1]]!r} (--drop {shell_word(which[-1])}).",
        "columns define each other",
    )


def nearly_exact(X: Array) -> list[int] | None:
    """Return the columns of the closest relation if it is exact but for rounding, or joins two of which hardly anything is left; else None.

    The eigenvector of the least eigenvalue λ of the correlations is the combination of standardised columns that varies least: it leaves
    column j the share λ / v_j² of its variance.
    """
    n, p = X.shape
    if not 2 <= p <= WIDEST or n < p + 2:
        return None
    spread = X.std(axis=0)
    if not (spread > 0.0).all():
        return None
    Z = (X - X.mean(axis=0)) / spread
    values, vectors = np.linalg.eigh(Z.T @ Z / n)
    v = vectors[:, 0]
    largest = np.abs(v).max()
    if values[0] > LEFT * largest**2:
        return None
    among = np.flatnonzero(np.abs(v) > NEGLIGIBLE * largest)
    if not 2 <= len(among) <= MOST_COLUMNS:
        return None
    j = among[int(np.argmax(np.abs(v[among])))]
    others = among[among != j]
    b = np.linalg.lstsq(Z[:, others], Z[:, j], rcond=None)[0]
    left = float(np.square(Z[:, j] - Z[:, others] @ b).mean())
    if left > LEFT:
        return None
    steps = np.array([step(X[:, k]) for k in (j, *others)])
    weights = np.array([1.0, *b]) / spread[[j, *others]]
    by_rounding = float(np.square(weights * steps).sum()) / 12.0
    return among.tolist() if len(among) == 2 or left <= ROUNDED * by_rounding else None


def step(column: Array) -> float:
    """Return the decimal step of which all values are multiples, 0 without one."""
    for digits in range(DIGITS + 1):
        scaled = column * 10.0**digits
        if (np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1.0)).all():
            return float(10.0**-digits)
    return 0.0
