"""Forecasts against a literal simulation, against what was realised, and the same whatever the stack and the workers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from budgets import crossed, thorough

import ordag
from ordag.assess import forecast as forecasts
from ordag.assess.forecast import Expected, expected, forecast, usual_count
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.learners.cvs import CvsSettings
from ordag.learners.cvs_stack import NUMBERS_PER_STACK, cvs_stack, stack_size, stackable
from ordag.learners.methods import METHODS, learn_from
from ordag.resampling.replicates import Job, Replicate
from ordag.resampling.resamplers import HalfResampler, RowResampler, WishartResampler


def shares(found, truth):
    right, turned = (found & truth).sum(), (found & truth.T).sum()
    joined = right + turned
    return (
        1 - right / found.sum() if found.any() else 0.0,
        turned / joined if joined else 0.0,
        1 - joined / truth.sum(),
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cvs", thorough("ges")])
def test_a_forecast_is_what_rows_drawn_from_the_fitted_model_give(method):
    fit = ordag.learn("marks", method, **({"alpha": 0.05} if method == "cvs" else {}))
    said = forecast(fit, 300)
    sem = fit.any_sem
    random = np.random.default_rng(1)
    literal = []
    for _ in range(300):
        again = learn_from(Table(sem.sample(fit.n, random)), fit.method_settings).graph.adjacency
        truth = fit.graph.adjacency
        arrows = again & ~again.T
        lines = np.triu(again & again.T)
        edges = arrows.sum() + lines.sum()
        right = (arrows & truth).sum() + (lines & (truth | truth.T)).sum()
        turned = (arrows & truth.T & ~truth).sum()
        pairs = np.triu(truth | truth.T).sum()
        literal.append((1 - right / edges, turned / max(right + turned, 1), 1 - (right + turned) / pairs))
    assert (said.wrong, said.turned, said.missed) == pytest.approx(np.mean(literal, axis=0).tolist(), abs=0.03)
    assert said.replicates == 300


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "degree", "weights", "n"),
    [(10, 2, (0.3, 1.0), 88), thorough(20, 3, (0.1, 0.5), 200), thorough(30, 3, (0.3, 1.0), 100)],
)
def test_what_was_forecast_comes_true_where_the_model_holds(p, degree, weights, n):
    said, was = [], []
    for seed in range(12):
        drawn = ordag.simulate("erdos-renyi", p, n, seed=50 + seed, degree=degree, weights=weights)
        fit = ordag.learn(drawn.X, "cvs", alpha=0.01)
        one = forecast(fit, 60)
        said.append((one.wrong, one.turned))
        was.append(shares(fit.graph.adjacency, drawn.dag.adjacency)[:2])
    assert np.mean(said, axis=0) == pytest.approx(np.mean(was, axis=0), abs=0.1)


@pytest.mark.slow
def test_probabilities_say_how_many_arrows_are_wrong():
    fit = ordag.learn("marks", "pooled")
    one = expected(fit)
    table = fit.edges
    assert one.wrong == pytest.approx(1 - table["probability"].mean())
    reverse = table["edge_probability"] - table["probability"]
    assert one.turned == pytest.approx(reverse.sum() / table["edge_probability"].sum())
    assert one.to_dict() == {
        "by": "probabilities",
        "wrong": one.wrong,
        "turned": one.turned,
        "missed": None,
        "replicates": None,
    }
    assert "By their probabilities," in one.sentence
    unweighed = ordag.learn("marks", "pooled", draws=0)
    assert expected(unweighed) is None
    assert expected(unweighed, 10).replicates == 10


def test_what_probabilities_say_is_their_mean_over_the_arrows():
    fit = ordag.learn(ordag.simulate("chain", 3, 60, seed=3).X, draws=16)
    there, said = fit.graph.adjacency, fit.verdict.expected
    arrows, joined = fit.probabilities.arrows, fit.probabilities.joined
    assert said.wrong == pytest.approx(1.0 - arrows[there].mean())
    assert 0.0 < said.turned == pytest.approx(arrows.T[there].sum() / joined[there].sum())


def test_shares_are_counted_of_the_edges_that_are_there():
    """Right, turned round, one of each, only false ones, and none at all."""
    truth = np.zeros((4, 4), dtype=bool)
    truth[0, 1] = truth[1, 2] = True
    for arrows in ([(0, 1), (1, 2)], [(1, 0)], [(0, 1), (2, 1)], [(0, 3), (2, 0)], []):
        found = np.zeros((4, 4), dtype=bool)
        for i, j in arrows:
            found[i, j] = True
        one = Replicate(np.flatnonzero(found), np.array([], dtype=int))
        said = forecasts._counted(truth, [one])
        assert (said.wrong, said.turned, said.missed) == pytest.approx(shares(found, truth))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_forecast_with_any_stack_and_workers(monkeypatch):
    fit = ordag.learn(ordag.simulate("erdos-renyi", 12, 200, seed=1, degree=2).X, "cvs")
    one = forecast(fit, 40, seed=3)
    assert one == forecast(fit, 40, seed=3, workers=2)
    assert one != forecast(fit, 40, seed=4)
    monkeypatch.setattr("ordag.learners.cvs_stack.NUMBERS_PER_STACK", 7 * 144)
    assert one == forecast(fit, 40, seed=3)
    monkeypatch.setattr("ordag.learners.cvs_stack.MOST_COLUMNS", 0)
    assert one == forecast(fit, 40, seed=3)


def test_stacks_hold_so_many_numbers_or_one_table():
    assert [stack_size(p) * p * p for p in (2, 8, 64, 512)] == [NUMBERS_PER_STACK] * 4
    assert stack_size(513) == 1


@pytest.mark.slow
def test_a_second_is_enough_or_nothing_is_said():
    small = ordag.learn(ordag.simulate("erdos-renyi", 6, 100, seed=1, degree=2).X, "cvs")
    assert usual_count(small) == forecasts.MOST_TABLES
    wide = ordag.learn(Moments.from_covariance(np.eye(1500) + 0.5, 4000), "cvs")
    assert usual_count(wide) == 0
    assert wide.forecast() is None


def test_supports_of_ten_times_as_many_variables_take_a_hundred_times_as_long():
    for p, count in ((10, forecasts.MOST_TABLES), (100, 0)):
        fit = ordag.learn(Moments.from_covariance(np.eye(p), 4000), "cvs", variance="sparse")
        assert usual_count(fit) == count


def test_where_there_is_nothing_to_forecast():
    empty = ordag.learn(np.random.default_rng(3).standard_normal((6, 4)), "cvs")
    assert empty.forecast() is None
    with pytest.raises(SettingError, match="the number of tables to draw is a whole number from 1 on"):
        empty.forecast(0)
    with pytest.raises(SettingError, match="replicates='5'"):
        empty.forecast("5")


@pytest.mark.slow
def test_a_forecast_of_as_many_tables_as_asked_for(run):
    fit = ordag.learn("marks", forecast=7)
    assert fit.verdict.expected.replicates == 7
    status, out, _ = run("learn", "marks", "--alpha", "0.05", "--forecast", "11", "--json")
    assert (status, json.loads(out)["verdict"]["expected"]["replicates"]) == (0, 11)
    with pytest.raises(SettingError, match="forecast=0: the number of simulated tables is a whole number from 1 on"):
        ordag.learn("marks", forecast=0)


def test_sentences_of_expectations():
    assert Expected(0.19, 0.004, 0.14, 200).sentence == (
        "If this graph were the truth, tables of this size would give about 19 % wrong arrows, less than 1 % reversed ones, "
        "and miss 14 % of the edges (200 simulated tables)."
    )


SETTINGS = [
    {},
    {"alpha": 0.2},
    {"test": "t"},
    {"test": "mutual-information", "correction": "bonferroni"},
    {"correction": "bh", "alpha": 0.05},
    {"test": lambda r, n, k: np.exp(-n * r * r), "alpha": 0.05},
    {"test": lambda r, n, k: np.exp(-n * r * r), "alpha": 0.05, "correction": "bh"},
]


def one_by_one(job, count):
    return [job._one(k, job._drawn(k)) for k in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "p"), crossed(SETTINGS, [2, 3, 9, 30]))
def test_a_stack_learns_what_one_table_after_the_other_gives(p, settings):
    drawn = ordag.simulate("erdos-renyi", p, 120, seed=p, degree=min(2, p - 1))
    base = Moments.from_rows(drawn.X)
    settings = CvsSettings(**settings)
    assert stackable(settings, 200, p)
    for resampler in (WishartResampler(base), RowResampler.of(drawn.X, base), HalfResampler(base, drawn.X, 120)):
        job = Job(resampler, np.random.SeedSequence(2), settings, "effects")
        for together, alone in zip(job.run(range(12)), one_by_one(job, 12), strict=True):
            assert np.array_equal(together.arrows, alone.arrows)
            assert np.array_equal(together.positions, alone.positions)
            assert together.weights == pytest.approx(alone.weights)
            assert together.effects[1] == pytest.approx(alone.effects[1])


@pytest.mark.parametrize("rows", [120, 9])
def test_samples_are_learned_from_by_their_own_number_of_rows(rows):
    """Halves together as halves; where half of the rows are too few, or samples differ in rows, one by one."""
    X = ordag.simulate("erdos-renyi", 5, rows, seed=1, degree=2).X
    job = Job(HalfResampler(Moments.from_rows(X), X, rows), np.random.SeedSequence(2), CvsSettings(), "weights")
    expected = one_by_one(job, 12)
    assert [one.failure is None for one in expected] == [rows > 10] * 12
    assert [(one.arrows.tolist(), one.failure) for one in job.run(range(12))] == [
        (one.arrows.tolist(), one.failure) for one in expected
    ]


def test_what_has_too_few_digits_goes_the_exact_way():
    """Two columns that differ in their eighth digit: squares hold nothing of the difference, R does."""
    random = np.random.default_rng(7)
    a = random.standard_normal(200)
    X = np.column_stack([a, a + 1e-8 * random.standard_normal(200), random.standard_normal(200)])
    base = Moments.from_rows(X)
    job = Job(WishartResampler(base), np.random.SeedSequence(1), CvsSettings(), "graph")
    roots = np.stack([job.resampler.moments(k, np.random.SeedSequence(k)).R for k in range(4)])
    assert not cvs_stack(roots, 200, CvsSettings()).sound.any()
    assert [one.positions.tolist() for one in job.run(range(4))] == [
        one.positions.tolist() for one in one_by_one(job, 4)
    ]


@pytest.mark.parametrize(
    ("method", "settings", "p"),
    [
        ("pooled", {}, 5),
        ("cvs", {"parents": "bic"}, 5),
        ("cvs", {"direction": "backward"}, 5),
        ("cvs", {"knowledge": {"forbidden": [["a", "b"]]}}, 5),
        ("cvs", {"min_effect": 0.1}, 5),
        ("cvs", {}, 151),
    ],
)
def test_what_does_not_go_in_step(method, settings, p):
    assert not stackable(METHODS[method].settings(**settings), 1000, p)
