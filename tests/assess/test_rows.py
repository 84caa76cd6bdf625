"""What the rows say against independence and one population: kernels against loops, broken tables found, clean ones left alone."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from oracles import rows as oracle
from scipy.stats import f as f_distribution
from scipy.stats import norm

import ordag
from ordag.assess.cautions import cautions
from ordag.assess.dependence import (
    CURVE,
    SURE,
    beyond,
    blocks,
    grouping,
    levels,
    row_memory,
    several,
    sort_keys,
    sorted_sum,
)
from ordag.assess.influence import _kept, deciding_row
from ordag.assess.populations import (
    Mixture,
    _covariance,
    _log_odds,
    bound,
    mixture,
    normal_scores,
    spread,
    two_groups,
    two_models,
    valley,
)
from ordag.assess.rows import CHECKS, Sample, duplicates, filled_in, row_cautions
from ordag.common.linalg import lengths
from ordag.learners.found import Found


def model(random, n, p, degree=2.0, weights=(0.3, 1.0), errors=None):
    """Rows of a random model."""
    joined = np.triu(random.random((p, p)) < degree / (p - 1), 1)
    B = joined * random.uniform(*weights, (p, p)) * random.choice([-1.0, 1.0], (p, p))
    E = random.standard_normal((n, p)) if errors is None else errors
    return E @ np.linalg.inv(np.eye(p) - B)


def said(X, names=None):
    """The keys of all cautions of rows, with their sentences."""
    names = tuple(names or [f"x{j}" for j in range(X.shape[1])])
    sample = Sample.of(X, X.mean(axis=0), names)
    return {key: caution.sentence for key, check in CHECKS.items() if (caution := check(sample)) is not None}


def in_clusters(seed=1, clusters=20, size=25, p=8):
    """Errors with effects of their clusters; the last column is the cluster's code."""
    random = np.random.default_rng(seed)
    code = np.repeat(random.permutation(clusters), size)
    E = random.standard_normal((clusters, p))[code] + random.standard_normal((clusters * size, p))
    return np.column_stack([model(random, len(E), p, errors=E), code]).astype(float)


def in_time(seed=2, n=300, p=6, memory=0.9):
    random = np.random.default_rng(seed)
    E = random.standard_normal((n, p))
    for i in range(1, n):
        E[i] = memory * E[i - 1] + np.sqrt(1 - memory**2) * E[i]
    return model(random, n, p, errors=E)


def two_means(seed=3, n=500, p=8):
    random = np.random.default_rng(seed)
    X = model(random, n, p)
    X[:, [1, 4, 6]] += 3.0 * (random.random(n) < 0.5)[:, None]
    return X


def two_sems(seed=4, n=600, p=8):
    random = np.random.default_rng(seed)
    one, other = (model(random, n // 2, p, weights=(0.5, 1.5)) for _ in range(2))
    return random.permutation(np.vstack([one, other[:, random.permutation(p)]]))


def test_rows_sorted_by_cluster_are_alike_and_shuffled_ones_are_by_the_code():
    X = in_clusters()
    assert "Neighbouring rows are alike" in said(X[:, :-1])["dependent_rows"]
    assert "in clusters or in time order" in said(X[:, :-1])["dependent_rows"]
    shuffled = np.random.default_rng(0).permutation(X)
    names = [*"abcdefgh", "site"]
    assert "20 groups by site" in said(shuffled, names)["dependent_rows"]
    assert "20 groups by site" in said(X, names)["dependent_rows"]
    assert "dependent_rows" not in said(shuffled[:, :-1])


def test_rows_in_time_order_are_alike():
    assert "as in a time series" in said(in_time())["dependent_rows"]
    assert "dependent_rows" not in said(np.random.default_rng(0).permutation(in_time()))


@pytest.mark.parametrize("by", [[0], [3], "sum", "two"])
def test_sorted_rows_are_no_time_series(by):
    random = np.random.default_rng(5)
    X = model(random, 400, 6, degree=4.0, weights=(0.7, 1.0))
    if by == "two":
        X[:, 0] = np.round(X[:, 0])
        X = X[np.lexsort([X[:, 1], X[:, 0]])]
        assert sort_keys(levels(X)[0]) == [0, 1]
    else:
        X = X[np.argsort(X.sum(axis=1) if by == "sum" else X[:, by[0]])]
    assert "dependent_rows" not in said(X)


def test_a_cause_with_two_values_or_many_is_no_code_of_groups():
    random = np.random.default_rng(6)
    for cause in (random.integers(0, 2, 600), random.integers(0, 12, 600), np.round(3 * random.standard_normal(600))):
        effects = np.outer(cause / cause.std(), [1.0, -2.0, 0.5]) + random.standard_normal((600, 3))
        curved = np.column_stack([cause, effects, (cause - cause.mean()) ** 2 + random.standard_normal(600)])
        assert "dependent_rows" not in said(curved.astype(float))


def test_two_groups_are_found_with_what_splits_them():
    sentence = said(two_means(), "abcdefgh")["groups_of_rows"]
    most = sentence.split("differ most in ")[1].split(":")[0]
    assert set(most.replace(" and ", ", ").split(", ")) == {"b", "e", "g"}
    assert "different relations" in said(two_sems())["groups_of_rows"]


@pytest.mark.parametrize("errors", ["t5", "elliptic t5", "exponential", "uniform", "lognormal"])
def test_tails_and_skewness_are_no_groups(errors):
    random = np.random.default_rng(7)
    E = {
        "t5": random.standard_t(5, (600, 8)),
        "elliptic t5": random.standard_normal((600, 8)) * np.sqrt(5 / random.chisquare(5, 600))[:, None],
        "exponential": random.standard_exponential((600, 8)),
        "uniform": random.uniform(-1, 1, (600, 8)),
        "lognormal": np.exp(random.standard_normal((600, 8))),
    }[errors]
    assert said(model(random, 600, 8, errors=E)) == {}


def test_a_column_of_two_values_is_no_hidden_group():
    random = np.random.default_rng(8)
    g = random.integers(0, 2, 500)
    X = np.column_stack([g, 5.0 * g + random.standard_normal(500), random.standard_normal(500)])
    assert "groups_of_rows" not in said(X)
    assert "groups_of_rows" in said(X[:, 1:])


def test_copies_of_rows_are_found_and_rows_of_few_values_are_none():
    random = np.random.default_rng(9)
    X = model(random, 300, 5)
    assert "9 % of the rows repeat others" in said(np.vstack([X, X[:30]]))["duplicate_rows"]
    assert "duplicate_rows" not in said(np.round(X))
    assert "duplicate_rows" not in said(random.integers(0, 2, (300, 4)).astype(float))
    answers = np.clip(np.round(X + 3), 1, 5)
    assert "duplicate_rows" not in said(answers)


def test_means_filled_in_are_found():
    random = np.random.default_rng(10)
    X = model(random, 300, 5)
    whole = np.round(3 * X) + 7.0
    for table in (X, whole):
        holes = random.random(table.shape) < 0.2
        holes[:, 3:] = False
        filled = np.where(holes, np.nanmean(np.where(holes, np.nan, table), axis=0), table)
        assert sorted(filled_in(filled, filled.mean(axis=0))) == [0, 1, 2]
        assert "Cells of x0, x1 and x2 hold the same value" in said(filled)["filled_cells"]
    even = np.concatenate([np.linspace(-1.0, 1.0, 100), np.zeros(100)])
    for middle, found in ((4.0, [0]), (4.5, [])):  # a round number is one filled in only if it is the mean
        column = np.where(even == 0.0, middle, 4.0 + even)[:, None]
        assert list(filled_in(column, np.array([4.0]))) == found
    zeros = np.where(X < 0, 0.0, X)
    assert "filled_cells" not in said(zeros)
    assert "filled_cells" not in said(random.integers(0, 2, (300, 4)).astype(float))
    assert "filled_cells" not in said(np.clip(np.round(X + 3), 1, 5))


def test_one_row_that_decides_is_named():
    random = np.random.default_rng(11)
    X = model(random, 60, 4, degree=3.0, weights=(0.8, 1.0))
    X[40] = 25.0 * np.array([1.0, -1.0, 1.0, 1.0])
    fit = ordag.learn(X, "ges")
    lone = deciding_row(fit)
    assert lone is not None
    assert lone.row == 40
    assert lone.kept < 0.8 <= lone.ordinary
    assert any(c.key == "influence" and c.sentence.startswith("Without row 41, ") for c in cautions(fit))
    assert deciding_row(ordag.learn(np.delete(X, 40, axis=0), "ges")) is None
    assert deciding_row(ordag.learn(ordag.Moments.from_rows(X), "ges")) is None


def test_the_farthest_of_ordinary_rows_is_not_left_out(monkeypatch):
    random = np.random.default_rng(12)
    tables = [model(random, 60, 4, degree=3.0, weights=(0.8, 1.0)) for _ in range(20)]
    asked = []
    monkeypatch.setattr("ordag.assess.influence._kept", lambda found, X, without: asked.append(without) or 1.0)
    for X in tables:
        assert deciding_row(ordag.learn(X, "cvs")) is None
    assert len(asked) <= 4  # one in twenty lies out by chance
    far = tables[0].copy()
    far[3] *= 8.0
    assert deciding_row(ordag.learn(far, "cvs")) is None
    assert asked[-1] == 3


def test_a_row_is_left_out_of_the_experiment_that_it_is_of_and_open_directions_count_as_kept(monkeypatch):
    random = np.random.default_rng(13)
    X = model(random, 60, 2, degree=1.0, weights=(0.8, 1.0))
    fit = ordag.learn({"a": X[:, 0], "b": X[:, 1], "what": ["", "a"] * 30}, experiment="what", draws=20, seed=0)
    learned = []

    def turned(table, recipe):
        warnings.warn("few digits", ordag.PrecisionWarning, stacklevel=1)  # is no matter of the table
        learned.append(table.moments)
        return SimpleNamespace(graph=SimpleNamespace(adjacency=fit.best_graph.adjacency.T))

    monkeypatch.setattr("ordag.assess.influence.learn_from", turned)
    joined = fit.probabilities.joined
    for share, kept in ((0.5, 1.0), (0.99, 0.0)):
        monkeypatch.setattr(type(fit), "probabilities", SimpleNamespace(arrows=share * joined, joined=joined))
        assert _kept(fit, fit.profile.complete.rows, 7) == kept
    assert [(one.n, len(one.conditions)) for one in learned] == [(59, 2)] * 2


@pytest.mark.slow
def test_a_fit_has_the_cautions_of_its_rows_and_of_moments_none():
    X = pd.DataFrame(two_means(), columns=list("abcdefgh"))
    fit = ordag.learn(X, "ges")
    assert "groups_of_rows" in [caution.key for caution in cautions(fit)]
    assert "fall into two groups" in fit.verdict.sentence
    alone = ordag.learn(ordag.Moments.from_rows(X.to_numpy()), "ges")
    assert isinstance(alone, Found)
    assert "groups_of_rows" not in [caution.key for caution in cautions(alone)]


def test_memory_is_that_of_the_oracle():
    by_sum = np.random.default_rng(18).standard_normal((80, 4))
    by_sum = by_sum[np.argsort(by_sum @ [1.0, 2.0, -1.0, 1.0])]
    for X in (in_time(n=80), in_clusters(clusters=6, size=12)[:, :-1], by_sum):
        codes = levels(X)[0]
        U = codes - codes.mean(axis=0)
        key = int(np.argmax([oracle.correlation_at_lag(column, 1) for column in U.T]))
        given, key = (codes[:, key], key) if X is not by_sum else (sorted_sum(U / lengths(U)), None)
        rest = [oracle.left_after(given, U[:, j], CURVE) for j in range(X.shape[1]) if j != key]
        most = sorted(rest, key=lambda e: oracle.correlation_at_lag(e, 1))[-several(len(rest)) :]
        memory = row_memory(codes)
        assert memory.least == pytest.approx(oracle.correlation_at_lag(most[0], 1), abs=1e-6)
        assert memory.lag1 == pytest.approx(np.mean([oracle.correlation_at_lag(e, 1) for e in most]), abs=1e-6)
        assert memory.lag2 == pytest.approx(np.mean([oracle.correlation_at_lag(e, 2) for e in most]), abs=1e-6)


def test_what_two_values_explain_is_a_mean_of_each():
    """Their powers are collinear."""
    rng = np.random.default_rng(3)
    two, other, Y = np.repeat([0.0, 1.0], 40), rng.normal(size=80), rng.normal(size=(80, 3))
    for X in (two[:, None], np.column_stack([two, other])):
        left = [oracle.left_after(X, column, CURVE) for column in Y.T]
        np.testing.assert_allclose(beyond(X, Y, CURVE), np.column_stack(left), atol=1e-9)


def test_groups_by_code_are_those_of_the_oracle():
    X = np.random.default_rng(12).permutation(in_clusters(clusters=12, size=10, p=4))
    codes, counts = levels(X)
    found = grouping(codes, counts)
    left = [oracle.left_after(codes[:, 4], codes[:, j].astype(float), CURVE) for j in range(4)]
    values = [
        min(oracle.intraclass_correlation(e, codes[:, 4], CURVE), oracle.correlation_by_steps(e, codes[:, 4]))
        for e in left
    ]
    assert (found.column, found.groups) == (4, 12)
    assert found.alike == pytest.approx(sorted(values)[-several(4)], abs=1e-6)


def test_a_curve_that_no_polynomial_follows_makes_no_groups():
    random = np.random.default_rng(5)
    size = random.integers(0, 100, 4000)
    wave = np.sin(size / 5.0)
    X = np.column_stack([size, wave + 0.5 * random.standard_normal(4000), wave + 0.5 * random.standard_normal(4000)])
    assert grouping(*levels(X)) is None
    X[:, 0] = random.permutation(100)[size]
    assert grouping(*levels(X)).groups == 100


def test_groups_are_named_only_where_chance_would_hardly_make_them_in_any_column():
    """Bonferroni's correction over columns; alike by much are these groups all the same."""
    doubtful = 0
    for seed in range(30):
        X = in_clusters(seed, clusters=12, size=10, p=5)
        X[:, :5] = 0.5 * X[:, :5] + np.random.default_rng(seed).standard_normal((120, 5))
        codes, counts = levels(X)
        p_values = []
        for j in range(5):
            left = oracle.left_after(codes[:, 5], codes[:, j].astype(float), CURVE)
            alike = oracle.intraclass_correlation(left, codes[:, 5], CURVE)
            p_values.append(f_distribution.sf(1 + 10 * alike / (1 - alike), 12 - 1 - CURVE, 120 - 12))
        second = sorted(p_values)[several(5) - 1]
        assert (grouping(codes, counts) is not None) == (6 * second < SURE)
        doubtful += SURE / 6 < second < SURE
    assert doubtful >= 2


def test_sort_keys_sort():
    random = np.random.default_rng(13)
    X = random.integers(0, 4, (120, 4)).astype(float)
    X = X[np.lexsort([-X[:, 1], X[:, 3], X[:, 2]])]
    assert sort_keys(levels(X)[0]) == [2, 3, 1]
    assert oracle.is_sorted_by(X, [2, 3, 1])
    assert sort_keys(levels(random.permutation(X))[0]) == []


def test_copies_are_counted_like_the_oracle():
    random = np.random.default_rng(14)
    X = np.column_stack([random.integers(0, 3, (60, 2)), random.integers(0, 25, 60)]).astype(float)
    X = np.vstack([X, X[:9]])
    assert duplicates(levels(X)[0]) == pytest.approx(oracle.repeated(X))


def test_the_mixture_is_that_of_full_covariance_matrices():
    X = two_means(n=200)[:, :4]
    Z = X - X.mean(axis=0)
    Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / len(Z))).T
    found = mixture(Z)
    first, second = (np.array(found.direction) * mean for mean in found.means)
    apart = first - second
    within = np.eye(4) - found.share * (1 - found.share) * np.outer(apart, apart)
    assert found.gain == pytest.approx(oracle.mixture_gain(Z, found.share, first, second, within), abs=1e-6)
    t = Z @ found.direction
    assert valley(t, *found.means) == pytest.approx(oracle.valley_p_value(t, *found.means))


def test_log_odds_are_those_of_two_gaussian_densities():
    t = np.linspace(-3.0, 3.0, 7)
    groups = Mixture(np.ones(1), (1.2, -0.4), 0.3, 0.25, 0.0)
    first, second = (norm.logpdf(t, mean, 0.5) for mean in groups.means)
    np.testing.assert_allclose(_log_odds(t, groups), np.log(0.3 / 0.7) + first - second)
    assert [bound(p) for p in (1, 10)] == [28.5, 60.0]


def test_two_covariances_pay_for_their_parameters(monkeypatch):
    """Means, covariances and the share of one more group."""
    X = two_sems(n=200, p=3)
    monkeypatch.setattr("ordag.assess.populations._two_covariances", lambda Z, first: (50.0, first))
    assert two_models(X).gain == pytest.approx(50.0 + 200 * 3 - (3 + 6 + 1) * np.log(200))
    weights = np.random.default_rng(1).random(200)
    expected = np.cov(X.T, aweights=weights, ddof=0) + 0.001 * np.eye(3)
    np.testing.assert_allclose(_covariance(X, weights), expected)


def test_groups_are_looked_for_in_three_rows_for_every_column():
    X = np.random.default_rng(19).standard_normal((60, 20))
    assert two_groups(X) is not None
    assert two_groups(X[:-1]) is None


def test_a_table_is_sorted_by_a_sum_of_columns_or_not():
    X = np.random.default_rng(18).standard_normal((200, 3))
    U = X - X.mean(axis=0)
    rank = np.arange(200.0)
    found = sorted_sum(U[np.argsort(U @ [1.0, 2.0, -1.0])])
    assert found is not None
    assert abs(np.corrcoef(found, rank)[0, 1]) > 0.9
    assert sorted_sum(U) is None


def test_scores_and_spread_values():
    random = np.random.default_rng(15)
    x = np.round(3 * random.standard_normal(100))
    codes = levels(x[:, None])[0]
    assert normal_scores(codes[:, 0]) == pytest.approx(oracle.scores(x))
    moved = spread(x[:, None], codes, random)[:, 0]
    assert len(np.unique(moved)) == 100
    assert (np.diff(x[np.argsort(moved)]) >= 0).all()
    uneven = np.repeat([0.0, 1.0, 3.0, 9.0], 50)
    moved = spread(uneven[:, None], levels(uneven[:, None])[0], random)[:, 0]
    assert (np.unique(uneven)[np.abs(moved[:, None] - np.unique(uneven)).argmin(axis=1)] == uneven).all()


@pytest.mark.parametrize("X", [two_means(), two_sems(), in_time(), in_clusters()])
def test_units_shifts_and_the_order_of_columns_change_nothing(X):
    random = np.random.default_rng(16)
    order = random.permutation(X.shape[1])
    names = np.array([f"x{j}" for j in range(X.shape[1])])
    changed = 3.7 + 7.3 * X[:, order]
    assert set(said(X)) == set(said(changed, names[order].tolist()))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["plain", "dense", "t5", "rounded", "two values", "answers", "sorted"])
def test_clean_tables_are_left_alone(kind):
    """At most 2 % of 100 tables with p from 3 to 30 and n from 50 to 2000."""
    alarms = 0
    for seed in range(100):
        random = np.random.default_rng([seed, 17])
        p, n = int(random.choice([3, 5, 8, 12, 20, 30])), int(random.choice([50, 100, 200, 500, 1000, 2000]))
        E = random.standard_t(5, (n, p)) if kind == "t5" else None
        X = model(random, n, p, degree=min(6.0, p - 1.0) if kind == "dense" else 2.0, errors=E)
        X = X / X.std(axis=0) if kind != "plain" else X
        if kind == "rounded":
            X = np.round(3 * X)
        elif kind == "two values":
            X[:, 0] = X[:, 0] > 0
        elif kind == "answers":
            X = np.clip(np.round(1.2 * X + 3), 1, 5)
        elif kind == "sorted":
            X = X[np.argsort(X[:, 0])]
        alarms += bool(said(X))
    assert alarms <= 2


def test_little_is_said_of_few_rows_or_columns():
    random = np.random.default_rng(18)
    assert said(random.standard_normal((25, 2))) == {}
    assert two_groups(random.standard_normal((20, 10))) is None
    assert two_models(random.standard_normal((20, 4))) is None
    assert two_groups(random.integers(0, 3, (50, 3)).astype(float)) is None


def test_what_a_category_leaves_of_two_values_names_no_groups():
    """Held fixed, a category of 3 leaves 6 values of a column of two: these are no groups by that column."""
    random = np.random.default_rng(3)
    site = random.integers(0, 3, 300)
    binary = (random.random((300, 4)) < 0.2 + 0.2 * site[:, None]).astype(float)
    data = {"site": [f"s{k}" for k in site], **dict(zip("abcd", binary.T, strict=True))}
    fit = ordag.learn(data, "cvs", adjust=["site"])
    assert "dependent_rows" not in [one.key for one in row_cautions(fit)]
    assert next(one for one in fit.check().findings if one.key == "dependent_rows").level != "warning"


@pytest.mark.filterwarnings("ignore::ordag.errors.ColumnWarning")
def test_the_caution_on_dependent_rows_names_the_columns_that_help():
    rng = np.random.default_rng(8)
    tree, age = np.repeat(np.arange(12), 15), np.tile(np.arange(15), 12)
    girth = (0.5 + rng.random(12))[tree] * age + rng.normal(0.0, 0.5, 180)
    height = girth + np.cumsum(rng.normal(0.0, 1.0, 180))
    table = {"girth": girth, "height": height}
    advice = {
        "repeated measures": {"rat": tree, "age": age},
        "codes": {"tree_id": tree * 100 + 3},
        "times": {"date": pd.date_range("2001-01-01", periods=180)},
        "panel": {"firm_id": tree, "year": 1990 + age},
        "neither": {},
    }
    wanted = {
        "repeated measures": "Learn within each value of rat, with cluster='rat' (--cluster rat).",
        "codes": "Learn within each value of tree_id, with cluster='tree_id' (--cluster tree_id).",
        "times": "Learn what follows what, with time='date' and lags=1 (--time date --lags 1).",
        "panel": "(--cluster firm_id), or what follows what in each, with time='year' and lags=1 (--time year --lags 1)",
        "neither": "Name the column that says which rows belong together",
    }
    for kind, columns in advice.items():
        fit = ordag.learn(pd.DataFrame({**table, **columns}), draws=0)
        (caution,) = [one for one in cautions(fit) if one.key == "dependent_rows"]
        assert wanted[kind] in caution.advice, kind
        finding = fit.check(draws=1)["dependent_rows"] if kind == "panel" else None
        assert finding is None or wanted[kind] in finding.sentence


@pytest.mark.filterwarnings("ignore::ordag.errors.ColumnWarning")
def test_the_caution_on_groups_of_rows_names_the_categories_that_may_tell():
    rng = np.random.default_rng(2)
    kind = np.repeat([0, 1], 100)
    table = {"a": 6 * kind + rng.standard_normal(200), "b": 6 * kind + rng.standard_normal(200)}
    advice = {}
    for categories in ([], ["the kind"], ["the kind", "place"]):
        data = pd.DataFrame({**table, **{name: np.where(kind, "x", "y") for name in categories}})
        (caution,) = [one for one in cautions(ordag.learn(data, draws=0)) if one.key == "groups_of_rows"]
        advice[len(categories)] = caution.advice
    assert advice[0].startswith("If a column says which group")
    assert advice[1].startswith("If the kind says")
    assert "(--environment 'the kind')" in advice[1]
    assert advice[2].startswith("If the kind, or place, says")


def test_blocks_of_rows_are_repeated_measures_only_if_something_rises_in_each():
    tree, age = np.repeat([3, 1, 2, 0], 6), np.tile(np.arange(6), 4)
    other = np.random.default_rng(1).normal(size=24)

    def found(*columns):
        return blocks(*levels(np.stack(columns, axis=1).astype(float)))

    assert found(other, tree, age) == (1, 2)
    assert found(other, tree) is None
    assert found(other, np.roll(tree, 3), age) is None  # a code in two blocks
    assert found(other, tree, np.arange(24)) is None  # rises all the way
    assert found(other, tree, np.where(age == 3, 2, age)) is None  # stands still
