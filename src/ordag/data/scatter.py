"""The centred scatter of rows and its triangular root R, in one pass and without losing digits.

Forming a Gram matrix is several times quicker than a QR factorisation but keeps only half the digits.
`Accumulator` combines both: R of a first chunk by QR, then Gram matrices of later rows, as they are where that R is well
conditioned, else *whitened* by it: near a multiple of the identity as long as later rows resemble the first. Where they do
not, a QR again.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON, add_products, cholesky, lengths, reciprocal_condition, triangle
from ordag.data.table_checks import LARGEST, SMALLEST

WELL_CONDITIONED = 1e-6
"""Reciprocal condition number of the correlations above which a Gram matrix loses at most six of sixteen digits."""

MANY_COLUMNS = 1000
"""Columns from which a file is read through a Gram matrix: quicker than orthogonal transformations, and in less memory."""


def chunk_rows(p: int) -> int:
    """Return the rows to work on at once: enough for matrix-matrix speed, no more than two p × p matrices or a megabyte."""
    return max(2 * p, 2**17 // p)


def gram_rows(p: int) -> int:
    """Return the rows to add to a Gram matrix at once: of many columns a thousand, or as many as make 64 megabytes."""
    return chunk_rows(p) if p < MANY_COLUMNS else max(2**10, 2**23 // p)


def scatter_of(X: Array) -> tuple[Array, Array]:
    """Return mean and centred scatter (X − x̄)ᵀ(X − x̄) of rows in memory; only the lower triangle of the scatter is filled."""
    n, p = X.shape
    total = Products(p, X.mean(axis=0, dtype=np.float64))
    step = gram_rows(p)
    for start in range(0, n, step):
        total.add(X[start : start + step])
    return total.finish()


class Products:
    """Sums blocks of rows up to their mean and centred scatter, in its lower triangle; memory is that matrix and a block.

    Rows are shifted by `shift` or, without one, by the mean of the first block, so that the correction at the end is small.
    """

    def __init__(self, p: int, shift: Array | None = None) -> None:
        self.rows = 0
        self.shift = shift
        self.scatter: Array = np.zeros((p, p), order="F")
        self.total = np.zeros(p)  # of the rows, less the shift
        self._buffer = np.empty((0, p))

    def add(self, block: Array) -> None:
        if not len(block):
            return
        if self.shift is None:
            self.shift = block.mean(axis=0)
        if len(self._buffer) < len(block):
            self._buffer = np.empty(block.shape)
        shifted = np.subtract(block, self.shift, out=self._buffer[: len(block)])
        self.rows += len(block)
        self.total += blas.dgemv(1.0, shifted.T, np.ones(len(block)))
        add_products(self.scatter, shifted.T)

    def finish(self) -> tuple[Array, Array]:
        """Return mean and scatter; nothing can be added afterwards."""
        shift = np.zeros(len(self.total)) if self.shift is None else self.shift
        n = max(self.rows, 1)
        self._buffer = np.empty((0, 0))
        return shift + self.total / n, blas.dsyr(-1.0 / n, self.total, lower=1, a=self.scatter, overwrite_a=1)

    def kept(self, scatter: Array) -> bool:
        """Return whether the correction at the end cost no more than a digit: the first rows were like the others."""
        return bool((self.total**2 <= 9.0 * max(self.rows, 1) * scatter.diagonal()).all())


def root_of_scatter(scatter: Array) -> tuple[Array, float] | None:
    """Return upper triangular R with RᵀR = scatter (from its lower triangle), and how well conditioned it is.

    The second number is the reciprocal condition of the correlation matrix (LAPACK's estimate in the 1-norm).
    None where the scatter is not numerically positive definite.
    """
    if not np.isfinite(scatter.diagonal()).all():
        return None
    L = cholesky(scatter)
    if L is None:
        return None
    return L.T, reciprocal_condition(L / lengths(L.T)[:, None], "L") ** 2


def merge_roots(parts: list[tuple[int, Array, Array]]) -> tuple[int, Array, Array]:
    """Return (n, mean, R) of the union of row sets given as (n, mean, R): stack the roots and the mean shifts, and QR.

    For two sets the shift is the single row $\\sqrt{n_a n_b / (n_a + n_b)}\\,(\\bar x_a - \\bar x_b)$; for several,
    the rows $\\sqrt{n_i}(\\bar x_i - \\bar x)$ have the same Gram matrix.
    """
    n = sum(part[0] for part in parts)
    weights = np.array([part[0] for part in parts], dtype=np.float64) / n
    means = np.stack([part[1] for part in parts])
    mean = means[0] + weights @ (means - means[0])
    shifts = np.sqrt(weights * n)[:, None] * (means - mean)
    return n, mean, triangle(np.concatenate([*(part[2] for part in parts), shifts]))


class Accumulator:
    """Sums blocks of rows up to (n, mean, R) of all of them; memory is a few p × p matrices."""

    def __init__(self, p: int, base: tuple[int, Array, Array] | None = None) -> None:
        self.p = p
        self.chunk = max(2 * p, 1024)
        self.waiting: list[Array] = []
        self.waiting_rows = 0
        self.base: tuple[int, Array, Array] | None = None  # n, mean and R that the later rows are added to
        self.whitens = True
        self.rows = 0  # rows since `base`
        self.total = np.zeros(p)  # their sum, less base mean
        self.products: Array | None = None  # of all rows about the base mean, where there are any since it
        if base is not None:
            self._rest_on(base)

    def _rest_on(self, base: tuple[int, Array, Array]) -> None:
        """Start adding later rows to this base."""
        self.base = base
        self.whitens = not _well_conditioned(base[2])
        self.rows, self.total, self.products = 0, np.zeros(self.p), None

    def add(self, block: Array) -> None:
        self.waiting.append(block)
        self.waiting_rows += len(block)
        if self.waiting_rows >= self.chunk:
            self._absorb()

    def finish(self) -> tuple[int, Array, Array]:
        if self.waiting_rows:
            self._absorb()
        if self.base is None:
            return 0, np.zeros(self.p), np.zeros((self.p, self.p))
        return self._state()

    def _absorb(self) -> None:
        chunk = np.concatenate(self.waiting) if len(self.waiting) > 1 else self.waiting[0]
        self.waiting, self.waiting_rows = [], 0
        if self.base is None:
            self._rest_on(root_of_rows(chunk))
            return
        _n, mean, R = self.base
        if not _resolved(R):
            self._rest_on(merge_roots([self.base, root_of_rows(chunk)]))
            return
        centred = chunk - mean
        total = self.total + centred.sum(axis=0)
        columns = blas.dtrsm(1.0, R, centred.T, trans_a=1, overwrite_b=1) if self.whitens else centred.T
        before = self.products
        if before is None:
            before = np.eye(self.p) if self.whitens else R.T @ R
        products = blas.dsyrk(1.0, columns, beta=1.0, c=before, lower=1)
        if self._root(products, total, self.rows + len(chunk)) is None:
            self._rest_on(merge_roots([self._state(), root_of_rows(chunk)]))
        else:
            self.rows, self.total, self.products = self.rows + len(chunk), total, products

    def _state(self) -> tuple[int, Array, Array]:
        """(n, mean, R) of the rows absorbed so far."""
        assert self.base is not None
        if self.products is None:
            return self.base
        state = self._root(self.products, self.total, self.rows)
        assert state is not None, "every absorbed chunk has been checked"
        return state

    def _root(self, products: Array, total: Array, rows: int) -> tuple[int, Array, Array] | None:
        """Return (n, mean, R) of `products`, or None where their Cholesky factor has lost digits.

        With base (n₁, μ₁, R₁), later rows y = (x − μ₁)R₁⁻¹ and h = Σy, the centred scatter of all N rows is
        R₁ᵀ(I + Σyᵀy − hᵀh/N)R₁; with the bracket = UᵀU, the root is U R₁. Where R₁ does not whiten, y = x − μ₁, and the
        scatter R₁ᵀR₁ + Σyᵀy − hᵀh/N is the bracket itself.
        """
        assert self.base is not None
        n, mean, R = self.base
        h = blas.dtrsm(1.0, R, total[:, None], trans_a=1) if self.whitens else total[:, None]
        bracket = products - (h @ h.T) / (n + rows)
        if not self.whitens and (products.diagonal() > 10.0 * bracket.diagonal()).any():
            return None  # more than a digit went with the base mean
        root = root_of_scatter(bracket)
        if root is None or root[1] < WELL_CONDITIONED:
            return None
        return n + rows, mean + total / (n + rows), np.triu(root[0] @ R) if self.whitens else root[0]


def _well_conditioned(R: Array) -> bool:
    """Return whether products of rows like those behind R keep eleven digits and more without whitening."""
    size = lengths(R)
    if not ((size > SMALLEST) & (size < LARGEST)).all():
        return False
    return reciprocal_condition(R / size, "U") ** 2 >= 10.0 * WELL_CONDITIONED


def root_of_rows(X: Array) -> tuple[int, Array, Array]:
    """Return (n, mean, R) of rows in memory by QR, with all the digits of the rows."""
    mean = X.mean(axis=0)
    centred = X - mean
    missed = centred.mean(axis=0)
    return len(X), mean + missed, triangle(centred - missed)


def _resolved(R: Array) -> bool:
    """Return whether no column of R is a combination of the earlier ones to within rounding, so that R can whiten."""
    return bool((np.abs(np.diagonal(R)) > 8 * EPSILON * lengths(R)).all())
