"""Compare the graph by BIC with factor models without arrows, in which hidden common causes alone explain the table.

A table in which one hidden quantity drives every column passes every check of a graph: the learned arrows fit it, as those of a
complete graph fit anything. But they take many more numbers to do so. Both models are Gaussian with free error variances, so
their Bayesian information criteria (Schwarz 1978) can be compared: n · (log determinant of the fitted covariance) + log(n) ·
(number of weights or loadings); means and error variances are common to both and left out, as in `ordag.compare`.

Two graphs would be called factors wrongly. One whose edges were chosen by tests does not have the best BIC of its order: where it
matters, the edges that BIC would choose along the order are tried too. And where one column causes all the others, that column *is*
the factor. Then the star around it has one number less, and the lower BIC.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.special import chdtrc

from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON, triangle
from ordag.common.words import amount, chance, shown
from ordag.errors import OrdagError
from ordag.learners.found import Found
from ordag.model.refit import refit
from ordag.order.ordering import Ordering
from ordag.parents.bic import backward_elimination

NEARLY = 6.0
"""Differences in BIC below this are not strong evidence (Kass & Raftery 1995): odds of less than 20 to 1."""

AT_LEAST_TRIED = 3
"""At least this many factors are tried, and more while that lowers the BIC and could bring it near the BIC of the graph."""

LEAST_VARIABLES, MOST_VARIABLES = 4, 200
"""One factor fits three variables exactly. Beyond 200 variables factor models are not fitted."""

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class CommonFactor:
    """The factor model with the least BIC, compared with the graph.

    bic, graph_bic: lower is better. chi_square, df, p_value: whether the factor model fits at all, by the likelihood ratio
    with Bartlett's (1950) correction; small p-values speak against it. hub: a column that does as well in the place of the factor.
    """

    factors: int
    bic: float
    graph_bic: float
    chi_square: float
    df: int
    p_value: float
    hub: str | None = None

    @property
    def worse(self) -> float:
        """Return by how much its BIC exceeds the BIC of the graph."""
        return self.bic - self.graph_bic

    @property
    def explains(self) -> bool:
        """Whether its BIC is lower than that of the graph."""
        return self.hub is None and self.worse < 0.0

    @property
    def nearly(self) -> bool:
        """Whether its BIC is higher than that of the graph, but not by enough to rule it out."""
        return self.hub is None and 0.0 <= self.worse < NEARLY

    @property
    def short(self) -> str:
        """State, without numbers, that it explains the table better than the graph or nearly as well."""
        how = "better than" if self.explains else "nearly as well as"
        verb = "explains" if self.factors == 1 else "explain"
        return f"{causes_in_words(self.factors).capitalize()} of all columns, without any arrow, {verb} the table {how} the graph."

    @property
    def sentence(self) -> str:
        """State the result of the comparison with its numbers."""
        causes = causes_in_words(self.factors)
        test = f"χ² = {self.chi_square:.1f} on {self.df} df, {chance(self.p_value)}"
        if self.explains:
            return f"{self.short[:-1]} (BIC {amount(-self.worse)} better; {test}): do not read the arrows as causes."
        if self.nearly:
            return (
                f"{self.short[:-1]} (BIC only {self.worse:.1f} worse; {test}): hidden causes could explain the arrows."
            )
        if self.hub is not None:
            return f"No hidden common cause explains the table better than the column {shown(self.hub)} in its place."
        return f"The graph explains the table better than {causes} without arrows (BIC {amount(self.worse)} better)."

    @property
    def numbers(self) -> dict[str, Any]:
        return {**asdict(self), "worse": self.worse}


def causes_in_words(number: int) -> str:
    """Write 'one hidden common cause', 'two hidden common causes', …"""
    return f"{NUMBER_WORDS[number] if number < len(NUMBER_WORDS) else number} hidden common cause{'' if number == 1 else 's'}"


def common_factor(fit: Found) -> CommonFactor | None:
    """Return the factor model whose BIC comes closest to that of a graph, from the moments alone.

    None where there is nothing to compare: fewer than four variables (one factor fits three exactly), more than 200, no more
    rows than variables, or a graph that no model has.

    >>> import ordag
    >>> found = common_factor(ordag.learn("marks"))
    >>> found.factors, round(found.worse, 1), round(found.chi_square, 1), found.df
    (1, 3.7, 8.7, 5)
    """
    n, p = fit.n, fit.moments.p
    if not LEAST_VARIABLES <= p <= MOST_VARIABLES or n < p + 2:
        return None
    R = fit.moments.R
    try:  # the graph of the best score, which the one shown need not be
        B = fit.any_sem.B if fit.optimum is None else refit(fit.moments, fit.optimum, fit.equations).sem.B
    except OrdagError:
        return None
    log_n = math.log(n)
    graph = n * _logs(np.square(R - R @ B).sum(axis=0) / n) + log_n * int(np.count_nonzero(B))
    log_determinant = _logs(np.square(R.diagonal()) / n)
    root = R / np.sqrt(np.square(R).sum(axis=0))
    best: CommonFactor | None = None
    for k in range(1, p):
        loadings = p * k - k * (k - 1) // 2
        df = p * (p - 1) // 2 - loadings
        correction = n - 1.0 - (2.0 * p + 5.0) / 6.0 - 2.0 * k / 3.0
        by_chance = df - 2.0 * math.sqrt(2.0 * max(df, 0))  # χ² of a model that is true is rarely lower
        least = n * log_determinant + by_chance + log_n * loadings
        if df < 1 or (k > AT_LEAST_TRIED and least > graph + NEARLY):
            break
        discrepancy = _factors(root.tobytes(), k).discrepancy
        bic = n * (log_determinant + discrepancy) + log_n * loadings
        if best is None or bic < best.bic:
            chi_square = correction * discrepancy
            best = CommonFactor(k, bic, graph, chi_square, df, float(chdtrc(df, chi_square)))
        elif k >= AT_LEAST_TRIED:
            break
    if best is None or best.worse >= NEARLY:
        return best
    if fit.factor is not None:
        best = replace(best, graph_bic=min(graph, _best_along(fit.known_ordering)))
    hub, star = _best_star(R, n)
    return replace(best, hub=fit.names[hub]) if best.factors == 1 and star <= best.bic else best


@lru_cache(maxsize=64)
def _factors(root: bytes, k: int) -> FactorModel:
    """Fit the model of k factors, which is cached because it is the same for all graphs of a table."""
    values = np.frombuffer(root)
    p = math.isqrt(len(values))
    start = _factors(root, k - 1).uniquenesses if k > AT_LEAST_TRIED else None
    return factor_model(values.reshape(p, p), k, start)


def _best_along(ordering: Ordering) -> float:
    """Return the BIC of the graph that backward elimination by BIC finds along an order."""
    L, n = ordering.L, ordering.n
    parents = backward_elimination(L, ordering.W, n)
    total = math.log(n) * int(parents.sum())
    for m, chosen in enumerate(parents):
        family = np.append(np.flatnonzero(chosen), m)
        total += n * math.log(triangle(L[family, : m + 1].T)[-1, -1] ** 2 / n)
    return total


def _best_star(R: Array, n: int) -> tuple[int, float]:
    """Return the column that explains most as the only cause of all others, and the BIC of that graph."""
    squares = np.square(R).sum(axis=0)
    unit = R / np.sqrt(squares)
    r = unit.T @ unit
    np.fill_diagonal(r, 0.0)
    left = np.log1p(-np.minimum(np.square(r), 1.0 - EPSILON)).sum(axis=1)
    hub = int(left.argmin())
    return hub, n * (_logs(squares / n) + float(left[hub])) + math.log(n) * (len(R) - 1)


def _logs(values: Array) -> float:
    return float(np.log(values).sum())


LEAST_UNIQUENESS = 0.005
"""Of a column's variance, at least this share is its own: where a factor becomes one of the columns, the fit stops here."""

MOST_ROUNDS = 500


class FactorModel(NamedTuple):
    """Standardised loadings (p, k), the columns' own shares of their variances, and the discrepancy F at its minimum."""

    loadings: Array
    uniquenesses: Array
    discrepancy: float


def factor_model(root: Array, k: int = 1, start: Array | None = None) -> FactorModel:
    r"""Fit k factors by maximum likelihood to the correlation matrix C = root⊤root, root triangular with columns of length 1.

    In the model $x = \Lambda f + e$ with k hidden factors f and independent errors of variances $\psi$ (the uniquenesses), the
    covariance is $\Sigma = \Lambda\Lambda^\top + \operatorname{diag}\psi$. Given $\psi$ the best loadings come from the k largest
    eigenvalues $\theta$ and their eigenvectors v of $\psi^{-1/2} C\, \psi^{-1/2}$ (Lawley 1940):
    $\lambda = \psi^{1/2} v \sqrt{\max(\theta - 1, 0)}$. What remains is a function of $\psi$ alone (Jöreskog 1967), the discrepancy

        $F(\psi) = \sum_j (\log\psi_j + C_{jj}/\psi_j) + \sum_{m \le k} (1 + \log\theta_m - \theta_m) - \log\det C - p$,

    the sum over the factors taken where θ > 1, with the derivative $(\Sigma - C)_{jj}/\psi_j^2$. n·F is twice the distance of its
    log-likelihood to that of the model without restrictions. `start`: initial uniquenesses.
    """
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
