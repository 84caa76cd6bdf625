r"""Log variances where equations may differ between environments: the sum of `changed_fit` takes the place of n/2 · log(RSS/n).

With F_j(P) the least sum of variable j on parents P, $v_j = 2 F_j(P) / n - 1$: where no equation differs it is log(RSS/n). So the
pooled score, and whatever bounds it, stay as they are.

The compiled search over orders takes one matrix for each variable. At a graph with the weights b and variances s_e found, that of the
rows scaled by $\sqrt{s / s_e}$ has a log residual variance that touches v_j there and lies above it elsewhere (`Changed.bound`). Where an
environment has weights b_e of its own, what $b_e - b$ explains is taken out first: that still touches, but lies above only for more
parents, and knows no price of own weights. So graphs that it finds are fitted again, and single arrows are changed by v_j itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Indices
from ordag.common.bits import members
from ordag.common.linalg import triangle
from ordag.data.environments import FORBIDDEN, OWN, SHARED, VARIANCE, Environments
from ordag.data.equations import Equations
from ordag.data.moments import Moments
from ordag.learners.pooled.variances import ROWS_PER_PARENT, OwnVariances, own_log_variances


class ChangedEquation(NamedTuple):
    """The equation of a variable in every environment: its state and error variance there, the shared variance and weights."""

    v: float
    states: NDArray[np.int64]
    variances: Array
    shared: float
    weights: Array


class Changed:
    """Log variances of each variable, with the states of its equation in every environment chosen for every set of parents."""

    def __init__(self, environments: Environments, few: int = 0) -> None:
        self.environments = environments
        self.p, rows = environments.p, environments.rows
        self.each = rows
        self.n = min(rows)
        self.most = self.p if self.n >= few else max(self.n // ROWS_PER_PARENT, 1)
        self._few = few
        self._kernel = import_module("ordag.learners.pooled.changed_fit")  # brings the compiler
        self._roots = np.stack([np.ascontiguousarray(one.R) for one in environments.each])
        used = environments.degrees[:, None] * ~environments.left_out
        # as many in all as the rows count for
        self._degrees = np.ascontiguousarray((used * (np.array(rows) / np.maximum(used.sum(axis=0), 1.0))).T)
        may = np.where(environments.free[:, None], OWN, SHARED)
        self._may = np.ascontiguousarray(np.where(environments.left_out, FORBIDDEN, may).T)
        self._h = math.log(max(rows)) / 2.0
        self._c = math.log(max(self.p * (int(environments.free.sum()) - int(environments.free.all())), 1))
        E, size = len(environments.each), self.p + 1
        self._room = (np.zeros((E, size, size)), np.zeros((max(E * size, self.p), size)))
        self._out = (np.zeros(E, np.int64), np.ones(E), np.zeros(size))
        self._known: dict[tuple[int, int], float] = {}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that make these log variances again."""
        return {"environments": self.environments, "few": self._few}

    def log_variance(self, node: int, parents: int) -> float:
        key = node, parents
        if key not in self._known:
            total, _ = self._fit(node, parents)
            self._known[key] = self._v(node, total)
        return self._known[key]

    def equation(self, node: int, parents: int) -> ChangedEquation:
        """Return the equation of a variable on these parents in every environment."""
        total, shared = self._fit(node, parents)
        states, variances, weights = self._out
        own = weights[: parents.bit_count()].copy()
        return ChangedEquation(self._v(node, total), states.copy(), variances.copy(), shared, own)

    def candidates(self, node: int, parents: int, limit: float) -> tuple[list[int], list[float]]:
        if parents.bit_count() >= self.most:
            return [], []
        others = np.array([w for w in range(self.p) if w != node and not parents >> w & 1], np.int64)
        values = self._fits(node, parents, others, adding=True)
        for w, value in zip(others.tolist(), values.tolist(), strict=True):
            self._known[node, parents | 1 << w] = value
        able = np.flatnonzero(values < limit)
        best = able[values[able].argsort(kind="stable")]
        return others[best].tolist(), values[best].tolist()

    def log_dropping(self, node: int, parents: int) -> tuple[NDArray[np.intp], Array]:
        nodes = np.array(members(parents))
        return nodes, self._fits(node, parents, np.arange(len(nodes)), adding=False)

    def correlations(self) -> dict[str, Any]:
        return self._arguments(self._same.correlations(), np.zeros(self.p))

    def bound(self, parents: Sequence[int]) -> dict[str, Any]:
        """Return the arguments of `OrderSearch` for log variances near these, which touch them at a graph."""
        fitted = [self.equation(j, mask) for j, mask in enumerate(parents)]
        shared = self._same
        parts, which = list(shared.parts), list(shared.which)
        moments: list[Moments] = []
        place: dict[int, int] = {}
        for j, one in enumerate(fitted):
            if (one.states > SHARED).any():
                place[j] = len(moments)
                moments.append(self._moments(j, members(parents[j]), one))
        if moments:
            own = own_log_variances(
                Equations(tuple(moments), tuple(range(len(moments))), np.zeros((1, 1), int)), self._few
            )
            needs_root = [one.correlations().get("root") is not None for one in (own, shared)]
            if needs_root[0] != needs_root[1]:
                return self.correlations()
            which = [len(parts) + place[j] if j in place else which[j] for j in range(self.p)]
            parts += own.parts
        variances = OwnVariances(parts, which)
        above = [
            one.v - variances.log_variance(j, mask) for j, (one, mask) in enumerate(zip(fitted, parents, strict=True))
        ]
        return self._arguments(variances.correlations(), np.array(above))

    def alone(self, most: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the arguments of `OrderSearch` for the rows of each of the largest environments alone, by their labels."""
        each = self.environments.each
        for e in sorted(range(len(each)), key=lambda e: -each[e].n)[:most]:
            if each[e].n > self._few and not self.environments.left_out[e].any():
                own = own_log_variances(Equations((each[e],), (0,) * self.p, np.zeros((1, 1), int)), self._few)
                yield self.environments.labels[e], own.correlations()

    def equations(self, parents: Sequence[int]) -> Equations:
        """Return the equations that environments share in a graph."""
        return self.environments.equations(self.weights(parents))

    def weights(self, parents: Sequence[int]) -> Array:
        """Return the ratio of each variable's shared error variance to that in every environment; zero where its equation is another."""
        found = np.zeros((len(self.environments.each), self.p))
        for j, mask in enumerate(parents):
            one = self.equation(j, mask)
            found[:, j] = np.select(
                [one.states == SHARED, one.states == VARIANCE], [1.0, one.shared / one.variances], 0.0
            )
        return found

    @cached_property
    def _same(self) -> OwnVariances:
        """The log variances where no equation differs but by known experiments."""
        return own_log_variances(self.environments.equations(np.where(self.environments.left_out, 0.0, 1.0)), self._few)

    def _arguments(self, given: dict[str, Any], above: Array) -> dict[str, Any]:
        return given | {"scale": given["scale"] + above, "most": min(given["most"], self.most)}

    def _moments(self, j: int, parents: list[int], fitted: ChangedEquation) -> Moments:
        """Return the moments that bound the log variance of j from above."""
        blocks = []
        for one, state, variance in zip(self.environments.each, fitted.states, fitted.variances, strict=True):
            if state == FORBIDDEN:
                continue
            R = one.R * math.sqrt(fitted.shared / variance)
            if state == OWN:
                own = np.linalg.lstsq(R[:, parents], R[:, j], rcond=None)[0]
                R[:, j] -= R[:, parents] @ (own - fitted.weights)
            blocks.append(R)
        whole = self.environments.each[0]
        return Moments(self.each[j], whole.mean, whole.names, R=triangle(np.concatenate(blocks)))

    def _v(self, node: int, total: float) -> float:
        return 2.0 * total / self.each[node] - 1.0

    def _fit(self, node: int, parents: int) -> tuple[float, float]:
        own = np.array(members(parents), np.int64)
        given = self._roots, self._degrees[node], self._may[node], node, own, len(own), self._h, self._c
        total, shared = self._kernel.changed_fit(*given, *self._room, *self._out)
        return float(total), float(shared)

    def _fits(self, node: int, parents: int, others: Indices, *, adding: bool) -> Array:
        own, values = np.array(members(parents), np.int64), np.empty(len(others))
        given = self._roots, self._degrees[node], self._may[node], node, own, len(own), others, adding, self._h, self._c
        self._kernel.changed_fits(*given, *self._room, *self._out, values)
        return 2.0 * values / self.each[node] - 1.0
