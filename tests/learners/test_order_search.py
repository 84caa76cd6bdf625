"""The search over orders against exhaustive search, what it promises of its answer, and the compiled loops against the plain ones."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest
from budgets import tries
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles

from ordag import Knowledge, Moments
from ordag.bits import members, packed_columns
from ordag.graph.acyclic import topological_order
from ordag.learners.order_search import engine, layout
from ordag.learners.order_search import kernel as compiled_kernel
from ordag.learners.order_search.engine import OrderSearch
from ordag.learners.pooled.descent import Optimum
from ordag.learners.pooled.score import FreeScore, PooledScore
from ordag.learners.pooled.variances import GramRegressions, RootRegressions
from ordag.linalg import lengths


@pytest.fixture(scope="module")
def plain():
    """The kernel as it stands, not compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORDAG_COMPILED", "0")
        spec = importlib.util.spec_from_file_location("plain_kernel", compiled_kernel.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def gram(X, most=None):
    moments = Moments.from_rows(X)
    C = np.corrcoef(X.T)
    np.fill_diagonal(C, 1.0)
    return GramRegressions(C, lengths(moments.R) ** 2, moments.n, most)


def start(score, variances, order=None, known=None):
    """The graph of the arrows that must be, along an order."""
    p = score.p
    parents = [0] * p if known is None else packed_columns(known.required)
    v = np.array([variances.log_variance(j, parents[j]) for j in range(p)])
    edges = sum(mask.bit_count() for mask in parents)
    return Optimum(score.total(v, edges), tuple(range(p) if order is None else order), tuple(parents), v)


def searched(X, score, kernel, *, kicks=0, known=None, variances=None, order=None):
    variances = gram(X) if variances is None else variances
    search = OrderSearch.of(variances, score, known)
    search.kernel = kernel
    found = search.descend(start(score, variances, order, known))
    return search.kicked(found, kicks, 1)[0], search


def rows(p, n, seed, **more):
    return oracles.random_rows(p, n, np.random.default_rng(seed), **more)


def sets(found):
    return [frozenset(members(mask)) for mask in found.parents]


def assert_consistent(found, score, variances):
    """Parents come before, and v and score are those of the graph."""
    place = np.argsort(found.order)
    assert all(place[i] < place[j] for j, parents in enumerate(sets(found)) for i in parents)
    v = [variances.log_variance(j, mask) for j, mask in enumerate(found.parents)]
    np.testing.assert_allclose(found.v, v, atol=1e-9)
    assert found.score == pytest.approx(score.total(np.array(v), found.edges), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(3, 60))
def test_no_graph_over_six_variables_is_better(plain, seed):
    X = rows(6, (30, 100, 400)[seed % 3], seed, density=0.7, spread=1.0)
    score = FreeScore(len(X), 6, math.log(len(X)) / 2.0)
    found, _ = searched(X, score, plain, kicks=30)
    exact = oracles.Rows(X)
    lowest = oracles.best_over_sets(
        6, lambda j, parents: len(X) / 2.0 * exact.v(j, parents) + score.price * len(parents)
    )
    assert found.score == pytest.approx(lowest, abs=1e-6)
    assert_consistent(found, score, gram(X))


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(2, 20))
def test_no_arrow_more_or_less_lowers_the_sum(plain, seed):
    X = rows(9, 200, seed, spread=0.5)
    score, variances = PooledScore(len(X), 9), gram(X)
    found, _ = searched(X, score, plain)
    assert_consistent(found, score, variances)
    local = score.local(found.v, found.edges)
    for j, own in enumerate(found.parents):
        before = found.order[: found.order.index(j)]
        here = local.term(j, variances.log_variance(j, own))
        for i in before:
            other = own ^ 1 << i
            change = local.term(j, variances.log_variance(j, other)) - here
            change += local.price * (other.bit_count() - own.bit_count())
            assert change > -1e-6


@pytest.mark.slow
def test_knowledge_is_kept(plain):
    X = rows(7, 150, 3, density=0.8)
    names = Moments.from_rows(X).names
    free = searched(X, FreeScore(150, 7, 3.0), plain)[0]
    turned = [(names[j], names[i]) for j, parents in enumerate(sets(free)) for i in parents][:2]
    known = Knowledge(required=turned[:1], forbidden=turned[1:], roots=[names[6]]).over(names)
    variances, score = gram(X), FreeScore(150, 7, 3.0)
    order = topological_order(known.before)
    found, _ = searched(X, score, plain, kicks=10, known=known, order=order)
    adjacency = found.adjacency()
    assert (adjacency[known.required]).all()
    assert not (adjacency & ~known.allowed).any()
    place = np.argsort(found.order)
    assert all(place[i] < place[j] for i, j in np.argwhere(known.before))
    assert_consistent(found, score, variances)


@pytest.mark.slow
def test_there_are_no_more_parents_than_may_be(plain):
    X = rows(8, 60, 4, density=0.9)
    found, _ = searched(X, FreeScore(60, 8, 0.1), plain, variances=gram(X, most=2), kicks=5)
    assert max(mask.bit_count() for mask in found.parents) == 2


@pytest.mark.slow
def test_the_root_gives_what_correlations_give_and_keeps_more_digits(plain):
    X = rows(7, 120, 5, spread=1.0)
    score = FreeScore(120, 7, 2.4)
    moments = Moments.from_rows(X)
    one, two = searched(X, score, plain)[0], searched(X, score, plain, variances=RootRegressions(moments))[0]
    assert one.parents == two.parents
    np.testing.assert_allclose(one.v, two.v, atol=1e-9)
    X[:, 6] = X[:, :6].sum(axis=1) + 1e-6 * X[:, 6]
    exact = RootRegressions(Moments.from_rows(X))
    found, _ = searched(X, score, plain, variances=exact)
    v = [exact.log_variance(j, mask) for j, mask in enumerate(found.parents)]
    assert min(v) < -20.0
    np.testing.assert_allclose(found.v, v, atol=1e-6)


@given(
    v=st.floats(-3.0, 3.0),
    weight=st.sampled_from([-1.0, 0.0, 0.3, 5.0]),
    price=st.floats(0.1, 5.0),
)
def test_a_parent_is_worthwhile_from_the_share_on_that_pays_its_price(plain, v, weight, price):
    terms = np.zeros((layout.NUMBERS + 1, 3))
    terms[layout.MEAN], terms[layout.WEIGHT] = 0.5, weight
    terms[layout.NUMBERS, : layout.PRICE + 1] = 50.0, price
    share = plain.worthwhile(terms, 0, v)
    if share < 1.0:
        then = plain.term(terms, 0, v + math.log1p(-share))
        assert plain.term(terms, 0, v) - then == pytest.approx(price, rel=1e-6, abs=1e-6)


def test_equal_variances_have_the_sum_of_residuals(plain):
    """half · exp(v − mean) is the residual sum of squares over twice the variance that all share."""
    terms = np.zeros((layout.NUMBERS + 1, 3))
    terms[layout.MEAN], terms[layout.WEIGHT], terms[layout.NUMBERS, layout.HALF] = math.log(4.0), -1.0, 50.0
    assert plain.term(terms, 1, math.log(6.0)) == pytest.approx(50.0 * 6.0 / 4.0)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer_and_kicks_never_harm(plain):
    X = rows(7, 80, 6, density=0.6, spread=1.0)
    score = PooledScore(80, 7)
    first, second = (searched(X, score, plain, kicks=5)[0] for _ in range(2))
    assert (first.order, first.parents) == (second.order, second.parents)
    assert first.score <= searched(X, score, plain)[0].score


def test_an_interruption_ends_the_threads(plain, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    X = rows(8, 80, 6)
    score, variances = FreeScore(80, 8, 2.0), gram(X)
    search = OrderSearch.of(variances, score, None)
    search.kernel = plain
    monkeypatch.setattr(engine, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search.descend(start(score, variances))
    assert search.told[layout.STOP] == 1


@pytest.mark.thorough
@pytest.mark.parametrize(("p", "n", "root"), [(6, 50, False), (12, 200, False), (12, 200, True), (30, 300, False)])
def test_compiled_and_plain_give_the_same(plain, p, n, root):
    pytest.importorskip("numba")
    X = rows(p, n, p, density=0.3, spread=1.0)
    variances = RootRegressions(Moments.from_rows(X)) if root else gram(X)
    one, two = (
        searched(X, PooledScore(n, p), kernel, kicks=5, variances=variances)[0] for kernel in (plain, compiled_kernel)
    )
    assert one.parents == two.parents
    np.testing.assert_allclose(one.v, two.v, atol=1e-9)
