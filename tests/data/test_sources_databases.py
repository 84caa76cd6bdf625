"""Tables in files of SQLite and DuckDB."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pytest
from strictly import open_source

from ordag.data.reading import Reading
from ordag.data.sources import Upload, databases
from ordag.data.sources.databases import ROWS_AT_ONCE
from ordag.errors import OrdagError, PrecisionError

ROWS = [(1, 2.5), (2, None), (3, 0.25)]


@pytest.fixture(autouse=True)
def within_this_process(monkeypatch):
    """Read files without a process of their own, which tests/test_watched.py tries."""
    monkeypatch.setattr("ordag.data.sources.readers.watched", lambda work, *given: work(*given))


def made(path: Path, *statements: str, rows: Sequence[tuple[object, ...]] = ROWS) -> Path:
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as base:
            base.execute("CREATE TABLE one (a INTEGER, b DOUBLE)")
            base.executemany("INSERT INTO one VALUES (?, ?)", rows)
            for statement in statements:
                base.execute(statement)
        return path
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE one (a, b)")
        base.executemany("INSERT INTO one VALUES (?, ?)", rows)
        for statement in statements:
            base.execute(statement)
        base.commit()
    return path


def refusal(data: object, **reading: str) -> str:
    with pytest.raises(OrdagError) as refused:
        open_source(data, Reading(**reading))  # type: ignore[arg-type]
    return str(refused.value)


@pytest.mark.parametrize("ending", ["sqlite", "duckdb"])
@pytest.mark.parametrize("upload", [False, True])
def test_the_only_table_is_read(ending: str, upload: bool, tmp_path: Path) -> None:
    path = made(tmp_path / f"t.{ending}")
    source = open_source(Upload(path.name, path.read_bytes()) if upload else path)
    assert source.names == ("a", "b")
    assert source.array is not None
    assert np.array_equal(source.array, [[1, 2.5], [2, np.nan], [3, 0.25]], equal_nan=True)


@pytest.mark.parametrize("ending", ["db", "duckdb"])
def test_several_tables_are_listed_and_one_chosen(ending: str, tmp_path: Path) -> None:
    path = made(tmp_path / f"t.{ending}", 'CREATE TABLE "the ""other"" one" AS SELECT a AS c, b AS d FROM one')
    assert "2 tables: 'one', 'the \"other\" one'. Choose one, table='one' (--table one" in refusal(path)
    assert open_source(path, Reading(table='the "other" one')).names == ("c", "d")
    assert "Did you mean 'one'" in refusal(path, table="onne")


def test_a_view_of_a_file_on_disk_is_read_and_one_of_an_upload_is_not(tmp_path: Path) -> None:
    path = made(tmp_path / "t.sqlite", "CREATE VIEW twice AS SELECT 2 * a AS a, 2 * b AS b FROM one")
    source = open_source(path, Reading(table="twice"))
    assert source.array is not None
    assert source.array[0].tolist() == [2, 5]
    assert "has no table" in refusal(Upload("t.sqlite", path.read_bytes()), table="twice")


def test_a_view_of_sqlite_may_not_call_what_was_not_made_for_views(tmp_path: Path) -> None:
    path = made(tmp_path / "t.sqlite", "CREATE VIEW two AS SELECT a, rtreedepth(x'00000000') AS b FROM one")
    assert "rtreedepth()" in refusal(path, table="two") or "no such function: rtreedepth" in refusal(path, table="two")


def test_an_upload_of_duckdb_is_bounded_and_none_of_its_views_is_run(tmp_path: Path) -> None:
    """A constant column is stored once, however many rows it has."""
    large = "CREATE TABLE large AS SELECT 1 AS a, 2 AS b FROM range(1000000)"
    path = made(tmp_path / "t.duckdb", large, "CREATE VIEW endless AS SELECT * FROM range(1000000000000)")
    content = path.read_bytes()
    assert len(content) < 2**20
    assert "unpacks to more than 1,048,576 bytes" in refusal(Upload("t.duckdb", content, 2**20), table="large")
    assert "has more than 1 columns" in refusal(Upload("t.duckdb", content, 2**20, 1), table="one")
    assert "has no table endless" in refusal(Upload("t.duckdb", content, 2**20), table="endless").replace("'", "")
    assert open_source(Upload("t.duckdb", content, 2**20, 2), Reading(table="one")).names == ("a", "b")
    assert open_source(path, Reading(table="large")).names == ("a", "b")


@pytest.mark.parametrize("ending", ["sqlite", "duckdb"])
def test_a_database_in_the_place_of_another_is_refused(ending: str, tmp_path: Path, monkeypatch) -> None:
    path, other = made(tmp_path / f"t.{ending}"), made(tmp_path / f"other.{ending}", rows=[(1, 2), (2, 3)])

    def replaced(*given, only=databases._only):
        os.replace(other, path)
        return only(*given)

    monkeypatch.setattr(databases, "_only", replaced)
    assert refusal(path).startswith(f"t.{ending} changed while it was read")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="all file names are Unicode there")
@pytest.mark.parametrize("ending", ["sqlite", "duckdb"])
def test_a_path_that_is_not_utf_8_is_read(ending: str, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"f\xf6lder")
    folder.mkdir()
    path = made(tmp_path / f"t.{ending}").rename(folder / os.fsdecode(b"gr\xf6\xdfe." + ending.encode()))
    assert open_source(path).names == ("a", "b")


def test_a_view_of_duckdb_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    path = made(tmp_path / "t.duckdb", f"CREATE VIEW far AS SELECT * FROM read_csv('{tmp_path / 'other.csv'}')")
    assert "could not be read" in refusal(path, table="far")


def test_types_that_change_from_row_to_row(tmp_path: Path) -> None:
    rows = [*((i, i) for i in range(ROWS_AT_ONCE)), (1.5, None), (None, 7)]
    source = open_source(made(tmp_path / "t.sqlite", rows=rows))
    assert source.array is not None
    assert source.array[-2:, 0].tolist()[0] == 1.5
    assert np.isnan(source.array[-1, 0])
    assert "'b' holds text" in refusal(made(tmp_path / "u.sqlite", rows=[(1, 2), (2, "x")]))
    with pytest.raises(PrecisionError):
        open_source(made(tmp_path / "v.sqlite", rows=[(1, 2**60 + 1), (2, 3)]))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.sqlite", b"a,b\n1,2\n", "neither a file of SQLite nor of DuckDB"),
        ("t.db", b"SQLite format 3\0", "is cut off"),
        ("t.csv", b"SQLite format 3\0" + bytes(99), "Give it the ending .sqlite"),
        ("t.duckdb", bytes(8) + b"DUCK" + bytes(9000), "could not be read as a file of DuckDB"),
    ],
)
def test_other_files(name: str, content: bytes, said: str) -> None:
    assert said in refusal(Upload(name, content))


def test_a_file_of_sqlite_that_is_cut_off_or_empty(tmp_path: Path) -> None:
    content = made(tmp_path / "t.sqlite", rows=ROWS * 500).read_bytes()
    assert "is cut off" in refusal(Upload("t.sqlite", content[: len(content) // 2]))
    assert "holds no tables" in refusal(made(tmp_path / "u.sqlite", "DROP TABLE one"))


def test_settings_of_other_files(tmp_path: Path) -> None:
    assert "has no sheets" in refusal(made(tmp_path / "t.sqlite"), sheet="one")
