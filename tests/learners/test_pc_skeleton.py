"""The skeleton of PC: against the literal algorithm, and what it may not depend on."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import pc as oracles
from strategies.tables import tables

from ordag import Knowledge, Moments, simulate
from ordag.errors import SettingError, TooFewRowsError
from ordag.learners.pc import pc_search, skeleton
from ordag.learners.pc.search import COLLIDERS as RULES


def named(X):
    return Moments.from_rows(X, [f"v{j}" for j in range(X.shape[1])])


def neighbours(result):
    return {i: set(np.flatnonzero(row).tolist()) for i, row in enumerate(result.graph.skeleton)}


def sets(result):
    place = result.graph.index
    return {tuple(sorted(map(place, pair))): {place(name) for name in S} for pair, S in result.separating_sets.items()}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["first", "largest"])
@pytest.mark.parametrize("test", ["fisher-z", "t"])
@given(tables(min_p=2, max_p=6), st.sampled_from([0.01, 0.1, 0.5]))
def test_is_the_literal_one(rule, test, X, alpha):
    p_value = {"fisher-z": oracles.fisher_z, "t": oracles.exact_t}[test](X)
    around, separating, values = oracles.skeleton(X.shape[1], p_value, alpha, largest=rule == "largest")
    result = pc_search(named(X), alpha=alpha, test=test, colliders=rule)
    assert neighbours(result) == around
    assert sets(result) == {pair: set(S) for pair, S in separating.items()}
    expected = np.eye(X.shape[1])
    for (i, j), value in values.items():
        expected[i, j] = expected[j, i] = value
    assert np.allclose(result.p_values, expected, atol=1e-9)


@pytest.mark.slow
def test_is_the_literal_one_in_the_dense_design():
    _, X = simulate("homogeneous", p=12, n=300, seed=5)
    around, separating, _ = oracles.skeleton(12, oracles.fisher_z(X), 0.01)
    result = pc_search(named(X), colliders="first")
    assert neighbours(result) == around
    assert sets(result) == {pair: set(S) for pair, S in separating.items()}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["largest", "majority", "conservative"])
@given(data=st.data())
def test_relabelling_the_columns_relabels_the_answer(rule, data):
    X = data.draw(tables(min_p=3, max_p=7))
    order = data.draw(st.permutations(range(X.shape[1])))
    moments = named(X)
    names = [moments.names[j] for j in order]
    one = pc_search(moments, alpha=0.1, colliders=rule)
    other = pc_search(Moments.from_rows(X[:, order], names), alpha=0.1, colliders=rule)
    assert other.graph.reorder(moments.names) == one.graph
    assert {pair: set(S) for pair, S in other.separating_sets.items()} == {
        pair: set(S) for pair, S in one.separating_sets.items()
    }
    assert np.allclose(other.p_values, one.p_values[np.ix_(order, order)], atol=1e-9)
    assert {frozenset(edge) for edge in other.conflicts} == {frozenset(edge) for edge in one.conflicts}
    for triples in ("ambiguous", "denied"):
        left, right = ({(b, frozenset((a, c))) for a, b, c in getattr(result, triples)} for result in (one, other))
        assert left == right
    assert (other.levels, other.tests, other.valid) == (one.levels, one.tests, one.valid)


@pytest.mark.slow
@given(tables(min_p=3, max_p=6), st.integers(0, 2**32 - 1))
def test_units_do_not_matter(X, seed):
    scale = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, X.shape[1])
    one, other = pc_search(named(X), alpha=0.1), pc_search(named(X * scale - 1), alpha=0.1)
    assert one.graph == other.graph
    assert np.allclose(one.p_values, other.p_values, atol=1e-6)


@pytest.mark.parametrize("block", [1, 50, 1000])
@pytest.mark.parametrize("rule", RULES)
def test_the_size_of_the_blocks_does_not_matter(monkeypatch, block, rule):
    _, X = simulate("homogeneous", p=9, n=200, seed=8)
    expected = pc_search(named(X), colliders=rule)
    monkeypatch.setattr(skeleton, "NUMBERS_PER_BLOCK", block * 16)
    found = pc_search(named(X), colliders=rule)
    assert found.graph == expected.graph
    assert found.separating_sets == expected.separating_sets
    assert found.ambiguous == expected.ambiguous
    assert np.allclose(found.p_values, expected.p_values, rtol=1e-9)
    assert found.tests == expected.tests or rule == "first"


def test_blocks_of_sets_are_bounded_and_hold_every_set_once(monkeypatch):
    monkeypatch.setattr(skeleton, "NUMBERS_PER_BLOCK", 160)
    near, far = np.triu_indices(8, 1)
    adjacency = ~np.eye(8, dtype=bool)
    found = []
    for rows, S in skeleton._neighbour_sets(adjacency, near, far, 2, np.ones(len(near), dtype=bool)):
        assert S[..., 0].size * (2 + 2) ** 2 <= 160
        found += [(near[m], far[m], *one) for m, sets in zip(rows, S.tolist(), strict=True) for one in sets]
    literal = [
        (a, b, *one) for a, b in zip(near, far, strict=True) for one in combinations(sorted({*range(8)} - {a, b}), 2)
    ]
    assert sorted(found) == sorted(literal)


def test_first_stops_early():
    _, X = simulate("homogeneous", p=20, n=500, seed=3)
    assert pc_search(named(X), colliders="first").tests < pc_search(named(X)).tests


def test_max_level_bounds_the_sets():
    _, X = simulate("homogeneous", p=10, n=200, seed=1)
    for level in range(3):
        result = pc_search(named(X), max_level=level)
        assert result.levels == level
        assert max(map(len, result.separating_sets.values()), default=0) <= level
    assert pc_search(named(X), max_level=0).tests == 45


def test_few_rows_bound_the_sets_and_it_is_said():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 1)) + 0.01 * rng.standard_normal((6, 6))
    result = pc_search(named(X), alpha=0.9)
    assert result.levels <= 2
    assert any("With 6 rows no test could condition on more than 2 variables" in text for text in result.warnings)
    with pytest.raises(TooFewRowsError, match="at least four"):
        pc_search(named(X[:3]))
    assert pc_search(named(X[:4])).levels == 0


@pytest.mark.parametrize("rule", RULES)
def test_progress_is_told_and_ends_complete(rule):
    _, X = simulate("homogeneous", p=12, n=300, seed=2)
    calls = []
    result = pc_search(named(X), colliders=rule, progress=lambda done, total: calls.append((done, total)))
    done, total = map(np.array, zip(*calls, strict=True))
    assert (np.diff(done) >= 0).all()
    assert (np.diff(total) >= 0).all()
    assert (done <= total).all()
    assert done[-1] == total[-1] >= result.tests


def test_an_interrupt_goes_through():
    def interrupt(done, total):
        if done:
            raise KeyboardInterrupt

    _, X = simulate("homogeneous", p=8, n=100, seed=0)
    with pytest.raises(KeyboardInterrupt):
        pc_search(named(X), progress=interrupt)


def test_a_test_of_ones_own():
    def strict(r, n, k):
        return np.where(np.abs(r) > 0.9, 0.0, 1.0)

    x = np.random.default_rng(0).standard_normal((100, 1))
    X = np.hstack([x, x + 0.01 * np.random.default_rng(1).standard_normal((100, 1)), -x[::-1]])
    result = pc_search(named(X), test=strict)
    assert result.graph.undirected == (("v0", "v1"),)


def test_a_test_that_gives_no_p_values_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(SettingError, match="p-value between 0 and 1"):
        pc_search(named(X), test=lambda r, n, k: r * np.nan)
    with pytest.raises(SettingError, match="one p-value"):
        pc_search(named(X), test=lambda r, n, k: 0.5)


@pytest.mark.parametrize(
    "settings",
    [{"alpha": 0}, {"alpha": 1.5}, {"colliders": "last"}, {"test": "z"}, {"max_level": -1}, {"max_level": 1.5}],
)
def test_settings_are_checked(settings):
    with pytest.raises(SettingError, match=next(iter(settings))):
        pc_search(named(np.random.default_rng(0).standard_normal((20, 3))), **settings)


def test_the_input_is_not_changed_and_the_result_is_locked():
    moments = named(np.random.default_rng(0).standard_normal((50, 5)))
    before = moments.R.copy()
    result = pc_search(moments)
    assert np.array_equal(moments.R, before)
    with pytest.raises(ValueError, match="read-only"):
        result.p_values[0, 1] = 0


def test_one_column():
    result = pc_search(named(np.random.default_rng(0).standard_normal((9, 1))))
    assert result.graph.nodes == ("v0",)
    assert (result.tests, result.levels, result.valid) == (0, 0, True)


@pytest.mark.parametrize("causes", [(0, 1), (0, 2), (1, 2)])
def test_pairs_that_may_not_be_joined_are_tested_for_colliders_between_them(causes):
    rng = np.random.default_rng(0)
    (a, b), c = causes, 3 - sum(causes)
    X = rng.standard_normal((500, 3))
    X[:, c] += X[:, a] + X[:, b]
    names = named(X).names
    known = Knowledge(forbidden=[(names[a], names[b]), (names[b], names[a])]).over(names)
    result = pc_search(named(X), known=known)
    assert sets(result) == {causes: set()}
    assert set(result.graph.directed) == {(names[a], names[c]), (names[b], names[c])}


def test_nothing_is_tested_where_no_pair_may_be_joined():
    names = ["v0", "v1", "v2"]
    known = Knowledge(forbidden=[(a, b) for a in names for b in names if a != b]).over(names)
    result = pc_search(named(np.random.default_rng(0).standard_normal((50, 3))), known=known)
    assert (result.tests, result.separating_sets) == (0, {})
