"""Sums of splines with a ridge penalty, for all targets and with each variable left out in turn, from one decomposition per fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ordag.arrays import Array
from ordag.order.supported import Fold

ALPHAS = np.logspace(-4, 3, 15)
"""The penalties that are tried."""


def spline_basis() -> Any:
    """Scaling, and cubic splines with seven knots at quantiles for every column."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer, StandardScaler

    spline = SplineTransformer(n_knots=7, knots="quantile", extrapolation="linear", include_bias=False)
    return make_pipeline(StandardScaler(), spline)


class SplineRidge:
    """Predictions of the rows X[outside] of every fold by regressions on X[inside], with the penalty of least leave-one-out error; the
    splines of every column are made once."""

    def __init__(self, X: Array, folds: Sequence[Fold]) -> None:
        self.X, self.folds = X, folds
        self.inside: list[Array] = []
        self.outside: list[Array] = []
        for inside, outside in folds:
            basis = spline_basis().fit(X[inside])
            B = basis.transform(X[inside])
            self.inside.append(B - B.mean(axis=0))
            self.outside.append(basis.transform(X[outside]) - B.mean(axis=0))
        self.each = self.inside[0].shape[1] // X.shape[1]

    def given(self, columns: Sequence[int]) -> GivenSplines:
        """The regressions on these columns."""
        functions = (np.array(columns, np.intp)[:, None] * self.each + np.arange(self.each)).ravel()
        parts = [
            _Part(B[:, functions], outside[:, functions], len(columns))
            for B, outside in zip(self.inside, self.outside, strict=True)
        ]
        return GivenSplines(self.X, self.folds, parts)


class GivenSplines:
    """Regressions on the splines of some columns."""

    def __init__(self, X: Array, folds: Sequence[Fold], parts: Sequence[_Part]) -> None:
        self.X, self.folds, self.parts = X, folds, parts

    def errors(self, targets: Sequence[int]) -> Array:
        """Squared errors of every row, a column for each target."""
        return self._squared(targets, _Part.predicted)

    def errors_without_each(self, target: int) -> Array:
        """Squared errors of every row, a column for each of the given columns left out."""
        return self._squared([target], _Part.without_each)

    def _squared(self, targets: Sequence[int], predict: Callable[[_Part, Array], Array]) -> Array:
        Y = self.X[:, targets]
        found = []
        for (inside, outside), part in zip(self.folds, self.parts, strict=True):
            mean = Y[inside].mean(axis=0)
            found.append((Y[outside] - mean - predict(part, Y[inside] - mean)) ** 2)
        errors = np.empty((len(Y), found[0].shape[1]))
        for (_, outside), squares in zip(self.folds, found, strict=True):
            errors[outside] = squares
        return errors


class _Part:
    r"""One fold: with B the centred functions of the rows inside, $B^\top B = V \Lambda V^\top$, and Q = BV.

    With $M = (B^\top B + \alpha I)^{-1}$, ridge regression gives the weights $w = M B^\top y$, and row i left out has the error
    $(y_i - \hat y_i) / (1 - h_i - 1/n)$ with $h_i$ the diagonal of $B M B^\top$ and 1/n for the mean.
    """

    def __init__(self, B: Array, outside: Array, columns: int) -> None:
        values, self.V = np.linalg.eigh(B.T @ B)
        self.Q, self.outside, self.columns = B @ self.V, outside @ self.V, columns
        self.scales = 1.0 / (np.maximum(values, 0.0) + ALPHAS[:, None])
        self.leverage = self.Q**2 @ self.scales.T + 1.0 / len(B)

    def predicted(self, Y: Array) -> Array:
        """The centred columns of Y, predicted outside; each with the penalty of least leave-one-out error."""
        C = self.Q.T @ Y
        scores = [
            (((Y - self.Q @ (scale[:, None] * C)) / (1.0 - h)[:, None]) ** 2).mean(axis=0)
            for scale, h in zip(self.scales, self.leverage.T, strict=True)
        ]
        return np.asarray(self.outside @ (self.scales[np.argmin(scores, axis=0)].T * C))

    def without_each(self, Y: Array) -> Array:
        r"""The one centred column y of Y predicted outside, with each of the columns left out and a penalty of its own.

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
        """$F_k L_k^{-\\top}$ for every column, one after the other."""
        F = Q @ scaled.reshape(-1, scaled.shape[2]).T
        return F.reshape(len(Q), self.columns, -1).transpose(1, 0, 2) @ inverse.transpose(0, 2, 1)
