"""The cost of edges in the scores of GES and GDS: a factor of BIC's penalty, extended BIC, or a prior on the number of edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from ordag.data.moments import Moments
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Constraints
from ordag.learners.result import Result
from ordag.learners.settings import Penalty
from ordag.parents.adaptive import edge_price

LEAST_PRICE = 0.25
"""The price of one more edge under the edge prior is at least this."""

MOST_SEARCHES = 10
"""Searches at most, each at the price that follows from the number of edges found before."""


@dataclass(frozen=True, kw_only=True)
class SearchResult(Result):
    """A graph with its score, and the score without edges. price: under a named penalty, the price of an edge and the searches made."""

    graph: Dag | Cpdag
    score: float
    score_empty: float
    price: Mapping[str, float] = field(default_factory=dict)


AnyResult = TypeVar("AnyResult", bound=SearchResult)


@dataclass(frozen=True)
class EdgePenalty:
    r"""The cost of k edges among N pairs in a table of n rows and p variables, in units of the log-likelihood.

    | name | cost of k edges |
    |---|---|
    | bic | $k \frac{\log n}2$ |
    | ebic | $k (\frac{\log n}2 + 2\gamma \log p)$ with γ = 1/2: $k (\frac{\log n}2 + \log p)$ |
    | adaptive | $k \frac{\log n}2 + \log \binom Nk$ |

    The second is the extended BIC of Foygel & Drton (2010). The third has a uniform prior on k, and on the graphs with k
    edges. Edges that knowledge requires are `fixed`: neither they nor their pairs count in k and N, nor do forbidden pairs.
    """

    name: str
    n: int
    p: int
    pairs: int
    fixed: int = 0

    @classmethod
    def of(cls, name: str, moments: Moments, known: Constraints | None) -> EdgePenalty:
        """Return a named penalty for a table with knowledge."""
        if known is None:
            return cls(name, moments.n, moments.p, math.comb(moments.p, 2))
        fixed = int(known.required.sum())
        return cls(name, moments.n, moments.p, int(np.tril(~known.barred, -1).sum()) - fixed, fixed)

    @property
    def unit(self) -> float:
        """BIC's price of an edge, (log n)/2."""
        return math.log(self.n) / 2

    def beyond_bic(self, edges: int) -> float:
        """Return the cost of this many edges beyond their cost under BIC."""
        k = max(edges - self.fixed, 0)
        if self.name == "ebic":
            return k * math.log(self.p)
        if self.name == "adaptive":
            return math.lgamma(self.pairs + 1) - math.lgamma(k + 1) - math.lgamma(max(self.pairs - k, 0) + 1)
        return 0.0

    def factor(self, edges: int | None) -> float:
        """Return the price of one more edge beside this many, in units of BIC's; edges is None before the first search.

        Under the edge prior it is (log n)/2 + log((N − k)/(k + 1)), and (log n)/2 + log p at first.
        """
        if self.name == "bic":
            return 1.0
        if self.name == "ebic" or edges is None:
            return 1.0 + math.log(self.p) / self.unit
        k = min(max(edges - self.fixed, 0), self.pairs)
        return max(edge_price(self.n, max(self.pairs - k, 0.5), k + 1), LEAST_PRICE) / self.unit


def search_with_penalty(
    search: Callable[[float, AnyResult | None], AnyResult],
    penalty: Penalty,
    moments: Moments,
    known: Constraints | None,
    *,
    variances: int,
    sign: float,
) -> AnyResult:
    """Search under a penalty: once for a number, else at the first price, then at the price that follows from the edges found.

    The searches end when a number of edges comes up again; the result of the best score is returned. The cost of the edge prior
    lies below its tangent, so a step that improves the score at the price of the present number of edges improves it under the prior.

    search: takes a factor of BIC's penalty and the result before. variances: error variances that the factor also holds for.
    sign: 1 where lower scores are better, −1 where higher ones are.
    """
    if not isinstance(penalty, str):
        return search(penalty, None)
    named = EdgePenalty.of(penalty, moments, known)

    def rescored(found: AnyResult, factor: float) -> AnyResult:
        """Replace the score at this factor by that of the named penalty, which has BIC's price of variances."""
        if named.name == "bic":
            return found

        def score(given: float, edges: int) -> float:
            return given - sign * ((factor - 1.0) * named.unit * (variances + edges) - named.beyond_bic(edges))

        return replace(found, score=score(found.score, found.graph.edge_count), score_empty=score(found.score_empty, 0))

    price = factor = named.factor(None)
    best = result = rescored(search(factor, None), factor)
    searches, counts = 1, {result.graph.edge_count}
    while named.name == "adaptive" and searches < MOST_SEARCHES:
        factor = named.factor(result.graph.edge_count)
        result = rescored(search(factor, result), factor)
        searches += 1
        if result.graph == best.graph or sign * result.score < sign * best.score:
            best, price = result, factor
        if result.graph.edge_count in counts:
            break
        counts.add(result.graph.edge_count)
    return replace(best, price={"edge_price": price * named.unit, "rounds": searches})
