r"""Rows in time: a source around a source gives every row the values of earlier times as more columns.

Rows are sorted by series and time. Differences and means of seasons are taken first; then a row has the columns $x_t$, $x_{t-1}$, …,
$x_{t-L}$, where all of these times are there: a gap in time costs the L rows after it. Rows are drawn in blocks by resamples, each
a stretch of one series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.linalg import triangle
from ordag.common.words import counted, listed, shown
from ordag.data.covariates import Covariate
from ordag.data.reading import Reading
from ordag.data.relations import confirmed
from ordag.data.sources import DaskSource, Source
from ordag.data.sources.source import rows_at_once
from ordag.data.times import Steps, steps_of
from ordag.data.trends import NO_TRENDS, Trends, trends_of
from ordag.errors import ColumnError, DataError, SettingError

IN_MEMORY = 2**25
"""Numbers of a table with its earlier values that are made at once, a quarter of a gigabyte; of a larger one they are made in batches."""

MOST_ENDS = 10_000
"""Series whose last values are kept, to go on from."""


class End(NamedTuple):
    """The end of one series, in the units of the table: the last lags + differences rows, their step, and the means of all its columns."""

    name: str
    last: Array
    step: int
    mean: Array


@dataclass(frozen=True, eq=False)
class Series:
    """What the columns of lagged rows are: the variables, then the same `lags` times over, each a step earlier.

    names: of the variables. time, cluster: the columns that say when, and of which series. step: what one step is, in words.
    difference: how often differences were taken. season: the steps of a season whose means were removed, with these `means`, one row for
    every place in it. block: the rows that resamples draw together. ends: where each series ends. trends: what the series show alone.
    taken: rows that the means of seasons take. notes: how the times were read.
    """

    names: tuple[str, ...]
    lags: int
    time: str | None = None
    cluster: str | None = None
    step: str = ""
    difference: int = 0
    season: int | None = None
    means: Array | None = None
    block: int = 1
    ends: tuple[End, ...] = ()
    trends: Trends = NO_TRENDS
    taken: int = 0
    notes: tuple[str, ...] = ()

    @property
    def p(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns: `gdp`, …, `gdp[-1]`, …"""
        return tuple(lagged_name(name, lag) for lag in range(self.lags + 1) for name in self.names)

    @property
    def earlier(self) -> Mask:
        """Mark the columns of earlier times."""
        return np.arange(self.p * (self.lags + 1)) >= self.p

    def place(self, column: int) -> tuple[str, int]:
        """Return the variable of a column, and how many steps earlier it is."""
        return self.names[column % self.p], column // self.p

    def select(self, names: Sequence[str]) -> Series:
        """Return what the columns are if only these variables are used."""
        at = [self.names.index(name) for name in names]
        every = [lag * self.p + j for lag in range(self.lags + 1) for j in at]
        place = {j: k for k, j in enumerate(at)}
        drifting, trending, seasonal = (tuple(place[j] for j in one if j in place) for one in self.trends[:3])
        trends = Trends(drifting, trending, seasonal, self.trends.period if seasonal else None, self.trends.looked)
        ends = tuple(one._replace(last=one.last[:, at], mean=one.mean[every]) for one in self.ends)
        means = None if self.means is None else self.means[:, at]
        return replace(self, names=tuple(names), means=means, ends=ends, trends=trends)

    def blocks_of(self, B: Array) -> Array:
        """Return the weights [l, i, j] of i, l steps earlier, in the equation of j, from those of all columns."""
        p = self.p
        return np.asarray(B[:, :p].reshape(self.lags + 1, p, p))

    def to_dict(self) -> dict[str, Any]:
        """Return what was done, in plain values."""
        said: dict[str, Any] = {"names": list(self.names), "lags": self.lags, "time": self.time, "step": self.step}
        said |= {"cluster": self.cluster, "difference": self.difference, "season": self.season, "block": self.block}
        return said


def lagged_name(name: str, lag: int) -> str:
    """Return the name of a column some steps earlier."""
    return f"{name}[-{lag}]" if lag else name


@dataclass(frozen=True, eq=False)
class SeriesSource(Source):
    """Lagged rows. values: the variables of all rows, sorted by series and time. labels: the columns behind them. at: the rows that have
    all earlier times, by their places."""

    series: Series = field(kw_only=True)
    values: Array = field(kw_only=True)
    labels: Array = field(kw_only=True)
    at: Indices = field(kw_only=True)

    @property
    def array(self) -> Array | None:
        width = len(self.all_names)
        return self._part(0, len(self.at)) if len(self.at) * width <= IN_MEMORY else None

    def batches(self, rows: int) -> Iterator[Array]:
        for start in range(0, len(self.at), rows):
            yield self._part(start, start + rows)

    def _part(self, start: int, stop: int) -> Array:
        at = self.at[start:stop]
        earlier = [self.values[at - lag] for lag in range(self.series.lags + 1)]
        return np.concatenate([*earlier, self.labels[at]], axis=1)


def in_series(source: Source, reading: Reading) -> Source:
    """Return the rows of a table with those of earlier times, as the settings say."""
    if isinstance(source, DaskSource):
        raise SettingError(
            "lags: the rows of a table of Dask lie on many machines in no order of time: write them to a Parquet file, and give that.",
            ["lags"],
        )
    lags, difference = reading.lags or 0, reading.difference or 0
    values, labels, steps, number = _sorted(source, reading)
    if source.suspects:
        source, values = _without(source, values)
    values = values.copy()
    age, first = _ages(number, steps.number), np.diff(number, prepend=-1) != 0
    kept = values if difference + lags == 0 else values.copy()
    for _ in range(difference):
        values[1:] -= values[:-1].copy()
        values[0] = np.nan
    values[age < difference] = np.nan
    means, taken = None, 0
    if reading.season is not None:
        means, values = _without_season(values, steps.number % reading.season, number, reading.season)
        taken = reading.season - 1
    at = np.flatnonzero(age >= lags + difference)
    if not len(at):
        raise _too_short(reading, age, lags + difference)
    series = Series(
        names=source.names,
        lags=lags,
        time=reading.time,
        cluster=reading.cluster,
        step=steps.step,
        difference=difference,
        season=reading.season,
        means=means,
        block=_block(values, at, number, lags),
        trends=trends_of(values, age, steps.periods, reading.season),
        taken=taken,
        notes=_notes(reading, steps, age, first, at, lags + difference),
    )
    beside = tuple(one for one in source.covariates if one.use != "time")
    unit = _units(number[at], series.block)
    columns = [k for k, one in enumerate(source.covariates) if one.use != "time"]
    behind = np.full((len(values), len(columns) + 1), np.nan)
    behind[:, :-1] = labels[:, columns]
    behind[at, -1] = unit
    ends = _ends(source, series, kept, values, at, number, steps.number, age, reading)
    series = replace(series, ends=ends)
    _check_names(series, source)
    return SeriesSource(
        names=series.columns,
        rows=len(at),
        describe=source.describe,
        covariates=(*beside, Covariate("block", [], "unit")),
        columns=source.columns,
        notes=(*source.notes, *series.notes),
        series=series,
        values=values,
        labels=behind,
        at=at,
    )


def _sorted(source: Source, reading: Reading) -> tuple[Array, Array, Steps, Indices]:
    """Return the variables, the columns behind them, the steps and the numbers of the series of all rows, by series and time."""
    p = len(source.names)
    whole = source.array
    if whole is None:
        whole = np.concatenate([np.empty((0, len(source.all_names))), *source.batches(rows_at_once(p))])
    uses = {one.use: (p + k, one) for k, one in enumerate(source.covariates)}
    absent = np.zeros(len(whole), dtype=bool)
    for use in ("time", "cluster"):
        if use in uses:
            absent |= np.isnan(whole[:, uses[use][0]])
    if absent.any():
        used = [shown(uses[use][1].name) for use in ("time", "cluster") if use in uses]
        raise DataError(
            f"{source.prefix}{counted(int(absent.sum()), 'row')} {'has' if absent.sum() == 1 else 'have'} no value in "
            f"{' or '.join(used)} (the first is row {int(absent.argmax()) + 1:,}): a row without a time has no place in a series.",
            ["time"],
        )
    number = np.zeros(len(whole), np.intp)
    if "cluster" in uses:
        number = whole[:, uses["cluster"][0]].astype(np.intp)
    if "time" not in uses:
        order = np.argsort(number, kind="stable")
        place = np.arange(len(whole))
        number = number[order]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        steps = Steps(np.asarray(place - np.repeat(starts, np.diff([*starts, len(whole)])), np.intp))
    else:
        at, column = uses["time"]
        steps = steps_of(whole[:, at], column.levels, number, column.name)
        order = np.lexsort((steps.number, number))
        steps, number = steps._replace(number=steps.number[order]), number[order]
        same = np.flatnonzero((np.diff(steps.number) == 0) & (np.diff(number) == 0))
        if len(same):
            raise _doubled(source, reading, whole[order, at], same, order, column)
    rows = whole[order]
    return rows[:, :p], rows[:, p:], steps, number


def _doubled(
    source: Source, reading: Reading, times: Array, same: Indices, order: Indices, column: Covariate
) -> DataError:
    first = int(same[0])
    value = times[first]
    said = f"{value:g}" if column.levels is None else column.levels[int(value)]
    rows = sorted((int(order[first]) + 1, int(order[first + 1]) + 1))
    what = f"within a value of {shown(reading.cluster)}" if reading.cluster is not None else "in one series"
    advice = (
        "keep one row of each time"
        if reading.cluster is not None
        else "if there are several series, name the column that tells them apart with cluster=… (--cluster); else keep one row of each time"
    )
    return DataError(
        f"{source.prefix}Column {shown(column.name)} has the time {said} twice {what} (rows {rows[0]:,} and {rows[1]:,}; "
        f"{counted(len(same), 'such row')}): {advice}.",
        ["time", "cluster"],
    )


def _without(source: Source, values: Array) -> tuple[Source, Array]:
    """Set aside the columns that all rows show to be constant or made up by others, where the first rows did so."""
    whole = values[np.isfinite(values).all(axis=1)]
    root = triangle(whole - whole.mean(axis=0)) if len(whole) else np.zeros((values.shape[1],) * 2)
    roles = {
        one.name: one for one in confirmed(source.suspects, source.names, np.sqrt(np.square(whole).sum(axis=0)), root)
    }
    keep = [k for k, name in enumerate(source.names) if name not in roles]
    columns = tuple(roles.get(one.name, one) for one in source.columns)
    names = tuple(source.names[k] for k in keep)
    return replace(source, names=names, columns=columns, suspects=()), values[:, keep]


def _ages(number: Indices, index: Indices) -> Indices:
    """Return how many steps without a gap come before every row."""
    follows = (np.diff(number, prepend=-1) == 0) & (np.diff(index, prepend=-2) == 1)
    place = np.arange(len(number))
    return np.asarray(place - np.maximum.accumulate(np.where(follows, 0, place)), np.intp)


def _without_season(values: Array, phase: Indices, number: Indices, season: int) -> tuple[Array, Array]:
    """Return the means of every place in the season about the mean of all, and the values without them.

    They are means of what the means of the series leave, so that series of different lengths do not matter.
    """
    left = values - _means_by(values, number)[number]
    means = _means_by(left, phase, season)
    if np.isnan(means).any():
        wanted = counted(int(np.isnan(means).any(axis=1).sum()), "place")
        raise DataError(
            f"season={season}: no row stands at {wanted} of the season: give more rows, or a shorter season.",
            ["season"],
        )
    means -= means.mean(axis=0)
    return means, values - means[phase]


def _means_by(values: Array, code: Indices, count: int | None = None) -> Array:
    """Return the mean of the known values for every code."""
    there = np.isfinite(values)
    count = int(code.max(initial=-1)) + 1 if count is None else count
    sums = np.stack(
        [
            np.bincount(code, np.where(known, column, 0.0), count)
            for column, known in zip(values.T, there.T, strict=True)
        ]
    )
    sizes = np.stack([np.bincount(code, known, count) for known in there.T])
    return np.asarray(np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0).T)


def _too_short(reading: Reading, age: Indices, needed: int) -> DataError:
    longest = int(age.max(initial=-1)) + 1
    given = [f"{name}={getattr(reading, name)}" for name in ("lags", "difference") if getattr(reading, name)]
    return DataError(
        f"{' and '.join(given) or 'time'}: {counted(needed + 1, 'time')} in a row without a gap are needed, and the longest stretch "
        f"has {longest}: give fewer lags, or another column for time.",
        ["lags"],
    )


def _block(values: Array, at: Indices, number: Indices, lags: int) -> int:
    r"""Return how many rows resamples draw together: $n^{1/3}$, with n the rows of a series, where earlier values are possible causes.

    Without these, rows that remember more need more: $(2 r^2 / (1 - r^2)^2)^{1/3}$ times as many, with $r = \rho^2$ the correlation of
    neighbouring products where that of neighbouring values is ρ (Politis & White 2004).
    """
    each = len(at) / max(len(np.unique(number[at])), 1)
    block = each ** (1.0 / 3.0)
    if not lags and len(at) > 2:
        centred = values[at] - np.nanmean(values[at], axis=0)
        together = (np.diff(at) == 1) & (np.diff(number[at]) == 0)
        a, b = np.nan_to_num(centred[1:][together]), np.nan_to_num(centred[:-1][together])
        size = np.maximum(np.sqrt(np.square(a).sum(axis=0) * np.square(b).sum(axis=0)), 1e-300)
        rho = float(np.median(np.abs((a * b).sum(axis=0) / size))) if len(a) else 0.0
        r = min(rho, 0.97) ** 2
        block *= max(1.0, (2.0 * r * r / (1.0 - r * r) ** 2) ** (1.0 / 3.0))
    return max(1, min(int(np.ceil(block)), int(each / 4) or 1))


def _units(number: Indices, block: int) -> Indices:
    """Number blocks of about as many rows, none of which spans two series."""
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    units, count = np.empty(len(number), np.intp), 0
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(number)], strict=True):
        pieces = max(1, round((stop - start) / block))
        units[start:stop] = count + np.arange(stop - start) * pieces // (stop - start)
        count += pieces
    return units


def _ends(
    source: Source,
    series: Series,
    raw: Array,
    values: Array,
    at: Indices,
    number: Indices,
    index: Indices,
    age: Indices,
    reading: Reading,
) -> tuple[End, ...]:
    """Return the ends of the series that go on without a gap, with the means of their lagged rows."""
    needed = series.lags + series.difference
    lasts = np.flatnonzero(np.diff(number, append=-1) != 0)
    lasts = lasts[age[lasts] >= needed]
    if len(lasts) > MOST_ENDS:
        return ()
    names = next((one.levels for one in source.covariates if one.use == "cluster"), None)
    means = np.concatenate(
        [_means_by(values[at - lag], number[at], int(number.max()) + 1) for lag in range(series.lags + 1)], axis=1
    )
    found = []
    for last in lasts.tolist():
        rows = raw[last + 1 - max(needed, 1) : last + 1]
        if np.isfinite(rows).all():
            code = int(number[last])
            found.append(End("" if names is None else names[code], rows.copy(), int(index[last]), means[code]))
    return tuple(found)


def _notes(reading: Reading, steps: Steps, age: Indices, first: Mask, at: Indices, needed: int) -> tuple[str, ...]:
    notes = []
    if reading.time is None:
        notes.append("Rows are taken in their order, one step of time apart")
    elif steps.irregular:
        notes.append(
            f"The times in {shown(reading.time)} are not evenly spaced, so rows are taken one step apart in their order"
        )
    gaps = int(((age == 0) & ~first).sum())
    if gaps and needed:
        notes.append(f"{counted(gaps, 'gap')} in time: rows whose earlier times are not there are left out")
    alone = int((first & (np.append(first[1:], True))).sum())
    if alone and needed:
        notes.append(f"{counted(alone, 'series', 'series')} of a single row {'is' if alone == 1 else 'are'} left out")
    return tuple(notes)


def _check_names(series: Series, source: Source) -> None:
    columns = series.columns
    doubled = sorted({one for one in columns if columns.count(one) > 1}) if len(set(columns)) < len(columns) else []
    if doubled:
        raise ColumnError(
            f"{source.prefix}Column {listed(doubled)} has the name of an earlier value of another column: rename it, or leave it out "
            "with drop.",
            ["drop"],
        )
