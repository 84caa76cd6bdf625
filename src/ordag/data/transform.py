"""Columns in other units: a source, some of whose columns are multiplied, or their logarithms taken, as the rows go by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from ordag.arrays import Array, Mask
from ordag.data.parts import scan
from ordag.data.reading import Missing, Reading
from ordag.data.scatter import Accumulator, chunk_rows
from ordag.data.sources import ScatteredSource, Source, open_source
from ordag.data.table_checks import RowCheck
from ordag.errors import ColumnError, DataError
from ordag.linalg import lengths
from ordag.words import did_you_mean, quoted

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Changes:
    """For every column a factor; whether its logarithm is taken instead; whether its standard deviation is to be the unit."""

    factors: Array
    logs: Mask
    standardised: Mask

    @classmethod
    def of(cls, transform: Mapping[str, float | str], names: Sequence[str], describe: str) -> Changes:
        """Those of a table with these columns."""
        known = set(names)
        unknown = [name for name in transform if name not in known]
        if unknown:
            hint = did_you_mean(unknown[:4], names, each=2)
            raise ColumnError(
                f"transform names {quoted(unknown)}, and {describe} has no such column in use.{hint} Its columns are {quoted(names)}.",
                ["transform"],
            )
        said = [transform.get(name, 1.0) for name in names]
        return cls(
            np.array([1.0 if isinstance(change, str) else change for change in said]),
            np.array([change == "log" for change in said], dtype=bool),
            np.array([change == "standardise" for change in said], dtype=bool),
        )

    def divided(self, deviations: Array) -> Changes:
        """The same with factors for what is standardised; a column that never changes is left as it is, to be refused as one."""
        usable = self.standardised & (deviations > 0.0) & np.isfinite(deviations)
        factors = np.divide(self.factors, deviations, out=self.factors.copy(), where=usable)
        return replace(self, factors=factors, standardised=np.zeros_like(usable))

    def apply(self, block: Array, names: Sequence[str], describe: str, first_row: int) -> Array:
        """Rows of the table, changed; `first_row`, from 1, is for messages."""
        changed = np.array(block, order="C")
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            changed *= self.factors
            if self.logs.any():
                part = block[:, self.logs]
                self._refuse(part, ~np.isnan(block), names, describe, first_row)
                changed[:, self.logs] = np.log(np.where(part > 0.0, part, np.nan))
        return changed

    def _refuse(self, part: Array, present: Mask, names: Sequence[str], describe: str, first_row: int) -> None:
        """Logarithms are of positive numbers; rows that have missing values are not used, whatever else they hold."""
        wrong = (part <= 0.0) & present.all(axis=1, keepdims=True)
        if wrong.any():
            row, k = (int(place) for place in np.argwhere(wrong)[0])
            name = names[int(np.flatnonzero(self.logs)[k])]
            raise DataError(
                f"{describe}: column {name!r} holds {part[row, k]:g} in data row {first_row + row}, and has no logarithm there: "
                "transform takes logarithms of columns of positive numbers only.",
                ["transform"],
            )


@dataclass(frozen=True, eq=False)
class ChangedSource(Source):
    """Some columns of another source, by their places in it, each with its change."""

    inner: Source
    places: tuple[int, ...]
    changes: Changes
    missing: Missing

    @cached_property
    def _settled(self) -> Changes:
        """With a factor for everything that is standardised, which takes a pass over the rows of its own."""
        return settled(self.changes, self.inner, self.places, self.missing)

    @cached_property
    def _array(self) -> Array | None:
        X = self.inner.array
        return None if X is None else self._changed(X, 1)

    @property
    def array(self) -> Array | None:
        return self._array

    @property
    def repeatable(self) -> bool:
        return self.inner.repeatable

    @property
    def file_bytes(self) -> int | None:
        return self.inner.file_bytes

    def share(self, rows: int) -> float | None:
        return self.inner.share(rows)

    def batches(self, rows: int) -> Iterator[Array]:
        _ = self._settled
        first_row = 1
        for block in self.inner.batches(rows):
            yield self._changed(block, first_row)
            first_row += len(block)

    def _changed(self, block: Array, first_row: int) -> Array:
        every = self.places == tuple(range(block.shape[1]))
        part = block if every else block[:, self.places]
        return self._settled.apply(part, self.names, self.describe, first_row)


@dataclass(frozen=True, eq=False)
class ChangedParts(ScatteredSource):
    """The same of a table in parts: each is changed where it lies."""

    inner: ScatteredSource
    places: tuple[int, ...]
    changes: Changes
    missing: Missing

    @property
    def part_count(self) -> int:
        return self.inner.part_count

    def mapped(self, work: Callable[[Source, Any], Found], places: Sequence[Any]) -> list[Found]:
        return self.inner.mapped(self._on_changed(work), places)

    def merged(
        self,
        work: Callable[[Source, Any], Found],
        places: Sequence[Any],
        merge: Callable[[Sequence[Found]], Found],
    ) -> Found:
        return self.inner.merged(self._on_changed(work), places, merge)

    @cached_property
    def _settled(self) -> Changes:
        return settled(self.changes, self.inner, self.places, self.missing)

    def _on_changed(self, work: Callable[[Source, Any], Found]) -> Callable[[Source, Any], Found]:
        return partial(_on_changed, work, self.names, self.places, self._settled)


def _on_changed(
    work: Callable[[Source, Any], Found],
    names: tuple[str, ...],
    columns: tuple[int, ...],
    changes: Changes,
    source: Source,
    place: Any,
) -> Found:
    return work(ChangedSource(names, source.rows, source.describe, source, columns, changes, "drop"), place)


def settled(changes: Changes, source: Source, places: Sequence[int], missing: Missing) -> Changes:
    """Changes that are factors and logarithms alone; standard deviations have the divisor n − 1, and are of complete rows."""
    if not changes.standardised.any():
        return changes
    if isinstance(source, ScatteredSource):
        n, _, R = scan(source, missing).root
        return changes.divided((lengths(R) / np.sqrt(max(n - 1.0, 1.0)))[list(places)])
    wanted = np.array(places)[changes.standardised]
    rows, total = RowCheck(source.names, missing), Accumulator(len(wanted))
    with np.errstate(over="ignore", invalid="ignore"):
        for block in source.batches(chunk_rows(len(source.names))):
            total.add(np.ascontiguousarray(rows.admit(block)[:, wanted]))
        rows.verdict(source.place)
        n, _, R = total.finish()
        deviations = np.ones(len(places))
        deviations[changes.standardised] = lengths(R) / np.sqrt(max(n - 1.0, 1.0))
    return changes.divided(deviations)


def changed(source: Source, names: Sequence[str], changes: Changes, missing: Missing) -> Source:
    """These columns of a source, each with its change; the source as it is where there is none."""
    if tuple(names) == source.names and not (changes.logs | changes.standardised | (changes.factors != 1.0)).any():
        return source
    place = {name: k for k, name in enumerate(source.names)}
    places = tuple(place[name] for name in names)
    if isinstance(source, ScatteredSource):
        return ChangedParts(tuple(names), source.rows, source.describe, source, places, changes, missing)
    return ChangedSource(tuple(names), source.rows, source.describe, source, places, changes, missing)


def open_table(data: Any, **settings: Any) -> Source:
    """`open_source`, with the columns changed as the setting `transform` says."""
    reading = Reading(**settings)
    source = open_source(data, **{**settings, "transform": None})
    if not reading.transform:
        return source
    return changed(source, source.names, Changes.of(reading.transform, source.names, source.describe), reading.missing)
