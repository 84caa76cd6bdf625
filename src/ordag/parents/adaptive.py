"""The rule "adaptive": backward elimination by an edge prior, whose penalty follows from the number of edges found."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, qr
from scipy.special import stdtr

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.linalg import multiply, triangle
from ordag.common.words import counted
from ordag.order.factor import Factor
from ordag.parents.bic import Kept, eliminate
from ordag.parents.selection import ParentRule, Question, Selection
from ordag.parents.tests import correlations_with, slabs

ONE_BY_ONE = 100
"""Variables with up to this many predecessors drop them strictly one by one."""

SCARCE = 1e-9
"""Where less than this share is left of a sum of squares, products of columns have lost too many digits."""

LEAST_PENALTY = 0.5

MOST_ROUNDS = 100
"""Most estimates of the share of pairs joined; each repeats only the variables that it concerns."""

SCREENED = 0.25
"""Predecessors whose statistic among all predecessors is below this share of the penalty are dropped at once."""

SCATTER_COLUMNS = 256
"""Columns of a scatter that are computed at a time."""

LAST_DROPS = 6
"""So many predecessors below the penalty are dropped one by one."""


def edge_price(n: int, absent: float, present: float) -> float:
    r"""Return the cost of an edge in units of the log-likelihood: $\tfrac12 \log n + \log(\text{absent} / \text{present})$.

    `absent` and `present` are the pairs without and with an edge, or their shares; callers add what keeps both above zero.
    """
    return math.log(n) / 2.0 + math.log(absent / present)


def edge_penalty(n: int, pairs: int, edges: int) -> tuple[float, float]:
    r"""Return the penalty of an edge $\log n + 2 \log\frac{1-\pi}{\pi}$ and the share $\pi = (k + \tfrac12)/(N + 1)$ for k of N pairs."""
    share = (edges + 0.5) / (pairs + 1.0)
    return max(2.0 * edge_price(n, 1.0 - share, share), LEAST_PENALTY), share


def adaptive_elimination(question: Question) -> Selection:
    r"""Start every variable from all predecessors and drop the weakest as long as its statistic is below the penalty.

    The statistic of variable m with m predecessors is $(n - m - 1) \log(1 + \text{rise} / \text{RSS})$. The penalty begins with
    log n + 2 log p, and follows the number of edges found until that stays (docs/parents.md); a pair that the masks
    decide does not count.
    """
    search = _Search(question)
    n, p, pairs = question.ordering.n, len(question.ordering.order), question.pairs
    found: dict[int, Kept] = {}
    penalty, share = math.log(n) + 2.0 * math.log(p), math.nan
    seen: set[int] = set()
    for _ in range(MOST_ROUNDS):
        wrong = [m for m in range(1, p) if m not in found or not found[m].low < penalty <= found[m].high]
        found.update(search.parents_of(wrong, penalty))
        edges = sum(int(one.parents.sum()) for one in found.values()) - int(search.fixed.sum())
        if edges in seen:
            break
        seen.add(edges)
        penalty, share = edge_penalty(n, pairs, edges)
    kept = [np.flatnonzero(found[m].parents) for m in range(1, p)]
    counts = np.array([0, *map(len, kept)])
    ends = np.repeat(np.arange(p), counts), np.concatenate([np.empty(0, np.intp), *kept])
    joined = f"{100 * share:.1f} % of {counted(pairs, 'pair')} joined"
    grounds = f"along this order (edge prior: {joined}, penalty {penalty:.3g} for each edge)"
    return question.answer(ends, search.expected_false(counts, penalty), grounds, penalty=penalty, share=share)


class _Search:
    """The elimination of some variables at a time, for any penalty."""

    def __init__(self, question: Question) -> None:
        self.factor, self.n = question.ordering.known_factor, question.ordering.n
        p = len(self.factor)
        self.allowed, self.required = question.allowed, question.required
        self.possible = np.arange(p) if self.allowed is None else self.allowed.sum(axis=1)
        self.fixed = np.zeros(p, np.intp) if self.required is None else self.required.sum(axis=1)
        self.weights = np.maximum(self.n - np.arange(p) - 1.0, 1.0)
        self.units = question.units
        self.first = self.factor.W_rows(0, min(ONE_BY_ONE, p)) * self.units[:ONE_BY_ONE]
        if p > ONE_BY_ONE + 1:
            self.from_scatter = FromScatter(self.factor, self.units)
            self.scarce = _left(self.factor, self.from_scatter.diagonal * self.units**2) < SCARCE

    @cached_property
    def from_root(self) -> FromRoot:
        L, W = self.factor.L, self.factor.W
        L /= self.units[:, None]
        W *= self.units
        return FromRoot(L, W)

    def parents_of(self, variables: list[int], penalty: float) -> Iterator[tuple[int, Kept]]:
        """Yield the parents of some variables, sorted by position."""
        many = [m for m in variables if m > ONE_BY_ONE]
        for m in variables[: len(variables) - len(many)]:
            allowed, required = self._masks(m)
            row = self.factor.L_at(m, slice(m + 1)) / self.units[m]
            T, weight = self.first[:m, :m].T, float(self.weights[m])
            yield m, eliminate(T, row[:m], float(row[m]) ** 2, weight, penalty, ~allowed, required)
        for m, r in correlations_with(self.factor, many):
            regressions = self.from_root if self.scarce[m] else self.from_scatter
            yield m, screened_elimination(regressions, m, r, float(self.weights[m]), penalty, *self._masks(m))

    def _masks(self, m: int) -> tuple[Mask, Mask]:
        """Return which predecessors are allowed, and which are required."""
        allowed = np.ones(m, dtype=bool) if self.allowed is None else self.allowed[m, :m]
        return allowed, np.zeros(m, dtype=bool) if self.required is None else self.required[m, :m]

    def expected_false(self, chosen: Indices, penalty: float) -> float:
        r"""Return the number of edges by chance alone, if the pairs left out are all that are truly absent and stayed out.

        Beside s parents, one more that is none has a statistic above the penalty with the probability
        $q = P(|t_d| > \sqrt{d (e^{\text{penalty}/w} - 1)})$, d = n − s − 2. With u pairs left out that is uq/(1 − q).
        `chosen` has the number of parents of every variable.
        """
        d = np.maximum(self.n - chosen - 2.0, 1.0)
        with np.errstate(over="ignore"):
            q = 2.0 * stdtr(d, -np.sqrt(d * np.expm1(penalty / self.weights)))
        return float(((self.possible - chosen) * q / (1.0 - q)).sum())


def _left(factor: Factor, squares: Array) -> Array:
    """Return the share of its sum of squares that the predecessors of variable m leave of it or, if that is less, the smallest
    that its other predecessors leave of one of them."""
    left: Array = factor.L_diagonal**2 / squares
    for slab in slabs(factor, len(factor) - 1):
        largest = (slab.squares * squares[: slab.stop]).max(axis=1)
        left[slab.later + 1] = np.minimum(left[slab.later + 1], 1.0 / largest)
    return left


class Gains(NamedTuple):
    """The amount by which each predecessor would lower the residual sum of squares `rss`, as one more parent."""

    values: Array
    rss: float


class FromScatter:
    r"""Regressions from the scatter $G = LL^\top$ of the variables in `units`, at a cost of $m |S|^2$ for parents S.

    With $G_{SS} = U^\top U$ and $B = U^{-\top} G_{S\cdot}$ the gain of k is
    $(G_{mk} - B_m^\top B_k)^2 / (G_{kk} - \|B_k\|^2)$.
    """

    def __init__(self, factor: Factor, units: Array) -> None:
        p, L = len(factor), factor.lower
        G: Array = np.empty((p, p), order="F")
        for start in range(0, p, SCATTER_COLUMNS):  # a block column below its diagonal, and the same as a block row
            stop = min(start + SCATTER_COLUMNS, p)
            columns = factor.L_columns(start, stop)
            multiply(columns.T, columns[:, : stop - start], G[start:, start:stop])
            if start:
                multiply(L[start:, :start], L[start:stop, :start].T, G[start:, start:stop], beta=1.0)
            del columns  # as large as what comes next
            G[start:, start:stop] /= units[start:, None] * units[start:stop]
            G[start:stop, stop:] = G[stop:, start:stop].T
        self.G = G.T  # symmetric, and by rows
        self.diagonal = self.G.diagonal()

    def root(self, m: int, parents: Indices) -> Array:
        """Return the triangular factor of the parents and m, in that order; the square of its last entry is the RSS of m."""
        columns = np.append(parents, m)
        U: Array
        U, info = lapack.dpotrf(self.G[columns[:, None], columns])
        assert info == 0, "a scatter without digits was let through"
        return U

    def gains(self, m: int, parents: Indices, share: float) -> Gains:
        """Return the gains of all predecessors. Those below `share` of the RSS may be upper bounds that are below it too."""
        G, rss = self.G, float(self.G[m, m])
        products, left = G[m, :m], self.diagonal[:m]
        if len(parents):
            U, _ = lapack.dpotrf(G[parents[:, None], parents])
            B, _ = lapack.dtrtrs(U, G[parents, : m + 1], trans=1)
            b, B = B[:, m], B[:, :m]
            products = products - b @ B
            left = left - np.einsum("ij,ij->j", B, B)
            rss -= float(b @ b)
        values: Array = np.divide(products * products, left, out=np.zeros(m), where=left > 0.0)
        values[parents] = 0.0
        return Gains(values, rss)


class FromRoot:
    r"""Regressions from the rows of L, the variables in orthogonal coordinates, at a cost of $m^2$.

    With e the residual of m on its parents and $e_k$ that of k, the gain of k is $(e \cdot x_k)^2 / \|e_k\|^2$. Only those
    are computed for which the bound with $\|e_k\|^{-2} \le \sum_{i<m} W_{ik}^2$ (all other predecessors instead of the
    parents) is not below the `share`.
    """

    def __init__(self, L: Array, W: Array) -> None:
        self.L, self.W = L, W

    def root(self, m: int, parents: Indices) -> Array:
        columns = self.L[np.append(parents, m), : m + 1].T
        return triangle(columns)

    def gains(self, m: int, parents: Indices, share: float) -> Gains:
        L, e = self.L[:m, :m], self.L[m, :m].copy()
        Q: Array = np.zeros((m, 0))
        if len(parents):
            Q = np.asarray(qr(L[parents].T, mode="economic", check_finite=False)[0], dtype=np.float64)
            for _ in range(2):
                e -= Q @ (Q.T @ e)
        rss = float(e @ e + self.L[m, m] ** 2)
        squares = np.square(L @ e)
        values: Array = squares * np.einsum("ij,ij->j", self.W[:m, :m], self.W[:m, :m])
        values[parents] = -1.0
        near = np.flatnonzero(values >= share * rss)
        if len(near):
            left: Array = L[near]
            for _ in range(2):
                left -= (left @ Q) @ Q.T
            values[near] = squares[near] / np.einsum("ij,ij->i", left, left)
        values[parents] = 0.0
        return Gains(values, rss)


def screened_elimination(
    regressions: FromScatter | FromRoot, m: int, r: Array, weight: float, penalty: float, allowed: Mask, stay: Mask
) -> Kept:
    r"""Eliminate predecessors of variable m as `eliminate` does, with the weakest dropped at once.

    r are the partial correlations of m with each predecessor given the others, so that dropping j alone has the statistic
    $-w \log(1 - r_j^2)$, with w the `weight`. A predecessor outside that would lower the residual sum of squares by g comes back
    if $-w \log(1 - g / \mathrm{RSS})$ is not below the penalty, the best first. Every step lowers w log RSS + penalty · |S| for the
    parents S, so there is an end, where neither one more parent nor one fewer is better (docs/parents.md, "Many variables").
    """
    parents: Indices = np.flatnonzero(allowed & (r * r >= -math.expm1(-SCREENED * penalty / weight)) | stay)
    enough = -math.expm1(-penalty / weight)
    low = high = math.inf
    for _ in range(m + 1):
        parents, dropped, high = _dropped(regressions.root(m, parents), parents, weight, penalty, stay)
        gains, rss = regressions.gains(m, parents, enough)
        gains[~allowed] = 0.0
        best = int(gains.argmax())
        share = float(gains[best]) / rss
        if share < enough:
            low = max(dropped, -weight * math.log1p(-share))
            break
        parents = np.union1d(parents, best)
    kept = np.zeros(m, dtype=bool)
    kept[parents] = True
    return Kept(kept, low, high)


def _dropped(U: Array, parents: Indices, weight: float, penalty: float, stay: Mask) -> tuple[Indices, float, float]:
    """Drop parents; return those left, the largest statistic of a drop, and the smallest of those left.

    U is the root of the parents and, last, of the variable.
    """
    largest = -math.inf
    while len(parents):
        k = len(parents)
        T, _ = lapack.dtrtri(U[:k, :k])
        rss = float(U[k, k]) ** 2
        statistics = weight * np.log1p((T @ U[:k, k]) ** 2 / np.einsum("ij,ij->i", T, T) / rss)
        statistics[stay[parents]] = math.inf
        weak = int((statistics < penalty).sum())
        if weak <= LAST_DROPS:
            kept = eliminate(T, U[:k, k], rss, weight, penalty, np.zeros(k, dtype=bool), stay[parents])
            return parents[kept.parents], max(largest, kept.low), kept.high
        ranked = np.argsort(statistics, kind="stable")
        largest = max(largest, float(statistics[ranked[weak // 2 - 1]]))
        left = np.sort(ranked[weak // 2 :])
        U = np.triu(lapack.dgeqrf(U[:, np.append(left, k)])[0][: len(left) + 1])
        parents = parents[left]
    return parents, largest, math.inf


HELP = "those that backward elimination by an edge prior keeps; no level to set"
ADAPTIVE = ParentRule("adaptive", "The edge prior", HELP, adaptive_elimination)
