r"""Total causal effects in a model: the records, and their standard errors given the graph.

In the model x = intercept + xB + e, raising $x_a$ by one from outside raises $x_b$ by the sum over all directed paths from
a to b of the products of their weights, which is $T_{ab}$ with $T = (I - B)^{-1} = I + B + B^2 + \dots$
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from ordag.arrays import Array, Mask
from ordag.checks import short
from ordag.errors import ColumnError, SettingError
from ordag.linalg import triangle
from ordag.markup import MOST_ROWS, arrow, card, sentence, table
from ordag.model.sem import LinearSEM
from ordag.words import counted, did_you_mean, listed, number, shown

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["bootstrap", "given-graph"]
KINDS: tuple[Kind, ...] = ("bootstrap", "given-graph")


@dataclass(frozen=True)
class Effect:
    """The total effect of `source` on `target`: how much the target changes when the source is raised by one.

    estimate: that of the learned graph, 0 where no directed path was found in it.
    interval: what `std_error`, `low` and `high` are from: "bootstrap" (the graph learned again from every resample), or
        "given-graph" (as if it had been known beforehand). They are nan for a model that was not fitted to rows.
    path_found: whether the learned graph has a directed path. path_support: the share of resamples whose graph has one, nan
        without resamples.
    replicates: how many resamples there were.
    """

    source: str
    target: str
    estimate: float
    std_error: float
    low: float
    high: float
    level: float
    interval: Kind
    path_found: bool
    path_support: float
    replicates: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for what is not known."""
        return {key: None if value != value else value for key, value in vars(self).items()}

    def __str__(self) -> str:
        """What was found, in one or two lines."""
        pair = f"{shown(self.source)} → {shown(self.target)}"
        level = f"{100 * self.level:g}% interval"
        if self.interval == "given-graph":
            if not self.path_found:
                return (
                    f"{pair}: no directed path was found in the learned graph, which does not show that there is none."
                )
            return (
                f"{pair}: {self.estimate:.4g} per unit, standard error {self.std_error:.2g}, {level} {self.low:.4g} to "
                f"{self.high:.4g}, if the learned graph is right"
            )
        support = f"{100 * self.path_support:.0f} % of {self.replicates} resamples have such a path"
        if not self.path_found:
            return f"{pair}: no directed path was found; {level} {self.low:.4g} to {self.high:.4g} ({support})"
        return (
            f"{pair}: {self.estimate:.4g} per unit, standard error {self.std_error:.2g}, {level} {self.low:.4g} to "
            f"{self.high:.4g}\nThe graph was learned again each time: {support}."
        )


@dataclass(frozen=True, eq=False)
class Effects:
    """All total effects: that of i on j at [i, j]. The fields are those of `Effect`."""

    names: tuple[str, ...]
    estimate: Array
    std_error: Array
    low: Array
    high: Array
    level: float
    interval: Kind
    path_found: Mask
    path_support: Array
    replicates: int

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each pair with a path in the learned graph: source, target, estimate, std_error, low, high."""
        import pandas as pd

        source, target = np.nonzero(self.path_found)
        columns: dict[str, Any] = {
            "source": [self.names[i] for i in source],
            "target": [self.names[j] for j in target],
        }
        for name in ("estimate", "std_error", "low", "high"):
            columns[name] = getattr(self, name)[source, target]
        return pd.DataFrame(columns)

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
            f"from {counted(self.replicates, 'resample')}"
            if self.interval == "bootstrap"
            else "taking the graph for granted"
        )
        return card(
            title,
            table(["total effect", "estimate", "low", "high"], rows, total=len(source), where=": see .table"),
            sentence(made, "note"),
        )

    def of(self, source: str, target: str) -> Effect:
        """That of one variable on another."""
        i, j = check_pair(source, target, self.names)
        numbers = {
            name: float(getattr(self, name)[i, j]) for name in ("estimate", "std_error", "low", "high", "path_support")
        }
        return Effect(
            source=source,
            target=target,
            level=self.level,
            interval=self.interval,
            path_found=bool(self.path_found[i, j]),
            replicates=self.replicates,
            **numbers,
        )


def effects_given_graph(sem: LinearSEM, R: Array | None, level: float) -> Effects:
    """The effects with normal intervals around them; R is the root of the scatter that the model was fitted to, None for a
    model that was not fitted to rows."""
    effects = sem.total_effects()
    unknown = np.full(effects.shape, np.nan)
    std_error = unknown if R is None else np.sqrt(effect_variances(sem, R, effects))
    reach = float(ndtri(0.5 + level / 2.0)) * std_error
    return Effects(
        sem.names, effects, std_error, effects - reach, effects + reach, level, "given-graph", effects != 0, unknown, 0
    )


def effect_variances(sem: LinearSEM, R: Array, effects: Array) -> Array:
    r"""The variance of every total effect, given the graph, by the delta method (docs/bootstrap.md has the derivation).

    $\operatorname{var} T_{ab} = \sum_j T_{jb}^2\, q_{aj}$ with $q_{aj} = \omega_j T_{aP} (R_P^\top R_P)^{-1} T_{aP}^\top$ for the
    parents P of j: with U the triangular factor of $R_P$, $\omega_j$ times the squared length of $U^{-\top} T_{aP}^\top$.
    """
    T = effects + np.eye(len(effects))
    q = np.zeros_like(T)
    for j in range(len(T)):
        P = sem.dag.links.turned.row(j)
        if len(P):
            U = triangle(R[: P.max() + 1, P])  # R is triangular: zeros below
            reached = np.flatnonzero(T[:, P].any(axis=1))
            half = solve_triangular(U, T[np.ix_(reached, P)].T, trans="T", check_finite=False)
            q[reached, j] = sem.omega[j] * np.square(half).sum(axis=0)
    variances: Array = q @ np.square(T)
    np.fill_diagonal(variances, 0.0)
    return variances


def check_pair(source: str, target: str, names: tuple[str, ...]) -> tuple[int, int]:
    """The places of two different variables."""
    i, j = _place(source, names), _place(target, names)
    if i == j:
        raise SettingError(f"source=… and target=… are both {shown(source)}: give two different variables.")
    return i, j


def _place(name: str, names: tuple[str, ...]) -> int:
    if not isinstance(name, str) or name not in names:
        hint = did_you_mean(name, names) if isinstance(name, str) else ""
        raise ColumnError(f"There is no variable {short(name)}.{hint} The variables are {listed(names)}.")
    return names.index(name)
