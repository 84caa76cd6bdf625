"""Orderings against literal regressions, exact arithmetic, and stored values from R."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from budgets import thorough, tries
from hypothesis import given
from hypothesis import strategies as st
from oracles import ordering as oracles
from strategies.tables import tables

from ordag import Moments, learn, simulate
from ordag.data.table import Table
from ordag.errors import CollinearError, CovarianceError, PrecisionError
from ordag.order import find_order, least_squares
from ordag.order.cholesky import BLOCK_PIVOTS, factorise, minimum_pivot
from ordag.order.least_squares import (
    MANY_COLUMNS,
    backward,
    enough_digits,
    forward,
    forward_stack,
    gram_forward,
)
from ordag.order.rounding import _refuse, _spare

REFERENCE = Path(__file__).parents[1] / "reference"
SETS = sorted(path.stem for path in (REFERENCE / "data").glob("*.csv"))


def reference(name, method):
    return json.loads((REFERENCE / "ordering" / f"{name}__{method}.json").read_text())


def rows(name):
    return np.loadtxt(REFERENCE / "data" / f"{name}.csv", delimiter=",", skiprows=1)


@given(tables())
def test_forward_is_algorithm_1(X):
    order, variances = oracles.algorithm_1_order(X)
    ordering = forward(Moments.from_rows(X))
    assert ordering.order.tolist() == order
    np.testing.assert_allclose(ordering.variances, variances, rtol=1e-9)


@given(tables())
def test_backward_is_the_largest_variance_given_all_others_last(X):
    assert backward(Moments.from_rows(X)).order.tolist() == oracles.backward_order(X)


@pytest.mark.parametrize("p", [1, 2, BLOCK_PIVOTS - 1, BLOCK_PIVOTS, BLOCK_PIVOTS + 1, 3 * BLOCK_PIVOTS + 5])
def test_blocks_do_not_matter(p):
    X = np.random.default_rng(p).standard_normal((2 * p + 5, p)) * np.linspace(1, 3, p)
    gram = X.T @ X
    out = np.empty((p, p), order="F")
    part = minimum_pivot(gram, out=out)
    remaining, order = gram.copy(), []
    alive = np.ones(p, dtype=bool)
    for k in range(p):
        diagonal = np.where(alive, remaining.diagonal(), np.inf)
        j = int(diagonal.argmin())
        assert part.order[k] == j
        left = part.order[k:]
        np.testing.assert_allclose(out[k:, k], remaining[j, left] / np.sqrt(remaining[j, j]), rtol=1e-8, atol=1e-8)
        alive[j] = False
        expected = np.where(alive, remaining.diagonal() - remaining[j] ** 2 / remaining[j, j], np.inf).min()
        runner_up = np.where(alive, diagonal, np.inf).min()
        assert np.isclose(part.runner_up[k], runner_up, rtol=1e-9) or (
            np.isinf(runner_up) and np.isinf(part.runner_up[k])
        )
        remaining = remaining - np.outer(remaining[j], remaining[j]) / remaining[j, j]
        order.append(j)
        assert np.isfinite(expected) or k == p - 1


SIZES = [1, 2, BLOCK_PIVOTS - 1, BLOCK_PIVOTS, BLOCK_PIVOTS + 1, 3 * BLOCK_PIVOTS + 5]


@pytest.mark.slow
@pytest.mark.parametrize("p", SIZES)
@pytest.mark.parametrize("kind", ["plain", "ill-conditioned", "ties", "partial order"])
def test_the_kernel_in_place_equals_one_column_at_a_time(p, kind):
    random = np.random.default_rng(p)
    X = random.standard_normal((2 * p + 5, p))
    if kind == "ill-conditioned":
        for j in range(1, p):
            X[:, j] = X[:, j - 1] + 0.02 * X[:, j]
        X = X[:, random.permutation(p)]
    gram = X.T @ X
    if kind == "ties":
        gram = np.eye(p) + 0.25 * np.kron(np.eye(-(-p // 2)), [[0, 1], [1, 0]])[:p, :p]
    before = np.triu(random.random((p, p)) < 0.05, 1) if kind == "partial order" else None
    order, L, runner_up = oracles.pivots(gram, before)
    given = np.tril(gram) + np.triu(np.full((p, p), np.nan), 1)  # only the lower triangle is read
    out = np.empty((p, p), order="F")
    part = minimum_pivot(given, before, out=out)
    done = len(part.order)
    assert done == p or kind == "ill-conditioned"
    assert part.order.tolist() == order[:done]
    np.testing.assert_allclose(part.runner_up, runner_up[:done], rtol=1e-8)
    assert np.isnan(given).sum() == p * (p - 1) // 2  # what was given is as it was
    if done == p:
        np.testing.assert_allclose(np.tril(out), L, rtol=1e-8, atol=1e-8 * np.abs(L).max())


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_the_factor_comes_to_lie_in_the_place_given(own, monkeypatch):
    monkeypatch.setattr("ordag.order.cholesky.LARGE_COLUMNS", 0)
    X = np.random.default_rng(0).standard_normal((500, 200))
    gram = np.asfortranarray(X.T @ X)
    around = np.full((203, 202), 7.0, order="F")
    place = gram if own else around[2:202, 1:201]
    before = gram.copy()
    order, expected, _ = oracles.pivots(gram)
    told = []
    part = minimum_pivot(gram, out=place, progress=told.append)
    assert part.order.tolist() == order
    np.testing.assert_allclose(np.tril(place), expected, rtol=1e-9, atol=1e-9)
    around[2:202, 1:201] = 7.0
    assert (around == 7.0).all()
    assert own or (gram == before).all()
    assert told == [96, 192, 200]


@pytest.mark.parametrize("name", SETS)
def test_order_and_variances_equal_those_of_r(name):
    ordering = forward(Moments.from_rows(rows(name)))
    for method in ("alg1_exact", "alg1_lm", "EqVarDAG_TD_ztest"):
        assert (ordering.order + 1).tolist() == reference(name, method)["ordering"]
    exact = reference(name, "alg1_exact")
    np.testing.assert_allclose(ordering.variances, exact["condvar_RSS_over_n_minus_S"], rtol=1e-9)
    ratios = np.array([r if r is not None else np.nan for r in exact["ratio_second_to_best"]])
    np.testing.assert_allclose(ordering.margins + 1, ratios, rtol=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_backward_order_equals_the_bottom_up_order_of_r(name):
    assert (backward(Moments.from_rows(rows(name))).order + 1).tolist() == reference(name, "EqVarDAG_BU_ztest")[
        "ordering"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("design", ["homogeneous", "heterogeneous"])
@pytest.mark.parametrize("p", [20, 50, thorough(80), 90])
def test_dense_designs_are_ordered_as_by_regressions_on_the_rows(design, p):
    """20 seeds at n = 200 and n = 1000 each: the same order, every time."""
    for seed in tries(1, 20):
        for n in (200, 1000):
            X = simulate(design, p, n, seed).X
            assert _quiet_order(X).order.tolist() == oracles.stepwise_order(X), (n, seed)


def _quiet_order(X):
    """As `learn` finds it, without its warning."""
    table = Table(X)
    quick = gram_forward(table.gram_moments)
    return quick if quick is not None else forward(table.qr_moments)


@pytest.mark.slow
@pytest.mark.parametrize("p", [30, thorough(50), thorough(80)])
def test_order_is_that_of_exact_arithmetic(p):
    for seed in tries(1, 2):
        X = simulate("homogeneous", p, 200, seed).X
        order, L = oracles.exact_factor(X)
        ordering = forward(Moments.from_rows(X))
        assert ordering.order.tolist() == order
        exact = np.array([float(L[m][m]) for m in range(p)]) ** 2 / len(X)
        error = np.abs(np.diagonal(ordering.L) ** 2 / exact - 1)
        assert (error <= ordering.uncertainty).all()


def test_a_stack_of_roots_has_the_orders_of_each():
    tables = [Moments.from_rows(simulate("erdos-renyi", 5, 60, seed=seed, degree=3).X) for seed in range(4)]
    a, b, c = np.random.default_rng(3).standard_normal((3, 200))
    close = Moments.from_rows(np.column_stack([a, a + 1e-8 * b, c, b, a + c]) @ np.eye(5)[[3, 0, 1, 2, 4]])
    found = forward_stack(np.stack([one.R for one in (*tables, close)]))
    assert found.sound.tolist() == [True] * 4 + [False]
    for moments, order, W in zip(tables, found.order, found.W, strict=False):
        expected = forward(moments)
        assert order.tolist() == expected.order.tolist()
        np.testing.assert_allclose(np.abs(W), np.abs(expected.W), atol=1e-9)


def test_a_root_of_a_stack_whose_digits_are_lost_little_by_little_is_not_sound():
    """No variance falls below half of what it was at a step (Kahan 1966), but what a variable leaves of others grows as 1.9ᵖ."""
    roots = {p: np.eye(p) - 0.9 * np.triu(np.ones((p, p)), 1) for p in (5, 24)}
    assert [forward_stack(R[None]).sound.tolist() for R in roots.values()] == [[True], [False]]


@pytest.mark.parametrize(("uncertainty", "left"), [(2.0, "no digit"), (0.01, "2.0 digits")])
def test_a_step_without_digits_is_named(uncertainty, left):
    moments = Moments.from_rows(np.random.default_rng(1).standard_normal((30, 12)))
    with pytest.raises(
        PrecisionError, match=f"^At step 10 of 12, X10 given 9 columns before it has {left} left of its variance"
    ):
        _refuse(moments, list(moments.names), 9, np.ones(9), uncertainty)
    with pytest.raises(CollinearError, match="X9"):  # a few are named
        _refuse(moments, list(moments.names), 8, np.ones(8), uncertainty)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "seeds"), [(100, tries(4, 12)), (120, tries(3, 6))])
def test_past_float64_there_is_a_warning_or_an_error_and_never_a_silent_guess(p, seeds):
    spoken = 0
    for seed in seeds:
        X = simulate("homogeneous", p, 1000, seed).X
        try:
            ordering = _quiet_order(X)
        except PrecisionError as error:
            assert "At step" in str(error)
            assert "digit" in str(error)
            spoken += 1
            continue
        if ordering.undecided:
            assert "digits are left" in ordering.undecided[0]
            spoken += 1
        else:
            assert ordering.order.tolist() == oracles.stepwise_order(X)
    assert spoken >= len(seeds) // 3


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("p", [20, 50, thorough(80), 90])
def test_streamed_and_merged_moments_give_the_same_order(p, n):
    rng = np.random.default_rng(p + n)
    for seed in tries(1, 4):
        X = simulate("homogeneous", p, n, seed).X
        cuts = np.sort(rng.choice(np.arange(1, n), size=6, replace=False))
        parts = [Moments.from_rows(block) for block in np.split(X, cuts)]
        parts = [parts[i] for i in rng.permutation(len(parts))]
        while len(parts) > 1:
            i = int(rng.integers(len(parts) - 1))
            parts[i : i + 2] = [parts[i].merge(parts[i + 1])]
        try:
            ordering = forward(parts[0])
        except PrecisionError:
            assert p == 90
            continue
        if not ordering.undecided:
            assert ordering.order.tolist() == oracles.stepwise_order(X)


@given(tables(), st.data())
def test_relabelling_the_columns_relabels_the_order(X, data):
    permutation = np.array(data.draw(st.permutations(range(X.shape[1]))))
    order = forward(Moments.from_rows(X)).order
    permuted = forward(Moments.from_rows(X[:, permutation])).order
    assert permutation[permuted].tolist() == order.tolist()


@given(tables(), st.floats(1e-6, 1e6), st.floats(-100, 100))
def test_common_scale_and_shift_do_not_matter(X, scale, shift):
    a = forward(Moments.from_rows(X))
    b = forward(Moments.from_rows(X * scale + shift * scale))
    assert a.order.tolist() == b.order.tolist()
    np.testing.assert_allclose(b.variances, a.variances * scale**2, rtol=1e-7)
    np.testing.assert_allclose(b.margins, a.margins, rtol=1e-6, atol=1e-7)


def test_exact_ties_go_to_the_earlier_column_whatever_the_rounding():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    X = np.column_stack([rng.permutation(x) for _ in range(6)])  # equal variances, up to the rounding of sums
    for _ in range(5):
        permuted = X[rng.permutation(200)]
        assert forward(Moments.from_rows(permuted)).order[0] == 0
        assert forward(Moments.from_rows(permuted[:, ::-1])).order[0] == 0


def test_pairs_hold_what_the_direction_test_needs():
    X = simulate("homogeneous", 8, 300, 3).X
    ordering = forward(Moments.from_rows(X))
    order = ordering.order.tolist()
    for a in range(7):
        for b in range(a + 1, 8):
            v_a, v_b, c = (float(x[0]) for x in ordering.pair(np.array([a]), np.array([b])))
            u = oracles.residuals(X, order[a], order[:a])
            v = oracles.residuals(X, order[b], order[:a])
            np.testing.assert_allclose([v_a, v_b, c], [u @ u, v @ v, u @ v], rtol=1e-7, atol=1e-7 * (u @ u))
            p_value = float(ordering.direction_p_values(np.array([a]), np.array([b]))[0])
            expected = oracles.direction_p_value(X, order[a], order[b], order[:a])
            assert p_value == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_pairs_in_any_order_are_those_of_the_whole_factor(monkeypatch):
    monkeypatch.setattr("ordag.order.factor.CACHE_NUMBERS", 200)  # a few columns of L at a time
    p = 40
    ordering = forward(Moments.from_rows(simulate("er2", p, 300, 3).X))
    random = np.random.default_rng(0)
    b, a = (places[random.permutation(p * (p - 1) // 2)[:90]] for places in np.tril_indices(p, -1))
    a, b = np.minimum(a, b), np.maximum(a, b)
    a, b = a[a < b], b[a < b]
    own, later, between = ordering.pair(a, b)
    L = ordering.L
    np.testing.assert_allclose(own, [L[i, i] ** 2 for i in a], rtol=1e-14)
    np.testing.assert_allclose(later, [sum(L[j, i:] ** 2) for i, j in zip(a, b, strict=True)], rtol=1e-13)
    np.testing.assert_allclose(between, [L[j, i] * L[i, i] for i, j in zip(a, b, strict=True)], rtol=1e-14)
    assert all(len(values) == 0 for values in ordering.pair(a[:0], b[:0]))


@pytest.mark.parametrize("batches", [1, 7])
@pytest.mark.parametrize("n", [60, 20_000])
def test_collinear_columns_are_named(n, batches):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 6)) + 10 ** rng.uniform(0, 3, 6)
    cases = {
        "copy of X2": np.column_stack([X, X[:, 1]]),
        "copy of X1": np.column_stack([X, 3 * X[:, 0] + 7]),
        "linear combination": np.column_stack([X, X[:, 0] + X[:, 1]]),
    }
    for words, Y in cases.items():
        parts = [Moments.from_rows(block) for block in np.array_split(Y, batches)]
        with pytest.raises(CollinearError, match=words):
            forward(parts[0].merge(*parts[1:]))
        with pytest.raises(CollinearError):
            backward(parts[0].merge(*parts[1:]))
        with pytest.raises(CollinearError, match=words):
            find_order(Table(Y, strict=True))


@pytest.mark.parametrize("p", [30, 50, 80])
def test_a_covariance_is_refused_or_warned_about_where_it_does_not_carry_the_answer(p):
    spoken = 0
    for seed in range(8):
        X = simulate("homogeneous", p, 500, seed).X
        try:
            ordering = forward(Moments.from_covariance(np.cov(X.T), 500))
        except (PrecisionError, CovarianceError) as error:
            assert "give the rows instead" in str(error)
            spoken += 1
            continue
        if ordering.undecided:
            spoken += 1
        else:
            assert ordering.order.tolist() == oracles.stepwise_order(X)
    assert spoken >= {30: 0, 50: 3, 80: 8}[p]


def test_a_covariance_that_carries_the_answer_gives_it():
    X = simulate("homogeneous", 12, 500, 0).X
    ordering = forward(Moments.from_covariance(np.cov(X.T), 500))
    assert ordering.order.tolist() == oracles.stepwise_order(X)
    np.testing.assert_allclose(ordering.variances, forward(Moments.from_rows(X)).variances, rtol=1e-5)


def test_population_order_is_right():
    for seed in range(10):
        sem = simulate("homogeneous", 12, 10, seed).sem
        ordering = forward(Moments.from_covariance(sem.covariance(), 10**6))
        place = np.argsort(ordering.order)
        source, target = np.nonzero(sem.B)
        assert (place[source] < place[target]).all()


def test_a_factorisation_stops_after_the_step_that_spends_the_digits_of_a_column():
    """After the second step nothing but rounding is left of the last column: a third would be decided by that."""
    root = np.diag([1.0, 2.0, 3.0, 1e-6])
    root[1, 3] = 100.0
    assert minimum_pivot(root.T @ root).order.tolist() == [0, 1]
    assert minimum_pivot(np.diag([1.0, 4.0, 9.0, 16.0])).order.tolist() == [0, 1, 2, 3]


def test_refreshes_happen_where_digits_run_out_and_nowhere_else():
    well = np.random.default_rng(0).standard_normal((300, 40))
    assert factorise(np.linalg.qr(well)[1])[2] == 0
    ill = simulate("homogeneous", 50, 300, 0).X
    assert factorise(np.linalg.qr(ill - ill.mean(axis=0))[1])[2] >= 1


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("factor", [1e-130, 1e-80, 1e78, 1e140])
def test_direction_p_values_do_not_depend_on_a_common_scale(direction, factor):
    _, X = simulate("erdos-renyi", p=6, n=80, seed=3, degree=3.0)
    one, other = (learn(Y, "cvs", direction=direction) for Y in (X, X * factor))
    assert np.allclose(other.edges["direction_p_value"], one.edges["direction_p_value"], rtol=1e-9)
    assert np.allclose(other.steps["runner_up_p_value"], one.steps["runner_up_p_value"], rtol=1e-9, equal_nan=True)
    assert len(one.edges) > 3


def test_a_column_of_which_exactly_nothing_is_left_goes_through_the_kernel():
    pivots, factor, _ = factorise(np.array([[1.0, 2.0], [0.0, 0.0]]) * [1.0, 0.0])
    assert pivots.order.tolist() == [1, 0]
    assert factor.L_diagonal.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("p", "told"), [(2, False), (3, True), (4, True)])
def test_a_gram_matrix_of_many_columns_tells_how_far_it_is(p, told, monkeypatch):
    monkeypatch.setattr(least_squares, "REPORTED_COLUMNS", 3)
    X, calls = np.random.default_rng(0).standard_normal((50, p)), []
    table = Table(X, progress=calls.append)
    moments = table.gram_moments
    calls.clear()
    gram_forward(moments, None, table)
    assert bool(calls) is told


def test_a_gram_matrix_of_very_many_columns_may_lose_two_digits_more():
    few, many = np.full(MANY_COLUMNS - 1, 0.9e-8), np.full(MANY_COLUMNS, 0.9e-6)
    assert enough_digits(few)
    assert enough_digits(many)
    few[3], many[3] = 1.1e-8, 1.1e-6
    assert not enough_digits(few)
    assert not enough_digits(many)


@pytest.mark.parametrize("rule", [forward, backward])
@pytest.mark.parametrize("seed", range(3))
def test_rivals_of_a_step_are_the_later_ones_that_wait_for_none_and_tied_are_those_above_the_level(rule, seed):
    random = np.random.default_rng(seed)
    p = 7
    ordering = rule(Moments.from_rows(random.standard_normal((40, p))))
    waits = np.triu(random.random((p, p)) < 0.3, 1)  # position b comes after a
    before = np.zeros((p, p), dtype=bool)
    before[np.ix_(ordering.order, ordering.order)] = waits
    for steps in ordering.candidates(before):
        for row, (rivals, tied) in enumerate(zip(steps.rivals, steps.tied(0.4), strict=True)):
            m = steps.first + row
            if rule is forward:
                literal = [b for b in range(p) if b > m and all(a < m for a in range(p) if waits[a, b])]
            else:
                literal = [a for a in range(p) if a < m and all(b > m for b in range(p) if waits[a, b])]
            positions = np.flatnonzero(rivals) + steps.start
            assert positions.tolist() == literal
            p_values = steps.p_values(np.full(len(positions), row), positions)
            assert (np.flatnonzero(tied) + steps.start).tolist() == positions[p_values > 0.4].tolist()


@pytest.mark.parametrize(("left", "spare"), [(0.9e-13, ["c", "b"]), (1.1e-13, ["c"])])
def test_columns_of_which_hardly_anything_is_left_can_go(left, spare):
    R = np.array([[1.0, 1.0, 0.0], [0.0, left, 0.0], [0.0, 0.0, 1.0]])
    for squared in (False, True):
        R[1, 1] = np.sqrt(left) if squared else left
        moments = Moments(50, np.zeros(3), ["a", "b", "c"], R=R.copy(), squared=squared)
        assert _spare(moments, ["a", "b", "c"], "c") == spare
