"""Section 2 again: the bivariate models, the regions, the counterexample, the random models, and slips of the appendix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from budgets import THOROUGH
from scipy.stats import binomtest

from ordag.model import LinearSEM, identifiability
from ordag.paper import section2
from ordag.paper.experiment import Task
from ordag.paper.section2 import BLOCKS, MODELS, SECTION2, run, tasks
from ordag.paper.section2_report import QUESTIONS, SECTIONS, claims, interval, share_figure, shares

SMALL = [task for task in tasks(True) if task.p <= 20 or task.replicate == 0]


@pytest.fixture(scope="session")
def rows():
    """With a quarter of the models on which the algorithm is tried."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(section2, "WEIGHTS", section2.WEIGHTS[::4])
        return pd.DataFrame([{**task.address, **row} for task in SMALL for row in run(task)])


def part(rows, name):
    return rows[rows["part"] == name].dropna(axis=1, how="all")


def test_a_quick_run_is_a_part_of_the_full_one():
    quick, full = tasks(True), tasks(False)
    assert set(quick) < set(full)
    for design in ("homogeneous", "heterogeneous"):
        for p in (20, 50, 80):
            counts = [sum((task.design, task.p) == (design, p) for task in some) * MODELS for some in (quick, full)]
            assert counts == [60, 1000]
    assert all(SECTION2.seconds(task) < 5 for task in full)


@pytest.mark.slow
def test_rows_hold_plain_values_and_depend_on_the_address_alone(monkeypatch):
    monkeypatch.setattr(section2, "WEIGHTS", section2.WEIGHTS[::10])
    for task in SMALL if THOROUGH else SMALL[:3]:
        if task.design != "regions":
            assert run(task) == run(task)
        assert {type(value) for row in run(task) for value in row.values()} <= {str, int, float}
    one, other = (run(Task("section2", "heterogeneous", 20, 0, block, "identifiability")) for block in (0, BLOCKS - 1))
    assert one != other


@pytest.mark.slow
def test_bivariate_models(rows):
    models = part(rows, "figure 1")
    assert models["model"].tolist() == ["G₁", "G₁", "G₂", "G₃"]
    assert models["algorithm"].tolist() == models["condition"].tolist() == [1, 0, 1, 1]
    effect = models["error_variance_2"][:2] + models["weight"][:2] ** 2 * models["error_variance_1"][:2]
    assert models["variance_2"][:2].tolist() == pytest.approx(effect.tolist())


@pytest.mark.slow
def test_the_corrected_bound_is_exact_and_the_printed_one_is_not(rows):
    regions = part(rows, "regions")
    assert regions["right_against_bound"].sum() == 0
    assert regions["right_against_printed"].sum() > 0
    below = regions["r"] < 1 - 1e-9
    assert (regions["park_kim_printed"][below] > regions["park_kim"][below]).all()
    assert (regions["loh_buhlmann"] >= regions["park_kim"]).all()
    for r, printed in regions[["r", "loh_buhlmann_printed"]].to_numpy():
        lemma = r**2 * (r**2 - 1 + np.sqrt(r**4 - 1)) if r >= 1 else 1 - r**2 + np.sqrt(1 - r**4)
        assert printed == pytest.approx(lemma, abs=1e-7)


@pytest.mark.thorough
def test_counterexample(rows):
    orders = part(rows, "counterexample")
    assert orders["condition"].tolist() == [1, 0, 1]
    assert orders["taken"].unique().tolist() == ["b, k, a"]
    assert orders["algorithm"].tolist() == [0, 0, 1]
    assert orders["covariance_gap"].max() < 1e-12


def test_random_models(rows):
    table = shares(rows).set_index(["design", "p"])
    assert (table.loc["homogeneous"].filter(like="fails") == 0).all(axis=None)
    assert table.loc[("heterogeneous", 20), "models"] == 60
    models = part(rows, "random models")
    assert (models["condition"] == models["algorithm"]).all()
    assert ((models["margin"] > 1) == (models["condition"] == 1)).all()
    assert (models["every_order"] <= models["drawn_order"]).all()
    # With equal variances the margin is at least 1 plus the square of the smallest weight.
    assert models[models["design"] == "homogeneous"]["margin"].min() >= 1 + 0.25**2


@pytest.mark.parametrize("failing", [0, 1, 7, 60])
def test_interval_is_exact(failing):
    expected = binomtest(failing, 60).proportion_ci(0.95, "exact")
    assert interval(failing, 60) == pytest.approx((expected.low, expected.high))


def test_the_condition_cannot_hold_for_a_variable_and_itself():
    """Theorem 2.2 lets k run over all but the non-descendants of j; with k = j the two sides are equal."""
    sem = LinearSEM.from_edges([*"abc"], {("a", "b"): 2.0, ("b", "c"): 1.5}, [1.0, 1.2, 0.9])
    T = sem.total_effects() + np.eye(3)
    for m, j in enumerate(sem.order):
        rest = list(sem.order[m:])
        assert T[rest, j] ** 2 @ sem.omega[rest] == sem.omega[j]
    assert identifiability(sem).holds


def test_the_ends_of_the_appendixs_chain_are_independent_given_the_middle_only():
    sem = LinearSEM.from_edges(["X1", "X2", "X3"], {("X1", "X2"): 0.8, ("X2", "X3"): 1.1}, [1.0, 0.7, 0.9])
    assert sem.precision()[0, 2] == 0
    assert sem.covariance()[0, 2] == pytest.approx(0.8 * 1.1)


def test_claims_survive_a_csv_file(rows, tmp_path):
    sentences = claims(rows)
    assert len(sentences) == 6
    assert all("the paper says" in sentence and "here" in sentence for sentence in sentences)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert claims(pd.read_csv(tmp_path / "rows.csv")) == sentences


@pytest.mark.thorough
def test_figures(rows):
    files = SECTION2.figures(rows)
    names = ["section2_models", "section2_regions", "section2_shares"]
    assert sorted(files) == sorted(f"{name}.{end}" for name in names for end in ("png", "svg"))
    assert "As printed" in files["section2_regions.svg"].decode()


def test_shares_are_drawn_in_percent():
    """One of four models fails at p = 20, and three at p = 50."""
    models = pd.DataFrame(
        [
            {"part": "random models", "design": design, "p": p, **dict.fromkeys(QUESTIONS, float(model >= failing))}
            for design in SECTIONS
            for p, failing in ((20, 1), (50, 3))
            for model in range(4)
        ]
    )
    for axes in share_figure(models).axes:
        points = [line.get_ydata().tolist() for line in axes.lines if len(line.get_ydata()) == 1]
        assert points == [[25.0], [75.0]] * len(QUESTIONS)
        assert [label.get_text() for label in axes.get_xticklabels()] == ["p = 20", "p = 50"]
