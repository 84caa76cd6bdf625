import numpy as np
import pytest
from budgets import thorough, tries
from hypothesis import given
from hypothesis import strategies as st
from oracles import gds as oracles
from strategies.tables import tables

from ordag.common.bits import members
from ordag.common.linalg import triangle
from ordag.data.moments import Moments
from ordag.learners import regressions as module
from ordag.learners.regressions import Regressions
from ordag.model import simulate


def mask(nodes):
    return sum(1 << int(k) for k in nodes)


def dense(p, n, seed):
    X = simulate("homogeneous", p=p, n=n, seed=seed).X
    return X, Regressions(Moments.from_rows(X).R, n)


def drawn(p, rng, size=None):
    """A node and a set of parents for it."""
    nodes = rng.permutation(p).tolist()
    return nodes[0], nodes[1 : 1 + (rng.integers(0, p) if size is None else size)]


@given(X=tables(), data=st.data())
def test_every_answer_is_a_regression_on_the_rows(X, data):
    p = X.shape[1]
    node, *others = data.draw(st.permutations(range(p)))
    parents = others[: data.draw(st.integers(0, p - 1))]
    regressions = Regressions(Moments.from_rows(X).R, len(X))
    here = oracles.rss(X, node, parents)
    assert regressions.rss(node, mask(parents)) == pytest.approx(here, rel=1e-9)
    adding = regressions.rss_adding(node, mask(parents))
    dropping = regressions.rss_dropping(node, mask(parents))
    for k in range(p):
        if k in parents:
            assert dropping[k] == pytest.approx(oracles.rss(X, node, [i for i in parents if i != k]), rel=1e-9)
            assert adding[k] == pytest.approx(here, rel=1e-9)
        else:
            assert np.isnan(dropping[k])
            assert adding[k] == pytest.approx(here if k == node else oracles.rss(X, node, [*parents, k]), rel=1e-9)
    inside = np.isin(np.arange(p), parents)
    np.testing.assert_array_equal(regressions.rss_changing(node, mask(parents)), np.where(inside, dropping, adding))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_dense_designs_keep_their_digits(seed):
    X, regressions = dense(50, 1000, seed)
    rng = np.random.default_rng(seed)
    for _ in range(40):
        node, parents = drawn(50, rng)
        rest = sorted(set(range(50)) - {node, *parents})
        assert regressions.rss(node, mask(parents)) == pytest.approx(oracles.rss(X, node, parents), rel=1e-6)
        for k in rest[:3]:
            expected = oracles.rss(X, node, [*parents, k])
            assert regressions.rss_adding(node, mask(parents))[k] == pytest.approx(expected, rel=1e-6)
        for k in parents[:3]:
            expected = oracles.rss(X, node, [i for i in parents if i != k])
            assert regressions.rss_dropping(node, mask(parents))[k] == pytest.approx(expected, rel=1e-6)


@pytest.mark.thorough
def test_the_root_itself_loses_less_than_the_rows():
    """Against 60 digits from the same R, where cond(R) is about 1e10."""
    X = simulate("homogeneous", p=50, n=200, seed=2).X
    R = Moments.from_rows(X).R
    assert np.linalg.cond(R) > 1e9
    regressions = Regressions(R, 200)
    rng = np.random.default_rng(0)
    for _ in tries(1, 4):
        node, parents = drawn(50, rng, 35)
        k = next(k for k in range(50) if k != node and k not in parents)
        assert regressions.rss(node, mask(parents)) == pytest.approx(oracles.exact_rss(R, node, parents), rel=1e-8)
        more = oracles.exact_rss(R, node, [*parents, k])
        assert regressions.rss_adding(node, mask(parents))[k] == pytest.approx(more, rel=1e-8)
        less = oracles.exact_rss(R, node, parents[1:])
        assert regressions.rss_dropping(node, mask(parents))[parents[0]] == pytest.approx(less, rel=1e-8)


def test_a_cause_that_explains_nearly_everything_leaves_the_right_remainder():
    rng = np.random.default_rng(3)
    big = 1e9 * rng.standard_normal(500)
    X = np.column_stack([big, big + rng.standard_normal(500), rng.standard_normal(500)])
    regressions = Regressions(triangle(X - X.mean(axis=0)), 500)
    left = regressions.rss_adding(1, 0)
    assert left[0] == pytest.approx(oracles.rss(X, 1, [0]), rel=1e-5)
    assert left[0] == pytest.approx(regressions.rss(1, 0b001), rel=1e-9)


@pytest.mark.parametrize("p", [50, 80, thorough(120)])
def test_past_the_digits_of_float64_every_answer_is_still_a_positive_number(p):
    _, regressions = dense(p, 300, 0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        node, parents = drawn(p, rng)
        adding = regressions.rss_adding(node, mask(parents))
        dropping = regressions.rss_dropping(node, mask(parents))[parents]
        for values in (adding, dropping):
            assert np.isfinite(values).all()
            assert (values > 0).all()
        assert (adding <= regressions.rss(node, mask(parents))).all()
        assert (dropping >= regressions.rss(node, mask(parents)) * (1 - 1e-9)).all()


@pytest.fixture(name="redundant")
def redundant_columns():
    """Column 3 is a copy of column 0, column 4 the sum of columns 1 and 2, and column 5 depends on 0, 1 and 2."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    X = np.column_stack([X[:, :3], 2 * X[:, 0], X[:, 1] + X[:, 2], X[:, :3].sum(axis=1) + X[:, 3]])
    return X - X.mean(axis=0)


def test_collinear_parents_add_nothing_and_are_not_missed(redundant):
    regressions = Regressions(triangle(redundant), 200)
    rss = regressions.rss
    assert rss(5, mask([0, 3])) == pytest.approx(rss(5, mask([0])), rel=1e-12)
    assert regressions.rss_adding(5, mask([0]))[3] == rss(5, mask([0]))
    assert rss(5, mask([0, 1, 2, 3, 4])) == pytest.approx(oracles.rss(redundant, 5, [0, 1, 2]), rel=1e-12)
    dropping = regressions.rss_dropping(5, mask([0, 1, 2, 3, 4]))
    assert dropping[:5] == pytest.approx(rss(5, mask([0, 1, 2])), rel=1e-12)
    assert regressions.rss_dropping(5, mask([0, 1, 3]))[1] == pytest.approx(rss(5, mask([0])), rel=1e-12)


def test_a_node_that_is_explained_completely_has_a_tiny_positive_rest(redundant):
    regressions = Regressions(triangle(redundant), 200)
    for node, parents in ((3, [0]), (4, [1, 2]), (4, [1, 2, 5])):
        share = regressions.rss(node, mask(parents)) / regressions.rss(node, 0)
        assert share > 0
        assert share < 1e-24


def test_the_order_of_the_questions_makes_no_difference():
    _, cold = dense(20, 200, 1)
    _, warm = dense(20, 200, 1)
    rng = np.random.default_rng(1)
    node, parents = drawn(20, rng, 12)
    for size in range(len(parents)):
        warm.rss(node, mask(parents[:size]))
    for answer in ("rss", "rss_adding", "rss_dropping"):
        ours = getattr(cold, answer)(node, mask(parents))
        np.testing.assert_allclose(getattr(warm, answer)(node, mask(parents)), ours, rtol=1e-9)


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MOST_CACHE_BYTES", 1)
    _, small = dense(10, 100, 0)
    monkeypatch.undo()
    _, large = dense(10, 100, 0)
    rng = np.random.default_rng(0)
    for _ in range(200):
        node, parents = drawn(10, rng)
        assert small.rss(node, mask(parents)) == pytest.approx(large.rss(node, mask(parents)), rel=1e-10)
    assert len(small._factors) <= 16 < len(large._factors)


def test_the_root_is_left_alone_and_what_is_cached_cannot_be_changed():
    X = simulate("heterogeneous", p=6, n=50, seed=0).X
    R = np.array(Moments.from_rows(X).R)
    before = R.copy()
    regressions = Regressions(R, 50)
    answer = regressions.rss_changing(0, 0b110)
    regressions.rss(0, 0b111110)
    np.testing.assert_array_equal(R, before)
    with pytest.raises(ValueError, match="read-only"):
        answer[0] = 1.0


@given(nodes=st.sets(st.integers(0, 200)))
def test_members_of_a_mask(nodes):
    assert members(mask(nodes)) == sorted(nodes)


@pytest.mark.parametrize("size", [2.0**-300, 1.0, 2.0**300])
def test_no_rest_is_below_the_rounding_of_the_column_itself(size):
    R = np.zeros((3, 3))
    R[0], R[1, 2] = [1.0, 2.0, 0.0], 1.0  # the second column is twice the first
    regressions = Regressions(R * size, 10)
    floor = max((2.0 * np.finfo(float).eps * size) ** 2, np.finfo(float).tiny)
    assert regressions.rss(1, 0b001) == regressions.rss_adding(1, 0)[0] == floor
