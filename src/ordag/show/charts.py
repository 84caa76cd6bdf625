"""`Chart`: one small picture of numbers in plain values; charts of the findings of a check, and histograms of the columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from ordag.assess.common_factor import causes_in_words
from ordag.assess.equations import Equation, equations
from ordag.assess.finding import Finding
from ordag.assess.influence import distances, tail
from ordag.checking import LEVEL, Diagnosis
from ordag.common.arrays import Array
from ordag.common.words import joined, shortened, shown
from ordag.data.table_checks import least_squares_rows

if TYPE_CHECKING:
    from ordag.fit import Fit

ChartKind = Literal["points", "bars", "shares", "histogram"]

MOST_POINTS = 300
MOST_BINS = 24
MAX_NAME_LETTERS = 18


@dataclass(frozen=True)
class Chart:
    """What to draw.

    kind: "points" at (x, y); "bars" of height y, labelled; "shares" y of a whole, labelled; "histogram" of counts y between edges x.
    slope, intercept: of a reference line through points. guide: a reference height; in a histogram, the mean.
    marked: the numbers of the points or bars to highlight.
    """

    kind: ChartKind
    title: str
    x_label: str
    y_label: str
    y: Sequence[float]
    x: Sequence[float] = ()
    labels: Sequence[str] = ()
    slope: float | None = None
    intercept: float | None = None
    guide: float | None = None
    marked: Sequence[int] = ()


def charts(fit: Fit, diagnosis: Diagnosis) -> dict[str, Chart]:
    """Return a chart for every finding that has one, by key; charts of rows use the sample of rows kept in the fit."""
    found = {}
    rows = None if fit.profile is None else fit.profile.complete.rows
    for finding in diagnosis.findings:
        if finding.level == "unchecked":
            continue
        if finding.key in OF_MOMENTS:
            one = OF_MOMENTS[finding.key](fit, finding)
        elif finding.key in OF_ROWS and rows is not None and len(rows) > 2:
            one = OF_ROWS[finding.key](fit, finding, rows)
        else:
            continue
        if one is not None:
            found[finding.key] = one
    return found


def histograms(fit: Fit) -> list[Chart]:
    """Return one histogram per column, from the sample of rows kept in the fit; none if only moments are known."""
    if fit.profile is None or not len(fit.profile.rows):
        return []
    found = []
    bins = min(MOST_BINS, max(5, math.ceil(math.sqrt(len(fit.profile.rows)))))
    for j, name in enumerate(fit.names):
        column = fit.profile.rows[:, j]
        column = column[np.isfinite(column)]
        span = float(fit.profile.least[j]), float(fit.profile.most[j])
        counts, edges = np.histogram(column, bins, span if np.isfinite(span).all() else None)
        mean = float(fit.moments.mean[j])
        found.append(Chart("histogram", shown(name), "value", "rows", counts.tolist(), edges.tolist(), guide=mean))
    return found


def _equal_variances(fit: Fit, finding: Finding) -> Chart | None:
    """Draw the variances that Bartlett's test compares, along the order, with the pooled variance."""
    if fit.ordering is not None and fit.ordering.factor is not None:
        df = fit.n - 1.0 - np.arange(len(fit.names))
        variances, names = fit.ordering.factor.L_diagonal**2 / df, fit.order or fit.names
    elif fit.refit is not None:
        df, variances, names = fit.refit.residual_df.astype(float), fit.refit.sem.omega, fit.names
        if fit.column_order is not None:
            order = list(fit.column_order)
            df, variances, names = df[order], variances[order], fit.order or names
    else:
        return None
    common = float((df * variances).sum() / df.sum())
    return _bars("error variances", "variance", variances, names, common, "along the order")


def _sorting(fit: Fit, finding: Finding) -> Chart | None:
    if fit.column_order is None:
        return None
    values = np.log10(fit.moments.spread[list(fit.column_order)] ** 2 / (fit.n - 1.0))
    return Chart("points", "variances of the columns", "place in the order", "log10 variance", values.tolist(),
                 list(range(1, len(values) + 1)), [shown(name) for name in fit.order or ()])  # fmt: skip


TITLES = {
    "standardising": "after standardising",
    "units": "after changes of units",
    "logarithms": "after taking logarithms",
    "backward": "ordered from the last variable on",
}


def _changed_arrows(fit: Fit, finding: Finding) -> Chart:
    """Draw the shares of arrows that a change keeps, reverses and removes."""
    values = [float(finding.numbers[key]) for key in ("kept", "turned", "lost")]
    return Chart("shares", TITLES[finding.key], "share of arrows", "", values, labels=["kept", "reversed", "lost"])


def _hidden_causes(fit: Fit, finding: Finding) -> Chart:
    """Draw the score gained by each located hidden cause, or else the BIC of factors beside that of the graph."""
    numbers = finding.numbers
    if "behind" in numbers:
        labels = [joined([_short(name) for name in one], 2) for one in numbers["behind"]]
        return Chart("bars", "hidden causes", "", "score gained", list(numbers["gains"]), labels=labels)
    best = min(numbers["bic"], numbers["graph_bic"])
    values = [float(numbers[key] - best) for key in ("graph_bic", "bic")]
    hidden = causes_in_words(numbers["factors"]).removesuffix(" common causes").removesuffix(" common cause")
    return Chart("bars", "graph or hidden causes", "", "BIC above the best", values, labels=["the graph", hidden])


def _columns(fit: Fit, finding: Finding, rows: Array) -> Chart:
    """Draw the least Gaussian column against normal quantiles."""
    name = finding.numbers["worst"]
    column = np.sort(rows[:, fit.names.index(name)])
    spread = float(column.std())
    values = (column - column.mean()) / (spread or 1.0)
    expected = ndtri((np.arange(len(values)) + 0.5) / len(values))
    few = _some(len(values))
    return Chart("points", f"{_short(name)} against normal quantiles", "normal quantile", "standardised value",
                 values[few].tolist(), expected[few].tolist(), slope=1.0, intercept=0.0)  # fmt: skip


def _equation(fit: Fit, finding: Finding, rows: Array) -> Chart | None:
    """Draw residuals against fitted values in the worst equation; for their spread, absolute residuals."""
    if finding.numbers.get("worst") is None:
        return None
    name = finding.numbers["worst"]
    one = _equation_of(fit, rows, name)
    if one is None:
        return None
    few = _some(len(rows))
    size = finding.key == "residual_spread"
    values = np.abs(one.residual) if size else one.residual
    return Chart("points", f"equation of {_short(name)}", "fitted value (centred)", "absolute residual" if size else "residual",
                 values[few].tolist(), one.fitted[few].tolist(), guide=float(values.mean()) if size else 0.0)  # fmt: skip


def _residual_pairs(fit: Fit, finding: Finding, rows: Array) -> Chart:
    first, second = finding.numbers["pair"]
    x, y = _residual(fit, rows, first), _residual(fit, rows, second)
    few = _some(len(rows))
    slope = float(x @ y / (x @ x))
    return Chart("points", "residuals of two equations", _short(first), _short(second),
                 y[few].tolist(), x[few].tolist(), slope=slope, intercept=0.0)  # fmt: skip


def _dependent_rows(fit: Fit, finding: Finding, rows: Array) -> Chart:
    name = finding.numbers["worst"]
    residual = _residual(fit, rows, name)
    x, y = residual[:-1], residual[1:]
    few = _some(len(x))
    return Chart("points", f"residuals of {_short(name)}", "residual of the row before", "residual", y[few].tolist(), x[few].tolist(),
                 slope=float(x @ y / (x @ x)), intercept=0.0)  # fmt: skip


def _distances(fit: Fit, finding: Finding, rows: Array) -> Chart | None:
    """Draw squared distances of the rows from the mean against those expected of Gaussian rows; for influence, mark outliers."""
    n, p = rows.shape
    if n < least_squares_rows(p):
        return None
    d2 = np.sort(distances(rows))
    expected = chdtri(float(p), 1.0 - (np.arange(n) + 0.5) / n)
    few = _some(n)
    outside = np.flatnonzero(tail(d2, n, p)[few] * n < LEVEL) if finding.key == "influence" else np.empty(0, int)
    title = "outlying rows" if finding.key == "influence" else "rows against Gaussian rows"
    return Chart("points", title, "expected of Gaussian rows", "squared distance", d2[few].tolist(),
                 expected[few].tolist(), slope=1.0, intercept=0.0, marked=outside.tolist())  # fmt: skip


def _scale(fit: Fit, finding: Finding) -> Chart:
    """Draw the standard deviation of every column over the smallest; standardised columns are all at 1."""
    values = fit.moments.spread / fit.moments.spread.min()
    return _bars("standard deviations of the columns", "relative to the smallest", values, fit.names)


def _condition(fit: Fit, finding: Finding) -> Chart | None:
    """Draw the variance of the effect over that of the cause in the tightest pair; the condition needs more than 1."""
    tightest = finding.numbers["tightest"]
    if tightest is None:
        return None
    pair = f"{_short(tightest['cause'])} before {_short(tightest['effect'])}"
    margin = float(tightest["margin"])
    return Chart("bars", "the tightest pair", "", "margin", [margin], labels=[pair], guide=1.0)


def _kurtosis(fit: Fit, finding: Finding, rows: Array) -> Chart:
    """Draw the fourth moment of every column over that of a Gaussian column of the same variance."""
    Z = rows - rows.mean(axis=0)
    Z /= np.abs(Z).max(axis=0)
    values = np.mean(Z**4, axis=0) / (3.0 * np.mean(Z**2, axis=0) ** 2)
    return _bars("fourth moments", "relative to a Gaussian column", values, fit.names)


def _bars(title: str, unit: str, values: Array, names: Sequence[str], guide: float = 1.0, along: str = "") -> Chart:
    """Return a bar for every variable, with a reference height."""
    return Chart("bars", title, along, unit, values.tolist(), labels=[shown(name) for name in names], guide=guide)


OF_MOMENTS: Mapping[str, Callable[[Fit, Finding], Chart | None]] = {
    "scale": _scale,
    "condition": _condition,
    "equal_variances": _equal_variances,
    "sorting": _sorting,
    "standardising": _changed_arrows,
    "units": _changed_arrows,
    "logarithms": _changed_arrows,
    "backward": _changed_arrows,
    "hidden_causes": _hidden_causes,
}
OF_ROWS: Mapping[str, Callable[[Fit, Finding, Array], Chart | None]] = {
    "kurtosis": _kurtosis,
    "columns": _columns,
    "mardia": _distances,
    "linearity": _equation,
    "residual_spread": _equation,
    "residual_pairs": _residual_pairs,
    "dependent_rows": _dependent_rows,
    "influence": _distances,
}


def _equation_of(fit: Fit, rows: Array, name: str) -> Equation | None:
    links = fit.graph.links
    return next(equations(rows, links.where(links.target == fit.names.index(name)).mask), None)


def _residual(fit: Fit, rows: Array, name: str) -> Array:
    """Return the residual of a variable's equation; without parents, the deviation from its mean."""
    one = _equation_of(fit, rows, name)
    column = rows[:, fit.names.index(name)]
    return np.asarray(column - column.mean()) if one is None else one.residual


def _short(name: str) -> str:
    return shortened(shown(name), MAX_NAME_LETTERS)


def _some(count: int) -> NDArray[np.intp]:
    """Return which of `count` points to draw: all, or evenly spaced ones with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(np.intp))
