"""Cautions about a graph of rows in time: autocorrelated errors, drifts, trends and seasons."""

from __future__ import annotations

import math

import numpy as np

from ordag.assess.finding import Caution, Finding, unchecked
from ordag.common.words import counted, listed
from ordag.learners.found import Found

ALIKE, DEVIATIONS = 0.15, 4.0
"""Correlation of the errors of neighbouring times from which they are said to remember, and standard errors that it must be from 0."""

FEWEST_ROWS = 20


def time_cautions(found: Found) -> list[Caution]:
    """Return cautions about the graph of a series, each with the setting that helps."""
    return [one for one in (_drift(found), _seasons(found), _trends(found), _memory(found)) if one is not None]


def time_findings(found: Found) -> list[Finding]:
    """Return the same as findings."""
    series = found.series
    assert series is not None
    fine = {
        "memory": "Errors at neighbouring times are uncorrelated.",
        "unit_roots": "Every variable returns to its mean or its trend."
        if not series.difference
        else "Every variable, after differences, returns to its mean.",
        "seasons": "No variable has a season left." if series.season else "No variable shows a season.",
        "trends": "No variable has a trend.",
    }
    checks = {"memory": _memory, "unit_roots": _drift, "seasons": _seasons, "trends": _trends}
    findings = []
    for key, check in checks.items():
        if key == "memory" and _errors(found) is None:
            findings.append(unchecked(key, "needs neighbouring rows, and only a part of them is kept."))
        elif key != "memory" and not series.trends.looked:
            findings.append(unchecked(key, "needs 20 times in a row without a gap."))
        else:
            caution = check(found)
            told = fine[key] if caution is None else f"{caution.sentence} {caution.advice}"
            findings.append(Finding(key, "fine" if caution is None else "warning", told, _numbers(found, key)))
    return findings


def _numbers(found: Found, key: str) -> dict[str, object]:
    assert found.series is not None
    trends, names = found.series.trends, found.series.names
    named = {"unit_roots": trends.drifting, "trends": trends.trending, "seasons": trends.seasonal}
    if key in named:
        said: dict[str, object] = {"variables": [names[j] for j in named[key]]}
        return said | ({"period": trends.period} if key == "seasons" else {})
    errors = _errors(found)
    return {} if errors is None else {"correlations": dict(zip(names, errors[0].tolist(), strict=True))}


def _errors(found: Found) -> tuple[np.ndarray, int] | None:
    """Return the correlation of the errors of every variable at neighbouring times, and the number of pairs of these."""
    profile, series = found.profile, found.series
    if series is None or profile is None or profile.stride > 1 or len(profile.complete.rows) < FEWEST_ROWS:
        return None
    whole = profile.complete
    rows, p = whole.rows, series.p
    Z = rows - rows.mean(axis=0)
    left = Z[:, :p].copy()
    arrows = found.best_graph.adjacency
    for j in range(p):
        causes = np.flatnonzero(arrows[:, j])
        if len(causes):
            left[:, j] -= Z[:, causes] @ np.linalg.lstsq(Z[:, causes], Z[:, j], rcond=None)[0]
    together = np.ones(len(rows) - 1, dtype=bool)
    if whole.labels is not None and whole.labels.unit is not None:
        together = np.diff(whole.labels.unit) == 0
    a, b = left[1:][together], left[:-1][together]
    size = np.sqrt(np.square(a).sum(axis=0) * np.square(b).sum(axis=0))
    return (a * b).sum(axis=0) / np.maximum(size, 1e-300), int(together.sum())


def _memory(found: Found) -> Caution | None:
    errors, series = _errors(found), found.series
    if errors is None or series is None:
        return None
    correlations, count = errors
    bound = max(ALIKE, DEVIATIONS / math.sqrt(max(count, 1)))
    alike = np.flatnonzero(np.abs(correlations) > bound)
    if not len(alike):
        return None
    worst = alike[np.argsort(-np.abs(correlations[alike]), kind="stable")]
    lags = (
        "no earlier values are used"
        if not series.lags
        else f"{counted(series.lags, 'lag')} {'is' if series.lags == 1 else 'are'} used"
    )
    return Caution(
        "dependent_rows",
        f"What the graph leaves of {listed(series.names[j] for j in worst)} is alike at neighbouring times (correlation "
        f"{correlations[worst[0]]:.2f}), and {lags}: rows tell less than as many independent ones.",
        f"Learn with lags={series.lags + 1} (--lags {series.lags + 1})"
        + (", or with a longer series." if series.lags >= 3 else "."),
        "the errors of neighbouring times are not independent",
    )


def _drift(found: Found) -> Caution | None:
    series = found.series
    if series is None or not series.trends.drifting:
        return None
    names = listed(series.names[j] for j in series.trends.drifting)
    one = len(series.trends.drifting) == 1
    more = series.difference + 1
    return Caution(
        "unit_roots",
        f"{names} {'drifts' if one else 'drift'} without returning (a unit root is not rejected): two such variables look related "
        "without being so.",
        f"Learn from differences, with difference={more} (--difference {more}), and keep what stays.",
        "variables drift without returning",
    )


def _seasons(found: Found) -> Caution | None:
    series = found.series
    if series is None or series.trends.period is None:
        return None
    names, period = listed(series.names[j] for j in series.trends.seasonal), series.trends.period
    one = len(series.trends.seasonal) == 1
    return Caution(
        "seasons",
        f"{names} {'has' if one else 'have'} a season of {counted(period, series.step or 'step')}, which looks like a common cause.",
        f"Remove its means with season={period} (--season {period}).",
        "variables share a season",
    )


def _trends(found: Found) -> Caution | None:
    series = found.series
    if series is None or not series.trends.trending:
        return None
    names = listed(series.names[j] for j in series.trends.trending)
    one = len(series.trends.trending) == 1
    more = series.difference + 1
    return Caution(
        "trends",
        f"{names} {'has a trend' if one else 'have trends'}, which look like a common cause.",
        f"Learn from differences, with difference={more} (--difference {more}).",
        "variables share a trend",
    )
