r"""The claims of a DAG: each variable is independent, given its parents, of earlier variables that are not its parents.

With U the root R of the scatter in columns of length 1, and $u_k$ what the parents P of j leave of column k, the partial correlation of j
and i given P is $u_i^\top u_j / (\lVert u_i \rVert \lVert u_j \rVert)$. The fit as a whole is the likelihood ratio against the saturated
model, $\chi^2 = n \sum_j \log (\mathrm{RSS}_j / s_j)$, with $s_j$ the residual sum of squares of j on all earlier variables.
`best_change` is the single change of the DAG that lowers BIC most: an arrow more, one less, or one reversed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, stdtr
from scipy.stats import chi2

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import EPSILON, lengths, triangle
from ordag.graph.acyclic import reachable
from ordag.graph.dag import Dag
from ordag.graph.graph import arrow


class Given(NamedTuple):
    """Partial correlations given the parents of one variable, at every other one; nan at parents and where nothing is left.

    `rest` is the share of the variable's sum of squares that its parents leave.
    """

    correlation: Array
    rest: float


def given_parents(U: Array, j: int, parents: NDArray[np.intp]) -> Given:
    """Return the partial correlations of j with all variables, given its parents."""
    left = U
    if len(parents):
        Q = np.linalg.qr(U[:, parents])[0]
        for _ in range(2):  # once more for the digits that the first projection lost
            left = left - Q @ (Q.T @ left)
    size = lengths(left)
    spent = size <= 64 * EPSILON
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.clip(left.T @ left[:, j] / (size * size[j]), -1.0, 1.0)
    correlation[spent] = np.nan
    correlation[j] = np.nan
    return Given(correlation, float(size[j] ** 2))


def unit_root(R: Array) -> Array:
    """Return the root with columns of length 1."""
    return np.asarray(R / lengths(R))


def two_sided(r: Array, df: Array | float) -> Array:
    """Return the p-values of partial correlations by Student's t with these degrees of freedom."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(r) * np.sqrt(df / np.maximum(1.0 - r * r, 0.0))
        return np.asarray(2.0 * stdtr(df, -t))


def holm(p_values: Array) -> Array:
    """Return p-values corrected for their number (Holm 1979); nan stays."""
    found = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    by_size = known[np.argsort(p_values[known], kind="stable")]
    steps = p_values[by_size] * np.arange(len(by_size), 0, -1)
    found[by_size] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(steps) else steps
    return found


class Whole(NamedTuple):
    """The likelihood ratio of a DAG against the saturated model.

    `p_value` is by χ² after Bartlett's correction: the statistic is divided by its mean under the DAG over the degrees of freedom,
    which is exact, as each variable contributes minus the logarithm of an independent Beta variable. `plain` is the p-value without it.
    """

    chi2: float
    df: int
    p_value: float
    plain: float
    rmsea: float


def whole(U: Array, order: tuple[int, ...], rests: Array, parent_counts: NDArray[np.intp], n: int) -> Whole | None:
    """Test a DAG as a whole; None where there are too few rows for the saturated model."""
    p = len(order)
    if n < p + 1:
        return None
    saturated = np.abs(np.diagonal(triangle(U[:, list(order)])))
    if (saturated <= 8 * EPSILON).any():
        return None
    statistic = n * float(np.log(rests).sum() - 2.0 * np.log(saturated).sum())
    before = np.empty(p, dtype=np.intp)
    before[list(order)] = np.arange(p)
    missing = before - parent_counts
    df = int(missing.sum())
    if not df:
        return Whole(0.0, 0, 1.0, 1.0, 0.0)
    some = missing > 0
    left = (n - 1.0 - before[some]) / 2.0
    mean = n * float((digamma(left + missing[some] / 2.0) - digamma(left)).sum())
    statistic = max(statistic, 0.0)
    rmsea = np.sqrt(max(statistic - df, 0.0) / (df * n))
    corrected = float(chi2.sf(statistic * df / mean, df))
    return Whole(statistic, df, corrected, float(chi2.sf(statistic, df)), float(rmsea))


def broken(U: Array, adjacency: Mask, order: tuple[int, ...], n: int, level: float) -> int:
    """Count the claims of a DAG that are rejected at a level."""
    count = 0
    for place, j in enumerate(order):
        parents = np.flatnonzero(adjacency[:, j])
        earlier = np.array([i for i in order[:place] if not adjacency[i, j]], dtype=np.intp)
        if len(earlier):
            r = given_parents(U, j, parents).correlation[earlier]
            count += int((two_sided(r, n - 2.0 - len(parents)) < level).sum())
    return count


LEAST_GAIN = 1e-9
"""A change that lowers BIC by less mends nothing."""


class Change(NamedTuple):
    """A single change of a graph: what is done, the arrow that it is done to, and by how much it lowers BIC and χ²."""

    kind: str
    source: str
    target: str
    bic: float
    chi2: float

    @property
    def words(self) -> str:
        ends = arrow((self.source, self.target))
        return {"add": f"adding {ends}", "drop": f"leaving out {ends}", "turn": f"reversing {ends}"}[self.kind]


def best_change(U: Array, correlations: Array, rests: Array, dag: Dag, n: int) -> Change | None:
    """Return the change that lowers BIC most; None if none lowers it.

    `correlations` are those of i with j given the parents of j, at [i, j]; `rests` are the shares of sums of squares that parents leave.
    """
    p, adjacency, price = len(U), dag.adjacency, float(np.log(n))
    with np.errstate(divide="ignore"):
        gains = np.nan_to_num(-n * np.log1p(-(correlations**2)), posinf=0.0)  # in χ², of i as one more parent of j
    below = [reachable(dag.links, j) for j in range(p)]
    best, found = LEAST_GAIN, None

    def offer(kind: str, i: int, j: int, bic: float, chi2: float) -> None:
        nonlocal best, found
        if bic > best:
            best, found = bic, Change(kind, dag.nodes[i], dag.nodes[j], bic, chi2)

    for j in range(p):
        for i in np.flatnonzero(~adjacency[:, j] & ~adjacency[j] & ~below[j]).tolist():
            if i != j:
                offer("add", i, j, float(gains[i, j]) - price, float(gains[i, j]))
        parents = np.flatnonzero(adjacency[:, j])
        for i in parents.tolist():
            loss = n * float(np.log(given_parents(U, j, parents[parents != i]).rest / rests[j]))
            offer("drop", i, j, price - loss, -loss)
            if not any(below[k][j] for k in np.flatnonzero(adjacency[i]).tolist()):
                offer("turn", i, j, float(gains[j, i]) - loss, float(gains[j, i]) - loss)
    return found
