"""Residual sums of squares of every variable on any set of others, from the triangular root of the scatter."""

from __future__ import annotations

import math
from typing import Generic, TypeVar

import numpy as np
from scipy.linalg import blas, lapack

from ordag.common.arrays import Array
from ordag.common.bits import members
from ordag.common.linalg import EPSILON

COLLINEAR = 64 * EPSILON
"""The share of its length below which the residual of a column on the parents is nothing but rounding."""

IMPRECISE = 1e-6
"""The share of a sum of squares below which what remains is computed from the residual and not by a difference."""

MOST_CACHE_BYTES = 2**27
"""Bytes of cached factors; the least recently used are dropped first."""


Factor = TypeVar("Factor")


class Factors(Generic[Factor]):
    """A cache of one factor for each set of variables, made from a cached set with one variable fewer if there is one.

    A set is a Python int with bit k set for variable k. `bare` belongs to the empty set. At most `capacity` sets are
    kept; the least recently used is dropped first.
    """

    def __init__(self, bare: Factor, capacity: int) -> None:
        self._bare = bare
        self._capacity = capacity
        self._factors: dict[int, Factor] = {}

    def _extend(self, factor: Factor, k: int) -> Factor:
        """Return the factor of the set with k as one more variable."""
        raise NotImplementedError

    def _from_scratch(self, nodes: list[int]) -> Factor:
        factor = self._bare
        for k in nodes:
            factor = self._extend(factor, k)
        return factor

    def _factor(self, parents: int) -> Factor:
        if not parents:
            return self._bare
        # Removed and inserted again, so that the first entry is always the least recently used.
        factor = self._factors.pop(parents, None) or self._make(parents)
        self._factors[parents] = factor
        if len(self._factors) > self._capacity:
            del self._factors[next(iter(self._factors))]
        return factor

    def _make(self, parents: int) -> Factor:
        left = parents
        while left:
            lowest = left & -left
            smaller = self._bare if parents == lowest else self._factors.get(parents ^ lowest)
            if smaller is not None:
                return self._extend(smaller, lowest.bit_length() - 1)
            left ^= lowest
        return self._from_scratch(members(parents))


class Regressions(Factors["_Factor"]):
    """Residual sums of squares (RSS) of every variable on any set of others, from the root R.

    For a set S of m variables an orthogonal matrix Q is applied to all columns of R so that the parents become
    triangular in the first m coordinates (Householder): the other coordinates of every column are its residual on S,
    whichever variable it is. The factor is therefore shared by all nodes with the same parents, and one more parent
    costs one reflection of a cached factor. Nothing is computed from products RᵀR, so a residual is as precise as
    one from a QR of the rows.

    Every RSS is finite and positive, and at least (ε‖x‖)², the rounding of the column itself. A parent that is
    collinear with the others (see `COLLINEAR`) explains nothing more, and is left out of the factor.
    """

    def __init__(self, R: Array, n: int) -> None:
        self.n = n
        self.p = R.shape[1]
        columns = np.array(R.T, dtype=np.float64, order="C")
        squares = np.einsum("kj,kj->k", columns, columns)
        self._floor = np.maximum(EPSILON**2 * squares, np.finfo(np.float64).tiny)
        self._collinear = np.maximum(COLLINEAR**2 * squares, np.finfo(np.float64).tiny)
        super().__init__(_Factor(columns, (), (), self._floor), max(16, MOST_CACHE_BYTES // (16 * self.p**2 + 1024)))

    def rss(self, node: int, parents: int) -> float:
        """Return the RSS of `node` on `parents`."""
        return float(self._factor(parents).squares[node])

    def rss_adding(self, node: int, parents: int) -> Array:
        r"""Return the RSS of `node` on parents ∪ {k} at every k; that on `parents` itself at `node` and at k in `parents`.

        With residuals $e$ on the parents it is $\|e_j\|^2 - (e_j \cdot e_k)^2 / \|e_k\|^2$.
        """
        factor = self._factor(parents)
        residuals = factor.coordinates[:, len(factor.kept) :]
        residual = residuals[node]
        rss = factor.squares[node]
        products = residuals @ residual
        # False for the parents themselves too: nothing is left of them.
        useful = factor.squares > self._collinear
        useful[node] = False
        slope = np.divide(products, factor.squares, out=np.zeros(self.p), where=useful)
        result: Array = rss - slope * products
        imprecise = np.flatnonzero(result < IMPRECISE * rss)
        if len(imprecise):
            left = residual - slope[imprecise, None] * residuals[imprecise]
            result[imprecise] = np.einsum("kj,kj->k", left, left)
        np.maximum(result, self._floor[node], out=result)
        return result

    def rss_dropping(self, node: int, parents: int) -> Array:
        r"""Return the RSS of `node` on parents \\ {k} at every k in `parents`; nan elsewhere.

        With $\beta$ the coefficients and $d$ the diagonal of the inverse Gram matrix of the parents, it is the RSS on
        all of them plus $\beta_k^2 / d_k$.
        """
        factor = self._factor(parents)
        result = np.full(self.p, np.nan)
        kept = list(factor.kept)
        if factor.left_out:
            # A parent that was left out can replace one that is dropped: that takes the factor without the dropped one.
            for k in members(parents):
                result[k] = max(self.rss(node, parents & ~(1 << k)), factor.squares[node])
        elif kept:
            T = factor.coordinates[kept, : len(kept)].T
            if factor.inverse_diagonal is None:
                inverse, _ = lapack.dtrtri(T)
                factor.inverse_diagonal = np.einsum("ij,ij->i", inverse, inverse)
            beta, _ = lapack.dtrtrs(T, factor.coordinates[node, : len(kept)])
            result[kept] = factor.squares[node] + beta * beta / factor.inverse_diagonal
        return result

    def rss_changing(self, node: int, parents: int) -> Array:
        """Return the RSS of `node` with k as one more parent, or without k where k is one, at every k; a read-only array."""
        factor = self._factor(parents)
        cached = factor.changing.get(node)
        if cached is None:
            cached = self.rss_adding(node, parents)
            nodes = members(parents)
            cached[nodes] = self.rss_dropping(node, parents)[nodes]
            cached.flags.writeable = False
            factor.changing[node] = cached
        return cached

    def _extend(self, factor: _Factor, k: int) -> _Factor:
        """Reflect the residual of k onto the next coordinate."""
        if factor.squares[k] <= self._collinear[k]:
            return _Factor(factor.coordinates, factor.kept, (*factor.left_out, k), self._floor)
        m = len(factor.kept)
        v = factor.coordinates[k].copy()
        v[:m] = 0.0
        length = math.sqrt(v @ v)
        image = -math.copysign(length, v[m])
        v[m] -= image
        v *= math.sqrt(1.0 / (length * abs(v[m])))
        coordinates = blas.dger(-1.0, v, factor.coordinates @ v, a=factor.coordinates.T).T
        coordinates[k, m:] = 0.0
        coordinates[k, m] = image
        return _Factor(coordinates, (*factor.kept, k), factor.left_out, self._floor)

    def _from_scratch(self, nodes: list[int]) -> _Factor:
        """Make a factor by one QR, or parent by parent where they are collinear."""
        m = len(nodes)
        columns = self._bare.coordinates
        reflectors, tau, _, _ = lapack.dgeqrf(columns[nodes].T, overwrite_a=1)
        if (reflectors.diagonal() ** 2 <= self._collinear[nodes]).any():
            return super()._from_scratch(nodes)
        turned, _, info = lapack.dormqr("L", "T", reflectors, tau, columns.T, 64 * self.p)
        assert info == 0, "LAPACK rejected a reflection"
        coordinates = turned.T
        coordinates[nodes, m:] = 0.0
        return _Factor(coordinates, tuple(nodes), (), self._floor)


class _Factor:
    """All columns in the coordinates of one set of parents: `coordinates[k]` is Qᵀx_k, its residual from m on.

    kept, left_out: the parents, and those collinear with the others. changing: what `rss_changing` has returned.
    """

    __slots__ = ("changing", "coordinates", "inverse_diagonal", "kept", "left_out", "squares")

    def __init__(self, coordinates: Array, kept: tuple[int, ...], left_out: tuple[int, ...], floor: Array) -> None:
        self.coordinates = coordinates
        self.kept = kept
        self.left_out = left_out
        residuals = coordinates[:, len(kept) :]
        self.squares = np.maximum(np.einsum("kj,kj->k", residuals, residuals), floor)
        self.inverse_diagonal: Array | None = None
        self.changing: dict[int, Array] = {}
