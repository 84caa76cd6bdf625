"""The pooled search with categories against all graphs with all sets of categories, and what it finds in tables with a known graph."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import causes as literal
from oracles import pooled as pooled_oracle

import ordag
from ordag.learners.causes import CauseRules
from ordag.learners.pooled import cause_resampling, cause_search
from ordag.learners.pooled.cause_resampling import RedrawnCauses, ResampledCauses, _State
from ordag.learners.pooled.cause_search import CauseProblem


def table(seed, p, categories, sets=0.4):
    """Rows of a random graph in which categories have effects, two of which may be related."""
    random = np.random.default_rng(seed)
    n = int(random.integers(40, 200))
    groups = [random.integers(0, int(random.integers(2, 5)), n) for _ in range(categories)]
    if categories > 1 and random.random() < 0.4:
        groups[1] = np.where(random.random(n) < 0.6, groups[0], groups[1])
    order, X = random.permutation(p), np.zeros((n, p))
    for k, j in enumerate(order):
        X[:, j] = random.standard_normal(n) * (1.0 if seed % 2 else np.exp(random.normal()))
        for i in order[:k]:
            X[:, j] += (random.random() < 0.6) * random.uniform(-1.5, 1.5) * X[:, i]
        for values in groups:
            X[:, j] += (random.random() < sets) * random.normal(0, 1, 10)[values] * np.std(X[:, j])
    return X, groups


def learned(X, groups, **settings):
    data = {f"v{j}": X[:, j] for j in range(X.shape[1])}
    data |= {f"c{k}": np.array([f"level {one}" for one in values]) for k, values in enumerate(groups)}
    return ordag.learn(data, cause=[f"c{k}" for k in range(len(groups))], method="pooled", **settings)


def best(X, groups, fit, monkeypatch):
    """The best score of all, with M from a table, as the oracle integrates it anew for each graph."""
    known = {}

    def pooling(n, size, squares, spread):
        key = n, size, spread
        if key not in known:
            at = np.linspace(math.log(1e-10), 20.0, 2000)
            known[key] = at, pooled_oracle.poolings(n, size, np.exp(at), spread)
        return float(np.interp(math.log(max(squares, 1e-10)), *known[key]))

    monkeypatch.setattr(pooled_oracle, "pooling", pooling)
    score = fit.result.score
    return literal.best(X, groups, [[int(j) for j in group] for group in score.groups], score.scale)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_the_best_of_all_graphs_and_sets_is_found(seed, monkeypatch):
    p, count = [(2, 2), (3, 1)][seed % 2]
    X, groups = table(seed, p, count)
    fit = learned(X, groups, draws=0, graph="best")
    lowest, graph, sets = best(X, groups, fit, monkeypatch)
    assert fit.score == pytest.approx(lowest, abs=0.02)
    if fit.score < lowest + 1e-4:
        arrows = {(f"v{i}", f"v{j}") for j, parents in enumerate(graph) for i in parents}
        assert len(fit.graph.directed) == len(arrows)
        assert int(fit.causes.arrows.sum()) == sum(map(len, sets))


@pytest.mark.slow
def test_alternation_reaches_the_same_as_all_sets(monkeypatch):
    found = []
    for most in (6, 0):
        monkeypatch.setattr(cause_search, "MOST_FOR_ALL_SETS", most)
        found.append([learned(*table(seed, 3, 1), draws=0, graph="best").score for seed in (1, 2, 3)])
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def chain(seed, n=500):
    """site → a → b, with error variances that say nothing of the order, and an unrelated category."""
    random = np.random.default_rng(seed)
    site, other = random.integers(0, 3, n), random.integers(0, 4, n)
    a = 1.2 * site + random.standard_normal(n)
    b = a + 0.7 * random.standard_normal(n)
    return {"b": b / b.std(), "a": a / a.std(), "site": WORDS[site], "other": WORDS[other]}


WORDS = np.array(["north", "south", "east", "west"])


def test_a_category_tells_cause_from_effect_without_variances():
    fit = ordag.learn(chain(1), cause=["site", "other"])
    assert fit.graph.directed == (("a", "b"),)
    assert fit.causes.arrows.tolist() == [[False, True], [False, False]]
    edges = fit.edges.set_index(["source", "target"])
    assert edges.loc[("a", "b"), "reason"] == "class"
    assert edges.loc[("site", "a"), "reason"] == "knowledge"
    assert edges.loc[("site", "a"), "probability"] > 0.99
    assert np.isnan(edges.loc[("site", "a"), "weight"])
    assert fit.probabilities.causes[1].max() < 0.3
    alone = ordag.learn(chain(1), adjust=["site", "other"])
    assert alone.edges["reason"].tolist() == ["open"]


def test_resamples_begin_with_graphs_of_different_scores(monkeypatch):
    """Another graph of the best one's class is no other start."""
    once = cause_search.pooled_search

    def with_others(*given, **settings):
        result = once(*given, **settings)
        same = replace(result.best, parents=(*result.best.parents[1:], 0))
        return replace(result, optima=(result.best, same, replace(same, score=result.best.score + 1.0)))

    monkeypatch.setattr(cause_search, "pooled_search", with_others)
    first, *others = learned(*table(1, 4, 1), draws=0).result.optima
    assert [one.score for one in others] == pytest.approx([first.score + 1.0])


def test_weights_are_those_within_the_categories_of_each_equation():
    data = chain(2)
    fit = ordag.learn(data, cause=["site", "other"])
    X = np.column_stack([data["b"], data["a"]])
    slope = np.cov(X.T)[0, 1] / np.var(X[:, 1], ddof=1)
    assert fit.sem.B[1, 0] == pytest.approx(slope, rel=1e-9)
    left = literal.rss(X, 1, [], [data["site"]])[0]
    assert fit.sem.omega[1] == pytest.approx(left / (500 - 3), rel=1e-9)
    assert fit.refit.residual_df.tolist() == [498, 497]


def test_the_answer_does_not_depend_on_the_order_of_rows_columns_or_levels():
    data = chain(3)
    fit = ordag.learn(data, cause=["site", "other"], draws=0)
    turned = {name: data[name][::-1] for name in ("other", "a", "site", "b")}
    again = ordag.learn(turned, cause=["other", "site"], draws=0)
    assert set(again.whole_graph.directed) == set(fit.whole_graph.directed)
    assert again.score == pytest.approx(fit.score, rel=1e-9)


def test_knowledge_names_categories():
    data = chain(4)
    ruled_out = ordag.learn(data, cause=["site", "other"], draws=0, knowledge={"forbidden": [("site", "a")]})
    assert not ruled_out.causes.arrows[0, 1]
    required = ordag.learn(data, cause=["site", "other"], draws=0, knowledge={"required": [("other", "b")]})
    assert required.causes.arrows[1, 0]
    with pytest.raises(ordag.SettingError, match="into site, which is a category"):
        ordag.learn(data, cause=["site", "other"], knowledge={"required": [("a", "site")]})


def test_cvs_tests_categories_given_all_earlier_variables():
    data = chain(5)
    data["a"], data["b"] = data["a"], 3.0 * data["b"]
    fit = ordag.learn(data, cause=["site", "other"], method="cvs")
    X = np.column_stack([data["b"], data["a"]])
    assert fit.order == ("a", "b")
    expected = literal.f_test(X, 1, [], data["site"], [data["other"]])
    edges = fit.edges.set_index(["source", "target"])
    assert edges.loc[("site", "a"), "p_value"] == pytest.approx(expected[3], rel=1e-5)
    found = {(c, j) for c in range(2) for j in range(2) if fit.causes.arrows[c, j]}
    groups = [data["site"], data["other"]]
    tested = {
        (c, j)
        for c in range(2)
        for j, earlier in ((1, []), (0, [1]))
        if literal.f_test(X, j, earlier, groups[c], [groups[1 - c]])[3] <= 0.01
    }
    assert found == tested


def test_cvs_with_categories_refuses_what_takes_rows():
    with pytest.raises(ordag.SettingError, match=r"^Categories as causes go with moments alone") as refused:
        ordag.learn(chain(5), cause=["site", "other"], method="cvs", split=True)
    assert refused.value.settings == ("cause",)


@pytest.mark.parametrize("method", ["pc", "ges", "gds"])
def test_other_methods_refuse_categories(method):
    with pytest.raises(ordag.DataError, match="takes no categories as causes"):
        ordag.learn(chain(6), cause=["site"], drop=["other"], method=method)


@pytest.mark.thorough
def test_an_unrelated_category_is_tested_at_its_level():
    rejected = 0
    for seed in range(400):
        data = chain(seed, n=60)
        fit = ordag.learn(data, cause=["site", "other"], method="cvs", alpha=0.05)
        rejected += int(fit.causes.arrows[1].sum())
    assert 0.03 < rejected / 800 < 0.075


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rows", "moments"])
def test_resamples_vary_around_the_table_with_its_categories(kind):
    X, groups = table(2, 3, 2)
    fit = learned(X, groups, draws=0)
    order = [fit.names.index(name) for name in fit.result.moments.names]
    rows = fit.profile.complete.rows[:, order] if kind == "rows" else None
    redrawn = RedrawnCauses(fit.result, rows, strength=1.0)
    drawn = [redrawn.draw(np.random.default_rng(seed)) for seed in range(300)]
    logs = np.log([one.squares for one in drawn]) - np.log((redrawn.joint.R**2).sum(axis=0)[-3:])
    n = redrawn.joint.n
    np.testing.assert_allclose(logs.std(axis=0), np.sqrt(2.0 / n), rtol=0.35 if kind == "rows" else 0.15)
    np.testing.assert_allclose(logs.mean(axis=0), 0.0, atol=0.5 * np.sqrt(2.0 / n))


@pytest.mark.slow
def test_walks_through_graphs_agree_with_all_graphs_in_resamples():
    X, groups = table(3, 4, 2)
    found = learned(X, groups, draws=0).result
    means, seeds = [], [np.random.SeedSequence(k) for k in range(10)]
    for walks in (False, True):
        resampled = ResampledCauses(found, None)
        assert resampled.every is not None
        if walks:
            resampled.every = None
        means.append(np.mean([one.arrows for one in resampled.run(seeds)], axis=0))
    assert means[0].shape == (4 + 2, 4)
    assert ((means[0] > 0.05) & (means[0] < 0.95)).any()
    np.testing.assert_allclose(*means, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("probability", "there"), [(0.5, False), (0.51, True)])
def test_an_arrow_from_a_category_is_likelier_than_not(probability, there, monkeypatch):
    X, groups = table(2, 3, 2)
    fit = learned(X, groups, draws=4, seed=0)
    even = replace(fit.probabilities, causes=np.full((2, 3), probability))
    monkeypatch.setattr(type(fit.posterior), "probabilities", lambda self, rows: even)
    assert (fit.method_settings.finished(fit).causes.arrows == there).all()


def state():
    """Graph and categories in one resample."""
    given = ResampledCauses(learned(*table(2, 3, 2), draws=0).result, None)
    return given, _State(given, given.rows_redrawn.draw(np.random.default_rng(0)))


def test_walks_begin_with_the_variances_within_the_categories_of_each_variable(monkeypatch):
    given, now = state()
    given.every, now.sets = None, [0b00, 0b01, 0b11]
    seen = []
    monkeypatch.setattr(cause_resampling, "OrderSearch", lambda C, scale, **more: seen.append(scale) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        now.draw_graph(np.random.default_rng(0))
    assert seen[0] == pytest.approx([now.drawn.log_variance(j, [], one) for j, one in enumerate(now.sets)])


def test_an_arrow_from_a_category_is_as_likely_whether_it_is_there_or_not():
    _, now = state()
    never, chances = SimpleNamespace(random=lambda: 1.0), []
    for there in (0, 1):
        now.sets = [there, 0, 0]
        chances.append(now.draw_sets(never)[0, 0])
    assert 0.0 < chances[0] < 1.0
    assert chances[1] == pytest.approx(chances[0])


def test_beyond_few_categories_the_sets_that_are_tried_differ_in_one_that_is_open(monkeypatch):
    monkeypatch.setattr(cause_search, "MOST_TOGETHER", 3)
    allowed, required = np.array([[True], [False], [True], [True]]), np.array([[False], [False], [False], [True]])
    parts = SimpleNamespace(p=1), SimpleNamespace(names="abcd"), CauseRules(allowed, required)
    assert CauseProblem(*parts, None, (), {}).near(0, 0b1001) == [0b1001, 0b1000, 0b1101]
