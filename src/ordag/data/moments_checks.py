"""The gate of `Moments`: names, shapes, finite numbers, a triangle, and a covariance matrix that is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordag.arrays import Array
from ordag.checks import as_list, as_numbers, short
from ordag.errors import ColumnError, NonFiniteError
from ordag.linalg import cholesky_until
from ordag.words import listed, shown

AT_ONCE = 300
"""Columns up to which a copy of a matrix is quicker than a walk along its rows."""


def name_list(names: Any, what: str) -> list[str]:
    return [str(name) for name in as_list(names, f"{what}={short(names)}: give a list of names.")]


def shaped(values: Any, what: str, *shape: int) -> Array:
    """The values as an array of this shape; one that is an array of float64 already is not copied."""
    right = isinstance(values, np.ndarray) and values.dtype == np.float64
    array: Array = values if right else as_numbers(values, what)
    if array.shape != shape:
        raise ColumnError(f"{what} has shape {array.shape}; for {shape[0]} columns it is {shape}.")
    return array


def check_finite(mean: Array, values: Array, names: tuple[str, ...]) -> None:
    """Refuse a mean, or a root or variances, with an entry that is no number."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(mean.sum() + values.sum()):
            return
    finite = np.isfinite(mean) & np.isfinite(np.atleast_2d(values)).all(axis=0)
    wrong = [names[j] for j in np.flatnonzero(~finite)]
    if wrong:
        raise NonFiniteError(
            f"The moments of {listed(wrong)} are not finite numbers. If they come from rows, their values are too large to square in "
            "float64: use a larger unit."
        )


def is_triangle(R: Array) -> bool:
    """Whether there is nothing below the diagonal; in the order in which the entries lie, without a copy of a large matrix."""
    p = len(R)
    if p <= AT_ONCE:
        return not np.tril(R, -1).any()
    columns = R.T if R.flags.f_contiguous else None
    return not any((R[k, :k] if columns is None else columns[k, k + 1 :]).any() for k in range(p))


def frozen(values: Array) -> Array:
    values = values.view()
    values.flags.writeable = False
    return values


def not_positive_definite(scatter: Array, names: tuple[str, ...]) -> str:
    k = cholesky_until(scatter)[1]
    before = f" given {listed(names[: k - 1], 4)}" if k > 1 else ""
    return (
        f"The covariance matrix is not positive definite in float64: {shown(names[k - 1])} has no variance left{before}. "
        "Leave that column out, or give the rows instead of their covariances."
    )
