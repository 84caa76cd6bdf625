r"""Graphs drawn from the posterior exp(−score), for the probability of every arrow where there are many variables.

A Markov chain over DAGs with three kinds of steps, each accepted by the rule of Metropolis and Hastings:

- *toggle*: a variable j gains or loses one parent, drawn with weights $e^{-\Delta/2}$ for the change Δ of a sum over variables
  near the score (a locally balanced proposal, Zanella 2020). What j may gain does not depend on its parents, so the way back has
  the same candidates.
- *turn*: an arrow is turned round. For a covered one that changes the pooling alone.
- *swap*: a parent of j is replaced by another variable.

Arrows are counted over all steps. Orders are not sampled: each graph would count as often as it has orders, an empty one p! times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.bits import members, union
from ordag.learners.pooled.score import Local, PooledScore
from ordag.learners.pooled.variances import LogVariances

TOGGLE, TURN = 0.5, 0.85
"""Shares of the steps that are toggles, and that are toggles or turns."""

MEMORY = 2**26
"""Bytes of candidate tables that are kept; past that all are forgotten."""


@dataclass(frozen=True)
class Chain:
    """The share of steps with i → j at [i, j], and the same for every tenth of the chain."""

    arrows: Array
    tenths: Array


class Sampler:
    """What the chains over one table share. `allowed[j]` and `required[j]` are bitmasks of possible and certain parents."""

    def __init__(
        self,
        score: PooledScore,
        variances: LogVariances,
        near: Local,
        allowed: Sequence[int],
        required: Sequence[int],
    ) -> None:
        self.score, self.variances, self.near = score, variances, near
        self.allowed, self.required = allowed, required
        self.pooling = [score.pooling_table(len(g)) for g in score.groups]
        self.group_of = [-1] * score.p
        for number, group in enumerate(score.groups):
            for j in group.tolist():
                self.group_of[j] = number
        self.prior = [score.edge_prior(k) for k in range(score.pairs + 1)]
        self._tables: dict[tuple[int, int], _Toggles] = {}
        self._capacity = MEMORY // (40 * score.p + 400)

    def run(self, parents: Sequence[int], steps: int, random: np.random.Generator) -> Chain:
        """A chain of so many steps from a graph; the first tenth is not counted."""
        state = _State(self, parents)
        counted = steps - steps // 10
        lengths = np.diff([counted * k // 10 for k in range(11)])
        shares = []
        for length in (steps // 10, *lengths.tolist()):
            state.start_counting()
            for _ in range(length):
                state.step(random)
            shares.append(state.shares())
        tenths = np.array(shares[1:])
        return Chain(np.tensordot(lengths / lengths.sum(), tenths, 1), tenths)

    def toggles(self, j: int, parents: int) -> _Toggles:
        """Who could join or leave the parents of j."""
        found = self._tables.get((j, parents))
        if found is None:
            if len(self._tables) >= self._capacity:
                self._tables.clear()
            found = self._tables[j, parents] = self._make(j, parents)
        return found

    def _make(self, j: int, parents: int) -> _Toggles:
        near, v = self.near, self.variances.log_variance(j, parents)
        joining, values = self.variances.candidates(j, parents, math.inf)
        open_ = self.allowed[j] & ~parents
        keep = [k for k, node in enumerate(joining) if open_ >> node & 1]
        nodes = np.array([joining[k] for k in keep], dtype=np.intp)
        v_new = np.array([values[k] for k in keep])
        change = near.terms(j, v_new) - near.term(j, v) + near.price
        if parents:
            leaving, without = self.variances.log_dropping(j, parents)
            may_go = np.array([not self.required[j] >> int(node) & 1 for node in leaving], dtype=bool)
            leaving, without = leaving[may_go], without[may_go]
            loss = near.terms(j, without) - near.term(j, v) - near.price
            nodes, v_new = np.concatenate([nodes, leaving]), np.concatenate([v_new, without])
            change = np.concatenate([change, loss])
        joins = np.arange(len(nodes)) < len(keep)
        weights = np.exp(-np.clip(change, -60.0, 60.0) / 2.0)
        return _Toggles(nodes, v_new, weights, joins, {int(node): k for k, node in enumerate(nodes)})


@dataclass(frozen=True, slots=True)
class _Toggles:
    """Who can join or leave the parents of a variable, its log variance then, and the weights to draw them with."""

    nodes: NDArray[np.intp]
    v_new: Array
    weights: Array
    joins: NDArray[np.bool_]
    at: dict[int, int]
    _last: list[tuple[int, Array]] = field(default_factory=list)

    def possible(self, descendants: int) -> Array:
        """The weights, 0 for those who cannot join because the variable leads to them. Those of the last call are kept."""
        if not self._last or self._last[0][0] != descendants:
            closed = [descendants >> node & 1 for node in self.nodes.tolist()]
            weights = np.where(closed, np.where(self.joins, 0.0, self.weights), self.weights)
            self._last[:] = [(descendants, weights)]
        return self._last[0][1]


class _State:
    """A graph on its way, with the sums that its score is made of."""

    def __init__(self, sampler: Sampler, parents: Sequence[int]) -> None:
        p = sampler.score.p
        self.sampler = sampler
        self.parents = list(parents)
        self.children = [0] * p
        self.edges: list[tuple[int, int]] = []
        self.place: dict[tuple[int, int], int] = {}
        self.since: dict[tuple[int, int], int] = {}
        self.counts = np.zeros((p, p))
        self.time = self.start = 0
        self.v = [sampler.variances.log_variance(j, mask) for j, mask in enumerate(parents)]
        self.centre = [sum(self.v[j] for j in g) / len(g) for g in sampler.score.groups]
        self.sums = [0.0] * len(self.centre)
        self.squares = [0.0] * len(self.centre)
        for number, group in enumerate(sampler.score.groups):
            away = [self.v[j] - self.centre[number] for j in group]
            self.sums[number], self.squares[number] = sum(away), sum(a * a for a in away)
        for j, mask in enumerate(parents):
            for i in members(mask):
                self._link(i, j)

    def step(self, random: np.random.Generator) -> None:
        kind = random.random()
        if kind < TOGGLE:
            self._toggle(random)
        elif not self.edges:
            pass  # nothing to turn or swap: a toggle instead would leave the empty graph more often than it is come to
        elif kind < TURN:
            self._turn(random)
        else:
            self._swap(random)
        self.time += 1

    def _toggle(self, random: np.random.Generator) -> None:
        j = int(random.integers(len(self.parents)))
        now, descendants = self.sampler.toggles(j, self.parents[j]), self._descendants(j)
        here = now.possible(descendants)
        k = _drawn(here, random)
        if k is None:
            return
        i = int(now.nodes[k])
        parents = self.parents[j] ^ 1 << i
        after = self.sampler.toggles(j, parents)
        there, back = after.possible(descendants), after.at.get(i)
        if back is not None and there[back] > 0.0:
            log_ratio = math.log(there[back] / there.sum()) - math.log(here[k] / here.sum())
            self._propose(random, log_ratio, {j: (parents, float(now.v_new[k]))})

    def _turn(self, random: np.random.Generator) -> None:
        sampler = self.sampler
        i, j = self.edges[int(random.integers(len(self.edges)))]
        if not sampler.allowed[i] >> j & 1 or sampler.required[j] >> i & 1:
            return
        if self.parents[i].bit_count() >= sampler.variances.most or self._descendants(i, without=j) >> j & 1:
            return
        new = {i: self.parents[i] | 1 << j, j: self.parents[j] & ~(1 << i)}
        log_variance = sampler.variances.log_variance
        self._propose(random, 0.0, {node: (parents, log_variance(node, parents)) for node, parents in new.items()})

    def _swap(self, random: np.random.Generator) -> None:
        a, j = self.edges[int(random.integers(len(self.edges)))]
        if self.sampler.required[j] >> a & 1:
            return
        others = self.parents[j] & ~(1 << a)
        base = self.sampler.toggles(j, others)
        weights = np.where(base.joins, base.possible(self._descendants(j)), 0.0)
        k, back = _drawn(weights, random), base.at.get(a)
        if k is not None and back is not None and k != back:
            log_ratio = math.log(weights[back] / weights[k])
            self._propose(random, log_ratio, {j: (others | 1 << int(base.nodes[k]), float(base.v_new[k]))})

    def _propose(self, random: np.random.Generator, log_ratio: float, new: dict[int, tuple[int, float]]) -> None:
        """Accept or refuse a step that gives some variables these parents and log variances.

        `log_ratio` is that of the probabilities with which the step back and this one are proposed.
        """
        edges = sum(parents.bit_count() - self.parents[j].bit_count() for j, (parents, _) in new.items())
        change = self._change({j: v for j, (_, v) in new.items()}, edges)
        if not math.log(random.random()) < log_ratio - change:
            return
        for j, (_, v) in new.items():
            number = self.sampler.group_of[j]
            if number >= 0:
                old_v, new_v = self.v[j] - self.centre[number], v - self.centre[number]
                self.sums[number] += new_v - old_v
                self.squares[number] += new_v * new_v - old_v * old_v
            self.v[j] = v
        for j, (parents, _) in new.items():
            for i in members(self.parents[j] & ~parents):
                self._unlink(i, j)
        for j, (parents, _) in new.items():
            for i in members(parents & ~self.parents[j]):
                self._link(i, j)

    def _change(self, values: dict[int, float], edges: int) -> float:
        """By how much the score would rise with these log variances and so many edges more."""
        sampler = self.sampler
        change = sampler.prior[len(self.edges) + edges] - sampler.prior[len(self.edges)] if edges else 0.0
        moved: dict[int, tuple[float, float]] = {}
        for j, v in values.items():
            change += sampler.near.half * (v - self.v[j])
            number = sampler.group_of[j]
            if number >= 0:
                old, new = self.v[j] - self.centre[number], v - self.centre[number]
                first, second = moved.get(number, (0.0, 0.0))
                moved[number] = first + new - old, second + new * new - old * old
        for number, (first, second) in moved.items():
            size = len(sampler.score.groups[number])
            before = self.squares[number] - self.sums[number] ** 2 / size
            after = self.squares[number] + second - (self.sums[number] + first) ** 2 / size
            change += sampler.pooling[number].value(after) - sampler.pooling[number].value(before)
        return change

    def _descendants(self, j: int, without: int = -1) -> int:
        """The descendants of j, as a bitmask, j included; without its own arrow to one of them."""
        reach = 1 << j
        front = self.children[j] if without < 0 else self.children[j] & ~(1 << without)
        while front:
            reach |= front
            front = union(self.children, front) & ~reach
        return reach

    def _link(self, i: int, j: int) -> None:
        self.parents[j] |= 1 << i
        self.children[i] |= 1 << j
        self.place[i, j] = len(self.edges)
        self.edges.append((i, j))
        self.since[i, j] = self.time

    def _unlink(self, i: int, j: int) -> None:
        self.parents[j] &= ~(1 << i)
        self.children[i] &= ~(1 << j)
        at, last = self.place.pop((i, j)), self.edges.pop()
        if last != (i, j):
            self.edges[at] = last
            self.place[last] = at
        self.counts[i, j] += self.time - self.since.pop((i, j))

    def start_counting(self) -> None:
        """Count from here on."""
        self.counts[:] = 0.0
        self.start = self.time
        self.since = dict.fromkeys(self.since, self.time)

    def shares(self) -> Array:
        """The share of the steps since `start_counting` that each arrow was there."""
        counts = self.counts.copy()
        for (i, j), since in self.since.items():
            counts[i, j] += self.time - since
        return counts / max(self.time - self.start, 1)


def _drawn(weights: Array, random: np.random.Generator) -> int | None:
    """A number drawn with these weights; None where all are zero."""
    total = float(weights.sum())
    if total <= 0.0:
        return None
    return min(int(np.searchsorted(np.cumsum(weights), random.random() * total)), len(weights) - 1)
