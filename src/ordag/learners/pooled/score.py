r"""The pooled score of a graph, and the sum over variables that bounds it from above.

With $v_j = \log(\mathrm{RSS}_j / n)$ on j's parents, k edges among N pairs, lower is better:

    $\text{score}(G) = \tfrac n2 \sum_j v_j + \sum_g M\bigl(\mathrm{SS}_g\bigr) + k \tfrac{\log n}2 + \log \tbinom Nk
    + c\, k\,(1 - \tfrac k{2N})$,
    $\mathrm{SS}_g = \sum_{j \in g} (v_j - \bar v_g)^2$.

The last term, with c = `CHANCE`, corrects for the search: the best of many graphs has the edges that chance favours. With `extended`
the term before it continues as a line of slope log p from where it would be flatter: no edge is cheaper than under the
extended BIC (Foygel & Drton 2010).

M is minus the logarithm of the density of the $v_j$ of a group of q variables that share a unit, with
$\omega^2 = \tau^2 + 2/n$ and τ the standard deviation of the log error variances (docs/pooled.md):

    $M(\mathrm{SS}) = -\log \int \omega^{-(q-1)} e^{-\mathrm{SS}/2\omega^2} p(\tau)\, d\tau$.

Where the equations of the variables have different numbers of rows, $\tfrac n2 v_j$ is $\tfrac{n_j}2 v_j$, n is the mean of the $n_j$
in the price of edges, and 2/n the mean of the $2/n_j$ in ω.

With the mean μ, $\lambda = M'$ and the price of an edge taken at one graph,
$\sum_j \{\tfrac n2 v_j + \lambda (v_j - \mu)^2 + \text{price} \cdot |P_j|\}$ differs from the score by a constant at that graph and
lies above it everywhere else: a graph that lowers the sum lowers the score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from ordag.common.arrays import Array
from ordag.parents.adaptive import edge_price

UNITS_UNKNOWN = 1.0
"""Scale of the half-Cauchy prior on τ if units are not declared: error variances thousands of times apart are not unusual."""

COMMENSURABLE = 0.25
"""Scale of the prior on τ for shared units: most error variances are within a factor of 2 or 3 of each other."""

CHANCE = 1.0
"""The cost of one more edge beyond its prior in an empty graph, to correct for the search among many graphs; zero in a complete one."""

STEP = 0.05
"""Steps of log τ in the sum for the integral over τ."""


@dataclass(frozen=True, eq=False)
class Local:
    """The terms of single variables: $\\tfrac{n_j}2 v + \\lambda_j (v - \\mu_j)^2$, and the price of an edge."""

    half: list[float]
    mean: list[float]
    weight: list[float]
    price: float

    def term(self, j: int, v: float) -> float:
        """Return the term of variable j, constant below the vertex of the square so that it never rises as v falls."""
        half, weight = self.half[j], self.weight[j]
        away = v - self.mean[j]
        if weight > 0.0:
            away_least = -half / (2.0 * weight)
            if away < away_least:
                away, v = away_least, self.mean[j] + away_least
        return half * v + weight * away * away

    def terms(self, j: int, v: Array) -> Array:
        """Return `term` for many v."""
        half, weight = self.half[j], self.weight[j]
        if weight > 0.0:
            v = np.maximum(v, self.mean[j] - half / (2.0 * weight))
        return np.asarray(half * v + weight * (v - self.mean[j]) ** 2)

    def worthwhile(self, j: int, v: float) -> float:
        r"""Return the v below which one more parent lowers the sum: the term there is lower by just the price.

        With $s = \tfrac n4 + \lambda (v - \mu)$ it is $v - \text{price} / (s + \sqrt{s^2 - \lambda\,\text{price}})$.
        """
        s = self.half[j] / 2.0 + self.weight[j] * (v - self.mean[j])
        root = s * s - self.weight[j] * self.price
        if s <= 0.0 or root < 0.0:
            return -math.inf if self.price >= 0.0 else math.inf
        return v - self.price / (s + math.sqrt(root))


class PoolingTable:
    """M of a group at values of SS, between which it is a line in log SS."""

    least = 1e-10
    start, fineness, points = math.log(least), 64.0, 2600

    def __init__(self, at: Array, values: Array) -> None:
        self._at, self.values = at, values

    def __call__(self, squares: Array) -> Array:
        return np.asarray(np.interp(np.log(np.maximum(squares, self.least)), self._at, self.values))


class PooledScore:
    """The score of graphs over p variables of n rows, or of as many for each; `groups` are the sets of variables that share a unit.

    pairs: of variables that can be joined, all unless given.
    """

    def __init__(
        self,
        n: int | Sequence[int],
        p: int,
        groups: Sequence[Sequence[int]] | None = None,
        spread: float = UNITS_UNKNOWN,
        *,
        extended: bool = False,
        pairs: int | None = None,
    ) -> None:
        self.each = [n] * p if isinstance(n, int) else [int(one) for one in n]
        self.p, self.scale = p, spread
        self._alike = len(set(self.each)) < 2
        self.n = n = self.each[0] if self._alike else round(sum(self.each) / p)
        self.halves = np.array(self.each) / 2.0
        noise = 2.0 / n if self._alike else float((1.0 / self.halves).mean())
        self.pairs = p * (p - 1) // 2 if pairs is None else pairs
        self._least_price = math.log(n) / 2.0 + math.log(p) if extended else -math.inf
        # (N − i)/(i + 1) ≥ p up to here
        self._dear_edges = max((self.pairs - p) // (p + 1) + 1, 0) if extended else self.pairs
        self.groups = [np.asarray(g, np.intp) for g in ([range(p)] if groups is None else groups) if len(g) > 1]
        # from well below the errors of the v_j, where the integrand is level, to where the prior has hardly anything left
        low, high = min(1e-6 * spread, 1e-4 * math.sqrt(2.0 / (n * p))), 60.0 * spread
        step = math.log(high / low) / math.ceil(math.log(high / low) / STEP)
        self._tau = low * np.exp(step * np.arange(round(math.log(high / low) / step) + 1))
        # τ is half-Cauchy; the density of log τ, as the grid is even in that
        far = self._tau / spread
        self._log_prior = np.log(2.0 * step / np.pi) + np.log(far) - np.log1p(far**2)
        self._log_prior[[0, -1]] -= np.log(2.0)
        self._precision = 1.0 / (self._tau**2 + noise)
        self._tables: dict[int, PoolingTable] = {}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that make this score again."""
        extended = self._least_price > -math.inf
        return {
            "n": self.n if self._alike else self.each,
            "p": self.p,
            "groups": self.groups,
            "spread": self.scale,
            "extended": extended,
            "pairs": self.pairs,
        }

    def total(self, v: Array, edges: int) -> float:
        """Return score(G)."""
        pooled = sum(self.pooling(len(g), _squares(v[g])) for g in self.groups)
        likelihood = self.n / 2.0 * float(v.sum()) if self._alike else float(self.halves @ v)
        return likelihood + pooled + self.edge_prior(edges)

    def totals(self, v: Array, edges: NDArray[np.int64]) -> Array:
        """Return score(G) of many graphs, one row of v each."""
        totals = (self.n / 2.0 * v.sum(axis=1) if self._alike else v @ self.halves) + self.edge_priors[edges]
        for g in self.groups:
            squares = ((v[:, g] - v[:, g].mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            totals += self.pooling_table(len(g))(squares)
        return np.asarray(totals)

    def edge_prior(self, edges: int) -> float:
        pairs, dear = self.pairs, min(edges, self._dear_edges)
        beyond = (edges - dear) * self._least_price if edges > dear else 0.0
        prior = float(gammaln(pairs + 1) - gammaln(dear + 1) - gammaln(pairs - dear + 1))
        chance = CHANCE * edges * (1.0 - edges / (2.0 * pairs)) if pairs else 0.0
        return dear * math.log(self.n) / 2.0 + prior + beyond + chance

    @cached_property
    def edge_priors(self) -> Array:
        """`edge_prior` of every number of edges."""
        return np.array([self.edge_prior(k) for k in range(self.pairs + 1)])

    def pooling(self, size: int, squares: float) -> float:
        """Return M(SS) for a group of this size."""
        terms = self._log_terms(size, squares)
        most = terms.max()
        return -float(most + math.log(np.exp(terms - most).sum()))

    def pooling_table(self, size: int) -> PoolingTable:
        """Return a table of M for a group of this size."""
        if size not in self._tables:
            at = PoolingTable.start + np.arange(PoolingTable.points) / PoolingTable.fineness
            self._tables[size] = PoolingTable(at, -logsumexp(self._log_terms(size, np.exp(at)[:, None]), axis=1))
        return self._tables[size]

    def _log_terms(self, size: int, squares: float | Array) -> Array:
        return np.asarray(
            self._log_prior + (size - 1) / 2.0 * np.log(self._precision) - squares / 2.0 * self._precision
        )

    def local(self, v: Array, edges: int) -> Local:
        """Return the bound that touches the score at a graph with these v and this many edges."""
        mean, weight = np.zeros(self.p), np.zeros(self.p)
        for g in self.groups:
            mean[g] = v[g].mean()
            weight[g] = self._mean(v[g], self._precision) / 2.0
        price = max(edge_price(self.n, self.pairs - edges + 0.5, edges + 1.0), self._least_price)
        price += CHANCE * (1.0 - edges / max(self.pairs, 1))
        return Local(self.halves.tolist(), mean.tolist(), weight.tolist(), price)

    def spread(self, v: Array) -> float:
        """Return the posterior mean of τ, the largest over the groups; 0 where no two variables share a unit."""
        return max((self._mean(v[g], self._tau) for g in self.groups), default=0.0)

    def ratio(self, v: Array) -> float:
        r"""Return the largest error variance over the smallest within a group: $e^{\max u - \min u}$, the largest over the groups.

        u is v shrunk towards the mean by $\mathrm{E}[\tau^2/\omega^2]$, so that equal variances come out nearly equal.
        """
        ranges = [self._mean(v[g], self._tau**2 * self._precision) * float(np.ptp(v[g])) for g in self.groups]
        return math.exp(min(max(ranges, default=0.0), 700.0))

    def _mean(self, v: Array, values: Array) -> float:
        """Return the posterior mean over τ of a function of it, for one group."""
        terms = self._log_terms(len(v), _squares(v))
        weight = np.exp(terms - terms.max())
        return float(weight @ values / weight.sum())


def _squares(v: NDArray[np.float64]) -> float:
    return float(((v - v.mean()) ** 2).sum())
