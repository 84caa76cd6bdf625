"""Experiments of a table as chips above the graph."""

from __future__ import annotations

import pytest
from hands import answered, arrows
from playwright.sync_api import expect

import ordag

pytestmark = pytest.mark.system


def test_experiments_are_left_out_and_brought_back(bench, tmp_path):
    path = tmp_path / "acted_on.csv"
    drawn = ordag.simulate("erdos-renyi", 6, 300, 3, degree=3, experiments=2)
    lines = [",".join([*drawn.names, "what"])]
    lines += [
        ",".join([*map(repr, row), label]) for row, label in zip(drawn.X.tolist(), drawn.experiments, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    first = drawn.experiments[300]
    page = bench(path, reading={"experiment": "what"})
    chips = page.locator("#conditions .chip")
    expect(chips).to_have_text(["untouched 300 rows", f"{first} 100 rows", f"{drawn.experiments[400]} 100 rows"])
    expect(chips.nth(1)).to_have_attribute("aria-pressed", "true")
    whole = arrows(page)
    assert whole == set(ordag.learn(path, experiment="what").graph.directed)
    answered(page, chips.nth(1).click)
    expect(chips.nth(1)).to_have_attribute("aria-pressed", "false")
    assert arrows(page) == set(ordag.learn(path, experiment="what", leave_out=[first]).graph.directed)
    expect(page.locator("#sentences")).not_to_contain_text(f"{first} (100 rows)")
    expect(page.locator("#again-body")).to_contain_text("leave_out=")
    answered(page, page.locator("#undo").click)
    assert arrows(page) == whole


def test_a_table_without_experiments_has_no_chips(bench):
    expect(bench("marks").locator("#conditions")).to_be_hidden()
