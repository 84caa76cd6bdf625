"""`PooledResult`: what the pooled search knows beside its graph, and what it answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.bits import packed_columns
from ordag.data.causes import Categories
from ordag.data.environments import Environments
from ordag.data.equations import Equations
from ordag.data.labels import RowLabels
from ordag.data.moments import Moments
from ordag.graph.links import Links
from ordag.graph.partly_directed import completed, meek
from ordag.learners.causes import FoundCauses
from ordag.learners.order_search.engine import Optimum
from ordag.learners.pooled.environments import Changed
from ordag.learners.pooled.hidden_search import HiddenModel, HiddenSearch
from ordag.learners.pooled.problem import Problem
from ordag.learners.result import Learned, Level, Result, Unjoined

LEAST_EDGE_PROBABILITY = 0.01
"""The probability of an edge below which a pair that the graph does not join is left out."""

LEAST_HIDDEN, MOST_HIDDEN = 4, 60
"""Variables between which hidden causes are searched for: one of three leaves no trace, and beyond it would take long."""


@dataclass(frozen=True, eq=False)
class PooledResult(Problem, Result):
    """The best graph and how it was reached. Variables are numbered as in `moments`, which has them in the order by conditional variance.

    starts: the score that each start reached. start: the one that the best graph comes from, or "restarts". kicks: the number of restarts.
    optima: the best graph, and those of another score that the starts reached. free: the best graph found when error variances carry no
    information. ends: the graphs in which chains of restarts ended, the best first, each with the halves of the chains that did.
    equations: the moments of each variable's equation, where they are not `moments`. labels: what the sampled rows are.
    environments: those between which equations may differ; `equations` are then those that they share in the best graph.
    """

    moments: Moments
    starts: dict[str, float]
    start: str
    kicks: int
    optima: tuple[Optimum, ...]
    free: Optimum
    warning: str | None = None
    equations: Equations | None = None
    labels: RowLabels | None = None
    environments: Environments | None = None
    ends: tuple[tuple[Optimum, int], ...] = ()

    @property
    def best(self) -> Optimum:
        return self.optima[0]

    @property
    def total(self) -> float:
        """The score of the best graph."""
        return self.best.score

    by_probabilities = True

    @property
    def hidden_names(self) -> tuple[str, ...]:
        return self.moments.names

    @property
    def compares_variances(self) -> bool:
        return bool(self.score.groups)

    @property
    def spread(self) -> float:
        """The factor by which the error variances differ."""
        return self.score.ratio(self.best.v)

    def found_causes(self, categories: Categories | None, order: Indices) -> FoundCauses | None:
        """Return the arrows from categories in the best graph."""
        return None

    def scored(self, dag: Mask) -> Optimum:
        """Return a graph over the positions with its score and a topological order."""
        return self.fitted(packed_columns(dag))

    def equations_in(self, optimum: Optimum) -> Equations | None:
        """Return the moments that each variable's equation is fitted to in a graph: those that environments share there."""
        variances = self.variances
        return variances.equations(optimum.parents) if isinstance(variances, Changed) else self.equations

    @cached_property
    def with_hidden(self) -> list[HiddenModel] | None:
        """The best graph, and its changes by one hidden cause after the other (`HiddenSearch.models`); None where none are searched for."""
        if self.equations is not None or self.score.pairs < math.comb(self.score.p, 2):
            return None
        given = self.variances.correlations()
        if not LEAST_HIDDEN <= self.score.p <= MOST_HIDDEN or "root" in given or given["most"] < self.score.p:
            return None
        search = HiddenSearch(given["C"], given["scale"], self.score, self.known)
        return search.models(self.best) if search.is_compiled else None

    def compelled_in(self, dag: Mask, told_apart: Mask | None = None) -> Mask:
        """Return the arrows shared by all graphs that are equivalent to this one and satisfy the knowledge.

        told_apart: pairs whose direction is known from elsewhere, as by experiments.
        """
        adjacency = completed(dag)
        if told_apart is not None:
            adjacency = meek(adjacency & ~(adjacency & adjacency.T & told_apart & ~dag))
        if self.known is not None:
            lines = adjacency & adjacency.T
            adjacency = meek(adjacency & ~(lines & self.known.against))
        return adjacency & ~adjacency.T

    def compelled(self, found: Learned) -> Links:
        return Links.of(found.posterior.compelled(found.sample))

    def by_conditions(self, found: Learned) -> Links:
        return Links.of(found.posterior.told_by_conditions(found.sample))

    def evidence(self, found: Learned, source: Indices, target: Indices) -> dict[str, Array]:
        probabilities, evidence = found.probabilities, super().evidence(found, source, target)
        if probabilities is None:
            return evidence
        joined, errors = probabilities.joined[source, target], probabilities.errors[source, target]
        arrows = {"probability": probabilities.arrows[source, target]}
        return {**evidence, **arrows, "edge_probability": joined, "probability_error": errors}

    def unjoined(self, found: Learned, most: int) -> Unjoined:
        probabilities = found.probabilities
        if probabilities is None:
            return super().unjoined(found, most)
        free = ~found.graph.skeleton & (probabilities.joined >= LEAST_EDGE_PROBABILITY)
        likely = np.where(free, probabilities.arrows, -1.0)
        i, j = np.nonzero(
            (likely > likely.T) | ((likely == likely.T) & (likely >= 0) & np.tri(len(likely), dtype=bool).T)
        )
        best = np.argsort(-likely[i, j], kind="stable")[:most]
        return Unjoined(i[best], j[best], np.full(len(best), math.nan))

    def level(self, found: Learned) -> Level | None:
        if found.probabilities is None:
            return super().level(found)
        return Level(
            "edge_probability", None, math.comb(found.moments.p, 2), LEAST_EDGE_PROBABILITY, learned_only=False
        )

    def entries(self, found: Learned) -> dict[str, Any]:
        return {} if found.probabilities is None else {"probabilities": found.probabilities.to_dict()}

    def is_complete(self, found: Learned) -> bool:
        return bool(found.posterior.quick)

    def without_slow_parts(self, found: Learned) -> Learned:
        return replace(found, posterior=found.posterior.unweighed())

    def effects(self, found: Learned) -> Iterator[Array]:
        effects: Iterator[Array] = found.posterior.effects(found.sample)
        return effects

    def details(self) -> dict[str, Any]:
        """Return the rest of the result as plain values, for JSON."""
        return {
            "start": self.start,
            "start_scores": self.starts,
            "best_score": self.best.score,
            "kicks": self.kicks,
            "spread": self.spread,
            "edge_price": self.score.local(self.best.v, self.best.edges).price,
        }
