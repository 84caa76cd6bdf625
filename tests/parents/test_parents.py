"""Step 2 against regressions, exact arithmetic, definitions, and stored values from R."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from budgets import thorough
from hypothesis import given
from oracles import ordering as oracles
from strategies.tables import tables

from ordag import Moments, learn, simulate
from ordag.errors import SettingError
from ordag.order.factor import Factor
from ordag.order.least_squares import forward
from ordag.order.rounding import column_lengths
from ordag.parents import select
from ordag.parents.bic import backward_elimination, expected_false
from ordag.parents.tests import (
    CRITICAL,
    TESTS,
    correlation_noise,
    correlations_of,
    correlations_with,
    fisher_z,
    p_values,
    partial_correlations,
    rejected,
    slabs,
)

REFERENCE = Path(__file__).parents[1] / "reference"
SETS = sorted(path.stem for path in (REFERENCE / "data").glob("*.csv"))


@pytest.mark.slow
@given(tables(max_p=6))
def test_every_p_value_is_that_of_a_regression(X):
    ordering = forward(Moments.from_rows(X))
    order = ordering.order.tolist()
    for name, test in TESTS.items():
        values = p_values(partial_correlations(ordering.W), ordering.n, test)
        for m in range(1, len(order)):
            for j in range(m):
                expected = oracles.edge_p_value(X, order, m, j, name)
                if expected > 1e-12:
                    assert values[m, j] == pytest.approx(expected, rel=1e-6)
        assert (values[np.triu_indices(len(order))] == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize(("p", "n"), [(20, 200), thorough(50, 1000), *(thorough(p, 200) for p in (50, 80))])
def test_p_values_of_dense_designs_agree_with_exact_arithmetic(p, n):
    """To 1e-6 where the data carry the digits (the step's own bound says so), and to that bound elsewhere."""
    X = simulate("homogeneous", p, n, 5).X
    order, L = oracles.exact_factor(X)
    r = oracles.exact_partial_correlations(L)
    ordering = forward(Moments.from_rows(X))
    assert ordering.order.tolist() == order
    ours = p_values(partial_correlations(ordering.W), n, fisher_z)
    exact = fisher_z(r, n, np.maximum(np.arange(p) - 1.0, 0.0)[:, None])
    seen = np.tril(np.ones((p, p), dtype=bool), -1) & (exact > 1e-12)
    error = np.abs(ours / np.where(seen, exact, 1.0) - 1)
    allowed = np.maximum(1e-6, 200 * ordering.uncertainty)[:, None]
    assert (error <= allowed)[seen].all()
    assert seen[ordering.uncertainty < 1e-9].sum() > 20
    assert ((ours <= 0.01) == (exact <= 0.01)).all()
    c = ordering.factor.condition(column_lengths(ordering.moments)[ordering.order])
    bound = np.zeros((p, p))
    for slab, rounding in correlation_noise(ordering.factor, c, squared=False):
        bound[slab.start : slab.stop, : slab.stop] = rounding
    assert (np.abs(partial_correlations(ordering.W) - r) <= bound + 1e-9).all()
    assert bound.max() < 3.0 * ordering.uncertainty.max()


@pytest.mark.parametrize("name", SETS)
def test_p_values_and_graph_equal_those_of_r(name):
    exact = json.loads((REFERENCE / "ordering" / f"{name}__alg1_exact.json").read_text())
    fit = learn(REFERENCE / "data" / f"{name}.csv", alpha=0.01)
    np.testing.assert_array_equal(fit.graph.adjacency, np.array(exact["adjacency"], dtype=bool))
    place = np.argsort(fit.ordering.order)
    for i, row in enumerate(exact["pvalue"]):
        for j, expected in enumerate(row):
            if expected is not None and expected > 1e-12:
                assert fit.selection.p_values[place[j], place[i]] == pytest.approx(expected, rel=1e-6)


def test_partial_correlations_over_several_blocks():
    X = np.random.default_rng(0).standard_normal((900, 300))
    W = forward(Moments.from_rows(X)).W
    K = np.linalg.inv(np.linalg.inv(W[:300]) @ np.linalg.inv(W[:300]).T)
    r = partial_correlations(W)
    np.testing.assert_allclose(r[-1, :-1], -K[-1, :-1] / np.sqrt(K[-1, -1] * K.diagonal()[:-1]), rtol=1e-8, atol=1e-10)


@given(tables(max_p=6))
def test_bic_is_literal_backward_elimination(X):
    ordering = forward(Moments.from_rows(X))
    order = ordering.order.tolist()
    kept = backward_elimination(ordering.L, ordering.W, ordering.n)
    for m in range(1, len(order)):
        assert [order[j] for j in np.flatnonzero(kept[m])] == sorted(
            oracles.bic_parents(X, order[m], order[:m]), key=order.index
        )


@pytest.mark.slow
def test_bic_of_an_ill_conditioned_design_is_literal_backward_elimination():
    X = simulate("homogeneous", 30, 300, 2).X
    ordering = forward(Moments.from_rows(X))
    order = ordering.order.tolist()
    kept = backward_elimination(ordering.L, ordering.W, ordering.n)
    for m in (5, 12, 20, 29):
        assert {order[j] for j in np.flatnonzero(kept[m])} == set(oracles.bic_parents(X, order[m], order[:m]))


def test_corrections_are_what_they_say():
    X = simulate("erdos-renyi", 15, 300, 4).X
    ordering = forward(Moments.from_rows(X))
    tested = np.tril_indices(15, -1)
    plain = select(ordering, alpha=0.05)
    values = plain.p_values[tested]
    assert plain.expected_false == pytest.approx(0.05 * math.comb(15, 2))
    for name in TESTS:
        chosen = select(ordering, alpha=0.05, test=name)
        assert (chosen.parents == (chosen.p_values <= 0.05)).all()
        later, earlier = np.nonzero(chosen.parents)
        np.testing.assert_allclose(chosen.p_values_of(later, earlier), chosen.p_values[later, earlier])
    bonferroni = select(ordering, alpha=0.05, correction="bonferroni")
    assert (bonferroni.parents[tested] == (values <= 0.05 / 105)).all()
    bh = select(ordering, alpha=0.05, correction="bh")
    assert set(np.flatnonzero(bh.parents[tested])) == oracles.benjamini_hochberg(list(values), 0.05)
    assert bh.expected_false == pytest.approx(0.05 * bh.edge_count)
    assert bonferroni.edge_count <= bh.edge_count <= plain.edge_count


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5, 0.999])
@pytest.mark.parametrize("test", [*TESTS, lambda r, n, k: fisher_z(r, n, k)])
@pytest.mark.parametrize("known", [False, True])
def test_a_rate_counted_first_is_that_of_all_p_values_sorted(alpha, test, known, monkeypatch):
    """With so many pairs that their p-values are never held at once, the threshold is the same to the last digit."""
    p = 40
    masks = {}
    if known:
        random = np.random.default_rng(5)
        masks = {"allowed": random.random((p, p)) < 0.7, "required": np.zeros((p, p), dtype=bool)}
    ordering = forward(Moments.from_rows(simulate("er2", p, 150, 1).X))
    if known:
        masks["required"][ordering.order[3], ordering.order[30]] = masks["allowed"][
            ordering.order[3], ordering.order[30]
        ] = True
    plain = select(ordering, alpha=alpha, test=test, correction="bh", **masks)
    monkeypatch.setattr("ordag.parents.by_tests.MANY_PAIRS", 0)
    counted = select(ordering, alpha=alpha, test=test, correction="bh", **masks)
    assert counted.threshold == plain.threshold
    np.testing.assert_array_equal(counted.edges, plain.edges)
    tested = np.tri(p, k=-1, dtype=bool)
    if known:
        placed = np.ix_(ordering.order, ordering.order)
        tested &= (masks["allowed"] & ~masks["required"])[placed].T
    values = plain.p_values[tested]
    found = {(m, j) for m, j in zip(*plain.edges, strict=True) if tested[m, j]}
    pairs = list(zip(*np.nonzero(tested), strict=True))
    assert found == {pairs[k] for k in oracles.benjamini_hochberg(values.tolist(), alpha)}
    assert len(plain.edges[0]) == len(found) + known


def test_slabs_and_single_pairs_hold_what_the_matrix_holds(monkeypatch):
    p = 300  # several slabs
    random = np.random.default_rng(0)
    factor = Factor.of(np.tril(random.standard_normal((p, p)) / 20) + np.eye(p))
    r = partial_correlations(factor.W)
    from_slabs = np.zeros((p, p))
    for slab in slabs(factor):
        from_slabs[slab.start : slab.stop, : slab.stop] = np.where(slab.pairs, slab.r, 0.0)
        later, earlier = slab.positions(slab.pairs)
        np.testing.assert_array_equal(slab.r[slab.pairs], r[later, earlier])
    np.testing.assert_array_equal(from_slabs, r)
    later, earlier = np.nonzero(np.tril(random.random((p, p)) < 0.02, -1))
    mixed = random.permutation(len(later))
    later, earlier = later[mixed], earlier[mixed]
    np.testing.assert_array_equal(correlations_of(factor, later, earlier), r[later, earlier])
    assert len(correlations_of(factor, later[:0], earlier[:0])) == 0
    some = [1, 2, 217, 218, 299]
    rows = dict(correlations_with(factor, some))
    assert list(rows) == some
    for m, row in rows.items():
        np.testing.assert_array_equal(row, r[m, :m])
    assert not list(correlations_with(factor, []))


def test_pairs_up_to_a_level_leave_out_those_above_it():
    chosen = select(forward(Moments.from_rows(np.random.default_rng(5).standard_normal((100, 30)))))
    found = np.concatenate([p_values for *_, p_values in chosen.up_to([0.2])])
    everything = chosen.p_values[np.tril_indices(30, -1)]
    np.testing.assert_allclose(np.sort(found), np.sort(everything[everything <= 0.2]))
    assert 0 < len(found) < len(everything)


@pytest.mark.parametrize("test", CRITICAL)
def test_a_correlation_of_exactly_the_least_is_sure(test):
    (least,) = CRITICAL[test](0.05, 20, np.zeros(1))
    for r in (least, -least):
        assert rejected(np.array([[0.0, 0.0], [r, 0.0]]), 20, test, 0.05).tolist() == [[False, False], [True, False]]


def test_edges_are_the_mask_of_parents():
    chosen = select(forward(Moments.from_rows(simulate("er2", 12, 200, 1).X)), alpha=0.05)
    np.testing.assert_array_equal(chosen.edges, np.nonzero(chosen.parents))
    assert chosen.edge_count == chosen.parents.sum() > 0


def test_benjamini_hochberg_without_any_edge():
    X = np.random.default_rng(3).standard_normal((200, 4))
    assert learn(X, correction="bh", alpha=1e-9).graph.edge_count == 0


@pytest.mark.parametrize("correction", ["none", "bonferroni", "bh"])
def test_a_p_value_just_below_the_level_joins_and_one_just_above_does_not(correction):
    ordering = forward(Moments.from_rows(np.random.default_rng(4).standard_normal((40, 2))))
    (p_value,) = select(ordering).p_values[np.tril_indices(2, -1)]
    for alpha, edges in ((p_value * (1 + 1e-9), 1), (p_value * (1 - 1e-9), 0)):
        assert len(select(ordering, alpha=alpha, correction=correction).edges[0]) == edges


def test_a_test_of_ones_own():
    seen = []

    def sign_only(r, n, k):
        seen.append((r.shape, n, k.shape))
        return np.where(r > 0.3, 0.0, 1.0)

    fit = learn("marks", test=sign_only)
    assert seen[0][1] == 88
    assert fit.settings["test"] == "sign_only"
    assert fit.graph.directed == learn("marks", test=lambda r, n, k: 1.0 * (r <= 0.3)).graph.directed


def test_a_test_that_is_asked_for_takes_the_place_of_that_of_the_order():
    ordering = forward(Moments.from_rows(simulate("erdos-renyi", 5, 200, 1).X))
    own = np.random.default_rng(0).random((5, 5))
    testing = replace(ordering, p_values=own)
    np.testing.assert_array_equal(select(testing, alpha=0.3).parents, np.tril(own <= 0.3, -1))
    asked, without = select(testing, alpha=0.3, test="fisher-z"), select(ordering, alpha=0.3)
    np.testing.assert_array_equal(asked.parents, without.parents)
    assert (asked.parents != np.tril(own <= 0.3, -1)).any()


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, float("nan"), "much", None, True])
def test_a_level_lies_between_0_and_1(alpha):
    with pytest.raises(SettingError, match="between 0 and 1"):
        learn("marks", alpha=alpha)


@pytest.mark.slow
def test_level_of_the_tests_under_the_true_order():
    """Under independence every test rejects about alpha of the pairs (binomial error over 20,000 pairs)."""
    rng = np.random.default_rng(0)
    shares = dict.fromkeys(TESTS, 0)
    for _ in range(40):
        ordering = forward(Moments.from_rows(rng.standard_normal((400, 32))))
        for name, test in TESTS.items():
            shares[name] += int((p_values(partial_correlations(ordering.W), 400, test) <= 0.05).sum())
    pairs = 40 * math.comb(32, 2)
    for name in ("fisher-z", "t"):
        assert shares[name] / pairs == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / pairs) + 0.001)
    assert 0.045 < shares["mutual-information"] / pairs < 0.075


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("p", "n", "degree", "tables"), [(20, 30, 0, 12), thorough(25, 60, 2, 6), thorough(20, 200, 3, 20)]
)
def test_bic_announces_about_as_many_false_edges_as_it_finds(p, n, degree, tables):
    announced = found = 0
    for seed in range(tables):
        drawn = simulate("erdos-renyi", p, n, seed=seed, degree=degree)
        order = list(drawn.sem.order)
        truth = drawn.dag.adjacency[np.ix_(order, order)].T
        Z = drawn.X[:, order] - drawn.X[:, order].mean(axis=0)
        L = np.linalg.cholesky(Z.T @ Z)
        kept = backward_elimination(L, np.linalg.inv(L), n)
        found += int((kept & ~truth).sum())
        announced += expected_false(L, kept, n)
    assert 0.75 < announced / found < 1.3


def test_the_number_that_bic_announces_keeps_to_what_is_known_and_repeats():
    X = simulate("erdos-renyi", 8, 60, seed=1, degree=2).X
    first, second = (learn(X, "cvs", parents="bic").expected_false_edges for _ in range(2))
    assert first == second
    roots = learn(X, "cvs", parents="bic", knowledge={"roots": ", ".join(f"X{j}" for j in range(1, 9))})
    assert roots.expected_false_edges == 0


def test_a_false_discovery_rate_is_one_of_edges(run):
    _, out, _ = run("learn", "marks", "--method", "cvs", "--correction", "bh", "--alpha", "0.05")
    assert "false-discovery rate of edges of 0.05" in " ".join(out.split())
    assert "wrong directions come on top" in " ".join(out.split())
    assert "not of directions" in " ".join(run("learn", "--help")[1].split())
