"""The rule "adaptive": backward elimination by an edge prior, with a penalty that the number of edges found decides."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtr

from ordag.arrays import Array, Mask
from ordag.parents.elimination import FromRoot, FromScatter, Kept, eliminate, masks, screened_elimination
from ordag.parents.selection import ParentRule, Question, Selection, edges_of
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
        for m in range(1, p):
            if m not in found or not found[m].low < penalty <= found[m].high:
                found[m] = search.parents_of(m, penalty)
        edges = sum(int(one.parents.sum()) for one in found.values()) - int(search.required.sum())
        if edges in seen:
            break
        seen.add(edges)
        penalty, share = edge_penalty(n, pairs, edges)
    kept = np.zeros((p, p), dtype=bool)
    for m, one in found.items():
        kept[m, :m] = one.parents
    joined = f"{100 * share:.1f} % of {counted(pairs, 'pair')} joined"
    grounds = f"along this order (edge prior: {joined}, penalty {penalty:.3g} for each edge)"
    return question.answer(edges_of(kept), search.expected_false(kept, penalty), grounds, penalty=penalty, share=share)


class _Search:
    """One variable at a time, for any penalty."""

    def __init__(self, question: Question) -> None:
        L, W, self.r, self.n = question.ordering.L, question.ordering.W, question.r, question.ordering.n
        p = len(L)
        self.L, self.W = L, W
        self.allowed, self.required = masks(p, question.allowed, question.required)
        self.weights = np.maximum(self.n - np.arange(p) - 1.0, 1.0)
        if p > LITERAL + 1:
            self.from_scatter, self.from_root = FromScatter(L), FromRoot(L, W)
            self.scarce = _left(L, W) < SCARCE

    def parents_of(self, m: int, penalty: float) -> Kept:
        weight = float(self.weights[m])
        allowed, required = self.allowed[m, :m], self.required[m, :m]
        if m > LITERAL:
            regressions = self.from_root if self.scarce[m] else self.from_scatter
            return screened_elimination(regressions, m, self.r[m, :m], weight, penalty, allowed, required)
        return eliminate(self.W[:m, :m].T, self.L[m, :m], float(self.L[m, m]) ** 2, weight, penalty, ~allowed, required)

    def expected_false(self, kept: Mask, penalty: float) -> float:
        r"""How many of the edges chance alone would give, if those left out are all that are truly absent and stayed out.

        Beside s parents, one more that is none has a statistic above the penalty with the probability
        $q = P(|t_d| > \sqrt{d (e^{\text{penalty}/w} - 1)})$, d = n − s − 2. With u pairs left out that is uq/(1 − q).
        """
        fixed, chosen = self.required.sum(axis=1), kept.sum(axis=1)
        open_pairs = self.allowed.sum(axis=1) - fixed
        d = np.maximum(self.n - chosen - 2.0, 1.0)
        with np.errstate(over="ignore"):
            q = 2.0 * stdtr(d, -np.sqrt(d * np.expm1(penalty / self.weights)))
        return float(((open_pairs - (chosen - fixed)) * q / (1.0 - q)).sum())


def _left(L: Array, W: Array) -> Array:
    """The share of its sum of squares that the predecessors of variable m leave of it or, if that is less, the smallest
    that its other predecessors leave of one of them."""
    p = len(L)
    squares = np.einsum("ij,ij->i", L, L)
    left: Array = np.square(L.diagonal()) / squares
    inverse_squares = np.zeros(p)
    for m in range(1, p):
        inverse_squares[:m] += W[m - 1, :m] ** 2
        left[m] = min(left[m], 1.0 / (squares[:m] * inverse_squares[:m]).max())
    return left


HELP = "those that backward elimination by an edge prior keeps; no level to set"
ADAPTIVE = ParentRule("adaptive", "The edge prior", HELP, adaptive_elimination)
