"""Residual sums of squares of every variable on any set of others, from the triangular root of the scatter."""

from __future__ import annotations

import math
from typing import Generic, TypeVar

import numpy as np
from scipy.linalg import blas, lapack

from ordag.arrays import Array
from ordag.bits import members
from ordag.linalg import EPSILON

COLLINEAR = 64 * EPSILON
"""A column of which no more than this share of its length is left beside the parents adds nothing but rounding."""

SPENT = 1e-6
"""Where less than this share of a sum of squares remains, it is computed from the residual and not by a difference."""

MEMORY = 2**27
"""Bytes of factors that are kept, the least recently used given up first."""


Factor = TypeVar("Factor")


class Factors(Generic[Factor]):
    """What is known of sets of variables, each of them made from a set with one variable less where that is kept.

    A set is a Python int with bit k set for variable k. `bare` belongs to the empty set. No more than `capacity` sets are
    kept, the least recently used is given up first.
    """

    def __init__(self, bare: Factor, capacity: int) -> None:
        self._bare = bare
        self._capacity = capacity
        self._factors: dict[int, Factor] = {}

    def _extend(self, factor: Factor, k: int) -> Factor:
        """The factor of the set with k as one variable more."""
        raise NotImplementedError

    def _from_scratch(self, nodes: list[int]) -> Factor:
        factor = self._bare
        for k in nodes:
            factor = self._extend(factor, k)
        return factor

    def _factor(self, parents: int) -> Factor:
        if not parents:
            return self._bare
        # Taken out and put back, so that the first entry is always the one unused for longest.
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
    costs one reflection of a factor that is already there. Nothing is computed from products RᵀR, so a residual keeps
    the digits that a QR of the rows would give it.

    Every RSS is finite and positive: it is never put below (ε‖x‖)², the rounding of the column itself. A parent that is
    collinear with the others (see `COLLINEAR`) explains nothing more, and is left out of the factor.
    Arrays that are returned are read-only.
    """

    def __init__(self, R: Array, n: int) -> None:
        self.n = n
        self.p = R.shape[1]
        columns = np.array(R.T, dtype=np.float64, order="C")
        squares = np.einsum("kj,kj->k", columns, columns)
        self._floor = np.maximum(EPSILON**2 * squares, np.finfo(np.float64).tiny)
        self._collinear = np.maximum(COLLINEAR**2 * squares, np.finfo(np.float64).tiny)
        super().__init__(_Factor(columns, (), (), self._floor), max(16, MEMORY // (16 * self.p**2 + 1024)))

    def rss(self, node: int, parents: int) -> float:
        """RSS of `node` on `parents`."""
        return float(self._factor(parents).squares[node])

    def rss_adding(self, node: int, parents: int) -> Array:
        r"""RSS of `node` on parents ∪ {k}, at every k; the RSS on `parents` itself at `node` and at k in `parents`.

        With residuals $e$ on the parents it is $\|e_j\|^2 - (e_j \cdot e_k)^2 / \|e_k\|^2$.
        """
        factor = self._factor(parents)
        known = factor.adding.get(node)
        return self._add(factor, node) if known is None else known

    def rss_dropping(self, node: int, parents: int) -> Array:
        r"""RSS of `node` on parents \\ {k}, at every k in `parents`; nan elsewhere.

        With $\beta$ the coefficients and $d$ the diagonal of the inverse Gram matrix of the parents, it is the RSS on
        all of them plus $\beta_k^2 / d_k$.
        """
        factor = self._factor(parents)
        known = factor.dropping.get(node)
        return self._drop(factor, node, parents) if known is None else known

    def rss_changing(self, node: int, parents: int) -> Array:
        """RSS of `node` with k as one more parent, or without k where k is one, at every k."""
        factor = self._factor(parents)
        known = factor.changing.get(node)
        if known is None:
            known = self.rss_adding(node, parents).copy()
            nodes = members(parents)
            known[nodes] = self.rss_dropping(node, parents)[nodes]
            known.flags.writeable = False
            factor.changing[node] = known
        return known

    def _add(self, factor: _Factor, node: int) -> Array:
        residuals = factor.coordinates[:, len(factor.kept) :]
        own = residuals[node]
        rss = factor.squares[node]
        products = residuals @ own
        # False for the parents themselves too: nothing is left of them.
        useful = factor.squares > self._collinear
        useful[node] = False
        slope = np.divide(products, factor.squares, out=np.zeros(self.p), where=useful)
        result: Array = rss - slope * products
        spent = np.flatnonzero(result < SPENT * rss)
        if len(spent):
            left = own - slope[spent, None] * residuals[spent]
            result[spent] = np.einsum("kj,kj->k", left, left)
        np.maximum(result, self._floor[node], out=result)
        result.flags.writeable = False
        factor.adding[node] = result
        return result

    def _drop(self, factor: _Factor, node: int, parents: int) -> Array:
        result = np.full(self.p, np.nan)
        kept = list(factor.kept)
        if factor.left_out:
            # One that was left out can stand in for one that is dropped: only a factor without that one can tell.
            for k in members(parents):
                result[k] = max(self.rss(node, parents & ~(1 << k)), factor.squares[node])
        elif kept:
            T = factor.coordinates[kept, : len(kept)].T
            if factor.inverse_diagonal is None:
                inverse, _ = lapack.dtrtri(T)
                factor.inverse_diagonal = np.einsum("ij,ij->i", inverse, inverse)
            beta, _ = lapack.dtrtrs(T, factor.coordinates[node, : len(kept)])
            result[kept] = factor.squares[node] + beta * beta / factor.inverse_diagonal
        result.flags.writeable = False
        factor.dropping[node] = result
        return result

    def _extend(self, factor: _Factor, k: int) -> _Factor:
        """The factor with one more parent: a reflection that turns the residual of k onto the next coordinate."""
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
        """By one factorisation, or one by one where parents are collinear."""
        m = len(nodes)
        columns = self._bare.coordinates
        reflectors, tau, _, _ = lapack.dgeqrf(columns[nodes].T, overwrite_a=1)
        if (reflectors.diagonal() ** 2 <= self._collinear[nodes]).any():
            return super()._from_scratch(nodes)
        turned, _, info = lapack.dormqr("L", "T", reflectors, tau, columns.T, 64 * self.p)
        assert info == 0, "LAPACK refused a reflection"
        coordinates = turned.T
        coordinates[nodes, m:] = 0.0
        return _Factor(coordinates, tuple(nodes), (), self._floor)


class _Factor:
    """All columns in the coordinates of one set of parents: `coordinates[k]` is Qᵀx_k, its residual from m on."""

    __slots__ = ("adding", "changing", "coordinates", "dropping", "inverse_diagonal", "kept", "left_out", "squares")

    def __init__(self, coordinates: Array, kept: tuple[int, ...], left_out: tuple[int, ...], floor: Array) -> None:
        self.coordinates = coordinates
        self.kept = kept
        self.left_out = left_out
        residuals = coordinates[:, len(kept) :]
        self.squares = np.maximum(np.einsum("kj,kj->k", residuals, residuals), floor)
        self.inverse_diagonal: Array | None = None
        self.adding: dict[int, Array] = {}
        self.changing: dict[int, Array] = {}
        self.dropping: dict[int, Array] = {}
