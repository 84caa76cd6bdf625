r"""Total causal effects in a learned model, with standard errors.

In the model x = intercept + xB + e, raising $x_a$ by one from outside raises $x_b$ by the sum over all directed paths from
a to b of the products of their weights, which is $T_{ab}$ with $T = (I - B)^{-1} = I + B + B^2 + \dots$

**Standard error (the delta method).** From $dT = T\,dB\,T$ the derivative of $T_{ab}$ by the weight of i → j is
$T_{ai} T_{jb}$. In a graph without cycles the likelihood is a product of one regression a variable, so the weights into
different variables are, for many rows, independent; those into j from its parents P have the covariance
$C_j = \omega_j (R_P^\top R_P)^{-1}$ of least squares. Hence

    $\operatorname{var} T_{ab} = \sum_j T_{jb}^2\, q_{aj}$,   $q_{aj} = T_{aP} C_j T_{aP}^\top$,

which is the matrix product of q with the squares of T. With U the triangular factor of $R_P$, $q_{aj}$ is $\omega_j$ times
the squared length of $U^{-\top} T_{aP}^\top$: sums of squares, nothing cancels. For one path a → m → b this is the textbook
$w_{mb}^2 s_{am}^2 + w_{am}^2 s_{mb}^2$ (Sobel 1982).

These errors take the graph as given. Where it was learned from the same rows, intervals made of them are too short: at a nominal
95 % they hold the truth in 50 to 60 % of cases where arrows are weak (docs/bootstrap.md). So the intervals of a learned graph
are, unless asked for otherwise, percentiles over resamples from each of which the graph was learned again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from ordag.arrays import Array, Mask
from ordag.bootstrapping import Bootstrap, bootstrap_fit
from ordag.checks import Seed, short
from ordag.errors import ColumnError, GraphError, SettingError
from ordag.fit import Fit
from ordag.linalg import triangle
from ordag.model.sem import LinearSEM
from ordag.resampling.intervals import check_interval_level
from ordag.words import listed, shown

if TYPE_CHECKING:
    import pandas as pd


Kind = Literal["bootstrap", "given-graph"]
KINDS: tuple[Kind, ...] = ("bootstrap", "given-graph")

REPLICATES = 200
"""Resamples for an interval, where learning takes a few milliseconds."""


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


def total_effects(
    fit: Fit | LinearSEM | Bootstrap,
    level: float = 0.95,
    *,
    interval: str | None = None,
    replicates: int | None = None,
    seed: Seed = 0,
    workers: int | None = None,
) -> Effects:
    """The total effect of every variable on every other.

    fit: a learned graph, its bootstrap, or a bare model, which has no standard errors (nan).
    level: that of the intervals.
    interval: "bootstrap" (default) learns the graph again from resamples: those of the bootstrap if there is one, else
        Gaussian samples with the fit's moments. "given-graph" is quick and takes the graph for granted.
    replicates: the number of resamples; chosen by the method and the number of variables if not given.
    seed, workers: of the resamples, as for `ordag.bootstrap`.
    """
    check_interval_level(level)
    _check_model(fit)
    if interval not in (None, *KINDS):
        raise SettingError(f"interval={interval!r} is not known: use {' or '.join(KINDS)}.")
    if isinstance(fit, LinearSEM):
        effects = fit.total_effects()
        return _given_graph(fit.names, effects, np.full(effects.shape, np.nan), level)
    learned, resampled = (fit.fit, fit) if isinstance(fit, Bootstrap) else (fit, fit.bootstrap)
    sem = directed(learned)
    effects = sem.total_effects()
    if interval == "given-graph":
        return _given_graph(learned.names, effects, np.sqrt(effect_variances(sem, learned.moments.R, effects)), level)
    if resampled is None or resampled.level != level or replicates not in (None, resampled.replicates):
        count = usual_replicates(learned) if replicates is None else replicates
        recipe = learned.recipe.hurried()
        resampled = bootstrap_fit(learned, count, seed=seed, level=level, workers=workers, recipe=recipe)
    found = resampled.effect_intervals
    if found is None:
        raise SettingError(
            f"The effects among {len(learned.names)} variables in {resampled.replicates} resamples do not fit in memory: ask for "
            "fewer replicates, or for interval='given-graph' (--interval given-graph)."
        )
    return Effects(
        learned.names,
        effects,
        found.std_error,
        found.low,
        found.high,
        level,
        "bootstrap",
        effects != 0,
        found.share,
        resampled.completed,
    )


def total_effect(
    fit: Fit | LinearSEM | Bootstrap, source: str, target: str, level: float = 0.95, **options: Any
) -> Effect:
    """The total causal effect of one variable on another in a learned model; options as for `total_effects`.

    >>> import ordag
    >>> effect = total_effect(ordag.learn("marks", alpha=0.05), "algebra", "mechanics", interval="given-graph")
    >>> round(effect.estimate, 3), round(effect.std_error, 3)
    (0.9, 0.149)
    """
    _check_model(fit)
    check_pair(source, target, fit.names)
    return total_effects(fit, level, **options).of(source, target)


def usual_replicates(fit: Fit) -> int:
    """Resamples that take a second or two: fewer where learning itself takes long."""
    if fit.method not in ("pooled", "gds"):
        return REPLICATES
    return 100 if len(fit.names) <= 10 else 40


def directed(fit: Fit) -> LinearSEM:
    """The model of a graph all of whose edges are arrows."""
    if fit.sem is None:
        raise GraphError(
            f"The graph of this fit ({fit.method}) has edges without a direction, and effects differ between the DAGs of its "
            "class: learn with orient_by_order='class' (--orient-by-order), or with method='pooled', 'cvs' or 'gds'."
        )
    return fit.sem


def _given_graph(names: tuple[str, ...], effects: Array, std_error: Array, level: float) -> Effects:
    reach = float(ndtri(0.5 + level / 2.0)) * std_error
    unknown = np.full(effects.shape, np.nan)
    return Effects(
        names, effects, std_error, effects - reach, effects + reach, level, "given-graph", effects != 0, unknown, 0
    )


def effect_variances(sem: LinearSEM, R: Array, effects: Array) -> Array:
    """The variance of every total effect, given the graph; R is the root of the scatter that the model was fitted to."""
    T = effects + np.eye(len(effects))
    q = np.zeros_like(T)
    for j in range(len(T)):
        P = np.flatnonzero(sem.B[:, j])
        if len(P):
            U = triangle(R[: P.max() + 1, P])  # R is triangular: zeros below
            reached = np.flatnonzero(T[:, P].any(axis=1))
            half = solve_triangular(U, T[np.ix_(reached, P)].T, trans="T", check_finite=False)
            q[reached, j] = sem.omega[j] * np.square(half).sum(axis=0)
    variances: Array = q @ np.square(T)
    np.fill_diagonal(variances, 0.0)
    return variances


def _check_model(fit: object) -> None:
    if not isinstance(fit, Fit | LinearSEM | Bootstrap):
        raise SettingError(f"fit={short(fit)}: give what ordag.learn or ordag.bootstrap gave, or a LinearSEM.")


def check_pair(source: str, target: str, names: tuple[str, ...]) -> tuple[int, int]:
    """The places of two different variables."""
    i, j = _place(source, names), _place(target, names)
    if i == j:
        raise SettingError(f"source=… and target=… are both {shown(source)}: give two different variables.")
    return i, j


def _place(name: str, names: tuple[str, ...]) -> int:
    if not isinstance(name, str) or name not in names:
        from difflib import get_close_matches

        near = get_close_matches(name, names, 1) if isinstance(name, str) else []
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ColumnError(f"There is no variable {short(name)}.{hint} The variables are {listed(names)}.")
    return names.index(name)
