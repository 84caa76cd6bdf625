"""Residual variances from a Gram matrix, and the same from the root: what `Trees` and the sampler ask of either."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles
from oracles.gds import exact_rss
from strategies.tables import tables

from ordag.common.linalg import inverse, lengths
from ordag.data.moments import Moments
from ordag.learners.pooled import variances as module
from ordag.learners.pooled.variances import (
    GramRegressions,
    OwnVariances,
    RootRegressions,
    least_eigenvalue,
    log_variances,
)
from ordag.model import simulate

seeds = st.integers(0, 2**32 - 1)


def by_gram(X):
    moments = Moments.from_rows(X)
    scale = lengths(moments.R)
    columns = moments.R / scale
    C = columns.T @ columns
    np.fill_diagonal(C, 1.0)
    return GramRegressions(C, scale**2, moments.n)


def by_root(X):
    return RootRegressions(Moments.from_rows(X))


both = pytest.mark.parametrize("make", [by_gram, by_root])


def mask(nodes):
    return sum(1 << int(k) for k in nodes)


def exact_v(X, node, parents):
    return np.log(exact_rss(X, node, parents))


def drawn(p, rng):
    node = int(rng.integers(p))
    others = [k for k in range(p) if k != node]
    return node, [int(k) for k in rng.permutation(others)[: rng.integers(p)]]


@pytest.mark.slow
@both
@given(X=tables(), seed=seeds)
def test_log_variance_candidates_and_dropping_are_those_of_the_rows(make, X, seed):
    p = X.shape[1]
    rng = np.random.default_rng(seed)
    variances, rows = make(X), oracles.Rows(X)
    assert (variances.n, variances.p) == X.shape
    for _ in range(4):
        node, parents = drawn(p, rng)
        here = rows.v(node, parents)
        assert variances.log_variance(node, mask(parents)) == pytest.approx(here, abs=1e-8)
        after = {k: rows.v(node, [*parents, k]) for k in range(p) if k != node and k not in parents}
        best = min(after.values(), default=here)
        for limit in (here, (here + best) / 2.0, best - 1e-6, here - 0.05, -np.inf):
            found, values = variances.candidates(node, mask(parents), limit)
            inside = [k for k in found if k in after and after[k] < limit]
            assert set(inside) >= {k for k, v in after.items() if v < limit - 1e-8}
            assert all(v < limit + 1e-8 for v in values)
            assert values == sorted(values)
            np.testing.assert_allclose(values, [after.get(k, here) for k in found], atol=1e-8)
        if parents:
            nodes, values = variances.log_dropping(node, mask(parents))
            assert sorted(nodes.tolist()) == sorted(parents)
            without = [rows.v(node, [k for k in parents if k != gone]) for gone in nodes.tolist()]
            np.testing.assert_allclose(values, without, atol=1e-8)


@both
@given(X=tables(), seed=seeds)
def test_without_a_limit_all_others_are_candidates_and_nobody_else(make, X, seed):
    p = X.shape[1]
    node, parents = drawn(p, np.random.default_rng(seed))
    found, values = make(X).candidates(node, mask(parents), np.inf)
    assert sorted(found) == [k for k in range(p) if k != node and k not in parents]
    assert np.isfinite(values).all()


@both
def test_who_explains_nothing_at_all_is_a_candidate_where_there_is_no_limit(make):
    X = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]] * 3)
    found, values = make(X).candidates(0, 0b10, np.inf)
    assert found == [2]
    assert values == pytest.approx([0.0])
    assert make(X).candidates(0, 0b10, -1e-9)[0] == []


@pytest.mark.parametrize("seed", range(3))
def test_both_agree_where_both_have_the_digits(seed):
    X = simulate("heterogeneous", 12, 200, seed).X
    gram, root = by_gram(X), by_root(X)
    rng = np.random.default_rng(seed)
    for _ in range(50):
        node, parents = drawn(12, rng)
        if not parents:
            continue
        assert gram.log_variance(node, mask(parents)) == pytest.approx(root.log_variance(node, mask(parents)), abs=1e-9)
        limit = gram.log_variance(node, mask(parents)) - 0.01
        ours, theirs = gram.candidates(node, mask(parents), limit), root.candidates(node, mask(parents), limit)
        assert ours[0] == theirs[0]
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-9)
        here, there = gram.log_dropping(node, mask(parents)), root.log_dropping(node, mask(parents))
        np.testing.assert_allclose(here[1][here[0].argsort()], there[1][there[0].argsort()], atol=1e-9)


def test_what_is_kept_is_bounded(monkeypatch):
    X = simulate("heterogeneous", 10, 100, 0).X
    large = by_gram(X)
    monkeypatch.setattr(module, "MEMORY", 1)
    small = by_gram(X)
    rng = np.random.default_rng(0)
    for _ in range(400):
        node, parents = drawn(10, rng)
        if not parents:
            continue
        here, there = small.log_dropping(node, mask(parents)), large.log_dropping(node, mask(parents))
        assert dict(zip(here[0], here[1], strict=True)) == pytest.approx(
            dict(zip(there[0], there[1], strict=True)), abs=1e-9
        )
    assert len(small._factors) <= 64 < len(large._factors)


@pytest.mark.thorough
def test_large_sets_of_ill_conditioned_columns():
    moments = Moments.from_rows(simulate("homogeneous", 50, 200, 0).X)
    X = moments.R / np.sqrt(200)  # as good as the rows, and fewer
    root = log_variances(moments, inverse(np.asfortranarray(moments.R.T)))
    assert isinstance(root, RootRegressions)
    rng = np.random.default_rng(0)
    for size in (1, 10, 40):
        chosen = rng.permutation(50)[: size + 1].tolist()
        node, parents = chosen[0], chosen[1:]
        assert root.log_variance(node, mask(parents)) == pytest.approx(exact_v(X, node, parents), abs=1e-6)
    nodes, values = root.log_dropping(node, mask(parents))
    found, after = root.candidates(node, mask(parents), np.inf)
    for at in (0, 39):
        left = [k for k in parents if k != nodes[at]]
        assert values[at] == pytest.approx(exact_v(X, node, left), abs=1e-6)
    assert after[0] == pytest.approx(exact_v(X, node, [*parents, found[0]]), abs=1e-6)


@given(X=tables(max_p=9))
def test_the_bound_on_the_least_eigenvalue_is_one(X):
    moments = Moments.from_rows(X)
    bound = least_eigenvalue(inverse(np.asfortranarray(moments.R.T)), lengths(moments.R))
    least = np.linalg.eigvalsh(np.corrcoef(X, rowvar=False)).min()
    assert least / X.shape[1] * (1 - 1e-6) <= bound <= least * (1 + 1e-6)


def test_the_root_serves_where_the_gram_matrix_cannot():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    for distance, kind in ((1e-2, GramRegressions), (1e-5, RootRegressions)):
        X[:, 3] = X[:, 0] + distance * rng.standard_normal(100)
        moments = Moments.from_rows(X)
        variances = log_variances(moments, inverse(np.asfortranarray(moments.R.T)))
        assert isinstance(variances, kind)
        assert variances.log_variance(3, 0b1) == pytest.approx(oracles.exact_v(X, 3, [0]), abs=1e-8)
        assert variances.log_variance(3, 0b111) == pytest.approx(oracles.exact_v(X, 3, [0, 1, 2]), abs=1e-8)


@given(seed=seeds)
def test_with_few_rows_small_sets_are_those_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    n, p = 24, 40
    X = rng.standard_normal((n, 6)) @ rng.standard_normal((6, p)) + rng.standard_normal((n, p))
    few = log_variances(Moments.from_rows(X), None)
    assert few.most == 6
    node, *parents = rng.permutation(p)[: int(rng.integers(2, 7))].tolist()
    centred = X - X.mean(axis=0)

    def literal(members):
        A = centred[:, members]
        rest = (
            centred[:, node] - A @ np.linalg.lstsq(A, centred[:, node], rcond=None)[0] if members else centred[:, node]
        )
        return np.log(rest @ rest / n)

    assert few.log_variance(node, mask(parents)) == pytest.approx(literal(parents), abs=1e-9)
    joining, values = few.candidates(node, mask(parents), np.inf)
    assert len(joining) == p - 1 - len(parents)
    for k, value in list(zip(joining, values, strict=True))[:3]:
        assert value == pytest.approx(literal([*parents, k]), abs=1e-8)
    leaving, without = few.log_dropping(node, mask(parents))
    for k, value in zip(leaving, without, strict=True):
        assert value == pytest.approx(literal([j for j in parents if j != k]), abs=1e-8)
    full = mask(rng.permutation(p)[:6])
    assert few.candidates(node, full & ~(1 << node), np.inf)[0] or full.bit_count() == (full & ~(1 << node)).bit_count()
    assert few.candidates(next(j for j in range(p) if not full >> j & 1), full, np.inf) == ([], [])


def test_with_few_rows_a_twin_adds_nothing():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((20, 30))
    X[:, 1] = X[:, 0] + 1e-9 * rng.standard_normal(20)
    few = log_variances(Moments.from_rows(X), None)
    alone, both_of_them = few.log_variance(5, mask([0, 3])), few.log_variance(5, mask([0, 1, 3]))
    assert both_of_them == alone
    nodes, values = few.log_dropping(5, mask([0, 1, 3]))
    assert values[nodes.tolist().index(1)] == pytest.approx(alone)
    assert 1 not in few.candidates(5, mask([0, 3]), np.inf)[0]
    assert np.isfinite(few.log_variance(1, mask([0])))


def test_the_least_eigenvalue_of_many_variables_is_estimated_by_powers(monkeypatch):
    X = np.random.default_rng(0).standard_normal((200, 12)) * np.logspace(-2, 2, 12)
    X[:, 3] = 1e4 * X[:, 2] + 0.1 * X[:, 3]
    moments = Moments.from_rows(X)
    monkeypatch.setattr(module, "LARGE", 11)
    estimate = least_eigenvalue(inverse(np.asfortranarray(moments.R.T)), lengths(moments.R))
    assert estimate == pytest.approx(np.linalg.eigvalsh(np.corrcoef(X.T))[0] / 2.0, rel=1e-6)


def test_equations_of_their_own_all_take_as_many_parents_as_the_one_that_takes_fewest():
    X = np.random.default_rng(0).standard_normal((40, 4))
    C = np.corrcoef(X.T)
    few, many = (GramRegressions(C, np.full(4, 40.0), 40, most) for most in (1, 2))
    own = OwnVariances([few, many], [0, 1, 1, 1])
    assert set(own.candidates(1, 0, np.inf)[0]) == {0, 2, 3}
    assert own.candidates(1, 0b1, np.inf) == ([], [])
