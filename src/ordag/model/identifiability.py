"""Check whether conditional variances identify a model's causal order (Park & Kim, Theorem 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.checks import as_list, as_numbers, is_whole, short
from ordag.common.words import shown
from ordag.errors import GraphError, SettingError
from ordag.graph.acyclic import topological_order, transitive_closure
from ordag.model.sem import LinearSEM, representable

SUMMED_ROWS = 64
"""Rows whose squares are summed together."""


@dataclass(frozen=True, eq=False)
class Identifiability:
    """The theorem's condition for one model, pair by pair, and the order that the algorithm finds."""

    order: tuple[str, ...]
    """The causal order that was checked."""
    holds: bool
    """The theorem's condition for that order: every margin exceeds 1."""
    margin: Array
    """(p, p): for k a descendant of j, the variance of k given all that precedes j in the order, divided by
    the error variance of j; nan for all other pairs."""
    tightest: tuple[str, str, float] | None
    """The pair (j, k) with the smallest margin, and that margin; None if the graph has no arrows."""
    holds_in_every_order: bool
    """The condition with k given all non-descendants of j: that for all causal orders at once."""
    greedy_order: tuple[str, ...]
    """The order in which the algorithm takes the variables from the exact distribution, least variance first."""
    greedy_is_right: bool
    """Whether no variable precedes one of its causes in that order."""


def identifiability(sem: LinearSEM, order: Sequence[int] | None = None) -> Identifiability:
    r"""Check the condition of Park & Kim's Theorem 2.2, for a causal order π of the columns.

    It requires $\omega_j < \operatorname{Var}(X_k \mid X_{\pi_1}, \dots, X_{\pi_{m-1}})$ for every $j = \pi_m$
    and every descendant k of j. Given the first m − 1 variables their errors are known, so that variance
    is $\sum_{l \ge m} T_{\pi_l k}^2\, \omega_{\pi_l}$ with $T = (I - B)^{-1}$: positive terms, no
    cancellation.

    The condition depends on π. Unless `order` is given, π takes, among the variables whose parents have all
    been taken, always the one with least error variance (the first of equals). For this π the condition holds
    exactly if at every step of the algorithm all wrong candidates have a larger variance than the one taken;
    for other orders it may hold although the algorithm fails, or fail although the algorithm is right.
    docs/identifiability.md has the proof and examples.
    """
    if not isinstance(sem, LinearSEM):
        raise SettingError(f"sem={short(sem)}: give a LinearSEM.")
    pi = _least_variance_order(sem) if order is None else _causal_order(sem, order)
    descendants = transitive_closure(sem.dag.adjacency)  # even where the effects of paths cancel
    T = sem.total_effects() + np.eye(len(sem.names))
    with np.errstate(over="ignore"):
        shares = np.square(T) * sem.omega[:, None]  # [l, k]: what the error of l adds to the variance of k
    representable(shares, "The variances")

    given_preceding = np.empty_like(shares)
    given_preceding[pi] = np.cumsum(shares[pi[::-1]], axis=0)[::-1]
    given_others = shares + descendants.astype(np.float64) @ shares
    margin = _margin(given_preceding, descendants, sem)

    greedy = least_variance_first(np.sqrt(sem.omega)[:, None] * T)
    position = np.argsort(greedy)
    causes, effects = np.nonzero(sem.B)
    return Identifiability(
        order=tuple(sem.names[j] for j in pi),
        holds=_exceeds_one(margin),
        margin=margin,
        tightest=_tightest(margin, sem.names),
        holds_in_every_order=_exceeds_one(_margin(given_others, descendants, sem)),
        greedy_order=tuple(sem.names[j] for j in greedy),
        greedy_is_right=bool((position[causes] < position[effects]).all()),
    )


def least_variance_first(F: Array) -> Indices:
    r"""Return the order of Algorithm 1, Step 1, for the covariance $F^\top F$: least remaining variance first.

    What remains of a column is its part orthogonal to the columns already taken; its variance is the squared
    length, summed afresh whenever it changes. For $F = \operatorname{diag}(\sqrt\omega)\,(I - B)^{-1}$, as
    long as the columns leave in a causal order, what remains of the next one is a single entry, and
    projecting the others off it deletes a row and rounds nothing. Of equals the first column is taken.
    """
    F = F.copy()
    p = F.shape[1]
    sums = np.add.reduceat(np.square(F), np.arange(0, len(F), SUMMED_ROWS), axis=0)
    waiting = np.ones(p, dtype=np.bool_)
    order = np.empty(p, dtype=np.intp)
    for m in range(p):
        order[m] = j = np.argmin(np.where(waiting, sums.sum(axis=0), np.inf))
        waiting[j] = False
        rows = np.flatnonzero(F[:, j])
        direction = F[rows, j] / np.linalg.norm(F[rows, j])
        F[rows] -= np.outer(direction, direction @ F[rows])
        F[:, j] = 0.0
        for block in np.unique(rows // SUMMED_ROWS).tolist():
            sums[block] = np.square(F[block * SUMMED_ROWS : (block + 1) * SUMMED_ROWS]).sum(axis=0)
    return order


def park_kim_bound(r: ArrayLike) -> Array:
    r"""$\max(0, 1 - r)$: X₁ → X₂ with weight β is identifiable if β² is greater, $r = \sigma_2^2/\sigma_1^2$.

    Park & Kim, Corollary 2.4; the $1 - r^2$ printed there belongs to r as the ratio of standard deviations.
    """
    bound: Array = np.maximum(0.0, 1.0 - _ratio(r))
    return bound


def loh_buhlmann_bound(r: ArrayLike) -> Array:
    r"""Return the least β² that Loh & Bühlmann (2014), Lemma 11, ask of X₁ → X₂, with $r = \sigma_2^2/\sigma_1^2$.

    $\beta^2 \ge r\,(r - 1 + \sqrt{r^2 - 1})$ if $r \ge 1$, and $\beta^2 \ge 1 - r + \sqrt{1 - r^2}$ if $r \le
    1$. Park & Kim print it, as Lemma 2.3, with r² for r: there r is the ratio of standard deviations.
    """
    ratio = _ratio(r)
    gap = np.abs(ratio - 1.0)
    bound: Array = np.maximum(ratio, 1.0) * (gap + np.sqrt(gap * (ratio + 1.0)))
    return bound


def _least_variance_order(sem: LinearSEM) -> Indices:
    """Return the causal order that takes the least error variance among the variables whose parents are all taken."""
    ranked = np.argsort(sem.omega, kind="stable")
    return ranked[list(topological_order(sem.dag.adjacency[np.ix_(ranked, ranked)]))]


def _causal_order(sem: LinearSEM, order: Sequence[int]) -> Indices:
    p = len(sem.names)
    wanted = f"The order must hold each column index from 0 to {p - 1} once."
    columns = as_list(order, wanted, GraphError)
    if not all(is_whole(column) for column in columns) or sorted(columns) != list(range(p)):
        raise GraphError(wanted)
    pi = np.array(columns, dtype=np.intp)
    position = np.argsort(pi)
    for i, j in np.argwhere(sem.B).tolist():
        if position[i] > position[j]:
            raise GraphError(
                f"The order has {shown(sem.names[j])} before {shown(sem.names[i])}, one of its causes; causes come first."
            )
    return pi


def _margin(variance: Array, descendants: Mask, sem: LinearSEM) -> Array:
    margin = np.where(descendants, variance / sem.omega[:, None], np.nan)
    margin.flags.writeable = False
    return margin


def _exceeds_one(margin: Array) -> bool:
    return bool((np.isnan(margin) | (margin > 1.0)).all())


def _tightest(margin: Array, names: tuple[str, ...]) -> tuple[str, str, float] | None:
    if np.isnan(margin).all():
        return None
    j, k = np.unravel_index(int(np.nanargmin(margin)), margin.shape)
    return names[j], names[k], float(margin[j, k])


def _ratio(r: ArrayLike) -> Array:
    ratio = as_numbers(r, "r", SettingError)
    if not (ratio > 0).all():
        raise SettingError("r is a ratio of two variances; it must be positive.")
    return ratio
