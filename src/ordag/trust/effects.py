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

The graph is taken as given: that it was learned from the same rows is not in these numbers. `ordag.bootstrap` has intervals
that include it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from ordag.arrays import Array
from ordag.checks import as_number, short
from ordag.errors import ColumnError, GraphError, SettingError
from ordag.fit import Fit
from ordag.linalg import triangle
from ordag.model.sem import LinearSEM
from ordag.words import listed, shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Effect:
    """The total effect of `source` on `target`: how much the target changes when the source is raised by one.

    `std_error`, `low` and `high` are nan for a model that was not fitted to rows.
    """

    source: str
    target: str
    estimate: float
    std_error: float
    low: float
    high: float
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for what is not known."""
        return {key: None if value != value else value for key, value in vars(self).items()}


@dataclass(frozen=True, eq=False)
class Effects:
    """All total effects: that of i on j at [i, j]. Zero with standard error zero where the graph has no path.

    The intervals are estimate ± z · std_error, z the normal quantile of `level`.
    """

    names: tuple[str, ...]
    estimate: Array
    std_error: Array
    level: float

    @property
    def low(self) -> Array:
        return self.estimate - _quantile(self.level) * self.std_error

    @property
    def high(self) -> Array:
        return self.estimate + _quantile(self.level) * self.std_error

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a pair with a path: source, target, estimate, std_error, low, high."""
        import pandas as pd

        source, target = np.nonzero((self.estimate != 0) | (self.std_error > 0))
        columns: dict[str, Any] = {
            "source": [self.names[i] for i in source],
            "target": [self.names[j] for j in target],
        }
        for name in ("estimate", "std_error", "low", "high"):
            columns[name] = getattr(self, name)[source, target]
        return pd.DataFrame(columns)

    def of(self, source: str, target: str) -> Effect:
        """That of one variable on another."""
        i, j = (_place(name, self.names) for name in (source, target))
        if i == j:
            raise SettingError(f"source=… and target=… are both {shown(source)}: give two different variables.")
        estimate, error = float(self.estimate[i, j]), float(self.std_error[i, j])
        reach = _quantile(self.level) * error
        return Effect(source, target, estimate, error, estimate - reach, estimate + reach, self.level)


def total_effects(fit: Fit | LinearSEM, level: float = 0.95) -> Effects:
    """The total effect of every variable on every other; standard errors need a fit, a bare model has none (nan)."""
    check_interval_level(level)
    _check_model(fit)
    if isinstance(fit, LinearSEM):
        return Effects(fit.names, fit.total_effects(), np.full(fit.B.shape, np.nan), level)
    sem = fit.sem
    if sem is None:
        raise GraphError(
            f"The graph of this fit ({fit.method}) has edges without a direction, and effects differ between the DAGs of its "
            "class: learn with orient_by_order='class' (--orient-by-order), or with method='pooled', 'cvs' or 'gds'."
        )
    effects = sem.total_effects()
    return Effects(fit.names, effects, np.sqrt(effect_variances(sem, fit.moments.R, effects)), level)


def total_effect(fit: Fit | LinearSEM, source: str, target: str, level: float = 0.95) -> Effect:
    """The total causal effect of one variable on another in a learned model.

    >>> import ordag
    >>> effect = total_effect(ordag.learn("marks", alpha=0.05), "algebra", "mechanics")
    >>> round(effect.estimate, 3), round(effect.std_error, 3)
    (0.9, 0.149)
    """
    _check_model(fit)
    for name in (source, target):
        _place(name, fit.names)
    return total_effects(fit, level).of(source, target)


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
    if not isinstance(fit, Fit | LinearSEM):
        raise SettingError(f"fit={short(fit)}: give what ordag.learn gave, or a LinearSEM.")


def check_interval_level(level: float) -> None:
    if not 0.0 < as_number(level) < 1.0:
        raise SettingError(
            f"level={short(level)}: that of an interval lies between 0 and 1, both excluded, such as 0.95."
        )


def _quantile(level: float) -> float:
    return float(ndtri(0.5 + level / 2.0))


def _place(name: str, names: tuple[str, ...]) -> int:
    if not isinstance(name, str) or name not in names:
        from difflib import get_close_matches

        near = get_close_matches(name, names, 1) if isinstance(name, str) else []
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ColumnError(f"There is no variable {short(name)}.{hint} The variables are {listed(names)}.")
    return names.index(name)
