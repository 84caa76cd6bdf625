"""The tiers by simulation, the tests behind them against literal ones, and the case that no test can decide."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from budgets import thorough, tries

import ordag
from ordag.assess import forecast
from ordag.assess.equal_variances import (
    LEVEL,
    EqualVariances,
    bartlett,
    detectable_ratio,
    equality_finding,
    equality_test,
    residual_kurtosis,
    untestable,
)
from ordag.assess.equations import f_test_of_added
from ordag.assess.influence import distances, tail
from ordag.assess.normality import mardia
from ordag.assess.sorting import r_squared, sortability
from ordag.assess.stability import agreement
from ordag.assess.verdict import _doubts, _every_direction, quick_verdict, spread_sentence
from ordag.common.words import share
from ordag.data.moments import Moments
from ordag.model import LinearSEM, identifiability


def tiers(count, *, p=10, n=200, change=lambda X: X, **settings):
    found = []
    for seed in range(count):
        X = change(ordag.simulate("erdos-renyi", p, n, seed=seed, degree=3, **settings).X)
        found.append(quick_verdict(ordag.learn(X, method="cvs", forecast=20)).tier)
    return Counter({tier: found.count(tier) / count for tier in found})


@pytest.mark.slow
@pytest.mark.parametrize(("p", "n"), [(10, 200), thorough(20, 200), thorough(10, 1000)])
def test_equal_variances_are_tested(p, n):
    assert tiers(len(tries(10, 60)), p=p, n=n)["tested"] >= 0.9


@pytest.mark.slow
def test_spread_variances_are_assumed():
    assert tiers(len(tries(10, 60)), variances=(0.1, 4.0))["assumed"] >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("ddof", [0, 1])
def test_standardised_columns_are_uninformative(ddof):
    assert (
        tiers(len(tries(15, 40)), change=lambda X: (X - X.mean(axis=0)) / X.std(axis=0, ddof=ddof))["uninformative"]
        == 1
    )


@pytest.mark.slow
def test_random_units_are_assumed():
    factors = 10 ** np.random.default_rng(1).uniform(-1, 1, 10)
    assert tiers(len(tries(6, 40)), change=lambda X: X * factors)["assumed"] == 1


X = ordag.simulate("erdos-renyi", 6, 400, seed=1, degree=3).X


def test_bartlett_is_scipys():
    random = np.random.default_rng(1)
    samples = [random.standard_normal(size) * scale for size, scale in ((10, 1), (25, 2), (40, 1.5))]
    statistic, p_value = scipy.stats.bartlett(*samples)
    variances = np.array([sample.var(ddof=1) for sample in samples])
    ours = bartlett(variances, np.array([9.0, 24.0, 39.0]))
    assert ours == pytest.approx((statistic, p_value))


@pytest.mark.parametrize("kurtosis", [0.0, 1.5, -1.0])
def test_the_detectable_ratio_has_power_four_fifths(kurtosis):
    df = np.array([60.0, 80.0, 90.0])
    noncentrality = 60.0 * np.log(detectable_ratio(df, kurtosis)) ** 2 / (4.0 + 2.0 * kurtosis)
    critical = scipy.stats.chi2.isf(LEVEL, 2)
    assert scipy.stats.ncx2.sf(critical, 2, noncentrality) == pytest.approx(0.8)


def test_the_kurtosis_of_few_rows_is_the_unbiased_one():
    random = np.random.default_rng(3)
    for rows in (random.standard_t(4, (40, 30)), random.choice([-1.0, 1.0], (40, 30))):
        whole = SimpleNamespace(rows=rows)
        sem = SimpleNamespace(by_parents=np.zeros_like)
        found = SimpleNamespace(profile=SimpleNamespace(complete=whole), factor=None, sem=sem, n=40, names=range(100))
        unbiased = scipy.stats.kurtosis(rows, bias=False).mean()
        assert residual_kurtosis(found) == pytest.approx(max(unbiased, -1.5))
        found.n, found.names = 4000, range(2)
        assert residual_kurtosis(found) == pytest.approx(max(scipy.stats.kurtosis(rows).mean(), -1.5))
        whole.rows = rows[:19]
        assert residual_kurtosis(found) == 0.0


@pytest.mark.parametrize(
    ("p", "detectable", "said"),
    [
        (5, 4.0, []),
        (5, 4.5, ["a factor of 4.5 between two of them would often pass"]),
        (3, 4.0, ["that three of them"]),
    ],
)
def test_what_a_test_that_passes_can_hardly_tell(p, detectable, said):
    test = SimpleNamespace(left_out=0.0, detectable=detectable)
    grounds = SimpleNamespace(test=test, turning=None, expected=None, cautions=())
    doubts = _doubts(SimpleNamespace(names=range(p), n=100), grounds)
    assert len(doubts) == len(said)
    assert all(part in whole for part, whole in zip(said, doubts, strict=True))


@pytest.mark.parametrize(
    ("p_value", "detectable", "left_out", "level"),
    [
        (0.9, 3.0, 0.0, "fine"),
        (0.9, 3.1, 0.0, "look"),
        (0.9, 2.0, 0.2, "look"),
        (0.03, 2.0, 0.0, "look"),
        (0.005, 2.0, 0.0, "look"),
    ],
)
def test_a_test_that_passes_is_fine_only_where_it_would_have_noticed(p_value, detectable, left_out, level, monkeypatch):
    test = EqualVariances(1.0, p_value, 1.5, detectable, 0.0, left_out)
    monkeypatch.setattr("ordag.assess.equal_variances.equality_test", lambda found: test)
    finding = equality_finding(None)
    assert finding.level == level
    assert (f"a factor below {detectable:.2g}" in finding.sentence) == (detectable > 3.0)


def test_equality_test_uses_residual_variances_on_all_predecessors():
    fit = ordag.learn(X, method="cvs")
    Z = X - X.mean(axis=0)
    variances, df = [], []
    for m, j in enumerate(fit.ordering.order):
        before = Z[:, fit.ordering.order[:m]]
        residual = Z[:, j] - before @ np.linalg.lstsq(before, Z[:, j], rcond=None)[0] if m else Z[:, j]
        df.append(len(X) - 1.0 - m)
        variances.append(residual @ residual / df[-1])
    expected = bartlett(np.array(variances), np.array(df), equality_test(fit).kurtosis)
    assert equality_test(fit)[:2] == pytest.approx(expected, rel=1e-8)


def test_without_an_order_equality_is_tested_over_the_equations_of_a_dag():
    fit = ordag.learn(X, method="gds", seed=0)
    assert fit.ordering is None
    Z = X - X.mean(axis=0)
    variances, df = [], []
    for j in range(X.shape[1]):
        parents = Z[:, np.flatnonzero(fit.graph.adjacency[:, j])]
        residual = Z[:, j] - parents @ np.linalg.lstsq(parents, Z[:, j], rcond=None)[0] if parents.size else Z[:, j]
        df.append(len(X) - 1.0 - parents.shape[1])
        variances.append(residual @ residual / df[-1])
    found = equality_test(fit)
    assert found[:2] == pytest.approx(bartlett(np.array(variances), np.array(df), found.kurtosis), rel=1e-8)
    assert equality_test(ordag.learn(X, method="ges")) is None  # a class has no equations


@pytest.mark.slow
def test_level_and_power_of_the_equality_test_are_as_said():
    random = np.random.default_rng(1)
    df = np.full(5, 150.0)

    def rejected(omega):
        draws = random.chisquare(df, (4000, 5)) / df * omega
        return np.mean([bartlett(row, df)[1] < 0.01 for row in draws])

    assert rejected(np.ones(5)) == pytest.approx(0.01, abs=0.005)
    rho = detectable_ratio(df)
    assert rejected(np.array([1, 1, 1, rho**0.5, rho**-0.5])) == pytest.approx(0.8, abs=0.05)


def test_a_broken_condition_cannot_be_seen_in_the_data():
    """a → b that breaks the condition and b → a that keeps it have one distribution."""
    breaks = LinearSEM.from_edges(["a", "b"], {("a", "b"): 0.5}, omega=[4.0, 1.0])
    variance_b = 0.5**2 * 4.0 + 1.0
    weight = 0.5 * 4.0 / variance_b
    keeps = LinearSEM.from_edges(["a", "b"], {("b", "a"): weight}, omega=[4.0 - weight**2 * variance_b, variance_b])
    assert (variance_b, weight) == (2.0, 1.0)
    assert keeps.omega.tolist() == [2.0, 2.0]
    np.testing.assert_allclose(breaks.covariance(), keeps.covariance(), rtol=1e-15)
    assert not identifiability(breaks).holds
    assert identifiability(keeps).holds
    # the second even has equal error variances: the arrow learned is b → a, and equality passes. Of two variables that is no test.
    fit = ordag.learn(breaks.sample(2000, seed=1), method="cvs")
    assert fit.graph.directed == (("X2", "X1"),)
    assert quick_verdict(fit).tier == "untested"
    assert "that two of them agree may be a coincidence" in quick_verdict(fit).help


@pytest.mark.parametrize(("weight", "omega"), [(0.5, (4.0, 1.0)), (0.3, (1.0, 0.5)), (-0.8, (9.0, 0.1))])
def test_every_violation_for_two_variables_has_such_a_twin(weight, omega):
    variance_b = weight**2 * omega[0] + omega[1]
    assert variance_b < omega[0]
    back = weight * omega[0] / variance_b
    left = omega[0] * omega[1] / variance_b
    twin = LinearSEM.from_edges(["a", "b"], {("b", "a"): back}, omega=[left, variance_b])
    model = LinearSEM.from_edges(["a", "b"], {("a", "b"): weight}, omega=list(omega))
    np.testing.assert_allclose(model.covariance(), twin.covariance(), rtol=1e-12)
    assert identifiability(twin).holds != identifiability(model).holds


def test_mardia_equals_the_literal_sums():
    random = np.random.default_rng(3)
    for n, p in ((40, 3), (30, 8)):
        rows = random.exponential(1.0, (n, p))
        Z = rows - rows.mean(axis=0)
        G = Z @ np.linalg.inv(Z.T @ Z / n) @ Z.T
        found = mardia(rows)
        assert found.skewness == pytest.approx((G**3).mean())
        assert found.kurtosis == pytest.approx((np.diag(G) ** 2).mean())


def test_mardia_keeps_its_level():
    random = np.random.default_rng(4)
    found = [mardia(random.standard_normal((100, 4))) for _ in range(400)]
    assert np.mean([one.skewness_p_value < 0.05 for one in found]) == pytest.approx(0.05, abs=0.03)
    assert np.mean([one.kurtosis_p_value < 0.05 for one in found]) == pytest.approx(0.05, abs=0.03)


@pytest.mark.slow
def test_distances_have_their_exact_distribution():
    random = np.random.default_rng(5)
    rows = random.standard_normal((30, 4)) @ random.uniform(-1, 1, (4, 4))
    S = np.cov(rows, rowvar=False)
    Z = rows - rows.mean(axis=0)
    assert distances(rows) == pytest.approx(np.einsum("ij,jk,ik->i", Z, np.linalg.inv(S), Z))
    first = [distances(random.standard_normal((12, 3)))[0] for _ in range(1500)]
    assert scipy.stats.kstest(tail(np.array(first), 12, 3), "uniform").pvalue > 0.01


def test_f_test_of_added_columns_is_the_literal_one():
    random = np.random.default_rng(6)
    base, added = random.standard_normal((50, 2)), random.standard_normal((50, 2))
    y = base @ [1, 2] + added @ [0.3, 0] + random.standard_normal(50)

    def rss(columns):
        Z = np.column_stack([np.ones(50), *columns])
        return np.sum((y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]) ** 2)

    less, more = rss([base]), rss([base, added])
    F = (less - more) / 2 / (more / 45)
    assert f_test_of_added(y, base, added) == pytest.approx((scipy.stats.f.sf(F, 2, 45), 1 - more / less))
    assert f_test_of_added(y, base, base[:, :1] * 2) == (1.0, 0.0)


def test_tau_r_squared_and_sortability():
    random = np.random.default_rng(7)
    values = random.standard_normal(9)
    assert agreement(np.arange(9.0), values) == pytest.approx(scipy.stats.kendalltau(np.arange(9), values).statistic)
    assert agreement(np.arange(4.0), np.ones(4)) == 0
    R = Moments.from_rows(X).R
    for j, found in enumerate(r_squared(R)):
        others = np.delete(X - X.mean(axis=0), j, axis=1)
        y = X[:, j] - X[:, j].mean()
        residual = y - others @ np.linalg.lstsq(others, y, rcond=None)[0]
        assert found == pytest.approx(1 - residual @ residual / (y @ y))
    chain = np.zeros((3, 3), dtype=bool)
    chain[0, 1] = chain[1, 2] = True
    assert sortability(chain, np.array([1.0, 2.0, 3.0])) == 1
    assert sortability(chain, np.array([1.0, 3.0, 2.0])) == pytest.approx(2 / 3)
    assert sortability(chain, np.ones(3)) == 0.5
    assert sortability(np.zeros((3, 3), dtype=bool), np.ones(3)) == 0.5


def test_shares_read_as_a_person_would_write_them():
    assert [share(x) for x in (0, 0.001, 0.5, 0.999, 1)] == ["0 %", "less than 1 %", "50 %", "more than 99 %", "100 %"]


def designed(p, n, seed, *, weights=(0.5, 1.5), degree=2, spread=1.0, errors="normal"):
    """Rows of a random sparse model, and its arrows."""
    sem = ordag.simulate("erdos-renyi", p, 2, seed=seed, degree=degree, weights=weights).sem
    random = np.random.default_rng(seed)
    E = random.standard_normal((n, p)) if errors == "normal" else random.standard_t(5, (n, p))
    E *= np.sqrt(np.exp(random.uniform(0, np.log(spread), p)))
    return E + E @ sem.total_effects(), sem.dag.adjacency


def verdict(X, method="cvs", **settings):
    return ordag.learn(X, method, **settings).verdict


@pytest.mark.slow
def test_too_few_rows_test_nothing():
    found = [verdict(designed(5, 8, seed)[0]) for seed in range(5)]
    assert {one.tier for one in found} == {"untested"}
    assert any("with 8 rows, a factor of" in one.help for one in found)


def test_no_arrow_is_no_test():
    found = verdict(np.random.default_rng(3).standard_normal((6, 4)) * [1, 2, 3, 4])
    assert (found.tier, found.grounds) == ("untested", "There are no arrows, and so no directions to test.")
    assert found.sentence.startswith("No variable was found to depend on another in 6 rows.")
    assert found.expected is None


@pytest.mark.slow
def test_arrows_that_chance_decides_are_not_tested():
    found = [verdict(designed(20, 200, seed, weights=(0.1, 0.5), degree=3)[0]) for seed in range(5)]
    assert all(one.tier == "untested" for one in found)
    assert any("the arrows are so weak" in one.help or "by chance alone about" in one.help for one in found)


def test_variances_that_differ_by_a_trifle_are_tested_however_many_the_rows():
    """Half a percent apart: 400,000 rows see it, and it can turn no arrow of this graph."""
    sem = LinearSEM.from_edges(
        ["a", "b", "c", "d"],
        {("a", "b"): 0.8, ("b", "c"): 0.9, ("a", "d"): 0.7},
        omega=[1.0, 1.02, 1.0, 0.98],
    )
    found = verdict(Moments.from_covariance(sem.covariance(), 400_000, names=sem.names))
    assert found.numbers["p_value"] < 1e-6
    assert found.tier == "tested"
    assert "differ, but only by a factor of 1.04" in found.help
    far = LinearSEM(sem.B, [1.0, 3.0, 1.0, 0.5], names=sem.names)
    assert verdict(Moments.from_covariance(far.covariance(), 400_000, names=sem.names)).tier == "assumed"


def test_heavy_tails_are_no_unequal_variances():
    tables = [designed(10, 300, seed, errors="t5")[0] for seed in range(20)]
    rejected = sum(equality_test(ordag.learn(X, "cvs")).rejected for X in tables)
    blind = sum(equality_test(ordag.learn(Moments.from_rows(X), "cvs")).rejected for X in tables)
    assert rejected <= 3 < blind


@pytest.mark.slow
def test_a_verdict_does_not_depend_on_a_common_unit():
    for seed in tries(2, 4):
        X, _ = designed(8, 150, seed, weights=(0.1, 0.5))
        one, other, third = (verdict(X * factor) for factor in (1.0, 2.0, 1e-3))
        assert one.tier == other.tier == third.tier


@pytest.mark.slow
def test_learn_and_check_agree_on_scalings():
    X, _ = designed(6, 200, 1)
    for change in (
        X,
        (X - X.min(axis=0)) / np.ptp(X, axis=0),
        X / np.abs(X).max(axis=0),
        (X - np.median(X, axis=0)) / scipy.stats.iqr(X, axis=0),
    ):
        assert verdict(change, alpha=0.01).tier == ordag.check(change, method="cvs").verdict.tier
    assert verdict(X / np.abs(X).max(axis=0)).tier == "uninformative"


@pytest.mark.slow
def test_what_a_class_has_directed_is_told_from_what_an_order_has():
    X, _ = designed(8, 500, 4)
    standardised = X / X.std(axis=0)
    alone = verdict(standardised, "ges")
    assert alone.tier is None
    assert "from the equivalence class, which needs no variances" in alone.help
    assert "no information" not in alone.help
    fit = ordag.learn(X, "ges", orient_by_order="class")
    assert set(fit.edges["reason"]) == {"class", "variance"}
    compelled = set(ordag.learn(X, "ges").graph.directed)
    table = fit.edges[fit.edges["reason"] == "class"]
    by_class = set(zip(table["source"], table["target"], strict=True))
    assert by_class == compelled
    assert "Those of the order rest on" in fit.verdict.help


def test_the_class_of_a_graph_found_by_variances_is_no_reason():
    X, _ = designed(8, 500, 4)
    for method in ("cvs", "gds"):
        assert set(ordag.learn(X, method).edges["reason"]) == {"variance"}


@pytest.mark.slow
def test_arrows_that_the_order_contradicts_are_named():
    fit = ordag.learn("sachs", "ges", orient_by_order="class")
    assert fit.verdict.numbers["contradicted"] == [["p38", "pkc"], ["jnk", "pkc"]]
    assert "p38 → pkc and jnk → pkc" in fit.warnings[0]


@pytest.mark.slow
def test_every_verdict_speaks_of_hidden_common_causes():
    random = np.random.default_rng(5)
    X = np.outer(random.standard_normal(300), [1.0, 1.1, 0.9, 1.2, 1.0, 0.8]) + random.standard_normal((300, 6))
    for method in ("cvs", "pooled", "ges"):
        found = verdict(X, method)
        assert found.tier != "tested"
        said = "One hidden common cause of all columns, without any arrow, explains the table better than the graph"
        assert ("A hidden common cause of all 6 variables could explain" if method == "pooled" else said) in found.help
    marks = verdict("marks", alpha=0.05)
    assert "nearly as well as the graph." in marks.help
    finding = ordag.check("marks", alpha=0.05)["hidden_causes"]
    assert "nearly as well as the graph (BIC only 3.7 worse; χ² = 8.7 on 5 df, p = 0.12)" in finding.sentence


@pytest.mark.slow
def test_rows_that_remember_are_a_caution():
    random = np.random.default_rng(6)
    sem = ordag.simulate("erdos-renyi", 8, 2, seed=1, degree=2).sem
    E = random.standard_normal((200, 8))
    for row in range(1, 200):
        E[row] = 0.8 * E[row - 1] + 0.6 * E[row]
    X = E + E @ sem.total_effects()
    found = verdict(X)
    assert found.tier != "tested"
    assert "Neighbouring rows are alike" in found.help
    shuffled = verdict(random.permutation(X))
    assert "Neighbouring rows" not in shuffled.help
    shuffled = random.permutation(X)
    assert "Neighbouring rows" not in verdict(shuffled[np.argsort(shuffled[:, 0])]).help


def test_published_networks_are_named_where_units_decide():
    X, _ = designed(10, 500, 2, spread=50.0)
    found = verdict(X)
    assert found.tier == "assumed"
    assert "the units decide the rest" in found.help
    document = found.to_dict()
    assert document["expected"]["by"] == "forecast"
    assert document["expected"]["replicates"] == forecast.MOST_TABLES


@pytest.mark.parametrize(
    ("compared", "groups", "words"),
    [
        (False, [["a"], ["b"]], "No two columns share a unit"),
        (False, None, "Error variances are not compared"),
        (True, [["a", "b"]], "The error variances within the groups differ by a factor of about 3"),
        (True, None, "The error variances differ by a factor of about 3"),
    ],
)
def test_the_spread_of_the_error_variances_is_said_of_those_that_are_compared(compared, groups, words):
    result = SimpleNamespace(spread=3.0, compares_variances=compared)
    assert spread_sentence(SimpleNamespace(result=result, settings={"groups": groups})).startswith(words)


@pytest.mark.parametrize(
    ("count", "said"), [(1, "The direction is"), (2, "Both directions are"), (3, "All 3 directions are")]
)
def test_every_direction_is_counted(count, said):
    assert _every_direction(count) == said


@pytest.mark.parametrize(
    ("n", "p", "settings", "said"),
    [
        (
            60,
            200,
            {},
            "60 rows are too few for 200 variables, and the parents that they do not show make error variances unequal",
        ),
        (200, 210, {}, ""),
        (20, 5, {}, ""),
        (
            200,
            5,
            {"variance": "shrinkage"},
            "not available with variance='shrinkage', which draws the error variances apart",
        ),
        (200, 5, {"variance": "splines"}, "not available with variance='splines', whose equations need not be linear"),
    ],
)
def test_why_equal_error_variances_cannot_be_tested(n, p, settings, said):
    method_settings = SimpleNamespace(linear=settings.get("variance") != "splines")
    assert untestable(SimpleNamespace(n=n, names=range(p), method_settings=method_settings, settings=settings)) == said
