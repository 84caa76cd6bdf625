r"""Factor analysis by maximum likelihood, from a correlation matrix alone.

In the model $x = \Lambda f + e$ with k hidden factors f and independent errors of variances $\psi$ (the uniquenesses), the
covariance is $\Sigma = \Lambda\Lambda^\top + \operatorname{diag}\psi$. Given $\psi$ the best loadings come from the k largest
eigenvalues $\theta$ and their eigenvectors v of $\psi^{-1/2} C\, \psi^{-1/2}$ (Lawley 1940):
$\lambda = \psi^{1/2} v \sqrt{\max(\theta - 1, 0)}$. What remains is a function of $\psi$ alone (Jöreskog 1967), the discrepancy

    $F(\psi) = \sum_j (\log\psi_j + C_{jj}/\psi_j) + \sum_{m \le k} (1 + \log\theta_m - \theta_m) - \log\det C - p$,

the sum over the factors taken where θ > 1, with the derivative $(\Sigma - C)_{jj}/\psi_j^2$. n·F is twice the distance of its
log-likelihood to that of the model without restrictions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, solve_triangular

from ordag.common.arrays import Array

LEAST_UNIQUENESS = 0.005
"""Of a column's variance, at least this share is its own: where a factor becomes one of the columns, the fit stops here."""

MOST_ROUNDS = 500


class FactorModel(NamedTuple):
    """Standardised loadings (p, k), the columns' own shares of their variances, and the discrepancy F at its minimum."""

    loadings: Array
    uniquenesses: Array
    discrepancy: float


def factor_model(root: Array, k: int = 1, start: Array | None = None) -> FactorModel:
    """Fit k factors to the correlation matrix C = root⊤root, root triangular with columns of length 1; `start`: initial uniquenesses."""
    from scipy.optimize import minimize  # 0.15 s, and not every fit asks for its verdict

    p = len(root)
    C = root.T @ root
    log_determinant = 2.0 * float(np.log(np.abs(root.diagonal())).sum())

    def best(psi: Array) -> tuple[Array, Array]:
        """Return the k largest eigenvalues, at least 1 each, and the loadings."""
        scale = np.sqrt(psi)
        theta, v = eigh(C / np.outer(scale, scale), subset_by_index=[p - k, p - 1], check_finite=False)
        theta = np.maximum(theta, 1.0)
        return theta, scale[:, None] * v * np.sqrt(theta - 1.0)

    def discrepancy(log_psi: Array) -> tuple[float, Array]:
        psi = np.exp(log_psi)
        theta, loadings = best(psi)
        value = float((log_psi + 1.0 / psi).sum() + (1.0 + np.log(theta) - theta).sum()) - log_determinant - p
        return value, (np.square(loadings).sum(axis=1) + psi - 1.0) / psi

    if start is None:
        inverse = solve_triangular(root, np.eye(p), check_finite=False)
        start = (1.0 - 0.5 * k / p) / np.square(inverse).sum(axis=1)
    low, high = np.log(LEAST_UNIQUENESS), 0.0
    found = minimize(
        discrepancy,
        np.clip(np.log(start), low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=[(low, high)] * p,
        options={"maxiter": MOST_ROUNDS, "ftol": 1e-12, "gtol": 1e-6},
    )
    psi = np.exp(found.x)
    return FactorModel(best(psi)[1], psi, max(float(found.fun), 0.0))
