"""Fit the weights of a given graph by least squares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.checks import short
from ordag.common.linalg import EPSILON, lengths, triangle
from ordag.common.words import collinear, counted, listed, shown
from ordag.data.equations import Equations
from ordag.data.moments import Moments
from ordag.errors import CollinearError, ConstantColumnError, GraphError, TooFewRowsError
from ordag.graph.dag import Dag
from ordag.graph.links import Links
from ordag.model.sem import LinearSEM

CHOLESKY_DOWN_TO = 1e-4
"""The share of a column's variance that must remain for squares to hold enough digits."""

COLUMNS_AT_ONCE = 2**21
"""Numbers of the columns of families that are multiplied together."""


@dataclass(frozen=True, eq=False)
class Refit:
    """A graph's least-squares model, and how well the rows determine it.

    `weights` and `std_errors` have a number for every arrow of the graph, in the order of `links`;
    `residual_df[j]` is the number of rows less one for the mean and one for each parent of j.
    """

    sem: LinearSEM
    links: Links
    weights: Array
    std_errors: Array
    residual_df: NDArray[np.int64]

    @cached_property
    def std_error(self) -> Array:
        """The standard error of `sem.B[i, j]` at [i, j], nan where the graph has no arrow i → j."""
        matrix = np.full((self.links.p, self.links.p), np.nan)
        matrix[self.links.source, self.links.target] = self.std_errors
        matrix.flags.writeable = False
        return matrix

    def weights_of(self, source: Indices, target: Indices) -> tuple[Array, Array]:
        """Return the weights of arrows by the columns of their ends, and their standard errors; 0 and nan where there is no arrow."""
        find = self.links.look_up
        return find(self.weights, source, target, 0.0), find(self.std_errors, source, target, np.nan)

    def p_values_of(self, source: Indices, target: Indices) -> Array:
        """Return the p-values of t tests of the weights of arrows; nan where there is no arrow."""
        weights, std_errors = self.weights_of(source, target)
        return np.asarray(2.0 * stdtr(self.residual_df[target].astype(float), -np.abs(weights / std_errors)))

    def robustness_of(self, source: Indices, target: Indices) -> Array:
        """Return the robustness values of arrows (`robustness_value`); nan where there is no arrow."""
        weights, std_errors = self.weights_of(source, target)
        return robustness_value(np.abs(weights / std_errors) / np.sqrt(self.residual_df[target]))


def refit(moments: Moments, dag: Dag, equations: Equations | None = None) -> Refit:
    r"""Regress every variable on its parents in the graph.

    With $r_j$ the columns of R and P the parents of j, the weights are $b = \arg\min \lVert r_j - R_P b
    \rVert$, also those of maximum likelihood. The triangular factor U of $[R_P \; r_j]$ gives
    $b = U_{PP}^{-1} U_{Pj}$, $\mathrm{RSS}_j = U_{jj}^2$, and the standard error of $b_i$ is
    $\sqrt{\omega_j}$ times the length of row i of $U_{PP}^{-1}$. The error variance is the unbiased
    $\omega_j = \mathrm{RSS}_j / (n - 1 - |P|)$, and the fit passes through the means.

    equations: the moments that the equation of each variable is fitted to, if not these; the fit still passes through the means of these.
    """
    names = moments.names
    links = _aligned(dag, names)
    n_parents = links.in_columns
    rows = np.full(len(names), moments.n) if equations is None else np.array(equations.each)
    residual_df = rows - 1 - n_parents
    if residual_df.min() < 1:
        j = int(np.argmin(residual_df))
        raise TooFewRowsError(
            f"{shown(names[j])} has {counted(int(n_parents[j]), 'parent')}, which takes at least {n_parents[j] + 2} rows; "
            f"there are {rows[j]}. Bring more rows or remove some of the arrows into {shown(names[j])}."
        )
    p = len(names)
    weights, std_errors = np.empty((2, len(links)))
    omega = np.empty(p)
    causes, starts = links.turned.target, np.array(links.turned.starts)
    for products, targets in _by_size(moments, n_parents, equations):
        k = int(n_parents[targets[0]])
        arrows = starts[targets, None] + np.arange(k)
        families = np.column_stack([causes[arrows], targets])
        factors, sound = _factors(products, families)
        for row in np.flatnonzero(~sound).tolist():
            factors[row] = _factor(products.moments, families[row])
        omega[targets] = factors[:, k, k] ** 2 / residual_df[targets]
        if k:
            at = links.by_target[arrows]
            weights[at] = np.linalg.solve(factors[:, :k, :k], factors[:, :k, k:])[:, :, 0]
            inverse = np.linalg.inv(factors[:, :k, :k])  # of triangles both are plain substitution
            std_errors[at] = np.sqrt(omega[targets, None]) * np.linalg.norm(inverse, axis=2)
    for array in (weights, std_errors, residual_df):
        array.flags.writeable = False
    explained = np.bincount(links.target, weights * moments.mean[links.source], minlength=p)
    sem = LinearSEM.of(Dag.known(names, links), weights, omega, moments.mean - explained)
    return Refit(sem, links, weights, std_errors, residual_df)


def _by_size(
    moments: Moments, n_parents: NDArray[np.int64], equations: Equations | None
) -> Iterator[tuple[Products, Indices]]:
    """Yield the variables by their number of parents, with the products of columns that their equations are fitted to."""
    each = [(moments, np.arange(len(n_parents)))]
    if equations is not None:
        each = list(zip(equations.distinct, equations.variables(), strict=True))
    for own, targets in each:
        counts = n_parents[targets]
        products = Products(own, int((counts + 1) @ (counts + 1)))
        for k in np.unique(counts).tolist():
            yield products, targets[counts == k]


class Products:
    """Squares and products of columns: the scatter of the moments if known, else of all columns at once or of the families, whichever is
    less work."""

    def __init__(self, moments: Moments, needed: int) -> None:
        self.moments, p = moments, len(moments.names)
        self.all = moments.scatter
        if self.all is None and 4 * needed > p * p:
            self.all = moments.R.T @ moments.R

    def of(self, families: Indices) -> Array:
        """Return the Gram matrix of every family of columns, which have the same size."""
        if self.all is not None:
            rows, columns = families[:, :, None], families[:, None, :]
            return np.asarray(self.all[np.maximum(rows, columns), np.minimum(rows, columns)])
        R = self.moments.R
        step = max(1, COLUMNS_AT_ONCE // (families.shape[1] * len(R)))
        blocks = (R.T[families[start : start + step]] for start in range(0, len(families), step))
        return np.concatenate([columns @ columns.transpose(0, 2, 1) for columns in blocks])


def _factors(products: Products, families: Indices) -> tuple[Array, Mask]:
    """Return the triangular factors of families of columns of the same size, by Cholesky, and which of them keep enough digits."""
    G = products.of(families)
    try:
        U = np.linalg.cholesky(G).transpose(0, 2, 1)
    except np.linalg.LinAlgError:
        return np.empty_like(G), np.zeros(len(G), dtype=bool)
    remains = np.einsum("tii->ti", U) ** 2 > CHOLESKY_DOWN_TO * np.einsum("tii->ti", G)
    return np.array(U), remains.all(axis=1)


def _factor(moments: Moments, columns: Indices) -> Array:
    """Return the triangular factor of these columns of R, by QR, which keeps the digits that squares lose."""
    R = moments.R[: columns.max() + 1, columns]  # R is triangular: zeros below
    U = triangle(R)
    remains = U.diagonal() > 8 * EPSILON * lengths(R)
    if not remains.all():
        i = int(np.argmin(remains))
        names = [moments.names[column] for column in columns[: i + 1]]
        if not i:
            raise ConstantColumnError(f"Column {shown(names[0])} never changes: leave it out.")
        shares = np.linalg.solve(U[:i, :i], U[:i, i]) * lengths(R)[:i] / lengths(R)[i]
        others = [name for name, share in zip(names, shares, strict=False) if abs(share) > 1e-8]
        raise CollinearError(collinear(names[i], others))
    return U


def _aligned(dag: Dag, names: tuple[str, ...]) -> Links:
    """Return the arrows of the graph by the positions of the names."""
    if not isinstance(dag, Dag):
        raise GraphError(f"graph={short(dag)}: give a Dag.")
    strangers = sorted(set(dag.nodes) ^ set(names)) if dag.nodes != names else []
    if strangers:
        raise GraphError(f"The graph's nodes must be the data's columns; only one of the two has {listed(strangers)}.")
    if dag.nodes == names:
        return dag.links
    position = {name: i for i, name in enumerate(names)}
    return dag.links.renamed(np.array([position[node] for node in dag.nodes], dtype=np.intp))


def robustness_value(f: Array) -> Array:
    r"""The robustness value of every partial f (Cinelli & Hazlett 2020): how strong a hidden common cause must be to explain a weight away.

    In the regression of b on a and on other variables let $f = |t|/\sqrt{df}$ be the partial f of a. A hidden variable that explains
    the share r of what the others leave of a, and the share r of what all of them leave of b, can bring the weight of a to zero if
    $r^2/(1 - r) \ge f^2$ (their Section 4.2, q = 1). The least such r is $\frac12(\sqrt{f^4 + 4f^2} - f^2)$, computed as
    $2/(1 + \sqrt{1 + 4/f^2})$, which keeps all digits.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 / (1.0 + np.hypot(1.0, 2.0 / np.asarray(f))))
