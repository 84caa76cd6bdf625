"""The pooled search where the equation of each variable has moments of its own, against literal regressions on the rows that count."""

from __future__ import annotations

import numpy as np
import pytest
from budgets import tries
from oracles import experiments as oracle
from oracles import pooled as oracles

import ordag
from ordag import Dag, Moments
from ordag.assess.forecast import _conditions
from ordag.common.bits import members
from ordag.data.equations import Equations
from ordag.data.table import Table
from ordag.errors import CollinearError, SettingError, TooFewRowsError
from ordag.learners.cvs import CvsSettings
from ordag.learners.methods import learn_from
from ordag.learners.pooled.resampled import Resampled, redrawn
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.search import pooled_search
from ordag.learners.pooled.variances import own_log_variances
from ordag.model.refit import refit
from ordag.order import find_order


def acted_on(p, seed, *, conditions=3, rows=70, few=25):
    """Rows of a random model, with experiments on one variable each, whose equation is replaced there; and their equations."""
    rng = np.random.default_rng(seed)
    B = np.triu(rng.uniform(0.4, 1.5, (p, p)) * rng.choice([-1, 1], (p, p)), 1) * (rng.random((p, p)) < 0.6)
    targets = [frozenset(), *(frozenset([int(j)]) for j in rng.permutation(p)[:conditions])]
    scale, shuffled = np.exp(rng.normal(0, 0.5, p)), rng.permutation(p)
    parts, labels = [], []
    for label, own in enumerate(targets):
        n = rows if label == 0 else few
        C = B.copy()
        C[:, list(own)] = 0.0
        E = rng.standard_normal((n, p)) * np.where(np.isin(np.arange(p), list(own)), 2.0, scale) + 3.0 * label
        parts.append(np.linalg.solve((np.eye(p) - C).T, E.T).T[:, shuffled])
        labels += [label] * n
    place = np.argsort(shuffled)
    return np.concatenate(parts), np.array(labels), [frozenset(int(place[j]) for j in own) for own in targets]


def labelled(X, labels, targets, names):
    """The table with a column that says which variables were acted on."""
    what = [";".join(names[j] for j in sorted(targets[label])) for label in labels]
    return Table({**dict(zip(names, X.T, strict=True)), "what": what}, experiment="what")


class Case:
    def __init__(self, p, seed, **more):
        self.X, self.labels, self.targets = acted_on(p, seed, **more)
        self.names = [f"x{j}" for j in range(p)]
        self.rows = oracle.Rows(self.X, self.labels, self.targets)
        self.table = labelled(self.X, self.labels, self.targets, self.names)
        self.moments, self.profile = self.table.moments, self.table.profile
        self.equations = Equations.of(self.moments)

    def searched(self, **more):
        ordering = find_order(Table(self.moments.pooled()))
        given = {"equations": self.equations, "labels": self.profile.labels, **more}
        return ordering.order, pooled_search(ordering, spread=1.0, **given)


def test_log_variances_are_those_of_regressions_on_the_rows_that_count():
    case = Case(5, 1)
    variances = own_log_variances(case.equations, 7)
    for j in range(5):
        for mask in range(32):
            if mask >> j & 1:
                continue
            assert variances.log_variance(j, mask) == pytest.approx(case.rows.v(j, members(mask)), abs=1e-9)
            nodes, without = variances.log_dropping(j, mask) if mask else ((), ())
            for i, value in zip(nodes, without, strict=True):
                assert value == pytest.approx(case.rows.v(j, members(mask & ~(1 << int(i)))), abs=1e-9)
            for w, value in zip(*variances.candidates(j, mask, np.inf), strict=True):
                assert value == pytest.approx(case.rows.v(j, members(mask | 1 << w)), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(2, 20))
@pytest.mark.parametrize("p", [4, 6, 9])
def test_no_graph_has_a_lower_sum(p, seed):
    """By all graphs, by all sets, by the search over orders: the terms are those of the literal regressions."""
    case = Case(p, 10 * p + seed)
    order, found = case.searched()
    best, score = found.best, PooledScore([case.rows.count(j) for j in order], p)
    v = [case.rows.v(order[j], [order[i] for i in members(mask)]) for j, mask in enumerate(best.parents)]
    assert best.score == pytest.approx(score.total(np.array(v), best.edges), abs=1e-6)
    if p > 6:
        for j, mask in enumerate(best.parents):  # no arrow less lowers the score
            for i in members(mask):
                fewer = list(v)
                fewer[j] = case.rows.v(order[j], [order[k] for k in members(mask) if k != i])
                assert score.total(np.array(fewer), best.edges - 1) > best.score - 1e-6
        return
    local = found.score.local(best.v, best.edges)

    def cost(j, parents):
        own = case.rows.v(order[j], [order[i] for i in parents])
        return oracles.term(own, local.half[j], local.mean[j], local.weight[j]) + local.price * len(parents)

    here = sum(cost(j, frozenset(members(mask))) for j, mask in enumerate(best.parents))
    assert oracles.best_over_sets(p, cost) == pytest.approx(here, abs=1e-6)


@pytest.mark.parametrize("p", [4, 9])
def test_the_same_moments_for_all_change_nothing(p):
    X = oracles.random_rows(p, 200, np.random.default_rng(p), density=0.6, spread=1.0)
    table, same = Table(X), Equations((Moments.from_rows(X),), (0,) * p, np.zeros((1, 1), int))
    ordering = find_order(table)
    first, second = (pooled_search(ordering, spread=1.0, equations=one, kicks=3) for one in (None, same))
    assert first.best.parents == second.best.parents
    assert first.best.score == pytest.approx(second.best.score, abs=1e-8)
    assert first.score.each == second.score.each == [200] * p


def test_a_given_graph_is_fitted_to_the_rows_that_count():
    case = Case(5, 3)
    graph = Dag(case.names, np.triu(np.ones((5, 5), bool), 1))
    fitted = refit(case.table.moments, graph, case.equations)
    for j in range(5):
        parents = list(range(j))
        weights, errors, rss = case.rows.regression(j, parents)
        assert fitted.sem.B[parents, j] == pytest.approx(weights, rel=1e-8)
        assert fitted.std_error[parents, j] == pytest.approx(errors, rel=1e-8)
        df = case.rows.count(j) - 1 - j
        assert fitted.residual_df[j] == df
        assert fitted.sem.omega[j] == pytest.approx(rss / df, rel=1e-9)


def covariance(moments):
    return moments.R.T @ moments.R / moments.n


@pytest.mark.slow
def test_resamples_vary_as_rows_drawn_within_conditions_do():
    case = Case(3, 5, conditions=2, rows=120, few=60)
    order, found = case.searched()
    rng = np.random.default_rng(0)
    drawn = redrawn(found, case.profile.rows[:, order], strength=1.0)
    ours, literal = [], []
    for _ in range(150):
        own = drawn.moments(*drawn.draw(rng))
        ours.append([covariance(own.of_variable(j))[np.triu_indices(3)] for j in range(3)])
        index = np.concatenate(
            [rng.choice(part, len(part)) for part in map(np.flatnonzero, (case.labels[:, None] == range(3)).T)]
        )
        again = labelled(case.X[index], case.labels[index], case.targets, case.names)
        again = Equations.of(again.moments).ordered(order)
        literal.append([covariance(again.of_variable(j))[np.triu_indices(3)] for j in range(3)])
    ours, literal = np.array(ours), np.array(literal)
    mean, sd = literal.mean(axis=0), literal.std(axis=0)
    np.testing.assert_array_less(np.abs(ours.mean(axis=0) - mean), 0.25 * sd + 0.03 * np.abs(mean))
    np.testing.assert_allclose(ours.std(axis=0), sd, rtol=0.3)
    # one resample of the rows lies behind all equations
    for one in range(3):
        for other in range(one):
            a, b = (np.corrcoef(x[:, one].T, x[:, other].T) for x in (ours, literal))
            np.testing.assert_allclose(a, b, atol=0.25)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "rows"), [(4, True), (4, False), (8, True), (8, False)])
def test_probabilities_know_what_experiments_tell(p, rows):
    case = Case(p, 7, conditions=p, rows=200, few=100)
    order, found = case.searched(kicks=5)
    draws = Resampled(found, case.profile.rows[:, order] if rows else None).run(
        [np.random.SeedSequence(k) for k in range(12)]
    )
    mean = np.mean([one.arrows for one in draws], axis=0)
    assert mean.max() <= 1.0 + 1e-9
    assert (mean[found.best.adjacency()] > 0.5).mean() > 0.8
    models = redrawn(found, case.profile.rows[:, order] if rows else None, strength=1.0)
    B = np.mean([models.model(np.random.SeedSequence(k), found.best.adjacency()).B for k in range(30)], axis=0)
    fitted = refit(found.moments, Dag(found.moments.names, found.best.adjacency()), found.equations)
    np.testing.assert_allclose(B, fitted.sem.B, atol=0.15)


@pytest.mark.slow
def test_experiments_direct_arrows_of_drawn_graphs_that_their_class_leaves_open():
    random = np.random.default_rng(0)
    X = random.standard_normal((120, 3)) @ np.linalg.inv(np.eye(3) - np.triu(random.uniform(0.5, 0.8, (3, 3)), 1))
    X[60:, 0] *= 3.0
    data = {f"x{j}": 10.0**j * column for j, column in enumerate(X.T)} | {"what": [""] * 60 + ["x0"] * 60}
    found = ordag.learn(data, experiment="what", draws=12, seed=0).probabilities
    assert (found.told >= found.compelled).all()
    assert (found.told[0, 1:] > found.compelled[0, 1:] + 0.2).all()


@pytest.mark.parametrize("seed", tries(3, 30))
def test_arrows_that_experiments_direct_are_those_of_all_graphs_that_no_experiment_tells_apart(seed):
    rng = np.random.default_rng(seed)
    p = 4
    order = rng.permutation(p)
    dag = np.zeros((p, p), bool)
    dag[np.ix_(order, order)] = np.triu(rng.random((p, p)) < 0.7, 1)
    targets = [frozenset(), *(frozenset(np.flatnonzero(rng.random(p) < 0.4).tolist()) for _ in range(2))]
    alike = [one for one in oracle.all_dags(p) if oracle.same_under(one, dag, targets)]
    shared = np.all(alike, axis=0)
    case = Case(p, seed)
    told = Equations((), tuple(range(p)), np.zeros((0, 0)), tuple(map(tuple, targets))).told_apart
    _, found = case.searched()
    assert (found.compelled_in(dag, told) == shared).all()
    assert (found.compelled_in(dag) <= found.compelled_in(dag, told)).all()


@pytest.mark.parametrize("seed", tries(4, 40))
def test_cvs_orders_and_tests_by_regressions_on_the_rows_that_count(seed):
    case = Case(5, 300 + seed, conditions=1 + seed % 4)
    found = learn_from(case.table, CvsSettings(alpha=0.05))
    order, values = case.rows.cvs()
    assert list(found.plain_order) == order
    later, earlier = np.array(list(values)).T
    said = found.result.evidence(found, earlier, later)["p_value"]
    assert said == pytest.approx(np.array(list(values.values())), rel=1e-6, abs=1e-15)
    joined = {(i, j) for (j, i), value in values.items() if value <= 0.05}
    assert set(zip(*np.nonzero(found.graph.adjacency), strict=True)) == joined
    for (i, j), weight in found.edge_weights.items():
        i, j = case.names.index(i), case.names.index(j)
        parents = sorted(np.flatnonzero(found.graph.adjacency[:, j]).tolist())
        assert weight == pytest.approx(case.rows.regression(j, parents)[0][parents.index(i)], rel=1e-7)


def test_cvs_with_labels_that_act_on_nothing_is_cvs():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 5)) @ np.triu(rng.normal(0.0, 1.0, (5, 5)))
    table = {f"x{j}": column for j, column in enumerate(X.T)}
    plain = ordag.learn(table, "cvs", correction="bh", alpha=0.1)
    same = ordag.learn({**table, "what": ["obs"] * 80}, "cvs", correction="bh", alpha=0.1, experiment="what")
    assert same.order == plain.order
    assert same.graph == plain.graph
    assert same.edges.p_value.tolist() == pytest.approx(plain.edges.p_value.tolist(), rel=1e-9)


def test_cvs_leaves_out_rows_that_would_turn_an_arrow():
    """a → b, equal error variances; where b was held, mixed rows put b first."""
    rng = np.random.default_rng(1)
    a = rng.standard_normal(600)
    b = np.where(np.arange(600) < 200, 0.6 * a + rng.standard_normal(600), 0.01 * rng.standard_normal(600))
    table, what = {"a": a, "b": b}, [""] * 200 + ["b"] * 400
    assert ordag.learn(table, "cvs").order == ("b", "a")
    fit = ordag.learn({**table, "what": what}, "cvs", experiment="what")
    assert fit.order == ("a", "b")
    assert fit.bootstrap(20, seed=0).edges.support.tolist() == [1.0]


def test_cvs_puts_what_was_acted_on_in_all_rows_first_and_keeps_knowledge():
    case = Case(4, 5)
    table = {**dict(zip(case.names, case.X.T, strict=True)), "what": ["x3"] * len(case.X)}
    fit = ordag.learn(table, "cvs", experiment="what")
    assert fit.order[0] == "x3"
    assert not [target for target in fit.edges.target if target == "x3"]
    first = fit.order[-1]
    later = ordag.learn(
        table, "cvs", experiment="what", knowledge={"tiers": [[first], [name for name in case.names if name != first]]}
    )
    assert later.order.index(first) < later.order.index("x3")


def test_cvs_with_experiments_refuses_in_sentences():
    case = Case(4, 5)
    for settings in ({"parents": "adaptive"}, {"variance": "lasso"}, {"split": True}, {"direction": "backward"}):
        with pytest.raises(SettingError, match="each variable is compared and tested on rows of its own"):
            learn_from(case.table, CvsSettings(**settings))
    few = {**dict(zip(case.names, case.X.T, strict=True)), "what": ["x1"] * (len(case.X) - 5) + [""] * 5}
    with pytest.raises(TooFewRowsError, match=r"Rows in which x1 was not acted on count for 5, and .* take 6"):
        ordag.learn(few, "cvs", experiment="what")
    held = np.arange(len(case.X)) < 40
    X = np.where(held[:, None] & (np.arange(4) == 0), 2.0, case.X)
    table = {**dict(zip(case.names, X.T, strict=True)), "what": np.where(held, "x0", "x1").tolist()}
    with pytest.raises(
        CollinearError, match=r"In the rows in which x1 was not acted on \(they count for 40 rows\): .*x0"
    ):
        ordag.learn(table, "cvs", experiment="what", knowledge={"tiers": [["x0"], ["x1", "x2", "x3"]]})


def test_a_forecast_draws_the_experiments_of_the_fitted_model():
    case = Case(4, 9)
    found = learn_from(case.table, CvsSettings(alpha=0.1))
    sem, order = found.sem, np.array(found.sem.order)
    drawn = _conditions(found, sem.B[np.ix_(order, order)], sem.omega[order], order)
    assert [one.label for one in drawn] == [one.label for one in case.moments.conditions]
    for one, given, targets in zip(drawn, case.moments.conditions, found.equations.targets, strict=True):
        B, omega = sem.B.copy(), sem.omega.copy()
        for j in targets:
            B[:, j] = 0.0
            omega[j] = given.root.R[:, j] @ given.root.R[:, j] / (given.root.n - 1)
        total = np.linalg.inv(np.eye(4) - B)
        covariance = (total.T * omega) @ total
        assert one.root.R.T @ one.root.R / (one.root.n - 1) == pytest.approx(covariance[np.ix_(order, order)])
        assert one.root.mean == pytest.approx(given.root.mean[order])


@pytest.mark.slow
def test_an_experiment_on_every_variable_gives_the_dag_in_any_units():
    for seed in range(2):
        drawn = ordag.simulate("erdos-renyi", 6, 24_000, degree=3, seed=seed, experiments=6)
        names, units = drawn.sem.dag.nodes, 10.0 ** np.random.default_rng(seed).uniform(-2, 2, 6)
        table = dict(zip(names, (drawn.X * units).T, strict=True)) | {"what": np.array(drawn.experiments)}
        fit = ordag.learn(table, "pooled", experiment="what", draws=0)
        assert set(fit.graph.directed) == set(drawn.sem.dag.directed)
