"""Columns in other units: a source around a source multiplies columns, or takes their logarithms, as the rows are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import lengths
from ordag.common.words import did_you_mean, quoted
from ordag.data.covariates import Covariate
from ordag.data.holding import Adjustment, RootAccumulator
from ordag.data.passes import Pass, root_pass
from ordag.data.reading import Missing, Reading
from ordag.data.scatter import chunk_rows
from ordag.data.series import in_series
from ordag.data.sources import DaskSource, Source, open_source
from ordag.data.sources.csv import CsvSource
from ordag.data.table_checks import RowCheck
from ordag.errors import ColumnError, DataError


@dataclass(frozen=True, eq=False)
class Changes:
    """For every column a factor, whether its logarithm is taken, and whether its standard deviation becomes the unit.

    every_row: whether incomplete rows are used, so that their values are checked. absent: numbers that stand for missing values.
    """

    factors: Array
    logs: Mask
    standardised: Mask
    every_row: bool = False
    absent: tuple[float, ...] = ()

    @classmethod
    def of(cls, transform: Mapping[str, float | str], names: Sequence[str], describe: str) -> Changes:
        """Return the changes of the columns of a table by the setting `transform`."""
        known = set(names)
        unknown = [name for name in transform if name not in known]
        if unknown:
            hint = did_you_mean(unknown[:4], names, each=2)
            raise ColumnError(
                f"transform names {quoted(unknown)}, and {describe} has no such column in use.{hint} Its columns are {quoted(names)}.",
                ["transform"],
            )
        changes = [transform.get(name, 1.0) for name in names]
        return cls(
            np.array([1.0 if isinstance(change, str) else change for change in changes]),
            np.array([change == "log" for change in changes], dtype=bool),
            np.array([change == "standardise" for change in changes], dtype=bool),
        )

    def divided(self, deviations: Array) -> Changes:
        """Replace standardising by factors; a column that never changes is left as it is, and refused later."""
        usable = self.standardised & (deviations > 0.0) & np.isfinite(deviations)
        factors = np.divide(self.factors, deviations, out=self.factors.copy(), where=usable)
        return replace(self, factors=factors, standardised=np.zeros_like(usable))

    def apply(self, block: Array, names: Sequence[str], describe: str, first_row: int) -> Array:
        """Change rows of the table; `first_row`, from 1, is for messages."""
        changed = np.array(block, order="C")
        if self.absent:
            changed[np.isin(changed, self.absent)] = np.nan
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            changed *= self.factors
            if self.logs.any():
                part = block[:, self.logs]
                self._check_positive(part, ~np.isnan(block), names, describe, first_row)
                changed[:, self.logs] = np.log(np.where(part > 0.0, part, np.nan))
        return changed

    def _check_positive(self, part: Array, present: Mask, names: Sequence[str], describe: str, first_row: int) -> None:
        """Refuse logarithms of other than positive numbers in rows that are used."""
        wrong = (part <= 0.0) & (self.every_row | present.all(axis=1, keepdims=True))
        if wrong.any():
            row, k = (int(index) for index in np.argwhere(wrong)[0])
            name = names[int(np.flatnonzero(self.logs)[k])]
            raise DataError(
                f"{describe}: column {name!r} holds {part[row, k]:g} in data row {first_row + row}, and has no logarithm there: "
                "transform takes logarithms of columns of positive numbers only.",
                ["transform"],
            )


@dataclass(frozen=True, eq=False)
class ChangedSource(Source):
    """Some columns of another source, by their positions in its blocks, covariates behind the variables; each variable with its change."""

    inner: Source
    positions: tuple[int, ...]
    changes: Changes

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
        first_row = 1
        for block in self.inner.batches(rows):
            yield self._changed(block, first_row)
            first_row += len(block)

    def _changed(self, block: Array, first_row: int) -> Array:
        every = self.positions == tuple(range(block.shape[1]))
        part = block if every else block[:, self.positions]
        p = len(self.names)
        variables = self.changes.apply(part[:, :p], self.names, self.describe, first_row)
        return np.concatenate([variables, part[:, p:]], axis=1) if self.covariates else variables


def changed(source: Source, names: Sequence[str], changes: Changes, missing: Missing) -> Source:
    """Return these columns of a source, each with its change. A pass over the rows gives the deviations of standardised columns."""
    every = changes.logs | changes.standardised | (changes.factors != 1.0)
    if tuple(names) == source.names and not every.any() and not changes.absent:
        return source
    where = {name: k for k, name in enumerate(source.names)}
    positions = tuple(where[name] for name in names)
    changes = replace(changes, every_row=missing in ("auto", "em"))
    behind = tuple(range(len(source.names), len(source.all_names)))
    if changes.standardised.any():
        changes = changes.divided(_deviations(source, positions, changes.standardised, missing))
    positions = (*positions, *behind)
    known: dict[str, Any] = {"covariates": source.covariates, "columns": source.columns, "notes": source.notes}
    if isinstance(source, DaskSource):
        opened = partial(_opened, source.opened, tuple(names), positions, changes, source.covariates)
        return DaskSource(tuple(names), source.rows, source.describe, source.partitions, opened, **known)
    return ChangedSource(tuple(names), source.rows, source.describe, source, positions, changes, **known)


def _recoded(source: Source, reading: Reading) -> Source:
    """Return a source without the numbers that stand for missing values; covariates keep theirs."""
    changes = replace(Changes.of({}, source.names, source.describe), absent=reading.absent)
    return replace(changed(source, source.names, changes, reading.missing), suspects=source.suspects)


def _opened(
    opened: Any,
    names: tuple[str, ...],
    positions: tuple[int, ...],
    changes: Changes,
    covariates: tuple[Covariate, ...],
    partition: Any,
    number: int,
) -> Source:
    inner = opened(partition, number)
    local = inner.covariates or covariates  # a partition has its own levels
    return ChangedSource(names, inner.rows, inner.describe, inner, positions, changes, covariates=local)


@dataclass(frozen=True, eq=False)
class FixedSource(Source):
    """The variables of another source with its covariates held fixed: what regressions on them leave of every row."""

    inner: Source
    adjustment: Adjustment

    @property
    def file_bytes(self) -> int | None:
        return self.inner.file_bytes

    def share(self, rows: int) -> float | None:
        return self.inner.share(rows)

    def batches(self, rows: int) -> Iterator[Array]:
        adjusted_for = self.inner.covariates[: len(self.adjustment.covariates)]
        width = len(self.names) + len(adjusted_for)
        return (self.adjustment.residuals(block[:, :width], adjusted_for) for block in self.inner.batches(rows))


def held_fixed(source: Source, adjustment: Adjustment) -> Source:
    """Return the variables of a source with its covariates held fixed."""
    if isinstance(source, DaskSource):
        opened = partial(_opened_fixed, source.opened, adjustment)
        return DaskSource(source.names, source.rows, source.describe, source.partitions, opened)
    return FixedSource(source.names, source.rows, source.describe, source, adjustment)


def _opened_fixed(opened: Any, adjustment: Adjustment, partition: Any, number: int) -> Source:
    return held_fixed(opened(partition, number), adjustment)


def _deviations(source: Source, positions: Sequence[int], standardised: Mask, missing: Missing) -> Array:
    """Return the standard deviations, with divisor n − 1, of the standardised columns over the rows that are used; 1 for the others."""
    columns = np.array(positions)[standardised]
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(source, DaskSource):
            estimated = root_pass(source, Pass(missing))
            assert estimated.R is not None
            n, spread = estimated.n, lengths(estimated.R)[len(estimated.names) - len(source.names) + columns]
        else:
            rows = RowCheck(source.all_names, missing, variables=len(source.names))
            total = RootAccumulator(len(columns))
            for block in source.batches(chunk_rows(len(source.names))):
                total.add(np.ascontiguousarray(rows.admit(block)[:, columns]))
            rows.verdict(source.prefix)
            root = total.finish()
            n, spread = root.n, lengths(root.R)
            if rows.how == "em":
                estimated = root_pass(source, Pass("em"))
                assert estimated.R is not None
                n, spread = estimated.n, lengths(estimated.R)[len(estimated.names) - len(source.names) + columns]
        deviations = np.ones(len(positions))
        deviations[standardised] = spread / np.sqrt(max(n - 1.0, 1.0))
    return deviations


def open_table(data: Any, reading: Reading) -> Source:
    """Open data as a source (`open_source`), with its columns changed by `transform`, and in time with their earlier values."""
    source = open_source(data, reading)
    if reading.absent and not isinstance(source, CsvSource):
        source = _recoded(source, reading)
    if reading.transform:
        changes = Changes.of(reading.transform, source.names, source.describe)
        source = changed(source, source.names, changes, reading.missing)
    return in_series(source, reading) if reading.in_time else source
