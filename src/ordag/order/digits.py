"""How many digits of an ordering are real.

With L the factor in some order and W its inverse, row m of W times L_mm holds the coefficients of the residual of
variable m given its predecessors: e_m = Σ_j L_mm W_mj x_j. Columns known to a relative precision ε (their length
times ε) leave e_m known to ε Σ_j |L_mm W_mj| ‖x_j‖, which relative to ‖e_m‖ = L_mm is

    ε c_m,   c_m = Σ_j |W_mj| ‖x_j‖.

A variance computed from rows by orthogonal transformations is therefore right to about 2 ε c_m; one computed from a
matrix of squares and products (each entry right to ε ‖x_i‖ ‖x_j‖) to about ε c_m². docs/numerics.md shows these bounds
against 80-digit arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.errors import CollinearError, PrecisionError
from ordag.linalg import EPSILON, inverse
from ordag.words import counted, listed, shown

NEGLIGIBLE = 1e-9
"""Where every variance is known better than this, no choice is in doubt."""

HOPELESS = 1.0
"""A variance whose relative uncertainty reaches this is noise."""


@dataclass(frozen=True)
class Digits:
    """The inverse factor, the relative uncertainty of every step's variance, and the steps it leaves undecided."""

    W: Array
    uncertainty: Array
    undecided: tuple[str, ...]


def condition(W: Array, scale: Array) -> Array:
    """c_m = Σ_j |W_mj| ‖x_j‖ for every row m."""
    c = np.empty(len(W))
    step = max(1, 2**18 // max(1, len(W)))
    for start in range(0, len(W), step):  # a few rows at a time: |W| whole would be one more p × p matrix
        c[start : start + step] = np.einsum("ij,j->i", np.abs(W[start : start + step]), scale)
    return c


def noise(condition: Array, *, squared: bool) -> Array:
    """The relative uncertainty of a variance with this condition."""
    return EPSILON * condition**2 if squared else 2.0 * EPSILON * condition


def check_digits(
    moments: Moments,
    order: NDArray[np.intp],
    L: Array,
    scale: Array,
    direction: str | None = None,
    before: Mask | None = None,
) -> Digits:
    """Invert the factor, and refuse (CollinearError, PrecisionError) where a variance is rounding noise.

    `scale` are the lengths of the columns in this order. With a direction, also look for steps whose choice rests
    on digits that are not there; `before`, in this order, is the partial order that the choices had to keep to.
    """
    names = [moments.names[j] for j in order]
    empty = np.flatnonzero(np.diagonal(L) <= 0)
    stop = int(empty[0]) if len(empty) else len(L)
    W = inverse(np.asfortranarray(L[:stop, :stop]))
    uncertainty = noise(condition(W, scale[:stop]), squared=moments.squared)
    hopeless = np.flatnonzero(uncertainty >= HOPELESS)
    if len(hopeless):
        m = int(hopeless[0])
        _refuse(moments, names, m, W[m, :m] / -W[m, m] * scale[:m] / scale[m], float(uncertainty[m]))
    if stop < len(L):
        coefficients = L[stop, :stop] @ W * scale[:stop] / scale[stop]
        _refuse(moments, names, stop, coefficients, math.inf)
    undecided = () if direction is None else tuple(_undecided(L, W, scale, direction, names, moments.squared, before))
    return Digits(W, uncertainty, undecided)


def _refuse(moments: Moments, names: list[str], m: int, share: Array, uncertainty: float) -> None:
    """Raise for variable m, of which nothing is left but rounding; `share` says what the others make up of it."""
    involved = [names[j] for j in np.flatnonzero(np.abs(share) > 1e-8)]
    if len(involved) <= 8:
        what = (
            f"is a copy of {involved[0]}, up to shift and scale"
            if len(involved) == 1
            else f"is a linear combination of {listed(involved)}"
        )
        raise CollinearError(
            f"Column {shown(names[m])} {what}, to the last digit that float64 holds: leave one of these columns out."
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


def _undecided(
    L: Array, W: Array, scale: Array, direction: str, names: list[str], squared: bool, before: Mask | None
) -> Iterator[str]:
    """One sentence for every step whose winner and runner-up are closer than their rounding errors."""
    own = noise(condition(W, scale), squared=squared)
    if own.max() < NEGLIGIBLE:
        return
    rivals = _rivals_forward(L, W, scale, before) if direction == "forward" else _rivals_backward(W, scale, before)
    for m, b, gap, rival in rivals:
        uncertainty = own[m] + float(noise(np.asarray(rival), squared=squared))
        if gap < uncertainty:
            yield (
                f"step {m + 1}: {shown(names[m])} {'before' if direction == 'forward' else 'after'} {shown(names[b])} rests on a "
                f"relative difference of {gap:.1e} where {max(0.0, -math.log10(uncertainty)):.1f} digits are left"
            )


def _rivals_forward(L: Array, W: Array, scale: Array, before: Mask | None) -> Iterator[tuple[int, int, float, float]]:
    """For every step m: the runner-up b, how far behind it was, and its condition.

    Given the first m variables, b has the scatter Σ_{i≥m} L_bi² and the coefficients L_b,:m W_:m,:m. A variable
    that has to come after one of those left is no rival.
    """
    tails = np.cumsum(L[:, ::-1] ** 2, axis=1)[:, ::-1]
    for m in range(len(L) - 1):
        left = (
            tails[m + 1 :, m]
            if before is None
            else np.where(before[m:, m + 1 :].any(axis=0), math.inf, tails[m + 1 :, m])
        )
        b = m + 1 + int(left.argmin())
        if left[b - m - 1] == math.inf:
            continue
        coefficients = L[b, :m] @ W[:m, :m]
        rival = float(scale[b] + np.abs(coefficients) @ scale[:m]) / math.sqrt(tails[b, m])
        yield m, b, float(tails[b, m] / L[m, m] ** 2 - 1), rival


def _rivals_backward(W: Array, scale: Array, before: Mask | None) -> Iterator[tuple[int, int, float, float]]:
    """The same for the backward ordering, where step m chooses the last among the first m + 1 variables.

    Among those, b has the precision K_bb = Σ_{i≤m} W_ib², and K_b: = W_:b ᵀW over the same rows are the coefficients
    of its residual times K_bb. A variable that has to come before one of those is no rival.
    """
    heads = np.cumsum(W**2, axis=0)
    for m in range(1, len(W)):
        left = heads[m, :m] if before is None else np.where(before[:m, : m + 1].any(axis=1), math.inf, heads[m, :m])
        b = int(left.argmin())
        if left[b] == math.inf:
            continue
        coefficients = W[: m + 1, b] @ W[: m + 1, : m + 1]
        rival = float(np.abs(coefficients) @ scale[: m + 1]) / math.sqrt(heads[m, b])
        yield m, b, float(heads[m, b] / W[m, m] ** 2 - 1), rival
