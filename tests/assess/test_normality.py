"""The kurtosis test: its statistic and tail against literal ones, its size and power, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import chi2, kstest, norm, normaltest

from ordag.assess.normality import (
    columns_finding,
    kurtosis_test,
    mardia,
    mardia_finding,
    mixture_tail,
    omnibus,
)
from ordag.data.datasets import load
from ordag.errors import CollinearError, DataError, NonFiniteError, TooFewRowsError


def literal_matrix(X):
    """S⁻¹cov₄, row by row, with S of divisor n − 1 and cov₄ of divisor n."""
    n, p = X.shape
    S = np.cov(X, rowvar=False).reshape(p, p)
    total = np.zeros((p, p))
    for row in X - X.mean(axis=0):
        total += (row @ np.linalg.solve(S, row)) * np.outer(row, row)
    return np.linalg.solve(S, total / (n * (p + 2)))


def literal_statistic(X):
    M = literal_matrix(X) - np.eye(X.shape[1])
    return len(X) * np.trace(M @ M)


def imhof_tail(w, p):
    """The tail by inverting the characteristic function (Imhof 1961), which conditions on nothing."""
    weights = np.array([4 * (p + 4) / (p + 2) ** 2, 8 / (p + 2)])
    degrees = np.array([p * (p + 1) / 2 - 1, 1])

    def integrand(u):
        angle = (degrees * np.arctan(weights * u)).sum() / 2 - w * u / 2
        return np.sin(angle) / (u * np.prod((1 + (weights * u) ** 2) ** (degrees / 4)))

    return 0.5 + quad(integrand, 0, np.inf, limit=400)[0] / np.pi


def gaussian(seed, n, p):
    random = np.random.default_rng(seed)
    return random.standard_normal((n, p)) @ random.uniform(-2, 2, (p, p)) + random.uniform(-9, 9, p)


@pytest.mark.parametrize(("n", "p"), [(12, 1), (20, 2), (50, 4), (30, 8)])
def test_statistic_equals_the_literal_one(n, p):
    X = gaussian(p, n, p) ** 3
    assert kurtosis_test(X).statistic == pytest.approx(literal_statistic(X), rel=1e-9)


def test_the_marks_have_the_papers_p_value():
    statistic, p_value = kurtosis_test(np.loadtxt(load("marks").path, delimiter=",", skiprows=1))
    assert statistic == pytest.approx(7.8548, abs=1e-4)
    assert round(p_value, 3) == 0.798


@pytest.mark.slow
@pytest.mark.parametrize("p", [3, 5, 9, 20])
def test_tail_equals_that_by_inversion(p):
    middle = 4 * (p + 4) / (p + 2) ** 2 * (p * (p + 1) / 2 - 1) + 8 / (p + 2)
    for w in (0.3 * middle, 0.8 * middle, middle, 1.5 * middle):
        assert mixture_tail(w, p) == pytest.approx(imhof_tail(w, p), abs=1e-6)


def test_tail_of_one_variable_is_a_chi_square():
    for w in (0.01, 1.0, 10.0, 100.0):
        assert mixture_tail(w, 1) == pytest.approx(chi2.sf(w * 3 / 8, 1), rel=1e-10)


def test_tail_from_certain_to_negligible():
    assert mixture_tail(0.0, 5) == pytest.approx(1.0, abs=1e-12)
    values = [mixture_tail(w, 5) for w in np.linspace(0.0, 300.0, 60)]
    assert all(a > b > 0 for a, b in pairwise(values))
    # far out, the heavier of the two weights is all that counts
    assert mixture_tail(800.0, 5) / mixture_tail(801.0, 5) == pytest.approx(np.exp(0.5 / (8 / 7)), rel=0.01)


@pytest.mark.slow
def test_weights_are_the_variances_of_trace_and_rest():
    """With many rows, n‖K − I‖² has the mean a·q without its trace, and b in it."""
    p, n, tables = 3, 3000, 400
    random = np.random.default_rng(1)
    parts = []
    for _ in range(tables):
        M = literal_fast(random.standard_normal((n, p))) - np.eye(p)
        in_trace = n * np.trace(M) ** 2 / p
        parts.append((n * (M * M.T).sum() - in_trace, in_trace))
    rest, trace = np.mean(parts, axis=0)
    q = p * (p + 1) / 2 - 1
    assert rest == pytest.approx(4 * (p + 4) / (p + 2) ** 2 * q, rel=0.1)
    assert trace == pytest.approx(8 / (p + 2), rel=0.2)


def literal_fast(X):
    """As `literal_matrix`, all rows at once."""
    Z = X - X.mean(axis=0)
    inverse = np.linalg.inv(np.cov(X, rowvar=False))
    distances = np.einsum("ij,jk,ik->i", Z, inverse, Z)
    return inverse @ (Z.T * distances) @ Z / (len(X) * (X.shape[1] + 2))


@pytest.mark.slow
def test_p_values_are_uniform_for_many_gaussian_rows():
    p_values = [kurtosis_test(gaussian(seed, 2000, 3)).p_value for seed in range(300)]
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_heavy_and_light_tails_are_noticed():
    random = np.random.default_rng(2)
    for draw in (lambda: random.standard_t(5, (300, 4)), lambda: random.uniform(-1, 1, (300, 4))):
        assert np.mean([kurtosis_test(draw()).p_value < 0.05 for _ in range(60)]) > 0.95


def test_one_heavy_column_among_gaussian_ones_is_noticed():
    X = gaussian(3, 500, 4)
    X[:, 2] = np.random.default_rng(4).standard_t(3, 500)
    assert kurtosis_test(X).p_value < 0.01


@given(seed=st.integers(0, 10**6), p=st.integers(1, 6))
def test_units_mixtures_and_the_order_of_rows_do_not_matter(seed, p):
    random = np.random.default_rng(seed)
    X = gaussian(seed, 40, p)
    mixed = X @ (random.uniform(-1, 1, (p, p)) + 3 * np.eye(p)) + random.uniform(-5, 5, p)
    assert kurtosis_test(random.permutation(mixed)).statistic == pytest.approx(kurtosis_test(X).statistic, rel=1e-6)


def test_the_table_is_left_as_it_was():
    X = gaussian(5, 30, 3)
    before = X.copy()
    kurtosis_test(X)
    assert (before == X).all()


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.ones(5), DataError, "shape"),
        (np.ones((9, 0)), DataError, "shape"),
        (np.eye(4), TooFewRowsError, "at least 6"),
        (np.array([[1.0, 2], [3, np.nan], [1, 1], [0, 2], [5, 5]]), NonFiniteError, "Row 2, column 2"),
        (np.column_stack([np.arange(9.0), np.ones(9)]), CollinearError, "Column 2"),
        (np.column_stack([gaussian(6, 9, 2), gaussian(6, 9, 2).sum(axis=1)]), CollinearError, "Column 3"),
    ],
)
def test_says_what_is_wrong(X, error, words):
    with pytest.raises(error, match=words):
        kurtosis_test(X)


@pytest.mark.parametrize("n", [20, 21, 60, 5000])
def test_the_test_of_single_columns_is_that_of_scipy(n):
    random = np.random.default_rng(n)
    X = np.column_stack([random.standard_normal((n, 3)), random.exponential(size=n), random.uniform(size=n)])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = omnibus((Z**3).mean(axis=0), (Z**4).mean(axis=0) - 3.0, n)
    np.testing.assert_allclose(found, normaltest(X, axis=0).pvalue, rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize("shape", [(30, 6), (200, 6), (50, 1)])
def test_mardia_is_the_sum_over_all_third_moments(shape):
    X = np.random.default_rng(1).exponential(size=shape)
    Z = X - X.mean(axis=0)
    Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / len(Z)).T)
    third = np.einsum("ia,ib,ic->abc", Z, Z, Z) / len(Z)
    assert mardia(X).skewness == pytest.approx(float((third**2).sum()), rel=1e-9)


@pytest.mark.parametrize(("n", "p"), [(8, 2), (20, 5), (60, 3)])
def test_the_p_values_of_mardia_are_those_of_his_moments(n, p):
    """The mean and the variance of the kurtosis, and the factor of the skewness, in exact fractions (Mardia 1974)."""
    found = mardia(gaussian(n, n, p))
    factor = Fraction((p + 1) * (n + 1) * (n + 3), n * ((n + 1) * (p + 1) - 6))
    degrees = p * (p + 1) * (p + 2) // 6
    assert found.skewness_p_value == pytest.approx(chi2.sf(n * found.skewness * float(factor) / 6, degrees))
    mean = Fraction(p * (p + 2) * (n - 1), n + 1)
    variance = Fraction(8 * p * (p + 2) * (n - 3) * (n - p - 1) * (n - p + 1), (n + 1) ** 2 * (n + 3) * (n + 5))
    z = (found.kurtosis - float(mean)) / float(variance) ** 0.5
    assert found.kurtosis_p_value == pytest.approx(2 * norm.sf(abs(z)))


def test_the_kurtosis_of_gaussian_rows_is_about_once_the_gaussian_one():
    X = gaussian(0, 4000, 4)
    found = mardia_finding(X, 0.05)
    assert found.level == "fine"
    assert found.numbers["kurtosis_ratio"] == pytest.approx(mardia(X).kurtosis / 24)
    assert found.numbers["kurtosis_ratio"] == pytest.approx(1.0, abs=0.02)


def test_of_single_columns_the_worst_is_named_with_its_p_value():
    X = np.column_stack([gaussian(1, 80, 2), np.random.default_rng(1).uniform(size=80) ** 1.5])
    numbers = columns_finding(X, ("a", "b", "c"), 0.05).numbers
    assert numbers["worst"] == "c"
    assert numbers["p_value"] == pytest.approx(min(1.0, 3 * normaltest(X[:, 2]).pvalue))


@pytest.mark.parametrize(("end", "level"), [(5.5, "look"), (6.1, "warning")])
def test_an_excess_above_seven_is_a_warning(end, level):
    """West, Finch & Curran (1995). The skewness is 0."""
    x = norm.ppf((np.arange(80) + 0.5) / 80)
    x[[0, -1]] = -end, end
    found = columns_finding(np.column_stack([x, gaussian(1, 80, 1)]), ("x", "a"), 0.05)
    assert (found.numbers["worst"], found.level) == ("x", level)
    assert abs(found.numbers["excess_kurtosis"] - 7.0) < 2.0


def test_columns_with_two_values_are_not_called_gaussian_or_not():
    random = np.random.default_rng(2)
    X = np.column_stack([gaussian(1, 80, 1), random.integers(0, 2, 80), random.exponential(size=80)])
    found = columns_finding(X, ("a", "two", "c"), 0.05)
    assert found.numbers["rejected"] == [found.numbers["worst"]] == ["c"]
    assert found.sentence.startswith("1 of 2 columns")
    assert columns_finding(X[:, 1:2], ("two",), 0.05).level == "unchecked"
