"""`ahead` and `response`: how a series goes on, and what follows from a change of one of its variables, with intervals.

The intervals are over the graphs that were drawn for resamples of blocks of rows, each fitted to its resample, as for effects. Those
of forecasts have the errors of the times to come as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import is_whole, short
from ordag.common.plain import Tabular, plain
from ordag.common.words import counted, did_you_mean, listed, number, shown
from ordag.data.series import End, Series
from ordag.decisions.answer import Answer
from ordag.decisions.given_graph import checked_fit
from ordag.errors import ColumnError, DataError, SettingError
from ordag.fit import Fit
from ordag.model.in_time import continued, largest_root, responses
from ordag.resampling.intervals import check_interval_level
from ordag.total_effects import directed

PATHS = 20
"""Ways to go on that are drawn for each graph."""

MOST_STEPS = 10_000
"""Steps ahead at most."""

FEWEST_GRAPHS = 20
"""Graphs below which no interval is given."""


@dataclass(frozen=True, eq=False, repr=False)
class Response(Answer, Tabular):
    """What one unit more of `source` at one time changes in `target` 0, 1, 2, … steps later.

    low, high: interval at `level` over the graphs drawn for resamples; probability: the share of these in which it changes at all; nan
    without such graphs. total: the sum over all steps. root: the largest root of the model; from 1 on changes do not die out.
    """

    source: str
    target: str
    estimate: Array
    low: Array
    high: Array
    probability: Array
    level: float
    graphs: int
    step: str
    root: float
    difference: int = 0

    @property
    def total(self) -> float:
        """The sum of the responses at all steps."""
        return float(self.estimate.sum())

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns of `table`: a row per step, 0 for the same time."""
        named = {name: plain(getattr(self, name)) for name in ("estimate", "low", "high", "probability")}
        return {"step": list(range(len(self.estimate))), **named}

    @property
    def sentence(self) -> str:
        """The largest response in words."""
        if not self.estimate.any():
            return f"In this model nothing of {shown(self.target)} changes if {shown(self.source)} does."
        at = int(np.abs(self.estimate).argmax())
        when = "at the same time" if not at else f"{counted(at, self.step or 'step')} later"
        sure = f" ({number(self.low[at], 3)} to {number(self.high[at], 3)})" if self.graphs >= FEWEST_GRAPHS else ""
        return f"One unit more of {shown(self.source)} changes {shown(self.target)} most {when}: by {number(self.estimate[at], 3)}{sure}."

    @property
    def notes(self) -> list[str]:
        """What the numbers rest on."""
        said = [_over(self.graphs, self.level)]
        if self.difference:
            said.append("Differences are summed up, so these are changes of the level.")
        if self.root >= 1.0 - 1e-9:
            said.append(f"Changes do not die out in this model (largest root {number(self.root, 3)}).")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer in plain values."""
        said = {
            name: getattr(self, name) for name in ("source", "target", "level", "graphs", "total", "root", "sentence")
        }
        return {**said, "unit": self.step or "step", "notes": self.notes, "steps": self.columns}

    def __repr__(self) -> str:
        return f"Response({self.source} → {self.target}, {counted(len(self.estimate) - 1, 'step')})"


@dataclass(frozen=True, eq=False, repr=False)
class Ahead(Answer, Tabular):
    """How a series goes on: estimate, low and high are [step, variable], in the units of the table.

    The interval at `level` holds the errors to come and what is not known of the graph and its weights.
    """

    names: tuple[str, ...]
    estimate: Array
    low: Array
    high: Array
    level: float
    graphs: int
    step: str
    series: str = ""

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns of `table`: a row per step and variable."""
        steps, p = self.estimate.shape
        named = {name: plain(getattr(self, name).reshape(-1)) for name in ("estimate", "low", "high")}
        return {"step": np.repeat(np.arange(1, steps + 1), p).tolist(), "variable": list(self.names) * steps, **named}

    @property
    def sentence(self) -> str:
        """How far the forecast goes, in words."""
        which = f" of series {shown(self.series)}" if self.series else ""
        return (
            f"{counted(len(self.names), 'variable')}{which}, {counted(len(self.estimate), self.step or 'step')} ahead."
        )

    @property
    def notes(self) -> list[str]:
        """What the numbers rest on."""
        return (
            [f"{_over(self.graphs, self.level)} They hold the errors to come."]
            if self.graphs
            else [_over(0, self.level)]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer in plain values."""
        said = {"series": self.series or None, "level": self.level, "graphs": self.graphs, "unit": self.step or "step"}
        return {**said, "notes": self.notes, "steps": self.columns}

    def __repr__(self) -> str:
        return f"Ahead({self.sentence[:-1]})"


def _over(graphs: int, level: float) -> str:
    if not graphs:
        return "Without intervals: the fit has no probabilities."
    return f"Intervals of {100 * level:g} % are over {graphs} graphs drawn for resamples of blocks of rows."


def response(fit: Fit, source: str, target: str, steps: int = 12, *, level: float = 0.95) -> Response:
    """Return what one unit more of a variable at one time changes in another, or in itself, at the same time and later."""
    series, count = _series(fit), _steps(steps)
    check_interval_level(level)
    i, j = _variable(source, series), _variable(target, series)
    B = series.blocks_of(directed(fit).B)

    def path(weights: Array) -> Array:
        found = responses(weights, count)[:, i, j]
        for _ in range(series.difference):
            found = np.cumsum(found)
        return found

    paths = np.array([path(series.blocks_of(drawn)) for drawn, _ in _models(fit)]).reshape(-1, count + 1)
    low, high, changed = np.full((3, count + 1), np.nan)
    if len(paths) >= FEWEST_GRAPHS:
        low, high = np.quantile(paths, [0.5 - level / 2.0, 0.5 + level / 2.0], axis=0, method="weibull")
        changed = (paths != 0.0).mean(axis=0)
    return Response(
        source, target, path(B), low, high, changed, level, len(paths), series.step, largest_root(B), series.difference
    )


def ahead(fit: Fit, steps: int = 12, *, series: str | None = None, level: float = 0.95, seed: int = 0) -> Ahead:
    """Return how the series goes on after its last time. series: which one, of several."""
    known, count = _series(fit), _steps(steps)
    check_interval_level(level)
    end = _end(known, series)
    lags, d, p = known.lags, known.difference, known.p
    last, anchors = end.last, []
    for _ in range(d):
        anchors.append(last[-1])
        last = np.diff(last, axis=0)
    phases = np.zeros(0, np.intp)
    if known.season is not None and known.means is not None:
        phases = (end.step + np.arange(1 - len(last), count + 1)) % known.season
        last = last - known.means[phases[: len(last)]]
    means = end.mean.reshape(lags + 1, p)

    def units(path: Array) -> Array:
        if known.means is not None:
            season = known.means[phases[len(last) :]]
            path = path + (season[:, None] if path.ndim > 2 else season)
        for anchor in reversed(anchors):
            path = anchor + np.cumsum(path, axis=0)
        return path

    model = directed(fit)
    estimate = units(continued(known.blocks_of(model.B), means, last[len(last) - lags :], np.zeros((count, p))))
    random, paths = np.random.default_rng(seed), []
    for B, omega in _models(fit):
        errors = random.standard_normal((count, PATHS, p)) * np.sqrt(omega[:p])
        paths.append(units(continued(known.blocks_of(B), means, last[len(last) - lags :], errors)))
    low, high = np.full((2, count, p), np.nan)
    if len(paths) >= FEWEST_GRAPHS:
        drawn = np.concatenate(paths, axis=1)
        low, high = np.quantile(drawn, [0.5 - level / 2.0, 0.5 + level / 2.0], axis=1, method="weibull")
    return Ahead(known.names, estimate, low, high, level, len(paths), known.step, end.name)


def _models(fit: Fit) -> Iterator[tuple[Array, Array]]:
    """Yield B and the error variances of the graphs drawn for resamples."""
    if fit.posterior is not None and fit.probabilities is not None:
        yield from fit.posterior.models(fit.sample)


def _series(fit: Fit) -> Series:
    series = checked_fit(fit).series
    if series is None:
        raise SettingError(
            "This fit is not of rows in time: name the column of the times with time='…' (--time), and learn with lags=2 (--lags 2).",
            ["lags"],
        )
    return series


def _steps(steps: object) -> int:
    if not is_whole(steps, 1) or int(steps) > MOST_STEPS:  # type: ignore[call-overload]
        raise SettingError(
            f"steps={short(steps)}: the number of steps is a whole number from 1 to {MOST_STEPS:,}.", ["steps"]
        )
    return int(steps)  # type: ignore[call-overload, no-any-return]


def _variable(name: str, series: Series) -> int:
    if name not in series.names:
        hint = did_you_mean(name, series.names) if isinstance(name, str) else ""
        raise ColumnError(
            f"There is no variable {short(name)} in the series.{hint} The variables are {listed(series.names)}."
        )
    return series.names.index(name)


def _end(series: Series, name: str | None) -> End:
    ends = {one.name: one for one in series.ends}
    if not ends:
        raise DataError(
            f"No series goes on from its last {counted(max(series.lags + series.difference, 1), 'time')}: values are missing there, "
            "there is a gap, or there are too many series."
        )
    if name is None and len(ends) > 1:
        raise SettingError(f"series: name one of the {len(ends):,} ({listed(ends)}).", ["series"])
    if name is not None and name not in ends:
        raise SettingError(
            f"series={short(name)}: there is no such series to go on from.{did_you_mean(name, ends)}", ["series"]
        )
    return next(iter(ends.values())) if name is None else ends[name]
