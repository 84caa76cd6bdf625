"""Bytes, files and names of built-in tables in, tables in memory out: read once, with what was made of them kept within bounds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordag.checks import is_whole, short
from ordag.data.datasets import DATASETS, load
from ordag.data.profile import Profile
from ordag.data.reading import Reading
from ordag.data.sources import Upload
from ordag.data.table import Table
from ordag.errors import DataError, Remedy
from ordag.explore.cache import Cache
from ordag.explore.state import RequestError, State
from ordag.order.sparse import few_rows
from ordag.show.provenance import OF_BYTES, fingerprint
from ordag.words import shown

Tell = Callable[[str], None]

KEPT = 2**22
"""Numbers of the rows of a table that are kept, for logarithms, checks and histograms; of larger tables every second, fourth, … row."""

UNPACKED = 4
"""Times as many bytes may come of a compressed file as a file may have."""

MOST_COLUMNS = 4000
"""Of a file that is dropped onto the page: moments take memory by the square of that, an eighth of a gigabyte for each copy."""

NUMBERS = 2**24
"""In all tables of other columns or units that are kept to be used again: an eighth of a gigabyte."""


class NoTableError(DataError):
    """A state that speaks of a table which is not here."""


class UnreadError(DataError):
    """What is wrong with a table that can be read otherwise; `id` is what the page calls it when it chooses one of the remedies.

    `kind` is the class of the error that it is instead of.
    """

    def __init__(self, id: str, error: DataError) -> None:
        super().__init__(str(error), error.settings, error.remedies)
        self.id, self.kind = id, type(error).__name__


@dataclass(frozen=True, eq=False)
class Given:
    """A table to be read.

    data: what `learn` takes for it. name: what it is called. reading: how it is read, as far as that is not as usual. transform: the
    units to begin with.
    """

    data: Any
    name: str
    builtin: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    transform: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """How many are in memory."""
        return len(self.data.data) if isinstance(self.data, Upload) else 0


class _Unread(NamedTuple):
    given: Given
    remedies: tuple[Remedy, ...]


@dataclass(frozen=True, eq=False)
class Held:
    """A table that has been read.

    digest: a fingerprint. digest_of: what of.
    """

    id: str
    given: Given
    digest: str
    digest_of: str
    table: Table

    @property
    def data(self) -> Any:
        return self.given.data

    @property
    def name(self) -> str:
        return self.given.name

    @property
    def reading(self) -> Mapping[str, Any]:
        return self.given.reading

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
            "builtin": self.given.builtin,
            "columns": columns,
            "transform": dict(self.given.transform),
        }


class Tables:
    """The tables of a workbench: the one that it was started with stays, others go when there are too many."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._held: Cache[Held] = Cache(4 * most_bytes)
        self._unread: Cache[_Unread] = Cache(most_bytes)
        self._changed: Cache[Table] = Cache(NUMBERS)
        self.first: Held | None = None
        self.first_unread: UnreadError | None = None

    def start_with(self, data: Any, name: str, reading: Mapping[str, Any], progress: Tell | None = None) -> None:
        """Read the table that is named on the command line. Where it can be read otherwise only, the page is to offer that."""
        builtin = data if isinstance(data, str) and data in DATASETS else None
        usual = Reading()
        read = {key: value for key, value in reading.items() if key != "transform" and value != getattr(usual, key)}
        try:
            self._read_first(Given(data, name, builtin, read, reading.get("transform") or {}), progress)
        except UnreadError as error:
            self.first_unread = error

    def _read_first(self, given: Given, progress: Tell | None) -> Held:
        table = self._opened(given, "", progress)
        table.transformed(given.transform)  # what is wrong with it is said on the command line
        digest, of = fingerprint(table, given.data if isinstance(given.data, str) else None)
        self.first, self.first_unread = Held(_id(given, digest), given, digest, of, table), None
        return self.first

    def builtin(self, name: str, progress: Tell | None = None) -> Held:
        """A table that comes with Ordag."""
        known = load(name)
        return self._read(Given(known.name, known.name, known.name), known.path.read_bytes(), progress)

    def upload(self, name: str, body: bytes, progress: Tell | None = None) -> Held:
        """What somebody dropped onto the page; the name says what kind of file it is, and is a label otherwise."""
        upload = Upload(name, body, UNPACKED * self.most_bytes, MOST_COLUMNS)
        return self._read(Given(upload, name), body, progress)

    def reread(self, id: str, choice: Any, progress: Tell | None = None) -> Held:
        """A table that was refused, by one of the remedies that were offered. Remedies add up."""
        unread = self._unread.get(id)
        if unread is None:
            raise NoTableError(
                "The file is not here any more: the workbench keeps files in memory only. Open it again."
            )
        given, remedies = unread
        if not is_whole(choice, 0) or choice >= len(remedies):
            raise RequestError(f"choice={short(choice)}: there is no such way to read {shown(given.name)}.")
        given = replace(given, reading={**given.reading, **remedies[choice].reading})
        body = given.data.data if isinstance(given.data, Upload) else None
        held = self._read_first(given, progress) if body is None else self._read(given, body, progress)
        self._unread.drop(lambda key: key == id)
        return held

    def _read(self, given: Given, body: bytes, progress: Tell | None = None) -> Held:
        """A table whose bytes are these, read unless it is here already. Those that go for it take along what was made of them."""
        digest = hashlib.sha256(body).hexdigest()
        id = _id(given, digest)
        found = self._find(id)
        if found is not None:
            return found
        held = Held(id, given, digest, OF_BYTES, self._opened(given, digest, progress))
        self._held.put(id, held, given.bytes + 8 * _numbers(held.table))
        self._changed.drop(lambda key: not self._is_here(key[0]))
        return held

    def _opened(self, given: Given, digest: str, progress: Tell | None) -> Table:
        """The table, read. One that can be read otherwise is kept for that."""
        try:
            table = Table(given.data, keep=KEPT, progress=progress, **given.reading)
            table.needing(few_rows).moments  # noqa: B018
        except DataError as error:
            if not error.remedies:
                raise
            id = _id(given, digest)
            self._unread.put(id, _Unread(given, error.remedies), given.bytes)
            raise UnreadError(id, error) from error
        table._progress = None
        return table

    def named(self, state: State) -> Held:
        """The table that a state speaks of: by its id, or else by its name if it is built in."""
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


def _numbers(table: Table) -> int:
    """About as many as it has in memory: its moments, and what is kept of its rows."""
    kept = 0 if table.rows is None else table.rows.values.size
    return len(table.names) ** 2 + kept + numbers_of(table.profile)


def numbers_of(profile: Profile | None) -> int:
    """How many a profile has in memory."""
    return 0 if profile is None else profile.rows.size


def _id(given: Given, digest: str) -> str:
    """The same for the same file that is read in the same way, so that a state that was saved finds its table again."""
    reading = json.dumps(given.reading, sort_keys=True) if given.reading else ""
    own = "\nbuilt in" if given.builtin else ""  # not a file of the same name and bytes, which is read from elsewhere
    return "d" + hashlib.sha256(f"{given.name}\n{digest}{reading}{own}".encode()).hexdigest()[:16]
