r"""Detect columns that were standardised, or scaled in another way that makes their variances meaningless.

The order is read off variances, so a table whose columns have been rescaled to be alike carries no information about directions. It
counts as scaled if one measure of spread is the same for all columns, whatever its value:

- all variances are equal up to a factor of 1.05, or half of the columns share theirs with others to four digits: z-scores, the
  same times 10 or 15, or half of a table standardised (a correlation matrix has variances of exactly 1);
- all columns have the same least and the same greatest value, or the same greatest absolute value;
- all columns have median 0 and the same interquartile range, or the same median absolute deviation.

The last two take the rows, and columns of whole numbers are exempt from all but the first rule: answers from 1 to 5 share their
range by nature. Where a table is larger than the sample of rows that is kept, quartiles and deviations may differ by what such a
sample leaves open.

Variances may also be equal but for chance: rows scaled with the standard deviations of other rows, say. They are *near* if the
largest and the smallest do not differ by the test of Pitman and Morgan (1939) at 1%, with Bonferroni's correction over pairs. So
they are in a table of weak effects, too; the verdict decides by the error variances, which scaling makes unequal. A user who
states that the units are the same can overrule this one.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.assess.finding import Finding, Level
from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON
from ordag.common.words import amount, listed
from ordag.data.moments import Moments
from ordag.data.profile import Profile
from ordag.learners.found import Found
from ordag.order.ordering import pitman_morgan

EQUAL = 1.05
"""Variances within this factor of one another hold nothing to order by."""
SAME = 1e-4
"""Variances, and extremes, that differ by a smaller share are the same; rounding to three digits still leaves that."""
ROUNDED = 2e-3
"""The same for quartiles and deviations, which are differences of single values."""
DIFFERENT = 0.01
CLOSE = 1.25
"""Up to this factor between the largest and the smallest variance one should know why."""

Kind = Literal["", "equal", "shared", "range", "largest", "quartiles", "deviation"]


class Scale(NamedTuple):
    """How the columns seem to have been scaled ("" if they do not), and the evidence."""

    kind: Kind
    spread: float
    """The largest variance over the smallest."""
    shared: tuple[str, ...]
    """The columns whose variance is that of another column to four digits."""
    near: bool
    """Whether all variances may be equal but for chance."""


def scale_of(moments: Moments, profile: Profile | None = None, *, same_units: bool = False) -> Scale:
    """Return how the columns seem to have been scaled, from their variances and, if available, the rows."""
    variances = np.asarray(moments.variances)
    spread = float(variances.max() / variances.min())
    profile = None if profile is None else profile.complete
    if profile is not None and not len(profile.rows):
        profile = None
    whole = profile is not None and bool((profile.rows == np.round(profile.rows)).all())
    shared = np.zeros(moments.p, dtype=bool) if whole else _shared(variances)
    kind: Kind = ""
    if spread <= EQUAL:
        kind = "equal"
    elif 2 * shared.sum() >= moments.p:
        kind = "shared"
    elif profile is not None and not whole:
        kind = _scaled_rows(profile)
    near = not same_units and not kind and _near(moments, variances)
    return Scale(kind, spread, tuple(moments.names[j] for j in np.flatnonzero(shared).tolist()), near)


def _shared(variances: Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return the columns in groups of the same variance; of many columns a fifth, so that a group is no coincidence."""
    order = np.argsort(variances)
    ordered = variances[order]
    group = np.concatenate([[0], np.cumsum(ordered[1:] > (1.0 + SAME) * ordered[:-1])])
    size = np.bincount(group)[group]
    found = np.zeros(len(variances), dtype=bool)
    found[order] = size >= max(2.0, 0.2 * len(variances))
    return found


def _near(moments: Moments, variances: Array) -> bool:
    """Return whether the variances differ by no more than chance explains."""
    n, p = moments.n, moments.p
    i, j = sorted((int(np.argmin(variances)), int(np.argmax(variances))))
    S = moments.scatter
    c = float(S[j, i]) if S is not None else float(moments.R[:, i] @ moments.R[:, j])
    a, b = np.sqrt(variances[i]), np.sqrt(variances[j])
    rest = b * np.sqrt(max(1.0 - (c / a / b) ** 2, EPSILON))
    return float(pitman_morgan(a, b, rest, np.asarray(n - 2.0))) * p * (p - 1) / 2 >= DIFFERENT


def _scaled_rows(profile: Profile) -> Kind:
    if _same(profile.most - profile.least, SAME) and _same(profile.least, SAME, profile.most - profile.least):
        return "range"
    if _same(np.maximum(np.abs(profile.least), np.abs(profile.most)), SAME):
        return "largest"
    low, middle, high = np.quantile(profile.rows, [0.25, 0.5, 0.75], axis=0)
    tolerance = ROUNDED if profile.stride == 1 else 4.0 / np.sqrt(len(profile.rows))
    deviation = np.median(np.abs(profile.rows - middle), axis=0)
    if not _same(middle, tolerance, high - low) or np.abs(middle).max() > tolerance * (high - low).max():
        return ""
    return "quartiles" if _same(high - low, tolerance) else "deviation" if _same(deviation, tolerance) else ""


def _same(values: Array, tolerance: float, unit: Array | None = None) -> bool:
    """Return whether a measure is equal for all columns, relative to itself or to another measure."""
    return float(np.ptp(values)) <= tolerance * float(np.min(np.abs(values) if unit is None else unit))


DESCRIPTIONS: dict[Kind, str] = {
    "equal": f"all columns have the same variance up to a factor of {EQUAL:g}, as after standardising",
    "range": "all columns run from the same lowest to the same highest value, as after scaling to a range",
    "largest": "all columns have the same largest absolute value, as after dividing by it",
    "quartiles": "all columns have median 0 and the same interquartile range, as after robust scaling",
    "deviation": "all columns have median 0 and the same median absolute deviation, as after robust scaling",
}


def describe(scale: Scale, p: int) -> str:
    """Why the table counts as scaled, as part of a sentence."""
    if scale.kind != "shared":
        return DESCRIPTIONS[scale.kind]
    which = "all" if len(scale.shared) == p else f"{len(scale.shared)} of {p}"
    return f"{which} columns share their variance with others to four digits, as after standardising"


def scale_finding(moments: Moments, scale: Scale) -> Finding:
    """Report whether the columns were scaled to a common size."""
    p = moments.p
    numbers = {
        "kind": scale.kind,
        "spread": scale.spread,
        "shared_variance": list(scale.shared),
        "near": scale.near,
    }
    level: Level = "fine"
    if scale.kind:
        level, sentence = "warning", f"{describe(scale, p)}: their variances say nothing about directions."
    elif len(scale.shared) >= 2:
        level = "warning"
        sentence = f"{listed(scale.shared)} have the same variance, as after standardising: directions between them mean nothing."
    elif scale.spread <= CLOSE:
        level = "look"
        sentence = (
            f"The variances of the columns differ by a factor of {amount(scale.spread)} only: little to order them by."
        )
    else:
        sentence = f"The variances of the columns differ by a factor of {amount(scale.spread)}: they have not been standardised."
    return Finding("scale", level, sentence[0].upper() + sentence[1:], numbers)


class Turning(NamedTuple):
    r"""The arrows along the order, as column numbers, the ratio of error variances that would reverse each, and its margin v_b/v_a.

    Let a → b be an arrow along an order, and $v_a, v_b, c$ the variances and the covariance of the two given everything before a. If b
    came first instead, its error variance would be $v_b$ and that of a would be $v_a - c^2/v_b$. So the arrow can only be wrong if
    two error variances differ by the factor

        $\frac{v_b}{v_a - c^2/v_b} = \frac{v_b}{v_a (1 - r^2)}$,    $r^2 = \frac{c^2}{v_a v_b}$.

    Where all error variances are known to lie within a smaller factor, no arrow can be turned round.
    """

    source: NDArray[np.intp]
    target: NDArray[np.intp]
    factor: Array
    margin: Array


def turning_factors(found: Found) -> Turning | None:
    """Return the reversing factors of the arrows along the order of a fit; None without an order or such an arrow."""
    if found.factor is None:
        return None
    ordering = found.known_ordering
    source, target = found.graph.arrows.source, found.graph.arrows.target
    place = np.argsort(ordering.order)
    along = place[source] < place[target]
    source, target = source[along], target[along]
    if not len(source):
        return None
    v_a, v_b, c = ordering.pair(place[source], place[target])
    explained = (c / v_a) * (c / v_b)
    margin = v_b / v_a
    return Turning(source, target, margin / np.maximum(1.0 - explained, np.finfo(float).eps), margin)
