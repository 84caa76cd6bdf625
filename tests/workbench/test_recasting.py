"""One click gives a column another role: what is read then is what the settings of reading say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hands import answered
from playwright.sync_api import expect

from ordag.errors import SettingError
from ordag.workbench.recasting import changed_reading
from ordag.workbench.tables import NoTableError, Tables

NAMES = ["a", "b", "c", "site"]


@pytest.mark.parametrize(
    ("reading", "column", "role", "expected"),
    [
        ({}, "a", "dropped", {"drop": ["a"]}),
        ({"drop": ["a"]}, "a", "variable", {"role": {"a": "variable"}}),
        ({}, "site", "covariate", {"adjust": ["site"]}),
        ({"category": ["site"]}, "site", "covariate", {"category": ["site"], "adjust": ["site"]}),
        ({"adjust": ["site"]}, "site", "category", {"category": ["site"]}),
        ({"role": {"a": "id"}}, "a", "time", {"role": {"a": "time"}}),
        ({"columns": ["a", "b"]}, "c", "variable", {"columns": ["a", "b", "c"]}),
        ({"columns": ["a", "b", "c"]}, "c", "dropped", {"columns": ["a", "b"]}),
        ({"na": ["?"], "missing": "em"}, "a", "id", {"na": ["?"], "missing": "em", "role": {"a": "id"}}),
    ],
)
def test_a_column_is_in_one_setting_at_a_time(reading, column, role, expected):
    assert changed_reading(reading, {"column": column, "role": role}, NAMES) == expected


def test_values_and_whole_settings():
    assert changed_reading({"na": ["?"]}, {"na": "-99"}, NAMES) == {"na": ["?", "-99"]}
    assert changed_reading({"drop": ["a"], "decimal": ","}, {"reading": {"role": {"b": "id"}}}, NAMES) == {
        "decimal": ",",
        "role": {"b": "id"},
    }


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"column": "d", "role": "id"},
        {"column": "a", "role": "constant"},
        {"column": ["a"], "role": "id"},
        {"na": "?"},
        {"na": -99},
        {"reading": {"missing": "em"}},
        {"reading": 3},
        {"reading": {"role": {"a": "king"}}},
    ],
)
def test_what_the_page_would_not_send_is_refused(change):
    with pytest.raises(SettingError):
        changed_reading({}, change, NAMES)


def text():
    random = np.random.default_rng(3)
    X = random.normal(size=(40, 3)).round(3)
    X[:5, 1] = -99
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(site=["north", "south"] * 20)
    return frame.to_csv(index=False).encode()


def test_a_table_is_opened_again_in_memory(tmp_path):
    tables = Tables(2**20)
    opened = tables.upload("t.csv", text())
    assert opened.description["overview"][1]["actions"] == [{"words": "read -99 as missing", "na": "-99"}]
    without = tables.recast(opened.id, {"na": "-99"})
    assert without.description["overview"][1]["missing"] == 5
    held = tables.recast(without.id, {"column": "site", "role": "covariate"})
    assert held.description["reading"] == {"na": ["-99"], "adjust": ["site"]}
    assert held.table.covariates[0].name == "site"
    assert tables.recast(opened.id, {"reading": held.description["reading"]}).id == held.id
    with pytest.raises(NoTableError):
        tables.recast("d0", {"na": "-99"})
    path = tmp_path / "t.csv"
    path.write_bytes(text())
    tables.start_with(str(path), "t.csv", {})
    again = tables.recast(tables.first.id, {"column": "c", "role": "dropped"})
    assert tables.first.table.names == ("a", "b", "c")
    assert again.table.names == ("a", "b")
    assert tables.recast(again.id, {"column": "c", "role": "variable"}).table.names == ("a", "b", "c")


@pytest.mark.system
def test_the_columns_are_the_first_view_and_roles_are_changed_there(bench):
    page = bench()
    page.locator("#file").set_input_files({"name": "t.csv", "mimeType": "text/csv", "buffer": text()})
    rows = page.locator("#overview tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("-99 in 5 rows: a missing value?")
    assert page.locator("#overview").get_attribute("open") is not None
    answered(page, page.get_by_role("button", name="read -99 as missing").click)
    expect(rows.nth(1).locator("td").nth(2)).to_have_text("5 (13 %)")
    answered(page, lambda: page.get_by_label("Role of site").select_option("covariate"))
    expect(page.locator("#overview-words")).to_have_text("3 columns in the graph, 1 not, 1 with missing values")
    assert "--adjust site" in page.locator("#again-body").text_content()
    answered(page, lambda: page.get_by_label("Role of c").select_option("dropped"))
    expect(page.locator("#overview-words")).to_contain_text("2 columns in the graph")
    page.get_by_label("Role of a").select_option("dropped")
    expect(page.locator("#overview .warning")).to_contain_text(
        "There is only one column, b: a graph needs at least two."
    )
    expect(page.get_by_label("Role of a")).to_have_value("variable")
    answered(page, page.reload)
    expect(page.locator("#overview-words")).to_contain_text("2 columns in the graph")
