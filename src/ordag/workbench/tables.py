"""`Tables`: the tables of a workbench, read once and kept in memory within bounds."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from ordag.common.checks import is_whole, short
from ordag.common.words import shown
from ordag.data.datasets import DATASETS, load
from ordag.data.equations import Equations, is_untouched
from ordag.data.profile import Profile
from ordag.data.reading import Reading
from ordag.data.sources import Upload
from ordag.data.table import Table
from ordag.data.way_through import complete, together, try_to_read
from ordag.errors import DataError, Remedy
from ordag.order.sparse import few_rows
from ordag.show.columns import columns_of
from ordag.show.provenance import OF_BYTES, fingerprint
from ordag.workbench.pool import Progress
from ordag.workbench.recasting import RECAST, changed_reading
from ordag.workbench.state import RequestError, State

Value = TypeVar("Value")

MOST_ROW_NUMBERS = 2**22
"""Numbers of the rows of a table that are kept, for logarithms, checks and histograms; of larger tables every second, fourth, … row."""

MOST_UNPACKED = 4
"""Times as many bytes may come of a compressed file as a file may have."""

MOST_COLUMNS = 4000
"""Of a file that is dropped onto the page: moments take memory by the square of that, an eighth of a gigabyte for each copy."""

MOST_CHANGED_NUMBERS = 2**24
"""In all tables of other columns or units that are kept to be used again: an eighth of a gigabyte."""


class NoTableError(DataError):
    """A state of a table that is not in memory."""


class UnreadError(DataError):
    """A table that was refused but has remedies; the page names it by `id` to choose one. `kind` is the class of the refusal."""

    def __init__(self, id: str, error: DataError) -> None:
        super().__init__(error.faults, error.settings, error.remedies)
        self.id, self.kind = id, type(error).__name__


class Cache(Generic[Value]):
    """Values by key. When they weigh more than `most` together, those not used for longest go; the last one stays."""

    def __init__(self, most: int) -> None:
        self._most, self._weight = most, 0
        self._values: OrderedDict[Any, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> Value | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Any, value: Value, weight: int) -> Value:
        with self._lock:
            self._weight += weight - self._values.pop(key, (value, 0))[1]
            self._values[key] = value, weight
            while self._weight > self._most and len(self._values) > 1:
                self._weight -= self._values.popitem(last=False)[1][1]
        return value

    def drop(self, unwanted: Callable[[Any], bool]) -> None:
        """Remove the values whose keys are unwanted."""
        with self._lock:
            for key in [key for key in self._values if unwanted(key)]:
                self._weight -= self._values.pop(key)[1]

    def __contains__(self, key: Any) -> bool:
        return key in self._values


@dataclass(frozen=True, eq=False)
class TableRequest:
    """A table to be read.

    data: what `learn` takes for it. name: its label. reading: how it is read, where that is not the default. transform: the units to
    begin with.
    """

    data: Any
    name: str
    builtin: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    transform: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def byte_count(self) -> int:
        """Bytes that are kept in memory."""
        return len(self.data.data) if isinstance(self.data, Upload) else 0

    @property
    def origin(self) -> str | Path | None:
        """The table's name in Python code and on the command line: as it was typed, or that of its file."""
        if isinstance(self.data, Upload):
            return Path(self.name)
        return self.data if isinstance(self.data, str) else None

    def id(self, digest: str) -> str:
        """Return an id that is the same for the same file read in the same way, so that a saved state finds its table again."""
        reading = json.dumps(self.reading, sort_keys=True) if self.reading else ""
        builtin = "\nbuilt in" if self.builtin else ""  # not a file of the same name and bytes
        return "d" + hashlib.sha256(f"{self.name}\n{digest}{reading}{builtin}".encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table that has been read. digest: a fingerprint. digest_of: what it is of."""

    id: str
    request: TableRequest
    digest: str
    digest_of: str
    table: Table

    @property
    def description(self) -> dict[str, Any]:
        """What the page shows of the table, names as they are."""
        moments, profile = self.table.moments, self.table.profile
        equations = Equations.of(moments)
        sd = moments.spread / np.sqrt(moments.n - 1.0)
        least, most = (None, None) if profile is None else (profile.least.tolist(), profile.most.tolist())
        columns = [
            {
                "name": name,
                "shown": shown(name),
                "mean": float(moments.mean[j]),
                "sd": float(sd[j]),
                "least": None if least is None else least[j],
                "most": None if most is None else most[j],
                "positive": least is not None and least[j] > 0.0,
            }
            for j, name in enumerate(moments.names)
        ]
        return {
            "id": self.id,
            "name": self.request.name,
            "shown": shown(self.request.name),
            "rows": moments.rows,
            "count_for": moments.n,
            "dropped": moments.dropped,
            "names": list(moments.names),
            "digest": self.digest,
            "builtin": self.request.builtin,
            "reading": {name: self.request.reading[name] for name in RECAST if name in self.request.reading},
            "columns": columns,
            "overview": columns_of(self.table.columns, moments, profile),
            "transform": dict(self.request.transform),
            "conditions": [
                {
                    **one,
                    "shown": "" if is_untouched(one["label"]) else shown(one["label"]),
                    "targets": [shown(name) for name in one["targets"]],
                }
                for one in ([] if equations is None else equations.to_dict(moments))
            ],
        }


class Tables:
    """The tables of a workbench. The one that it was started with stays; others go when there are too many."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._open: Cache[OpenTable] = Cache(4 * most_bytes)
        self._unread: Cache[tuple[TableRequest, tuple[Remedy, ...]]] = Cache(most_bytes)
        self._changed: Cache[Table] = Cache(MOST_CHANGED_NUMBERS)
        self.first: OpenTable | None = None
        self.first_unread: UnreadError | None = None

    def start_with(self, data: Any, name: str, reading: Mapping[str, Any], progress: Progress | None = None) -> None:
        """Read the table of the command line. If it is refused but has remedies, the page offers them."""
        builtin = data if isinstance(data, str) and data in DATASETS else None
        default = Reading()
        other = {key: value for key, value in reading.items() if key != "transform" and value != getattr(default, key)}
        try:
            self._read_first(TableRequest(data, name, builtin, other, reading.get("transform") or {}), progress)
        except UnreadError as error:
            self.first_unread = error

    def _read_first(self, request: TableRequest, progress: Progress | None) -> OpenTable:
        self.first, self.first_unread = self._from_disk(request, progress), None
        return self.first

    def _from_disk(self, request: TableRequest, progress: Progress | None) -> OpenTable:
        """Read a table that is not a file in memory."""
        table = self._read(request, "", progress)
        table.transformed(request.transform)  # errors in it are for the command line
        digest, of = fingerprint(table, request.data if isinstance(request.data, str) else None)
        return OpenTable(request.id(digest), request, digest, of, table)

    def builtin(self, name: str, progress: Progress | None = None) -> OpenTable:
        """Open a table that comes with Ordag."""
        known = load(name)
        return self._opened(TableRequest(known.name, known.name, known.name), known.path.read_bytes(), progress)

    def upload(self, name: str, body: bytes, progress: Progress | None = None) -> OpenTable:
        """Open a file that was dropped onto the page; the ending of the name says what kind of file it is."""
        upload = Upload(name, body, MOST_UNPACKED * self.most_bytes, MOST_COLUMNS)
        return self._opened(TableRequest(upload, name), body, progress)

    def reread(self, id: str, choice: Any, progress: Progress | None = None) -> OpenTable:
        """Open a table that was refused, by one of the remedies that were offered. Remedies add up."""
        unread = self._unread.get(id)
        if unread is None:
            raise NoTableError("The file is no longer here: the workbench keeps files in memory only. Open it again.")
        request, remedies = unread
        if not is_whole(choice, 0) or choice >= len(remedies):
            raise RequestError(f"choice={short(choice)}: there is no such way to read {shown(request.name)}.")
        request = replace(request, reading=together(request.reading, remedies[choice].reading))
        if isinstance(request.data, Upload):
            opened = self._opened(request, request.data.data, progress)
        else:
            opened = self._read_first(request, progress)
        self._unread.drop(lambda key: key == id)
        return opened

    def recast(self, id: str, change: Mapping[str, Any], progress: Progress | None = None) -> OpenTable:
        """Open a table again with another role for a column, or with one more value read as missing."""
        opened = self._find(id)
        if opened is None:
            raise NoTableError("The table is no longer here: the workbench keeps tables in memory only. Open it again.")
        reading = changed_reading(opened.request.reading, change, [one.name for one in opened.table.columns])
        request = replace(opened.request, reading=reading)
        if isinstance(request.data, Upload):
            return self._opened(request, request.data.data, progress)
        if request.builtin:
            return self._opened(request, load(request.builtin).path.read_bytes(), progress)
        reopened = self._from_disk(request, progress)
        return self._open.put(reopened.id, reopened, 8 * _numbers(reopened.table))

    def _opened(self, request: TableRequest, body: bytes, progress: Progress | None = None) -> OpenTable:
        """Read a table of these bytes unless it is open. Tables that go for it take along what was made of them."""
        digest = hashlib.sha256(body).hexdigest()
        id = request.id(digest)
        found = self._find(id)
        if found is not None:
            return found
        opened = OpenTable(id, request, digest, OF_BYTES, self._read(request, digest, progress))
        self._open.put(id, opened, request.byte_count + 8 * _numbers(opened.table))
        self._changed.drop(lambda key: key[0] not in self._open and self._find(key[0]) is None)
        return opened

    def _read(self, request: TableRequest, digest: str, progress: Progress | None) -> Table:
        """Read a table. One that is refused but has remedies is kept for them."""
        try:
            table = Table(request.data, keep=MOST_ROW_NUMBERS, progress=progress, **request.reading)
            table.needing(few_rows).moments  # noqa: B018
        except DataError as error:
            if not error.remedies:
                raise
            complete(error, request.reading, lambda changed: try_to_read(request.data, changed))
            id = request.id(digest)
            self._unread.put(id, (request, error.remedies), request.byte_count)
            raise UnreadError(id, error) from error
        table._progress = None
        return table

    def of(self, state: State) -> OpenTable:
        """Return the table of a state: by its id, or else by its name if it is built in."""
        found = self._find(state.data["id"] or "")
        if found is not None:
            return found
        if state.data["builtin"] in DATASETS:
            return self.builtin(str(state.data["builtin"]))
        name = state.data["name"]
        what = f"The table {shown(name)}" if name else "The table"
        raise NoTableError(f"{what} is not here: the workbench keeps tables in memory only. Open the file again.")

    def changed(self, opened: OpenTable, state: State) -> Table:
        """Return a copy of a table with the columns and units of a state. Rows are read again where `Table.transformed` has to."""
        if state.columns is None and not state.transform and not state.left_out:
            return copy(opened.table)
        key = opened.id, state.columns, json.dumps([state.transform, state.left_out], sort_keys=True)
        found = self._changed.get(key)
        if found is None:
            found = opened.table.leaving_out(state.left_out) if state.left_out else opened.table
            found = found.transformed(state.transform, state.columns)
            found.needing(few_rows).moments  # noqa: B018
            self._changed.put(key, found, _numbers(found))
        return copy(found)

    def _find(self, id: str) -> OpenTable | None:
        return self.first if self.first is not None and self.first.id == id else self._open.get(id)


def _numbers(table: Table) -> int:
    """Count the numbers of a table in memory: its moments, and what is kept of its rows."""
    rows = 0 if table.rows is None else table.rows.values.size
    return len(table.names) ** 2 + rows + numbers_of(table.profile)


def numbers_of(profile: Profile | None) -> int:
    return 0 if profile is None else profile.rows.size
