r"""Find hidden common causes: replace the arrows within sets of nearly all joined variables by one hidden cause, if the score falls.

A hidden cause of m variables leaves nearly all m(m − 1)/2 pairs of them joined in the best graph, where m numbers would do. So a
hidden cause is tried in front of every near-clique of the graph, in place of the arrows within it, and in place of all but one or two of
them: the variables can cause each other as well, and an arrow that has given way is seldom found again, because the hidden cause has been
fitted without it. Its loadings are fitted (`hidden_fit`), and the search over orders goes on with it (structural EM, Friedman 1997), at a
high price of edges first, because many more arrows than those within the clique have come from it. Then variables join or leave those
behind it while that lowers the score. The next hidden cause is looked for in the graph that remains.

The score is the pooled score of the arrows, with $\tfrac n2(\log\det\Sigma + \operatorname{tr}\Sigma^{-1}C - p)$ in place of the sum of
the $v_j$, and for each hidden cause of m of the p variables $m \tfrac{\log n}2 + \log p + \log\tbinom pm$: any m, and any m variables,
are as probable before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import nsmallest
from importlib import import_module
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ordag.common.arrays import Array, Mask
from ordag.common.bits import members, packed_columns, unpacked_columns
from ordag.common.compiling import is_compiled
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search.engine import Optimum, OrderSearch
from ordag.learners.pooled.score import Local, PooledScore

AHEAD = 8.0
"""By how much the first hidden cause may raise the score: a second one may make up for it."""

FIRST_PRICES = (2.0, 1.4)
"""Factors on the price of edges in the first searches with a hidden cause."""

SCREENED, CLIMBED = 300, 10
"""Near-cliques that are tried at most, and starts that are searched on from."""

KEPT = 2
"""Arrows within a near-clique that may stay beside the hidden cause to begin with, at most."""

CHANGES = 200
"""Changes of them that are searched on from, over the number of variables, and four at least: a second at 60 variables."""

QUICKLY, ROUNDS, SEARCHES = 15, 60, 12
"""Rounds of EM for a first look and for a fit, and searches in a row, at most."""

MOST_SEARCHES = 40_000
"""Searches in all, over the number of variables: after these no further hidden cause is looked for."""

WORTHWHILE = 0.01
"""A score that is lower by less than this is no reason to go on."""


class HiddenModel(NamedTuple):
    """A graph over p observed variables and, numbered from p on, hidden causes of them.

    M: the expected second moments of all, the observed ones of variance 1. v: logarithms of the error variances.
    """

    score: float
    adjacency: Mask
    order: tuple[int, ...]
    M: Array
    v: Array


_by_score = attrgetter("score")


class _Terms(NamedTuple):
    """The terms of single variables, edges at a factor of their price. There is no total: `HiddenSearch` scores what is found."""

    score: PooledScore
    factor: float

    def total(self, v: Array, edges: int) -> float:
        return math.nan

    def local(self, v: Array, edges: int) -> Local:
        local = self.score.local(v, edges)
        return replace(local, price=self.factor * local.price)


class HiddenSearch:
    """The search of one table. C: correlations. scale: logarithms of the variances. known: as for `pooled_search`."""

    def __init__(self, C: Array, scale: Array, score: PooledScore, known: Constraints | None) -> None:
        self.C, self.scale, self.score, self.known = C, scale, score, known
        self.p = len(C)
        self._fit = import_module("ordag.learners.pooled.hidden_fit").fit_hidden  # brings the compiler
        # what knowledge lets no arrow into has no hidden cause either
        self._caused: Mask = np.ones(self.p, bool) if known is None else np.array([any(one) for one in known.allowed.T])
        self._left = MOST_SEARCHES // self.p
        self._searches: dict[int, tuple[OrderSearch, PooledScore]] = {}

    @property
    def is_compiled(self) -> bool:
        """Whether numba is there; without it this would take minutes."""
        return is_compiled(self._fit)

    def models(self, best: Optimum) -> list[HiddenModel]:
        """Return the best graph, and with one hidden cause after the other what each of them makes of it, as long as that lowers the score.

        The first one alone may raise the score a little, because it has to account for what a second one does as well. Where no second
        one makes up for that, it is returned all the same: it explains the table nearly as well as the best graph.
        """
        found = [HiddenModel(best.score, best.adjacency(), best.order, self.C, best.v)]
        while self._left > 0:
            better = self._one_more(found[-1])
            most = found[-1].score + (AHEAD if len(found) == 1 else -WORTHWHILE)
            if better is None or better.score > most:
                break
            found.append(better)
        return found

    def _one_more(self, model: HiddenModel) -> HiddenModel | None:
        """Return the best model with one more hidden cause; None where no variables are joined closely enough."""
        p = self.p
        A = model.adjacency[:p, :p]
        sets = near_cliques((A | A.T) & np.outer(self._caused, self._caused))
        starts = latest = nsmallest(CLIMBED, (self._placed(model, one) for one in sets), key=_by_score)
        for _ in range(KEPT):
            kept = (
                self._placed(model, one.adjacency[-1].nonzero()[0], more)
                for one in latest
                for more in _with_one_more(one, A)
            )
            latest = nsmallest(CLIMBED, kept, key=_by_score)
            starts = starts + latest
        best = min((self._climb(one) for one in starts), key=_by_score, default=None)
        return None if best is None else self._varied(best)

    def _placed(self, model: HiddenModel, behind: Sequence[int], kept: Mask | None = None) -> HiddenModel:
        """Put a new hidden cause in front of some variables, in place of the arrows within them but those to be kept.

        It begins as the first principal component of what their other parents leave of them.
        """
        q, s = len(model.M), np.asarray(behind)
        A = np.zeros((q + 1, q + 1), dtype=bool)
        A[:q, :q] = model.adjacency
        within = np.ix_(s, s)
        A[within] = False if kept is None else kept[within]
        if self.known is not None:
            A[within] |= self.known.required[within]
        A[q, s] = True
        W = np.zeros((q, len(s)))
        for k, j in enumerate(s):
            own = A[:q, j].nonzero()[0]
            W[j, k] = 1.0
            if len(own):
                W[own, k] = -np.linalg.solve(model.M[np.ix_(own, own)], model.M[own, j])
        E = W.T @ model.M @ W
        size = np.sqrt(E.diagonal())
        values, vectors = np.linalg.eigh(E / np.outer(size, size))
        loadings = np.clip(vectors[:, -1] * math.sqrt(max(values[-1] - 0.6, 0.2)), -0.95, 0.95)
        shares = loadings / (1.0 - loadings**2)
        left = 1.0 / (1.0 + shares @ loadings)
        mean = W @ (shares / size) * left
        covariance = model.M @ mean
        M = np.eye(q + 1)
        M[:q, :q] = model.M
        M[q, :q] = M[:q, q] = covariance / math.sqrt(covariance @ mean + left)
        return self._fitted(A, (q, *model.order), M, QUICKLY)

    def _fitted(self, A: Mask, order: tuple[int, ...], M: Array, rounds: int = ROUNDS) -> HiddenModel:
        """Return the model of greatest likelihood of a graph; M, where EM begins, is changed."""
        p, n = self.p, self.score.n
        omega = np.ones(len(A))
        likelihood = self._fit(self.C, A, M, np.zeros(A.shape), omega, rounds, 1e-6)
        v = np.log(omega)
        v[:p] += self.scale
        score = n / 2.0 * (likelihood + float(self.scale.sum())) + self.score.edge_prior(int(A[:p, :p].sum()))
        for g in self.score.groups:
            score += float(self.score.pooling_table(len(g))(np.square(v[g] - v[g].mean()).sum()))
        m = A[p:].sum(axis=1)
        sets = math.log(p) + gammaln(p + 1) - gammaln(m + 1) - gammaln(p - m + 1)
        score += float((m * math.log(n) / 2.0 + sets).sum())
        return HiddenModel(score if math.isfinite(score) else math.inf, A, order, M, v)

    def _climb(self, model: HiddenModel) -> HiddenModel:
        """Search on from a model, and fit what is found, as long as that lowers the score."""
        best = model
        for turn in range(SEARCHES):
            if self._left <= 0:
                break
            self._left -= 1
            factor = FIRST_PRICES[turn] if turn < len(FIRST_PRICES) else 1.0
            found = self._searched(model, factor)
            settled = turn >= len(FIRST_PRICES)
            if settled and (found.adjacency == model.adjacency).all():
                break
            model = self._fitted(np.ascontiguousarray(found.adjacency), found.order, found.M)
            if model.score < best.score - WORTHWHILE:
                best = model
            elif settled:
                break
        return best

    def _searched(self, model: HiddenModel, factor: float) -> HiddenModel:
        """Move variables in the order behind the hidden causes, whose second moments with all others stay as they are."""
        q = len(model.M)
        search, score = self._search_of(q)
        search.renew(model.M, search.scale)
        start = Optimum(0.0, model.order, tuple(packed_columns(model.adjacency)), model.v)
        found = search.descend_once(_Terms(score, factor), start)
        return model._replace(adjacency=unpacked_columns(found.parents, q), order=found.order, M=model.M.copy())

    def _search_of(self, q: int) -> tuple[OrderSearch, PooledScore]:
        if q not in self._searches:
            p = self.p
            masks = [np.zeros((q, q), dtype=bool) for _ in range(3)]
            allowed, required, before = masks
            allowed[:, :p] = self._caused
            before[p:, :p] = True
            if self.known is not None:
                for mask, own in zip(masks, (self.known.allowed, self.known.required, self.known.before), strict=True):
                    mask[:p, :p] = own
            scale = np.concatenate([self.scale, np.zeros(q - p)])
            search = OrderSearch(np.empty((q, q)), scale, known=(allowed, required, before))
            score = PooledScore(self.score.n, q, [g.tolist() for g in self.score.groups], self.score.scale)
            self._searches[q] = search, score
        return self._searches[q]

    def _varied(self, model: HiddenModel) -> HiddenModel:
        """Add or take away one of the variables behind the last hidden cause, as long as that lowers the score."""
        p = self.p
        while True:
            A = model.adjacency
            last = len(A) - 1
            behind = A[last].nonzero()[0].tolist()
            joined = {*A[:p, behind].nonzero()[0].tolist(), *A[behind, :p].nonzero()[1].tolist()}
            near = {*behind, *(x for x in joined if self._caused[x])}
            without = model._replace(
                adjacency=A[:last, :last], M=model.M[:last, :last], order=tuple(k for k in model.order if k != last)
            )
            sets = [sorted({*behind} ^ {x}) for x in sorted(near)]
            kept = A[:p, :p] & np.outer(A[last, :p], A[last, :p])
            placed = (self._placed(without, one, kept) for one in sets if len(one) > 2)
            starts = nsmallest(max(CHANGES // p, 4), placed, key=_by_score)
            best = min((self._climb(one) for one in starts), key=_by_score, default=model)
            if best.score > model.score - WORTHWHILE:
                return model
            model = best


def _with_one_more(start: HiddenModel, arrows: Mask) -> Iterator[Mask]:
    """Yield the arrows among the variables behind the last hidden cause of a start, with one more of those that gave way to it."""
    p = len(arrows)
    behind, now = start.adjacency[-1, :p], start.adjacency[:p, :p]
    for i, j in np.argwhere(arrows & ~now & np.outer(behind, behind)):
        more = now.copy()
        more[i, j] = True
        yield more


def near_cliques(joined: Mask) -> list[tuple[int, ...]]:
    """Return sets of variables nearly all joined in pairs, the closest first, and of those the largest, at most `SCREENED`.

    Four with at least five of six pairs joined; and what comes of them where the variable with the most links to the set is added,
    again and again, while at least seven tenths of the pairs are joined.
    """
    neighbours = packed_columns(joined)
    fours: set[tuple[int, ...]] = set()
    for a, b in np.argwhere(np.triu(joined)).tolist():
        for c in members(neighbours[a] & neighbours[b]):
            if c > b:
                two = neighbours[a] & neighbours[b] | neighbours[a] & neighbours[c] | neighbours[b] & neighbours[c]
                fours |= {tuple(sorted((a, b, c, d))) for d in members(two) if d not in (a, b, c)}
    closeness: dict[tuple[int, ...], float] = {}
    for four in sorted(fours):
        one, links = four, int(joined[np.ix_(four, four)].sum()) // 2
        while one not in closeness:
            closeness[one] = 2.0 * links / (len(one) * (len(one) - 1))
            counts = joined[:, one].sum(axis=1)
            counts[list(one)] = -1
            links += int(counts.max())
            if links < 0.35 * len(one) * (len(one) + 1):
                break
            one = tuple(sorted((*one, int(counts.argmax()))))
    return sorted(closeness, key=lambda one: (-closeness[one], -len(one), one))[:SCREENED]
