"""The tables of `python -m benchmarks honesty` are what their names say, and its shares are counted right."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.honesty import run
from benchmarks.honesty.kinds import KINDS
from benchmarks.honesty.run import Table, false_alarms, kept_or_measured, measured, shares, summary

NAMED = {kind.name: kind for kind in KINDS}
DRAWN = [kind for kind in KINDS if not kind.network]


@pytest.mark.parametrize("kind", [kind for kind in DRAWN if kind.n * kind.p <= 20_000], ids=lambda kind: kind.name)
def test_a_table_is_drawn_from_its_name_and_number(kind):
    one, again, other = kind.draw(1), kind.draw(1), kind.draw(2)
    rows = kind.n // 2 if "other rows" in kind.name else kind.n
    assert one.X.shape == (rows, kind.p)
    assert np.array_equal(one.X, again.X)
    assert not np.array_equal(one.X, other.X)
    assert not np.diagonal(one.truth).any()


def test_there_are_kinds_enough_and_none_twice():
    assert len(NAMED) == len(KINDS) >= 12
    assert sum(bool(kind.network) for kind in KINDS) == 4


def test_a_common_factor_has_no_arrow():
    assert not NAMED["one common factor, no arrow: p 6, n 300"].draw(3).truth.any()


def test_shares_are_those_of_a_person_who_counts():
    truth = np.zeros((4, 4), dtype=bool)
    truth[0, 1] = truth[1, 2] = truth[2, 3] = True
    found = np.zeros((4, 4), dtype=bool)
    found[0, 1] = found[2, 1] = found[0, 3] = True
    assert shares(found, truth) == (pytest.approx(2 / 3), pytest.approx(1 / 2))


def test_a_line_has_said_and_was():
    kind = NAMED["p 10, n 200, weights .5–2"]
    tables = [
        Table("tested", (0.1, 0.0), (0.2, 0.0), 5, (), True),
        Table("assumed", (0.3, 0.1), (0.6, 0.4), 5, (), False),
    ]
    assert summary(kind, "cvs", tables) == [kind.name, "1", "0", "1", "0", "10 / 20", "0 / 0", "20 / 40", "5 / 20"]
    open_table = Table("None", (np.nan, np.nan), (0.5, 0.5), 5, ("filled_cells",), False)
    assert summary(kind, "pooled", [open_table]) == [kind.name, "– / 50", "– / 50", "100: filled cells", "0"]
    counted = false_alarms([*tables, open_table, open_table])
    assert counted.startswith("Of 4 tables of a model that holds: dependent rows 0 (0.0 %)")
    assert "filled cells 2 (50.0 %)" in counted


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch):
    kind = NAMED["p 10, n 200, weights .5–2"]
    first = kept_or_measured(kind, "cvs", 0, None, tmp_path)
    monkeypatch.setattr("benchmarks.honesty.run.measured", None)
    again = kept_or_measured(kind, "cvs", 0, None, tmp_path)
    assert (again.tier, again.arrows, list(again.said)) == (first.tier, first.arrows, list(first.said))


def test_a_table_is_measured():
    found = measured(NAMED["p 10, n 200, weights .5–2"], "cvs", 0, None)
    assert found.tier == "tested"
    assert 0 <= found.said[0] < 0.3


def test_the_tables_of_one_method_replace_its_own_alone(tmp_path, monkeypatch):
    page = tmp_path / "trust.md"
    page.write_text(
        f"before\n{run.BEGIN}\n\n**cvs**, old:\n\n| a |\n\n**pooled**, older:\n\n| b |\n\n{run.END}\nafter\n"
    )
    monkeypatch.setattr(run, "PAGE", page)
    line = ["p 10, n 200, weights .5–2", "1 / 2", "3 / 4", "0", "100"]
    run._write({"pooled": [line]}, {"pooled": 5}, 900)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{run.BEGIN}\n\n**cvs**, old:\n\n| a |\n\n**pooled**, 5 tables")
    assert "--tables 5 --first 900`" in text
    assert "| p 10, n 200, weights .5–2 | 1 / 2 | 3 / 4 | 0 | 100 |" in text
    assert "older" not in text
    assert text.endswith(f"{run.END}\nafter\n")
