"""`Posterior`: how probable every arrow is under the pooled score, averaged over resamples of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.errors import OrdagError
from ordag.graph.acyclic import transitive_closure
from ordag.learners.order_search.engine import Optimum
from ordag.learners.pooled.resampled import Resampled, redrawn
from ordag.learners.pooled.result import PooledResult
from ordag.model.sem import LinearSEM

Arrows = TypeVar("Arrows", Array, Mask)

LIKELY, JOINED = 0.5, 0.8
"""The probability of an arrow above which the graph has it, and that of an edge from which on the pair is joined."""

MOST_VARIABLES = 200
"""Variables up to which probabilities are worked out without being asked for."""

FEWEST, MOST, VARIABLES = 128, 256, 10
"""Resamples at least and at most, and variables from which on they are fewer, because each takes longer."""

BATCH = 64
"""Resamples between two looks at the error."""

PRECISE, SETTLED = 0.02, 0.05
"""The standard error of the least certain arrow at which more resamples are not needed, and beyond which no probability is given."""

LIKELY_ENOUGH, ON_PATHS = 0.15, 0.3
"""The probability of an arrow from which on effects go through it, and from which on it counts for the probability of a path. A path is
there where one arrow too many is, and every resample has a few that chance made: each is rare, but with all of them paths are said twice
as often as they are there. Intervals of effects need the less probable arrows, too, to hold the truth as often as they should."""

CLASS = 0.9
"""The share of the drawn graphs with an edge whose own class has its arrow, from which on the arrow is said to follow from the class."""


class Models(Protocol):
    """Resamples to which graphs can be fitted."""

    def model(self, seed: np.random.SeedSequence, graph: Mask) -> LinearSEM: ...


@dataclass(frozen=True)
class Probabilities:
    """The probability of i → j at [i, j], in the columns' own order.

    kind: "rows" for resamples of the rows, "moments" for Gaussian ones with the moments of the table.
    draws: resamples. errors: the standard error of every probability, from how much the resamples differ, and how much the halves of the
    searches do that they begin with. searches: the largest part of the latter.
    compelled: the share of graphs, one drawn for every resample, whose own equivalence class has i → j. told: the same for the classes
    that experiments or environments leave, None without any. causes: the probability of an arrow from each category that may be a cause,
    [c, j].
    """

    arrows: Array
    kind: str
    draws: int
    errors: Array
    compelled: Array
    told: Array | None = None
    causes: Array | None = None
    searches: float = 0.0

    @property
    def joined(self) -> Array:
        """The probability of an edge between i and j, whichever way."""
        return self.arrows + self.arrows.T

    @property
    def error(self) -> float:
        """The standard error of the least certain probability."""
        return float(self.errors.max(initial=0.0))

    @property
    def settled(self) -> bool:
        """Whether there are enough resamples for the least certain arrow, and the searches that they begin with agree on it."""
        return self.error <= SETTLED

    @property
    def remedy(self) -> str:
        """What settles the probabilities."""
        if self.searches <= SETTLED:
            return "ask for more resamples with draws=… (--draws)"
        return "searches end in different graphs; longer ones may agree, with kicks=500 (--kicks 500)"

    @property
    def sentence(self) -> str:
        """Where the probabilities come from."""
        what = "the rows" if self.kind == "rows" else "Gaussian rows with these moments"
        more = "" if self.settled else f": {self.remedy}"
        error = f"of up to {self.error:.2f}" if self.error >= 0.005 else "below 0.01"
        return (
            f"Probabilities are averages over {self.draws:,} resamples of {what}, with standard errors {error}{more}."
        )

    def to_dict(self) -> dict[str, object]:
        return {"kind": self.kind, "draws": self.draws, "error": self.error, "settled": self.settled}


class Posterior:
    """Where the probabilities of a fit come from."""

    def __init__(
        self, found: PooledResult, order: NDArray[np.intp], draws: int | None, seed: np.random.SeedSequence
    ) -> None:
        self._found, self.order, self._seed = found, order, seed
        self._most = usual_draws(found.score.p) if draws is None else int(draws)
        self._precise = PRECISE if draws is None else 0.0
        self._known: dict[str, Probabilities] = {}
        self._graphs: dict[str, list[NDArray[np.uint8]]] = {}
        self._hasty = False

    @property
    def quick(self) -> bool:
        """Whether the probabilities are there already, or none are asked for."""
        return bool(self._known) or not self._most

    def unweighed(self) -> Posterior:
        """Return the same result without its slow parts: no probabilities, and no class."""
        twin = Posterior(self._found, self.order, 0, self._seed)
        twin._hasty = True
        return twin

    def probabilities(self, rows: Array | None) -> Probabilities | None:
        """Return the probabilities by resamples of these rows, an even share of all, or by the moments alone; computed once.

        None where there are too many variables to resample unasked, or none were asked for.
        """
        kind = "moments" if rows is None else "rows"
        if self._most and kind not in self._known:
            self._known[kind] = self._averages(kind, None if rows is None else rows[:, self.order])
        return self._known.get(kind)

    def _resampled(self, rows: Array | None) -> Resampled:
        """Return the posterior in resamples of rows with the columns in the order of the moments."""
        return Resampled(self._found, rows)

    def _redrawn(self, rows: Array | None) -> Models:
        """Return resamples of such rows at full strength."""
        return redrawn(self._found, rows, strength=1.0)

    def _averages(self, kind: str, rows: Array | None) -> Probabilities:
        resampled, seeds = self._resampled(rows), children(self._seed, self._most)
        compelled, told, graphs, errors, halves, count = [], [], [], np.zeros(0), np.zeros(()), 0
        total, squares, between = np.zeros(()), np.zeros(()), np.zeros(())
        equations = self._found.equations
        apart = None if equations is None or not equations.targets else equations.told_apart
        for first in range(0, self._most, BATCH):
            draws = resampled.run(seeds[first : first + BATCH])
            for one in draws:
                total, squares, count = total + one.arrows, squares + np.square(one.arrows), count + 1
                between = between if one.apart is None else between + one.apart
            compelled += [self._found.compelled_in(one.graph) for one in draws]
            if apart is not None:
                each = [apart if one.told_apart is None else one.told_apart for one in draws]
                told += [self._found.compelled_in(one.graph, own) for one, own in zip(draws, each, strict=True)]
            graphs += [np.packbits(one.graph) for one in draws]
            variance = np.maximum(squares - np.square(total) / count, 0.0) / max(count - 1, 1)
            halves = np.abs(between) / (2.0 * count)  # the error of the mean of two
            errors = np.hypot(np.sqrt(variance / count), halves)
            if errors.max() <= self._precise:
                break
        self._graphs[kind] = graphs
        mean, p = np.asarray(total / count), len(self.order)
        averages = mean[:p], errors[:p], np.mean(compelled, axis=0)
        whole, errors, shares = (self._by_column(one) for one in averages)
        by_told = self._by_column(np.mean(told, axis=0)) if told else None
        return Probabilities(
            whole, kind, count, errors, shares, by_told, self._of_causes(mean[p:]), float(halves.max())
        )

    def effects(self, rows: Array | None) -> Iterator[Array]:
        """Yield the total effects in every resample, of i on j at [i, j]: those of its model."""
        for model in self._models(rows):
            yield self._by_column(model.total_effects())

    def models(self, rows: Array | None) -> Iterator[tuple[Array, Array]]:
        """Yield B and the error variances of the model in every resample."""
        for model in self._models(rows):
            omega = np.empty(len(self.order))
            omega[self.order] = model.omega
            yield self._by_column(model.B), omega

    def _models(self, rows: Array | None) -> Iterator[LinearSEM]:
        """Yield the graph that was drawn for every resample, fitted to it, over the positions of the order.

        They are fitted at full strength, so that they vary as estimates do. A resample to which its graph cannot be fitted is left out.
        """
        drawn = self._drawn(rows)
        resamples = self._redrawn(None if rows is None else rows[:, self.order])
        for seed, graph in zip(children(self._seed, len(drawn)), drawn, strict=True):
            try:
                yield resamples.model(seed, graph)
            except OrdagError:
                continue

    def graphs(self, rows: Array | None) -> Iterator[Mask]:
        """Yield the graph that was drawn for every resample, without arrows of little probability."""
        for graph in self._drawn(rows):
            yield self._by_column(graph[: len(self.order)])

    def causes(self, rows: Array | None) -> Iterator[Mask]:
        """Yield the arrows from categories, [c, j], of the graph that was drawn for every resample."""
        for graph in self._drawn(rows):
            yield self._of_causes(graph[len(self.order) :])

    def _of_causes(self, by_position: Arrows) -> Arrows:
        """Return arrows from categories to positions as arrows to columns."""
        arrows = np.zeros_like(by_position)
        arrows[:, self.order] = by_position
        return arrows

    def paths(self, rows: Array | None) -> Array:
        """Return the probability of a directed path from i to j at [i, j], which is at least that of the arrow.

        It is the share of the graphs drawn for the resamples that have one over arrows from `ON_PATHS` on.
        """
        probabilities = self.probabilities(rows)
        assert probabilities is not None
        likely = probabilities.arrows >= ON_PATHS
        there = [transitive_closure(graph & likely) for graph in self.graphs(rows)]
        return np.maximum(np.mean(there, axis=0), probabilities.arrows)

    def _drawn(self, rows: Array | None) -> list[Mask]:
        """Return the graph of every resample without arrows that are not `LIKELY_ENOUGH`, over the positions of the order.

        Arrows from categories are further rows.
        """
        probabilities = self.probabilities(rows)
        if probabilities is None:
            return []
        p, likely = len(self.order), (probabilities.arrows >= LIKELY_ENOUGH)[np.ix_(self.order, self.order)]
        if probabilities.causes is not None:
            likely = np.concatenate([likely, (probabilities.causes >= LIKELY_ENOUGH)[:, self.order]])
        size, graphs = len(likely), self._graphs[probabilities.kind]
        return [np.unpackbits(bits, count=size * p).reshape(size, p).astype(bool) & likely for bits in graphs]

    def compelled(self, rows: Array | None) -> Mask:
        """Return the arrows compelled by the class; without resamples, by the best class found without error variances."""
        if self._hasty:
            return np.zeros((len(self.order),) * 2, dtype=bool)
        probabilities = self.probabilities(rows)
        if probabilities is None:
            return self._by_column(self._found.compelled_in(self._found.free.adjacency()))
        # where no error variances are compared, the class alone speaks for a direction
        alone = not self._found.score.groups and probabilities.told is None
        return _shared(probabilities.arrows if alone else probabilities.compelled, probabilities)

    def told_by_conditions(self, rows: Array | None) -> Mask:
        """Return the arrows compelled in the equivalence class that experiments or environments leave."""
        probabilities, none = None if self._hasty else self.probabilities(rows), np.zeros((len(self.order),) * 2, bool)
        if probabilities is None or probabilities.told is None:
            return none
        return _shared(probabilities.told if self._found.score.groups else probabilities.arrows, probabilities)

    def consensus(self, rows: Array | None) -> Optimum | None:
        """Return the graph that the probabilities support, over the positions of the order; None without probabilities."""
        probabilities, known = self.probabilities(rows), self._found.known
        if probabilities is None:
            return None
        arrows = probabilities.arrows[np.ix_(self.order, self.order)]
        return self._found.scored(consensus(arrows, None if known is None else known.before))

    def _by_column(self, by_position: Arrows) -> Arrows:
        """Arrows between positions of the order as arrows between columns."""
        arrows = np.zeros_like(by_position)
        arrows[np.ix_(self.order, self.order)] = by_position
        return arrows


def _shared(share: Array, probabilities: Probabilities) -> Mask:
    """Return the arrows, more probable than not, that nine tenths of the graphs with the edge have in their class."""
    return np.asarray((share >= CLASS * probabilities.joined) & (probabilities.arrows > 0.5))


def children(seed: np.random.SeedSequence, count: int) -> list[np.random.SeedSequence]:
    """Return the seeds that `spawn` would give at first, without changing this one."""
    return [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k)) for k in range(count)]


def usual_draws(p: int) -> int:
    """So many that they take a second or two."""
    return max(FEWEST, MOST * VARIABLES // max(p, VARIABLES)) if p <= MOST_VARIABLES else 0


def consensus(arrows: Array, before: Mask | None = None) -> Mask:
    """Return the DAG of the most probable arrows: [i, j] of `arrows` is the probability of i → j.

    A pair is joined if one of its arrows, or an edge of either direction, is probable enough; it then has its more probable arrow. Arrows
    are added by decreasing probability unless they make a cycle with those added and with `before`, the partial order of knowledge.
    So the graph has nearly the fewest expected wrong entries, and no arrow whose reverse is more probable.
    """
    p = len(arrows)
    graph = np.zeros((p, p), dtype=bool)
    reaches = np.eye(p, dtype=bool) if before is None else transitive_closure(before) | np.eye(p, dtype=bool)
    more = (arrows > arrows.T) | ((arrows == arrows.T) & ~np.tri(p, dtype=bool))
    i, j = np.nonzero(more & ((arrows > LIKELY) | (arrows + arrows.T >= JOINED)))
    for k in np.argsort(-arrows[i, j], kind="stable"):
        a, b = i[k], j[k]
        if not reaches[b, a]:
            graph[a, b] = True
            reaches |= np.outer(reaches[:, a], reaches[b])
    return graph
