"""How many digits of an ordering are real.

With W the inverse factor in some order, the variance of variable m given its predecessors has the condition
c_m = Σ_j |W_mj| ‖x_j‖. From rows it is right to about 2 ε c_m, from a matrix of squares and products to about ε c_m²
(docs/numerics.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import EPSILON, lengths, triangle
from ordag.common.words import collinear, counted, joined, shown
from ordag.data.moments import Moments
from ordag.data.reading import without
from ordag.data.relations import WIDEST_RELATION
from ordag.errors import CollinearError, PrecisionError
from ordag.order.cholesky import Pivots
from ordag.order.factor import Factor
from ordag.order.ordering import Candidates, Ordering

NEGLIGIBLE = 1e-9
"""Where every variance is known better than this, no choice is in doubt."""

HOPELESS = 1.0
"""A variance whose relative uncertainty reaches this is noise."""


SPENT_SHARE = 1e-13
"""The share of its length below which nothing is left of a column."""


def noise(condition: Array, *, squared: bool) -> Array:
    """Return the relative uncertainty of a variance with this condition."""
    return EPSILON * condition**2 if squared else 2.0 * EPSILON * condition


def column_lengths(moments: Moments) -> Array:
    """Return the length of every column as the rows hold it, its mean included: rounding is relative to that."""
    if moments.scatter is not None:
        return np.asarray(np.sqrt(moments.scatter.diagonal() + moments.n * moments.mean**2))
    return np.asarray(np.hypot(lengths(moments.R), np.sqrt(moments.n) * moments.mean))


def checked_ordering(
    moments: Moments, pivots: Pivots, factor: Factor, before: Mask | None, rule: str, refreshes: int
) -> Ordering:
    """Invert the factor in place, and return the ordering with its undecided steps.

    CollinearError or PrecisionError where a variance is rounding noise. `before` is the partial order that the steps had to keep to.
    """
    order = pivots.order
    scale = column_lengths(moments)[order]
    names = [moments.names[j] for j in order]
    empty = np.flatnonzero(factor.L_diagonal <= 0)
    stop = int(empty[0]) if len(empty) else len(order)
    factor.invert(count=stop)
    uncertainty = noise(factor.condition(scale[:stop]), squared=moments.squared)
    hopeless = np.flatnonzero(uncertainty >= HOPELESS)
    if len(hopeless):
        m = int(hopeless[0])
        coefficients = factor.W_at(m, slice(m)) / -factor.W_at(m, m)
        _refuse(moments, names, m, coefficients * scale[:m] / scale[m], float(uncertainty[m]))
    if stop < len(order):
        coefficients = factor.L_at(stop, slice(stop)) @ factor.W[:stop, :stop]
        _refuse(moments, names, stop, coefficients * scale[:stop] / scale[stop], math.inf)
    ordering = Ordering.along(
        order, moments, factor, pivots.runner_up, rule, uncertainty=uncertainty, refreshes=refreshes
    )
    if uncertainty.max() < NEGLIGIBLE:
        return ordering
    W = factor.W
    found = [one for steps in ordering.candidates(before) for one in _undecided(ordering, W, steps, scale, uncertainty)]
    return replace(ordering, undecided=tuple(sentence for _, sentence in sorted(found)))


def _refuse(moments: Moments, names: list[str], m: int, share: Array, uncertainty: float) -> None:
    """Raise for variable m, of which only rounding is left; `share` is the part of each other variable in it."""
    involved = [names[j] for j in np.flatnonzero(np.abs(share) > 1e-8)]
    if len(involved) <= 8:
        given = "Within the clusters, " if moments.clusters is not None and len(moments.clusters.numbers) > 1 else ""
        if moments.adjusted_for:
            given = f"{given[:-2]} and with " if given else "With "
            given += f"{joined([shown(one.name) for one in moments.adjusted_for])} held fixed, "
        words = collinear(names[m], involved)
        raise CollinearError(
            f"{given}{words[:1].lower()}{words[1:]}" if given else words,
            remedies=without(_spare(moments, names, names[m]), moments.names),
        )
    if moments.squared:
        remedy = "A covariance matrix keeps half the digits of its rows: give the rows instead, or fewer columns."
    else:
        remedy = "No order can be read off these numbers in float64: use fewer columns, or data with less collinearity."
    digits = "no digit" if uncertainty >= 1 else f"{-math.log10(uncertainty):.1f} digits"
    raise PrecisionError(
        f"At step {m + 1} of {moments.p}, {shown(names[m])} given {counted(len(involved), 'column')} before it has {digits} left of its "
        f"variance. {remedy}"
    )


def _spare(moments: Moments, names: list[str], first: str) -> list[str]:
    """Return the columns that can go for the others to be independent, `first` and those that follow from others before them."""
    left = [moments.names.index(name) for name in names if name != first]
    R, spare = moments.R / column_lengths(moments), [first]
    least = math.sqrt(SPENT_SHARE) if moments.squared else SPENT_SHARE
    while len(left) <= WIDEST_RELATION:
        gone = np.flatnonzero(np.abs(triangle(R[:, left]).diagonal()) <= least)
        if not len(gone):
            break
        spare.append(moments.names[left.pop(int(gone[0]))])
    return spare


def _undecided(
    ordering: Ordering, W: Array, steps: Candidates, scale: Array, uncertainty: Array
) -> Iterator[tuple[int, str]]:
    """Return the number and a sentence for every step whose winner and runner-up are closer than their rounding errors."""
    moments, order, nearest = ordering.moments, ordering.order, steps.nearest
    for row in np.flatnonzero(steps.rivals.any(axis=1)).tolist():
        m, b = steps.first + row, int(nearest[row])
        value = float(steps.values[row, b - steps.start])
        gap = value / float(steps.chosen[row]) - 1
        rival = _residual_terms(ordering, W, m, b, scale) / math.sqrt(value)
        bound = uncertainty[m] + float(noise(np.asarray(rival), squared=moments.squared))
        if gap < bound:
            side = "after" if ordering.rule == "backward" else "before"
            yield (
                m,
                (
                    f"step {m + 1}: {shown(moments.names[order[m]])} {side} {shown(moments.names[order[b]])} rests on a "
                    f"relative difference of {gap:.1e} where {max(0.0, -math.log10(bound)):.1f} digits are left"
                ),
            )


def _residual_terms(ordering: Ordering, W: Array, m: int, b: int, scale: Array) -> float:
    """Return the sum of the lengths of all terms of the residual of b at step m.

    Given the first m variables its coefficients are L_b,:m W_:m,:m. Given the others of the first m + 1 ("backward")
    K_b: = W_:bᵀ W over their rows are its coefficients times its precision K_bb.
    """
    if ordering.rule == "backward":
        return float(np.abs(W[: m + 1, b] @ W[: m + 1, : m + 1]) @ scale[: m + 1])
    return float(scale[b] + np.abs(ordering.known_factor.L_at(b, slice(m)) @ W[:m, :m]) @ scale[:m])
