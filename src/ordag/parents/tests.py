"""Tests of zero partial correlation, and all of Step 2's partial correlations from one triangular inverse."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from scipy.special import chdtrc, chdtri, ndtr, ndtri, stdtr, stdtrit

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.checks import check_choice
from ordag.common.linalg import EPSILON, upper_part
from ordag.errors import SettingError
from ordag.order.device_factor import DeviceFactor
from ordag.order.factor import Factor

Test: TypeAlias = Callable[[Array, int, Array], Array]
"""A test returns p-values from partial correlations r, the number of rows n, and k, the number of variables that each r is conditioned on
(an array that broadcasts against r). Any function of that form can be used."""

Pairs: TypeAlias = tuple[Indices, Indices, Array]
"""(later, earlier) positions of pairs, and their partial correlations."""


def fisher_z(r: Array, n: int, k: Array) -> Array:
    """Fisher's z: $\\sqrt{n-k-3}\\,\\operatorname{artanh} r$ against the standard normal (the paper's test)."""
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * ndtr(-np.sqrt(n - k - 3.0) * np.arctanh(np.abs(r))))


def student_t(r: Array, n: int, k: Array) -> Array:
    """Exact for Gaussian rows: $r\\sqrt{d/(1-r^2)}$ against Student's t with d = n − k − 2 degrees of freedom."""
    d = n - k - 2.0
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * stdtr(d, -np.abs(r) * np.sqrt(d / (1.0 - r * r))))


def mutual_information(r: Array, n: int, k: Array) -> Array:
    """Likelihood ratio: 2n times the Gaussian mutual information, $-n \\log(1-r^2)$, against chi-square, one degree."""
    with np.errstate(divide="ignore"):
        return np.asarray(chdtrc(1.0, -n * np.log1p(-r * r)))


def _critical_z(alpha: float, n: int, k: Array) -> Array:
    return np.asarray(np.tanh(-ndtri(alpha / 2.0) / np.sqrt(n - k - 3.0)))


def _critical_t(alpha: float, n: int, k: Array) -> Array:
    d = n - k - 2.0
    t = -stdtrit(d, alpha / 2.0)
    return np.asarray(t / np.sqrt(d + t * t))


def _critical_information(alpha: float, n: int, k: Array) -> Array:
    return np.full(np.shape(k), math.sqrt(-math.expm1(-float(chdtri(1.0, alpha)) / n)))


CRITICAL: dict[Test, Callable[[float, int, Array], Array]] = {
    fisher_z: _critical_z,
    student_t: _critical_t,
    mutual_information: _critical_information,
}
"""The least |r| with a p-value of alpha, for tests that have a formula: p − 1 thresholds instead of p² p-values."""

TESTS: dict[str, Test] = {"fisher-z": fisher_z, "t": student_t, "mutual-information": mutual_information}


def named_test(test: Any) -> Test:
    """Return the test of this name, or the caller's function."""
    if callable(test):
        return test if test in CRITICAL else partial(_checked, test)
    check_choice("test", test, TESTS, f"{', '.join(TESTS)}, or a function (r, n, k) → p-values")
    return TESTS[test]


def _checked(test: Test, r: Array, n: int, k: Array) -> Array:
    """Return the p-values of a caller's test; SettingError if they are none."""
    try:
        values = np.asarray(test(r, n, k), dtype=np.float64)
        if values.shape == r.shape and ((values >= 0.0) & (values <= 1.0)).all():
            return values
    except (TypeError, ValueError) as error:
        raise SettingError(f"The test gave no p-values: {error}.") from error
    raise SettingError("The test gave something other than one p-value between 0 and 1 for every r.")


def partial_correlations(W: Array) -> Array:
    """Return the correlation of each variable with each predecessor given all its other predecessors, at [later, earlier].

    With W = L⁻¹ the inverse factor, $r_{mj} = -W_{mj} / \\sqrt{\\sum_{i=j}^{m} W_{ij}^2}$: the precision matrix of the
    first m + 1 variables is W'ᵀW' with W' the leading rows of W, and its last row and diagonal give r.
    Entries on and above the diagonal are zero. Takes a stack of W too.
    """
    squares = np.cumsum(np.square(W), axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Array = np.divide(W, np.sqrt(squares, out=squares), out=squares)
    np.negative(r, out=r)
    np.copyto(r, 0.0, where=~np.tri(W.shape[-1], k=-1, dtype=bool))
    return r


CACHE_NUMBERS = 2**16
"""Numbers worked on at once: what stays in a processor's cache."""


@dataclass(frozen=True, eq=False)
class Slab:
    r"""For some later variables, from `start` on, rows of W and the running sums $\sum_{i=j}^m W_{ij}^2$, at [later - start, earlier]."""

    start: int
    W: Array
    squares: Array

    @cached_property
    def r(self) -> Array:
        """`partial_correlations` with all earlier variables; zero on the diagonal and above it."""
        r = np.sqrt(self.squares)
        with np.errstate(invalid="ignore", divide="ignore"):
            np.divide(-self.W, r, out=r)
        r[:, self.start :][upper_part(len(r))] = 0.0
        return r

    @property
    def stop(self) -> int:
        return self.start + len(self.W)

    @property
    def later(self) -> Indices:
        return np.arange(self.start, self.stop)

    @property
    def pairs(self) -> Mask:
        """The entries below the diagonal of the whole matrix."""
        return np.tri(len(self.W), self.stop, self.start - 1, dtype=bool)

    def positions(self, joined: Mask) -> tuple[Indices, Indices]:
        """(later, earlier) positions of a mask over the slab."""
        later, earlier = np.nonzero(joined)
        return later + self.start, earlier


def slabs(factor: Factor, stop: int | None = None) -> Iterator[Slab]:
    """Yield a few later variables at a time, up to `stop`, as many as stay in a processor's cache."""
    p = len(factor) if stop is None else stop
    above = np.zeros(p)
    step = max(1, CACHE_NUMBERS // max(p, 1))
    for start in range(0, p, step):
        rows = factor.W_rows(start, min(start + step, p))
        yield Slab(start, rows, added_up(np.square(rows), above))


def added_up(rows: Array, above: Array) -> Array:
    """Sum down the rows in place, on from the sums `above`, which are updated."""
    here = above[: rows.shape[1]]
    rows[0] += here
    np.cumsum(rows, axis=0, out=rows)
    here[:] = rows[-1]
    return rows


def correlations_of(factor: Factor, later: Indices, earlier: Indices) -> Array:
    """`partial_correlations` of some pairs of positions only."""
    if isinstance(factor, DeviceFactor):
        return factor.correlations_of(later, earlier)
    r = np.empty(len(later))
    by_row = np.argsort(later, kind="stable")
    sorted_ = later[by_row]
    for slab in slabs(factor, int(sorted_[-1]) + 1 if len(later) else 0):
        first, last = np.searchsorted(sorted_, (slab.start, slab.stop))
        at = by_row[first:last]
        entries = later[at] - slab.start, earlier[at]
        with np.errstate(invalid="ignore", divide="ignore"):
            r[at] = -slab.W[entries] / np.sqrt(slab.squares[entries])
    return r


def correlations_with(factor: Factor, later: list[int]) -> Iterator[tuple[int, Array]]:
    """Yield `partial_correlations` of some later variables, sorted by position, with all earlier ones."""
    first = 0
    for slab in slabs(factor, later[-1] + 1 if later else 0):
        last = bisect_left(later, slab.stop, first)
        for m in later[first:last]:
            row = m - slab.start
            yield m, -slab.W[row, :m] / np.sqrt(slab.squares[row, :m])
        first = last


def in_doubt(factor: Factor, n: int, test: Test, alpha: float, condition: Array, *, squared: bool) -> Iterator[Pairs]:
    """Yield the pairs whose test would decide otherwise within the rounding of r, and how far that may have moved r."""
    if isinstance(factor, DeviceFactor) and test in CRITICAL:
        least = CRITICAL[test](alpha, n, conditioned_on(np.arange(len(factor))))
        yield from factor.in_doubt(least, condition, partial(_moved, squared=squared))
        return
    joined_at = decision(len(factor), n, test, alpha)
    for slab, rounding in correlation_noise(factor, condition, squared=squared):
        below, above = (
            joined_at(np.clip(np.abs(slab.r) + moved, 0.0, np.nextafter(1.0, 0.0)), slab.start)
            for moved in (-rounding, rounding)
        )
        at = (below != above) & slab.pairs
        yield *slab.positions(at), rounding[at]


def correlation_noise(factor: Factor, condition: Array, *, squared: bool) -> Iterator[tuple[Slab, Array]]:
    r"""Yield how far rounding may have moved each of `partial_correlations`, slab by slab at [later - start, earlier].

    With c the `condition` and $b_{mj} = \sum_{i=j}^m |W_{ij}| c_i / \sqrt{\sum_{i=j}^m W_{ij}^2}$ by $\varepsilon (b_{mj} + c_m)$ from
    rows, and from squares and products by $\varepsilon (b_{mj} + c_m)^2 / 2$ (docs/numerics.md).
    """
    above = np.zeros(len(factor))
    for slab in slabs(factor):
        c = condition[slab.start : slab.stop, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            total = added_up(np.abs(slab.W) * c, above) / np.sqrt(slab.squares) + c
        yield slab, np.tril(_moved(total, squared=squared), slab.start - 1)


def _moved(total: Any, *, squared: bool) -> Any:
    """Rounding, from $b_{mj} + c_m$, as NumPy or PyTorch arrays."""
    return EPSILON * (total**2 / 2.0 if squared else total)


def conditioned_on(positions: Indices) -> Array:
    """Return the number of variables that pairs with these later positions are conditioned on: all other predecessors."""
    return np.asarray(np.maximum(positions - 1.0, 0.0))


def p_values(r: Array, n: int, test: Test) -> Array:
    """Return the p-value of every pair of `partial_correlations`, at [later, earlier]; one on and above the diagonal."""
    values = np.ones(r.shape)
    p = r.shape[-1]
    step = max(1, CACHE_NUMBERS // max(p, 1))
    for start in range(0, p, step):
        stop = min(start + step, p)
        k = conditioned_on(np.arange(start, stop))[:, None]
        block = test(r[..., start:stop, :stop], n, k)
        values[..., start:stop, :stop] = np.where(np.tri(stop - start, stop, start - 1, dtype=bool), block, 1.0)
    return values


def rejected(r: Array, n: int, test: Test, alpha: float) -> Mask:
    """Return the pairs whose p-value is at most alpha, at [later, earlier]."""
    if test not in CRITICAL:
        return p_values(r, n, test) <= alpha
    least = CRITICAL[test](alpha, n, conditioned_on(np.arange(r.shape[-1])))[:, None]
    return (r >= least) | (r <= -least)


def decision(p: int, n: int, test: Test, alpha: float) -> Callable[[Array, int], Mask]:
    """Return a function of the |r| of a `Slab`, and its start, that marks those with a p-value of at most alpha."""
    if test not in CRITICAL:
        return lambda r, start: test(r, n, conditioned_on(np.arange(start, start + len(r)))[:, None]) <= alpha
    least = CRITICAL[test](alpha, n, conditioned_on(np.arange(p)))[:, None]
    return lambda r, start: r >= least[start : start + len(r)]


def significant(factor: Factor, n: int, test: Test, alpha: float) -> Iterator[Pairs]:
    """Yield the pairs whose p-value is at most alpha, sorted, some at a time; if W is on a device, they are found there."""
    if isinstance(factor, DeviceFactor) and test in CRITICAL:
        yield from factor.correlated(CRITICAL[test](alpha, n, conditioned_on(np.arange(len(factor)))))
        return
    found = decision(len(factor), n, test, alpha)
    for slab in slabs(factor):
        joined = found(np.abs(slab.r) if test in CRITICAL else slab.r, slab.start) & slab.pairs
        yield *slab.positions(joined), slab.r[joined]
