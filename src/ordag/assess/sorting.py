r"""Compare the learned order with sorting by variance and by R² (Reisach et al. 2021, 2023).

Where sorting the columns by variance gives the learned graph, the directions say no more than the scales of the columns do.
Simulated benchmarks are often like that; whether a real table is depends on its units.
"""

from __future__ import annotations

import numpy as np

from ordag.assess.finding import Finding, Level, unchecked
from ordag.assess.stability import Baseline, agreement
from ordag.common.arrays import Array, Mask
from ordag.common.linalg import inverse, lengths, triangle
from ordag.common.words import counted
from ordag.data.table_checks import least_squares_rows
from ordag.graph.distances import hamming
from ordag.order.factor import Factor
from ordag.order.ordering import Ordering
from ordag.parents import select

SORTED_FROM_TAU = 0.8
"""From this Kendall's tau on, the order counts as sorted by variance."""


def r_squared(R: Array) -> Array:
    r"""Return the R² of each column regressed on all others: $1 - 1/(S_{jj}\,(S^{-1})_{jj})$ with $S = R^\top R$."""
    W = inverse(np.asfortranarray(R.T))  # of the lower triangle Rᵀ, so that S⁻¹ = W ᵀW
    return np.asarray(1.0 - 1.0 / (lengths(R) ** 2 * lengths(W) ** 2))


def sortability(arrows: Mask, values: Array) -> float:
    r"""Return the share of cause–effect pairs along which the values rise, counted once for every length of path (ties: half).

    $\sum_k \sum_{s \to t \in A^k} \mathrm{inc}(v_s, v_t) \,/\, \sum_k \sum_{s \to t \in A^k} 1$: with variances, the
    varsortability of Reisach, Seiler & Weichwald (2021); with R², the R²-sortability of Reisach et al. (2023). One half where
    there are no arrows.
    """
    difference = values[None, :] - values[:, None]
    close = np.abs(difference) <= 1e-9 * np.maximum(np.abs(values)[:, None], np.abs(values)[None, :])
    rises = np.where(close, 0.5, difference > 0)
    A = arrows.astype(np.float32)
    paths = A
    total = rising = 0.0
    while paths.any():
        total += float(paths.sum(dtype=np.float64))
        rising += float((paths * rises).sum(dtype=np.float64))
        paths = (paths @ A > 0).astype(np.float32)
    return rising / total if total else 0.5


def sort_and_regress(baseline: Baseline) -> Mask:
    """Sort by variance, then select parents along that order with the tests of cvs, or else by the edge prior.

    Knowledge is ignored.
    """
    moments = baseline.moments
    variances = np.asarray(moments.variances)
    digits = np.round(np.log(variances), 9)  # what ties keeps the learned order, as the sort is stable
    order = np.argsort(digits, kind="stable")
    factor = Factor.of(triangle(moments.R[:, order]).T)
    sorted_ = Ordering.along(order, moments, factor, np.full(len(order), np.inf))
    selection = select(sorted_, **baseline.fit.method_settings.edge_rule)
    later, earlier = selection.edges
    adjacency = np.zeros(baseline.arrows.shape, dtype=bool)
    adjacency[order[earlier], order[later]] = True
    return adjacency


def sorting_finding(baseline: Baseline) -> Finding:
    """Report how far the order agrees with sorting by variance and by R², and whether sort-and-regress gives the same graph."""
    if baseline.moments.n < least_squares_rows(baseline.moments.p):
        return unchecked("sorting", "takes more rows than variables.")
    if baseline.arbitrary is not None:
        return unchecked("sorting", "no error variances are compared, so no direction comes from the scales.")
    chosen = baseline.fit.selection
    if chosen is not None and chosen.row_p_values is not None:
        what = "by the rows" if baseline.fit.equations is None else "on rows of their own for each variable"
        return unchecked("sorting", f"takes parents by partial correlations, and these were found {what}.")
    variances = np.asarray(baseline.moments.variances)
    explained = r_squared(baseline.moments.R)
    place = np.arange(len(variances), dtype=np.float64)
    by_variance, by_r2 = agreement(place, variances), agreement(place, explained)
    other = sort_and_regress(baseline)
    distance = hamming(other, baseline.arrows)
    numbers = {
        "tau_variance": by_variance,
        "tau_r2": by_r2,
        "varsortability": sortability(baseline.arrows, variances),
        "r2_sortability": sortability(baseline.arrows, explained),
        "hamming_sort_and_regress": distance,
    }
    taus = f"Kendall's tau {by_variance:.2f} with sorting by variance, {by_r2:.2f} by R²"
    entries = counted(distance, "entry", "entries")
    level: Level = "fine"
    if baseline.count and distance == 0:
        level = "look"
        sentence = f"Sorting the columns by variance gives the same graph: the arrows follow the scales of the columns ({taus})."
    elif by_variance >= SORTED_FROM_TAU:
        level = "look"
        sentence = f"The order is nearly the order of the variances; sort-and-regress differs in {entries} ({taus})."
    else:
        sentence = (
            f"The order is not simply the order of the variances; sort-and-regress differs in {entries} ({taus})."
        )
    return Finding("sorting", level, sentence, numbers)
