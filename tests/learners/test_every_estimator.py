"""Every estimator of conditional variances on every surface: an answer, or a sentence that says why not. And hostile tables."""

from __future__ import annotations

import json

import numpy as np
import pytest
from budgets import THOROUGH, crossed, thorough, tries
from sklearn.linear_model import LinearRegression

import ordag
from ordag.assess.equal_variances import equality_test, trimmed_bartlett
from ordag.errors import (
    CollinearError,
    ConstantColumnError,
    MissingValuesError,
    NonFiniteError,
    SettingError,
    TooFewRowsError,
    UnderflowError,
)
from ordag.learners.sparse_parents import least_correlation


class Own:
    """Least squares, as a user would write it."""

    def conditional_variance(self, x, Z):
        Z = np.column_stack([np.ones(len(x)), Z])
        residual = x - Z @ np.linalg.lstsq(Z, x, rcond=None)[0]
        return float(residual @ residual / (len(x) - Z.shape[1]))


ROWS = {"robust", "shrinkage", "regression", "LinearRegression", "Own"}
"""Those that take rows."""
CURVED = {"regression", "LinearRegression"}
"""Those whose equations need not be linear."""
WIDE = {None, "sparse", "lasso", "auto"}
"""Those that take fewer rows than variables."""
NAMED = (None, "least-squares", "sparse", "lasso", "robust", "shrinkage", "regression", "auto")
EVERY = (*NAMED, LinearRegression(), Own())

LONG = ordag.simulate("er2", 4, 40, seed=3).X
BROAD = ordag.simulate("er2", 12, 10, seed=4).X


def but(variances, *long):
    """These, some of them with `make thorough` only."""
    return [thorough(one) if name_of(one) in long else one for one in variances]


def name_of(variance):
    return variance if variance is None or isinstance(variance, str) else type(variance).__name__


def csv(X, path):
    names = ",".join(f"v{j}" for j in range(X.shape[1]))
    np.savetxt(path, X, delimiter=",", header=names, comments="")
    return str(path)


def looked_at(fit, folder):
    """All that a fit shows of itself."""
    assert len(fit.edges) == len(fit.graph.directed)
    assert len(fit.steps) == len(fit.names)
    document = json.loads(fit.to_json())
    assert document["verdict"]["tier"] in ("tested", "untested", "assumed", "uninformative")
    assert fit.verdict.sentence.endswith(".")
    assert repr(fit).startswith("Fit: cvs")
    assert str(fit).startswith("Ordag · cvs")
    assert fit._repr_html_()
    fit.report(folder / "page.html")
    for ending in ("json", "csv", "graphml", "svg", "dot"):
        fit.save(folder / f"graph.{ending}")
    return document


@pytest.mark.slow
@pytest.mark.parametrize(
    "variance", but(EVERY, "least-squares", "lasso", "auto", "robust", "LinearRegression"), ids=name_of
)
def test_more_rows_than_variables(variance, tmp_path):
    name = name_of(variance)
    given = {"method": "cvs", "variance": variance}
    fit = ordag.learn(LONG, **given)
    document = looked_at(fit, tmp_path)
    assert document["settings"]["variance"] == name
    if name in CURVED:
        with pytest.raises(SettingError, match="need not be linear"):
            fit.forecast(2)
        with pytest.raises(SettingError, match="need not be linear"):
            ordag.effects(fit, replicates=2, workers=1)
    else:
        assert fit.forecast(2).replicates == 2
        assert ordag.effects(fit, replicates=2, workers=1).replicates == 2
    assert ordag.effects(fit, interval="given-graph").of("X1", "X2") is not None
    comparison = ordag.compare(LONG, ["cvs", "pc"], variance=variance)
    assert comparison["cvs"].graph == fit.graph
    if name in ROWS:
        with pytest.raises(SettingError, match=f"variance='{name}' takes the rows"):
            ordag.learn(ordag.Moments.from_rows(LONG), **given)


@pytest.mark.slow
@pytest.mark.parametrize(("variance", "kind"), crossed(EVERY, ["rows", "half", "wishart", "poisson"]))
def test_bootstrap(variance, kind):
    name = name_of(variance)
    given = {"method": "cvs", "variance": variance, "seed": 1, "workers": 1, "kind": kind}
    refused = name in ROWS if kind == "poisson" else name in CURVED and kind == "wishart"
    if refused:
        with pytest.raises(SettingError, match=r"takes them: use kind='rows'|resample the rows"):
            ordag.bootstrap(LONG, 3, **given)
        return
    found = ordag.bootstrap(LONG, 3, **given)
    assert found.kind == kind
    assert found.completed == 3
    assert ((found.edge_support >= 0) & (found.edge_support <= 1)).all()


def test_half_of_the_rows_are_drawn_once_each():
    seen = []

    class Watching(Own):
        def conditional_variance(self, x, Z):
            if not Z.shape[1]:
                seen.append(x.copy())
            return super().conditional_variance(x, Z)

    ordag.bootstrap(LONG, 2, method="cvs", variance=Watching(), kind="half", seed=1, workers=1)
    halves = [x for x in seen if len(x) == 20]
    assert len(halves) == 2 * 4
    assert all(len(np.unique(x)) == 20 and np.isin(x, LONG).all() for x in halves)


@pytest.mark.slow
@pytest.mark.parametrize("variance", but(EVERY, "lasso", "auto", "LinearRegression"), ids=name_of)
def test_check(variance):
    name = name_of(variance)
    found = ordag.check(LONG, method="cvs", variance=variance, draws=1)
    not_checked = {one.key: one.sentence for one in found.findings if one.level == "unchecked"}
    expected = set() if name in (None, "least-squares", "auto") else {"backward"}
    if name in CURVED | {"Own"}:
        expected |= {"standardising", "units"}
    if name in CURVED:
        expected |= {"equal_variances", "condition", "hidden_causes", "sorting"}
        expected |= {"linearity", "residual_spread", "residual_pairs"}
    if name == "shrinkage":
        expected |= {"equal_variances"}
    assert set(not_checked) == expected
    assert all(f"not available with variance='{name}'" in not_checked[key] for key in expected - {"sorting"})
    assert json.loads(found.to_json())["fit"]["settings"]["variance"] == name
    assert str(found)


@pytest.mark.slow
@pytest.mark.parametrize("variance", but(EVERY, "lasso", "auto"), ids=name_of)
def test_fewer_rows_than_variables(variance, tmp_path):
    given = {"method": "cvs", "variance": variance}
    if name_of(variance) not in WIDE:
        with pytest.raises(TooFewRowsError, match="10 rows and 12 variables"):
            ordag.learn(BROAD, **given)
        return
    fit = ordag.learn(BROAD, **given)
    looked_at(fit, tmp_path)
    assert fit.verdict.tier == "untested"
    found = ordag.check(BROAD, draws=1, **given)
    assert found["equal_variances"].sentence.startswith("not checked: 10 rows are too few for 12 variables")
    assert found["backward"].level == "unchecked"
    for kind in ("rows", "half", "wishart"):
        assert ordag.bootstrap(BROAD, 2, seed=1, workers=1, kind=kind, **given).completed == 2
    with pytest.raises(SettingError, match="takes more rows than variables"):
        ordag.bootstrap(BROAD, 3, kind="poisson", **given)
    others = ordag.compare(BROAD, ["cvs", "pc"], variance=variance)
    assert others.outcomes[0].fit is not None
    assert "--variance sparse" in others.outcomes[1].problem


@pytest.mark.slow
@pytest.mark.parametrize("variance", but(NAMED[1:], "least-squares", "lasso", "robust", "auto"))
def test_on_the_command_line(variance, run, tmp_path):
    path = csv(LONG, tmp_path / "long.csv")
    option = ("--variance", variance)
    status, out, err = run("learn", path, *option, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["settings"]["variance"] == variance
    status, out, _ = run("check", path, *option, "--json")
    assert (status, json.loads(out)["fit"]["settings"]["variance"]) == (0, variance)
    assert run("compare", path, "--methods", "cvs,pc", *option)[0] == 0
    status, out, _ = run("effect", path, "--from", "v0", "--to", "v1", "--replicates", "2", *option)
    assert status == 0
    assert out.startswith("v0 → v1: ")


@pytest.mark.thorough
@pytest.mark.parametrize("width", [60, thorough(80), thorough(200)])
@pytest.mark.parametrize("variance", ["sparse", "shrinkage"])
def test_lines_fit_the_screen(variance, width, run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    path = csv(LONG, tmp_path / "long.csv")
    for command in ("learn", "check", "compare"):
        status, out, _ = run(command, path, "--variance", variance)
        assert status == 0
        assert max(map(len, out.splitlines())) <= width


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p"), [(5, 4), (5, 8), (20, 100), (30, 30), (31, 30)])
def test_few_rows_say_what_they_can_show(n, p):
    fit = ordag.learn(ordag.simulate("er2", p, n, seed=2).X, "cvs")
    assert fit.details["variance"] == "sparse"
    said = fit.warnings[-1]
    assert f"Among {p} variables {n} rows show strong effects only" in said
    assert f"of about {least_correlation(n, p, 0.01):.2f} on" in said
    assert f"more than {n // 4} parent" in said or n >= 40 or n == 5
    assert said.endswith("An arrow that is not found may still exist.")
    assert (fit.graph.adjacency.sum(axis=0) <= max(n // 4, 1)).all()


def test_from_two_rows_more_than_variables_on_nothing_is_said():
    fit = ordag.learn(ordag.simulate("er2", 10, 12, seed=2).X, "cvs")
    assert fit.ordering.factor is not None
    assert not any("strong effects only" in sentence for sentence in fit.warnings)


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "p"), [(20, 60), thorough(60, 70)])
def test_the_correlation_that_is_said_decides(n, p):
    """Two columns with exactly this correlation, among independent ones."""
    limit = least_correlation(n, p, 0.01)
    random = np.random.default_rng(1)
    found = {}
    for r in (0.9 * limit, limit + 0.002):
        joined = []
        for _ in range(5):
            X = random.standard_normal((n, p))
            X -= X.mean(axis=0)
            a = X[:, 0] / np.linalg.norm(X[:, 0])
            e = X[:, 1] - a * (a @ X[:, 1])
            X[:, 1] = 1.5 * np.sqrt(n) * (r * a + np.sqrt(1 - r * r) * e / np.linalg.norm(e))
            joined.append(ordag.learn(X, "cvs").graph.skeleton[0, 1])
        found[r < limit] = np.mean(joined)
    assert found[False] == 1
    assert found[True] <= 0.4


@pytest.mark.slow
def test_all_arrows_that_are_left_pass_their_tests():
    for seed in tries(2, 5):
        fit = ordag.learn(ordag.simulate("er4", 60, 25, seed=seed).X, "cvs")
        assert fit.graph.edge_count
        assert (fit.edges["q_value"] <= 0.01).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 60])
@pytest.mark.parametrize("variance", [None, "sparse", "lasso", "auto", "shrinkage", "robust"])
def test_copies_and_constants_are_named(n, variance):
    X = ordag.simulate("er2", 12, n, seed=1).X
    if n == 10 and variance in ROWS:
        return  # refused for its rows
    with pytest.raises(ConstantColumnError, match="Column X13 never changes"):
        ordag.learn(np.column_stack([X, np.ones(n)]), "cvs", variance=variance, strict=True)
    for copy in (X[:, 0], -2.0 * X[:, 0] + 5.0):
        try:
            ordag.learn(np.column_stack([X, copy]), "cvs", variance=variance, strict=True)
        except CollinearError as error:
            assert "is a copy of X1" in str(error)
        else:
            assert variance == "shrinkage"  # whose moments have no copies any more


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::ordag.errors.PrecisionWarning")
@pytest.mark.parametrize("n", [10, 60])
@pytest.mark.parametrize("noise", [thorough(1e-3), 1e-6, thorough(1e-9)])
def test_blocks_of_near_copies(n, noise):
    random = np.random.default_rng(0)
    X = ordag.simulate("er2", 12, n, seed=1).X
    near = np.column_stack([X, *(X[:, :3] + noise * random.standard_normal((n, 3)) for _ in range(2))])
    for variance in ("sparse", "auto"):
        fit = ordag.learn(near, "cvs", variance=variance)
        assert fit.verdict.tier != "tested"
        json.loads(fit.to_json())
        blocks = [[j, j + 12, j + 15] for j in range(3)]
        assert all(fit.graph.skeleton[np.ix_(block, block)].sum() >= 4 for block in blocks)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 60])
@pytest.mark.parametrize("variance", [None, "sparse", thorough("lasso"), thorough("robust"), "shrinkage"])
def test_any_unit(n, variance):
    X = ordag.simulate("er2", 8, n, seed=5).X
    if n == 10:
        X = ordag.simulate("er2", 12, n, seed=5).X
        if variance in ROWS:
            return
    plain = ordag.learn(X, "cvs", variance=variance)
    for factor in (2.0**400, 2.0**-400) if THOROUGH or variance is None else (2.0**400,):
        scaled = ordag.learn(X * factor, "cvs", variance=variance)
        assert scaled.order == plain.order
        assert scaled.graph == plain.graph
        assert scaled.verdict.tier == plain.verdict.tier
    with pytest.raises(NonFiniteError, match="too large to square"):
        ordag.learn(X * 1e150, "cvs", variance=variance)
    with pytest.raises(UnderflowError, match="squares vanish"):
        ordag.learn(X * 1e-150, "cvs", variance=variance)
    whole = ordag.learn(np.round(100 * X).astype(np.int64), "cvs", variance=variance)
    assert whole.graph == ordag.learn(np.round(100 * X), "cvs", variance=variance).graph


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 60])
@pytest.mark.parametrize("variance", ["sparse", "robust", "shrinkage"])
def test_missing_values(n, variance):
    p = 12 if variance == "sparse" else 6
    X = ordag.simulate("er2", p, n, seed=6).X
    X[3, 1] = np.nan
    with pytest.raises(MissingValuesError, match=r"X2 \(1 row\)"):
        ordag.learn(X, "cvs", variance=variance, missing="refuse")
    dropped = ordag.learn(X, "cvs", variance=variance, missing="drop")
    assert dropped.graph == ordag.learn(np.delete(X, 3, axis=0), "cvs", variance=variance).graph
    X[:, 1] = np.nan
    with pytest.raises(MissingValuesError, match=r"Every row has missing values, in X2 \(\d+ rows\)"):
        ordag.learn(X, "cvs", variance=variance, missing="drop", strict=True)


def test_the_trimmed_test_keeps_its_level_whatever_missed_parents_do():
    random = np.random.default_rng(1)
    df = np.full(60, 95.0)
    draws = random.chisquare(df, (400, 60)) / df
    for lost in (0, 6, 12):
        inflated = draws.copy()
        inflated[:, :lost] *= 3.0
        assert np.mean([trimmed_bartlett(one, df)[1] < 0.05 for one in inflated]) <= 0.08
    spread = draws * random.uniform(0.3, 3.0, 60)
    assert np.mean([trimmed_bartlett(one, df)[1] < 0.01 for one in spread]) == 1
    few = np.sort(draws[0])[:48]
    literal = 95 * (48 * np.log(few.mean()) - np.log(few).sum()) / (1 + (48 / 95 - 1 / (48 * 95)) / (3 * 47))
    assert trimmed_bartlett(draws[0], df)[0] == pytest.approx(literal)


@pytest.mark.thorough
def test_the_verdict_with_fewer_rows_than_variables():
    tables = {
        "untested": ordag.simulate("er4", 100, 100, seed=1).X,
        "assumed": ordag.simulate("er4", 100, 100, seed=1, variances=(0.3, 3.0)).X,
    }
    for tier, X in tables.items():
        fit = ordag.learn(X, "cvs")
        assert fit.verdict.tier == tier
        assert "the fifth of the variables with the largest left out" in fit.verdict.grounds
    random = np.random.default_rng(2)
    hidden = np.outer(random.standard_normal(100), np.ones(100)) + random.standard_normal((100, 100))
    found = ordag.learn(hidden, "cvs")
    assert found.graph.edge_count
    assert found.verdict.tier == "untested"
    assert "hidden common causes are not looked for" in found.verdict.grounds


@pytest.mark.thorough
def test_equal_error_variances_are_seldom_rejected_with_few_rows():
    rejected = []
    for design in ("er2", "er4", "hub5"):
        for seed in range(10):
            fit = ordag.learn(ordag.simulate(design, 100, 100, seed=1000 + seed).X, "cvs")
            rejected.append(equality_test(fit).p_value < 0.05)
    assert np.mean(rejected) <= 0.15


@pytest.mark.thorough
def test_independent_columns_have_hardly_an_edge():
    random = np.random.default_rng(7)
    found = [ordag.learn(random.standard_normal((100, 100)), "cvs").graph.edge_count > 0 for _ in range(60)]
    assert np.mean(found) <= 0.1
