"""Total effects against sums over paths, finite differences, the textbook, and repeated samples."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from oracles.model import effect_variance
from oracles.model import total_effects as sum_over_paths
from oracles.resampling import drawn_rows

import ordag
from ordag.assess.causes import GroupEffect
from ordag.data.table import Table
from ordag.errors import ColumnError, DataError, GraphError, SettingError
from ordag.graph.acyclic import reachable
from ordag.learners.pooled import posterior
from ordag.model.effects import check_pair
from ordag.total_effects import KINDS
from ordag.workbench.documents import effect_of


@pytest.fixture(scope="module")
def fit():
    return ordag.learn(ordag.simulate("erdos-renyi", 7, 300, seed=3, degree=4).X)


@pytest.mark.slow
def test_a_seed_is_of_the_resamples_where_the_method_has_none():
    one, same, other = (
        ordag.effect("marks", "vectors", "mechanics", method="cvs", replicates=60, seed=seed, workers=1)
        for seed in (1, 1, 2)
    )
    assert one.std_error == same.std_error != other.std_error


def test_estimates_are_sums_over_paths(fit):
    np.testing.assert_allclose(
        ordag.effects(fit, interval="given-graph").estimate, sum_over_paths(fit.sem.B), atol=1e-12
    )


@pytest.mark.slow
def test_variances_are_those_of_the_delta_method_in_full():
    X = ordag.simulate("erdos-renyi", 7, 300, seed=3, degree=4).X
    fit = ordag.learn(X)
    errors = ordag.effects(fit, interval="given-graph").std_error
    for i in range(7):
        for j in range(7):
            if i != j:
                expected = effect_variance(X, fit.sem.B, i, j)
                assert errors[i, j] ** 2 == pytest.approx(expected, rel=1e-5, abs=1e-14)


def test_one_path_is_the_textbook_product_of_coefficients():
    sem = ordag.LinearSEM.from_edges(["a", "m", "b"], {("a", "m"): 1.5, ("m", "b"): -2.0})
    fit = ordag.learn(dict(zip("amb", sem.sample(200, seed=1).T, strict=True)), alpha=1e-6)
    assert fit.graph.directed == (("a", "m"), ("m", "b"))
    (first, second), (s_first, s_second) = fit.edges["weight"], fit.edges["std_error"]
    effect = ordag.effect(fit, "a", "b", level=0.9, interval="given-graph")
    assert effect.estimate == pytest.approx(first * second)
    assert effect.std_error == pytest.approx(np.hypot(second * s_first, first * s_second))
    assert effect.high - effect.low == pytest.approx(2 * 1.6448536 * effect.std_error)
    assert effect.to_dict()["level"] == 0.9


def test_single_arrow_has_the_standard_error_of_its_regression(fit):
    effects = ordag.effects(fit, interval="given-graph")
    single = (np.count_nonzero(fit.sem.B, axis=1)[:, None] == 1) & (fit.sem.B != 0)
    leaf = single & (np.count_nonzero(fit.sem.B, axis=1) == 0)
    assert leaf.any()
    np.testing.assert_allclose(effects.std_error[leaf], fit.refit.std_error[leaf])


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_should():
    sem = ordag.LinearSEM.from_edges(list("abcd"), {("a", "b"): 1.2, ("b", "c"): 0.9, ("a", "c"): 0.8, ("c", "d"): 1.1})
    truth = sem.total_effects()
    hits = tries = 0
    for seed in range(150):
        fit = ordag.learn(dict(zip("abcd", sem.sample(200, seed=seed).T, strict=True)), alpha=1e-4)
        if fit.graph != sem.dag:
            continue
        effects = ordag.effects(fit, interval="given-graph")
        path = truth != 0
        hits += int(((effects.low <= truth) & (truth <= effects.high))[path].sum())
        tries += int(path.sum())
    assert tries > 600
    assert 0.92 < hits / tries < 0.98


def test_no_path_is_zero_with_certainty_given_the_graph(fit):
    effects = ordag.effects(fit, interval="given-graph")
    nowhere = effects.estimate == 0
    assert (effects.std_error[nowhere] == 0).all()
    assert len(effects.table) == (~nowhere).sum()
    assert list(effects.table) == ["source", "target", "estimate", "std_error", "low", "high"]


def test_a_bare_model_has_estimates_only():
    sem = ordag.LinearSEM.from_edges(["a", "b"], {("a", "b"): 3.0})
    effect = ordag.effect(sem, "a", "b")
    assert effect.estimate == 3.0
    assert np.isnan(effect.std_error)
    assert effect.to_dict()["std_error"] is None


@pytest.mark.thorough
def test_intervals_of_a_learned_graph_are_those_of_its_resamples(fit):
    effects = ordag.effects(fit, interval="bootstrap", replicates=8)
    again = ordag.bootstrap(fit.moments, 8, method="pooled", kicks=0, seed=0)
    assert effects.interval == "bootstrap"
    assert effects.replicates == 8
    assert np.isnan(effects.low).all()  # fewer than 20 have any path
    np.testing.assert_array_equal(effects.median, again.path_intervals.median)
    np.testing.assert_array_equal(effects.path_found, effects.estimate != 0)
    from_bootstrap = ordag.effects(again)
    np.testing.assert_array_equal(from_bootstrap.median, effects.median)


@pytest.mark.slow
def test_spread_and_share_over_resamples_are_those_of_the_values_zeros_included():
    result = ordag.bootstrap("marks", 20, alpha=0.05, seed=1)
    rows = Table("marks").rows.values
    values = [ordag.learn(drawn_rows(rows, 1, one), alpha=0.05).sem.total_effects() for one in range(20)]
    np.testing.assert_allclose(result.effect_intervals.std_error, np.std(values, axis=0, ddof=1), atol=1e-9)
    np.testing.assert_allclose(result.effect_intervals.share, np.mean(np.array(values) != 0, axis=0))


@pytest.mark.thorough
def test_intervals_of_weak_effects_hold_the_truth_where_there_is_a_path_though_the_graph_was_learned():
    sem = ordag.LinearSEM.from_edges(
        list("abcde"), {("a", "b"): 0.3, ("b", "c"): 0.3, ("a", "c"): 0.2, ("c", "d"): 0.25, ("b", "e"): 0.2}
    )
    truth, hits, tries = sem.total_effects(), 0, 0
    for seed in range(25):
        learned = ordag.learn(dict(zip("abcde", sem.sample(150, seed=seed).T, strict=True)), alpha=0.01)
        effects = ordag.effects(learned, replicates=60)
        likely = (truth != 0) & (effects.path_support > 0.5)
        tries += int(likely.sum())
        hits += int(((effects.low <= truth) & (truth <= effects.high))[likely].sum())
    assert tries > 40
    assert hits / tries > 0.8  # 45 of 51; docs/bootstrap.md has more


@pytest.mark.slow
def test_no_path_found_is_not_no_effect(run):
    fit = ordag.learn("marks", alpha=0.05)
    effect = ordag.effect(fit, "mechanics", "statistics", replicates=50)
    assert not effect.path_found
    assert effect.estimate == 0
    assert 0 <= effect.path_support <= 1
    for words in (["--interval", "bootstrap", "--replicates", "20"], ["--interval", "given-graph"]):
        status, out, _ = run("effect", "marks", "--alpha", "0.05", "--from", "mechanics", "--to", "statistics", *words)
        assert status == 0
        assert "no interval, as fewer than 20 resamples have one" in out or "does not show that there is none" in out
        assert "no effect" not in out


@pytest.mark.slow
def test_the_command_says_what_its_interval_is(run):
    words = ["effect", "marks", "--from", "algebra", "--to", "mechanics", "--alpha", "0.05", "--replicates", "40"]
    status, out, _ = run(*words)
    assert status == 0
    assert "per unit if there is a path; 95 % interval" in out
    assert "% of 40." in out
    document = json.loads(run(*words, "--json")[1])
    assert document["interval"] == "bootstrap"
    assert document["replicates"] == 40
    assert json.loads(run(*words, "--json")[1]) == document
    given = json.loads(run(*words, "--interval", "given-graph", "--json")[1])
    assert given["high"] - given["low"] < document["high"] - document["low"]
    assert given["path_support"] is None
    assert run(*words[:-1], "1")[0] == 2


def test_refusals():
    fit = ordag.learn("marks", alpha=0.05)
    with pytest.raises(ColumnError, match="Did you mean 'vectors'"):
        ordag.effect(fit, "algebra", "vectros")
    with pytest.raises(SettingError, match="both algebra"):
        ordag.effect(fit, "algebra", "algebra")
    with pytest.raises(SettingError, match="level"):
        ordag.effects(fit, level=95)
    for interval in KINDS:
        with pytest.raises(SettingError, match="level=0"):
            ordag.effects(fit, level=0, interval=interval)
    with pytest.raises(SettingError, match="interval='normal'"):
        ordag.effects(fit, interval="normal")
    with pytest.raises(SettingError, match="draws=200"):
        ordag.effects(fit, interval="posterior")
    with pytest.raises(GraphError, match="without a direction"):
        ordag.effects(ordag.learn("marks", method="pc", alpha=0.05))


@pytest.fixture(scope="module")
def weak():
    """Three columns whose arrows are in doubt."""
    sem = ordag.LinearSEM.from_edges(list("abc"), {("a", "b"): 0.5, ("b", "c"): 0.3})
    return ordag.learn(dict(zip("abc", sem.sample(100, seed=2).T, strict=True)), units="commensurable", draws=60)


def test_effects_are_those_of_the_graphs_drawn_for_the_resamples(weak):
    drawn = np.array(list(weak.posterior.effects(weak.sample)))
    assert drawn.shape == (60, 3, 3)
    effects = ordag.effects(weak)
    assert effects.interval == "posterior"
    assert effects.replicates == 60
    assert 0.05 < effects.probability.max() < 1
    for i, j in [(i, j) for i in range(3) for j in range(3) if i != j]:
        there = drawn[drawn[:, i, j] != 0, i, j]
        likely = weak.probabilities.arrows >= posterior.ON_PATHS
        paths = [reachable(graph & likely, i)[j] for graph in weak.posterior.graphs(weak.sample)]
        assert effects.probability[i, j] == max(np.mean(paths), weak.probabilities.arrows[i, j])
        assert effects.mean[i, j] == pytest.approx(drawn[:, i, j].mean())
        if len(there):
            low, median, high = np.quantile(there, [0.025, 0.5, 0.975], method="weibull")
            low, high = (low, high) if len(there) >= 20 else (np.nan, np.nan)
            found = [effects.low[i, j], effects.median[i, j], effects.high[i, j]]
            assert found == pytest.approx([low, median, high], nan_ok=True)


def test_arrows_of_little_probability_make_no_path_of_two(monkeypatch):
    fit = ordag.learn(np.random.default_rng(3).standard_normal((60, 6)), draws=64)  # nothing causes anything
    arrows = fit.probabilities.arrows
    assert not any(graph[arrows < posterior.LIKELY_ENOUGH].any() for graph in fit.posterior.graphs(fit.sample))
    with_them = ordag.effects(fit).probability
    assert (with_them >= arrows).all()
    monkeypatch.setattr(posterior, "LIKELY_ENOUGH", 0.0)
    monkeypatch.setattr(posterior, "ON_PATHS", 0.0)
    assert with_them.sum() < 0.8 * ordag.effects(fit).probability.sum()


def test_one_effect_is_that_of_all(weak):
    every = ordag.effects(weak)
    for pair in ("ab", "ca"):
        one, same = ordag.effect(weak, *pair).to_dict(), every.of(*pair).to_dict()
        assert {**same, **{key: one[key] for key in ("wrong", "cautions", "last_steps")}} == one


@pytest.mark.slow
def test_a_path_between_two_columns_is_as_probable_as_the_arrow():
    rows = ordag.LinearSEM.from_edges(["a", "b"], {("a", "b"): 0.2}).sample(100, seed=1)
    fit = ordag.learn(dict(zip("ab", rows.T, strict=True)), units="commensurable", draws=200)
    effects = ordag.effects(fit)
    np.testing.assert_allclose(effects.probability, fit.probabilities.arrows, atol=4 * np.sqrt(0.25 / 200))


def test_the_answer_has_the_verdict_of_its_graph(weak):
    effect = ordag.effect(weak, "a", "b")
    assert effect.wrong == weak.verdict.expected.wrong
    first, second, third = str(effect).splitlines()[:3]
    assert first.startswith("a → b: ")
    assert "per unit if there is a path; 95 % interval " in first
    assert second.startswith("Probability of a path: ")
    assert f"explain {100 * effect.robustness:.0f} % of the residual variance of both" in second
    assert "expected wrong" in third
    rows = np.random.default_rng(1).standard_normal((300, 4)).cumsum(axis=0)
    walk = ordag.effect(ordag.learn(rows, draws=20), "X1", "X2")
    assert any(one.startswith("Neighbouring rows are alike") for one in walk.cautions)
    assert str(walk).splitlines()[-len(walk.cautions) :] == list(walk.cautions)


def test_an_improbable_path_is_said_to_be_none():
    names = list("abc")
    rows = ordag.LinearSEM.from_edges(names, {("a", "b"): 1.0, ("b", "c"): 1.0}).sample(2000, seed=1)
    fit = ordag.learn(dict(zip(names, rows.T, strict=True)), units="commensurable", draws=40)
    effect = ordag.effect(fit, "c", "a")
    assert effect.probability < 0.05
    assert "c → a: there is probably no directed path" in str(effect)
    assert "interval" not in str(effect)


@pytest.mark.slow
def test_without_draws_resamples_are_learned_from_again():
    fit = ordag.learn("marks", draws=0, forecast=1)
    effect = ordag.effect(fit, "algebra", "vectors", replicates=4)
    assert (effect.interval, effect.replicates) == ("bootstrap", 4)
    assert np.isnan(effect.probability)
    assert "of 4." in str(effect)
    assert "no interval, as fewer than 20 resamples have one" in str(effect)
    again = ordag.effect(fit, "algebra", "vectors", interval="bootstrap", replicates=4)
    assert again.to_dict() == effect.to_dict()


@pytest.mark.slow
def test_so_many_variables_that_there_are_no_probabilities(monkeypatch):
    monkeypatch.setattr("ordag.learners.pooled.posterior.MOST_VARIABLES", 4)
    effects = ordag.effects(ordag.learn("marks", method="pooled"), replicates=3)
    assert (effects.interval, effects.replicates) == ("bootstrap", 3)
    with pytest.raises(SettingError, match="this fit has none"):
        ordag.effects(ordag.learn("marks", method="pooled"), interval="posterior")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--draws", "20"], ["--alpha", "0.05", "--replicates", "3"]])
def test_the_command_reads_and_learns_once(words, run, monkeypatch):
    opened, learned = [], []
    open_table, learn_from = ordag.data.table.open_table, ordag.fit.learn_from
    monkeypatch.setattr("ordag.data.table.open_table", lambda *a: opened.append(a) or open_table(*a))
    monkeypatch.setattr("ordag.fit.learn_from", lambda *a, **k: learned.append(a) or learn_from(*a, **k))
    assert run("effect", "marks", "--from", "algebra", "--to", "mechanics", *words)[0] == 0
    assert (len(opened), len(learned)) == (1, 1)


@pytest.mark.slow
def test_the_workbench_says_the_same_where_probabilities_are_known(weak):
    effect, told = ordag.effect(weak, "a", "b"), effect_of(weak, "a", "b")
    assert [told["total"], told["low"], told["high"]] == pytest.approx([effect.estimate, effect.low, effect.high])
    assert told["sentence"].endswith(f"if there is a path). {effect.certainty}")
    given = effect_of(replace(weak, posterior=weak.posterior.unweighed()), "a", "b")
    assert "taking the graph for granted). A hidden common cause" in given["sentence"]


def test_too_many_effects_for_memory_are_refused_before_they_are_made(weak, monkeypatch):
    monkeypatch.setattr("ordag.total_effects.EFFECTS", 100)
    with pytest.raises(SettingError, match=r"do not fit in memory: .*ordag\.effect"):
        ordag.effects(weak)
    assert ordag.effect(weak, "a", "b").replicates == 60


def test_graphs_that_fit_no_resample_are_no_answer(weak, monkeypatch):
    monkeypatch.setattr("ordag.learners.pooled.posterior.Posterior.effects", lambda self, rows: iter(()))
    with pytest.raises(DataError, match="none of 60 resamples"):
        ordag.effects(weak)


def test_a_fit_takes_no_settings_of_learning():
    fit = ordag.learn("marks", "cvs")
    with pytest.raises(SettingError, match="alpha, method: this graph is learned already"):
        ordag.effect(fit, "algebra", "mechanics", alpha=0.05, method="cvs")


def test_the_last_steps_add_up_to_the_effect_and_are_said():
    model = ordag.LinearSEM.from_edges(
        ["a", "m", "k", "b"], {("a", "m"): 2.0, ("m", "b"): 0.5, ("a", "b"): -0.3, ("a", "k"): 1.0, ("k", "m"): 1.0}
    )
    assert model.last_steps("a", "b") == pytest.approx({"m": 1.5, "a": -0.3})
    assert list(model.last_steps("a", "b")) == ["m", "a"]
    assert model.last_steps("m", "a") == {}
    found = ordag.effect(model, "a", "b")
    assert sum(found.last_steps.values()) == pytest.approx(found.estimate)
    assert "In the learned graph 1.5 through m and -0.3 directly." in str(found)
    assert found.to_dict()["last_steps"] == found.last_steps
    assert "through" not in str(ordag.effect(model, "m", "b"))


def test_an_effect_is_that_of_one_variable_on_another():
    names = ("a", "b b", "c")
    assert check_pair("a", "c", names) == (0, 2)
    with pytest.raises(SettingError, match=r"are both b b: give two different variables"):
        check_pair("b b", "b b", names)
    with pytest.raises(ColumnError, match=r"no variable 'cc'. Did you mean 'c'\? The variables are a, b b and c"):
        check_pair("a", "cc", names)


def test_a_category_reads_as_its_groups():
    effect = GroupEffect(
        "site",
        "y",
        0.9,
        "x",
        ("x", "z"),
        (1, 20),
        (1.5, 2.75),
        (0.0, 1.25),
        (0.0, 0.25),
        (0.0, 2.25),
        4.56789,
        1,
        19,
        0.0467,
        ("sex",),
        True,
        0.8,
    )
    assert str(effect).splitlines()[:5] == [
        "Total effect of site on y: differences from x, with sex held fixed",
        "  x: mean 1.5 of 1 row",
        "  z: mean 2.75 of 20 rows, +1.25 (90 % interval 0.25 to 2.25)",
        "  all groups alike: F(1, 19) = 4.57, p = 0.047",
        "  The graph has a path from site to y; 80 % of the resamples have one.",
    ]
    alone = replace(effect, other=(), path_found=False, probability=float("nan"), p_value=1e-9)
    assert str(alone).splitlines()[0].endswith("from x")
    assert str(alone).splitlines()[4] == "  The graph has no path from site to y."
    assert alone.to_dict().keys() == effect.to_dict().keys() - {"probability"}
