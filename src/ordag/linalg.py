"""Triangular matrices: the one factorisation and the one inverse that everything rests on."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, qr

from ordag.arrays import Array

EPSILON = float(np.finfo(np.float64).eps)


def triangle(columns: Array) -> Array:
    """R of a QR factorisation, square, with a diagonal that is not negative."""
    p = columns.shape[1]
    R: Array = np.asarray(qr(columns, mode="r", check_finite=False)[0][:p], dtype=np.float64)
    R[np.diagonal(R) < 0] *= -1.0
    return np.concatenate([R, np.zeros((p - len(R), p))]) if len(R) < p else R


def inverse(L: Array) -> Array:
    """The inverse of a lower triangular matrix that has no zero on its diagonal."""
    inverted: tuple[Array, int] = lapack.dtrtri(L, lower=1)
    assert inverted[1] == 0, "a zero on the diagonal was let through"
    return inverted[0]


def wishart_root(n: int, p: int, random: np.random.Generator) -> Array:
    r"""An upper triangular root of the scatter of n independent standard normal rows with p columns (Bartlett 1933).

    $A_{ii}^2 \sim \chi^2_{n-i}$ for i = 1, 2, …, and standard normal entries above the diagonal; with fewer rows than
    columns, by the rows themselves.
    """
    if n <= p:
        return triangle(random.standard_normal((n - 1, p)))
    A = np.triu(random.standard_normal((p, p)), 1)
    A[np.diag_indices(p)] = np.sqrt(random.chisquare(n - 1.0 - np.arange(p)))
    return A


def lengths(columns: Array) -> Array:
    """The Euclidean length of every column."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", columns, columns)))
