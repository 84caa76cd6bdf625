"""The document of a fit: everything that a page shows, in plain values, which the scripts in `browser/` draw."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.assess.clusters import both_levels
from ordag.assess.verdict import TIERS, Verdict
from ordag.checking import Diagnosis
from ordag.common.arrays import Array
from ordag.common.plain import plain
from ordag.common.words import about, counted, harmless, shown
from ordag.comparison import Comparison, Outcome, gaussian_bic
from ordag.data.set_aside import set_aside_sentence
from ordag.graph.cpdag import Cpdag
from ordag.show.cells import differences, legend
from ordag.show.charts import Chart, charts, histograms
from ordag.show.columns import columns_of, holes_map
from ordag.show.provenance import Origin, provenance
from ordag.show.text import EARLIER, heading, headline, notes, open_directions, order_title, other_warnings
from ordag.show.view import MOST_PAIRS, View

if TYPE_CHECKING:
    from ordag.fit import Fit

SCALES = ("standardising", "units", "logarithms")
"""Findings on how the arrows depend on the units of the columns, which have a section of their own."""

MOST_TIED = 12
"""Variables of a tie that are named; the others are counted."""

PADDED = ("spread", "intercept", "variance", "mean", "least", "most")
"""Entries with a number for every variable."""

MAX_HISTOGRAMS = 150
"""Columns up to which the document has histograms."""


def document(
    fit: Fit,
    diagnosis: Diagnosis | None = None,
    comparison: Comparison | None = None,
    *,
    origin: Origin | None = None,
    unchecked: str = "",
    verdict: Verdict | None = None,
    layout: bool = True,
    histograms: bool = True,
    most_pairs: int = MOST_PAIRS,
) -> dict[str, Any]:
    """Return the document, with names as text that is safe to show.

    unchecked: a sentence on why there is no diagnosis. verdict: the one to show; by default that of the diagnosis or of the fit.
    layout, histograms: whether to include them. most_pairs: the most pairs to include that the graph does not join.
    """
    view, origin = View(fit, most_pairs), origin or Origin()
    verdict = verdict or (fit.verdict if diagnosis is None else diagnosis.verdict)
    return {
        "title": shown(origin.title) if origin.title else "Causal graph",
        "heading": heading(fit),
        "found": [_sentence(sentence) for sentence in headline(fit, view.pairs)],
        "verdict": _verdict(fit, verdict, diagnosis),
        "changes": None if fit.changes is None else differences(fit.changes),
        "levels": both_levels(fit),
        "aside": harmless(set_aside_sentence(fit.columns)),
        "warnings": [_sentence(sentence) for sentence in other_warnings(fit)],
        "notes": [
            harmless(sentence) for sentence in (*legend(fit), *notes(fit), EARLIER * fit.has_earlier) if sentence
        ],
        "names": view.names,
        "categories": _categories(fit, view),
        "order": view.order,
        "ordered": fit.column_order is not None,
        "order_title": order_title(fit),
        "pairs": _pairs(fit, view),
        "fixed": _fixed(fit, view),
        "level": _level(view),
        "look": view.first_look,
        "layout": _layout(view) if layout else None,
        "model": _padded(_model(fit), view),
        "steps": _steps(fit),
        "findings": _findings(fit, diagnosis),
        "unchecked": harmless(unchecked),
        "comparison": None if comparison is None else _comparison(fit, comparison),
        "data": _padded(_data(fit, histograms), view),
        "again": {
            name: harmless(value) if name == "command" else value for name, value in provenance(fit, origin).items()
        },
    }


def _categories(fit: Fit, view: View) -> list[dict[str, Any]]:
    """Return the categories that may be causes: their numbers, groups, and means of the variables that they have an effect on."""
    found: list[dict[str, Any]] = []
    for at, (name, levels) in zip(view.categories, fit.cause_levels.items(), strict=True):
        own = [one for one in fit.cause_arrows if one.source == name]
        effects = [
            {
                "target": fit.names.index(one.target),
                "f": _short(one.test.statistic),
                "df": [one.test.columns, one.test.rows],
                "p_value": _short(one.test.p_value),
                "rows": list(one.rows),
                "means": _column(np.array(one.means)),
                "differences": _column(np.array(one.differences)),
                "std_errors": _column(np.array(one.std_errors)),
            }
            for one in own
        ]
        found.append({"at": at, "levels": [shown(level) for level in levels], "effects": effects})
    return found


def _padded(said: dict[str, Any], view: View) -> dict[str, Any]:
    """Return columns of the variables with an empty place for every category behind them."""
    p, more = len(view.fit.names), [None] * len(view.categories)
    fitting = {
        name: value for name, value in said.items() if isinstance(value, list) and len(value) == p and name in PADDED
    }
    return said | {name: [*value, *more] for name, value in fitting.items()}


def _pairs(fit: Fit, view: View) -> dict[str, Any]:
    """Return the columns of all pairs; interval_level is that of intervals that are from resamples."""
    columns = view.pairs.to_dict()
    if fit.support is None or fit.support.weight_intervals is None:
        return columns
    return {**columns, "interval_level": fit.support.level}


def _verdict(fit: Fit, verdict: Verdict, diagnosis: Diagnosis | None) -> dict[str, Any]:
    opened, count = open_directions(fit, verdict), fit.whole_graph.edge_count
    if not verdict.weighed:
        badge = "being weighed"
    elif not count:
        badge = "no edges"
    elif fit.probabilities is not None and not fit.probabilities.settled:
        badge = "not settled"
    elif verdict.expected is not None:
        badge = f"{about(verdict.expected.wrong)} wrong"
    elif verdict.tier is not None:
        badge = TIERS[verdict.tier].split(", ")[1]
    else:
        badge = "error rate unknown"
    short = [counted(count, "edge" if isinstance(fit.graph, Cpdag) else "arrow")]
    if verdict.weighed and count:
        short.append(f"{opened} of {count} directions open" if opened else "no direction open")
    if verdict.cautions:
        short.append(counted(len(verdict.cautions), "caution"))
    doubts = [finding.level for finding in (() if diagnosis is None else diagnosis.findings)]
    warnings = len(other_warnings(fit)) + doubts.count("warning")
    if warnings:
        short.append(counted(warnings, "warning"))
    if "look" in doubts:
        short.append(f"{doubts.count('look')} to look at")
    return {
        "tier": verdict.tier,
        "light": verdict.light,
        "badge": badge,
        "short": " · ".join(short),
        "sentence": _sentence(verdict.sentence),
        "help": _sentence(verdict.help),
    }


def _fixed(fit: Fit, view: View) -> dict[str, list[int]]:
    """Return the numbers of the pairs that no level adds or removes.

    required, barred: by knowledge, and so not tested. small: with too small an effect, given all earlier variables if the pair is absent.
    """
    pairs = view.pairs
    absent = np.array([kind == "absent" for kind in pairs.kind], dtype=bool)
    of_categories = pairs.source >= len(fit.names)
    ends = np.where(of_categories, 0, pairs.source), pairs.target
    required = barred = small = np.zeros(len(absent), dtype=bool)
    if fit.known is not None:
        required, barred = fit.known.required[ends], absent & ~fit.known.allowed[ends]
    required, barred = required & ~of_categories | of_categories, barred & ~of_categories
    if fit.left_out is not None:
        left = {frozenset((fit.names.index(a), fit.names.index(b))) for a, b, _ in fit.left_out.edges}
        named = [frozenset(pair) in left for pair in zip(*(end.tolist() for end in ends), strict=True)]
        small = absent & (np.array(named, dtype=bool) | (np.abs(pairs.standardised) < fit.left_out.below))
    said = {"required": required, "barred": barred, "small": small}
    return {name: np.flatnonzero(mask).tolist() for name, mask in said.items()}


def _level(view: View) -> dict[str, Any] | None:
    """Return the threshold that the sliders move; `stands_for` is the level of the graph, or the one equivalent to its penalty."""
    if view.level is None:
        return None
    return {name: _short(value) if isinstance(value, float) else value for name, value in view.level._asdict().items()}


def _layout(view: View) -> dict[str, Any] | None:
    layout = view.layout
    if layout is None:
        return None
    return {
        "places": [[round(x, 1), round(y, 1)] for x, y in layout.centres],
        "routes": [
            [a, b, *(round(z, 1) for point in points for z in point)]
            for (a, b), points in layout.routes.items()
            if len(points) > 2
        ],
        "width": round(layout.width, 1),
        "height": round(layout.height, 1),
    }


def _model(fit: Fit) -> dict[str, Any]:
    """Return standard deviations of the columns, and intercepts and error variances of the equations, if any."""
    spread = _column(np.sqrt(np.asarray(fit.moments.variances) / (fit.n - 1.0)))
    if fit.sem is None:
        return {"spread": spread, "intercept": None, "variance": None}
    return {"spread": spread, "intercept": _column(fit.sem.intercept), "variance": _column(fit.sem.omega)}


def _steps(fit: Fit) -> dict[str, Any] | None:
    columns = fit.step_columns
    if not columns["node"]:
        return None
    index = {name: j for j, name in enumerate(fit.names)}
    steps: dict[str, Any] = {
        "node": [index[name] for name in columns["node"]],
        "variance": _column(columns["variance"]),
        "margin": _column(columns["margin"]),
    }
    if "runner_up" in columns:
        others = [[index[name] for name in group[1:]] for group in columns["tied"]]
        steps |= {
            "runner_up": [None if name is None else index[name] for name in columns["runner_up"]],
            "p_value": _column(columns["runner_up_p_value"]),
            "tied": [group[:MOST_TIED] for group in others],
            "tied_count": [
                len(group) + int(more)
                for group, more in zip(others, columns.get("tied_more", [0] * len(others)), strict=True)
            ],
            "matters": list(columns["tie_matters"]),
        }
    return steps


def _findings(fit: Fit, diagnosis: Diagnosis | None) -> list[dict[str, Any]]:
    if diagnosis is None:
        return []
    pictures = charts(fit, diagnosis)
    return [
        {
            "key": finding.key,
            "title": finding.title,
            "level": finding.level,
            "sentence": _sentence(finding.sentence),
            "scale": finding.key in SCALES,
            "chart": _chart(pictures.get(finding.key)),
        }
        for group in diagnosis.by_level().values()
        for finding in group
    ]


def _chart(chart: Chart | None) -> dict[str, Any] | None:
    if chart is None:
        return None
    said = {name: value for name, value in asdict(chart).items() if value is not None}
    for name in ("x", "y"):
        said[name] = _column(np.asarray(said[name], dtype=float))
    for name in ("title", "x_label", "y_label"):
        said[name] = harmless(said[name])
    said["labels"] = [harmless(label) for label in chart.labels]
    return {name: plain(value) for name, value in said.items()}


def _comparison(fit: Fit, comparison: Comparison) -> dict[str, Any]:
    """Return a table of the methods, this graph first, and every pair that some of them join, with a mark for each."""
    own = f"this graph ({fit.method})"
    outcome = Outcome(own, fit, "", math.nan, math.nan, gaussian_bic(fit), None, None)
    beside = Comparison(comparison.names, comparison.rows, (outcome, *comparison.outcomes), None)
    index = {name: j for j, name in enumerate(beside.names)}
    methods = [one.method for one in beside.outcomes if one.fit is not None]
    return {
        "titles": list(beside.titles.values()),
        "cells": [["–" if cell == "nan" else cell for cell in row] for row in beside.cells],
        "problems": [f"{one.method}: {harmless(one.problem)}" for one in beside.outcomes if one.problem],
        "methods": methods,
        "pairs": [
            [index[row["first"]], index[row["second"]], *(row[name] for name in methods)] for row in beside.edge_rows
        ],
    }


def _data(fit: Fit, with_histograms: bool) -> dict[str, Any]:
    moments, profile = fit.moments, fit.profile
    said: dict[str, Any] = {
        "rows": moments.rows,
        "count_for": moments.n,
        "dropped": moments.dropped,
        "mean": _column(moments.mean),
        "least": None if profile is None else _column(profile.least),
        "most": None if profile is None else _column(profile.most),
        "sampled": 0 if profile is None else len(profile.rows),
        "stride": None if profile is None else profile.stride,
        "histograms": [],
        "columns": None,
        "holes": None,
    }
    if with_histograms:
        said |= {"columns": columns_of(fit.columns, moments, profile), "holes": holes_map(moments.holes)}
    if with_histograms and profile is not None and moments.p <= MAX_HISTOGRAMS:
        said["histograms"] = [_chart(chart) for chart in histograms(fit)]
    return said


def _sentence(sentence: str) -> str:
    """Return a sentence without control characters, in which no line breaks before a %."""
    return harmless(sentence).replace(" %", "\u00a0%")


def _column(values: Array) -> list[float | None]:
    return [_short(value) for value in np.asarray(values, dtype=float).tolist()]


def _short(value: float) -> float | None:
    """Round to four digits; None for nan and inf."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
