"""Answers with columns held fixed are those of what regressions on them leave, with the rows that are left."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from oracles.covariates import residuals

import ordag
from ordag import Moments
from ordag.bootstrapping import bootstrap
from ordag.cli import cli
from ordag.data.table import Table
from ordag.learners.pooled.resampled import Redrawn
from ordag.resampling.resamplers import RowResampler, to_draw
from ordag.show.provenance import Origin, command_line

NAMES = ("a", "b", "c")


def rows_in_groups(seed, n, groups, spread=5.0, effect=0.0):
    """Rows of three variables, a → b with this effect, whose means differ between groups; and the group of every row."""
    random = np.random.default_rng(seed)
    group = random.integers(0, groups, n)
    X = random.standard_normal((n, 3))
    X[:, 1] += effect * X[:, 0]
    return X + spread * random.standard_normal((groups, 3))[group] + 20.0, group


def as_columns(X, group):
    """A dict of the variables and of one indicator for every group but the first."""
    present = np.unique(group)[1:]
    columns = dict(zip(NAMES, X.T, strict=True)) | {f"g{k}": (group == k).astype(float) for k in present}
    return columns, [f"g{k}" for k in present]


def of_residuals(X, group):
    """Moments of the residuals, with a row less for every group but the first."""
    left, rank = residuals(X, [[f"g{k}" for k in group]])
    return Moments(len(X) - rank, X.mean(axis=0), NAMES, R=np.linalg.qr(left, mode="r"))


@pytest.mark.parametrize("settings", [{}, {"method": "cvs"}, {"method": "pc"}, {"method": "ges"}, {"method": "gds"}])
def test_every_method_learns_what_it_learns_from_residuals(settings):
    X, group = rows_in_groups(1, 120, 12, effect=0.9)
    columns, held = as_columns(X, group)
    found = ordag.learn(columns, adjust=held, **settings)
    expected = ordag.learn(of_residuals(X, group), **settings)
    assert (found.n, found.rows) == (expected.n, 120) == (109, 120)
    assert found.graph == expected.graph
    if found.sem is not None:
        np.testing.assert_allclose(found.sem.B, expected.sem.B, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(found.sem.intercept, expected.sem.intercept, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.edges["std_error"], expected.edges["std_error"], rtol=1e-8)
    if found.selection is not None:
        np.testing.assert_allclose(found.edges["p_value"], expected.edges["p_value"], rtol=1e-6)
    if found.score is not None:
        assert found.score == pytest.approx(expected.score, rel=1e-9)


def test_effects_and_tests_of_equal_variances_take_the_rows_that_are_left():
    X, group = rows_in_groups(2, 90, 20, effect=0.9)
    columns, held = as_columns(X, group)
    found, expected = ordag.learn(columns, adjust=held, method="cvs"), ordag.learn(of_residuals(X, group), method="cvs")
    one, other = (fit.effect("a", "b", interval="given-graph") for fit in (found, expected))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-6)
    table = Table(columns, adjust=held)
    assert (table.n, len(table.rows.values)) == (expected.n, 90 - int((np.bincount(group) == 1).sum()))


def test_a_sample_of_residual_rows_has_their_scatter_and_the_spread_of_the_rows_that_are_left():
    X, group = rows_in_groups(3, 100, 50)
    columns, held = as_columns(X, group)
    table = Table(columns, adjust=held)
    base, k = table.moments, len(table.rows.values)
    alone = int((np.bincount(group) == 1).sum())
    assert k == 100 - alone < 100
    rows, count = to_draw(table.rows.values, base)
    assert count == base.n == 100 - len(held)
    resampler = RowResampler.of(rows, base, count)
    seeds = np.random.SeedSequence(0).spawn(2000)
    logs = np.array([np.log(resampler.moments(0, seed).variances) for seed in seeds]) - np.log(base.variances)
    centre = -1.5 / base.n  # E log χ²/df ≈ −1/df, and a mean is taken out
    np.testing.assert_allclose(logs.mean(axis=0), centre, atol=0.03)
    np.testing.assert_allclose(logs.std(axis=0), np.sqrt(2.0 / base.n), rtol=0.25)
    redrawn = Redrawn(base, table.profile.rows, scarce=False)
    drawn = np.array([redrawn.draw(np.random.default_rng(seed))[1] for seed in seeds])
    np.testing.assert_allclose(drawn.std(axis=0), 0.9 * np.sqrt(2.0 / base.n), rtol=0.25)  # STRENGTH


@pytest.mark.parametrize("kind", ["rows", "half", "wishart", "poisson"])
def test_every_kind_of_resample(kind):
    X, group = rows_in_groups(4, 400, 10, effect=0.9)
    columns, held = as_columns(X, group)
    found = bootstrap(columns, 60, kind=kind, seed=1, adjust=held, method="cvs")
    expected = bootstrap(dict(zip(NAMES, of_rows(X, group).T, strict=True)), 60, kind=kind, seed=1, method="cvs")
    np.testing.assert_allclose(found.adjacency_support, expected.adjacency_support, atol=0.2)
    assert found.adjacency_support[0, 1] > 0.95


def of_rows(X, group):
    return residuals(X, [[f"g{k}" for k in group]])[0]


@pytest.mark.slow
def test_it_is_said_and_saved(tmp_path):
    X, group = rows_in_groups(5, 80, 3, effect=0.9)
    columns, held = as_columns(X, group)
    fit = ordag.learn(columns, adjust=held)
    assert "80 rows · 3 variables · g1 and g2 held fixed · " in fit.summary()
    assert "relations within the values of what is held fixed, which makes 80 rows count for 78" in repr(fit)
    document = json.loads(fit.to_json())
    assert (document["rows"], document["rows_count_for"]) == (80, 78)
    assert document["adjust"] == [{"name": "g1", "levels": None}, {"name": "g2", "levels": None}]
    fit.save(tmp_path / "fit.ordag")
    again = ordag.load(tmp_path / "fit.ordag")
    assert again.moments.adjusted_for == fit.moments.adjusted_for
    assert again.to_json() == fit.to_json()
    resampled = again.bootstrap(20)
    assert resampled.kind == "rows"
    unchecked = {one.key for one in fit.check().findings if one.level == "unchecked"}
    assert "logarithms" in unchecked
    assert "dependent_rows" not in unchecked


def test_parts_on_the_command_line(tmp_path):
    X, group = rows_in_groups(6, 90, 3, effect=0.9)
    columns, held = as_columns(X, group)
    table = np.column_stack(list(columns.values()))
    run = CliRunner().invoke
    for k, part in enumerate(np.array_split(table, 3)):
        np.savetxt(tmp_path / f"{k}.csv", part, delimiter=",", header=",".join(columns), comments="")
        done = run(cli, ["moments", f"{tmp_path}/{k}.csv", "--adjust", "g1,g2", "--out", f"{tmp_path}/{k}.moments"])
        assert "30 rows · 3 columns · g1 and g2 to be held fixed" in done.output
    parts = [f"{tmp_path}/{k}.moments" for k in range(3)]
    assert run(cli, ["moments", *parts[:2], "--out", f"{tmp_path}/two.moments"]).exit_code == 0
    np.savetxt(tmp_path / "whole.csv", table, delimiter=",", header=",".join(columns), comments="")
    answers = []
    for arguments in (
        [f"{tmp_path}/whole.csv", "--adjust", "g1", "--adjust", "g2"],
        parts,
        [f"{tmp_path}/two.moments", parts[2]],
    ):
        done = run(cli, ["learn", *arguments, "--json", "--method", "cvs"])
        assert done.exit_code == 0, done.output
        answers.append(json.loads(done.stdout))
    for one in answers:
        assert (one["rows"], one["rows_count_for"], [c["name"] for c in one["adjust"]]) == (90, 88, held)
        weights = [
            [edge["source"], edge["target"], pytest.approx(edge["weight"], rel=1e-8)] for edge in answers[0]["edges"]
        ]
        assert [[edge["source"], edge["target"], edge["weight"]] for edge in one["edges"]] == weights


def test_how_to_make_it_again_says_what_was_held_fixed(tmp_path):
    X, group = rows_in_groups(7, 60, 3, effect=0.9)
    columns, _held = as_columns(X, group)
    np.savetxt(
        tmp_path / "t.csv",
        np.column_stack(list(columns.values())),
        delimiter=",",
        header=",".join(columns),
        comments="",
    )
    fit = ordag.learn(tmp_path / "t.csv", adjust=["g1", "g2"], draws=0)
    origin = Origin("t.csv", {"adjust": ("g1", "g2")}, "")
    assert "--adjust g1,g2" in command_line(fit, origin)
    assert "--adjust a,b --adjust a,b" in command_line(fit, replace(origin, reading={"adjust": ("a,b",)}))
    out = tmp_path / "page.html"
    done = CliRunner().invoke(cli, ["learn", f"{tmp_path}/t.csv", "--adjust", "g1,g2", "--report", str(out)])
    assert done.exit_code == 0, done.output
    page = out.read_text()
    assert "adjust=['g1', 'g2']" in page
    assert "g1 and g2 held fixed" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "tables"), [(4, 40), *(pytest.param(g, 2000, marks=pytest.mark.thorough) for g in (4, 30))]
)
def test_where_means_explain_everything_edges_are_found_at_the_nominal_rate(groups, tables):
    alpha, false, pooled = 0.05, 0, 0
    for seed in range(tables):
        X, group = rows_in_groups(1000 + seed, 90, groups)
        columns, held = as_columns(X, group)
        table = Table(columns, adjust=held)
        false += ordag.learn(table.moments, method="cvs", alpha=alpha).graph.edge_count
        pooled += ordag.learn(table.moments, draws=0).graph.edge_count if seed < 40 else 0
    pairs = 3 * tables
    assert abs(false - alpha * pairs) < 4.0 * np.sqrt(pairs * alpha * (1.0 - alpha))
    assert pooled <= 4


def test_what_follows_from_a_fit_holds_the_same_fixed():
    X, group = rows_in_groups(8, 100, 3, effect=0.9)
    X[50, 1] += 8.0
    columns, held = as_columns(X, group)
    fit = ordag.learn(columns, adjust=held, draws=0)
    assert ordag.explain(fit, worst=1).rows.tolist() == ordag.explain(fit, [51], data=columns).rows.tolist() == [51]
    half = fit.test(split=True, compare=False)
    assert (half.moments.n, half.moments.rows) == (49, 50)
    assert ordag.test(fit, columns, split=True, compare=False).whole == pytest.approx(half.whole, nan_ok=True)


def test_a_category_of_text_is_one_covariate_whatever_the_table(tmp_path):
    X, group = rows_in_groups(9, 120, 5)
    expected = of_residuals(X, group)
    frame = pd.DataFrame(X, columns=NAMES).assign(site=[f"site {k}" for k in group])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    parts = [
        Moments.scan(part, adjust=["site"])
        for part in (frame.sort_values("site")[a:b] for a, b in ((0, 50), (50, 51), (51, 120)))
    ]
    for data in (frame, frame.to_dict("list"), tmp_path / "t.csv", tmp_path / "t.parquet", parts, parts[::-1]):
        moments = Table(data, adjust=["site"]).moments
        assert (moments.n, moments.rows, moments.names) == (116, 120, NAMES)
        np.testing.assert_allclose(moments.R.T @ moments.R, expected.R.T @ expected.R, rtol=1e-9, atol=1e-9)
        assert [sorted(one.levels) for one in moments.adjusted_for] == [[f"site {k}" for k in range(5)]]
    assert "site (5 values) held fixed" in repr(ordag.learn(frame, adjust=["site"], method="cvs"))
