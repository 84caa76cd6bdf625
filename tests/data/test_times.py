"""Times as steps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordag.data.times import steps_of
from ordag.errors import DataError


def of_texts(texts, series=None):
    levels = list(dict.fromkeys(texts))
    values = np.array([float(levels.index(one)) for one in texts])
    return steps_of(values, levels, np.zeros(len(texts), int) if series is None else np.array(series), "when")


@pytest.mark.parametrize(
    ("texts", "step", "index"),
    [
        (["2001-01-31", "2001-02-28", "2001-03-31", "2001-05-31"], "month", [0, 1, 2, 4]),
        (["2001-01-15", "2001-02-15", "2001-04-15"], "month", [0, 1, 3]),
        (["2001-01", "2001-02", "2001-03"], "month", [0, 1, 2]),
        (["2001/1", "2001/2", "2001/10"], "month", [0, 1, 9]),
        (["2001Q1", "2001Q2", "2002Q1"], "quarter", [0, 1, 4]),
        (["2001-01-01", "2001-04-01", "2001-07-01", "2002-01-01"], "quarter", [0, 1, 2, 4]),
        (["2000-12-31", "2001-12-31", "2002-12-31"], "year", [0, 1, 2]),
        (["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-02"], "day", [0, 1, 2, 4]),
        (["2024-02-05", "2024-02-12", "2024-02-26"], "week", [0, 1, 3]),
        (["2024-02-05 00:00", "2024-02-05 01:00", "2024-02-05 04:00"], "hour", [0, 1, 4]),
        (["2024-02-05T00:00:00Z", "2024-02-05T00:05:00Z", "2024-02-05T00:10:00Z"], "5 minutes", [0, 1, 2]),
    ],
)
def test_dates(texts, step, index):
    found = of_texts(texts)
    assert (found.step, (found.number - found.number[0]).tolist(), found.irregular) == (step, index, False)


def test_working_days_have_no_weekend():
    days = [str(day.date()) for day in pd.bdate_range("2024-01-01", periods=12) if day.day != 10]
    found = of_texts(days)
    assert found.step == "weekday"
    assert np.diff(found.number).tolist() == [1, 1, 1, 1, 1, 1, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("times", "index"),
    [
        ([3.0, 1.0, 2.0, 5.0], [2, 0, 1, 4]),
        ([0.0, 0.1, 0.2, 0.30000000000000004, 0.5], [0, 1, 2, 3, 5]),
        ([200111.0, 200112.0, 200201.0], [0, 1, 2]),
        ([1990.0, 1992.0, 1994.0, 1995.0], [0, 2, 4, 5]),
        ([7.0, 7.0], [0, 0]),
    ],
)
def test_numbers(times, index):
    found = steps_of(np.array(times), None, np.zeros(len(times), int), "t")
    assert ((found.number - found.number.min()).tolist(), found.irregular) == (index, False)


def test_uneven_times_are_numbered_in_their_order():
    found = steps_of(np.array([0.0, 1.0, 2.7, 3.1, 5.0, 0.3, 9.0]), None, np.array([0, 0, 0, 0, 0, 1, 1]), "t")
    assert found.irregular
    assert found.number.tolist() == [0, 1, 2, 3, 4, 0, 1]


def test_the_season_of_a_month_is_the_month():
    index = of_texts(["1999-12", "2000-01", "2000-02"]).number
    assert (index % 12).tolist() == [11, 0, 1]


def test_what_is_no_time_is_named():
    with pytest.raises(DataError, match=r"Column when holds '31.12.2001', which is no time"):
        of_texts(["2001-01-01", "31.12.2001"])
