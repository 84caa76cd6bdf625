r"""The pooled search with categories as causes: which categories enter which equation, beside the graph over the variables.

With $K_j$ the categories of variable j, $v_j = \log(\mathrm{RSS}_j / n)$ is that on its parents and on the columns of $K_j$. The score is
the pooled one of the $v_j$, and m arrows of C categories on p variables, with $q_c$ columns each, cost

    $\sum_{c \to j} q_c \tfrac{\log n}2 + \log \tbinom Mm + c\, m\,(1 - \tfrac m{2M})$,    M = Cp,

as edges do (`score`). Given the sets $K_j$ this is a search in which every variable has moments of its own, what its categories leave of
the rows (`Equations`); given the graph, sets are improved one variable at a time. The two alternate, from all categories in every equation
and from none, until neither lowers the score. An arrow is also turned together with the sets of both of its ends: a category tells a → b
from b → a where it explains a, and nothing of b beyond a. With few variables the best graph over all sets of parents is found with the
sets of categories at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.special import gammaln

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.bits import members, packed_columns, union
from ordag.data.causes import Categories, no_causes
from ordag.data.equations import Equations
from ordag.data.table_checks import least_squares_rows
from ordag.graph.cpdag import to_cpdag
from ordag.graph.dag import Dag
from ordag.graph.partly_directed import meek
from ordag.knowledge.masks import Constraints
from ordag.learners.causes import CauseRules, FoundCauses, causes_mask, equations_within
from ordag.learners.order_search.engine import LEAST_GAIN, OrderSearch
from ordag.learners.pooled.exact import best_graph
from ordag.learners.pooled.problem import Problem, masks_of
from ordag.learners.pooled.result import PooledResult
from ordag.learners.pooled.score import CHANCE, PooledScore
from ordag.learners.pooled.search import one_score, pooled_search
from ordag.learners.pooled.variances import own_log_variances
from ordag.order.ordering import Ordering

MOST_TOGETHER = 3
"""Categories up to which all sets of them are tried for every variable; beyond, sets that differ in one."""

MOST_FOR_ALL_SETS = 6
"""Variables up to which all sets of parents are tried with all sets of categories."""

ROUNDS = 50
"""Times at most that graph and sets are improved in turn."""


class BlockPrior:
    """What arrows from categories cost, by their number for each category."""

    def __init__(self, n: int, sizes: Sequence[int], p: int) -> None:
        self.pairs = len(sizes) * p
        self.each = np.array(sizes, float) * math.log(n) / 2.0

    def total(self, sets: Sequence[int]) -> float:
        """Return the price of these sets of categories, one of every variable."""
        counts = np.array([sum(one >> c & 1 for one in sets) for c in range(len(self.each))])
        return float(counts @ self.each) + float(self.by_count[counts.sum()])

    @cached_property
    def by_count(self) -> Array:
        """What m arrows cost beside their columns, for every m."""
        m, pairs = np.arange(self.pairs + 1), self.pairs
        prior = gammaln(pairs + 1) - gammaln(m + 1) - gammaln(pairs - m + 1)
        return np.asarray(prior + CHANCE * m * (1.0 - m / (2.0 * pairs)))

    def prices(self, m: int) -> Array:
        """Return the price of one more arrow from each category, beside m of them."""
        chance = CHANCE * (1.0 - m / self.pairs)
        return np.asarray(self.each + math.log(max(self.pairs - m, 0.5) / (m + 1.0)) + chance)


@dataclass(frozen=True)
class Caused:
    """A graph over the variables and the categories of every variable, both as bitmasks; v are the log variances."""

    score: float
    parents: tuple[int, ...]
    sets: tuple[int, ...]
    v: Array


@dataclass(frozen=True, eq=False)
class CauseProblem:
    """The score of graphs with categories; variables are numbered by position, `categories` and `rules` likewise."""

    score: PooledScore
    categories: Categories
    rules: CauseRules
    known: Constraints | None
    names: tuple[str, ...]
    cache: dict[tuple[int, int, int], float]

    @cached_property
    def prior(self) -> BlockPrior:
        return BlockPrior(self.categories.n, self.categories.sizes, self.score.p)

    @cached_property
    def masks(self) -> tuple[list[int], list[int], list[int]]:
        """The possible parents, the required parents, and the variables that must come first, of every variable."""
        return masks_of(self.known, self.score.p)

    @cached_property
    def choices(self) -> list[list[int]]:
        """The sets of categories that each variable can have, where all are tried; empty lists beyond."""
        count = len(self.categories.names)
        if count > MOST_TOGETHER:
            return [[] for _ in range(self.score.p)]
        allowed, required = packed_columns(self.rules.allowed), packed_columns(self.rules.required)
        return [
            [k for k in range(1 << count) if not k & ~most and not least & ~k]
            for most, least in zip(allowed, required, strict=True)
        ]

    def near(self, j: int, chosen: int) -> list[int]:
        """Return the sets of categories to try for variable j in place of these."""
        if self.choices[j]:
            return self.choices[j]
        able = packed_columns(self.rules.allowed & ~self.rules.required)[j]
        return [chosen, *(chosen ^ 1 << c for c in members(able))]

    def log_variance(self, j: int, parents: int, chosen: int) -> float:
        """Return log(RSS / n) of variable j on its parents and these categories."""
        key = j, parents, chosen
        if key not in self.cache:
            rss = self.categories.rss(j, members(parents), members(chosen))
            self.cache[key] = math.log(max(rss, 1e-300) / self.categories.n)
        return self.cache[key]

    def caused(self, parents: Sequence[int], sets: Sequence[int]) -> Caused:
        """Return a graph and sets of categories with their score."""
        v = np.array([self.log_variance(j, *both) for j, both in enumerate(zip(parents, sets, strict=True))])
        return Caused(self.total(v, parents, sets), tuple(parents), tuple(sets), v)

    def total(self, v: Array, parents: Sequence[int], sets: Sequence[int]) -> float:
        """Return the score."""
        return self.score.total(v, sum(mask.bit_count() for mask in parents)) + self.prior.total(sets)

    def with_best_sets(self, given: Caused) -> Caused:
        """Improve the sets of categories, one variable at a time, until none lowers the score."""
        best = given
        while True:
            before = best.score
            for j in range(len(best.parents)):
                best = self._best_set(best, j)
            if best.score > before - LEAST_GAIN:
                return best

    def _best_set(self, best: Caused, j: int) -> Caused:
        for chosen in self.near(j, best.sets[j]):
            if chosen != best.sets[j]:
                v, sets = best.v.copy(), list(best.sets)
                v[j], sets[j] = self.log_variance(j, best.parents[j], chosen), chosen
                score = self.total(v, best.parents, sets)
                if score < best.score - LEAST_GAIN:
                    best = Caused(score, best.parents, tuple(sets), v)
        return best

    def best_change(self, best: Caused) -> Caused | None:
        """Return the best graph that differs in one arrow, with new sets for the variables whose parents change; None without a gain."""
        found = best
        for parents in self._changed(best.parents):
            changed = [j for j, (one, other) in enumerate(zip(parents, best.parents, strict=True)) if one != other]
            v, sets = best.v.copy(), list(best.sets)
            for some in product(*(self.near(j, best.sets[j]) for j in changed)):
                for j, chosen in zip(changed, some, strict=True):
                    v[j], sets[j] = self.log_variance(j, parents[j], chosen), chosen
                score = self.total(v, parents, sets)
                if score < found.score - LEAST_GAIN:
                    found = Caused(score, tuple(parents), tuple(sets), v.copy())
        return None if found is best else found

    def _changed(self, parents: Sequence[int]) -> Iterator[list[int]]:
        """Yield the graphs with one arrow turned or removed, within knowledge and without cycles."""
        allowed, required, first = self.masks
        after = [0] * len(parents)
        for j, mask in enumerate(parents):
            for i in members(mask | first[j]):
                after[i] |= 1 << j
        for j, mask in enumerate(parents):
            for i in members(mask & ~required[j]):
                fewer = list(parents)
                fewer[j] &= ~(1 << i)
                yield fewer
                others = after[i] & ~(1 << j)
                reach, seen = others, 0
                while reach & ~seen:
                    seen |= reach
                    reach = union(after, seen)
                if allowed[i] >> j & 1 and not first[j] >> i & 1 and not seen >> j & 1:
                    turned = list(fewer)
                    turned[i] |= 1 << j
                    yield turned

    def best_over_sets(self, given: Caused) -> Caused:
        """Return the best graph with the best sets of categories, under the bound that touches the score at the given ones."""
        p, prices = self.score.p, self.prior
        allowed, required, first = self.masks
        local = self.score.local(given.v, sum(mask.bit_count() for mask in given.parents))
        price = prices.prices(sum(one.bit_count() for one in given.sets))
        worth = [float(sum(price[c] for c in members(chosen))) for chosen in range(1 << len(price))]
        costs, chosen = np.full((p, 1 << p), np.inf), np.zeros((p, 1 << p), np.intp)
        for j in range(p):
            for mask in range(1 << p):
                if not mask & ~allowed[j] and not required[j] & ~mask:
                    terms = [local.term(j, self.log_variance(j, mask, one)) + worth[one] for one in self.choices[j]]
                    best = int(np.argmin(terms))
                    costs[j, mask], chosen[j, mask] = terms[best], self.choices[j][best]
        parents = best_graph(costs, self.score.edge_priors, first)
        return self.caused(parents, [int(chosen[j, mask]) for j, mask in enumerate(parents)])

    def equations(self, sets: Sequence[int], *, counted: bool = False) -> Equations:
        """Return the moments of every variable within its categories; `counted`: with a row less for each of their columns."""
        return equations_within(self.categories, self.names, sets, counted=counted)

    def settled(self, given: Caused, effort: float = 1.0) -> Caused:
        """Improve graph and sets in turn until neither lowers the score."""
        best, p = given, self.score.p
        few = least_squares_rows(p)
        for _ in range(ROUNDS):
            before = best.score
            best = self.with_best_sets(best)
            if p <= MOST_FOR_ALL_SETS and all(self.choices):
                best = min(best, self.best_over_sets(best), key=lambda one: one.score)
            else:
                variances = own_log_variances(self.equations(best.sets), few)
                problem = Problem(self.score, variances, self.known)
                search = OrderSearch.of(variances, self.known)
                [[found]] = search.descend(((self.score,), problem.fitted(best.parents)), effort=effort)
                best = min(best, self.caused(found.parents, best.sets), key=lambda one: one.score)
            while (better := self.best_change(best)) is not None:
                best = better
            if best.score > before - LEAST_GAIN:
                break
        return best


@dataclass(frozen=True, eq=False)
class CausedResult(PooledResult):
    """A pooled result with categories as causes: `sets` of every variable, by position, in the best graph."""

    categories: Categories | None = None
    rules: CauseRules | None = None
    sets: tuple[int, ...] = ()

    @property
    def cause_count(self) -> int:
        """The number of categories that may be causes."""
        return 0 if self.categories is None else len(self.categories.names)

    def found_causes(self, categories: Categories | None, order: Indices) -> FoundCauses | None:
        assert categories is not None
        arrows = no_causes(self.cause_count, len(order))
        arrows[:, order] = causes_mask(self.sets, self.cause_count)
        return FoundCauses(categories, arrows)

    @property
    def total(self) -> float:
        """The score with the price of the arrows from categories."""
        assert self.categories is not None
        return self.best.score + BlockPrior(self.categories.n, self.categories.sizes, self.score.p).total(self.sets)

    @property
    def with_hidden(self) -> None:
        return None

    def compelled_in(self, dag: Mask, told_apart: Mask | None = None) -> Mask:
        """Return the arrows shared by all equivalent graphs in which categories have no causes; further rows of `dag` are their arrows."""
        p = dag.shape[1]
        if len(dag) == p:
            return super().compelled_in(np.asarray(dag), told_apart)
        count = len(dag) - p
        whole = np.zeros((len(dag), len(dag)), dtype=bool)
        whole[:, :p] = dag
        names = (*self.moments.names, *(f"\0{c}" for c in range(count)))
        adjacency = to_cpdag(Dag.known_acyclic(names, whole)).adjacency
        barred = np.zeros_like(adjacency)
        barred[:p, p:] = True
        # categories may be related to one another, so that two of them never meet in a collider
        barred[p:, p:] = True
        if self.known is not None:
            barred[:p, :p] = self.known.against
        lines = adjacency & adjacency.T
        adjacency = meek(adjacency & ~(lines & barred))
        found: Mask = (adjacency & ~adjacency.T)[:p, :p]
        return found


def search_with_causes(
    ordering: Ordering,
    categories: Categories,
    rules: CauseRules,
    *,
    kicks: int | None,
    seed: Any,
    progress: Callable[[str], None],
    **given: Any,
) -> CausedResult:
    """Search for graph and categories together. ordering: of the variables within all categories; others are those of `pooled_search`."""
    names, order = ordering.moments.names, [int(j) for j in ordering.order]
    place = np.argsort(order)

    def searched(sets: Sequence[int], kicks: int | None) -> PooledResult:
        by_column = [sets[int(place[j])] for j in range(len(sets))]
        own = equations_within(categories, names, by_column)
        return pooled_search(ordering, kicks=kicks, seed=seed, equations=own, progress=progress, **given)

    allowed, required = packed_columns(rules.allowed[:, order]), packed_columns(rules.required[:, order])
    problem: CauseProblem | None = None
    best: Caused | None = None
    for sets in dict.fromkeys((tuple(allowed), tuple(required))):
        result = searched(sets, 0)
        if problem is None:
            ordered = categories.ordered(order)
            position_names = result.moments.names
            problem = CauseProblem(result.score, ordered, rules.ordered(order), result.known, position_names, {})
        found = problem.settled(problem.caused(result.best.parents, sets))
        best = found if best is None or found.score < best.score - LEAST_GAIN else best
        progress(f"pooled: with categories, score {best.score:.6g}")
    assert problem is not None
    assert best is not None
    result = searched(best.sets, kicks)
    found = problem.settled(problem.caused(result.best.parents, best.sets))
    if found.score < best.score - LEAST_GAIN:
        best = found
        result = searched(best.sets, 0)
    variances = own_log_variances(problem.equations(best.sets), least_squares_rows(len(names)))
    own = replace(result, variances=variances)
    optimum = own.fitted(best.parents, own.topological(best.parents))
    others = [one for one in result.optima if not one_score((optimum, one))]
    fields = {name: getattr(own, name) for name in PooledResult.__dataclass_fields__}
    fields |= {"optima": (optimum, *others), "equations": problem.equations(best.sets)}
    return CausedResult(**fields, categories=problem.categories, rules=problem.rules, sets=best.sets)
