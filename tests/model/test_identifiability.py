import numpy as np
import pytest
from budgets import thorough, tries
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import model as oracles
from sems import relabelled, sems

from ordag.errors import GraphError, PrecisionError, SettingError
from ordag.model import LinearSEM, identifiability, loh_buhlmann_bound, park_kim_bound, simulate

positive = st.floats(0.05, 5)
weight = st.floats(0.1, 2).flatmap(lambda size: st.sampled_from([size, -size]))


def columns(sem, names):
    return [sem.names.index(name) for name in names]


@given(sems(max_p=6), st.randoms(use_true_random=False))
def test_margins_are_ratios_of_conditional_variances(sem, random):
    order = random.choice(list(oracles.causal_orders(sem.B)))
    for result in (identifiability(sem, order), identifiability(sem)):
        expected = oracles.margins(sem.B, sem.omega, columns(sem, result.order))
        assert {(j, k) for j, k in np.argwhere(~np.isnan(result.margin)).tolist()} == set(expected)
        for pair, margin in expected.items():
            assert result.margin[pair] == pytest.approx(margin, rel=1e-10)
        if expected:
            cause, effect, margin = result.tightest
            assert margin == pytest.approx(min(expected.values()), rel=1e-10)
            assert expected[sem.names.index(cause), sem.names.index(effect)] == pytest.approx(margin, rel=1e-10)
            assert result.holds == (margin > 1)


@given(sems())
def test_by_default_the_condition_says_whether_the_algorithm_is_right(sem):
    result = identifiability(sem)
    greedy = oracles.greedy_order(oracles.exact_covariance(sem.B, sem.omega))
    assert columns(sem, result.greedy_order) == greedy
    assert result.greedy_is_right == oracles.is_causal(sem.B, greedy)
    assert result.holds == result.greedy_is_right
    assert oracles.is_causal(sem.B, columns(sem, result.order))
    if result.holds:
        assert result.order == result.greedy_order


@pytest.mark.slow
@given(sems(max_p=5))
def test_given_all_non_descendants_is_every_order_at_once(sem):
    every = all(identifiability(sem, order).holds for order in oracles.causal_orders(sem.B))
    result = identifiability(sem)
    assert result.holds_in_every_order == every
    assert result.holds or not every


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("design", "p"), [("homogeneous", 50), thorough("heterogeneous", 50), thorough("heterogeneous", 70)]
)
def test_greedy_order_of_dense_models(design, p):
    for seed in tries(1, 4):
        drawn, _ = simulate(design, p=p, n=1, seed=seed)
        sem = LinearSEM(drawn.B, drawn.omega * np.random.default_rng(seed).uniform(0.99, 1.01, p))  # no ties
        greedy = oracles.greedy_order(oracles.exact_covariance(sem.B, sem.omega))
        assert columns(sem, identifiability(sem).greedy_order) == greedy


@pytest.mark.slow
def test_greedy_order_where_it_goes_astray():
    astray = 0
    for seed in tries(3, 8):
        rng = np.random.default_rng(seed)
        dense, _ = simulate("homogeneous", p=30, n=1, seed=rng)
        sem = LinearSEM(dense.B, np.exp(rng.uniform(-6, 6, 30)))
        result = identifiability(sem)
        assert columns(sem, result.greedy_order) == oracles.greedy_order(oracles.exact_covariance(sem.B, sem.omega))
        astray += not result.greedy_is_right
    assert astray == len(tries(3, 8))


def test_equal_variances_always_hold():
    for seed in range(20):
        result = identifiability(simulate("homogeneous", p=40, n=1, seed=seed).sem)
        assert result.holds
        assert result.holds_in_every_order
        assert result.greedy_is_right


@pytest.mark.thorough
def test_about_one_in_a_hundred_models_of_section_4_2_breaks_the_condition():
    broken = [not identifiability(simulate("4.2", p=50, n=1, seed=seed).sem).holds for seed in tries(120, 300)]
    assert 0.003 < np.mean(broken) < 0.04


@given(st.integers(0, 2**32 - 1))
def test_weights_of_one_and_variances_within_a_factor_of_two_are_enough(seed):
    rng = np.random.default_rng(seed)
    sem, _ = simulate("4.2", p=25, n=1, seed=rng)
    assert identifiability(LinearSEM(sem.B, rng.uniform(1, 2, 25))).holds_in_every_order


def test_nonfaithful_model_is_identifiable():
    result = identifiability(simulate("4.3", n=1).sem)
    assert result.holds
    assert result.greedy_order == ("X1", "X2", "X3")


@given(weight, weight, positive, positive, positive)
def test_three_node_chain_of_the_appendix(beta_1, beta_2, v_1, v_2, v_3):
    sem = LinearSEM.from_edges(["X1", "X2", "X3"], {("X1", "X2"): beta_1, ("X2", "X3"): beta_2}, [v_1, v_2, v_3])
    inequalities = [v_2 / v_1 - (1 - beta_1**2), v_3 / v_1 - (1 - beta_2**2), v_3 / v_2 - (1 - beta_2**2)]
    variance_3 = v_3 + beta_2**2 * (v_2 + beta_1**2 * v_1)
    assume(min(abs(gap) for gap in [*inequalities, variance_3 / v_1 - 1]) > 1e-9)
    first, second, third = (gap > 0 for gap in inequalities)
    holds = identifiability(sem).holds
    if first and second and third:
        assert holds
    if not (first and third):
        assert not holds
    assert holds == (first and third and variance_3 > v_1)


def test_the_second_inequality_of_the_appendix_is_not_needed():
    sem = LinearSEM.from_edges(["X1", "X2", "X3"], {("X1", "X2"): 2.0, ("X2", "X3"): 0.9}, [1, 0.1, 0.1])
    assert 0.1 / 1 < 1 - 0.9**2
    assert identifiability(sem).holds


def test_one_causal_order_is_not_enough():
    """Two graphs, one distribution, and for each an order in which descendants are more variable."""
    one = LinearSEM.from_edges([*"abk"], {("a", "k"): np.sqrt(0.1), ("b", "k"): 4.0}, [10, 1, 1])
    slope = np.sqrt(10) / 2
    other = LinearSEM.from_edges([*"abk"], {("b", "k"): 4.0, ("k", "a"): slope, ("b", "a"): -4 * slope}, [5, 1, 2])
    assert np.allclose(one.covariance(), other.covariance())
    assert identifiability(one, (0, 1, 2)).holds
    assert identifiability(other).holds_in_every_order
    assert identifiability(one).greedy_order == identifiability(other).greedy_order == ("b", "k", "a")
    assert not identifiability(one).holds


def test_nor_is_every_causal_order_needed():
    sem = LinearSEM.from_edges([*"abk"], {("a", "k"): np.sqrt(0.1), ("b", "k"): 1.0}, [1, 2, 0.5])
    assert identifiability(sem).greedy_is_right
    assert not identifiability(sem, (1, 0, 2)).holds


def test_a_tie_between_cause_and_effect_does_not_hold():
    sem = LinearSEM.from_edges([*"ab"], {("a", "b"): 0.5}, [1, 0.75])
    assert identifiability(sem).tightest == ("a", "b", 1.0)
    assert not identifiability(sem).holds


def test_descendants_count_even_if_their_effects_cancel():
    sem = LinearSEM.from_edges([*"abc"], {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): -1.0}, [1, 1, 0.1])
    assert sem.total_effects()[0, 2] == 0
    assert identifiability(sem).margin[0, 2] == pytest.approx(1.1)


@given(sems(min_p=2), st.randoms(use_true_random=False))
def test_relabelling_relabels_the_answer(sem, random):
    labels = list(range(len(sem.names)))
    random.shuffle(labels)
    result, other = identifiability(sem), identifiability(relabelled(sem, labels))
    assert other.order == result.order
    assert other.greedy_order == result.greedy_order
    assert other.holds == result.holds
    assert other.holds_in_every_order == result.holds_in_every_order
    assert np.allclose(other.margin, result.margin[np.ix_(labels, labels)], rtol=1e-9, equal_nan=True)


def test_no_arrows():
    result = identifiability(LinearSEM(np.zeros((3, 3)), [3, 1, 2]))
    assert result.holds
    assert result.tightest is None
    assert result.greedy_order == ("X2", "X3", "X1")
    assert result.greedy_is_right


def test_refuses_an_order_that_is_none():
    sem = LinearSEM.from_edges([*"ab"], {("a", "b"): 1.0})
    with pytest.raises(GraphError, match="b before a"):
        identifiability(sem, (1, 0))
    with pytest.raises(GraphError, match="each column index from 0 to 1"):
        identifiability(sem, (0, 0))


def test_refuses_variances_beyond_float64():
    with pytest.raises(PrecisionError, match="float64"):
        identifiability(LinearSEM(np.diag(np.full(199, 10.0), 1)))


def gap_of_scores(beta_squared, r):
    """How much worse the reversed graph scores than the true one under the true weights 1/σ₁², 1/σ₂²; σ₁ = 1."""
    variance = beta_squared + r
    return variance / r + r / variance - 2


@pytest.mark.parametrize("r", [0.1, 0.5, 0.9, 1.1, 2.0, 7.0])
def test_loh_buhlmann_bound_is_where_their_theorem_begins_to_apply(r):
    """Max over min of the two variances at most 1 + gap/2, with two variables."""
    bound = loh_buhlmann_bound(r)
    assert 1 + gap_of_scores(bound, r) / 2 == pytest.approx(max(r, 1 / r))
    assert 1 + gap_of_scores(0.99 * bound, r) / 2 < max(r, 1 / r)


@given(st.floats(0.05, 3))
def test_park_kim_bound_is_where_the_condition_begins_to_hold(r):
    bound = float(park_kim_bound(r))

    def holds(beta_squared):
        return identifiability(LinearSEM([[0, np.sqrt(beta_squared)], [0, 0]], [1, r])).holds

    assert holds(bound + 1e-6)
    assert r >= 1 or bound < 1e-6 or not holds(bound - 1e-7)


def test_bounds_are_ordered_and_meet_at_equal_variances():
    r = np.geomspace(1e-3, 1e3, 1001)
    ours, theirs = park_kim_bound(r), loh_buhlmann_bound(r)
    assert ours.shape == theirs.shape == r.shape
    assert (ours <= theirs).all()
    assert (ours < theirs)[abs(r - 1) > 1e-9].all()
    assert park_kim_bound(1) == loh_buhlmann_bound(1) == 0
    assert park_kim_bound(0.25) == 0.75
    assert loh_buhlmann_bound(0.6) == pytest.approx(0.4 + 0.8)
    assert loh_buhlmann_bound(1.25) == pytest.approx(1.25 * (0.25 + 0.75))


@pytest.mark.parametrize("bound", [park_kim_bound, loh_buhlmann_bound])
@pytest.mark.parametrize("r", [0, -1, np.nan, [1, -1]])
def test_bounds_refuse_what_is_no_ratio_of_variances(bound, r):
    with pytest.raises(SettingError, match="ratio"):
        bound(r)
