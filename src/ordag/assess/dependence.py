"""Test whether rows are independent, by the similarity of neighbouring rows and of rows with the same code."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from ordag.common.arrays import Array

CORRELATED = 0.2
"""From this correlation of neighbouring rows on they carry clearly less information than independent rows: the covariance of two columns
with 0.2 in blocks of 25 rows varies twice as much as that of independent rows, at 0.45 six times."""

ALIKE = 0.1
"""Intraclass correlation from which groups matter: in groups of 25 rows a covariance then varies a quarter more, at 0.45 six times."""

DEVIATIONS = 3.0
"""A correlation must also exceed 0 by this many standard errors."""

COLLINEAR = 1e-12
"""Share of the largest singular value up to which another is rounding."""

SORTED = 0.9
"""Correlation with the row number from which a table counts as sorted by a column, or by a sum of columns."""

FALLS = 7.0
"""Steps down that a column of independent rows would have on average from which one that has none counts as sorted (chance e⁻⁷)."""

MOVES = 5
"""Steps up that a column has to have within groups to count as sorted within these."""

SURE = 1e-4
"""Level of the test that the means of groups are no smooth function of their code, with Bonferroni's correction over columns."""

CURVE, FEWEST_CODES = 5, 6
"""Degree of the polynomial by which a column acts as a variable, and the fewest codes that can show more than one."""

FEWEST_BLOCKS = 3
"""Blocks of rows, and rows in each on average, that show repeated measures."""


class Memory(NamedTuple):
    """The correlation with the row before that a third of the columns have at least (`least`), their average at lags 1 and 2,
    and what independent rows stay below."""

    least: float
    lag1: float
    lag2: float
    bound: float

    @property
    def found(self) -> bool:
        return self.least > self.bound

    @property
    def in_blocks(self) -> bool:
        """Whether the correlation falls more slowly than in a time series, where that at lag 2 is about the square of that at lag 1."""
        return self.lag2 > (self.lag1 + self.lag1**2) / 2.0


class Grouping(NamedTuple):
    """The column whose codes name groups of like rows, how many, and the intraclass correlation in a third of the columns at least."""

    column: int
    groups: int
    alike: float


def levels(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rank of every value among the distinct values of its column, and the number of distinct values."""
    codes = np.empty(X.shape, dtype=np.intp, order="F")
    for j in range(X.shape[1]):
        codes[:, j] = np.unique(X[:, j], return_inverse=True)[1]
    return codes, codes.max(axis=0) + 1


def several(count: int) -> int:
    """Return a third of this many columns, but two if there are two."""
    return min(max(2, math.ceil(count / 3)), count)


def row_memory(codes: NDArray[np.intp]) -> Memory | None:
    r"""Correlate the rows with those before, by the numbers of their values.

    A table that is sorted by one column is no time series, though all that this column causes is in order too. So the columns
    are taken given those that the table is sorted by or, if there are none, given the one with the largest correlation
    between neighbours. What is left of the others, after a polynomial in these, has correlations of 0 ± 1/√n at lags 1 and 2 if
    the rows are independent. Of these the `several`-th largest counts. None if no column is left.
    """
    n, p = codes.shape
    U = codes - codes.mean(axis=0)
    U = U / np.sqrt(np.square(U).sum(axis=0))
    keys = sort_keys(codes)
    total = sorted_sum(U)
    if not keys and total is None:
        keys = [int(np.argmax(lagged(U, 1)))]
    rest = ~np.isin(np.arange(p), keys)
    if not rest.any():
        return None
    given = U[:, keys] if total is None or keys else total[:, None]
    E = beyond(given, U[:, rest], CURVE)
    one, two = lagged(E, 1), lagged(E, 2)
    most = np.argsort(one)[::-1][: several(int(rest.sum()))]
    bound = max(CORRELATED, DEVIATIONS / math.sqrt(n))
    return Memory(float(one[most[-1]]), float(one[most].mean()), float(two[most].mean()), bound)


def sort_keys(codes: NDArray[np.intp]) -> list[int]:
    """Return the columns by which the rows are sorted: a monotone one, then among rows equal in it another one, and so on."""
    n, p = codes.shape
    steps = np.diff(codes, axis=0)
    differ = np.array([1.0 - np.square(np.bincount(codes[:, j]) / n).sum() for j in range(p)])
    keys: list[int] = []
    while len(steps):
        up, down = (steps > 0).sum(axis=0), (steps < 0).sum(axis=0)
        moves = np.where(((up == 0) | (down == 0)) & (differ * len(steps) > 2.0 * FALLS), up + down, 0)
        moves[keys] = 0
        key = int(np.argmax(moves))
        if moves[key] < (MOVES if keys else 1):
            break
        keys.append(key)
        steps = steps[steps[:, key] == 0]
    return keys


def sorted_sum(U: Array) -> Array | None:
    r"""Return the ranks of the sum of columns with the largest correlation between neighbours, if the table is sorted by it.

    It is Uw with w at the maximum of $w^\top C_1 w / w^\top C_0 w$, C₁ the lagged covariance made symmetric and C₀ that of the columns.
    """
    values, vectors = np.linalg.eigh(U.T @ U)
    white = U @ (vectors[:, values > 1e-9] / np.sqrt(values[values > 1e-9]))
    C = white[1:].T @ white[:-1]
    rank = np.argsort(np.argsort(white @ np.linalg.eigh(C + C.T)[1][:, -1], kind="stable"), kind="stable")
    return rank.astype(np.float64) if abs(np.corrcoef(rank, np.arange(len(U)))[0, 1]) > SORTED else None


def lagged(E: Array, lag: int) -> Array:
    """Return the autocorrelation of every centred column at a lag."""
    return np.asarray(np.einsum("ij,ij->j", E[lag:], E[:-lag]) / np.maximum(np.einsum("ij,ij->j", E, E), 1e-300))


def beyond(X: Array, Y: Array, degree: int) -> Array:
    """Return the residuals of the columns of Y after polynomials in the columns of X."""
    X = X - X.mean(axis=0)
    X = X / np.abs(X).max(axis=0)
    powers = X[:, :, None] ** np.arange(1, degree + 1)
    Q, lengths, _ = np.linalg.svd(np.column_stack([np.ones(len(X)), powers.reshape(len(X), -1)]), full_matrices=False)
    Q = Q[:, lengths > COLLINEAR * lengths[0]]  # powers of a column of two values are collinear
    return np.asarray(Y - Q @ (Q.T @ Y))


def grouping(codes: NDArray[np.intp], counts: NDArray[np.intp]) -> Grouping | None:
    r"""Find the column whose codes name groups of rows that are alike in other columns, more than a variable could make them.

    A column that is a cause, an effect or a correlate moves the others along its values: by a polynomial in its codes, say. Of what
    that leaves, the share between the L groups of n₀ rows is the intraclass correlation $(F-1)/(F-1+n_0)$, F the ratio of mean squares
    between and within groups, $n_0 = (n - \sum n_g^2/n)/(L-1)$. The `several`-th largest over the other columns counts, and one at least
    of these has to differ within groups: others may be functions of the column. Groups of neighbouring codes have to differ as much as
    others: where they do not, the column acts as a variable along a curve that no polynomial follows.
    """
    n, p = codes.shape
    U = codes - codes.mean(axis=0)
    best: Grouping | None = None
    for k in np.flatnonzero((counts >= FEWEST_CODES) & (counts <= n / 3)).tolist():
        L = int(counts[k])
        degree = min(CURVE, (L - 1) // 2)
        total = np.square(U).sum(axis=0)
        E = beyond(U[:, [k]], U, degree)
        size = np.bincount(codes[:, k])
        order = np.argsort(codes[:, k], kind="stable")
        sums = np.add.reduceat(E[order], np.concatenate([[0], np.cumsum(size)[:-1]]), axis=0)
        between = (np.square(sums) / size[:, None]).sum(axis=0)
        within = np.maximum(np.square(E).sum(axis=0) - between, 1e-12 * total)
        F = (between / (L - 1 - degree)) / (within / (n - L))
        n0 = (n - np.square(size).sum() / n) / (L - 1)
        alike = (F - 1.0) / (F - 1.0 + n0)
        sure = fdtrc(L - 1 - degree, n - L, F) * p < SURE
        alike[~sure] = 0.0
        alike = np.minimum(alike, _alike_by_steps(sums / size[:, None], size, within / (n - L)))
        alike[k] = -1.0
        least = float(np.sort(alike)[-several(p - 1)])
        differs = (within > 1e-9 * total) & (alike > ALIKE)
        if differs.any() and least > (ALIKE if best is None else best.alike):
            best = Grouping(k, L, least)
    return best


def _alike_by_steps(means: Array, size: NDArray[np.intp], within: Array) -> Array:
    r"""Return the intraclass correlation of the columns by the steps between the means of successive groups.

    With group effects of variance τ² a step has the variance $2\tau^2 + \sigma^2 (1/n_g + 1/n_{g+1})$.
    """
    weight = 1.0 / (1.0 / size[1:] + 1.0 / size[:-1])
    effect = np.maximum((weight[:, None] * np.square(np.diff(means, axis=0))).mean(axis=0) / within - 1.0, 0.0)
    return np.asarray(effect / (effect + 2.0 * weight.mean()))


def blocks(codes: NDArray[np.intp], counts: NDArray[np.intp]) -> tuple[int, int] | None:
    """Find a column whose values each fill one block of rows, and another one that rises from row to row in every block: whose the rows
    are, and when they were measured."""
    n = len(codes)
    steps = np.diff(codes, axis=0)
    for k in np.flatnonzero((counts >= FEWEST_BLOCKS) & (counts <= n / FEWEST_BLOCKS)).tolist():
        inside = steps[:, k] == 0
        if n - np.count_nonzero(inside) != counts[k]:
            continue
        rises = np.flatnonzero((steps[inside] > 0).all(axis=0) & (steps[~inside] < 0).any(axis=0))
        if len(rises):
            return k, int(rises[0])
    return None
