"""Forecasts and responses beside literal versions, and their intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from oracles.series import followed
from strategies.series import random_model, root, rows_of

import ordag
from ordag import errors
from ordag.model.in_time import at_once, continued, largest_root, responses


@pytest.mark.parametrize("seed", range(6))
def test_responses_are_what_one_unit_more_changes(seed):
    random = np.random.default_rng(seed)
    p, lags = 2 + seed % 3, seed % 3
    B, order = random_model(random, p, lags)
    errors_ = random.standard_normal((8, p))
    start = random.standard_normal((lags, p))
    before = np.array(followed(B, order, start, errors_, np.zeros(p)))
    for i in range(p):
        more = errors_.copy()
        more[0, i] += 1.0
        change = np.array(followed(B, order, start, more, np.zeros(p))) - before
        np.testing.assert_allclose(responses(B, 7)[:, i], change, atol=1e-10)
    assert largest_root(B) == pytest.approx(root(B), abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_series_goes_on_as_its_equations_say(seed):
    random = np.random.default_rng(seed)
    p, lags = 3, 1 + seed % 3
    B, order = random_model(random, p, lags)
    constant = random.standard_normal(p)
    T = at_once(B)
    # means through which the equations pass: any of earlier times, and that of the present which follows
    earlier = random.standard_normal((lags, p))
    now = constant @ T + sum(earlier[lag] @ B[lag + 1] @ T for lag in range(lags))
    start, e = random.standard_normal((lags, p)), random.standard_normal((5, p))
    mine = continued(B, np.vstack([now, earlier]), start, e)
    np.testing.assert_allclose(mine, followed(B, order, start, e, constant), atol=1e-9)
    many = continued(B, np.vstack([now, earlier]), start, np.stack([e, 0.0 * e], axis=1))
    np.testing.assert_allclose(many[:, 0], mine, atol=1e-12)


def fitted(X, **settings):
    table = pd.DataFrame(X, columns=list("abcdefgh"[: X.shape[1]]))
    return ordag.learn(table, **{"lags": 1, "draws": 32, **settings})


def test_differences_and_seasons_are_put_back():
    random = np.random.default_rng(0)
    steps = np.arange(240)
    season = np.array([0.0, 5.0, -3.0, 1.0])
    X = np.cumsum(random.normal(0.5, 1.0, (240, 2)), axis=0) + np.cumsum(season[steps % 4])[:, None]
    found = fitted(X, difference=1, season=4).ahead(8)
    # increments have the mean 0.5 and the season, and no memory
    expected = X[-1] + np.cumsum(0.5 + season[np.arange(240, 248) % 4] - season.mean() + season.mean())[:, None]
    assert np.abs(found.estimate - expected).max() < 2.5
    assert (found.low < found.estimate).all()
    assert (found.estimate < found.high).all()


@pytest.mark.slow
def test_intervals_of_forecasts_hold_what_comes():
    random = np.random.default_rng(3)
    inside = []
    for _ in range(12):
        B, _ = random_model(random, 2, 1)
        X = rows_of(B, 126, random)
        found = fitted(X[:120]).ahead(6)
        inside.append(((X[120:] >= found.low) & (X[120:] <= found.high)).mean())
    assert 0.85 <= np.mean(inside) <= 1.0


def test_responses_of_differences_are_those_of_levels():
    random = np.random.default_rng(1)
    B, _ = random_model(random, 2, 1)
    X = np.cumsum(rows_of(B, 300, random), axis=0)
    fit = fitted(X, difference=1)
    plain = responses(fit.series.blocks_of(fit.sem.B), 5)
    np.testing.assert_allclose(fit.response("a", "b", 5).estimate, np.cumsum(plain[:, 0, 1]))
    assert "Differences are summed up, so these are changes of the level." in fit.response("a", "b", 5).notes


@pytest.fixture(scope="module")
def panel():
    random = np.random.default_rng(7)
    B, _ = random_model(random, 2, 1)
    rows = [
        pd.DataFrame(rows_of(B, 60, random) + 10.0 * k, columns=["a", "b"]).assign(who=f"s{k}", t=range(60))
        for k in range(3)
    ]
    return ordag.learn(pd.concat(rows), time="t", cluster="who", lags=1, draws=32)


def test_every_series_goes_on_from_its_own_end(panel):
    with pytest.raises(errors.SettingError, match=r"series: name one of the 3 \(s0, s1 and s2\)"):
        panel.ahead(2)
    far = [panel.ahead(30, series=f"s{k}") for k in range(3)]
    levels = [one.estimate[-1] for one in far]
    assert np.abs(np.diff(levels, axis=0) - 10.0).max() < 3.0
    assert far[1].to_dict()["series"] == "s1"


def test_what_is_asked_wrongly_is_said(panel):
    for call, told in [
        (lambda: panel.ahead(0), "steps=0: the number of steps is a whole number from 1"),
        (lambda: panel.ahead(2, series="s9"), "there is no such series"),
        (lambda: panel.response("a", "z"), "There is no variable 'z' in the series"),
        (lambda: panel.response("a", "b", level=2), "level"),
        (lambda: ordag.learn(np.random.default_rng(0).normal(size=(40, 2)), draws=0).ahead(), "not of rows in time"),
    ]:
        with pytest.raises(errors.OrdagError, match=told):
            call()


def test_without_probabilities_there_are_no_intervals():
    fit = fitted(rows_of(random_model(np.random.default_rng(2), 2, 1)[0], 100, np.random.default_rng(2)), draws=0)
    found, change = fit.ahead(2), fit.response("a", "b", 2)
    assert np.isnan(found.low).all()
    assert found.notes == ["Without intervals: the fit has no probabilities."]
    assert change.columns["low"] == [None] * 3
    assert "95 % interval" not in str(change)


def test_answers_are_read_on_every_width(panel):
    from ordag.show.decisions import text

    for width in (60, 80, 200):
        for answer in (panel.ahead(3, series="s0"), panel.response("a", "a", 3)):
            lines = text(answer, width).splitlines()
            assert max(map(len, lines)) <= width
    assert "One unit more of a changes a most at the same time: by 1" in str(panel.response("a", "a", 3))
