"""Cautions about rows that are not independent draws from one population, each with advice, and the search for copied values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.assess.dependence import blocks, grouping, levels, row_memory
from ordag.assess.finding import Caution, Finding
from ordag.assess.influence import deciding_row
from ordag.assess.populations import two_groups, two_models
from ordag.assess.relations import relation_caution
from ordag.common.arrays import Array
from ordag.common.words import listed, share, shell_word, shown
from ordag.data.moments import Moments
from ordag.data.roles import ColumnRole
from ordag.data.set_aside import RowColumns
from ordag.learners.found import Found

FEWEST_ROWS = 20

REPEATED, COPIED = 0.05, 0.7
"""Share of rows that repeat others, and share of copies among rows that agree in all columns but one, from which it is said."""


class Sample(NamedTuple):
    """Rows, the numbers of their values among those of the column, how many each column has, means of all rows, and names.

    What covariates leave of a column has a value of its own in each of their groups: such values are no codes, and `counts` says as many
    as there are rows. offered: the columns that were set aside and may say what rows are. kinds: the categories among them.
    """

    X: Array
    codes: NDArray[np.intp]
    counts: NDArray[np.intp]
    mean: Array
    names: tuple[str, ...]
    offered: RowColumns = RowColumns()
    kinds: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        X: Array,
        mean: Array,
        names: tuple[str, ...],
        *,
        residuals: bool = False,
        columns: Sequence[ColumnRole] = (),
    ) -> Sample:
        codes, counts = levels(X)
        every = np.full_like(counts, len(X)) if residuals else counts
        kinds = tuple(one.name for one in columns if one.is_set_aside and one.role == "category")
        return cls(X, codes, every, mean, names, RowColumns.among(columns), kinds)


def row_cautions(found: Found, *, hasty: bool = False) -> list[Caution]:
    """Return the cautions that the rows of a fit give; none without rows. hasty: leave out those that take another search."""
    rows = None if found.profile is None else found.profile.complete.rows
    if rows is None or len(rows) < FEWEST_ROWS:
        return []
    p, series = len(found.names) if found.series is None else found.series.p, found.series
    mean, names = found.moments.mean[:p], found.names[:p]  # earlier values are those of other rows
    sample = Sample.of(rows[:, :p], mean, names, residuals=bool(found.moments.adjusted_for), columns=found.columns)
    told = found.profile is not None and found.profile.labels is not None and found.profile.labels.unit is not None
    checks = [check for key, check in CHECKS.items() if not (told and key == "dependent_rows")]
    beware = [caution for check in checks if (caution := check(sample)) is not None]
    decides = None if hasty or series is not None else influence_caution(found)
    return beware if decides is None else [*beware, decides]


def row_finding(key: str, X: Array, moments: Moments) -> Finding:
    """Return one of `CHECKS` as a finding: a warning with advice, or fine."""
    caution = CHECKS[key](Sample.of(X, moments.mean, moments.names, residuals=bool(moments.adjusted_for)))
    numbers = {"found": caution is not None}
    if caution is None:
        return Finding(key, "fine", FINE[key], numbers)
    return Finding(key, "warning", f"{caution.sentence} {caution.advice}", numbers)


def dependent_rows(sample: Sample) -> Caution | None:
    """Return a caution about rows that resemble others with the same code, or their neighbours."""
    by, memory = grouping(sample.codes, sample.counts), row_memory(sample.codes)
    doubt, offered = "the rows are not independent", sample.offered
    layout = blocks(sample.codes, sample.counts) if offered.subject is None and (by or memory) else None
    if layout is not None:
        offered = offered._replace(subject=sample.names[layout[0]])
    if by is not None:
        column = shown(sample.names[by.column])
        return Caution(
            "dependent_rows",
            f"Rows come in {by.groups:,} groups by {column} and are alike within a group (intraclass correlation {by.alike:.2f}), so they "
            "tell less than as many independent rows.",
            _advice(offered if offered.subject else RowColumns(sample.names[by.column])),
            doubt,
        )
    if memory is None or not memory.found:
        return None
    like = "in clusters or in time order" if memory.in_blocks else "in a time series"
    return Caution(
        "dependent_rows",
        f"Neighbouring rows are alike (correlation {memory.least:.2f}), as {like}: they tell less than as many independent rows.",
        _advice(offered),
        doubt,
    )


def _advice(offered: RowColumns) -> str:
    """Say which setting helps where rows depend on one another, by the columns that were set aside."""
    subject, time, repeats = offered
    if subject is None and (time is None or repeats):
        return (
            "Name the column that says which rows belong together (cluster, --cluster) or when they were measured (time and lags); if the "
            "rows are in order of time, lags=1 (--lags 1) is enough."
        )
    by_time = "" if time is None else f"with time={time!r} and lags=1 (--time {shell_word(time)} --lags 1)"
    if subject is None:
        return f"Learn what follows what, {by_time}."
    within = f"Learn within each value of {shown(subject)}, with cluster={subject!r} (--cluster {shell_word(subject)})"
    return f"{within}, or what follows what in each, {by_time} beside it." if by_time else f"{within}."


def groups_of_rows(sample: Sample) -> Caution | None:
    """Return a caution about two groups of rows with different means or relations."""
    doubt = "the rows come from two groups"
    split = two_groups(sample.X)
    if split is not None and split.found:
        most = np.argsort(-split.differences)[:3]
        names = [sample.names[j] for j in most if split.differences[j] > split.differences[most[0]] / 2.0]
        return Caution(
            "groups_of_rows",
            f"The rows fall into two groups ({share(1.0 - split.share)} and {share(split.share)}) that differ most in {listed(names)}: "
            "differences between groups look like arrows.",
            _which_group(sample.kinds),
            doubt,
        )
    models = two_models(sample.X)
    if models is None or not models.found:
        return None
    a, b = (sample.names[j] for j in models.pair)
    return Caution(
        "groups_of_rows",
        f"The rows fall into two groups ({share(1.0 - models.share)} and {share(models.share)}) with different relations, or relations "
        f"are curved: the correlation of {shown(a)} and {shown(b)} is {models.correlations[0]:.2f} in one group and "
        f"{models.correlations[1]:.2f} in the other.",
        _which_group(sample.kinds),
        doubt,
    )


def _which_group(kinds: tuple[str, ...]) -> str:
    """Say what to do about groups, with the first category that was set aside."""
    if kinds:
        one = kinds[0]
        named = f"{shown(one)}{f', or {listed(kinds[1:])},' if len(kinds) > 1 else ''} says"
        way = f"learn with environment={one!r} (--environment {shell_word(one)})"
        return f"If {named} which group a row is in, {way}; else find out what the groups are."
    return "If a column says which group a row is in, name it (environment, --environment); else find out what the groups are."


def duplicate_rows(sample: Sample) -> Caution | None:
    """Return a caution about rows that repeat others more often than chance explains."""
    copies = duplicates(sample.codes)
    if copies is None or copies.share < REPEATED or copies.copied < COPIED:
        return None
    return Caution(
        "duplicate_rows",
        f"{share(copies.share)} of the rows repeat others in every column, so the same information counts twice.",
        "Leave the copies out, unless these are different cases.",
    )


def filled_cells(sample: Sample) -> Caution | None:
    """Return a caution about cells filled with the mean of their column or another value."""
    filled = filled_in(sample.X, sample.mean)
    if not filled:
        return None
    worst = max(filled, key=lambda j: filled[j])
    return Caution(
        "filled_cells",
        f"Cells of {listed(sample.names[j] for j in filled)} hold the same value ({share(filled[worst])} of "
        f"{shown(sample.names[worst])}), as if missing values were filled in: such cells weaken correlations.",
        "Leave these cells empty: incomplete rows are used for what they hold (missing='em').",
        "cells were filled in",
    )


def influence_caution(found: Found) -> Caution | None:
    """Return a caution about a single row that changes many arrows."""
    lone = deciding_row(found)
    if lone is None:
        return None
    return Caution(
        "influence",
        f"Without row {lone.row + 1:,}, only {share(lone.kept)} of the arrows remain ({share(lone.ordinary)} without a typical row).",
        "Check that row, and trust the arrows that remain without it.",
        "one row decides",
    )


CHECKS: dict[str, Callable[[Sample], Caution | None]] = {
    "dependent_rows": dependent_rows,
    "relations": lambda sample: relation_caution(sample.X, sample.names),
    "groups_of_rows": groups_of_rows,
    "duplicate_rows": duplicate_rows,
    "filled_cells": filled_cells,
}

FINE = {
    "groups_of_rows": "The rows do not fall into two groups.",
    "duplicate_rows": "No more rows repeat others than chance explains.",
    "filled_cells": "No column repeats one value suspiciously often.",
}


CHANCE = 0.1
"""Share of pairs of rows that may agree in the column of most values: where more do, rows of few values agree by chance."""

FEWEST_FILLED, SHARE_FILLED = 5, 0.02
"""The number of cells with one value, and their share of the column, from which they count as filled in."""

TIMES = 5
"""A filled-in value occurs this many times as often as any other value of its column."""


class Duplicates(NamedTuple):
    """The share of rows that repeat another, and the share of pairs of rows that agree in all columns among those that agree in all
    but the column of most values: near 1 for copies."""

    share: float
    copied: float


def duplicates(codes: NDArray[np.intp]) -> Duplicates | None:
    """Count the rows that occur before; None where rows of few values agree by chance.

    Rows that agree by chance in all columns but one agree in that one as rarely as any two rows do, if it has many values; copies
    always do. So among pairs that agree in all columns but the one of most values, the share that agrees in it as well tells one from
    the other.
    """
    n, p = codes.shape
    agree = np.array([_pairs(np.bincount(codes[:, j])) for j in range(p)]) / (n * (n - 1) / 2)
    j = int(np.argmin(agree))
    if p < 2 or agree[j] > CHANCE:
        return None
    whole, others = (np.unique(_labels(part), return_counts=True)[1] for part in (codes, np.delete(codes, j, axis=1)))
    if not _pairs(whole):
        return Duplicates(0.0, 0.0)
    return Duplicates(1.0 - len(whole) / n, _pairs(whole) / _pairs(others))


def _pairs(counts: NDArray[np.intp]) -> float:
    """Count the pairs within groups of these sizes."""
    return float((counts * (counts - 1.0)).sum() / 2.0)


def _labels(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number the rows so that equal rows, and only these, have equal numbers."""
    labels = np.zeros(len(codes), dtype=np.intp)
    for j in range(codes.shape[1]):
        labels = np.unique(labels * (codes[:, j].max() + 1) + codes[:, j], return_inverse=True)[1]
    return labels


def filled_in(X: Array, mean: Array) -> dict[int, float]:
    """Return the columns with many cells of one value that chance does not explain, and the share of these cells.

    The value occurs `TIMES` as often as any other, lies between the quartiles of the rest, and is the mean of the column or no round
    number; or it is the only one that is no whole number.
    """
    n = len(X)
    found = {}
    for j in range(X.shape[1]):
        values, counts = np.unique(X[:, j], return_counts=True)
        k = int(np.argmax(counts))
        value, count = values[k], int(counts[k])
        rest, others = np.delete(values, k), np.delete(counts, k)
        whole = rest == np.round(rest)
        if len(rest) < 2:
            continue
        alone = whole.all() and value != round(value)
        if alone and count >= 2 and values[0] < value < values[-1]:
            found[j] = count / n
            continue
        if count < max(FEWEST_FILLED, SHARE_FILLED * n) or count < TIMES * others.max():
            continue
        low, high = np.quantile(np.repeat(rest, others), [0.25, 0.75])
        is_mean = abs(value - mean[j]) <= 1e-6 * (values[-1] - values[0])
        if low < value < high and (is_mean or value != round(value, 2)):
            found[j] = count / n
    return found
