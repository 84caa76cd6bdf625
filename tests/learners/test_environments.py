"""Equations that differ between environments: the exact sums, the search, what is told, and tables that are out of the ordinary."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from budgets import tries
from oracles import environments as oracle

import ordag
from ordag.common.bits import members
from ordag.data.environments import OWN, SHARED, Environments
from ordag.data.table import Table
from ordag.decisions.environment_changes import _kurtosis, _rows_of
from ordag.decisions.equations import Equation, compare
from ordag.learners.pooled import search as searching
from ordag.learners.pooled.environments import Changed
from ordag.learners.pooled.exact import MOST_VARIABLES, all_graphs
from ordag.learners.pooled.search import pooled_search
from ordag.order import find_order


def drawn(p, environments, seed, *, rows=(80, 80), share=0.4, whole=0.5, units=True):
    """Rows of a random model in environments in which some equations are others; labels, adjacency, and the targets in each."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((p, p)) < 0.6, 1)
    B = np.where(A, rng.uniform(0.6, 1.4, (p, p)) * rng.choice([-1, 1], (p, p)), 0.0)
    targets, parts, labels = np.zeros((environments, p), bool), [], []
    for e in range(environments):
        C, sd, n = B.copy(), np.ones(p), int(rng.integers(*rows, endpoint=True))
        for j in np.flatnonzero(rng.random(p) < share) if e else ():
            targets[e, j] = True
            sd[j] = 3.0
            if rng.random() < whole:
                C[:, j] *= rng.uniform(-0.5, 0.5, p)
        parts.append((rng.standard_normal((n, p)) * sd + rng.normal(0.0, 2.0, p)) @ np.linalg.inv(np.eye(p) - C))
        labels += [f"s{e}"] * n
    order = rng.permutation(p)
    X = np.concatenate(parts)[:, order]
    scale = 10.0 ** rng.uniform(-2.0, 2.0, p) if units else np.ones(p)
    return X * scale, labels, A[np.ix_(order, order)], targets[:, order]


def table(X, labels, **more):
    return {**{f"x{j}": column for j, column in enumerate(X.T)}, "site": list(labels), **more}


def changed(X, labels):
    return Changed(Environments.of(Table(table(X, labels), environment="site").moments))


@pytest.mark.parametrize("environments", [2, 3])
@pytest.mark.parametrize("seed", tries(2, 40))
def test_sums_are_the_least_of_all_choices_of_states(environments, seed):
    X, labels, _, _ = drawn(3, environments, seed, rows=(7, 60))
    ours, rows = changed(X, labels), oracle.Rows(X, labels)
    for j in range(3):
        for mask in (mask for mask in range(8) if not mask >> j & 1):
            v, _ = rows.v(j, members(mask))
            assert ours.log_variance(j, mask) == pytest.approx(v, abs=1e-9)
            states = ours.equation(j, mask).states  # of two environments either may be the one that shares
            assert 2.0 * rows.sum_for(j, members(mask), states) / rows.n - 1.0 == pytest.approx(v, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(1, 20))
def test_more_environments_are_searched(seed):
    """States are changed from several starts: never below the least sum, nearly always at it."""
    X, labels, _, _ = drawn(3, 5, seed, rows=(30, 90))
    ours, rows = changed(X, labels), oracle.Rows(X, labels)
    away = [ours.log_variance(j, mask) - rows.v(j, members(mask))[0] for j, mask in ((0, 6), (1, 1), (2, 3))]
    assert min(away) > -1e-9
    assert max(away) * rows.n / 2.0 < 1.0


@pytest.mark.parametrize(
    ("environments", "seed", "rows", "sets"),
    [
        (2, 2, (12, 40), (0b110, 0b101, 0)),
        (3, 3, (12, 40), (0b010, 0b101)),
        (5, 3, (12, 40), (0b010, 0b100)),
        (4, 4, (4, 30), (0b110,)),  # single states are changed in the end
        (5, 9, (4, 30), (0b110,)),  # some have rows for a variance of their own alone
    ],
)
def test_sums_are_the_same_where_they_are_not_compiled(environments, seed, rows, sets, plain_changed_fit):
    X, labels, _, _ = drawn(3, environments, seed, rows=rows, share=0.7)
    compiled, plain = changed(X, labels), changed(X, labels)
    plain._kernel = plain_changed_fit
    for j, mask in enumerate(sets):
        with np.errstate(all="ignore"):
            mine, other = plain.equation(j, mask), compiled.equation(j, mask)
            dropping = [one.log_dropping(j, mask)[1] for one in (plain, compiled)]
            adding = [np.array(one.candidates(j, mask, np.inf)) for one in (plain, compiled)]
        np.testing.assert_allclose(mine.v, other.v, atol=1e-9)
        if environments > 2:  # of two either may be the one that shares
            assert mine.states.tolist() == other.states.tolist()
            np.testing.assert_allclose(np.hstack(mine[2:]), np.hstack(other[2:]), rtol=1e-6)
        np.testing.assert_allclose(*dropping, atol=1e-9)
        np.testing.assert_allclose(*adding, atol=1e-9)


def test_an_environment_that_must_share_leaves_the_others_their_choice(plain_changed_fit):
    X, labels, _, _ = drawn(3, 3, 1, rows=(20, 40), share=0.9)
    plain, rows = changed(X, labels), oracle.Rows(X, labels)
    plain._kernel = plain_changed_fit
    for tied in (0, 1):
        plain._may[:, tied] = SHARED
        least = min(
            rows.sum_for(0, [1, 2], states)
            for states in product(range(3), repeat=3)
            if states[tied] == 0 == min(states)
        )
        with np.errstate(all="ignore"):
            assert plain.equation(0, 0b110).v == pytest.approx(2.0 * least / rows.n - 1.0, abs=1e-9)
        plain._may[:, tied] = OWN
        plain._equations = {}


def test_weights_are_those_of_the_leading_triangle_and_no_others(plain_changed_fit):
    A, b = np.triu(np.arange(1.0, 17.0).reshape(4, 4)), np.full(4, 7.0)
    plain_changed_fit.back_substitute(A, 2, b)
    np.testing.assert_allclose(b, [*np.linalg.solve(A[:2, :2], A[:2, 2]), 7.0, 7.0])


def test_the_shared_variance_is_that_of_all_rows_that_share(plain_changed_fit):
    degrees, squares = np.array([4.0, 6.0]), np.array([3.0, 12.0])
    T, least, states, variances = np.sqrt(squares).reshape(2, 1, 1), np.full(2, 1e-300), np.full(2, SHARED), np.ones(2)
    given = T, 0, degrees, squares, least, degrees, np.full(2, SHARED), states, variances
    plain_changed_fit.settle(*given, 1.0, 1.0, np.zeros((2, 1)), np.zeros(1))
    np.testing.assert_allclose(variances, 15.0 / 10.0)


def test_environments_with_rows_enough_are_searched_alone_the_largest_first():
    X = np.random.default_rng(2).standard_normal((90, 3))
    labels = ["small"] * 20 + ["few"] * 8 + ["large"] * 40 + ["more"] * 22
    ours = Changed(Environments.of(Table(table(X, labels), environment="site").moments), few=8)
    for most, expected in ((2, ["large", "more"]), (4, ["large", "more", "small"])):
        alone = dict(ours.alone(most))
        assert list(alone) == expected
        np.testing.assert_allclose(alone["large"]["C"][0], np.corrcoef(X[28:68].T), atol=1e-12)
    ours.environments.left_out[2, 1] = True
    assert "large" not in dict(ours.alone(4))


def test_a_row_alone_counts_for_nothing_beside_other_environments():
    X = np.random.default_rng(2).standard_normal((61, 3))
    environments = Environments.of(Table(table(X, ["a"] * 40 + ["b"] * 20 + ["c"]), environment="site").moments)
    assert environments.degrees.tolist() == [39.0, 19.0, 0.0]
    assert environments.p == 3
    for which, n, rows in (([0], 40, 40), ([0, 2], 40, 41), ([0, 1, 2], 59, 61)):
        sharing = environments.sharing(which)
        assert (sharing.n, sharing.rows) == (n, rows)


def test_the_search_begins_with_the_graphs_of_single_environments_too(monkeypatch):
    monkeypatch.setattr(searching, "MOST_VARIABLES", 2)
    monkeypatch.setattr(searching, "MOST_FOR_ALL_SETS", 2)
    X, labels, _, _ = drawn(3, 2, 1, rows=(60, 60))
    assert {"s0", "s1"} < set(ordag.learn(table(X, labels), environment="site", draws=0, kicks=0).result.starts)


def test_digits_are_kept_where_columns_are_nearly_collinear():
    X, labels, _, _ = drawn(3, 2, 5, units=False)
    X = X @ (np.eye(3) + 1e6 * np.outer([1.0, 2.0, -1.0], [1.0, 1.0, 1.0]))
    ours, rows = changed(X, labels), oracle.Rows(X, labels)
    for j, mask in ((0, 6), (1, 5), (2, 3)):
        assert ours.log_variance(j, mask) == pytest.approx(rows.v(j, members(mask))[0], abs=1e-6)


def test_adding_and_dropping_parents_gives_the_same_sums():
    X, labels, _, _ = drawn(5, 3, 3)
    ours = changed(X, labels)
    fresh = changed(X, labels)
    for w, value in zip(*ours.candidates(0, 0b00110, np.inf), strict=True):
        assert value == pytest.approx(fresh.log_variance(0, 0b00110 | 1 << w), abs=1e-12)
    for i, value in zip(*ours.log_dropping(0, 0b10110), strict=True):
        assert value == pytest.approx(fresh.log_variance(0, 0b10110 & ~(1 << int(i))), abs=1e-12)


@pytest.mark.parametrize("seed", tries(2, 20))
@pytest.mark.parametrize("whole", [0.0, 1.0])
def test_the_bound_touches_at_its_graph_and_lies_above_elsewhere(seed, whole):
    X, labels, A, _ = drawn(5, 3, seed, whole=whole)
    ours = changed(X, labels)
    parents = [sum(1 << int(i) for i in np.flatnonzero(A[:, j])) for j in range(5)]
    given = ours.bound(parents)
    C = given["C"].reshape(-1, 5, 5)
    which = given["which"]

    def bound(j, mask):
        of = members(mask)
        own = C[which[j]]
        left = own[j, j] - own[j, of] @ np.linalg.solve(own[np.ix_(of, of)], own[of, j]) if of else own[j, j]
        return np.log(left) + given["scale"][j]

    for j, mask in enumerate(parents):
        assert bound(j, mask) == pytest.approx(ours.log_variance(j, mask), abs=1e-7)
        owns = int((ours.equation(j, mask).states == OWN).sum())
        for other in (other for other in range(32) if not other >> j & 1):
            if owns and mask & ~other:  # without a parent whose own weight has been taken out
                continue
            # weights of an environment's own have a price that the bound does not know
            more = (other.bit_count() - mask.bit_count()) * owns * np.log(ours.n) / ours.n
            assert ours.log_variance(j, other) <= bound(j, other) + more + 1e-7


@pytest.mark.slow
def test_all_graphs_have_the_score_of_literal_sums():
    X, labels, _, _ = drawn(3, 2, 11)
    moments = Table(table(X, labels), environment="site").moments
    ordering = find_order(Table(moments.pooled()))
    found = pooled_search(ordering, spread=1.0, environments=Environments.of(moments))
    rows, order = oracle.Rows(X, labels), ordering.order
    assert MOST_VARIABLES >= 3
    for graph in all_graphs(3):
        v = [rows.v(order[j], [order[i] for i in members(int(mask))])[0] for j, mask in enumerate(graph)]
        assert found.score.total(np.array(v), sum(int(mask).bit_count() for mask in graph)) > found.best.score - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(2, 10))
@pytest.mark.parametrize("whole", [0.0, 1.0])
def test_the_search_over_orders_comes_near_the_best_of_all_sets(monkeypatch, seed, whole):
    X, labels, _, _ = drawn(7, 3, seed, whole=whole, share=0.2)
    moments = Table(table(X, labels), environment="site").moments
    ordering, scores = find_order(Table(moments.pooled())), []
    for most in (8, 0):
        monkeypatch.setattr(searching, "MOST_FOR_ALL_SETS", most)
        found = pooled_search(
            ordering, spread=1.0, environments=Environments.of(moments), seed=np.random.SeedSequence(seed)
        )
        scores.append(found.best.score)
    assert scores[0] - 1e-5 < scores[1] < scores[0] + 1.0


@pytest.mark.slow
def test_many_rows_and_environments_give_the_dag_and_the_targets_in_any_units():
    """Equal numbers of arrows and no collider: nothing but what differs between environments tells the direction."""
    rng = np.random.default_rng(1)
    B = np.zeros((4, 4))
    B[0, 1], B[1, 2], B[2, 3] = 1.0, -1.0, 1.0
    parts = []
    for e in range(5):
        sd = np.where(np.arange(4) == e - 1, 2.0, 1.0)
        parts.append(rng.standard_normal((1500, 4)) * sd @ np.linalg.inv(np.eye(4) - B))
    X, labels = np.concatenate(parts), np.repeat(["a", "b", "c", "d", "e"], 1500)
    shuffled = [2, 0, 3, 1]
    fit = ordag.learn(table(X[:, shuffled] * [1e3, 1.0, 1e-3, 7.0], labels), environment="site")
    truth = {(f"x{shuffled.index(i)}", f"x{shuffled.index(i + 1)}") for i in range(3)}
    assert set(fit.graph.directed) == truth
    assert fit.edges.reason.tolist() == ["environment"] * 3
    told = {(one["variable"], one["environment"]) for one in fit.changes.found}
    assert told == {(f"x{shuffled.index(j)}", label) for j, label in enumerate("bcde")}
    assert all(one["changed"] == ["variance"] for one in fit.changes.found)
    assert all(3.0 < one["variance_ratio"] < 5.0 for one in fit.changes.found)
    assert [one["targets"] for one in fit.to_dict()["conditions"]] == [
        [],
        *([f"x{shuffled.index(j)}"] for j in range(4)),
    ]
    assert fit.to_dict()["changes"]["changed"][0]["changed"] == ["variance"]
    assert "error variance × " in fit.summary()


def test_a_mean_of_its_own_is_told_and_directs_nothing():
    rng = np.random.default_rng(2)
    labels = np.repeat(["a", "b", "c"], 300)
    x = rng.standard_normal(900) + 3.0 * (labels == "b")
    y = x + rng.standard_normal(900)
    fit = ordag.learn({"x": x * 5, "y": y, "site": labels}, environment="site")
    assert {(one["variable"], one["environment"]) for one in fit.changes.found} == {
        (variable, "b") for variable in ({"x"} if ("x", "y") in fit.graph.directed else {"x", "y"})
    }
    assert all(one["changed"] == ["level"] for one in fit.changes.found)
    assert fit.edges.reason.tolist() == ["open"]


@pytest.mark.slow
@pytest.mark.parametrize(("environments", "rows"), [(2, 100), (4, 40)])
def test_p_values_of_what_does_not_differ_are_even(environments, rows):
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(60):
        X = rng.standard_normal((environments * rows, 2)) @ np.array([[1.0, 1.0], [0.0, 1.0]])
        labels = np.repeat([f"s{e}" for e in range(environments)], rows)
        fit = ordag.learn(table(X, labels), environment="site", draws=0)
        p_values += [value for one in fit.changes.compared for value in one.p_values if value == value]
    assert 0.02 < np.mean(np.array(p_values) < 0.05) < 0.085
    assert abs(np.mean(p_values) - 0.5) < 0.05


def test_two_environments_are_compared_once():
    X, labels, _, _ = drawn(3, 2, 4)
    found = ordag.learn(table(X, labels), environment="site", draws=0).changes
    assert len(found.compared) == 3
    assert sorted(found.columns["variable"]) == ["x0", "x1", "x2"]


@pytest.mark.slow
def test_a_saved_fit_keeps_its_environments(tmp_path):
    X, labels, _, _ = drawn(4, 3, 6)
    fit = ordag.learn(table(X, labels), environment="site")
    fit.save(tmp_path / "fit.ordag")
    again = ordag.load(tmp_path / "fit.ordag")
    assert again.to_json() == fit.to_json()
    assert again.changes.sentence == fit.changes.sentence
    again.effects()


@pytest.mark.slow
def test_few_rows_constants_and_copies_within_an_environment_break_nothing():
    X, labels, _, _ = drawn(3, 3, 8, units=False)
    labels = np.array(labels)
    X = np.concatenate([X, X[:3], X[:1]])
    labels = np.concatenate([labels, ["two"] * 3, ["one"]])
    X[labels == "s1", 1] = 4.0
    X[labels == "s2", 2] = X[labels == "s2", 0]
    fit = ordag.learn(table(X, labels), environment="site")
    assert np.isfinite(fit.edges.weight).all()
    assert (fit.edges.std_error > 1e-6).all()
    assert np.isfinite(fit.score)


def test_an_experiment_on_no_variable_is_an_environment():
    rng = np.random.default_rng(5)
    what = np.repeat(["", "drug", "x"], 200)
    x = rng.standard_normal(600)
    y = np.where(what == "drug", 0.0, x) + rng.standard_normal(600) * np.where(what == "drug", 3.0, 1.0)
    x[what == "x"] = 2.0 * rng.standard_normal(200)
    fit = ordag.learn({"x": x, "y": y, "what": what}, experiment="what")
    environments = Environments.of(fit.moments)
    assert environments.free.tolist() == [False, True, False]
    assert environments.left_out.tolist() == [[False, False], [False, False], [True, False]]
    assert any("drug is no variable" in sentence for sentence in fit.warnings)
    assert "drug" in {one["environment"] for one in fit.changes.found}
    assert changed_states(fit)[1, 1] != SHARED


def changed_states(fit):
    ours = Changed(Environments.of(fit.moments))
    masks = [sum(1 << int(i) for i in np.flatnonzero(fit.graph.adjacency[:, j])) for j in range(len(fit.names))]
    return np.stack([ours.equation(j, mask).states for j, mask in enumerate(masks)], axis=1)


def test_known_experiments_alone_have_no_environments():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((60, 2))
    fit = ordag.learn({"x": X[:, 0], "y": X[:, 1], "what": ["", "x"] * 30}, experiment="what", draws=0)
    assert Environments.of(fit.moments) is None
    assert fit.changes is None


@pytest.mark.slow
@pytest.mark.parametrize("p", [4, 9])
def test_probabilities_know_what_environments_tell(p):
    X, labels, A, _ = drawn(p, 4, 7, rows=(150, 150), share=0.25)
    fit = ordag.learn(table(X, labels), environment="site", kicks=3, draws=24)
    arrows = fit.probabilities.arrows
    assert arrows.max() <= 1.0 + 1e-9
    assert arrows[A].mean() > 0.75
    assert arrows[~A].mean() < 0.15
    assert "environment" in set(fit.edges.reason)
    effects = list(fit.result.effects(fit))
    assert np.isfinite(effects).all()
    assert len(effects) == 24


@pytest.mark.slow
def test_checks_learn_again_within_environments():
    """Without a few rows, and in other units, the arrows stay that environments direct."""
    rng = np.random.default_rng(9)
    labels = np.repeat(["a", "b", "c"], 200)
    x = rng.standard_normal(600) * np.where(labels == "b", 3.0, 1.0) + 5.0 * (labels == "c")
    y = x + rng.standard_normal(600) * np.where(labels == "c", 3.0, 1.0) - 9.0 * (labels == "b")
    fit = ordag.learn({"x": x * 50.0, "y": y, "site": labels}, environment="site")
    assert fit.graph.directed == (("x", "y"),)
    findings = {one.key: one for one in fit.check().findings}
    assert findings["influence"].numbers["kept"] == 1.0
    assert findings["standardising"].numbers["kept"] == 1.0


def test_one_environment_alone_is_said():
    X = np.random.default_rng(10).standard_normal((60, 2))
    fit = ordag.learn(table(X, ["all"] * 60), environment="site", draws=0)
    assert fit.changes is None
    assert any("one environment, all" in sentence for sentence in fit.warnings)


def test_heavy_tails_do_not_make_error_variances_differ():
    """t with 5 degrees of freedom has the excess kurtosis 6: the plain F test rejects too often, that with it as it should."""
    rng = np.random.default_rng(3)
    plain, corrected = [], []
    for _ in range(600):
        pair = [rng.standard_t(5, 200).var(ddof=1) for _ in range(2)]
        one, other = (Equation(200, np.zeros(0), 0.0, np.zeros(0), np.zeros((0, 0)), value, 199) for value in pair)
        plain.append(compare(one, other).variance)
        corrected.append(compare(one, other, 6.0).variance)
    assert np.mean(np.array(plain) < 0.05) > 0.15
    assert 0.01 < np.mean(np.array(corrected) < 0.05) < 0.08


def test_the_kurtosis_is_that_of_the_errors_within_environments():
    rng = np.random.default_rng(4)
    site = np.repeat([0, 1, 2], 80)
    a = rng.standard_t(4, 240) * np.array([1.0, 5.0, 0.2])[site] + site
    b = np.array([1.0, -1.0, 2.0])[site] * a + rng.standard_t(4, 240)
    table = {"a": a, "b": b, "site": [f"s{k}" for k in site]}
    fit = ordag.learn(table, "cvs", environment="site")
    unit = []
    for k in range(3):
        x, y = a[site == k], b[site == k]
        left = y - np.polyval(np.polyfit(x, y, 1), x)
        unit.append(left / np.sqrt(np.mean(left**2)))
    environments = Environments.of(fit.moments)
    parents = np.array([0])
    fitted = [Equation.fitted(one, 1, parents) for one in environments.each]
    wanted = np.mean(np.concatenate(unit) ** 4) - 3.0
    assert _kurtosis(_rows_of(fit, 3), fitted, 1, parents) == pytest.approx(wanted)
    assert _kurtosis([], fitted, 1, parents) == 0.0
