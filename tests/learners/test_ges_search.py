from types import SimpleNamespace

import numpy as np
import pytest
from ges_cases import as_cpdag, moments, random_dag, rows
from oracles import ges as oracles

from ordag.data.moments import Moments
from ordag.errors import CollinearError, OrdagWarning, PrecisionError, PrecisionWarning, SettingError, TooFewRowsError
from ordag.graph import Cpdag, extend
from ordag.learners.ges import GesStep, ges_search, search
from ordag.learners.ges.operators import Move
from ordag.learners.ges.scores import Scores


def population(dag, p, rng, n=10**7):
    """The exact moments of a random model on the graph, as if of n rows."""
    B = np.zeros((p, p))
    for i, j in dag:
        B[i, j] = rng.uniform(0.4, 1.2) * rng.choice([-1, 1])
    T = np.linalg.inv(np.eye(p) - B)
    return Moments.from_covariance(T.T * rng.uniform(0.5, 2.0, p) @ T, n)


@pytest.mark.parametrize("seed", range(12))
def test_population_moments_give_the_true_class(seed):
    rng = np.random.default_rng(seed)
    for p in (2, 3, 4, 5, 6):
        dag = random_dag(p, 0.5, rng)
        model = population(dag, p, rng)
        assert ges_search(model).graph == as_cpdag(dag, model.names)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phases", "iterate"),
    [
        (("forward", "backward", "turning"), True),
        (("forward", "backward", "turning"), False),
        (("forward", "backward"), False),
        (("turning", "forward", "backward"), True),
        (("forward",), True),
    ],
)
def test_every_step_is_that_of_the_literal_search(phases, iterate):
    rng = np.random.default_rng(3)
    for p, n in [(4, 20), (4, 200), (5, 30), (5, 100)]:
        X = rows(p, n, rng, density=0.8)
        steps: list[GesStep] = []
        result = ges_search(moments(X), phases=phases, iterate=iterate, penalty=0.7, progress=steps.append)
        dag, scores = oracles.search(X, phases, iterate, penalty=0.7)
        assert result.graph == as_cpdag(dag, result.graph.nodes)
        assert [result.score_empty, *(step.score for step in steps)] == pytest.approx(scores, abs=1e-7)
        assert result.score == pytest.approx(scores[-1], abs=1e-7)
        assert sum(count for _, count in result.steps) == len(steps)


def test_every_step_is_reported():
    steps: list[GesStep] = []
    result = ges_search(moments(rows(8, 200, np.random.default_rng(4))), progress=steps.append)
    assert [step.phase for step in steps] == [phase for phase, count in result.steps for _ in range(count)]
    assert all(step.gain > 0 for step in steps)
    assert {step.source for step in steps} | {step.target for step in steps} <= set(result.graph.nodes)
    assert steps[-1].score == pytest.approx(result.score, rel=1e-12)
    assert result.local_scores > len(steps)
    assert 0 < result.uncertainty < 1e-8
    assert [phase for phase, _ in result.steps[:3]] == ["forward", "backward", "turning"]


def test_the_class_is_valid_and_its_dags_score_what_it_scores():
    for seed in range(6):
        X = rows(9, 150, np.random.default_rng(seed))
        result = ges_search(moments(X), penalty=0.5)
        assert result.graph.valid
        dag = frozenset((i, j) for i, j in np.argwhere(extend(result.graph).adjacency).tolist())
        assert result.score == pytest.approx(oracles.score(X, dag, penalty=0.5), rel=1e-11)


@pytest.mark.slow
def test_a_new_order_of_the_columns_gives_the_same_graph():
    rng = np.random.default_rng(5)
    for _ in range(5):
        X = rows(10, 200, rng)
        order = rng.permutation(10)
        names = [f"X{k + 1}" for k in range(10)]
        plain = ges_search(Moments.from_rows(X, names))
        shuffled = ges_search(Moments.from_rows(X[:, order], [names[k] for k in order]))
        assert shuffled.graph.reorder(names) == plain.graph
        assert shuffled.score == pytest.approx(plain.score, rel=1e-12)


def test_units_and_origins_do_not_matter():
    rng = np.random.default_rng(6)
    X = rows(8, 200, rng)
    scale = 10.0 ** rng.uniform(-3, 3, 8)
    assert ges_search(moments(X * scale + 5 * scale)).graph == ges_search(moments(X)).graph


def test_ties_go_by_the_order_of_the_columns():
    pair = np.array([[1.0, 0.5], [0.5, 1.0]])
    block = np.kron(np.eye(3), pair)[:, [0, 2, 1, 4, 3, 5]][[0, 2, 1, 4, 3, 5]]
    found: list[GesStep] = []
    ges_search(Moments.from_covariance(block, 100), progress=found.append)
    assert [(step.source, step.target) for step in found] == [("X3", "X1"), ("X5", "X2"), ("X6", "X4")]


def test_the_same_twice():
    model = moments(rows(12, 100, np.random.default_rng(7)))
    first, second = (ges_search(model) for _ in range(2))
    assert (first.graph, first.score, first.steps) == (second.graph, second.score, second.steps)


def test_independent_columns_have_no_edges():
    result = ges_search(Moments.from_covariance(np.diag([1.0, 2.0, 3.0]), 100))
    assert result.graph == Cpdag.empty(["X1", "X2", "X3"])
    assert result.score == result.score_empty


def test_one_column_is_a_graph_too():
    assert ges_search(Moments.from_covariance([[2.0]], 10)).graph == Cpdag.empty(["X1"])


def test_a_larger_penalty_leaves_fewer_edges():
    model = moments(rows(12, 300, np.random.default_rng(8), density=0.8))
    edges = [ges_search(model, penalty=penalty).graph.edge_count for penalty in (0.3, 1.0, 5.0, 1e6)]
    assert edges == sorted(edges, reverse=True)
    assert edges[-1] == 0


@pytest.mark.parametrize("most", [1, 2, 4])
def test_no_node_has_more_edges_than_allowed(most):
    model = moments(rows(12, 300, np.random.default_rng(9), density=0.8))
    result = ges_search(model, max_degree=most)
    assert result.graph.skeleton.sum(axis=0).max() == most
    assert result.graph.valid


def test_a_limit_out_of_reach_changes_nothing():
    model = moments(rows(10, 100, np.random.default_rng(10)))
    assert ges_search(model, max_degree=9).graph == ges_search(model).graph


def test_an_interrupt_passes():
    model = moments(rows(8, 100, np.random.default_rng(11)))

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ges_search(model, progress=stop)
    assert ges_search(model).graph.valid


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ({"penalty": 0.0}, "penalty"),
        ({"penalty": float("nan")}, "penalty"),
        ({"phases": ()}, "forward"),
        ({"phases": ("sideways",)}, "sideways"),
        ({"phases": "forward"}, "phases"),
        ({"max_degree": 0}, "max_degree"),
        ({"max_degree": 2.5}, "max_degree"),
        ({"max_degree": True}, "max_degree"),
    ],
)
def test_impossible_settings(setting, word):
    with pytest.raises(SettingError, match=word):
        ges_search(Moments.from_covariance(np.eye(2), 10), **setting)


def test_a_column_twice_is_refused_by_name():
    X = rows(4, 50, np.random.default_rng(12))
    with pytest.raises(CollinearError, match=r"X[25] is a linear combination of X[25]"):
        ges_search(moments(np.column_stack([X, 3 * X[:, 1]])))


def test_the_sum_of_many_columns_is_refused():
    X = np.random.default_rng(13).normal(size=(500, 10))
    with pytest.raises(PrecisionError, match="10 parents found for X11"):
        ges_search(moments(np.column_stack([X, X.sum(axis=1)])))


def test_a_gain_that_is_lower_by_exactly_the_least_is_equal():
    """Then the target with fewest parents comes first."""
    moves = [[Move(3.0, 1, 0, 0)], [Move(2.0, 0, 1, 0)], [Move(1.5, 0, 2, 0)]]
    operator = SimpleNamespace(candidates=lambda graph, scores, target, least: moves[target], allowed=lambda *_: True)
    candidates = search.Candidates(operator, SimpleNamespace(p=3), least=1.0)
    assert candidates.best(SimpleNamespace(parents=[0b110, 0b100, 0])) == moves[1][0]


def test_too_few_rows_are_refused():
    X = np.random.default_rng(14).normal(size=(6, 30))
    with pytest.raises(TooFewRowsError, match="6 rows are too few"):
        ges_search(moments(X))
    assert ges_search(moments(X), max_degree=1).graph.valid
    for n, error in ((3, TooFewRowsError), (4, CollinearError)):
        with pytest.raises(error):
            Scores(moments(X[:n, :3]))._refuse(2, 0b011)


def test_almost_collinear_columns_are_warned_of():
    rng = np.random.default_rng(15)
    x = rng.normal(size=1000)
    X = np.column_stack([x, x + 1e-13 * rng.normal(size=1000)])
    with pytest.warns(PrecisionWarning, match="rounding may have moved the score"):
        result = ges_search(moments(X))
    assert result.uncertainty > 1
    assert np.isfinite(result.score)


def test_a_long_search_says_so(monkeypatch):
    rng = np.random.default_rng(16)
    X = rng.normal(size=(2000, 1)) + 0.7 * rng.normal(size=(2000, 6))
    monkeypatch.setattr(search, "MANY_CLIQUES", 10)
    with pytest.warns(OrdagWarning, match="max_degree") as caught:
        ges_search(moments(X))
    assert len(caught) == 1
