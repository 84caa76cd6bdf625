"""The posterior in resamples of a table with categories as causes.

The rows of [Z | X] are resampled together. In each resample a chain over graphs, with the categories of every variable given, alternates
with steps that draw these: the categories of one variable after the other, each with its probability given all else (Gibbs sampling).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.bits import members, packed_columns, unpacked_columns
from ordag.common.linalg import lengths
from ordag.data.causes import Categories
from ordag.data.moments import Moments
from ordag.graph.dag import Dag
from ordag.learners.causes import causes_mask, equations_within
from ordag.learners.order_search.engine import OrderSearch
from ordag.learners.pooled.cause_search import BlockPrior, CausedResult
from ordag.learners.pooled.posterior import Posterior
from ordag.learners.pooled.resampled import (
    FEWEST_STEPS,
    MOST_STEPS,
    STARTS,
    STEPS,
    Draw,
    Redrawn,
    Resampled,
    strength_for,
)
from ordag.learners.pooled.sampler import Sampler, Walk
from ordag.learners.pooled.score import PoolingTable
from ordag.learners.pooled.variances import OwnVariances, RootRegressions
from ordag.model.refit import refit
from ordag.model.sem import LinearSEM

TURNS = 6
"""Times that graph and categories are drawn in turn in a resample; the first third is not counted."""

LEAST_SHARE = 1e-14
"""A residual variance below this share of the variable's own has no digits."""


class RedrawnCauses:
    """Resamples of the rows of [Z | X]: the categories' columns that do not follow from others, then the variables."""

    def __init__(self, found: CausedResult, rows: Array | None, strength: float) -> None:
        assert found.categories is not None
        self.found, self.categories = found, found.categories
        whole = self.categories
        kept = [column for block in whole.blocks for column in block]
        at = [*kept, *range(whole.width, whole.width + whole.p)]
        names = [f"{k}" for k in range(len(at))]
        joint = Moments(whole.n, whole.root.mean[at], names, R=whole.root.R[:, at])
        labels = found.labels
        given = None
        if rows is not None and labels is not None and labels.causes is not None and not np.isnan(labels.causes).any():
            given = np.concatenate([labels.causes[:, kept], rows], axis=1)
        self.joint = joint
        self._redrawn = Redrawn(joint, given, scarce=False, strength=strength)
        bounds = np.cumsum([0, *whole.sizes]).tolist()
        self._blocks = tuple(tuple(range(first, last)) for first, last in pairwise(bounds))
        self._width = len(kept)

    def draw(self, random: np.random.Generator) -> Drawn:
        """Return the root of one resample."""
        unit, scale = self._redrawn.draw(random)
        R = (unit * np.exp(scale / 2.0)[:, None]).T * math.sqrt(self.joint.n)
        return Drawn(self.categories, R, self._blocks, self._width)

    def model(self, seed: np.random.SeedSequence, graph: Mask) -> LinearSEM:
        """Fit a graph, with the arrows of categories as further rows, to the resample that this seed gives."""
        drawn, p = self.draw(np.random.default_rng(seed)), graph.shape[1]
        names = self.found.moments.names
        equations = equations_within(drawn, names, packed_columns(graph[p:]), counted=True)
        whole = Moments(drawn.n, np.zeros(p), names, R=drawn.left(()))
        return refit(whole, Dag.known_acyclic(names, graph[:p]), equations).sem


class Drawn(Categories):
    """The root of a resample in the place of that of the table."""

    def __init__(self, like: Categories, R: Array, blocks: tuple[tuple[int, ...], ...], width: int) -> None:
        super().__init__(like.root._replace(R=R, mean=np.zeros(len(R)), covariates=()))
        vars(self)["blocks"] = blocks
        vars(self)["width"] = width
        self.squares = (lengths(R) ** 2)[width:]
        unit = R / lengths(R)
        self.C = unit.T @ unit

    def log_variance(self, j: int, parents: list[int], chosen: int) -> float:
        """Return log(RSS / n) of variable j, from the correlations."""
        at = [*self.columns(members(chosen)), *(self.width + i for i in parents), self.width + j]
        try:
            share = float(np.linalg.cholesky(self.C[np.ix_(at, at)])[-1, -1] ** 2)
        except np.linalg.LinAlgError:
            share = LEAST_SHARE
        return math.log(max(share, LEAST_SHARE) * self.squares[j] / self.n)


class ResampledCauses(Resampled):
    """The posterior in one resample after the other, of graphs and of arrows from categories."""

    def __init__(self, found: CausedResult, rows: Array | None) -> None:
        super().__init__(found, None)
        assert found.categories is not None
        assert found.rules is not None
        self.caused, self.rows_redrawn = found, RedrawnCauses(found, rows, strength=strength_for(found))
        self.prior = BlockPrior(found.categories.n, found.categories.sizes, self.p)
        self.count = found.cause_count
        self.free = found.rules.allowed & ~found.rules.required
        self.group_of: list[tuple[Indices, PoolingTable] | None] = [None] * self.p
        for group in self.score.groups:
            for j in group.tolist():
                self.group_of[j] = group, self.score.pooling_table(len(group))

    def _one(self, random: np.random.Generator, used: list[OrderSearch]) -> Draw:
        drawn = self.rows_redrawn.draw(random)
        state = _State(self, drawn)
        arrows, causes, counted = np.zeros((self.p, self.p)), np.zeros((self.count, self.p)), 0
        for turn in range(TURNS):
            shares = state.draw_graph(random)
            chances = state.draw_sets(random)
            if self.stop[0]:
                break
            if turn >= TURNS // 3:
                arrows, causes, counted = arrows + shares, causes + chances, counted + 1
        together = np.concatenate([arrows, causes]) / max(counted, 1)
        graph = np.concatenate([unpacked_columns(state.parents, self.p), causes_mask(state.sets, self.count)])
        return Draw(together, graph)


class _State:
    """The present graph and sets of categories in one resample."""

    def __init__(self, given: ResampledCauses, drawn: Drawn) -> None:
        self.given, self.drawn, self.score = given, drawn, given.score
        self.sets = list(given.caused.sets)
        self.parents = list(given.found.best.parents)
        self._roots: dict[int, Array] = {}
        self._weights: dict[tuple[int, ...], Array] = {}
        self._searched = False

    def _left(self, chosen: int) -> Array:
        if chosen not in self._roots:
            self._roots[chosen] = self.drawn.left(members(chosen))
        return self._roots[chosen]

    def draw_graph(self, random: np.random.Generator) -> Array:
        """Draw a graph with the present sets; return the probability, or the share of the steps, of every arrow."""
        given, sets = self.given, tuple(self.sets)
        distinct = list(dict.fromkeys(sets))
        which = [distinct.index(one) for one in sets]
        if given.every is None:
            return self._walked([self._left(one) for one in distinct], which, random)
        if sets not in self._weights:
            names, mean = given.found.moments.names, np.zeros(given.p)
            parts = [RootRegressions(Moments(self.drawn.n, mean, names, R=self._left(one))) for one in distinct]
            self._weights[sets] = given.every.weights(self.score, OwnVariances(parts, which))
        weights = self._weights[sets]
        at = int(np.searchsorted(np.cumsum(weights), random.random() * (1.0 - 1e-12)))
        self.parents = given.every.graphs[at].tolist()
        return np.asarray(given.every.arrows(weights))

    def _walked(self, roots: list[Array], which: list[int], random: np.random.Generator) -> Array:
        given, p = self.given, self.given.p
        sizes = [lengths(R) for R in roots]
        units = np.array([np.ascontiguousarray((R / size).T) for R, size in zip(roots, sizes, strict=True)])
        scale = 2.0 * np.log(np.array(sizes)[which, np.arange(p)]) - math.log(self.drawn.n)
        C = units @ units.transpose(0, 2, 1)
        root = units if given.needs_root else None
        search = OrderSearch(C, scale, which=which, root=root, known=given.masks, **given.limits)
        if not self._searched:
            starts = (given._turned(start, random) for start in given.found.optima[:STARTS])
            found = min((search.descend_once(self.score, start) for start in starts), key=lambda one: one.score)
            self.parents, self._searched = list(found.parents), True
        v = self._log_variances()
        edges = sum(mask.bit_count() for mask in self.parents)
        walk = Walk(Sampler(search, self.score, self.score.local(v, edges)), self.parents)
        steps = min(max(STEPS * p, FEWEST_STEPS), MOST_STEPS) * 3 // (2 * TURNS)
        walk.start_counting()
        walk.go(random.random((steps, 4)), given.stop)
        self.parents = packed_columns(walk.F >= 0)
        return walk.shares(steps)

    def _log_variances(self) -> Array:
        every = zip(self.parents, self.sets, strict=True)
        return np.array([self.drawn.log_variance(j, members(one), chosen) for j, (one, chosen) in enumerate(every)])

    def draw_sets(self, random: np.random.Generator) -> Array:
        """Draw the categories of every variable, given the graph; return the probability of each arrow from one."""
        given, prior, v = self.given, self.given.prior, self._log_variances()
        chances = causes_mask(self.sets, given.count).astype(np.float64)
        count = int(chances.sum())
        for j in range(given.p):
            parents, group = members(self.parents[j]), given.group_of[j]
            for c in np.flatnonzero(given.free[:, j]).tolist():
                there = self.sets[j] >> c & 1
                other, more = self.sets[j] ^ 1 << c, 1 - 2 * there
                changed = self.drawn.log_variance(j, parents, other)
                rise = self.score.halves[j] * (changed - v[j]) + more * prior.each[c]
                rise += prior.by_count[count + more] - prior.by_count[count]
                if group is not None:
                    members_of, pooling = group
                    others = np.stack([v[members_of]] * 2)
                    others[1, members_of == j] = changed
                    before, after = pooling(np.var(others, axis=1) * len(members_of))
                    rise += float(after - before)
                turns = 1.0 / (1.0 + math.exp(min(max(rise, -500.0), 500.0)))
                chances[c, j] = 1.0 - turns if there else turns
                if random.random() < turns:
                    self.sets[j], v[j], count = other, changed, count + more
        return chances


class CausedPosterior(Posterior):
    """The posterior of graphs and of arrows from categories."""

    _found: CausedResult

    def _resampled(self, rows: Array | None) -> Resampled:
        return ResampledCauses(self._found, rows)

    def _redrawn(self, rows: Array | None) -> RedrawnCauses:
        return RedrawnCauses(self._found, rows, 1.0)
