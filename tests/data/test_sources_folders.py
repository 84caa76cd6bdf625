"""Folders of text files as one table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import strictly

import ordag
from ordag.data.reading import Reading
from ordag.data.sources import open_source
from ordag.data.table import Table
from ordag.errors import ColumnError, DataError, OrdagWarning, UnreadableError

RANDOM = np.random.default_rng(5)
N = 60
WHOLE = pd.DataFrame(RANDOM.standard_normal((N, 3)), columns=["a", "b", "c"]).assign(
    id=np.arange(1, N + 1), site=np.repeat(["north", "south", "east"], N // 3), k=1.0, day=np.arange(N) // 2
)
WHOLE["sum"] = WHOLE["a"] + WHOLE["b"]


def written(folder: Path, *parts: pd.DataFrame, **options: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts):
        part.to_csv(folder / f"part-{number}.csv", index=False, **options)  # type: ignore[call-overload]
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    thirds = [WHOLE[:20], WHOLE[20:40][[*reversed(WHOLE.columns)]], WHOLE[40:]]
    return written(tmp_path / "parts", *thirds)


def values(source) -> np.ndarray:
    return np.concatenate(list(source.batches(7)))


@pytest.mark.parametrize(
    "settings",
    [{}, {"adjust": ["site"]}, {"time": "id", "lags": 1}, {"columns": ["c", "a"]}, {"strict": True, "drop": ["site"]}],
)
def test_a_folder_is_the_table_of_its_files(folder, tmp_path, settings):
    WHOLE.to_csv(tmp_path / "whole.csv", index=False)
    found, expected = (open_source(path, Reading(**settings)) for path in (folder, tmp_path / "whole.csv"))
    assert found.names == expected.names
    assert [one.role for one in found.columns] == [one.role for one in expected.columns]
    assert np.array_equal(values(found), values(expected))
    assert np.array_equal(values(found), values(expected))  # a second time


def test_roles_come_from_the_rows_of_all_files(tmp_path):
    folder = written(tmp_path / "parts", *(WHOLE[k : k + 1] for k in range(N)))
    roles = {one.name: one.role for one in open_source(folder).columns}
    assert roles == {
        "a": "variable",
        "b": "variable",
        "c": "variable",
        "id": "id",
        "site": "category",
        "k": "constant",
    } | {
        "day": "variable",
        "sum": "derived",
    }


def test_what_only_unseen_files_show(tmp_path, monkeypatch):
    monkeypatch.setattr("ordag.data.sources.folders.looked_rows", lambda _: 1)
    folder = written(tmp_path / "parts", WHOLE[:20], WHOLE[20:].assign(k=np.arange(40) % 3))
    assert Table(folder).names == ("a", "b", "c", "k", "day")


def test_rows_are_read_in_the_order_of_the_files_and_their_share_is_told(folder):
    source = open_source(folder, Reading(columns=["id"]))
    assert source.share(0) is None
    shares, rows = [], []
    for block in source.batches(20):
        shares.append(source.share(0))
        rows += block.ravel().tolist()
    assert rows == list(range(1, N + 1))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_text_in_one_file_and_numbers_in_another(folder):
    WHOLE[:9].assign(b="x").to_csv(folder / "part-3.csv", index=False)
    (found,) = [one for one in Table(folder).columns if one.name == "b"]
    assert (found.role, found.reason) == (
        "id",
        "text in part-3.csv and numbers in part-0.csv, with 61 different values in 69 rows",
    )
    with pytest.raises(
        ColumnError, match=r"parts: column 'b' holds text in part-3\.csv and numbers in part-0\.csv: only numbers"
    ):
        strictly.open_source(folder, Reading(drop=["site"]))
    WHOLE[:9].assign(b=np.nan).to_csv(folder / "part-3.csv", index=False)
    WHOLE[:9].assign(site=np.nan).to_csv(folder / "part-4.csv", index=False)
    table = Table(folder)
    assert "b" in table.names  # nothing is known of it in part-3
    assert next(one.reason for one in table.columns if one.name == "site") == "3 values"


def test_a_bad_cell_is_named_with_its_file(folder):
    text = (folder / "part-1.csv").read_text().replace(f",{WHOLE['b'][23]},", ",?,")
    (folder / "part-1.csv").write_text(text)
    with pytest.raises(
        ColumnError, match=r"column 'b' holds '\?' in data row 4 in part-1\.csv.*na=\['\?'\]"
    ) as refused:
        ordag.learn(folder, "cvs")
    assert refused.value.way == {"na": ["?"]}
    assert Table(folder, na=["?"]).moments.n == N - 1


def test_other_columns_are_refused_with_a_way_on(folder):
    WHOLE[:9].drop(columns="b").to_csv(folder / "part-3.csv", index=False)
    WHOLE[:9].assign(more=1.5, most=2.5).to_csv(folder / "part-4.csv", index=False)
    with pytest.raises(
        ColumnError, match=r"parts, part-3\.csv lacks 'b', which part-0\.csv has: give all files"
    ) as refused:
        ordag.learn(folder, "cvs")
    assert refused.value.way == {"drop": ["b", "more", "most"]}
    assert Table(folder, **refused.value.way).names == ("a", "c", "day", "sum")
    assert Table(folder, columns=["c", "a"]).names == ("c", "a")
    with pytest.raises(ColumnError, match="has no column 'mosst'"):
        Table(folder, drop=["b", "more", "most", "mosst"])


def test_a_column_twice_in_a_later_file(folder):
    (folder / "part-3.csv").write_text(f"{','.join(WHOLE.columns)},a\n{'1,' * len(WHOLE.columns)}2\n")
    with pytest.raises(ColumnError, match=r"part-3\.csv has several columns named 'a'"):
        open_source(folder)


def test_files_are_written_in_their_own_ways(tmp_path):
    folder = written(tmp_path / "parts", WHOLE[["a", "b"]][:30])
    WHOLE[["a", "b"]][30:].to_csv(folder / "part-1.csv", index=False, sep=";", decimal=",")
    source = open_source(folder)
    assert np.array_equal(values(source), WHOLE[["a", "b"]])
    assert source.notes == ("In 'part-1.csv': split at semicolons", "In 'part-1.csv': decimal commas are read as such")


def test_packed_and_empty_files_and_subfolders(folder):
    WHOLE[:2].to_csv(folder / "part-1.csv", index=False)
    WHOLE[:1].to_csv(folder / "part-2.csv.gz", index=False)
    (folder / "part-2.csv").write_text(f"{','.join(WHOLE.columns)}\n")
    (folder / "day=2").mkdir()
    WHOLE[5:6].to_csv(folder / "day=2" / "x.tsv", index=False, sep="\t")
    (folder / ".hidden.csv").touch()
    (folder / "_note.csv").touch()
    (folder / "README.md").touch()
    source = open_source(folder, Reading(columns=["id"]))
    assert values(source).ravel().tolist() == [6, *range(1, 21), 1, 2, 1]
    (folder / "part-9.csv").touch()
    with pytest.raises(UnreadableError, match=r"parts, part-9\.csv is empty"):
        open_source(folder)


def test_parquet_goes_before_text_and_workbooks_are_said_not_to_be_read(folder):
    (folder / "notes.xlsx").touch()
    with pytest.warns(OrdagWarning, match=r"Only the CSV files .* not 'notes\.xlsx'"):
        open_source(folder)
    WHOLE.to_parquet(folder / "all.parquet")
    (folder / "old.xls").touch()
    with pytest.warns(OrdagWarning, match=r"not 'notes\.xlsx', 'old\.xls', 'part-0\.csv' and 2 more\."):
        open_source(folder)
    (folder / "old.xls").unlink()
    with pytest.warns(OrdagWarning, match=r"Only the Parquet files .* not 'notes\.xlsx', 'part-0\.csv', 'part-1\.csv'"):
        assert open_source(folder).rows == pq.read_metadata(folder / "all.parquet").num_rows


def test_an_answer_is_not_written_into_a_folder_that_is_read(folder, tmp_path):
    fit = ordag.learn(folder, "cvs", columns=["a", "b", "c"])
    (tmp_path / "link.html").symlink_to(folder / "part-0.csv")
    for place in (folder / "new.html", tmp_path / "link.html"):
        with pytest.raises(ordag.errors.OutputError, match="was learned from"):
            fit.report(place)


def test_no_rows_at_all(tmp_path):
    with pytest.raises(DataError, match="parts: There are no rows"):
        ordag.learn(written(tmp_path / "parts", WHOLE[:0], WHOLE[:0]), "cvs")
