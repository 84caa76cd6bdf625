"""The rule "lasso": regressions on the chosen variables with an ℓ1 penalty, as Park & Kim suggest for p > n."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import singular_root
from ordag.data.table import Table
from ordag.order.ordering import Ordering, Queue, Rule, Steps, least, progress_of
from ordag.order.sparse import few_rows

MOST_ROUNDS = 30
"""Most rounds of the scaled lasso between weights and error variance; it converges in a few, in more where n is small."""

CONVERGED = 1e-4
"""The relative change of every standard deviation at which it has converged."""


def lasso_forward(
    S: Array, n: int, before: Mask | None = None, *, progress: Callable[[int], None] = lambda done: None
) -> Steps:
    r"""Order the variables by least conditional variance, each by the scaled lasso on all variables chosen so far.

    S is the covariance matrix of n rows; no inverse is taken, so p may be larger than n. With C the chosen variables, scaled to
    variance 1, the weights of a waiting j and its error's standard deviation σ solve (the scaled lasso of Sun & Zhang 2012)

    $w = \arg\min_w \tfrac12 (S_{jj} - 2 w^\top S_{Cj} + w^\top S_{CC} w) + \lambda \sigma \|w\|_1,\quad
    \sigma^2 = S_{jj} - 2 w^\top S_{Cj} + w^\top S_{CC} w,\quad \lambda = \sqrt{2 \log p / n}$

    and the least $\sigma^2 (n - 1) / (n - 1 - \|w\|_0)$ goes next, with the nonzero weights as its parent set. With a partial
    order `before` ([i, j]: i before j) only variables compete of which all earlier ones are chosen. `progress` is called with the number
    of variables chosen.
    """
    p = len(S)
    scale = np.sqrt(S.diagonal())
    root = singular_root(S / np.outer(scale, scale))
    penalty = math.sqrt(2.0 * math.log(max(p, 2)) / n)
    order: list[int] = []
    waiting = np.arange(p)
    queue = Queue(before, p)
    weights, sigma = np.zeros((p, 0)), np.ones(p)
    variances, runner_up = np.empty((2, p))
    parent_sets = []
    for step in range(p):
        if order:
            weights, sigma = scaled_lasso(root[:, order], root[:, waiting], penalty, weights, sigma)
        nonzero = (weights != 0.0).sum(axis=1)
        values = (scale[waiting] * sigma) ** 2 * ((n - 1) / np.maximum(n - 1 - nonzero, 1))
        best, runner_up[step] = least(queue.rivals(values, waiting))
        variances[step] = values[best]
        parent_sets.append(np.sort(np.array(order, np.intp)[weights[best] != 0.0]))
        order.append(int(waiting[best]))
        queue.release(order[-1])
        waiting, sigma = np.delete(waiting, best), np.delete(sigma, best)
        # the chosen variable becomes a new column, with weight 0 to start from
        weights = np.pad(np.delete(weights, best, axis=0), ((0, 0), (0, 1)))
        progress(len(order))
    return Steps(np.array(order, np.intp), variances, variances, runner_up, tuple(parent_sets))


def scaled_lasso(C: Array, J: Array, penalty: float, weights: Array, sigma: Array) -> tuple[Array, Array]:
    """Weights and error standard deviations of all columns of J on those of C (all of length 1), from a first guess of both.

    Dividing column j by σ_j leaves one penalty for all, so one call of scikit-learn's coordinate descent suffices.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    gram = np.ascontiguousarray(C.T @ C)
    # scikit-learn divides squares by the number of rows
    model = Lasso(penalty / len(C), fit_intercept=False, precompute=gram, warm_start=True, tol=1e-8, max_iter=10000)
    for _ in range(MOST_ROUNDS):
        model.coef_ = np.ascontiguousarray(weights / sigma[:, None])
        with warnings.catch_warnings():
            # nearly collinear columns stop it at a duality gap of about 1e-4 of the squares, too little to change an order
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(C, J / sigma)
        weights = np.atleast_2d(model.coef_) * sigma[:, None]
        last, sigma = sigma, np.maximum(np.linalg.norm(J - C @ weights.T, axis=0), 1e-8)
        if (np.abs(sigma - last) <= CONVERGED * last).all():
            break
    return weights, sigma


def _find(table: Table, before: Mask | None) -> Ordering:
    moments = table.moments
    steps = lasso_forward(moments.covariance(), moments.n, before, progress=progress_of(table))
    return Ordering.by_steps(steps, moments, "lasso")


LASSO = Rule("lasso", "each given those before, by the scaled lasso", _find, least_rows=few_rows)
