"""Categories as causes from end to end: the answer in every form, effects, resamples, decisions, and other kinds of data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from oracles import causes as oracle
from scipy import stats

import ordag
from ordag.cli import cli
from ordag.show.document import document

N = 300


def rows(seed=1):
    """site (three values) → a → b, and sex → b."""
    random = np.random.default_rng(seed)
    site, sex = random.integers(0, 3, N), random.integers(0, 2, N)
    a = site + random.standard_normal(N)
    b = a + 1.5 * sex + random.standard_normal(N)
    return {"a": a, "b": b, "site": np.array(["x", "y", "z"])[site], "sex": np.array(["f", "m"])[sex]}


@pytest.fixture(scope="module")
def fit():
    return ordag.learn(rows(), cause=["site", "sex"])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path, data = tmp_path_factory.mktemp("causes") / "rows.csv", rows()
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def test_the_document_has_categories_with_their_groups(fit):
    said = json.loads(fit.to_json())
    assert said["nodes"] == ["a", "b", "site", "sex"]
    assert [one["role"] for one in said["columns"]] == ["variable", "variable", "cause", "cause"]
    site, sex = said["causes"]
    assert (site["name"], site["levels"], sex["levels"]) == ("site", ["x", "y", "z"], ["f", "m"])
    [effect] = site["effects"]
    data = rows()
    means = [data["a"][data["site"] == level].mean() for level in "xyz"]
    assert effect["target"] == "a"
    np.testing.assert_allclose(effect["means"], means, rtol=1e-9)
    np.testing.assert_allclose(effect["differences"], np.array(means) - means[0], rtol=1e-9, atol=1e-12)
    expected = stats.f_oneway(*[data["a"][data["site"] == level] for level in "xyz"])
    assert (effect["f"], effect["p_value"]) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-6)
    first = said["edges"][0]
    assert (first["source"], first["target"], first["weight"], first["reason"]) == ("site", "a", None, "knowledge")


def test_bic_counts_the_columns_of_categories(fit):
    data = rows()
    X = np.column_stack([data["a"], data["b"]])
    assert fit.graph.directed == (("a", "b"),)
    assert fit.causes.arrows.tolist() == [[True, False], [False, True]]
    left = oracle.rss(X, 0, [], [data["site"]])[0] * oracle.rss(X, 1, [0], [data["sex"]])[0] / N**2
    assert fit.causes.bic(fit.graph) == pytest.approx(N * np.log(left) + np.log(N) * (1 + 2 + 1))


def test_arrows_of_categories_have_their_probabilities_among_the_edges(fit):
    edges = fit.edges.set_index(["source", "target"])
    for one in fit.cause_arrows:
        row = edges.loc[one.source, one.target]
        assert (row["probability"], row["edge_probability"], row["p_value"]) == (
            one.probability,
            one.probability,
            one.test.p_value,
        )
        assert (row["reason"], row["hidden_cause"]) == ("knowledge", False)


def test_differences_have_the_errors_of_a_regression_on_the_other_causes(fit):
    [found] = [one for one in fit.cause_arrows if one.source == "sex"]
    data = rows()
    A = np.column_stack([np.ones(N), data["a"], data["sex"] == "m"])
    solution, left, *_ = np.linalg.lstsq(A, data["b"], rcond=None)
    error = np.sqrt(left[0] / (N - 3) * np.linalg.inv(A.T @ A)[2, 2])
    assert (found.target, found.differences[1], found.std_errors[1]) == (
        "b",
        pytest.approx(solution[2], rel=1e-9),
        pytest.approx(error, rel=1e-9),
    )


def test_effects_of_groups_go_by_all_ways(fit):
    found = fit.group_effect("site", "b", reference="y")
    data = rows()
    A = np.column_stack([np.ones(N), data["site"] == "x", data["site"] == "z", data["sex"] == "m"])
    solution, left, *_ = np.linalg.lstsq(A, data["b"], rcond=None)
    error = np.sqrt(left[0] / (N - 4) * np.diag(np.linalg.inv(A.T @ A)))
    away = stats.t.ppf(0.975, N - 4) * error
    np.testing.assert_allclose(np.array(found.differences)[[0, 2]], solution[1:3], rtol=1e-9)
    np.testing.assert_allclose(np.array(found.low)[[0, 2]], (solution - away)[1:3], rtol=1e-9)
    assert (found.path_found, found.differences[1], found.other) == (True, 0.0, ("sex",))
    assert found.probability > 0.95
    with pytest.raises(ordag.SettingError, match="source='site' is a category, and has an effect for each"):
        fit.effect("site", "b")
    with pytest.raises(ordag.SettingError, match="target='site' is a category, which has no causes"):
        fit.effect("a", "site")
    with pytest.raises(ordag.ColumnError, match="has no value 'q'"):
        fit.group_effect("site", "b", reference="q")
    with pytest.raises(ordag.SettingError, match="is no category that may be a cause"):
        fit.group_effect("a", "b")


def test_saved_fits_and_graph_files(fit, tmp_path):
    fit.save(tmp_path / "fit.ordag")
    again = ordag.load(tmp_path / "fit.ordag")
    assert again.to_json() == fit.to_json()
    assert str(again.group_effect("sex", "b")) == str(fit.group_effect("sex", "b"))
    for ending in ("dot", "graphml", "gml", "json"):
        fit.save(tmp_path / f"graph.{ending}")
        assert "category" in (tmp_path / f"graph.{ending}").read_text() or ending == "json"
        graph = ordag.Dag.parse((tmp_path / f"graph.{ending}").read_text(), ending)
        assert set(graph.directed) == {("site", "a"), ("sex", "b"), ("a", "b")}
    fit.save(tmp_path / "edges.csv")
    assert (tmp_path / "edges.csv").read_text().splitlines()[1].startswith("site,a,,,")


def test_pictures_and_the_page_have_a_node_for_every_category(fit):
    for kind in ("graph", "matrix", "neighbourhood", "order"):
        assert fit.plot(kind).figure is not None
    page = document(fit)
    assert page["names"] == ["a", "b", "site", "sex"]
    assert page["order"][:2] == [2, 3]
    assert [one["at"] for one in page["categories"]] == [2, 3]
    assert page["model"]["spread"][2:] == page["data"]["mean"][2:] == [None, None]
    pairs = page["pairs"]
    of_site = [k for k, source in enumerate(pairs["source"]) if source == 2]
    assert [pairs["target"][k] for k in of_site] == [0]
    assert set(of_site) <= set(page["fixed"]["required"])
    assert "stroke-dasharray" in fit._repr_html_()


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_terminal_says_what_categories_do(fit, width):
    text = fit.summary(width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "site (3 values) and sex (2 values) as possible causes" in " ".join(text.split())
    assert "Categories as causes" in text
    assert "nan" not in text


def test_commands(path):
    done = run("learn", path, "--cause", "site,sex", "--json", "--draws", "0")
    assert done.exit_code == 0, done.output
    assert [one["effects"][0]["target"] for one in json.loads(done.stdout)["causes"]] == ["a", "b"]
    done = run(
        "effect", path, "--cause", "site", "--cause", "sex", "--from", "sex", "--to", "b", "--draws", "0", "--json"
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["reference"], found["held_fixed"], [one["group"] for one in found["groups"]]) == (
        "f",
        ["site"],
        ["f", "m"],
    )
    done = run("learn", path, "--cause", "site", "--drop", "sex", "--method", "ges")
    assert "hold site fixed instead (adjust, --adjust)" in str(done.exception)
    done = run("effect", path, "--cause", "site,sex", "--from", "sex", "--to", "b", "--replicates", "20")
    assert "take no resamples" in str(done.exception)


def test_moments_on_the_command_line(path, tmp_path):
    done = run("moments", path, "--cause", "site,sex", "--out", f"{tmp_path}/all.moments")
    assert "300 rows · 2 columns · site (3 values) and sex (2 values) as possible causes" in done.output
    found = json.loads(run("learn", f"{tmp_path}/all.moments", "--json", "--draws", "0").stdout)
    expected = json.loads(run("learn", path, "--cause", "site,sex", "--json", "--draws", "0").stdout)
    assert found["score"] == pytest.approx(expected["score"], rel=1e-9)
    assert [one["name"] for one in found["causes"]] == ["site", "sex"]


@pytest.mark.parametrize("method", ["pooled", "cvs"])
def test_resamples_draw_the_categories_with_the_rows(method):
    settings = {"draws": 0} if method == "pooled" else {}
    found = ordag.bootstrap(rows(), 20, cause=["site", "sex"], method=method, seed=1, workers=1, **settings)
    assert found.kind == "rows"
    assert found.cause_support.shape == (2, 2)
    assert found.cause_support[0, 0] == found.cause_support[1, 1] == 1.0
    supported = ordag.learn(rows(), cause=["site", "sex"], method=method, bootstrap=10, **settings)
    assert supported.edges.set_index(["source", "target"]).loc[("site", "a"), "support"] == 1.0
    assert ordag.learn(rows(), cause=["site", "sex"], method=method, **settings).bootstrap(10).kind == "rows"


def test_decisions_are_those_within_the_categories(fit):
    assert fit.adjust("a", "b").adjusted_for == ("site", "sex")
    assert fit.adjust("a", "b").estimates[0].effect == pytest.approx(fit.sem.B[0, 1], rel=0.05)
    assert fit.test(compare=False).moments.n == N - 3
    assert len(fit.explain(worst=3).rows) == 3
    assert fit.intervene(set={"a": 1.0}).sentence
    checked = fit.check(draws=2)
    assert checked.fit is fit
    assert "unchecked" in {one.level for one in checked.findings if one.key == "logarithms"}


def test_methods_without_categories_are_listed_with_the_reason():
    compared = ordag.compare(rows(), cause=["site", "sex"], methods=["cvs", "ges"])
    problems = {one.method: one.problem for one in compared.outcomes}
    assert not problems["cvs"]
    assert "takes no categories" in problems["ges"]


def test_incomplete_rows_and_rare_levels():
    data = rows()
    data["b"] = np.where(np.random.default_rng(2).random(N) < 0.1, np.nan, data["b"])
    whole = int(np.flatnonzero(~np.isnan(data["b"]))[0])
    data["site"] = np.where(np.arange(N) == whole, "rare", data["site"])
    fit = ordag.learn(data, cause=["site", "sex"], draws=64)
    assert (fit.rows, fit.moments.missing) == (N, "em")
    assert fit.causes.arrows.tolist() == [[True, False], [False, True]]
    [effect] = [one for one in fit.cause_arrows if one.source == "site"]
    assert effect.rows[effect.levels.index("rare")] == 1


@pytest.mark.system
def test_a_table_of_dask():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    found = ordag.learn(dd.from_pandas(pd.DataFrame(rows()), npartitions=3), cause=["site", "sex"], draws=0)
    expected = ordag.learn(rows(), cause=["site", "sex"], draws=0)
    assert found.score == pytest.approx(expected.score, rel=1e-9)
    assert found.causes.arrows.tolist() == expected.causes.arrows.tolist()


def test_effects_of_several_causes_are_those_of_the_graph_with_its_categories():
    random = np.random.default_rng(1)
    site = random.integers(3, size=300)
    a = random.standard_normal(300) + site
    b = 0.8 * a + random.standard_normal(300) - 2.0 * site
    c = 0.7 * b + 0.5 * a + random.standard_normal(300)
    table = {"site": np.array(list("xyz"))[site], "a": a, "b": b, "c": c}
    fit = ordag.learn(table, cause=["site"], knowledge={"tiers": "a | b | c"}, draws=20)
    slopes = np.linalg.lstsq(np.column_stack([a, b, np.ones(300)]), c, rcond=None)[0][:2]
    assert fit.joint_effect(["a", "b"], "c").columns["estimate"][:2] == pytest.approx(slopes)
    np.testing.assert_allclose(fit.possible_effects(["a", "b"], "c").values, slopes[None, :])
