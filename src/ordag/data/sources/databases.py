"""Tables in files of SQLite and DuckDB."""

from __future__ import annotations

import shlex
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ordag.common.words import quoted, spelled
from ordag.data.reading import Reading
from ordag.data.sources.frames import open_frame
from ordag.data.sources.paths import DiskFile, File
from ordag.data.sources.readers import chosen, library, read_apart, reader_errors
from ordag.data.sources.source import Source
from ordag.data.sources.text_layout import TEXT_ENDINGS
from ordag.errors import UnreadableError

ENDINGS = (".sqlite", ".sqlite3", ".db", ".db3", ".duckdb", ".ddb")
SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"  # the latter after eight bytes
ROWS_AT_ONCE = 1 << 14
LONGEST_VALUE = 1 << 24  # bytes


def open_database(file: File, reading: Reading) -> Source | None:
    """Open one table of a file of SQLite or DuckDB, recognised by its first bytes. It is opened for reading only."""
    if file.ending in TEXT_ENDINGS:
        return None
    describe, start = file.describe, file.start(16)
    if start != SQLITE and start[8:12] != DUCKDB:
        if file.ending in ENDINGS:
            raise UnreadableError(f"{describe} is neither a file of SQLite nor of DuckDB, despite its name.")
        return None
    reading.refuse_layout(describe, "table")
    read, what = (_sqlite, "a file of SQLite") if start == SQLITE else (_duckdb, "a file of DuckDB")
    if start == SQLITE and _is_cut(file):
        raise UnreadableError(f"{describe} is cut off: it is shorter than its header says. Write or copy it again.")
    with file.unchanged():
        if start == SQLITE:
            with reader_errors(describe, what):
                table = read(file, reading.table)
        else:
            table = read_apart(read, file, reading.table, describe=describe, what=what)
    return open_frame(table, reading, describe)


def _is_cut(file: File) -> bool:
    """Return whether a file of SQLite is shorter than the pages that its header counts, where that count is up to date."""
    start, size = file.start(100), file.size
    if len(start) < 100:
        return True
    (page,), (changes, pages), (counted,) = (
        struct.unpack_from(form, start, at) for form, at in ((">H", 16), (">II", 24), (">I", 92))
    )
    return changes == counted and size is not None and size < pages * (page if page > 1 else 1 << 16)


def _only(names: Sequence[str], wanted: str | None, describe: str) -> str:
    """Return the table to read: the one asked for, or the only one."""
    if not names:
        raise UnreadableError(f"{describe} holds no tables.")
    found = chosen(names, wanted, "table", describe)
    if found is None and len(names) > 1:
        raise UnreadableError(
            f"{describe} holds {len(names)} tables: {quoted(names, 12)}. Choose one, table={names[0]!r} "
            f"(--table {shlex.quote(names[0])} on the command line)."
        )
    return names[0] if found is None else found


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sqlite(file: File, wanted: str | None) -> Any:
    import pyarrow as pa

    uploaded = not isinstance(file, DiskFile)
    with closing(_connected(file)) as base:
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        base.execute("PRAGMA trusted_schema = OFF")
        kinds = "('table')" if uploaded else "('table', 'view')"  # a view is a program
        listing = f"SELECT name FROM sqlite_master WHERE type IN {kinds} AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        names = [str(name) for (name,) in base.execute(f"{listing} ORDER BY type, rowid")]
        cursor = base.execute(f"SELECT * FROM {_name(_only(names, wanted, file.describe))}")
        labels = [column[0] for column in cursor.description]
        file.check_width(len(labels))
        parts: list[list[Any]] = [[] for _ in labels]
        size = 0
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            for part, values in zip(parts, zip(*rows, strict=True), strict=True):
                part.append(_array(values))
                size += part[-1].nbytes
            file.check_unpacked(size)
    return pa.table([_joined(part) for part in parts], names=labels)


def _connected(file: File) -> sqlite3.Connection:
    if isinstance(file, DiskFile):
        return sqlite3.connect(f"{file.path.absolute().as_uri()}?mode=ro", uri=True)
    base = sqlite3.connect(":memory:")
    with file.open() as raw:
        base.deserialize(raw.read())
    return base


def _array(values: Sequence[Any]) -> Any:
    """Return values of SQLite, each of which has a type of its own, as an Arrow array: numbers, bytes or text."""
    import pyarrow as pa

    types = {type(value) for value in values} - {type(None)}
    if types <= {int}:
        return pa.array(values, pa.int64() if types else pa.null())
    if types <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if types == {bytes}:
        return pa.array(values, pa.binary())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _joined(parts: Sequence[Any]) -> Any:
    """Join the parts of a column in the one type that holds them all."""
    import pyarrow as pa

    types = {part.type for part in parts} - {pa.null()}
    kinds = (pa.null(), pa.int64(), pa.float64(), pa.binary(), pa.string())
    common = next(
        (kind for kind in kinds if types <= {kind}), pa.float64() if types <= set(kinds[1:3]) else pa.string()
    )
    return pa.chunked_array([part.cast(common) for part in parts], common)


def _duckdb(file: File, wanted: str | None) -> Any:
    duckdb = library("duckdb", "duckdb", file.describe, "a file of DuckDB")
    closed = {"enable_external_access": "false", "autoload_known_extensions": "false"}  # views may name other files
    with _path(file) as path, closing(duckdb.connect(str(path), read_only=True, config=closed)) as base:
        views = "UNION ALL SELECT schema_name, view_name, 1 FROM duckdb_views() WHERE NOT internal"
        found = base.execute(
            "SELECT schema_name, table_name, 0 AS kind FROM duckdb_tables() WHERE NOT internal "
            f"{views if isinstance(file, DiskFile) else ''} ORDER BY kind, table_name"
        ).fetchall()
        tables = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name, *_ in found}
        schema, name = tables[_only(list(tables), wanted, file.describe)]
        place = f"{_name(schema)}.{_name(name)}"
        width = len(base.execute(f"DESCRIBE {place}").fetchall())
        file.check_width(width)
        if file.most is not None:
            ((rows,),) = base.execute(f"SELECT count(*) FROM {place}").fetchall()
            file.check_unpacked(8 * rows * width)
        return base.sql(f"SELECT * FROM {place}").to_arrow_table()


@contextmanager
def _path(file: File) -> Iterator[Path]:
    """Give the path of a file; an upload, or one whose path is not UTF-8, which DuckDB would not take, is copied for as long."""
    if isinstance(file, DiskFile) and spelled(file.path.absolute()) == str(file.path.absolute()):
        yield file.path
        return
    with tempfile.TemporaryDirectory(prefix="ordag-") as folder, file.open() as raw:
        path = Path(folder) / "copy.duckdb"
        with path.open("wb") as copy:
            shutil.copyfileobj(raw, copy)
        yield path
