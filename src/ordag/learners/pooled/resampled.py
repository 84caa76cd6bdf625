r"""The posterior averaged over resamples of the rows (a bagged posterior: Huggins & Miller 2019).

Rows are drawn with replacement, the graph is searched for again from the graphs that were found in the table, and a chain over DAGs
(`chain`) goes on from there. An arrow's probability is its share of all steps of all chains. With up to five variables the sum over
all graphs takes the place of the chain.

With $y = (x - \bar x) T^{-1}$ and $T = R/\sqrt n$ the rows have $\frac1n \sum y^\top y = I$. Drawn with shares w they have the scatter
$A = \sum w\, y^\top y - \bar y^\top \bar y$, and the resample has the covariance $T^\top (I + s (A - A_0)) T$. Where all
n rows are at hand, $A_0 = I$ and s is the strength. Of a long table k rows stand for all: $A_0$ is their own scatter, and s is
$\sqrt{k/n}$ times that. Without rows A is a Wishart matrix; where rows have missing values, it is estimated from them (`Reweighted`).

Beyond s = 1 the matrix need not be positive definite. Then the resample is resampled, with the root of its covariance in place of T,
each time by less: variances of k steps of strength $s/\sqrt k$ add up to $s^2$.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.bits import members, packed_columns, unpacked_columns
from ordag.common.linalg import lengths, triangle, wishart_root
from ordag.common.workers import as_worker
from ordag.data.em import Reweighted
from ordag.data.environments import Environments
from ordag.data.equations import LEFT_OUT, Equations
from ordag.data.labels import RowLabels, units_of
from ordag.data.moments import Moments
from ordag.data.table_checks import least_squares_rows
from ordag.graph.dag import Dag
from ordag.learners.order_search.engine import LEAST_GAIN, Optimum, OrderSearch, together
from ordag.learners.order_search.layout import UNIFORMS
from ordag.learners.pooled.environments import Changed
from ordag.learners.pooled.exact import MOST_VARIABLES, AllGraphs
from ordag.learners.pooled.problem import Problem
from ordag.learners.pooled.result import PooledResult
from ordag.learners.pooled.sampler import Sampler, Walk
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.search import EVEN, ODD
from ordag.learners.pooled.variances import LogVariances, OwnVariances, RootRegressions
from ordag.model.refit import refit
from ordag.model.sem import LinearSEM

STRENGTH, STRONGEST = 0.9, 1.8
"""How far a resample is from the table, over how far rows drawn with replacement are: in sparse graphs, and at most."""

DENSE, BY_DENSITY = 0.3, 4.0
"""The share of pairs joined in the best graph above which resamples are farther from the table, by so much for every unit of it. In
dense graphs effects cancel, and an arrow that only seems to be missing turns others; with few variables that was not seen."""

ROWS_EACH = 6
"""Resamples of strength s are as far from the table as tables of n/s² rows: beyond s = 0.9 these are so many for each variable at least."""

STARTS, MOST_ENDS = 2, 2
"""Graphs of the table that the search in a resample begins with: the best and one that a start reached, and the best that each half of the
chains of restarts ended in, so many of these."""

FAR, REACH = 100.0, 3.0
"""The second is left out if its score was higher by the first number, and in the resample lies above the lowest so far by so many times
what the search has gained there."""

RESTARTS = 2
"""Restarts of the search in a resample, from the best graph."""

TURNS = 10
"""Tries for every variable to turn an arrow of such a graph within its class."""

STEPS, FEWEST_STEPS, MOST_STEPS = 50, 1000, 4000
"""Steps of a chain for every variable that can have parents, at least, and at most. Half as many go before, which are not counted."""

THREADS = 2
"""Resamples at a time, whatever the number of cores."""


class Redrawn:
    """Covariances of resamples: of rows, which are all of a table's or an even share of them, or of Gaussian rows with its moments."""

    def __init__(self, moments: Moments, rows: Array | None, *, scarce: bool, strength: float = STRENGTH) -> None:
        n = moments.n
        self.moments, self.scarce, self.strength = moments, scarce, strength
        size = _sizes(moments.R) / np.sqrt(n)
        self._T = np.diag(size) if scarce else moments.R / np.sqrt(n)
        self._near = np.eye(moments.p) if not scarce else _correlation(moments.R)
        self._rows: Array | None = None
        self._holed: Reweighted | None = None
        if rows is not None and np.isnan(rows).any():
            self._holed = Reweighted(
                rows, moments.mean, moments.R.T @ moments.R / n, 0.0 if moments.holes is None else moments.holes.prior
            )
            self._count = len(rows)
            self._own = self._near_of(np.full(len(rows), 1.0 / len(rows)))
            self._share = float(np.sqrt(min(1.0, len(rows) / moments.rows)))
        elif rows is not None:
            centred = rows - rows.mean(axis=0)
            self._rows = centred / size if scarce else solve_triangular(self._T, centred.T, trans=1).T.copy()
            if moments.adjusted_for:  # residuals, which are shorter than the errors
                self._rows *= np.sqrt(self._rows.size / np.square(self._rows).sum())
            self._own = self._rows.T @ self._rows / len(rows)
            self._share = float(np.sqrt(len(rows) / n if moments.adjusted_for else min(1.0, len(rows) / n)))

    def draw(self, random: np.random.Generator) -> tuple[Array, Array]:
        """C or, unless rows are scarce, unit rows with C as their products; and the logarithms of the variances."""
        if self.scarce:
            near = self._near + self.strength * self._change(random)
            variances = np.maximum(np.diag(near), 1e-300)
            deviations = np.sqrt(variances)
            unit = near / np.outer(deviations, deviations)
            return unit, np.log(variances * np.diag(self._T) ** 2)
        root, steps = self._T, math.ceil(self.strength**2)
        for _ in range(steps):
            root = self._root(self.strength / math.sqrt(steps) * self._change(random)) @ root
        size = lengths(root)
        return np.ascontiguousarray((root / size).T), 2.0 * np.log(size)

    def _root(self, change: Array) -> Array:
        """Return the root of the changed scatter of y."""
        while True:
            try:
                return np.asarray(cholesky(self._near + change))
            except LinAlgError:  # fewer different rows than variables
                change = change / 2.0

    def model(self, seed: np.random.SeedSequence, graph: Mask) -> LinearSEM:
        """Fit a graph to the resample that this seed gives, by least squares."""
        drawn = _moments_of(self.moments, *self.draw(np.random.default_rng(seed)), scarce=self.scarce)
        return refit(drawn, Dag.known_acyclic(drawn.names, graph)).sem

    def _change(self, random: np.random.Generator) -> Array:
        n, p = self.moments.n, self.moments.p
        if self._holed is not None:
            counts = np.bincount(random.integers(self._count, size=self._count), minlength=self._count) / self._count
            return self._share * (self._near_of(counts) - self._own)
        if self._rows is None:
            if not self.scarce:
                A = wishart_root(n, p, random)
                return np.asarray(A.T @ A / (n - 1.0) - self._near)
            rows = random.standard_normal((n, p)) @ (self.moments.R / _sizes(self.moments.R))
            rows -= rows.mean(axis=0)
            return np.asarray(rows.T @ rows / (n - 1.0) - self._near)
        k = len(self._rows)
        counts = np.bincount(random.integers(k, size=k), minlength=k) / k
        mean, drawn = counts @ self._rows, np.flatnonzero(counts)
        rows = self._rows[drawn] * np.sqrt(counts[drawn])[:, None]
        A = rows.T @ rows - np.outer(mean, mean)
        return self._share * (A - self._own)

    def _near_of(self, weights: Array) -> Array:
        """Estimate the covariance of incomplete rows with these weights, relative to that of the table."""
        assert self._holed is not None
        S = self._holed.gaussian(weights * len(weights)).S
        return np.asarray(solve_triangular(self._T, solve_triangular(self._T, S, trans=1).T, trans=1))


class RedrawnPart(Redrawn):
    """Covariances of resamples of rows with labels, of those that count in one of the moments of `Equations`.

    Units are drawn within each condition where there are such. Resamples of all parts with random numbers of the same seed are of the
    same rows. groups: the group with one mean that the rows of every condition belong to, or `LEFT_OUT`.
    """

    def __init__(
        self,
        moments: Moments,
        rows: Array | None,
        labels: RowLabels,
        groups: Indices | None = None,
        *,
        scarce: bool,
        strength: float,
    ) -> None:
        super().__init__(moments, None, scarce=scarce, strength=strength)
        if rows is None:
            return
        group = np.zeros(len(rows), np.intp)
        if groups is not None and labels.condition is not None:
            group = groups[labels.condition]
        self._counts = group != LEFT_OUT
        order = np.flatnonzero(self._counts)[np.argsort(group[self._counts], kind="stable")]
        self._order, self._place = order, np.unique(group[order], return_inverse=True)[1].reshape(-1)
        self._starts = np.flatnonzero(np.diff(self._place, prepend=-1))
        self._own_weights = np.ones(len(order)) if labels.weight is None else labels.weight[order]
        self._draws = units_of(labels, len(rows))
        left = self._centred(rows[order], self._own_weights)
        size = _sizes(self.moments.R) / np.sqrt(self.moments.n)
        self._rows = left / size if scarce else solve_triangular(self._T, left.T, trans=1).T.copy()
        scatter = max(float(self._own_weights @ np.square(self._rows).sum(axis=1)), 1e-300)
        # residuals are shorter than the errors
        self._rows *= np.sqrt(self._rows.shape[1] * self._own_weights.sum() / scatter)
        self._own = self._near_by(self._own_weights)
        # a thinned sample still has the differences between clusters in full, but only a part of the blocks of a series
        whole = labels.cluster is not None and labels.unit is not None and np.array_equal(labels.unit, labels.cluster)
        self._share = 1.0 if whole else float(np.sqrt(min(1.0, len(order) / self.moments.rows)))

    def _centred(self, rows: Array, weights: Array) -> Array:
        totals = np.maximum(np.add.reduceat(weights, self._starts), 1e-300)
        means = np.add.reduceat(weights[:, None] * rows, self._starts) / totals[:, None]
        return np.asarray(rows - means[self._place])

    def _near_by(self, weights: Array) -> Array:
        """Estimate the covariance of the rows with these weights, relative to that of the table, about the means of their groups."""
        assert self._rows is not None
        weighted = self._rows * weights[:, None]
        totals = np.maximum(np.add.reduceat(weights, self._starts), 1e-300)
        sums = np.add.reduceat(weighted, self._starts)
        scatter = weighted.T @ self._rows - (sums / totals[:, None]).T @ sums
        return np.asarray(scatter / self._own_weights.sum())

    def _change(self, random: np.random.Generator) -> Array:
        if self._rows is None:
            return super()._change(random)
        counts = self._draws.counts(random)[self._order]
        return self._share * (self._near_by(self._own_weights * counts) - self._own)


class RedrawnEquations:
    """As `Redrawn`, where the equations of the variables are fitted to moments of their own: one covariance for each of these."""

    def __init__(
        self, equations: Equations, rows: Array | None, labels: RowLabels, *, scarce: bool, strength: float = STRENGTH
    ) -> None:
        self.equations, self.scarce = equations, scarce
        self._parts = [
            RedrawnPart(one, rows, labels, groups, scarce=scarce, strength=strength)
            for one, groups in zip(equations.distinct, equations.groups, strict=True)
        ]

    def draw(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Return as `Redrawn.draw` does, one of the stack for each of the distinct moments."""
        seed = int(random.integers(2**63))
        drawn = [part.draw(np.random.default_rng(seed)) for part in self._parts]
        return np.stack([unit for unit, _ in drawn]), np.stack([scale for _, scale in drawn])

    def moments(self, units: Array, scales: Array) -> Equations:
        """Return the moments of a draw."""
        given = zip(self.equations.distinct, units, scales, strict=True)
        drawn = tuple(_moments_of(one, unit, scale, scarce=self.scarce) for one, unit, scale in given)
        return replace(self.equations, distinct=drawn)

    def model(self, seed: np.random.SeedSequence, graph: Mask) -> LinearSEM:
        """Fit a graph to the resample that this seed gives, by least squares, each equation to its own moments."""
        drawn = self.moments(*self.draw(np.random.default_rng(seed)))
        return refit(drawn.distinct[0], Dag.known_acyclic(drawn.distinct[0].names, graph), drawn).sem


class RedrawnEnvironments:
    """As `RedrawnEquations`, where equations may differ between environments: one covariance for each of these."""

    def __init__(self, environments: Environments, rows: Array | None, labels: RowLabels, *, strength: float) -> None:
        self.environments, count = environments, len(environments.each)
        self._parts = [
            None
            if one.n < 2
            else RedrawnPart(
                one,
                rows,
                labels,
                np.where(np.arange(count) == c, c, LEFT_OUT),
                scarce=not environments.has_root[c],
                strength=strength,
            )
            for c, one in enumerate(environments.each)
        ]

    def draw(self, random: np.random.Generator) -> Environments:
        """Return the environments of a resample."""
        seed = int(random.integers(2**63))
        drawn = []
        for part, one in zip(self._parts, self.environments.each, strict=True):
            if part is None:
                drawn.append(one)
            else:
                unit, scale = part.draw(np.random.default_rng(seed))
                drawn.append(_moments_of(one, unit, scale, scarce=part.scarce))
        return replace(self.environments, each=tuple(drawn))

    def model(self, seed: np.random.SeedSequence, graph: Mask) -> LinearSEM:
        """Fit a graph to the resample that this seed gives, by least squares, each equation to the environments that share it."""
        drawn = Changed(self.draw(np.random.default_rng(seed))).equations(packed_columns(graph))
        return refit(drawn.distinct[0], Dag.known_acyclic(drawn.distinct[0].names, graph), drawn).sem


def redrawn(
    found: PooledResult, rows: Array | None, *, strength: float
) -> Redrawn | RedrawnEquations | RedrawnEnvironments:
    """Return the resamples behind a result; its rows have the columns in the order of its moments."""
    scarce, labels = found.variances.most < found.score.p, found.labels
    rows = None if found.equations is not None and labels is None else rows
    if found.environments is not None:
        return RedrawnEnvironments(found.environments, rows, labels or RowLabels(), strength=strength)
    if found.equations is not None:
        return RedrawnEquations(found.equations, rows, labels or RowLabels(), scarce=scarce, strength=strength)
    if labels is None or rows is None:
        return Redrawn(found.moments, rows, scarce=scarce, strength=strength)
    return RedrawnPart(found.moments, rows, labels, scarce=scarce, strength=strength)


def _moments_of(like: Moments, unit: Array, scale: Array, *, scarce: bool) -> Moments:
    """Return the moments of a draw: n, names and what `Redrawn.draw` returned."""
    if scarce:  # a root of C, triangular as `refit` expects it
        values, vectors = np.linalg.eigh(unit)
        unit = triangle(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T).T
    R = (unit * np.exp(scale / 2.0)[:, None]).T * np.sqrt(like.n)
    return Moments(like.n, np.zeros(like.p), like.names, R=R)


def strength_for(found: PooledResult) -> float:
    """Return how far resamples are to be from a table: the farther, the denser its best graph, unless rows or variables are few."""
    if found.variances.most < found.score.p or found.score.p <= MOST_VARIABLES:
        return STRENGTH
    n, p = found.score.n, found.score.p
    by_density = STRENGTH + BY_DENSITY * max(found.best.edges / found.score.pairs - DENSE, 0.0)
    return max(min(by_density, STRONGEST, math.sqrt(n / (ROWS_EACH * p))), STRENGTH)


def _sizes(R: Array) -> Array:
    """Return the lengths of columns, 1 for those that never change."""
    size = lengths(R)
    return np.where(size > 0.0, size, 1.0)


def _correlation(R: Array) -> Array:
    unit = R / _sizes(R)
    return np.asarray(unit.T @ unit)


def _starts(found: PooledResult) -> list[tuple[Optimum, int]]:
    """Return the graphs of the table that the search in a resample begins with, each with the halves of the chains that ended in it."""
    both = EVEN | ODD
    several = any(own & ODD for _, own in found.ends)  # the first chain is an even one
    ends = [(found.best, found.ends[0][1]), *found.ends[1:]] if several else [(found.best, both)]
    kept = {one.parents for half in (EVEN, ODD) for one, _ in [end for end in ends if end[1] & half][:MOST_ENDS]}
    others = [end for end in ends[1:] if end[0].parents in kept]
    return [ends[0], *others, *((one, both) for one in found.optima[1:STARTS])]


class Draw(NamedTuple):
    """The posterior probability of i → j in one resample at [i, j], and one graph that was drawn from it.

    apart: by how much the probabilities differ between the graphs that chains of restarts of even and of odd number have led to.
    told_apart: the pairs of which environments tell cause from effect, by the equations that differ between them in that graph.
    """

    arrows: Array
    graph: Mask
    apart: Array | None = None
    told_apart: Mask | None = None


class Resampled:
    """The posterior in one resample of a table after the other."""

    def __init__(self, found: PooledResult, rows: Array | None) -> None:
        p, known = found.moments.p, found.known
        given = found.variances.correlations()
        self.found, self.p = found, p
        self.scarce = found.variances.most < p
        self.redrawn = redrawn(found, rows, strength=strength_for(found))
        self.which = None if found.equations is None else list(found.equations.which)
        self.few = least_squares_rows(p)
        groups = [group.tolist() for group in found.score.groups]
        own = found.score
        self.score = PooledScore(own.each, p, groups, own.scale, extended=self.scarce, pairs=own.pairs)
        self.needs_root = given.get("root") is not None
        self.limits = {"most": given.get("most"), "alone": given.get("alone", 0.0)}
        self.masks = None if known is None else (known.allowed, known.required, known.before)
        self.every = None
        if p <= MOST_VARIABLES:
            self.every = AllGraphs(p) if known is None else AllGraphs(p, known.allowed, known.required)
        self.starts = _starts(found)
        self.stop = np.zeros(1, dtype=np.int64)

    def _variances(self, unit: Array, scale: Array) -> LogVariances:
        """Return the log variances of a draw."""
        if isinstance(self.redrawn, RedrawnEquations):
            drawn = self.redrawn.moments(unit, scale)
            return OwnVariances([RootRegressions(one) for one in drawn.distinct], drawn.which)
        return RootRegressions(_moments_of(self.found.moments, unit, scale, scarce=False))

    def run(self, seeds: Sequence[np.random.SeedSequence]) -> list[Draw]:
        """Return one draw for every seed, in their order."""
        with as_worker():  # threads of linear algebra would wait for each other
            parts = together(
                [partial(self._several, seeds[first::THREADS]) for first in range(min(THREADS, len(seeds)))],
                lambda: self.stop.fill(1),
            )
        draws: list[Draw] = [None] * len(seeds)  # type: ignore[list-item]
        for first, part in enumerate(parts):
            draws[first::THREADS] = part  # type: ignore[call-overload]
        return draws

    def _several(self, seeds: Sequence[np.random.SeedSequence]) -> list[Draw]:
        search: list[OrderSearch] = []  # one after the first resample, for all
        return [self._one(np.random.default_rng(seed), search) for seed in seeds if not self.stop[0]]

    def _one(self, random: np.random.Generator, used: list[OrderSearch]) -> Draw:
        if isinstance(self.redrawn, RedrawnEnvironments):
            changed = Changed(self.redrawn.draw(random), self.few)
            draw = self._drawn_from(changed, random) if self.every is not None else self._near_best(changed, random)
            return draw._replace(told_apart=changed.equations(packed_columns(draw.graph)).told_apart)
        unit, scale = self.redrawn.draw(random)
        if self.every is not None:
            return self._drawn_from(self._variances(unit, scale), random)
        if self.which is None:
            C = unit if self.scarce else unit @ unit.T
        else:
            C = unit if self.scarce else unit @ unit.transpose(0, 2, 1)
            scale = scale[self.which, np.arange(self.p)]
        root = unit if self.needs_root else None
        if not used:
            used.append(OrderSearch(C, scale, which=self.which, root=root, known=self.masks, **self.limits))
        search = used[0]
        search.renew(C, scale, root)
        (first, own), *others = self.starts
        best = search.descend_once(self.score, self._turned(first, random), random.random((RESTARTS, UNIFORMS)))
        ends = [(best, own)]
        for other, own in others:
            if other.score < first.score + FAR or self._in_reach(search, best, first, other):
                ends.append((search.descend_once(self.score, self._turned(other, random)), own))
                best = min(best, ends[-1][0], key=lambda one: one.score)
        draw = self._walked(search, best, random)
        for half, sign in ((EVEN, 1.0), (ODD, -1.0)):
            less = min((one for one, own in ends if own & half), key=lambda one: one.score, default=best)
            if less.score > best.score + LEAST_GAIN:
                return draw._replace(apart=sign * (self._walked(search, less, random).arrows - draw.arrows))
        return draw

    def _turned(self, start: Optimum, random: np.random.Generator) -> Optimum:
        """Return a random graph of the class, on which the end of a search depends, if no error variances are compared.

        Turning a covered arrow, whose ends have the same other parents, leads to every graph of the class (Chickering 1995), and where
        knowledge allows it to graphs that keep to it.
        """
        if self.score.groups:
            return start
        parents, allowed = list(start.parents), self.found.masks[0]
        for j, place in zip(
            random.integers(self.p, size=TURNS * self.p).tolist(), random.random(TURNS * self.p).tolist(), strict=True
        ):
            own = members(parents[j])
            if own:
                i = own[int(place * len(own))]
                if parents[j] == parents[i] | 1 << i and allowed[i] >> j & 1:
                    parents[j], parents[i] = parents[i], parents[i] | 1 << j
        order = self.found.topological(parents)
        return replace(start, parents=tuple(parents), order=order) if len(order) == self.p else start

    def _in_reach(self, search: OrderSearch, best: Optimum, first: Optimum, other: Optimum) -> bool:
        """Return whether a search from another graph may end below the best, which one from the first graph has led to."""
        before, start = (
            self.score.total(
                Walk(Sampler(search, self.score, self.score.local(one.v, one.edges)), one.parents).v, one.edges
            )
            for one in (first, other)
        )
        return start - best.score < REACH * (before - best.score)

    def _drawn_from(self, variances: LogVariances, random: np.random.Generator) -> Draw:
        """Draw from all graphs."""
        assert self.every is not None
        weights = self.every.weights(self.score, variances)
        drawn = self.every.graphs[int(np.searchsorted(np.cumsum(weights), random.random() * (1.0 - 1e-12)))]
        return Draw(self.every.arrows(weights), unpacked_columns(drawn.tolist(), self.p))

    def _near_best(self, changed: Changed, random: np.random.Generator) -> Draw:
        """Search from the graphs of the table where equations differ, turn arrows as long as that helps, and walk under the bound there."""
        problem, found = Problem(self.score, changed, self.found.known), []
        for start in self.found.optima[:STARTS]:
            start = problem.fitted(start.parents, start.order)
            search = OrderSearch(known=self.masks, **changed.bound(start.parents))
            near = search.descend_once(self.score, start)
            best = problem.fitted(near.parents, near.order)
            while (turned := problem.best_single_change(best, turns_alone=True)) is not None:
                best = turned
            found.append(best)
        best = min(found, key=lambda one: one.score)
        return self._walked(OrderSearch(known=self.masks, **changed.bound(best.parents)), best, random)

    def _walked(self, search: OrderSearch, best: Optimum, random: np.random.Generator) -> Draw:
        walk = Walk(Sampler(search, self.score, self.score.local(best.v, best.edges)), best.parents)
        counted = min(max(STEPS * (self.p - search.free), FEWEST_STEPS), MOST_STEPS)
        for steps in (counted // 2, counted):
            walk.start_counting()
            walk.go(random.random((steps, 4)), self.stop)
        return Draw(walk.shares(counted), walk.F >= 0)
