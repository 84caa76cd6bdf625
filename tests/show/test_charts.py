"""Charts hold the numbers of the findings, and what the rows say of them, worked out here by other ways."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.stats import kurtosis

import ordag
from ordag.assess.finding import Finding
from ordag.show.charts import MOST_BINS, MOST_POINTS, OF_MOMENTS, charts, histograms

SHARES = ("standardising", "units", "logarithms")


@cache
def checked(method="cvs"):
    return ordag.check("sachs", method=method)


@cache
def found(method="cvs"):
    return charts(checked(method).fit, checked(method))


def residual(fit, name):
    """Of a variable regressed on its parents, by least squares with a constant."""
    X = fit.profile.rows
    parents = [fit.names.index(one) for one in fit.graph.parents(name)]
    A = np.column_stack([np.ones(len(X)), X[:, parents]])
    y = X[:, fit.names.index(name)]
    return y - A @ np.linalg.lstsq(A, y, rcond=None)[0]


@pytest.mark.slow
def test_every_chart_belongs_to_a_finding_and_is_whole():
    drawn = {finding.key for finding in checked().findings if finding.level != "unchecked"}
    assert set(found()) == drawn - {"groups_of_rows", "duplicate_rows", "filled_cells"}
    for chart in found().values():
        assert chart.title
        assert chart.kind == "points" or len(chart.labels) == len(chart.y)
        assert chart.kind != "points" or len(chart.x) == len(chart.y) <= MOST_POINTS
        assert np.isfinite(chart.y).all()
        assert np.isfinite(chart.x).all()
        assert all(0 <= k < len(chart.y) for k in chart.marked)


@pytest.mark.slow
@pytest.mark.parametrize("key", SHARES)
def test_shares_are_those_of_the_finding(key):
    numbers = checked()[key].numbers
    assert list(found()[key].y) == [numbers["kept"], numbers["turned"], numbers["lost"]]
    assert list(found()[key].labels) == ["kept", "reversed", "lost"]


def test_error_variances_along_the_order_with_their_weighted_mean():
    fit, chart = checked().fit, found()["equal_variances"]
    assert list(chart.labels) == list(fit.order)
    np.testing.assert_allclose(
        chart.y, fit.steps["variance"] * np.asarray(fit.n - 1) / (fit.n - 1 - np.arange(11)), rtol=0.02
    )
    df = fit.n - 1.0 - np.arange(11)
    assert chart.guide == pytest.approx(np.average(chart.y, weights=df))
    assert max(chart.y) / min(chart.y) == pytest.approx(checked()["equal_variances"].numbers["spread"])


def test_variances_by_their_places():
    fit, chart = checked().fit, found()["sorting"]
    S = dict(zip(fit.names, np.diag(fit.moments.covariance()), strict=True))
    np.testing.assert_allclose(chart.y, [np.log10(S[name]) for name in fit.order])


def test_spreads_margin_and_fourth_moments():
    fit, numbers = checked().fit, checked()["condition"].numbers["tightest"]
    sd = np.sqrt(np.diag(fit.moments.covariance()))
    np.testing.assert_allclose(found()["scale"].y, sd / sd.min())
    assert list(found()["condition"].y) == [numbers["margin"]]
    assert list(found()["condition"].labels) == [f"{numbers['cause']} before {numbers['effect']}"]
    np.testing.assert_allclose(found()["kurtosis"].y, kurtosis(fit.profile.rows, fisher=False) / 3.0)


def test_residuals_are_those_of_the_worst_equation():
    fit = checked().fit
    name = checked()["linearity"].numbers["worst"]
    e = residual(fit, name)
    assert np.isin(np.round(found()["linearity"].y, 6), np.round(e, 6)).all()
    spread = residual(fit, checked()["residual_spread"].numbers["worst"])
    assert np.isin(np.round(found()["residual_spread"].y, 6), np.round(np.abs(spread), 6)).all()
    first, second = checked()["residual_pairs"].numbers["pair"]
    chart = found()["residual_pairs"]
    x, y = residual(fit, first), residual(fit, second)
    assert chart.slope == pytest.approx((x @ y) / (x @ x))
    assert np.isin(np.round(chart.x, 6), np.round(x, 6)).all()


def test_charts_of_equations_say_which_and_what_they_draw():
    for key, what in {"linearity": "residual", "residual_spread": "absolute residual"}.items():
        chart = found()[key]
        assert (chart.kind, chart.x_label, chart.y_label) == ("points", "fitted value (centred)", what)
        assert chart.title == f"equation of {checked()[key].numbers['worst']}"


@pytest.mark.slow
def test_charts_stand_side_by_side_on_the_picture():
    ax = checked().fit.plot("diagnostics", diagnosis=checked())
    ax.figure.canvas.draw()
    panels = [panel.get_window_extent() for panel in ax.child_axes]
    assert len(panels) == len(found())
    whole = ax.get_window_extent()
    for k, one in enumerate(panels):
        assert whole.x0 <= one.x0 < one.x1 <= whole.x1
        assert whole.y0 <= one.y0 < one.y1 <= whole.y1
        assert not any(one.overlaps(other) for other in panels[:k])


def test_rows_against_the_row_before():
    e = residual(checked().fit, checked()["dependent_rows"].numbers["worst"])
    chart = found()["dependent_rows"]
    pairs = {(round(a, 6), round(b, 6)) for a, b in itertools.pairwise(e)}
    assert {(round(a, 6), round(b, 6)) for a, b in zip(chart.x, chart.y, strict=True)} <= pairs


def test_distances_with_the_outlying_rows_marked():
    fit, chart = checked().fit, found()["influence"]
    X = fit.profile.rows
    Z = X - X.mean(axis=0)
    d2 = np.einsum("ij,jk,ik->i", Z, np.linalg.inv(np.cov(X.T)), Z)
    assert max(chart.y) == pytest.approx(d2.max())
    assert list(chart.y) == sorted(chart.y)
    assert len(chart.marked) > 0
    assert len(chart.y) - 1 in chart.marked
    assert not found()["mardia"].marked


def test_the_worst_column_against_normal_quantiles():
    chart = found()["columns"]
    assert (chart.slope, chart.intercept) == (1.0, 0.0)
    assert list(chart.x) == sorted(chart.x)
    assert list(chart.y) == sorted(chart.y)
    assert chart.x[0] == pytest.approx(-chart.x[-1])


@pytest.mark.slow
def test_without_rows_there_are_the_charts_of_moments():
    fit = ordag.learn(ordag.Moments.scan("sachs"), "cvs")
    diagnosis = ordag.check(ordag.Moments.scan("sachs"), method="cvs")
    assert set(charts(fit, diagnosis)) == {
        "scale",
        "condition",
        "equal_variances",
        "sorting",
        "standardising",
        "units",
        "backward",
        "hidden_causes",
    }
    assert histograms(fit) == []


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["pooled", "gds"])
def test_methods_without_a_step_by_step_order_have_charts_too(method):
    checked = ordag.check("marks", method=method, draws=1)
    fit = checked.fit
    chart = charts(fit, checked)["equal_variances"]
    assert sorted(chart.y) == pytest.approx(sorted(fit.sem.omega))
    assert dict(zip(chart.labels, chart.y, strict=True)) == pytest.approx(
        dict(zip(fit.names, fit.sem.omega, strict=True))
    )


def test_hidden_causes_have_a_bar_each():
    numbers = {"behind": [["a", "b", "c", "d"], ["d" * 50, "\x1b"]], "gains": [12.0, 3.0]}
    chart = OF_MOMENTS["hidden_causes"](checked().fit, Finding("hidden_causes", "warning", "", numbers))
    assert list(chart.y) == [12.0, 3.0]
    assert chart.labels[0] == "a, b and 2 more"
    assert "\x1b" not in chart.labels[1]
    assert len(chart.labels[1]) < 40


def test_histograms_count_every_row_of_the_sample():
    fit = checked().fit
    for j, chart in enumerate(histograms(fit)):
        column = fit.profile.rows[:, j]
        assert chart.title == fit.names[j]
        assert sum(chart.y) == len(column)
        assert len(chart.x) == len(chart.y) + 1 <= MOST_BINS + 1
        assert (chart.x[0], chart.x[-1]) == (column.min(), column.max())
        assert chart.guide == pytest.approx(column.mean())
