"""Every finding is fine on data made to be fine, and says so on data that violate exactly it; the whole holds together."""

from __future__ import annotations

import json
import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from budgets import THOROUGH, thorough, tries
from click.testing import CliRunner

import ordag
from ordag.assess.equations import dependence_finding, f_test_of_added, independence_finding
from ordag.assess.finding import Finding
from ordag.assess.sorting import sorting_finding
from ordag.assess.stability import Baseline, Survival, influence_finding
from ordag.assess.verdict import quick_verdict
from ordag.checking import Diagnosis, check_fit, usual_draws
from ordag.checking import check as diagnose_any
from ordag.cli.check import check
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.errors import MissingValuesError, SettingError

diagnose = partial(diagnose_any, method="cvs")

ROW_KEYS = [
    "logarithms",
    "kurtosis",
    "mardia",
    "columns",
    "linearity",
    "residual_spread",
    "residual_pairs",
    "dependent_rows",
    "groups_of_rows",
    "duplicate_rows",
    "filled_cells",
    "influence",
]
KEYS = [
    "scale",
    "equal_variances",
    "condition",
    "sorting",
    "standardising",
    "units",
    "backward",
    "hidden_causes",
    *ROW_KEYS,
]
NAMES = ["a", "b", "c", "d"]


def model(omega=1.0, seed=1, n=800, noise=None):
    """a → b → c and a → d, with weights of size 1; `noise` replaces the Gaussian errors."""
    random = np.random.default_rng(seed)
    E = random.standard_normal((n, 4)) if noise is None else noise(random, (n, 4))
    E = E * np.sqrt(omega)
    a = E[:, 0]
    b = a + E[:, 1]
    c = b + E[:, 2]
    d = 0.9 * a + E[:, 3]
    return np.column_stack([a, b, c, d])


def frame(X):
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture(scope="module")
def good():
    return diagnose(frame(model()), same_units=True)


@pytest.mark.slow
def test_good_data_are_fine_in_everything_but_sorting(good):
    assert good.verdict.tier == "tested"
    assert [finding.key for finding in good.findings] == KEYS
    speaks = {finding.key: finding.level for finding in good.findings if finding.level != "fine"}
    assert speaks == dict.fromkeys(["sorting", "standardising", "units"], "look")
    assert set(good.fit.graph.directed) == {("a", "b"), ("b", "c"), ("a", "d")}


def spikes(X):
    X = X.copy()
    X[:6, 1] += 40.0
    return X


def in_time(random, shape):
    E = random.standard_normal(shape)
    for i in range(1, len(E)):
        E[i] = 0.6 * E[i - 1] + 0.8 * E[i]
    return E


def curved(X):
    X = X.copy()
    X[:, 2] += 0.4 * (X[:, 1] ** 2 - 2)
    return X


def fanning(seed=3):
    random = np.random.default_rng(seed)
    a = random.standard_normal(800)
    b = a + np.exp(0.5 * a) * random.standard_normal(800)
    return np.column_stack([a, b])


def near_tie(seed=5):
    """b is nearly a, and hardly varies more."""
    random = np.random.default_rng(seed)
    a = random.standard_normal(900)
    return np.column_stack([a, 0.9 * a + 0.5 * random.standard_normal(900)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "level", "X"),
    [
        ("scale", "warning", model() / model().std(axis=0)),
        ("scale", "look", np.random.default_rng(1).standard_normal((4000, 4)) * [10, 10.2, 10.4, 10.8]),
        ("equal_variances", "look", model([1, 0.2, 4, 1])),
        ("condition", "look", near_tie()),
        ("standardising", "warning", model([0.05, 1, 20, 3]) * [1, 30, 1, 0.1]),
        ("units", "warning", model([0.05, 1, 20, 3])),
        ("kurtosis", "look", model(noise=lambda random, shape: random.standard_t(4, shape))),
        ("mardia", "warning", model(noise=lambda random, shape: random.standard_t(3, shape))),
        ("mardia", "look", model(noise=lambda random, shape: random.exponential(1, shape) ** 0.7)),
        ("columns", "warning", np.exp(model())),
        ("columns", "look", model(noise=lambda random, shape: random.uniform(-1, 1, shape))),
        ("linearity", "warning", curved(model())),
        ("residual_spread", "warning", fanning()),
        ("dependent_rows", "warning", model(noise=in_time)),
        ("influence", "warning", spikes(model())),
        ("logarithms", "warning", np.exp(model([1, 1, 4, 0.1]) * [1.2, 0.3, 0.1, 1])),
    ],
)
def test_violations_are_found(key, level, X):
    finding = diagnose(X)[key]
    assert finding.level == level, finding
    assert finding.sentence.endswith(".")
    assert finding.numbers


def test_nothing_that_costs_arrows_is_fine_and_the_costliest_comes_first():
    def finding(key, level, kept):
        return Finding(key, level, "", {} if kept is None else {"kept": kept})

    findings = [
        finding("a", "warning", None),
        finding("b", "warning", 0.7),
        finding("c", "look", 0.85),
        finding("d", "warning", 0.2),
    ]
    groups = Diagnosis(None, tuple(findings), None).by_level()
    assert {level: [one.key for one in group] for level, group in groups.items()} == {
        "warning": ["d", "b", "a"],
        "look": ["c"],
    }


def test_rows_of_an_experiment_are_learned_from_as_such():
    X = np.random.default_rng(1).standard_normal((60, 2)) @ np.triu(np.ones((2, 2)))
    fit = ordag.learn({"a": X[:, 0], "b": X[:, 1], "what": ["", "a"] * 30}, experiment="what", draws=0)
    whole = fit.profile.complete
    baseline = Baseline.of(fit, whole.rows, whole.labels)
    rows = baseline.rows
    all_of_them = baseline.table_of(rows).moments
    np.testing.assert_allclose(all_of_them.covariance(), baseline.moments.covariance(), rtol=1e-9)
    some = baseline.table_of(rows, np.arange(40)).moments
    left = rows[:40] - np.tile([rows[0:40:2].mean(axis=0), rows[1:40:2].mean(axis=0)], (20, 1))
    np.testing.assert_allclose(some.R.T @ some.R * 40 / 60, left.T @ left, rtol=1e-9)


def test_a_row_that_is_not_far_out_can_decide_all_the_same(monkeypatch):
    X = np.random.default_rng(0).standard_normal((300, 3)) @ np.triu(np.ones((3, 3)))
    fit = ordag.learn(X, "ges", orient_by_order="class")
    for kept, level in ((0.39, "warning"), (0.85, "look"), (0.95, "fine")):
        monkeypatch.setattr(Baseline, "compare", lambda self, other, kept=kept: Survival(kept, 0.0, 1.0 - kept))
        found = influence_finding(Baseline.of(fit, X), X, 1e-9)
        assert found.sentence.startswith("No row lies too far out") == (level == "fine")
        assert found.sentence.startswith(f"Without the 3 rows farthest out {kept:.0%}".replace("%", " %")) == (
            level != "fine"
        )
        assert found.level == level
        assert found.numbers["left_out"] == 3
        assert (
            influence_finding(Baseline.of(fit, X), np.vstack([X, X[:1]]), 1e-9).numbers["left_out"] == 4
        )  # 1 %, or more


@pytest.mark.slow
def test_a_broken_condition_is_a_warning():
    """Selection leaves arrows out; the model fitted without them can contradict its own order."""
    found = [
        diagnose(ordag.simulate("erdos-renyi", 12, 40, seed=s, degree=5).X, draws=1)["condition"] for s in tries(2, 12)
    ]
    broken = [finding for finding in found if finding.level == "warning"]
    assert broken
    assert all(finding.numbers["holds"] is False and finding.numbers["tightest"]["margin"] <= 1 for finding in broken)


def test_neighbouring_rows_are_compared_about_their_means():
    X = np.random.default_rng(1).normal([0.0, 5.0, -1e3], size=(60, 3))
    finding = dependence_finding(X, np.zeros((3, 3), dtype=bool), ordag.Moments.from_rows(X, ["a", "b", "c"]), 0.01)
    Z = X - X.mean(axis=0)
    r = (Z[1:] * Z[:-1]).sum(axis=0) / np.square(Z).sum(axis=0)
    assert finding.numbers["correlation"] == pytest.approx(r[np.abs(r).argmax()])


def test_a_common_cause_shows_in_a_pair_of_residuals():
    random = np.random.default_rng(1)
    hidden = random.standard_normal(400)
    X = np.column_stack([hidden, -hidden, np.zeros(400)]) * 0.6 + random.standard_normal((400, 3))
    nobody = np.zeros((3, 3), dtype=bool)
    finding = independence_finding(X, nobody, ("a", "b", "c"), 0.01)
    assert finding.level == "look"
    assert finding.numbers["pair"] == ["a", "b"]
    assert "common cause" in finding.sentence
    assert independence_finding(random.standard_normal((400, 3)), nobody, ("a", "b", "c"), 0.01).level == "fine"


@pytest.mark.slow
def test_backward_disagrees_where_variances_mislead():
    levels = [
        diagnose(ordag.simulate("erdos-renyi", 8, 300, seed=s, degree=3, variances=(0.05, 5)).X, draws=1)
        for s in (range(8) if THOROUGH else (3, 4))
    ]
    assert any(diagnosis["backward"].level == "warning" for diagnosis in levels)
    assert all(-1 <= diagnosis["backward"].numbers["tau"] <= 1 for diagnosis in levels)


def test_two_variables_explain_each_other_alike_but_for_rounding():
    random = np.random.default_rng(0)
    for _ in range(8):
        root = np.array([[1.0, random.uniform(0.5, 2.0)], [0.0, 1.0]])
        moments = Moments(100, np.zeros(2), ["a", "b"], R=10.0 * root)
        found = sorting_finding(Baseline.of(ordag.learn(moments, "cvs")))
        assert found.numbers["tau_r2"] == 0.0


def test_sorting_is_fine_where_the_order_is_not_that_of_the_variances():
    """a → b → c, where b varies far more than its effect."""
    E = np.random.default_rng(4).standard_normal((2000, 3))
    a = E[:, 0]
    b = 5 * a + E[:, 1]
    c = 0.4 * b + E[:, 2]
    diagnosis = diagnose(np.column_stack([a, b, c]))
    finding = diagnosis["sorting"]
    assert diagnosis.fit.order == ("X1", "X2", "X3")
    assert finding.level == "fine"
    assert finding.numbers["tau_variance"] == pytest.approx(1 / 3)
    assert finding.numbers["hamming_sort_and_regress"] > 0
    assert 0 < finding.numbers["varsortability"] < 1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer_and_another_seed_other_units():
    X = model([0.05, 1, 20, 3])
    assert diagnose(X, seed=1).to_json() == diagnose(X, seed=1).to_json()
    assert diagnose(X, seed=1)["units"].numbers != diagnose(X, seed=2)["units"].numbers


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, thorough(1), thorough(2)])
def test_relabelling_the_columns_relabels_the_answer(seed):
    X = ordag.simulate("erdos-renyi", 7, 300, seed=seed, degree=3, variances=(0.5, 3)).X
    data = pd.DataFrame(X, columns=[f"v{j}" for j in range(7)])
    shuffled = data[list(np.random.default_rng(seed).permutation(data.columns))]
    one, other = diagnose(data), diagnose(shuffled)
    assert one.verdict.tier == other.verdict.tier
    for a, b in zip(one.findings, other.findings, strict=True):
        assert (a.key, a.level, a.sentence) == (b.key, b.level, b.sentence)
        assert close(a.numbers, b.numbers), a.key


def close(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return sorted(a) == sorted(b)
    return a == pytest.approx(b, rel=1e-6, abs=1e-12) if isinstance(a, float) else a == b


@pytest.mark.slow
def test_moments_leave_what_needs_rows_unchecked():
    X = model([1, 0.2, 4, 1])
    whole, light = diagnose(frame(X)), diagnose(Moments.from_rows(frame(X)))
    assert light.verdict.tier == whole.verdict.tier
    for finding in light.findings:
        if finding.key in ROW_KEYS:
            assert (finding.level, finding.sentence) == ("unchecked", "not checked: needs the rows.")
        else:
            assert finding.level == whole[finding.key].level
    assert "Not checked" in repr(light)


def test_a_correlation_matrix_is_uninformative():
    moments = Moments.from_covariance(np.corrcoef(model(), rowvar=False), 800)
    assert diagnose(moments).verdict.tier == "uninformative"


def test_json_round_trip(good):
    document = json.loads(good.to_json())
    assert document == good.to_dict()
    assert document["verdict"]["tier"] == "tested"
    assert [finding["key"] for finding in document["findings"]] == KEYS
    for finding in document["findings"]:
        assert finding["level"] in ("fine", "look", "warning", "unchecked")
    assert document["fit"]["order"][0] == "a"


def test_nothing_that_goes_in_is_changed():
    X = np.exp(model())
    before = X.copy()
    diagnose(X)
    assert (before == X).all()


def test_few_rows_are_said_to_be_few():
    diagnosis = diagnose(model(n=12))
    assert diagnosis["mardia"].sentence == "not checked: needs at least 20 rows, and there are 12."
    assert "would often" in diagnosis["equal_variances"].sentence


@pytest.mark.slow
def test_missing_values_are_dropped_on_request():
    data = frame(model())
    data.loc[[3, 5], "b"] = np.nan
    with pytest.raises(MissingValuesError):
        diagnose(data, missing="refuse")
    whole = diagnose(data.dropna())
    assert diagnose(data, missing="drop")["mardia"].numbers == whole["mardia"].numbers


def test_large_tables_are_sampled_evenly():
    X = np.arange(40_000.0).reshape(10_000, 4)
    rows = Table(X, strict=True).rows.thinned(2_000)
    assert rows.stride == 8
    assert (rows.values == X[::8]).all()
    assert Table(Moments.from_rows(model())).rows is None


@pytest.mark.slow
def test_groups_and_same_units():
    X = frame(model([0.05, 1, 20, 3]))
    assert diagnose(X)["units"].level == "warning"
    assert diagnose(X, same_units=True)["units"].level == "look"
    assert "note" in diagnose(X, same_units=True)["units"].sentence
    assert "depend on" not in diagnose(X, same_units=True).verdict.sentence
    one = diagnose(X, groups=[NAMES])["units"]
    assert (one.level, one.numbers["kept"]) == ("fine", 1.0)
    some = diagnose(X, groups=[["a", "b"], ["c", "d"]])["units"].numbers["kept"]
    assert some != diagnose(X)["units"].numbers["kept"]
    with pytest.raises(SettingError, match="no column z"):
        diagnose(X, groups=[["a", "z"]])
    with pytest.raises(SettingError, match="more than once"):
        diagnose(X, groups=[["a", "b"], ["b"]])


@pytest.mark.parametrize("settings", [{"draws": 0}, {"method": "pc"}, {"alpha": 2}, {"test": "x"}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingError):
        diagnose(model(n=60), **settings)


@pytest.mark.slow
def test_settings_of_the_learner_are_passed_on():
    X = frame(model())
    diagnosis = diagnose(X, parents="bic", direction="backward")
    assert diagnosis.fit.settings["parents"] == "bic"
    assert "causes first instead of effects" in diagnosis["backward"].sentence
    assert diagnose(X, correction="bh", test="t").fit.settings["test"] == "t"


def test_no_arrows():
    diagnosis = diagnose(np.random.default_rng(1).standard_normal((300, 3)) * [1, 2, 4])
    assert not diagnosis.fit.graph.directed
    assert {diagnosis[key].level for key in ("condition", "units", "standardising", "linearity", "backward")} == {
        "fine"
    }


@pytest.mark.slow
def test_collinear_rows_leave_the_rest_standing():
    random = np.random.default_rng(1)
    X = random.standard_normal((200, 3))
    X[:, 2] = X[:, 0] + X[:, 1] + 1e-13 * random.standard_normal(200)
    diagnosis = diagnose(X + np.array([0.0, 0.0, 50.0]), strict=True)
    assert diagnosis.findings
    assert all(
        np.isfinite(value) for f in diagnosis.findings for value in f.numbers.values() if isinstance(value, float)
    )


@pytest.mark.slow
def test_sachs_depends_on_units_and_transformation():
    diagnosis = diagnose("sachs")
    assert diagnosis.verdict.tier == "assumed"
    assert "The arrows depend on the units and the transformation of the columns" in diagnosis.verdict.help
    for key in ("units", "standardising", "logarithms"):
        assert diagnosis[key].level == "warning"
        assert "the arrows depend on" in diagnosis[key].sentence
    assert diagnosis["columns"].level == "warning"


def test_marks():
    """Equal error variances pass, but only just, and the table is sorted by the students' marks."""
    diagnosis = diagnose("marks", alpha=0.05)
    assert diagnosis.verdict.tier == "tested"
    assert "only just not rejected" in diagnosis.verdict.grounds
    assert diagnosis.verdict.numbers["p_value"] == pytest.approx(0.0311, abs=5e-4)
    assert diagnosis["dependent_rows"].level == "look"
    assert diagnosis["kurtosis"].numbers["p_value"] == pytest.approx(0.798, abs=5e-4)


@pytest.mark.slow
def test_quick_verdict_is_the_verdict_of_the_diagnosis():
    fit = ordag.learn("marks", method="cvs")
    quick = quick_verdict(fit)
    assert quick == diagnose("marks").verdict
    assert quick_verdict(ordag.learn("marks", "gds", seed=1)).tier == "tested"
    assert quick_verdict(ordag.learn("marks", "pc")).tier is None
    assert quick_verdict(ordag.learn("marks", "pc", orient_by_order="class")).tier == "tested"
    assert quick.expected == fit.forecast()
    assert quick.expected.sentence in quick.help


def run(*words):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(check, list(words), catch_exceptions=False)


@pytest.mark.slow
def test_the_command_says_the_verdict_first():
    result = run("sachs", "--method", "cvs")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "Ordag · sachs · check · 853 rows · 11 variables · 9 arrows"
    assert lines[2] == "Verdict · 3 of 4, assumed"
    titles = [lines.index(title) for title in ("Warnings", "Worth a look", "Fine")]
    assert titles == sorted(titles)
    text = " ".join(result.stdout.split())
    assert "The arrows depend on the units and the transformation of the columns" in text


@pytest.mark.slow
def test_the_command_prints_json_alone():
    result = run("marks", "--json", "--alpha", "0.05", "--same-units", "--groups", "algebra, analysis ;vectors")
    assert json.loads(result.stdout)["verdict"]["tier"] == "tested"
    assert result.stderr == ""
    assert result.exit_code == 0


@pytest.mark.slow
def test_names_are_text(tmp_path):
    names = ["[bold]x[/bold]", "<b>&", "c\nd", "{e} %s \x1b[31m"]
    data = pd.DataFrame(curved(model([0.05, 1, 20, 3])), columns=names)
    diagnosis = diagnose(data)
    assert "\x1b" not in repr(diagnosis)
    assert json.loads(diagnosis.to_json()) == diagnosis.to_dict()
    data.rename(columns={"c\nd": "cd", names[3]: "e"}).to_csv(tmp_path / "t[red].csv", index=False)
    shown = run(str(tmp_path / "t[red].csv"))
    assert shown.exit_code == 0
    assert "t[red].csv" in shown.stdout


@pytest.mark.slow
def test_commensurable_units_in_a_word():
    assert diagnose("sachs", units="commensurable").to_dict() == diagnose("sachs", same_units=True).to_dict()
    with pytest.raises(SettingError, match="commensurable"):
        diagnose("marks", units="metric")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "pooled", "gds"])
def test_every_method_is_checked_as_it_learns(method):
    X = frame(model(n=300))
    diagnosis = diagnose_any(X, method=method, draws=2)
    baseline = ordag.learn(X, method)
    assert diagnosis.fit.method == baseline.method
    assert diagnosis.fit.graph == baseline.graph
    assert diagnosis.verdict.tier == baseline.verdict.tier
    assert diagnosis["backward"].level == "unchecked"
    assert {finding.key for finding in diagnosis.findings} == set(KEYS)


@pytest.mark.slow
def test_units_reach_the_pooled_search():
    X = frame(model(n=300))
    assert diagnose_any(X, same_units=True, draws=1).fit.settings["units"] == "commensurable"
    assert diagnose_any(X, groups=[["a", "b"]], draws=1).fit.settings["groups"] == [["a", "b"]]
    assert diagnose_any(X, draws=1)["condition"].level == "unchecked"
    kept = diagnose_any(X * [1.0, 30.0, 0.1, 5.0], draws=5)["units"]
    assert kept.numbers["turned"] < diagnose(X * [1.0, 30.0, 0.1, 5.0], draws=5)["units"].numbers["turned"]


@pytest.mark.slow
def test_settings_of_cvs_make_it_cvs():
    assert diagnose_any("marks", alpha=0.05).fit.method == "cvs"
    assert diagnose_any("marks", parents="bic").fit.method == "cvs"


@pytest.mark.slow
def test_a_class_has_no_equations_to_check():
    with pytest.raises(SettingError, match="method='ges' gives a class of graphs, which has no equations to check"):
        diagnose_any("marks", method="ges")
    assert diagnose_any("marks", method="ges", orient_by_order="class").fit.method == "ges"


@pytest.mark.slow
def test_a_given_fit_is_checked_as_one_that_is_learned():
    whole = diagnose("marks", alpha=0.05)
    given = check_fit(ordag.learn("marks", "cvs", alpha=0.05), alpha=0.05, draws=20)
    assert [finding.to_dict() for finding in given.findings] == [finding.to_dict() for finding in whole.findings]
    assert given.verdict == whole.verdict


@pytest.mark.thorough
def test_a_given_fit_is_checked_by_the_rows_that_it_keeps_and_in_the_units_that_it_was_told():
    rows = np.random.default_rng(0).standard_normal((60_000, 3)) @ np.array([[1.0, 1, 0], [0, 1, 1], [0, 0, 1]])
    fit = ordag.learn(rows, "cvs")
    stride = fit.profile.stride
    assert stride > 1
    assert f"(From every {stride}th row.)" in check_fit(fit, draws=1)["columns"].sentence
    told = ordag.learn("marks", "pooled", units="commensurable")
    assert check_fit(told, draws=1)["units"] == diagnose_any("marks", units="commensurable", draws=1)["units"]
    assert "because you declared" in check_fit(told, draws=1)["units"].sentence


def test_the_call_checks_a_fit_as_the_fit_checks_itself():
    fit = ordag.learn("marks", "cvs", alpha=0.05)
    assert ordag.check(fit, draws=1, alpha=0.2).to_json() == fit.check(draws=1, alpha=0.2).to_json()
    for name, value in {"method": "cvs", "columns": ["algebra"], "units": "commensurable", "correction": "bh"}.items():
        with pytest.raises(SettingError, match=f"^{name}: this graph is learned already"):
            ordag.check(fit, **{name: value})


def test_graphs_are_learned_again_three_times_at_the_least():
    fit = SimpleNamespace(method_settings=SimpleNamespace(seconds=1.0), names=range(50))
    assert usual_draws(fit) == 3


@pytest.mark.slow
def test_a_slow_method_learns_again_a_few_times_and_says_how_often():
    quick, slow = ordag.learn("marks", "cvs"), ordag.learn("marks", "pooled", kicks=0)
    assert usual_draws(quick) == 20
    wide = ordag.learn(np.random.default_rng(0).standard_normal((400, 60)), "pooled", kicks=0, draws=4)
    assert 3 <= usual_draws(wide) < usual_draws(slow) <= 20
    assert check_fit(quick)["units"].numbers["draws"] == 20


@pytest.mark.slow
def test_the_class_to_which_error_variances_say_nothing_is_the_same_in_other_units():
    fit = ordag.learn(
        model(omega=np.array([1.0, 4.0, 0.5, 2.0]), n=300) @ np.diag([1.0, 3.0, 0.2, 5.0]), "pooled", draws=0
    )
    wide = ordag.learn(np.random.default_rng(3).standard_normal((300, 12)).cumsum(axis=1), "pooled", draws=0)
    for one in (fit, wide):
        baseline = Baseline.of(one)
        for seed in range(3):
            factors = 10.0 ** np.random.default_rng(seed).uniform(-1, 1, len(one.names))
            anew = baseline.learn(baseline.scaled(factors))
            np.testing.assert_array_equal(anew.compelled.source, one.compelled.source)
            np.testing.assert_array_equal(baseline.rescaled(factors), anew.graph.adjacency)


def test_where_no_error_variances_are_compared_an_open_direction_cannot_turn():
    random = np.random.default_rng(2)
    first = np.exp(random.standard_normal(80))
    X = np.column_stack([first, 40.0 * first * np.exp(0.3 * random.standard_normal(80))])
    for units in (None, "commensurable"):
        found = check_fit(ordag.learn(X, "pooled", units=units, draws=0))
        stay = [found[key].numbers["kept"] for key in ("standardising", "logarithms", "influence")]
        assert (min(stay) == 1.0) == (units is None)
        assert (found["sorting"].level == "unchecked") == (units is None)


def test_arrows_that_the_class_directs_can_turn_where_no_error_variances_are_compared():
    E = np.random.default_rng(1).standard_normal((400, 3))
    X = np.column_stack([E[:, 0], E[:, 1], E[:, 0] + E[:, 1] + E[:, 2]])
    collider = Baseline.of(ordag.learn(X / X.std(axis=0), "pooled", draws=0))
    assert not collider.arbitrary.any()
    assert collider.compare(collider.arrows.T) == Survival(0.0, 1.0, 0.0)
    chain = np.column_stack([E[:, 0], E[:, 0] + E[:, 1], E[:, 0] + E[:, 1] + E[:, 2]])
    free = Baseline.of(ordag.learn(chain / chain.std(axis=0), "pooled", draws=0))
    assert free.compare(free.arrows.T) == Survival(1.0, 0.0, 0.0)
    assert free.compare(np.zeros((3, 3), dtype=bool)) == Survival(0.0, 0.0, 1.0)
    assert Baseline.of(ordag.learn(X, "cvs")).arbitrary is None


@pytest.mark.slow
def test_fewer_standardised_tables_are_said_to_be_fewer(monkeypatch):
    fit = ordag.learn("marks", "cvs")
    assert "average" not in check_fit(fit)["standardising"].sentence
    monkeypatch.setattr(type(fit.method_settings), "seconds", 0.0005)  # as if it took long
    few = check_fit(fit, draws=None)["standardising"]
    assert few.numbers["draws"] == usual_draws(fit) == 4
    assert "(average of 4)" in few.sentence


def test_columns_that_add_nothing_to_a_regression_or_leave_no_row_have_no_p_value():
    X = np.random.default_rng(0).standard_normal((6, 5))
    target, base = X[:, 0], X[:, 1:3]
    assert f_test_of_added(target, base, base @ np.array([[1.0], [2.0]])) == (1.0, 0.0)  # no new column
    assert f_test_of_added(target, base, X[:, 3:].repeat(2, axis=1) ** [1, 2, 1, 2]) == (
        1.0,
        0.0,
    )  # no degree of freedom
    p_value, share = f_test_of_added(target, base, X[:, 3:4])
    assert 0.0 < p_value < 1.0
    assert 0.0 < share < 1.0
