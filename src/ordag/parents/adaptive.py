"""The rule "adaptive": backward elimination by an edge prior, with a penalty that the number of edges found decides."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ordag.arrays import Array, Mask
from ordag.order.factor import Factor
from ordag.parents.elimination import FromRoot, FromScatter, Kept, eliminate, screened_elimination
from ordag.parents.selection import ParentRule, Question, Selection
from ordag.parents.tests import correlations_with, slabs
from ordag.words import counted

LITERAL = 100
"""Variables with up to this many predecessors drop them strictly one by one."""

SCARCE = 1e-9
"""Where less than this share is left of a sum of squares, products of columns have lost too many digits."""

LEAST = 0.5
"""No penalty is below this."""

ROUNDS = 100
"""Estimates of the share of pairs joined; each takes only the variables anew that it concerns."""


def edge_price(n: int, absent: float, present: float) -> float:
    r"""What an edge costs in units of the log-likelihood: $\tfrac12 \log n + \log(\text{absent} / \text{present})$.

    `absent` and `present` are the pairs without and with an edge, or their shares; callers add what keeps both above zero.
    """
    return math.log(n) / 2.0 + math.log(absent / present)


def edge_penalty(n: int, pairs: int, edges: int) -> tuple[float, float]:
    r"""The penalty of an edge $\log n + 2 \log\frac{1-\pi}{\pi}$ and the share $\pi = (k + \tfrac12)/(N + 1)$ for k of N pairs."""
    share = (edges + 0.5) / (pairs + 1.0)
    return max(2.0 * edge_price(n, 1.0 - share, share), LEAST), share


def adaptive_elimination(question: Question) -> Selection:
    r"""For every variable start from all predecessors and drop the weakest as long as its statistic is below the penalty.

    The statistic of variable m with m predecessors is $(n - m - 1) \log(1 + \text{rise} / \text{RSS})$. The penalty begins with
    log n + 2 log p, and follows the number of edges found until that stays (docs/parents.md); a pair that the masks
    leave no choice does not count.
    """
    search = _Search(question)
    n, p, pairs = question.ordering.n, len(question.ordering.order), question.pairs
    found: dict[int, Kept] = {}
    penalty, share = math.log(n) + 2.0 * math.log(p), math.nan
    seen: set[int] = set()
    for _ in range(ROUNDS):
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
    """Some variables at a time, for any penalty."""

    def __init__(self, question: Question) -> None:
        self.factor, self.n = question.ordering.known_factor, question.ordering.n
        p = len(self.factor)
        self.allowed, self.required = question.allowed, question.required
        self.possible = np.arange(p) if self.allowed is None else self.allowed.sum(axis=1)
        self.fixed = np.zeros(p, np.intp) if self.required is None else self.required.sum(axis=1)
        self.weights = np.maximum(self.n - np.arange(p) - 1.0, 1.0)
        self.units = question.units
        self.first = self.factor.W_rows(0, min(LITERAL, p)) * self.units[:LITERAL]
        if p > LITERAL + 1:
            self.from_scatter = FromScatter(self.factor, self.units)
            self.scarce = _left(self.factor, self.from_scatter.diagonal * self.units**2) < SCARCE

    @cached_property
    def from_root(self) -> FromRoot:
        L, W = self.factor.L, self.factor.W
        L /= self.units[:, None]
        W *= self.units
        return FromRoot(L, W)

    def parents_of(self, variables: list[int], penalty: float) -> Iterator[tuple[int, Kept]]:
        """The parents of some variables, given in their order."""
        many = [m for m in variables if m > LITERAL]
        for m in variables[: len(variables) - len(many)]:
            allowed, required = self._masks(m)
            row = self.factor.L_at(m, slice(m + 1)) / self.units[m]
            T, weight = self.first[:m, :m].T, float(self.weights[m])
            yield m, eliminate(T, row[:m], float(row[m]) ** 2, weight, penalty, ~allowed, required)
        for m, r in correlations_with(self.factor, many):
            regressions = self.from_root if self.scarce[m] else self.from_scatter
            yield m, screened_elimination(regressions, m, r, float(self.weights[m]), penalty, *self._masks(m))

    def _masks(self, m: int) -> tuple[Mask, Mask]:
        """Which predecessors are allowed, and which are required."""
        allowed = np.ones(m, dtype=bool) if self.allowed is None else self.allowed[m, :m]
        return allowed, np.zeros(m, dtype=bool) if self.required is None else self.required[m, :m]

    def expected_false(self, chosen: NDArray[np.intp], penalty: float) -> float:
        r"""How many of the edges chance alone would give, if those left out are all that are truly absent and stayed out.

        Beside s parents, one more that is none has a statistic above the penalty with the probability
        $q = P(|t_d| > \sqrt{d (e^{\text{penalty}/w} - 1)})$, d = n − s − 2. With u pairs left out that is uq/(1 − q).
        `chosen` has the number of parents of every variable.
        """
        d = np.maximum(self.n - chosen - 2.0, 1.0)
        with np.errstate(over="ignore"):
            q = 2.0 * stdtr(d, -np.sqrt(d * np.expm1(penalty / self.weights)))
        return float(((self.possible - chosen) * q / (1.0 - q)).sum())


def _left(factor: Factor, squares: Array) -> Array:
    """The share of its sum of squares that the predecessors of variable m leave of it or, if that is less, the smallest
    that its other predecessors leave of one of them."""
    left: Array = factor.L_diagonal**2 / squares
    for slab in slabs(factor, len(factor) - 1):
        largest = (slab.squares * squares[: slab.stop]).max(axis=1)
        left[slab.later + 1] = np.minimum(left[slab.later + 1], 1.0 / largest)
    return left


HELP = "those that backward elimination by an edge prior keeps; no level to set"
ADAPTIVE = ParentRule("adaptive", "The edge prior", HELP, adaptive_elimination)
