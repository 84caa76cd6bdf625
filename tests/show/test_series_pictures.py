"""Pictures of series: unrolled in time, and the summary with its lags."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from matplotlib.axes import Axes

import ordag
from ordag.errors import SettingError
from ordag.show.plots import picture


@cache
def series():
    random = np.random.default_rng(3)
    x = np.zeros((120, 3))
    for t in range(1, 120):
        x[t] = 0.6 * x[t - 1] + random.standard_normal(3)
        x[t, 1] += 0.9 * x[t - 1, 0]
        x[t, 2] += 0.8 * x[t, 1]
    table = {"<a>": x[:, 0], "b$": x[:, 1], "c": x[:, 2], "when": list(range(120))}
    return ordag.learn(table, time="when", lags=1, draws=0)


@pytest.mark.parametrize("look", ["unrolled", "summary", None])
def test_a_series_is_drawn_on_axes_and_as_a_file(look):
    fit = series()
    ax = fit.plot(look)
    assert isinstance(ax, Axes)
    assert ax.patches
    drawn = picture(fit, "a.svg", look)
    assert drawn.startswith(b"<svg")
    assert b"&lt;a&gt;" in drawn
    assert b"<a>" not in drawn
    assert (b"number: steps of time from cause to effect" in drawn) == (look == "summary")


def test_a_table_without_time_is_not_drawn_in_it():
    fit = ordag.learn("marks", draws=0)
    for look in ("unrolled", "summary"):
        with pytest.raises(SettingError, match="time"):
            fit.plot(look)
