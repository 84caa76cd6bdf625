"""The rule "regression": conditional variances as the out-of-fold errors of any scikit-learn regressor, for nonlinear equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ordag.arrays import Array, Mask
from ordag.data.table import Table
from ordag.order.ordering import Ordering, Rule
from ordag.order.supported import Supported

LEVEL = 0.01
"""Of the one-sided test by which dropping a variable counts as a loss."""


def spline_ridge() -> Any:
    """The default regressor: a sum of cubic splines, one for each variable, with a ridge penalty by leave-one-out errors."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer, StandardScaler

    return make_pipeline(
        StandardScaler(),
        SplineTransformer(n_knots=7, knots="quantile", extrapolation="linear", include_bias=False),
        RidgeCV(alphas=np.logspace(-4, 3, 15), alpha_per_target=True),
    )


def regression_forward(
    X: Array, regressor: Any = None, before: Mask | None = None, *, folds: int = 5, seed: int = 0
) -> Supported:
    r"""Order the columns of X by least mean squared error of prediction from the chosen ones (Gao, Ding & Aragam 2020).

    If $X_j = f_j(X_{pa(j)}) + e_j$ with errors of one variance σ², then E var(X_j | C) is σ² where C holds all parents of j and none
    of its descendants, and more where a parent is missing. It is estimated by $\tfrac1n \sum_i (x_{ij} - \hat f(x_{iC}))^2$, with
    $\hat f$ fitted to the rows of the other folds. The support of j are the k in C for which the squared errors without k are larger
    than those with k, by a one-sided paired z test at 1 %: $\bar d > z\, s_d / \sqrt n$.
    """
    from sklearn.model_selection import KFold

    p = X.shape[1]
    several = regressor is None  # the default fits all targets in one go, each as it would alone
    regressor = spline_ridge() if regressor is None else regressor
    parts = list(KFold(folds, shuffle=True, random_state=seed).split(X))
    order: list[int] = []
    waiting = np.arange(p)
    variances, runner_up = np.empty(p), np.empty(p)
    support: list[NDArray[np.intp]] = []
    for step in range(p):
        errors = squared_errors(regressor, X[:, order], X[:, waiting], parts, several)
        value = errors.mean(axis=0)
        free = np.ones(len(waiting), bool) if before is None else ~before[np.ix_(waiting, waiting)].any(axis=0)
        rivals = np.where(free, value, np.inf)
        best = int(rivals.argmin())
        variances[step] = value[best]
        runner_up[step] = np.delete(rivals, best).min(initial=np.inf)
        support.append(needed(regressor, X, order, int(waiting[best]), errors[:, best], parts))
        order.append(int(waiting[best]))
        waiting = np.delete(waiting, best)
    return Supported(np.array(order, np.intp), variances, variances, runner_up, tuple(support))


def needed(
    regressor: Any, X: Array, given: Sequence[int], target: int, errors: Array, parts: Sequence[Any]
) -> NDArray[np.intp]:
    """Those of the given columns without which the target is predicted worse than with all (`errors`), by more than chance."""
    found = []
    for k in given:
        rest = [c for c in given if c != k]
        rise = squared_errors(regressor, X[:, rest], X[:, [target]], parts)[:, 0] - errors
        if rise.mean() > -ndtri(LEVEL) * rise.std(ddof=1) / np.sqrt(len(rise)):
            found.append(k)
    return np.sort(np.array(found, np.intp))


def squared_errors(regressor: Any, Z: Array, Y: Array, parts: Sequence[Any], several: bool = False) -> Array:
    """Out-of-fold squared errors of the columns of Y, each predicted from the columns of Z (from its mean if there are none)."""
    from sklearn.base import clone

    errors = np.empty(Y.shape)
    for inside, outside in parts:
        if not Z.shape[1]:
            predicted = np.broadcast_to(Y[inside].mean(axis=0), (len(outside), Y.shape[1]))
        elif several:
            predicted = clone(regressor).fit(Z[inside], Y[inside]).predict(Z[outside]).reshape(len(outside), -1)
        else:
            fitted = [clone(regressor).fit(Z[inside], y) for y in Y[inside].T]
            predicted = np.column_stack([model.predict(Z[outside]) for model in fitted])
        errors[outside] = (Y[outside] - predicted) ** 2
    return errors


def regression_rule(regressor: Any = None) -> Rule:
    """The rule of a regressor, splines with a ridge penalty if none is given."""
    name = "regression" if regressor is None else type(regressor).__name__

    def find(table: Table, before: Mask | None) -> Ordering:
        rows = table.rows
        assert rows is not None
        found = regression_forward(np.asarray(rows.values), regressor, before)
        return Ordering.supported(found, table.moments, name)

    return Rule(name, "each given those before, by a nonlinear regression", find, needs="rows", least_rows=lambda p: 20)
