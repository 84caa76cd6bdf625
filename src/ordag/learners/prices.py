"""What an edge costs in a score: a factor of BIC's penalty, extended BIC, or a prior on the number of edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ordag.data.moments import Moments
from ordag.knowledge.masks import Constraints
from ordag.learners.gds import GdsResult, gds_search
from ordag.learners.gds.settings import GdsSettings
from ordag.learners.ges import GesResult, ges_search
from ordag.learners.ges.settings import GesSettings
from ordag.learners.settings import Penalty
from ordag.parents.adaptive import edge_price

LEAST = 0.25
"""No edge is cheaper than this under the edge prior."""

ROUNDS = 10
"""Searches at most, each with the price that the edges found before it give."""

Result = TypeVar("Result", GesResult, GdsResult)


@dataclass(frozen=True)
class Prices:
    r"""The cost of k edges among N pairs in a table of n rows and p variables, in units of the log-likelihood.

    | name | cost of k edges |
    |---|---|
    | bic | $k \frac{\log n}2$ |
    | ebic | $k (\frac{\log n}2 + 2\gamma \log p)$ with γ = 1/2: $k (\frac{\log n}2 + \log p)$ |
    | adaptive | $k \frac{\log n}2 + \log \binom Nk$ |

    The second is the extended BIC of Foygel & Drton (2010). The third has a uniform prior on k, and all graphs with k
    edges alike. Edges that knowledge requires are `fixed`: they are not counted in k, nor their pairs in N, nor pairs
    that it keeps apart.
    """

    name: str
    n: int
    p: int
    pairs: int
    fixed: int = 0

    @property
    def unit(self) -> float:
        """BIC's price of an edge, (log n)/2."""
        return math.log(self.n) / 2

    def beyond_bic(self, edges: int) -> float:
        """What the edges of a graph cost more than under BIC."""
        k = max(edges - self.fixed, 0)
        if self.name == "ebic":
            return k * math.log(self.p)
        if self.name == "adaptive":
            return math.lgamma(self.pairs + 1) - math.lgamma(k + 1) - math.lgamma(max(self.pairs - k, 0) + 1)
        return 0.0

    def factor(self, edges: int | None) -> float:
        """The price of one edge more in units of BIC's, beside this many; None before any graph has been found.

        Under the edge prior that is (log n)/2 + log((N − k)/(k + 1)), and (log n)/2 + log p to begin with.
        """
        if self.name == "bic":
            return 1.0
        if self.name == "ebic" or edges is None:
            return 1.0 + math.log(self.p) / self.unit
        k = min(max(edges - self.fixed, 0), self.pairs)
        return max(edge_price(self.n, max(self.pairs - k, 0.5), k + 1), LEAST) / self.unit


@dataclass(frozen=True)
class Priced:
    """What a search gives, and what there is to say of the price of an edge."""

    result: GesResult | GdsResult
    price: dict[str, float]

    def details(self) -> dict[str, Any]:
        return {**self.result.details(), **self.price}


def prices(penalty: Penalty, moments: Moments, known: Constraints | None) -> Prices | None:
    """Those of a named penalty; None for a number."""
    if not isinstance(penalty, str):
        return None
    if known is None:
        return Prices(penalty, moments.n, moments.p, math.comb(moments.p, 2))
    fixed = int(known.required.sum())
    return Prices(penalty, moments.n, moments.p, int(np.tril(~known.barred, -1).sum()) - fixed, fixed)


def priced_ges(
    moments: Moments, settings: GesSettings, *, known: Constraints | None = None, **more: Any
) -> tuple[GesResult, dict[str, float]]:
    """`ges_search` for any penalty, and what to say of the price of an edge."""
    named = prices(settings.penalty, moments, known)
    if named is None:
        return ges_search(moments, settings, known=known, **more), {}

    def search(factor: float, _: GesResult | None) -> GesResult:
        found = ges_search(moments, replace(settings, penalty=factor), known=known, **more)
        return _rescored(found, named, factor, constant=moments.p, sign=-1.0)

    return _best(search, named, sign=-1.0)


def priced_gds(
    moments: Moments, settings: GdsSettings, *, known: Constraints | None = None, **more: Any
) -> tuple[GdsResult, dict[str, float]]:
    """`gds_search` for any penalty, and what to say of the price of an edge.

    The first search is that of a number. One with a new price goes on from the graph found before. The cost of the edge prior
    lies below its tangent, so a step that is better at the price of the present number of edges is better by the prior as well.
    """
    named = prices(settings.penalty, moments, known)
    if named is None:
        return gds_search(moments, settings, known=known, **more), {}
    random = np.random.default_rng(settings.seed)

    def search(factor: float, before: GdsResult | None) -> GdsResult:
        begin, seed = (settings.start, settings.seed) if before is None else (before.graph, random)
        found = gds_search(moments, replace(settings, penalty=factor, start=begin, seed=seed), known=known, **more)
        return _rescored(found, named, factor, constant=1, sign=1.0)

    return _best(search, named, sign=1.0)


def _best(
    search: Callable[[float, Result | None], Result], named: Prices, sign: float
) -> tuple[Result, dict[str, float]]:
    """Search at the first price, then at that of the edges found, until their number has been there before.

    Of all rounds the result with the best score counts; `sign` is 1 where lower scores are better, −1 where higher.
    """
    factor = named.factor(None)
    best = result = search(factor, None)
    price, rounds = factor, 1
    seen = {result.graph.edge_count}
    while named.name == "adaptive" and rounds < ROUNDS:
        factor = named.factor(result.graph.edge_count)
        result = search(factor, result)
        rounds += 1
        if result.graph == best.graph or sign * result.score < sign * best.score:
            best, price = result, factor
        if result.graph.edge_count in seen:
            break
        seen.add(result.graph.edge_count)
    return best, {"edge_price": price * named.unit, "rounds": rounds}


def _rescored(found: Result, named: Prices, factor: float, constant: int, sign: float) -> Result:
    """The result with the score of the named penalty in place of that of the factor it was searched with.

    The factor holds for the edges and for `constant` variances alike, the named penalty has BIC's for the variances.
    """

    def score(given: float, edges: int) -> float:
        return given - sign * ((factor - 1.0) * named.unit * (constant + edges) - named.beyond_bic(edges))

    if named.name == "bic":
        return found
    return replace(found, score=score(found.score, found.graph.edge_count), score_empty=score(found.score_empty, 0))
