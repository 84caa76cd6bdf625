r"""Have the columns been standardised, or scaled in another way that takes their variances from them?

The order is read off variances, so a table in which somebody has made the variances equal says nothing about directions.
With $v_j$ the sample variances, it counts as standardised if

- all are equal up to a factor of 1.05, or
- most are 1 to four digits, with divisor n or n − 1 (a correlation matrix has them exactly), or
- all lie within $1 \pm \min(\frac13,\, 3\sqrt{2/n})$, three standard errors of a Gaussian variance, and the largest and the
  smallest do not differ by the test of Pitman and Morgan (1939) at 1%, with Bonferroni's correction over pairs: rows scaled
  with the standard deviations of other rows, say. A user who states that the units are the same can overrule this one.

Where the rows are there, so does a table whose columns all run from exactly 0 (or −1) to 1, or all have median 0 and
interquartile range 1: the usual scalings of machine-learning libraries.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import stdtr

from ordag.arrays import Array
from ordag.data.moments import Moments
from ordag.trust.finding import Finding, Level, amount
from ordag.words import listed

EQUAL = 1.05
"""Variances within this factor of one another hold nothing to order by."""
EXACT = 1e-4
DIFFERENT = 0.01
CLOSE = 1.25
"""Up to this factor between the largest and the smallest variance one should know why."""

Kind = Literal["", "equal", "unit", "near unit", "range", "quartiles"]


class Scale(NamedTuple):
    """How the columns seem to have been scaled ("" if they do not), and the evidence."""

    kind: Kind
    spread: float
    """The largest variance over the smallest."""
    unit: tuple[str, ...]
    """The columns whose variance is 1 to four digits."""


def scale_of(moments: Moments, *, same_units: bool = False, rows: Array | None = None) -> Scale:
    """What the variances, and the rows where they are there, say about scaling."""
    n, p = moments.n, moments.p
    variances = np.asarray(moments.variances) / (n - 1.0)
    spread = float(variances.max() / variances.min())
    exact = np.minimum(np.abs(variances - 1.0), np.abs(variances * (n - 1.0) / n - 1.0)) < EXACT
    unit = tuple(moments.names[j] for j in np.flatnonzero(exact).tolist())
    kind: Kind = ""
    if len(unit) >= 2 and 2 * len(unit) > p:
        kind = "unit"
    elif spread <= EQUAL:
        kind = "equal"
    elif not same_units and _near_unit(moments, variances):
        kind = "near unit"
    elif rows is not None:
        kind = _scaled_rows(rows)
    return Scale(kind, spread, unit)


def _near_unit(moments: Moments, variances: Array) -> bool:
    """Whether the variances may all be 1, but for chance."""
    n, p = moments.n, moments.p
    if np.abs(variances - 1.0).max() > min(1.0 / 3.0, 3.0 * np.sqrt(2.0 / n)):
        return False
    i, j = sorted((int(np.argmin(variances)), int(np.argmax(variances))))
    S = moments.scatter
    c = (float(S[j, i]) if S is not None else float(moments.R[:, i] @ moments.R[:, j])) / (n - 1.0)
    d = n - 2.0
    t = abs(variances[i] - variances[j]) * np.sqrt(d / (4.0 * max(variances[i] * variances[j] - c * c, 1e-300)))
    return float(2.0 * stdtr(d, -t)) * p * (p - 1) / 2 >= DIFFERENT


def _scaled_rows(rows: Array) -> Kind:
    least, most = rows.min(axis=0), rows.max(axis=0)
    if np.allclose(most, 1.0, atol=1e-9) and (
        np.allclose(least, 0.0, atol=1e-9) or np.allclose(least, -1.0, atol=1e-9)
    ):
        return "range"
    low, middle, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
    if np.abs(middle).max() < EXACT and np.abs(high - low - 1.0).max() < EXACT:
        return "quartiles"
    return ""


DESCRIPTIONS: dict[Kind, str] = {
    "equal": f"all columns have the same variance up to a factor of {EQUAL:g}",
    "near unit": "all columns have a variance near 1, as after standardising",
    "range": "all columns run from the same lowest value to exactly 1, as after scaling to a range",
    "quartiles": "all columns have median 0 and interquartile range 1, as after robust scaling",
}


def describe(scale: Scale, p: int) -> str:
    """Why the table counts as standardised, as part of a sentence."""
    if scale.kind != "unit":
        return DESCRIPTIONS[scale.kind]
    return f"{'all' if len(scale.unit) == p else f'{len(scale.unit)} of {p}'} columns have variance 1, as after standardising"


def scale_finding(moments: Moments, scale: Scale) -> Finding:
    """Are all columns near unit variance?"""
    p = moments.p
    numbers = {"kind": scale.kind, "spread": scale.spread, "unit_columns": list(scale.unit)}
    level: Level = "fine"
    if scale.kind:
        level, sentence = "warning", f"{describe(scale, p)}: their variances say nothing about directions."
    elif len(scale.unit) >= 2:
        level = "warning"
        sentence = (
            f"{listed(scale.unit)} have variance 1, as after standardising: directions between them mean nothing."
        )
    elif scale.spread <= CLOSE:
        level = "look"
        sentence = (
            f"The variances of the columns differ by a factor of {amount(scale.spread)} only: little to order them by."
        )
    else:
        sentence = f"The variances of the columns differ by a factor of {amount(scale.spread)}: they have not been standardised."
    return Finding("scale", level, sentence[0].upper() + sentence[1:], numbers)
