import numpy as np
import pytest
from budgets import whole_methods
from hypothesis import given
from hypothesis import strategies as st
from oracles import model as oracles

from ordag.errors import SettingError
from ordag.model import DESIGNS, simulate

NAMES = sorted(DESIGNS)


@pytest.mark.parametrize("design", NAMES)
def test_every_design_gives_a_model_and_its_rows(design):
    simulation = simulate(design, n=40, seed=1)
    sem, X = simulation
    assert (simulation[0], len(simulation)) == (sem, 2)
    assert simulation[1] is simulation[-1] is simulation.X
    p = 3 if design == "nonfaithful" else 20
    assert X.shape == (40, p)
    assert X.dtype == np.float64
    assert simulation.names == tuple(f"X{i}" for i in range(1, p + 1)) == sem.names
    assert simulation.dag is sem.dag
    assert sorted(simulation.order) == list(range(p))
    assert oracles.is_causal(sem.B, list(simulation.order))


@pytest.mark.slow
@pytest.mark.parametrize("design", NAMES)
@whole_methods
@given(seed=st.integers(0, 2**32 - 1))
def test_a_seed_gives_one_model_whatever_n(design, seed):
    first, again, longer = (simulate(design, n=n, seed=seed) for n in (5, 5, 9))
    assert first.sem == again.sem == longer.sem
    assert np.array_equal(first.X, again.X)
    assert first.order == longer.order


def test_every_kind_of_seed():
    sequence = np.random.SeedSequence(5)
    by_sequence = simulate(n=3, seed=sequence)
    assert by_sequence.sem == simulate(n=3, seed=sequence).sem == simulate(n=3, seed=5).sem
    assert sequence.n_children_spawned == 0
    generator = np.random.default_rng(5)
    by_generator = simulate(n=3, seed=generator)
    assert by_generator.sem == simulate(n=4, seed=np.random.default_rng(5)).sem
    assert by_generator.sem != simulate(n=3, seed=generator).sem
    assert simulate(n=3).sem != simulate(n=3).sem


def test_children_of_a_seed_sequence_are_other_streams():
    parent = np.random.SeedSequence(5)
    models = [simulate(n=1, seed=seed).sem for seed in (parent, *parent.spawn(3))]
    assert len({model.B.tobytes() for model in models}) == 4


def test_homogeneous_weights():
    sem, _ = simulate("4.1", p=100, n=1, seed=1)
    sizes = abs(sem.B[sem.B != 0])
    assert sizes.min() >= 0.25
    assert sizes.max() <= 2
    assert len(sizes) / (100 * 99 / 2) == pytest.approx(0.875, abs=0.02)
    assert (sem.B > 0).sum() / len(sizes) == pytest.approx(0.5, abs=0.03)
    assert (sem.omega == 1).all()
    assert sem == simulate("hom", p=100, n=1, seed=1).sem == simulate("homogeneous", p=100, n=1, seed=1).sem


def test_heterogeneous_weights_and_variances():
    sem, _ = simulate("4.2", p=100, n=1, seed=1)
    sizes = abs(sem.B[sem.B != 0])
    assert sizes.min() >= 1
    assert len(sizes) / (100 * 99 / 2) == pytest.approx(0.5, abs=0.03)
    assert sem.omega.min() >= 1
    assert sem.omega.max() <= 3
    assert sem.omega.mean() == pytest.approx(2, abs=0.2)
    assert sem == simulate("het", p=100, n=1, seed=1).sem


def test_nonfaithful_model():
    sem, _ = simulate("4.3", n=1)
    precision = sem.precision()
    assert precision[0, 1] == pytest.approx(0, abs=1e-12)
    assert abs(precision[0, 2]) > 0.1
    assert abs(precision[1, 2]) > 0.1
    assert sem.B[0, 1] == sem.B[0, 2] == sem.B[1, 2] == 1
    assert sem.omega.tolist() == [2.25, 1.5, 1.5]


@pytest.mark.slow
def test_labels_are_a_random_permutation():
    first = [simulate(p=4, n=1, seed=seed).order[0] for seed in range(200)]
    assert np.bincount(first, minlength=4).min() > 30


@pytest.mark.parametrize("design", ["erdos-renyi", "scale-free"])
@pytest.mark.parametrize("degree", [1.0, 3.0, 8.0])
def test_sparse_designs_have_the_degree_asked_for(design, degree):
    sem, _ = simulate(design, p=1000, n=1, degree=degree, weights=(0.1, 0.2), seed=1)
    edges = np.count_nonzero(sem.B)
    assert 2 * edges / 1000 == pytest.approx(degree, rel=0.1)
    assert abs(sem.B[sem.B != 0]).min() >= 0.1
    assert abs(sem.B).max() <= 0.2
    assert (sem.B > 0).sum() / edges == pytest.approx(0.5, abs=0.06)


def in_order(design, p, **options):
    """The weights with causes first."""
    drawn = simulate(design, p=p, n=1, seed=7, **options)
    return drawn.sem.B[np.ix_(drawn.order, drawn.order)]


def sizes_within(B, low, high):
    sizes = abs(B[B != 0])
    assert low <= sizes.min() < low + 0.02
    assert high - 0.02 < sizes.max() <= high
    assert (B > 0).sum() / len(sizes) == pytest.approx(0.5, abs=0.1)


def test_chain():
    B = in_order("chain", 300)
    sizes_within(B, 0.7, 1)
    assert (np.diag(B, 1) != 0).all()
    parents, children = (B != 0).sum(axis=0), (B != 0).sum(axis=1)
    assert set(parents[2:].tolist()) <= {2, 3}
    assert (parents == 3).sum() > 250
    assert children.max() <= 5  # four, and its successor


@pytest.mark.parametrize(("design", "least"), [("hub", 0.7), ("hub5", 0.5)])
def test_hub(design, least):
    B = in_order(design, 300)
    sizes_within(B, least, 1)
    assert (np.diag(B, 1) != 0).all()
    others = np.triu(B, 2) != 0
    assert not others[10:].any()
    assert (others.sum(axis=0)[11:] == 2).all()
    assert others.sum(axis=1)[:10].min() > 30


@pytest.mark.parametrize(("design", "degree", "least"), [("er2", 2, 0.5), ("er4", 4, 0.5), ("er2w3", 2, 0.3)])
def test_short_names_of_erdos_renyi(design, degree, least):
    B = in_order(design, 400)
    sizes_within(B, least, 1)
    assert 2 * np.count_nonzero(B) / 400 == pytest.approx(degree, rel=0.15)
    assert np.array_equal(B, in_order("erdos-renyi", 400, degree=degree, weights=(least, 1)))


def test_rs40():
    B = in_order("rs40", 300)
    sizes_within(B, 0.3, 1)
    assert (np.diag(B, 1) != 0).all()
    assert np.count_nonzero(np.triu(B, 2)) / 300 == pytest.approx(0.75, abs=0.15)
    arrows = [simulate("rs40", p=3, n=1, seed=seed).dag.edge_count for seed in range(60)]
    assert np.mean(arrows) == pytest.approx(2 + 3 / 4, abs=0.12)


@pytest.mark.parametrize("design", ["chain", "hub", "hub5", "er2", "er4", "er2w3", "rs40"])
def test_designs_of_few_arrows_have_equal_variances_unless_told(design):
    assert (simulate(design, p=30, n=1, seed=1).sem.omega == 1).all()
    omega = simulate(design, p=30, n=1, seed=1, variances=(0.7, 1.3)).sem.omega
    assert len(set(omega)) == 30
    assert abs(in_order(design, 30, weights=(2, 3))[0, 1:]).max(initial=2) >= 2
    for p in (1, 2, 3):
        assert simulate(design, p=p, n=2).X.shape == (2, p)


@pytest.mark.parametrize(
    ("design", "low", "high"),
    [
        ("erdos-renyi", 0.5, 2),
        ("scale-free", 0.5, 2),
        ("er2", 0.5, 1),
        ("er2w3", 0.3, 1),
        ("rs40", 0.3, 1),
        ("chain", 0.7, 1),
    ],
)
def test_the_usual_weights(design, low, high):
    sizes = abs(in_order(design, 300))
    assert low <= sizes[sizes > 0].min() < low + 0.05
    assert high - 0.05 < sizes.max() <= high


def test_scale_free_graphs_have_hubs():
    largest = {}
    for design in ("erdos-renyi", "scale-free"):
        sem, _ = simulate(design, p=2000, n=1, degree=4, weights=(0.1, 0.2), seed=1)
        largest[design] = ((sem.B != 0).sum(axis=0) + (sem.B != 0).sum(axis=1)).max()
    assert largest["erdos-renyi"] < 20
    assert largest["scale-free"] > 50


@pytest.mark.slow
def test_erdos_renyi_reaches_every_pair_alike():
    counts = np.zeros((5, 5))
    for seed in range(400):
        simulation = simulate("erdos-renyi", p=5, n=1, degree=2, seed=seed)
        order = list(simulation.order)
        counts += simulation.sem.B[np.ix_(order, order)] != 0
    share = counts[np.triu_indices(5, 1)] / 400
    assert share == pytest.approx(0.5, abs=0.1)
    assert np.count_nonzero(simulate("erdos-renyi", p=5, n=1, degree=4, seed=0).sem.B) == 10


def test_variances():
    assert (simulate("scale-free", n=1, variances="equal").sem.omega == 1).all()
    assert (simulate("scale-free", n=1, variances=2.5).sem.omega == 2.5).all()
    omega = simulate("erdos-renyi", n=1, p=50, variances=(2, 4)).sem.omega
    assert omega.min() >= 2
    assert omega.max() <= 4
    assert len(set(omega)) == 50


def test_weights_do_not_depend_on_how_variances_are_drawn():
    equal, varied = (simulate("scale-free", n=1, seed=2, variances=v).sem for v in ("equal", (1, 2)))
    assert np.array_equal(equal.B, varied.B)


def test_a_single_variable():
    for design in ("homogeneous", "heterogeneous"):
        assert simulate(design, p=1, n=2).X.shape == (2, 1)
    for design in ("erdos-renyi", "scale-free"):
        assert simulate(design, p=1, n=2, degree=0).X.shape == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"design": "4.4"}, 'no design "4.4".*homogeneous.*scale-free'),
        ({"degree": 3}, '"homogeneous" takes no degree; "erdos-renyi" and "scale-free" do'),
        ({"design": "het", "weights": (1, 2)}, '"heterogeneous" takes no weights'),
        ({"design": "nonfaithful", "p": 4}, "exactly 3 variables"),
        ({"p": 0}, "at least one variable"),
        ({"n": 0}, "at least one row"),
        ({"design": "erdos-renyi", "degree": 30}, "between 0 and 19"),
        ({"design": "scale-free", "degree": -1}, "between 0 and 19"),
        ({"design": "scale-free", "weights": (2, 1)}, "smaller one first"),
        ({"design": "scale-free", "weights": (0, 1)}, "positive"),
        ({"design": "scale-free", "weights": (1, 2, 3)}, "two numbers"),
        ({"design": "scale-free", "variances": "unequal"}, '"equal", a number, or a range'),
        ({"design": "scale-free", "variances": -1}, "positive"),
    ],
)
def test_refuses_settings(arguments, words):
    with pytest.raises(SettingError, match=words):
        simulate(**arguments)


def test_experiments_cut_a_variable_off_and_change_nothing_else():
    plain = simulate("erdos-renyi", 6, 300, 5, degree=3)
    sem, X = drawn = simulate("erdos-renyi", 6, 300, 5, degree=3, experiments=4, experiment_rows=4000)
    np.testing.assert_array_equal(X[:300], plain.X)
    assert plain.experiments == ()
    assert drawn.experiments[:300] == ("",) * 300
    targets = list(dict.fromkeys(drawn.experiments[300:]))
    assert len(targets) == 4
    assert len(X) == len(drawn.experiments) == 300 + 4 * 4000
    for name in targets:
        rows, j = X[np.array(drawn.experiments) == name], sem.names.index(name)
        before = np.flatnonzero(sem.B[:, j])
        assert np.abs(np.corrcoef(rows.T)[j, before]).max(initial=0.0) < 0.06
        assert rows[:, j].std() == pytest.approx(np.sqrt(sem.covariance()[j, j]), rel=0.06)
        for k in np.flatnonzero(np.arange(6) != j):
            left = rows[:, k] - rows @ sem.B[:, k]
            assert left.std() == pytest.approx(np.sqrt(sem.omega[k]), rel=0.06)
    assert (
        len(set(simulate("chain", 6, 9, 1, experiments=6, experiment_rows=1).experiments)) == 7
    )  # each acted on, and none
    for wrong in ({"experiments": 7}, {"experiments": -1}, {"experiments": 1, "experiment_rows": 0}):
        with pytest.raises(SettingError, match="experiment"):
            simulate("erdos-renyi", 6, 10, **wrong)


def test_environments_differ_in_the_equations_that_are_named():
    drawn = simulate("erdos-renyi", 6, 20000, 5, degree=3, environments=3, changes=2)
    assert drawn.environments == tuple(np.repeat(["e1", "e2", "e3"], 20000).tolist())
    assert list(drawn.changes) == ["e2", "e3"]
    sem, where = drawn.sem, np.array(drawn.environments)
    assert {what for differ in drawn.changes.values() for what in differ.values()} == {"weights", "variance"}
    for label in ("e1", "e2", "e3"):
        X, differ = drawn.X[where == label], drawn.changes.get(label, {})
        assert len(differ) == (0 if label == "e1" else 2)
        for j, name in enumerate(sem.names):
            parents = np.flatnonzero(sem.B[:, j])
            design = np.column_stack([X[:, parents], np.ones(len(X))])
            solution, rss = np.linalg.lstsq(design, X[:, j], rcond=None)[:2]
            assert np.allclose(solution[:-1], sem.B[parents, j], atol=0.06) == (differ.get(name) != "weights")
            ratio = float(rss[0]) / len(X) / sem.omega[j]
            assert (2.8 < ratio < 6.2) if differ.get(name) == "variance" else ratio == pytest.approx(1.0, abs=0.05)
    plain = simulate("erdos-renyi", 6, 20000, 5, degree=3)
    assert np.array_equal(plain.X, drawn.X[where == "e1"])
    assert plain.environments == ()
    for wrong in ({"environments": 0}, {"environments": 2, "changes": 7}, {"environments": 2, "experiments": 1}):
        with pytest.raises(SettingError):
            simulate("erdos-renyi", 6, 10, 5, **wrong)
