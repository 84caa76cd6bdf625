"""The rule "regression": conditional variances as the out-of-fold errors of any scikit-learn regressor, for nonlinear equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ordag.arrays import Array, Mask
from ordag.data.table import Table
from ordag.order.ordering import Ordering, Rule
from ordag.order.splines import SplineRidge
from ordag.order.supported import Fold, Supported, ordered

LEVEL = 0.01
"""Of the one-sided test by which dropping a variable counts as a loss."""


class Given(Protocol):
    """Regressions on some columns, each on the rows of all folds but one, and how they predict that one."""

    def errors(self, targets: Sequence[int]) -> Array:
        """Squared errors of every row, a column for each target."""
        ...

    def errors_without_each(self, target: int) -> Array:
        """Squared errors of every row, a column for each of the given columns left out."""
        ...


class Predictor(Protocol):
    def given(self, columns: Sequence[int]) -> Given: ...


def regression_forward(
    X: Array,
    regressor: Any = None,
    before: Mask | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Supported:
    r"""Order the columns of X by least mean squared error of prediction from the chosen ones (Gao, Ding & Aragam 2020).

    If $X_j = f_j(X_{pa(j)}) + e_j$ with errors of one variance σ², then E var(X_j | C) is σ² where C holds all parents of j and none
    of its descendants, and more where a parent is missing. It is estimated by $\tfrac1n \sum_i (x_{ij} - \hat f(x_{iC}))^2$, with
    $\hat f$ fitted to the rows of the other folds. With d the rise of the squared errors if k in C is left out, the p-value that k is
    no parent of j is that of a one-sided paired z test, $P(Z > \bar d \sqrt n / s_d)$; the support of j are the k where it is at most 1 %.
    `progress` is told how many columns are chosen.
    """
    from sklearn.model_selection import KFold

    p = X.shape[1]
    parts = list(KFold(folds, shuffle=True, random_state=seed).split(X))
    predictor: Predictor = SplineRidge(X, parts) if regressor is None else AnyRegressor(X, parts, regressor)
    order: list[int] = []
    waiting = np.arange(p)
    variances, runner_up = np.empty(p), np.empty(p)
    p_values = np.ones((p, p))
    support: list[NDArray[np.intp]] = []
    for step in range(p):
        given = predictor.given(order) if order else NoColumns(X, parts)
        errors = given.errors(waiting.tolist())
        value = errors.mean(axis=0)
        free = np.ones(len(waiting), bool) if before is None else ~before[np.ix_(waiting, waiting)].any(axis=0)
        rivals = np.where(free, value, np.inf)
        best = int(rivals.argmin())
        variances[step] = value[best]
        runner_up[step] = np.delete(rivals, best).min(initial=np.inf)
        rise = given.errors_without_each(int(waiting[best])) - errors[:, [best]]
        p_values[step, :step] = no_rise(rise)
        support.append(np.sort(np.array(order, np.intp)[p_values[step, :step] <= LEVEL]))
        order.append(int(waiting[best]))
        waiting = np.delete(waiting, best)
        if progress is not None:
            progress(len(order))
    return Supported(np.array(order, np.intp), variances, variances, runner_up, tuple(support), p_values)


def no_rise(rise: Array) -> Array:
    """For every column the p-value that its mean is not above zero, by a z test."""
    spread = rise.std(axis=0, ddof=1) / np.sqrt(len(rise))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(spread > 0.0, ndtr(-rise.mean(axis=0) / spread), 1.0))


class NoColumns:
    """The mean of the rows of other folds."""

    def __init__(self, X: Array, folds: Sequence[Fold]) -> None:
        self.X, self.folds = X, folds

    def errors(self, targets: Sequence[int]) -> Array:
        Y = self.X[:, targets]
        errors = np.empty(Y.shape)
        for inside, outside in self.folds:
            errors[outside] = (Y[outside] - Y[inside].mean(axis=0)) ** 2
        return errors

    def errors_without_each(self, target: int) -> Array:
        return np.empty((len(self.X), 0))


class AnyRegressor:
    """Any scikit-learn regressor, fitted anew for every target and every column left out."""

    def __init__(self, X: Array, folds: Sequence[Fold], regressor: Any, columns: Sequence[int] = ()) -> None:
        self.X, self.folds, self.regressor, self.columns = X, folds, regressor, columns

    def given(self, columns: Sequence[int]) -> Given:
        return (
            AnyRegressor(self.X, self.folds, self.regressor, tuple(columns))
            if columns
            else NoColumns(self.X, self.folds)
        )

    def errors(self, targets: Sequence[int]) -> Array:
        from sklearn.base import clone

        Z, Y = self.X[:, self.columns], self.X[:, targets]
        errors = np.empty(Y.shape)
        for inside, outside in self.folds:
            fitted = [clone(self.regressor).fit(Z[inside], y) for y in Y[inside].T]
            errors[outside] = (Y[outside] - np.column_stack([one.predict(Z[outside]) for one in fitted])) ** 2
        return errors

    def errors_without_each(self, target: int) -> Array:
        rest = ([other for other in self.columns if other != k] for k in self.columns)
        return np.column_stack([self.given(columns).errors([target]) for columns in rest])


def regression_rule(regressor: Any = None) -> Rule:
    """The rule of a regressor, splines with a ridge penalty if none is given."""
    name = "regression" if regressor is None else type(regressor).__name__

    def find(table: Table, before: Mask | None) -> Ordering:
        rows = table.rows
        assert rows is not None
        found = regression_forward(
            np.asarray(rows.values), regressor, before, progress=ordered(table, work=lambda x: x**3)
        )
        return Ordering.supported(found, table.moments, name)

    help = "each given those before, by a nonlinear regression"
    return Rule(name, help, find, needs="rows", least_rows=lambda p: 20, tests=True)
