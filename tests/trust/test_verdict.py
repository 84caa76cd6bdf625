"""The tiers by simulation, the tests behind them against literal ones, and the case that no test can decide."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

import ordag
from ordag.data.moments import Moments
from ordag.model import LinearSEM, identifiability
from ordag.trust.equal_variances import bartlett, detectable_ratio, equality_test
from ordag.trust.equations import extra
from ordag.trust.finding import share
from ordag.trust.gaussian import mardia
from ordag.trust.influence import distances, tail
from ordag.trust.relearning import agreement
from ordag.trust.scale import scale_of
from ordag.trust.sorting import r_squared, sortability
from ordag.trust.verdict import MEASURED, quick_verdict


def tiers(count, *, p=10, n=200, change=lambda X: X, **settings):
    found = []
    for seed in range(count):
        X = change(ordag.simulate("erdos-renyi", p, n, seed=seed, degree=3, **settings).X)
        found.append(quick_verdict(ordag.learn(X, method="cvs")).tier)
    return {tier: found.count(tier) / count for tier in MEASURED}


@pytest.mark.parametrize(("p", "n"), [(10, 200), (20, 200), (10, 1000)])
def test_equal_variances_land_in_the_first_tier(p, n):
    assert tiers(60, p=p, n=n)["tested"] >= 0.9


def test_spread_variances_land_in_the_second_tier():
    assert tiers(60, variances=(0.1, 4.0))["assumed"] >= 0.9


@pytest.mark.parametrize("ddof", [0, 1])
def test_standardised_columns_land_in_the_third_tier(ddof):
    assert tiers(40, change=lambda X: (X - X.mean(axis=0)) / X.std(axis=0, ddof=ddof))["uninformative"] == 1


def test_random_units_land_in_the_second_tier():
    factors = 10 ** np.random.default_rng(1).uniform(-1, 1, 10)
    assert tiers(40, change=lambda X: X * factors)["assumed"] == 1


X = ordag.simulate("erdos-renyi", 6, 400, seed=1, degree=3).X
UNIT = (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda: X, ""),
        (lambda: UNIT, "unit"),
        (lambda: np.round(UNIT, 3), "unit"),
        (lambda: np.column_stack([UNIT[:, :5], X[:, 5] * 9]), "unit"),
        (lambda: UNIT * 15 + 100, "equal"),
        (lambda: UNIT[::2], "near unit"),
        (lambda: (X - X.min(axis=0)) / np.ptp(X, axis=0), "range"),
        (lambda: 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1, "range"),
        (lambda: (X - np.median(X, axis=0)) / scipy.stats.iqr(X, axis=0), "quartiles"),
    ],
)
def test_scalings_are_recognised(change, kind):
    rows = change()
    assert scale_of(Moments.from_rows(rows), rows=rows).kind == kind


@pytest.mark.parametrize("as_moments", [False, True])
def test_small_tables_with_unit_errors_are_not_taken_for_standardised(as_moments):
    """Var(a) = 1 and Var(b) = 2: with few rows both may come out near 1, but not as equal."""
    found = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        a = random.standard_normal(60)
        rows = np.column_stack([a, a + random.standard_normal(60)])
        moments = Moments.from_rows(rows) if as_moments else ordag.learn(rows, method="cvs").moments
        found.append(scale_of(moments).kind)
    assert found.count("") >= 195
    subsets = [UNIT[np.random.default_rng(seed).permutation(400)[:200]] for seed in range(50)]
    assert sum(scale_of(Moments.from_rows(rows)).kind != "" for rows in subsets) >= 45


def test_one_standardised_pair_among_many_is_no_tier_but_a_warning():
    from ordag.trust.scale import scale_finding

    moments = Moments.from_rows(np.column_stack([UNIT[:, :2], X * 3]))
    scale = scale_of(moments)
    assert scale.kind == ""
    assert scale_finding(moments, scale).level == "warning"


def test_bartlett_is_scipys():
    random = np.random.default_rng(1)
    samples = [random.standard_normal(size) * scale for size, scale in ((10, 1), (25, 2), (40, 1.5))]
    statistic, p_value = scipy.stats.bartlett(*samples)
    variances = np.array([sample.var(ddof=1) for sample in samples])
    ours = bartlett(variances, np.array([9.0, 24.0, 39.0]))
    assert ours == pytest.approx((statistic, p_value))


def test_equality_test_uses_residual_variances_on_all_predecessors():
    fit = ordag.learn(X, method="cvs")
    Z = X - X.mean(axis=0)
    variances, df = [], []
    for m, j in enumerate(fit.ordering.order):
        before = Z[:, fit.ordering.order[:m]]
        residual = Z[:, j] - before @ np.linalg.lstsq(before, Z[:, j], rcond=None)[0] if m else Z[:, j]
        df.append(len(X) - 1.0 - m)
        variances.append(residual @ residual / df[-1])
    expected = bartlett(np.array(variances), np.array(df))
    assert equality_test(fit)[:2] == pytest.approx(expected, rel=1e-8)


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
    # the second even has equal error variances: the verdict on such data is "tested", and the arrow learned is b → a
    fit = ordag.learn(breaks.sample(2000, seed=1), method="cvs")
    assert fit.graph.directed == (("X2", "X1"),)
    assert quick_verdict(fit).tier == "tested"


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
    assert extra(y, base, added) == pytest.approx((scipy.stats.f.sf(F, 2, 45), 1 - more / less))
    assert extra(y, base, base[:, :1] * 2) == (1.0, 0.0)


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


def test_measured_shares_rise_from_tier_to_tier():
    turned = [MEASURED[tier].turned for tier in ("tested", "assumed", "uninformative")]
    assert turned == sorted(turned)
    assert all(0 < wrong <= 1 for shares in MEASURED.values() for wrong in shares)
    assert math.isclose(MEASURED["uninformative"].turned, 0.55, abs_tol=0.1)
