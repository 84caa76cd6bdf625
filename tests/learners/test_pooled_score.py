"""The pooled score against quadrature, and the sum over variables that bounds it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from budgets import crossed
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles

from ordag.learners.pooled.chain import pooled_at
from ordag.learners.pooled.score import COMMENSURABLE, UNITS_UNKNOWN, Local, PooledScore

seeds = st.integers(0, 2**32 - 1)
spreads = pytest.mark.parametrize("spread", [COMMENSURABLE, UNITS_UNKNOWN])


@spreads
@pytest.mark.parametrize("n", [6, 100, 10**4, 10**7])
@pytest.mark.parametrize("size", [2, 3, 10, 60])
def test_pooling_is_the_integral(n, size, spread):
    score = PooledScore(n, size, spread=spread)
    for squares in (0.0, 2.0 * size / n, 1e-3, 0.1 * size, float(size), 40.0 * size):
        ours = score.pooling(size, squares)
        assert ours == pytest.approx(oracles.pooling(n, size, squares, spread), abs=2e-4)


@spreads
@pytest.mark.parametrize("n", [8, 300, 10**6])
@pytest.mark.parametrize("groups", [None, [[0, 1], [2, 3, 4]], [[0, 3]], [[0], [1], [2], [3], [4]], []])
def test_the_total_is_the_literal_score(n, groups, spread):
    rng = np.random.default_rng(n)
    score = PooledScore(n, 5, groups, spread)
    for deviation in (0.01, 0.3, 3.0):
        v, k = rng.normal(2.0, deviation, 5), int(rng.integers(11))
        assert score.total(v, k) == pytest.approx(oracles.score(n, v, k, groups, spread), abs=1e-3)


@pytest.mark.slow
@spreads
def test_the_two_literal_integrals_agree(spread):
    squares = np.array([0.0, 1e-4, 0.1, 3.0, 50.0])
    for n, size in ((20, 2), (500, 4), (10**5, 8)):
        one_by_one = [oracles.pooling(n, size, s, spread) for s in squares]
        np.testing.assert_allclose(oracles.poolings(n, size, squares, spread), one_by_one, atol=1e-6)


@pytest.mark.slow
@spreads
@pytest.mark.parametrize("size", [2, 5, 50])
@pytest.mark.parametrize("n", [20, 2000])
def test_pooling_is_rising_and_concave(n, size, spread):
    score = PooledScore(n, size, spread=spread)
    at = np.linspace(0.0, 5.0 * size, 400)
    slopes = np.diff([score.pooling(size, s) for s in at])
    assert (slopes > 0).all()
    assert (np.diff(slopes) < 1e-9).all()


def at(table, squares):
    """One value as the sampler reads it off."""
    return pooled_at(table.values[None, :], table.start, table.fineness, 0, squares)


@spreads
@pytest.mark.parametrize(("size", "n"), crossed([2, 5, 30], [20, 2000, 10**6]))
def test_the_table_is_near_the_integral(n, size, spread):
    score = PooledScore(n, size, spread=spread)
    squares = np.exp(np.linspace(math.log(1e-9), math.log(20.0 * size), 101))
    table = score.pooling_table(size)
    np.testing.assert_allclose(table(squares), [score.pooling(size, s) for s in squares], atol=1e-3)
    assert table(0.0) == pytest.approx(score.pooling(size, 0.0), abs=1e-3)
    wide = np.concatenate([[0.0, 1e-11, 1e-10], squares, [1e40]])
    np.testing.assert_allclose([at(table, s) for s in wide.tolist()], table(wide), rtol=1e-12, atol=1e-9)


@pytest.mark.slow
@given(seed=seeds)
def test_many_totals_are_totals(seed):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(2, 7)), int(rng.integers(5, 2000))
    groups = [None, [list(range(p // 2)), list(range(p // 2, p))]][rng.integers(2)]
    score = PooledScore(n, p, groups, float(rng.choice([0.5, 2.0])))
    v, edges = rng.normal(0.0, rng.uniform(0.01, 2.0), (20, p)), rng.integers(p * (p - 1) // 2 + 1, size=20)
    one_by_one = [score.total(row, int(k)) for row, k in zip(v, edges, strict=True)]
    np.testing.assert_allclose(score.totals(v, edges), one_by_one, atol=1e-3)


def parabola(local, j, v):
    """A term before it is made to fall all the way."""
    return local.half[j] * v + local.weight[j] * (v - local.mean[j]) ** 2


@pytest.mark.slow
@given(seed=seeds)
def test_the_sum_lies_above_the_score_and_touches_it(seed):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(2, 9)), int(rng.integers(4, 3000))
    pairs = p * (p - 1) // 2
    shuffle, cut = rng.permutation(p), int(rng.integers(p + 1))
    groups = [None, [shuffle[:cut], shuffle[cut:]]][rng.integers(2)]
    score = PooledScore(n, p, groups, float(rng.choice([0.5, 2.0])))
    v, k = rng.normal(0.0, rng.uniform(0.01, 3.0), p), int(rng.integers(pairs + 1))
    local, here = score.local(v, k), score.total(v, k)

    def bound(w, edges):
        return sum(parabola(local, j, w[j]) for j in range(p)) + local.price * edges

    for _ in range(10):
        w = v + rng.normal(0.0, rng.choice([0.01, 0.3, 3.0]), p) * (rng.random(p) < 0.6)
        edges = int(rng.integers(pairs + 1))
        assert bound(w, edges) - bound(v, k) >= score.total(w, edges) - here - 1e-7
    # it touches: the slopes are those of the score
    step = 1e-6
    for j in range(p):
        up, down = v.copy(), v.copy()
        up[j] += step
        down[j] -= step
        slope = (score.total(up, k) - score.total(down, k)) / (2 * step)
        assert (bound(up, k) - bound(down, k)) / (2 * step) == pytest.approx(slope, rel=1e-4, abs=1e-2)


@pytest.mark.parametrize(("n", "p"), [(8, 3), (100, 5), (2000, 20)])
def test_the_weight_is_the_slope_of_the_pooling(n, p):
    score, v = PooledScore(n, p), np.linspace(-0.5, 0.7, p)
    squares = float(((v - v.mean()) ** 2).sum())
    up, down = (score.pooling(p, squares * (1.0 + sign * 1e-4)) for sign in (1, -1))
    assert score.local(v, 0).weight == pytest.approx([(up - down) / (2e-4 * squares)] * p, rel=1e-5)


def test_the_price_is_that_of_one_edge_more():
    for p, n in ((2, 10), (6, 100), (30, 1000)):
        score = PooledScore(n, p)
        for k in range(score.pairs):
            price, edge = score.local(np.zeros(p), k).price, score.edge_prior(k + 1) - score.edge_prior(k)
            half = math.log((score.pairs - k + 0.5) / (score.pairs - k)) + 0.5 / score.pairs  # half an edge ahead of it
            assert edge - 1e-9 <= price <= edge + half + 1e-9
    assert np.isfinite(score.local(np.zeros(p), score.pairs).price)


locals_ = st.builds(
    lambda half, mean, weight, price: Local([half], [mean], [weight], price),
    st.floats(2.0, 5000.0),
    st.floats(-5.0, 5.0),
    st.one_of(st.just(0.0), st.floats(1e-3, 1e4)),
    st.floats(-20.0, 40.0),
)


@given(local=locals_, at=st.lists(st.floats(-20.0, 20.0), min_size=2, max_size=20))
def test_a_term_never_rises_as_v_falls(local, at):
    at = sorted(at)
    terms = [local.term(0, v) for v in at]
    literal = [oracles.term(v, local.half[0], local.mean[0], local.weight[0]) for v in at]
    np.testing.assert_allclose(terms, literal, rtol=1e-10, atol=1e-7)
    np.testing.assert_allclose(local.terms(0, np.array(at)), terms, rtol=1e-10, atol=1e-7)
    assert (np.diff(terms) >= -1e-7 * (1.0 + np.abs(terms[1:]))).all()


@given(local=locals_, v=st.floats(-8.0, 8.0))
def test_worthwhile_is_where_the_term_is_lower_by_the_price(local, v):
    then = local.worthwhile(0, v)
    here = local.term(0, v)
    vertex = -math.inf if local.weight[0] == 0 else local.mean[0] - local.half[0] / (2.0 * local.weight[0])
    lowest = -math.inf if vertex == -math.inf else local.term(0, vertex)
    if math.isfinite(then):
        assert here - local.term(0, then) == pytest.approx(local.price, rel=1e-6, abs=1e-6 * (1.0 + abs(here)))
        assert (then <= v) == (local.price >= 0.0) or then == pytest.approx(v)
    elif then == -math.inf:  # nothing is worth the price
        assert here - lowest <= local.price + 1e-6 * (1.0 + abs(here))
    else:  # anything is, as the price is a gain
        assert local.price < 0.0
        assert v <= vertex + 1e-9


@pytest.mark.parametrize("extended", [False, True])
def test_what_makes_up_for_the_search_is_worth_one_in_an_empty_graph_and_nothing_in_a_complete_one(extended):
    n, p = 200, 12
    pairs = p * (p - 1) // 2
    score = PooledScore(n, p, extended=extended)
    first = score.local(np.zeros(p), 0).price - math.log(n) / 2.0 - math.log(pairs + 0.5)
    last = score.local(np.zeros(p), pairs).price - math.log(n) / 2.0
    assert first == pytest.approx(1.0)
    assert last == pytest.approx(math.log(p) if extended else math.log(0.5 / (pairs + 1.0)))


def test_one_variable_has_no_edges_to_pay_for():
    score = PooledScore(30, 1)
    assert score.edge_prior(0) == 0.0
    assert math.isfinite(score.local(np.zeros(1), 0).price)


def test_single_variables_pool_with_nobody():
    v = np.array([0.1, -3.0, 2.0])
    alone = PooledScore(50, 3, [[0], [1], [2]])
    assert alone.total(v, 2) == pytest.approx(25.0 * v.sum() + oracles.edge_prior(50, 3, 2))
    assert alone.local(v, 2).weight == [0.0, 0.0, 0.0]
    assert alone.ratio(v) == 1.0
    pair = PooledScore(50, 3, [[0, 2], [1]])
    assert pair.local(v, 2).weight[1] == 0.0
    moved = v + np.array([0.0, 1.0, 0.0])
    assert pair.total(moved, 2) - pair.total(v, 2) == pytest.approx(25.0)


@given(seed=seeds, factor=st.floats(-30.0, 30.0))
def test_a_common_factor_shifts_all_scores_alike(seed, factor):
    rng = np.random.default_rng(seed)
    score = PooledScore(70, 5, [None, [[0, 2], [1, 3, 4]]][rng.integers(2)])
    v, w = rng.normal(size=(2, 5))
    shift = score.total(v + factor, 3) - score.total(v, 3)
    assert shift == pytest.approx(70 / 2.0 * 5 * factor, abs=1e-7)
    assert score.total(w + factor, 7) - score.total(w, 7) == pytest.approx(shift, abs=1e-7)


def test_the_ratio_tells_equal_variances_from_unequal_ones():
    rng = np.random.default_rng(0)
    n = 1000
    equal = rng.normal(0.0, math.sqrt(2.0 / n), 20)
    assert 1.0 <= PooledScore(n, 20).ratio(equal) < 1.2
    unequal = np.linspace(-1.0, 1.0, 20)
    assert PooledScore(n, 20).ratio(unequal) == pytest.approx(math.exp(2.0), rel=0.05)
    assert PooledScore(n, 20).ratio(np.linspace(0.0, 5000.0, 20)) < math.inf


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 3, 10, 40])
def test_extended_prices_never_fall_below_those_of_the_extended_bic(p):
    n, pairs = 50, p * (p - 1) // 2
    usual, extended = PooledScore(n, p), PooledScore(n, p, extended=True)
    chance = [1.0 - (k + 0.5) / pairs for k in range(pairs)]
    steps = [math.log(n) / 2 + max(math.log((pairs - k) / (k + 1)), math.log(p)) + chance[k] for k in range(pairs)]
    priors = [extended.edge_prior(k) for k in range(pairs + 1)]
    for k in range(pairs + 1):
        assert extended.edge_prior(k) == pytest.approx(sum(steps[:k]), abs=1e-8)
        assert extended.edge_prior(k) >= usual.edge_prior(k) - 1e-8
        price = extended.local(np.zeros(p), k).price
        for other, prior in enumerate(priors):  # the price bounds the prior from above, as far as the usual one does
            assert prior <= priors[k] + price * (other - k) + 1.0
