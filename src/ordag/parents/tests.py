"""Tests of zero partial correlation, and all of Step 2's partial correlations from one triangular inverse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, ndtr, ndtri, stdtr, stdtrit

from ordag.arrays import Array, Mask
from ordag.checks import check_choice
from ordag.errors import SettingError
from ordag.linalg import EPSILON

Test: TypeAlias = Callable[[Array, int, Array], Array]
"""A test takes partial correlations r, the number of rows n, and k, how many variables each r is conditioned on
(an array that broadcasts against r), and gives p-values. Any function of that form can be used."""


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
"""The least |r| with a p-value of alpha, for tests where it can be had: p − 1 thresholds instead of p² p-values."""

TESTS: dict[str, Test] = {
    "fisher-z": fisher_z,
    "t": student_t,
    "mutual-information": mutual_information,
}


def named_test(test: Any) -> Test:
    """The test of this name, or the caller's own."""
    if callable(test):
        return test if test in CRITICAL else partial(_own, test)
    check_choice("test", test, TESTS, f"{', '.join(TESTS)}, or a function (r, n, k) → p-values")
    return TESTS[test]


def _own(test: Test, r: Array, n: int, k: Array) -> Array:
    """A test of the caller's, if it gives what a test gives."""
    try:
        values = np.asarray(test(r, n, k), dtype=np.float64)
        if values.shape == r.shape and ((values >= 0.0) & (values <= 1.0)).all():
            return values
    except (TypeError, ValueError) as error:
        raise SettingError(f"The test gave no p-values: {error}.") from error
    raise SettingError("The test gave something other than one p-value between 0 and 1 for every r.")


def partial_correlations(W: Array) -> Array:
    """Correlation of each variable with each predecessor given all its other predecessors, at [later, earlier].

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


TOGETHER = 2**16
"""Numbers of a slab: what stays in a processor's cache."""


class Slab(NamedTuple):
    """The partial correlations of all later variables with some earlier ones, at [earlier - start, later - start].

    Only those where the later one is later count: `pairs` has their places, and r is zero elsewhere.
    """

    start: int
    r: Array

    @property
    def pairs(self) -> Mask:
        rows, columns = self.r.shape
        return ~np.tri(rows, columns, dtype=bool)

    def part_of(self, mask: Mask) -> Mask:
        """What a mask at [later, earlier] says of the slab."""
        return mask[self.start :, self.start : self.start + len(self.r)].T

    def positions(self, joined: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """(later, earlier) of the places in a mask over the slab."""
        earlier, later = np.nonzero(joined)
        return later + self.start, earlier + self.start


def slabs(W: Array) -> Iterator[Slab]:
    """`partial_correlations` of a few earlier variables at a time, as many as stay in a processor's cache: never p × p numbers."""
    p = len(W)
    step = max(1, TOGETHER // max(p, 1))
    for start in range(0, p, step):
        yield Slab(start, np.triu(_of_columns(W[start:, start : start + step].T), 1))


def correlations_of(W: Array, later: NDArray[np.intp], earlier: NDArray[np.intp]) -> Array:
    """`partial_correlations` of some pairs of positions only."""
    r = np.empty(len(later))
    if not len(later):
        return r
    by_column = np.argsort(earlier, kind="stable")
    columns, starts = np.unique(earlier[by_column], return_index=True)
    for j, at in zip(columns.tolist(), np.split(by_column, starts)[1:], strict=True):
        r[at] = _of_columns(W[j:, j])[later[at] - j]
    return r


def _of_columns(columns: Array) -> Array:
    """r from columns of W, which lie in the rows here, and begin at their diagonals or before."""
    squares = np.cumsum(np.square(columns), axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.divide(-columns, np.sqrt(squares, out=squares), out=squares))


def correlation_noise(W: Array, condition: Array, *, squared: bool) -> Array:
    r"""How far rounding may have moved every one of `partial_correlations`, at [later, earlier].

    Some columns of W will do, from the diagonal of the first on, with the condition of those rows.
    With c the `condition` and $b_{mj} = \sum_{i=j}^m |W_{ij}| c_i / \sqrt{\sum_{i=j}^m W_{ij}^2}$ by $\varepsilon (b_{mj} + c_m)$ from
    rows, and from squares and products by $\varepsilon (b_{mj} + c_m)^2 / 2$ (docs/numerics.md).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        b = np.cumsum(np.abs(W) * condition[:, None], axis=0) / np.sqrt(np.cumsum(W**2, axis=0))
    total = b + condition[:, None]
    return np.tril(EPSILON * (total**2 / 2.0 if squared else total), -1)


def conditioned_on(positions: NDArray[np.intp]) -> Array:
    """How many variables the pairs of these (later) positions are conditioned on: all other predecessors."""
    return np.asarray(np.maximum(positions - 1.0, 0.0))


def p_values(r: Array, n: int, test: Test) -> Array:
    """The p-value of every pair of `partial_correlations`, at [later, earlier]; one on and above the diagonal."""
    values = np.ones(r.shape)
    for start, stop in _blocks(r.shape[-1]):
        k = conditioned_on(np.arange(start, stop))[:, None]
        block = test(r[..., start:stop, :stop], n, k)
        values[..., start:stop, :stop] = np.where(np.tri(stop - start, stop, start - 1, dtype=bool), block, 1.0)
    return values


def rejected(r: Array, n: int, test: Test, alpha: float) -> Mask:
    """The pairs whose p-value is at most alpha, at [later, earlier]."""
    if test not in CRITICAL:
        return p_values(r, n, test) <= alpha
    least = CRITICAL[test](alpha, n, conditioned_on(np.arange(r.shape[-1])))[:, None]
    return (r >= least) | (r <= -least)


def decision(p: int, n: int, test: Test, alpha: float) -> Callable[[Array, int], Mask]:
    """A function that says of the |r| of a `Slab`, and its start, which have a p-value of at most alpha."""
    if test not in CRITICAL:
        return lambda r, start: test(r, n, conditioned_on(np.arange(start, start + r.shape[1]))) <= alpha
    least = CRITICAL[test](alpha, n, conditioned_on(np.arange(p)))
    return lambda r, start: r >= least[start:]


def significant(W: Array, n: int, test: Test, alpha: float) -> Iterator[tuple[Slab, Mask]]:
    """Slab by slab the pairs whose p-value is at most alpha, as a mask over the slab."""
    found = decision(len(W), n, test, alpha)
    for slab in slabs(W):
        yield slab, found(np.abs(slab.r) if test in CRITICAL else slab.r, slab.start) & slab.pairs


def _blocks(p: int) -> Iterator[tuple[int, int]]:
    """Rows from start to stop of p × p matrices, a few at a time: what stays in a processor's cache."""
    step = max(1, 2**16 // p)
    return ((start, min(start + step, p)) for start in range(0, p, step))
