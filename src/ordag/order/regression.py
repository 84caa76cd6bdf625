"""The rule "regression": conditional variances as out-of-fold errors of splines or any scikit-learn regressor, for nonlinear equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtr

from ordag.common.arrays import Array, Indices, Mask
from ordag.data.table import Table
from ordag.order.ordering import Ordering, Queue, Rule, Steps, least, progress_of

LEVEL = 0.01
"""The level of the one-sided test of a loss without a variable."""

RIDGE_PENALTIES = np.logspace(-4, 3, 15)
"""The penalties of splines that are tried."""

Fold: TypeAlias = tuple[Indices, Indices]
"""The numbers of the rows to learn from, and of those to predict."""


def regression_forward(
    X: Array,
    regressor: Any = None,
    before: Mask | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Steps:
    r"""Order the columns of X by least mean squared error of prediction from the chosen ones (Gao, Ding & Aragam 2020).

    If $X_j = f_j(X_{pa(j)}) + e_j$ with errors of one variance σ², then E var(X_j | C) is σ² where C holds all parents of j and none
    of its descendants, and more where a parent is missing. It is estimated by $\tfrac1n \sum_i (x_{ij} - \hat f(x_{iC}))^2$, with
    $\hat f$ fitted to the rows of the other folds. With d the rise of the squared errors if k in C is left out, the p-value that k is
    no parent of j is that of a one-sided paired z test, $P(Z > \bar d \sqrt n / s_d)$; the parent set of j are the k where it is at
    most 1 %. `progress` is called with the number of columns chosen.
    """
    from sklearn.model_selection import KFold

    p = X.shape[1]
    parts = list(KFold(folds, shuffle=True, random_state=seed).split(X))
    predictor = SplineRidge(X, parts) if regressor is None else AnyRegressor(X, parts, regressor)
    order: list[int] = []
    waiting = np.arange(p)
    queue = Queue(before, p)
    variances, runner_up = np.empty((2, p))
    p_values = np.ones((p, p))
    parent_sets: list[Indices] = []
    for step in range(p):
        errors = predictor.errors(order, waiting.tolist())
        values = errors.mean(axis=0)
        best, runner_up[step] = least(queue.rivals(values, waiting))
        variances[step] = values[best]
        if order:
            rise = predictor.errors_without_each(order, int(waiting[best])) - errors[:, [best]]
            p_values[step, :step] = no_rise(rise)
        parent_sets.append(np.sort(np.array(order, np.intp)[p_values[step, :step] <= LEVEL]))
        order.append(int(waiting[best]))
        queue.release(order[-1])
        waiting = np.delete(waiting, best)
        progress(len(order))
    return Steps(np.array(order, np.intp), variances, variances, runner_up, tuple(parent_sets), p_values)


def no_rise(rise: Array) -> Array:
    """For every column the p-value that its mean is not above zero, by a z test."""
    spread = rise.std(axis=0, ddof=1) / np.sqrt(len(rise))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(spread > 0.0, ndtr(-rise.mean(axis=0) / spread), 1.0))


def regression_rule(regressor: Any = None) -> Rule:
    """Return the rule of a regressor, splines with a ridge penalty if none is given."""
    name = "regression" if regressor is None else type(regressor).__name__

    def find(table: Table, before: Mask | None) -> Ordering:
        rows = table.rows
        assert rows is not None
        progress = progress_of(table, work=lambda x: x**3)
        return Ordering.by_steps(
            regression_forward(np.asarray(rows.values), regressor, before, progress=progress), table.moments, name
        )

    help = "each given those before, by a nonlinear regression"
    return Rule(name, help, find, needs="rows", least_rows=lambda p: 20, tests=True)


class AnyRegressor:
    """Out-of-fold predictions by any scikit-learn regressor, fitted anew for every target and every column left out."""

    def __init__(self, X: Array, folds: Sequence[Fold], regressor: Any) -> None:
        self.X, self.folds, self.regressor = X, folds, regressor

    def errors(self, columns: Sequence[int], targets: Sequence[int]) -> Array:
        """Squared errors of every row by regressions on some columns, or by the mean, a column for each target."""
        from sklearn.base import clone

        if not columns:
            return errors_of_means(self.X[:, targets], self.folds)
        Z, Y = self.X[:, columns], self.X[:, targets]
        errors = np.empty(Y.shape)
        for inside, outside in self.folds:
            fitted = [clone(self.regressor).fit(Z[inside], y) for y in Y[inside].T]
            errors[outside] = (Y[outside] - np.column_stack([one.predict(Z[outside]) for one in fitted])) ** 2
        return errors

    def errors_without_each(self, columns: Sequence[int], target: int) -> Array:
        """Return the same of one target, a column for each of the columns left out."""
        return np.column_stack([self.errors([other for other in columns if other != k], [target]) for k in columns])


def errors_of_means(Y: Array, folds: Sequence[Fold]) -> Array:
    """Squared errors of every row by the mean of the other folds."""
    errors = np.empty(Y.shape)
    for inside, outside in folds:
        errors[outside] = (Y[outside] - Y[inside].mean(axis=0)) ** 2
    return errors


class SplineRidge:
    """The same as `AnyRegressor` by sums of cubic splines with a ridge penalty, for all targets and with each column left out from one
    decomposition per fold. The penalty is that of least leave-one-out error; splines have seven knots at quantiles."""

    def __init__(self, X: Array, folds: Sequence[Fold]) -> None:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import SplineTransformer, StandardScaler

        self.X, self.folds = X, folds
        self.bases: list[tuple[Array, Array]] = []
        for inside, outside in folds:
            spline = SplineTransformer(n_knots=7, knots="quantile", extrapolation="linear", include_bias=False)
            basis = make_pipeline(StandardScaler(), spline).fit(X[inside])
            B = basis.transform(X[inside])
            self.bases.append((B - B.mean(axis=0), basis.transform(X[outside]) - B.mean(axis=0)))
        self.each = self.bases[0][0].shape[1] // X.shape[1]
        self._columns: list[int] = []
        self._fits: list[_SplineFit] = []

    def errors(self, columns: Sequence[int], targets: Sequence[int]) -> Array:
        if not columns:
            return errors_of_means(self.X[:, targets], self.folds)
        return self._squared(columns, targets, _SplineFit.predicted)

    def errors_without_each(self, columns: Sequence[int], target: int) -> Array:
        return self._squared(columns, [target], _SplineFit.without_each)

    def _squared(
        self, columns: Sequence[int], targets: Sequence[int], predict: Callable[[_SplineFit, Array], Array]
    ) -> Array:
        if list(columns) != self._columns:
            functions = (np.array(columns, np.intp)[:, None] * self.each + np.arange(self.each)).ravel()
            self._columns = list(columns)
            self._fits = [_SplineFit(B[:, functions], out[:, functions], len(columns)) for B, out in self.bases]
        Y = self.X[:, targets]
        found = []
        for (inside, outside), fit in zip(self.folds, self._fits, strict=True):
            mean = Y[inside].mean(axis=0)
            found.append((Y[outside] - mean - predict(fit, Y[inside] - mean)) ** 2)
        errors = np.empty((len(Y), found[0].shape[1]))
        for (_, outside), squares in zip(self.folds, found, strict=True):
            errors[outside] = squares
        return errors


class _SplineFit:
    r"""One fold: with B the centred functions of the rows inside, $B^\top B = V \Lambda V^\top$, and Q = BV.

    With $M = (B^\top B + \alpha I)^{-1}$, ridge regression gives the weights $w = M B^\top y$, and row i left out has the error
    $(y_i - \hat y_i) / (1 - h_i - 1/n)$ with $h_i$ the diagonal of $B M B^\top$ and 1/n for the mean.
    """

    def __init__(self, B: Array, outside: Array, columns: int) -> None:
        values, self.V = np.linalg.eigh(B.T @ B)
        self.Q, self.outside, self.columns = B @ self.V, outside @ self.V, columns
        self.scales = 1.0 / (np.maximum(values, 0.0) + RIDGE_PENALTIES[:, None])
        self.leverage = self.Q**2 @ self.scales.T + 1.0 / len(B)

    def predicted(self, Y: Array) -> Array:
        """Return the centred columns of Y, predicted outside; each with the penalty of least leave-one-out error."""
        C = self.Q.T @ Y
        scores = [
            (((Y - self.Q @ (scale[:, None] * C)) / (1.0 - h)[:, None]) ** 2).mean(axis=0)
            for scale, h in zip(self.scales, self.leverage.T, strict=True)
        ]
        return np.asarray(self.outside @ (self.scales[np.argmin(scores, axis=0)].T * C))

    def without_each(self, Y: Array) -> Array:
        r"""Return the one centred column y of Y predicted outside, with each of the columns left out and a penalty of its own.

        Without the functions k of one column, M becomes $M - M_{\cdot k} M_{kk}^{-1} M_{k \cdot}$. So with $F = BM$, ŷ falls by
        $F_k M_{kk}^{-1} w_k$ and h by the squares of the rows of $F_k L_k^{-\top}$, with $M_{kk} = L_k L_k^\top$.
        """
        y = Y[:, 0]
        c = self.Q.T @ y
        V = self.V.reshape(self.columns, -1, len(self.V))
        scores, predicted = [], []
        for scale, h in zip(self.scales, self.leverage.T, strict=True):
            scaled = V * scale
            L = np.linalg.cholesky(scaled @ V.transpose(0, 2, 1))
            inverse = np.linalg.inv(L)
            less = inverse @ (scaled @ c)[:, :, None]
            F = self._left(self.Q, scaled, inverse)
            fitted = self.Q @ (scale * c) - (F @ less)[:, :, 0]
            loss = (y - fitted) / (1.0 - h + np.einsum("knb,knb->kn", F, F))
            scores.append((loss**2).mean(axis=1))
            predicted.append(self.outside @ (scale * c) - (self._left(self.outside, scaled, inverse) @ less)[:, :, 0])
        best = np.argmin(scores, axis=0)
        return np.asarray(np.array(predicted)[best, np.arange(self.columns)].T)

    def _left(self, Q: Array, scaled: Array, inverse: Array) -> Array:
        """$F_k L_k^{-\\top}$ for every column."""
        F = Q @ scaled.reshape(-1, scaled.shape[2]).T
        return F.reshape(len(Q), self.columns, -1).transpose(1, 0, 2) @ inverse.transpose(0, 2, 1)
