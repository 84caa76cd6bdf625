r"""Total causal effects in a model, and their standard errors given the graph.

In the model x = intercept + xB + e, raising $x_a$ by one from outside raises $x_b$ by the sum over all directed paths from
a to b of the products of their weights, which is $T_{ab}$ with $T = (I - B)^{-1} = I + B + B^2 + \dots$
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.special import ndtri

from ordag.common.arrays import Array, Mask
from ordag.common.checks import short
from ordag.common.linalg import lengths, triangle
from ordag.common.markup import MOST_ROWS, arrow, card, sentence, table
from ordag.common.plain import Document, frame
from ordag.common.words import about, counted, did_you_mean, harmless, joined, listed, number, share, shown
from ordag.errors import ColumnError, SettingError
from ordag.graph.links import Links
from ordag.model.refit import robustness_value
from ordag.model.sem import LinearSEM

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["posterior", "bootstrap", "given-graph"]
KINDS: tuple[Kind, ...] = ("posterior", "bootstrap", "given-graph")

FEWEST_PATHS = 20
"""The least number of graphs with a path for an interval: percentiles of fewer are too close together."""

IMPROBABLE = 0.05
"""The share of graphs with a path below which a path is called improbable."""


@dataclass(frozen=True)
class Effect(Document):
    """The total effect of `source` on `target`: how much the target changes when the source is raised by one.

    estimate: that of the learned graph, 0 where no directed path was found in it.
    interval: the source of the other numbers: "posterior" (graphs drawn for the resamples that the probabilities of arrows are averaged
        over, each fitted to its resample), "bootstrap" (the graph learned again from every resample), or "given-graph" (as if the graph
        had been known).
    std_error, low, high, median: over the graphs that have a directed path; nan where fewer than 20 have one (the median where none
        has), and for a model that was not fitted to rows. mean: over all graphs, 0 where there is no path.
    path_found: whether the learned graph has a directed path. probability: of a path, the share of the graphs drawn from the posterior that
        have one over arrows that are not improbable. path_support: the share of resamples in whose learned graph there is one. Both are
        nan where there are none.
    robustness: the share of the residual variance of both that a hidden common cause would have to explain to reduce the effect to zero
        (`ordag.model.refit.robustness_value`); nan without a path in the learned graph.
    replicates: the number of resamples.
    wrong: the share of the arrows of the learned graph that is expected wrong, nan where unknown. cautions: reasons to doubt the
        graph, each with what to do about it. last_steps: `LinearSEM.last_steps` of the learned model.
    """

    source: str
    target: str
    estimate: float
    std_error: float
    low: float
    high: float
    level: float
    interval: Kind
    median: float
    mean: float
    path_found: bool
    probability: float
    path_support: float
    robustness: float
    replicates: int
    wrong: float = math.nan
    cautions: tuple[str, ...] = ()
    last_steps: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, None where unknown."""
        values = {key: None if value != value else value for key, value in vars(self).items()}
        return {**values, "cautions": list(self.cautions), "last_steps": dict(self.last_steps)}

    def __str__(self) -> str:
        """Lines on the effect and its parts; then the expected share of wrong arrows, and one line for each caution."""
        lines = [f"{shown(self.source)} → {shown(self.target)}: {self._size}", self._steps, self.certainty]
        if self.wrong == self.wrong:
            lines.append(f"Of the arrows of the learned graph {about(self.wrong)} are expected wrong.")
        return "\n".join(filter(None, [*lines, *map(harmless, self.cautions)]))

    @property
    def _share(self) -> float:
        """The share of graphs with a path; nan where there is only one graph."""
        return self.path_support if self.interval == "bootstrap" else self.probability

    @property
    def _size(self) -> str:
        """The size of the effect, in words."""
        if self._share < IMPROBABLE:
            return "there is probably no directed path"
        estimate, known = (self.estimate if self.path_found else self.median), self.low == self.low
        ends = f"{100 * self.level:g} % interval {self.low:.3g} to {self.high:.3g}" if known else "no interval"
        if estimate != estimate:
            return "no size, as no resample has a path, which does not show that there is none"
        if self.interval != "given-graph":
            few = "" if known else f", as fewer than {FEWEST_PATHS} resamples have one"
            return f"{estimate:.3g} per unit if there is a path; {ends}{few}"
        if not self.path_found:
            return "no directed path was found in the learned graph, which does not show that there is none"
        return f"{estimate:.3g} per unit, {ends}, if the learned graph is right"

    @property
    def _steps(self) -> str:
        """The direct part of the effect and those through other variables, in words; "" if there is one part."""
        if len(self.last_steps) < 2:
            return ""
        parts = [
            f"{number(part, 3)} {'directly' if name == self.source else f'through {shown(name)}'}"
            for name, part in self.last_steps.items()
        ]
        return f"In the learned graph {joined(parts, 4)}."

    @property
    def certainty(self) -> str:
        """The probability of a directed path, and the strength of a hidden common cause that could explain the effect, in words."""
        return " ".join([*self._path, *self._robust])

    @property
    def _path(self) -> list[str]:
        if self._share != self._share:
            return []
        text = f"Probability of a path: {share(self.probability)}."
        if self.interval == "bootstrap":
            text = f"Resamples with a path: {share(self.path_support)} of {self.replicates}."
        surprising = self.path_found != (self._share >= IMPROBABLE)
        return [text, f"The learned graph has {'one' if self.path_found else 'none'}."] if surprising else [text]

    @property
    def _robust(self) -> list[str]:
        if self.robustness != self.robustness or self._share < IMPROBABLE:
            return []
        explained = share(self.robustness)
        return [
            f"A hidden common cause would have to explain {explained} of the residual variance of both to reduce it to zero."
        ]


@dataclass(frozen=True, eq=False)
class Effects:
    """All total effects: that of i on j at [i, j]. For the fields see `Effect`."""

    names: tuple[str, ...]
    estimate: Array
    std_error: Array
    low: Array
    high: Array
    level: float
    interval: Kind
    median: Array
    mean: Array
    path_found: Mask
    probability: Array
    path_support: Array
    robustness: Array
    replicates: int

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each pair with a path in the learned graph: source, target, estimate, std_error, low, high."""
        source, target = np.nonzero(self.path_found)
        columns: dict[str, Any] = {"source": [self.names[i] for i in source], "target": [self.names[j] for j in target]}
        for name in ("estimate", "std_error", "low", "high"):
            columns[name] = getattr(self, name)[source, target]
        return frame(columns)

    def _repr_html_(self) -> str:
        source, target = np.nonzero(self.path_found)
        first = zip(source[:MOST_ROWS].tolist(), target[:MOST_ROWS].tolist(), strict=True)
        rows = (
            [
                arrow(self.names[i], self.names[j]),
                *(number(float(one[i, j])) for one in (self.estimate, self.low, self.high)),
            ]
            for i, j in first
        )
        title = f"Effects: {counted(len(self.names), 'variable')}, {counted(len(source), 'pair')} with a path"
        made = f"Intervals of {self.level:.0%}, " + (
            "taking the graph for granted"
            if self.interval == "given-graph"
            else f"given a path, from {counted(self.replicates, 'resample')}"
        )
        return card(
            title,
            table(["total effect", "estimate", "low", "high"], rows, total=len(source), where=": see .table"),
            sentence(made, "note"),
        )

    def of(self, source: str, target: str) -> Effect:
        """Return the effect of one variable on another."""
        i, j = check_pair(source, target, self.names)
        numbers: dict[str, Any] = {
            name: float(values[i, j]) + 0.0 for name, values in vars(self).items() if isinstance(values, np.ndarray)
        }
        numbers["path_found"] = bool(self.path_found[i, j])
        return Effect(
            source=source,
            target=target,
            level=self.level,
            interval=self.interval,
            replicates=self.replicates,
            **numbers,
        )


def effects_given_graph(sem: LinearSEM, R: Array | None, level: float) -> Effects:
    """All total effects with normal intervals; R is the root of the scatter that the model was fitted to, None if it was not fitted."""
    effects = sem.total_effects()
    path, unknown = effects != 0, np.full(effects.shape, np.nan)
    std_error = unknown if R is None else np.sqrt(effect_variances(sem, R, effects))
    reach = float(ndtri(0.5 + level / 2.0)) * std_error
    return Effects(
        names=sem.names,
        estimate=effects,
        std_error=std_error,
        low=effects - reach,
        high=effects + reach,
        level=level,
        interval="given-graph",
        median=unknown,
        mean=unknown,
        path_found=path,
        probability=unknown,
        path_support=unknown,
        robustness=unknown if R is None else effect_robustness(R, sem.dag.links, effects, path),
        replicates=0,
    )


def effect_variances(sem: LinearSEM, R: Array, effects: Array) -> Array:
    r"""Return the variance of every total effect, given the graph, by the delta method (docs/bootstrap.md has the derivation).

    $\operatorname{var} T_{ab} = \sum_j T_{jb}^2\, q_{aj}$ with $q_{aj} = \omega_j T_{aP} (R_P^\top R_P)^{-1} T_{aP}^\top$ for the
    parents P of j: with U the triangular factor of $R_P$, $\omega_j$ times the squared length of $U^{-\top} T_{aP}^\top$.
    """
    T = effects + np.eye(len(effects))
    variances: Array = spreads(sem, R, T) @ np.square(T)
    np.fill_diagonal(variances, 0.0)
    return variances


def spreads(sem: LinearSEM, R: Array, rows: Array) -> Array:
    """Return the q of `effect_variances`, one for every one of `rows`, which stand for the rows of T, and every equation."""
    q = np.zeros_like(rows)
    for j in range(len(sem.names)):
        P = sem.dag.links.turned.row(j)
        if len(P):
            U = triangle(R[: P.max() + 1, P])  # R is triangular: zeros below
            reached = np.flatnonzero(rows[:, P].any(axis=1))
            half = solve_triangular(U, rows[np.ix_(reached, P)].T, trans="T", check_finite=False)
            q[reached, j] = sem.omega[j] * np.square(half).sum(axis=0)
    return q


def effect_robustness(R: Array, links: Links, effects: Array, wanted: Mask) -> Array:
    """Return the robustness value of the effect of a on b at [a, b] where `wanted`, else nan.

    A hidden cause moves the effect by what it moves the weight of a in the regression of b on a and the parents of a, which block all
    other paths from a to b. R is the root of the scatter, and with u the part of its column a that its parents leave, f is the length of
    u times the effect, divided by the length of what all of them leave of column b.
    """
    values = np.full(wanted.shape, np.nan)
    for a in np.flatnonzero(wanted.any(axis=1)).tolist():
        b = np.flatnonzero(wanted[a])
        Q, U = qr(R[:, [*links.turned.row(a).tolist(), a]], mode="economic", check_finite=False)
        left = lengths(R[:, b] - Q @ (Q.T @ R[:, b]))
        with np.errstate(divide="ignore", invalid="ignore"):
            values[a, b] = robustness_value(np.abs(effects[a, b] * U[-1, -1]) / left)
    return values


def check_pair(source: str, target: str, names: tuple[str, ...]) -> tuple[int, int]:
    """Return the columns of two different variables."""
    i, j = _column(source, names), _column(target, names)
    if i == j:
        raise SettingError(f"source=… and target=… are both {shown(source)}: give two different variables.")
    return i, j


def _column(name: str, names: tuple[str, ...]) -> int:
    if not isinstance(name, str) or name not in names:
        hint = did_you_mean(name, names) if isinstance(name, str) else ""
        raise ColumnError(f"There is no variable {short(name)}.{hint} The variables are {listed(names)}.")
    return names.index(name)
