"""Factorise and invert triangular matrices, and call BLAS on parts of matrices."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas, cython_lapack, lapack, qr

from ordag.common.arrays import Array, Mask

EPSILON = float(np.finfo(np.float64).eps)

MULTIPLICATIONS_PER_CALL = 2**32
"""Multiplications in one call of BLAS, a fraction of a second: between calls the user can interrupt, and progress is reported."""

LAPACK_COLUMNS = 3000
"""Columns up to which LAPACK factorises or inverts a matrix in one call, done in a quarter of a second."""

INVERSE_ROWS, LARGE_INVERSE_ROWS, INVERSE_COLUMNS = 256, 512, 1024
"""Rows of a transposed inverse at a time, the same of one with more than LAPACK_COLUMNS columns, and columns of them."""

TILE = 128
"""Rows and columns to transpose at a time: what stays in a processor's cache."""


def triangle(columns: Array) -> Array:
    """R of a QR factorisation, square, without negative entries on its diagonal."""
    p = columns.shape[1]
    if not columns.size:  # older SciPy refuses a matrix without rows
        return np.zeros((p, p))
    R: Array = np.asarray(qr(columns, mode="r", check_finite=False)[0][:p], dtype=np.float64)
    R[np.diagonal(R) < 0] *= -1.0
    return np.concatenate([R, np.zeros((p - len(R), p))]) if len(R) < p else R


def cholesky(S: Array) -> Array | None:
    """Lower triangular L with L Lᵀ = S, from the lower triangle of S; None where S is not positive definite."""
    L, failed = cholesky_until(S)
    return None if failed else L


def cholesky_until(S: Array) -> tuple[Array, int]:
    """Return L and 0, or the number, from 1, of the first column of which nothing is left given those before it.

    A large matrix is factorised block column by block column: OpenBLAS's routine with several threads is a segmentation fault at
    20,000 columns, and cannot be interrupted.
    """
    p = len(S)
    if p <= LAPACK_COLUMNS:
        whole: tuple[Array, int] = lapack.dpotrf(S, lower=1, clean=1)
        return whole
    L: Array = np.array(S, order="F")
    for start in range(0, p, LARGE_INVERSE_ROWS):
        stop = min(start + LARGE_INVERSE_ROWS, p)
        corner, failed = lapack.dpotrf(L[start:stop, start:stop], lower=1, clean=1)
        if failed:
            return L, start + int(failed)
        L[start:stop, start:stop], L[start:stop, stop:] = corner, 0.0
        if stop < p:
            below = L[stop:, start:stop]
            _call(
                "dtrsm", b"R", b"L", b"T", b"N", *below.shape, 1.0, corner, _layout(corner)[1], below, _layout(below)[1]
            )
            add_products(L[stop:, stop:], below, alpha=-1.0)
    return L, 0


def reciprocal_condition(T: Array, part: Literal["L", "U"]) -> float:
    """Estimate the reciprocal condition number in the 1-norm of the lower or upper triangle of a matrix (LAPACK's dtrcon).

    By its address: SciPy has a Python function for it from 1.15 on only.
    """
    p = len(T)
    T = np.asfortranarray(T)
    found, work, whole_numbers = np.empty(1), np.empty(3 * p), np.empty(p + 1, np.int32)
    _call("dtrcon", b"1", part.encode(), b"N", p, T, max(p, 1), found, work, whole_numbers, whole_numbers[p:])
    return float(found[0])


def inverse(L: Array) -> Array:
    """Return the inverse W of a lower triangular matrix that has no zero on its diagonal."""
    if len(L) <= LAPACK_COLUMNS:
        return _inverse(L)
    V: Array = np.zeros(L.shape, order="F")
    invert(L if L.strides[0] == L.itemsize else np.asfortranarray(L), V)
    return V.T


def _inverse(L: Array) -> Array:
    inverted: tuple[Array, int] = lapack.dtrtri(L, lower=1)
    assert inverted[1] == 0, "a zero on the diagonal was let through"
    return inverted[0]


def invert(L: Array, V: Array, progress: Callable[[int], None] | None = None) -> None:
    r"""Write the transposed inverse V of a lower triangular matrix; both are stored by columns, or parts of such matrices.

    Block row by block row, from the last: $V_{j,r} = -V_{jj} L_{r',j}^\top V_{r',r}$ over the columns r and the rows r' behind the
    block, some columns at a time. L is read in its lower triangle only, V written in its upper one, so one array can hold both.
    `progress` is called with the number of rows done.
    """
    p = len(L)
    width = INVERSE_ROWS if p <= LAPACK_COLUMNS else LARGE_INVERSE_ROWS
    for start in reversed(range(0, p, width)):
        stop = min(start + width, p)
        corner = V[start:stop, start:stop]
        turn_triangle(_inverse(L[start:stop, start:stop]), corner)
        for left in range(stop, p, INVERSE_COLUMNS):
            right = min(left + INVERSE_COLUMNS, p)
            part = V[start:stop, left:right]
            part[:] = L[left:right, start:stop].T
            multiply_upper(V[left:right, left:right], part, side=b"R")
            if left > stop:
                multiply(L[stop:left, start:stop].T, V[stop:left, left:right], part, beta=1.0)
            multiply_upper(corner, part, alpha=-1.0)
        if progress is not None:
            progress(p - start)


def turn_triangle(W: Array, V: Array) -> None:
    """Copy the lower triangle of W, transposed, into the upper one of V, a tile at a time."""
    p = len(W)
    for start in range(0, p, TILE):
        stop = min(start + TILE, p)
        for top in range(0, start, TILE):
            V[top : top + TILE, start:stop] = W[start:stop, top : top + TILE].T
        np.copyto(V[start:stop, start:stop], W[start:stop, start:stop].T, where=upper_part(stop - start))


@lru_cache(maxsize=16)
def upper_part(size: int, diagonal: int = 0) -> Mask:
    """Return the mask of the upper triangle of a square matrix, from this diagonal on."""
    mask = ~np.tri(size, k=diagonal - 1, dtype=bool)
    mask.flags.writeable = False
    return mask


def multiply_upper(U: Array, B: Array, alpha: float = 1.0, side: bytes = b"L", turn: bytes = b"N") -> None:
    """B ← alpha U B, with side R alpha B U, with turn T by Uᵀ, from the upper triangle of U. Both are stored by columns."""
    _call("dtrmm", side, b"U", turn, b"N", *B.shape, alpha, U, _layout(U)[1], B, _layout(B)[1])


def multiply(A: Array, B: Array, C: Array, alpha: float = 1.0, beta: float = 0.0) -> None:
    """C ← alpha A B + beta C, in place, also for parts of larger matrices; C by columns, A and B either way."""
    (m, n), k = C.shape, A.shape[1]
    turn_a, lead_a = _layout(A)
    turn_b, lead_b = _layout(B)
    turn_c, lead_c = _layout(C)
    assert turn_c == b"N", "the product is stored by columns"
    _call("dgemm", turn_a, turn_b, m, n, k, alpha, A, lead_a, B, lead_b, beta, C, lead_c)


def add_products(C: Array, A: Array, alpha: float = 1.0, beta: float = 1.0) -> None:
    """C ← alpha A Aᵀ + beta C in the lower triangle of C, a part of a larger matrix by columns, a few columns at a time."""
    p, k = A.shape
    turn, lead = _layout(A)
    columns = max(64, MULTIPLICATIONS_PER_CALL // (max(p, 1) * max(k, 1)))
    for start in range(0, p, columns):
        stop = min(start + columns, p)
        corner, rows = C[start:stop, start:stop], A[start:stop]
        _call("dsyrk", b"L", turn, stop - start, k, alpha, rows, lead, beta, corner, _layout(C)[1])
        if stop < p:
            multiply(A[stop:], rows.T, C[stop:, start:stop], alpha, beta)


def _layout(A: Array) -> tuple[bytes, int]:
    """BLAS's flag for a matrix or its transpose, and the distance between the starts of its columns (or rows)."""
    by_column, by_row = A.strides[0] == 8, A.strides[1] == 8
    assert A.dtype == np.float64, "BLAS takes float64"
    assert by_column or by_row, "BLAS takes rows or columns without gaps"
    if by_column and (A.shape[1] == 1 or A.strides[1] >= 8 * A.shape[0]):
        return b"N", max(A.strides[1] // 8, A.shape[0], 1)
    return b"T", max(A.strides[0] // 8, A.shape[1], 1)


def _call(name: str, *arguments: bytes | float | NDArray[Any]) -> None:
    """Call a routine of SciPy's BLAS or LAPACK by its address; SciPy's Python functions copy parts of matrices."""
    _routine(name, len(arguments))(*map(_pointer, arguments))


def _pointer(argument: bytes | float | NDArray[Any]) -> Any:
    if isinstance(argument, bytes):
        return argument
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data
    return ctypes.byref(ctypes.c_int(argument) if isinstance(argument, int) else ctypes.c_double(argument))


@cache
def _routine(name: str, count: int) -> Callable[..., None]:
    routines: dict[str, Any] = vars(cython_blas)["__pyx_capi__"] | vars(cython_lapack)["__pyx_capi__"]
    capsule = routines[name]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found: Callable[..., None] = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(
        address(capsule, name_of(capsule)) or 0
    )
    return found


def singular_root(S: Array) -> Array:
    """Return a matrix A with AᵀA = S, which need not have full rank."""
    values, vectors = np.linalg.eigh(S)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def wishart_root(n: int, p: int, random: np.random.Generator) -> Array:
    r"""Draw an upper triangular root of the scatter of n independent standard normal rows with p columns (Bartlett 1933).

    $A_{ii}^2 \sim \chi^2_{n-i}$ for i = 1, 2, …, and standard normal entries above the diagonal; with fewer rows than
    columns, by the rows themselves.
    """
    if n <= p:
        return triangle(random.standard_normal((n - 1, p)))
    A = np.triu(random.standard_normal((p, p)), 1)
    A[np.diag_indices(p)] = np.sqrt(random.chisquare(n - 1.0 - np.arange(p)))
    return A


def group_means(columns: Array, group: NDArray[np.intp], weights: Array, totals: NDArray[Any]) -> Array:
    """Return the weighted mean of the rows of every group, by its number; `totals` are the sums of their weights."""
    return np.asarray(
        np.stack([np.bincount(group, weights * column) for column in columns.T], axis=1) / totals[:, None]
    )


def lengths(columns: Array) -> Array:
    """Return the Euclidean length of every column."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", columns, columns)))
