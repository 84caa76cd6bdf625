"""Bytes, files and names of built-in tables in, tables in memory out: read once, with what was made of them kept within bounds."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from ordag.data.datasets import DATASETS, load
from ordag.data.moments import Moments
from ordag.data.profile import Profile
from ordag.data.sources import Upload
from ordag.data.table import Table
from ordag.errors import DataError
from ordag.explore.state import State
from ordag.order.sparse import few_rows
from ordag.show.again import LARGEST
from ordag.words import shown

Value = TypeVar("Value")
Tell = Callable[[str], None]

KEPT = 2**22
"""Numbers of the rows of a table that are kept, for logarithms, checks and histograms; of larger tables every second, fourth, … row."""

UNPACKED = 4
"""Times as many bytes may come of a compressed file as a file may have."""

NUMBERS = 2**24
"""In all tables of other columns or units that are kept to be used again: an eighth of a gigabyte."""


class NoTableError(DataError):
    """A state that speaks of a table which is not here."""


class Cache(Generic[Value]):
    """Values by their keys, of which those not used for longest go first when they weigh more than `most` together."""

    def __init__(self, most: int) -> None:
        self._most, self._weight = most, 0
        self._held: OrderedDict[Any, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> Value | None:
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Any, value: Value, weight: int) -> Value:
        with self._lock:
            self._weight += weight - self._held.pop(key, (value, 0))[1]
            self._held[key] = value, weight
            while self._weight > self._most and len(self._held) > 1:
                self._weight -= self._held.popitem(last=False)[1][1]
        return value

    def drop(self, unwanted: Callable[[Any], bool]) -> None:
        """Let the values go whose keys are unwanted."""
        with self._lock:
            for key in [key for key in self._held if unwanted(key)]:
                self._weight -= self._held.pop(key)[1]

    def __contains__(self, key: Any) -> bool:
        return key in self._held

    def __len__(self) -> int:
        return len(self._held)


@dataclass(frozen=True, eq=False)
class Held:
    """A table that has been read.

    data: what `learn` takes for it. name: what it is called. reading: how it was read. transform: the units to begin with.
    """

    id: str
    data: Any
    name: str
    builtin: str | None
    digest: str
    table: Table
    reading: Mapping[str, Any] = field(default_factory=dict)
    transform: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def origin(self) -> str | Path | None:
        """How the Python code and the command line call it: as it was typed, or by the name of its file."""
        if isinstance(self.data, Upload):
            return Path(self.name)
        return self.data if isinstance(self.data, str) else None

    @property
    def description(self) -> dict[str, Any]:
        """What a page shows of it, names as they are."""
        moments, profile = self.table.moments, self.table.profile
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
            "name": self.name,
            "shown": shown(self.name),
            "rows": moments.n,
            "dropped": moments.dropped,
            "names": list(moments.names),
            "digest": self.digest,
            "builtin": self.builtin,
            "columns": columns,
            "transform": dict(self.transform),
            "message": "",
        }


class Tables:
    """The tables of a workbench: the one that it was started with stays, others go when there are too many."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._held: Cache[Held] = Cache(4 * most_bytes)
        self._changed: Cache[Table] = Cache(NUMBERS)
        self.first: Held | None = None

    def start_with(self, data: Any, name: str, reading: Mapping[str, Any], progress: Tell | None = None) -> Held:
        """Read the table that is named on the command line."""
        builtin = data if isinstance(data, str) and data in DATASETS else None
        read = {name: value for name, value in reading.items() if name != "transform"}
        table = _opened(data, read, progress)
        digest, transform = _digest(data, table), reading.get("transform") or {}
        table.transformed(transform)  # what is wrong with it is said on the command line
        self.first = Held(_id(name, digest), data, name, builtin, digest, table, read, transform)
        return self.first

    def builtin(self, name: str) -> Held:
        """A table that comes with Ordag."""
        known = load(name)
        digest = _digest(name, None)
        found = self._find(_id(name, digest))
        if found is not None:
            return found
        held = Held(_id(name, digest), known.name, known.name, known.name, digest, _opened(name, {}))
        return self._keep(held, known.path.stat().st_size)

    def upload(self, name: str, body: bytes) -> Held:
        """What somebody dropped onto the page; the name says what kind of file it is, and is a label otherwise."""
        digest = hashlib.sha256(body).hexdigest()
        found = self._find(_id(name, digest))
        if found is not None:
            return found
        data = Upload(name, body, UNPACKED * self.most_bytes)
        held = Held(_id(name, digest), data, name, None, digest, _opened(data, {}))
        return self._keep(held, len(body) + 8 * _numbers(held.table))

    def _keep(self, held: Held, weight: int) -> Held:
        """Keep a table. Those that go for it take what was made of them along, which has their bytes."""
        self._held.put(held.id, held, weight)
        self._changed.drop(lambda key: not self._is_here(key[0]))
        return held

    def named(self, state: State) -> Held:
        """The table that a state speaks of: by its id, or else by its bytes."""
        said = state.data
        found = self._find(said["id"] or "")
        if found is None and said["builtin"] in DATASETS:
            return self.builtin(str(said["builtin"]))
        if found is None:
            what = "The table" if not said["name"] else f"The table {shown(said['name'])}"
            raise NoTableError(f"{what} is not here: the workbench keeps tables in memory only. Open the file again.")
        return found

    def table(self, held: Held, state: State) -> Table:
        """The columns that a state uses, changed as it says; every caller has a copy of its own. Rows are read again where
        `Table.transformed` has to."""
        if state.columns is None and not state.transform:
            return copy(held.table)
        key = held.id, state.columns, json.dumps(state.transform, sort_keys=True)
        found = self._changed.get(key)
        if found is None:
            found = held.table.transformed(state.transform, state.columns)
            found.needing(few_rows).moments  # noqa: B018
            self._changed.put(key, found, _numbers(found))
        return copy(found)

    def _find(self, id: str) -> Held | None:
        return self.first if self.first is not None and self.first.id == id else self._held.get(id)

    def _is_here(self, id: str) -> bool:
        return id in self._held or (self.first is not None and self.first.id == id)


def _opened(data: Any, reading: Mapping[str, Any], progress: Tell | None = None) -> Table:
    table = Table(data, keep=KEPT, progress=progress, **reading)
    table.needing(few_rows).moments  # noqa: B018
    table._progress = None
    return table


def _numbers(table: Table) -> int:
    """About as many as it has in memory: its moments, and what is kept of its rows."""
    kept = 0 if table.rows is None else table.rows.values.size
    return len(table.names) ** 2 + kept + numbers_of(table.profile)


def numbers_of(profile: Profile | None) -> int:
    """How many a profile has in memory."""
    return 0 if profile is None else profile.rows.size


def _id(name: str, digest: str) -> str:
    """The same for the same file, so that a state that was saved finds its table again."""
    return "d" + hashlib.sha256(f"{name}\n{digest}".encode()).hexdigest()[:16]


def _digest(data: Any, table: Table | None) -> str:
    """SHA-256 of the bytes of one file, and of the moments of anything else."""
    path = (
        DATASETS[data].path
        if isinstance(data, str) and data in DATASETS
        else Path(data if isinstance(data, str) else "")
    )
    if path.is_file() and path.stat().st_size <= LARGEST:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    assert table is not None
    return _digest_of(table.moments)


def _digest_of(moments: Moments) -> str:
    digest = hashlib.sha256(json.dumps([moments.n, list(moments.names)]).encode())
    for values in (moments.mean, moments.R):
        digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    return digest.hexdigest()
