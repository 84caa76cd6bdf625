"""Moments of a table with missing values: where its incomplete rows are, how EM gets at them, and what the rows are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import comb

from ordag.common.arrays import Array, Mask
from ordag.common.words import News, counted, listed, shown
from ordag.data.covariates import Covariate
from ordag.data.em import SETTLED, Block, Em, Estimate, Gaussian, Sums, Totals, inverse
from ordag.data.holding import indicators
from ordag.data.holes import Holes, Incomplete, is_nearly_empty, pooled
from ordag.data.reading import without
from ordag.data.scatter import chunk_rows
from ordag.data.sources import DaskSource, Source
from ordag.data.sources.source import regroup
from ordag.data.table_checks import RowCheck, check_moments
from ordag.errors import CollinearError, DataError, MissingValuesError

Announce = Callable[[str], None]

AT_ONCE = 2**21
"""Numbers in a block of incomplete rows: a fraction of a second, after which the user can interrupt."""

FEW_ROWS, PRIOR = 2, 0.001
"""Rows for every column up to which the estimate is drawn towards uncorrelated columns, and the share of the rows that draws: enough for
the likelihood to have a maximum. In 32 tables of 20 to 60 variables 0.1 had twice the wrong entries, 0.01 a quarter more, 0.0001 as
many."""

TRACE = 1e-6
"""The same where a covariance matrix becomes singular: enough to find the columns that others make up."""

MADE_UP = 1e-9, 1e-4
"""Share of its variance that the others leave of a column that they make up; the second with `TRACE`."""


class Complete(NamedTuple):
    """Number, mean and centred scatter of the complete rows. The columns of the covariates come first."""

    n: int
    mean: Array
    scatter: Array
    covariates: tuple[Covariate, ...] = ()


class Estimated(NamedTuple):
    """What all rows come to: the complete rows that they count for, mean, root of the scatter, those left out, and where holes are."""

    n: int
    mean: Array
    R: Array
    dropped: int
    rows: int
    holes: Holes


def estimate(source: Source, check: RowCheck, complete: Complete, announce: Announce | None = None) -> Estimated:
    """Estimate the moments of all rows by EM; `check` has seen them, and has kept the incomplete ones as far as they fit in memory."""
    names, incomplete = source.names, check.incomplete
    n, p = complete.n + incomplete.rows, len(names)
    q = len(complete.mean) - p
    if q and not complete.n:
        raise MissingValuesError(
            f"{source.prefix}Every row has missing values, and nothing can be held fixed (adjust, --adjust) then."
        )
    variances = complete.scatter.diagonal()
    counts, centre, squares = pooled(
        (np.full(p, float(complete.n)), complete.mean[q:], variances[q:]),
        (incomplete.observed, incomplete.mean, incomplete.squares),
    )
    bare = [j for j in range(p) if is_nearly_empty(int(counts[j]), n)]
    if bare:
        some = ", ".join(f"{shown(names[j])} in {int(counts[j])}" for j in bare[:8])
        raise MissingValuesError(
            f"{source.prefix}Of {counted(n, 'row')} too few have a value in some columns ({some}): leave {listed(names[j] for j in bare)} "
            "out (columns=…, --columns).",
            remedies=without({names[j] for j in bare}, names),
        )
    with np.errstate(over="ignore"):
        spread = np.sqrt(squares)
    check_moments(n, centre, spread, names, lambda _: 0)
    frame = Frame(
        np.concatenate([complete.mean[:q], centre]),
        np.concatenate([np.sqrt(np.maximum(variances[:q], 1e-300) / max(complete.n, 1)), spread / np.sqrt(counts)]),
        complete.covariates,
    )
    scale = frame.scale
    rows = _rows(source, incomplete, frame)
    about = (complete.mean - frame.centre) / scale
    own = complete.scatter / np.outer(scale, scale)
    known = rows.totals()
    n = complete.n + int(known.n)
    totals = Totals(
        n, known.first + complete.n * about, known.second + own + complete.n * np.outer(about, about), known.holes
    )
    start = Gaussian(np.zeros(p + q), np.eye(p + q))
    if complete.n > FEW_ROWS * (p + q) and left_of(own).min() > MADE_UP[1]:
        start = Gaussian(about, own / complete.n)
    before = [column for one in complete.covariates for column in one.columns]
    run = partial(_run, totals, rows, start, [*before, *names], source.prefix, announce)
    found = None if n <= FEW_ROWS * (p + q) else run(0.0, lambda among: complete.n + incomplete.having(among[q:]))
    few = found is None
    found = run(PRIOR * n) if found is None else found
    assert found is not None
    root = np.linalg.cholesky(found.gaussian.S).T
    worth = worth_of(incomplete, complete.n)
    if worth < 2:
        raise MissingValuesError(
            f"{source.prefix}Rows have too few values each: hardly any has values of three columns, so nothing is known of how they go "
            "together. Choose fewer columns (columns=…, --columns)."
        )
    remarks = [] if found.settled else [f"The estimate had not settled after {found.steps:,} steps of EM."]
    if few:
        remarks.append(
            f"{counted(n, 'row')} with missing values are few for {p} columns, so the estimate is drawn towards uncorrelated columns."
        )
    holes = incomplete.found(names, complete.n, check.rows, "em", unasked=check.missing == "auto")
    return Estimated(
        worth,
        frame.centre + found.gaussian.mean * scale,
        root * scale * math.sqrt(n / (n - 1.0) * max(worth - 1.0, 1.0)),
        check.rows - n,
        n,
        holes.concluded(worth, remarks, PRIOR if few else 0.0),
    )


def worth_of(incomplete: Incomplete, complete: int) -> int:
    r"""Return the complete rows that all rows count for: the rows that have three columns, averaged over all choices of three.

    Three are the least that a partial correlation takes. A row with o of p values is $\binom o3 / \binom p3$ of one. With up to three
    columns it is pairs. docs/guides/missing_values.md compares this with other numbers.
    """
    p = len(incomplete.lengths) - 1
    k = 3 if p > 3 else min(p, 2)
    return complete + int(comb(np.arange(p + 1), k) @ incomplete.lengths / comb(p, k))


def left_of(S: Array) -> Array:
    """Return the share of its variance that the others leave of every column; zeros where a covariance matrix is singular."""
    inverted = inverse(S)
    return np.zeros(len(S)) if inverted is None else np.asarray(1.0 / (inverted[0].diagonal() * S.diagonal()))


def _run(
    totals: Totals,
    rows: Rows,
    start: Gaussian,
    names: Sequence[str],
    prefix: str,
    announce: Announce | None,
    prior: float,
    having: Callable[[Mask], int] | None = None,
) -> Estimate | None:
    """Run EM, and refuse columns that others make up.

    having: the number of rows that have all of some columns. None where others make a column up in too few rows to show that they do: the
    likelihood has no maximum then.
    """
    said = None if announce is None else partial(_say, announce)
    found = Em(totals, rows.expect, prior).run(start, said)
    least = MADE_UP[0]
    if found is None:
        p = len(names)
        found, least = Em(totals, rows.expect, TRACE * totals.n).run(Gaussian(np.zeros(p), np.eye(p)), said), MADE_UP[1]
    if found is None:
        raise CollinearError(
            f"{prefix}The columns are too nearly combinations of each other to estimate missing values."
        )
    left = left_of(found.gaussian.S)
    j = int(left.argmin())
    if having is not None and left[j] < MADE_UP[1]:
        among = made_of(found.gaussian.S, j) | (left < MADE_UP[1])
        if having(among) <= FEW_ROWS * among.sum():
            return None
    made_up = [names[j] for j in np.flatnonzero(left < least).tolist()]
    if made_up:
        raise CollinearError(
            f"{prefix}{listed(made_up)} follow from each other exactly, as far as their values are there, so missing values of other "
            "columns cannot be estimated beside them: leave one of them out (columns=…, --columns).",
            remedies=without({made_up[-1]}, names),
            columns=made_up,
        )
    return found


def made_of(S: Array, j: int) -> Mask:
    """Return column j and those without which more than a hundredth of its standard deviation would be unexplained."""
    inverted = inverse(S)
    k = np.linalg.pinv(S)[j] if inverted is None else inverted[0][j]
    return np.asarray(np.abs(k) * np.sqrt(S.diagonal()) > 0.01 * abs(k[j]) * np.sqrt(S[j, j]))


def _say(announce: Announce, step: int, change: float) -> None:
    share = min(max(math.log(max(change, SETTLED)) / math.log(SETTLED), 0.0), 1.0)
    announce(News(f"estimating with missing values: step {step}", share))


class Frame(NamedTuple):
    """The point and the scale of the columns [Z | X], and the covariates of Z."""

    centre: Array
    scale: Array
    covariates: tuple[Covariate, ...]

    def block(self, rows: Array, covariates: Sequence[Covariate]) -> Block:
        """Prepare rows [X | covariates], of these covariates; a row with a level that no complete row has is left out."""
        if not self.covariates:
            return Block.of(rows, self.centre, self.scale)
        p = rows.shape[1] - len(covariates)
        Z = indicators(rows[:, p:], covariates, self.covariates)
        known = ~np.isnan(Z).any(axis=1)
        return Block.of(np.concatenate([Z, rows[:, :p]], axis=1)[known], self.centre, self.scale)


class Rows:
    """The incomplete rows about a point, in memory or read again for every step."""

    def __init__(self, blocks: Callable[[], Iterable[Block]], width: int) -> None:
        self._blocks, self._width = blocks, width

    def totals(self) -> Totals:
        """Sum up what is there."""
        n, first, second, holes = 0, np.zeros(self._width), np.zeros((self._width, self._width)), 0
        for one in self._blocks():
            n += len(one.X)
            first += one.X.sum(axis=0)
            second += one.X.T @ one.X
            holes += len(one.holes)
        return Totals(n, first, second, holes)

    def expect(self, K: Array, h: Array) -> Sums:
        """Sum up what the holes add."""
        sums = Sums.zero(self._width)
        for one in self._blocks():
            sums = one.add_to(sums, K, h)
        return sums


class RowsElsewhere(Rows):
    """The same on the workers that hold a table of Dask."""

    def __init__(self, source: DaskSource, frame: Frame) -> None:
        self._source, self._frame = source, frame

    def totals(self) -> Totals:
        work = partial(_totals_of, frame=self._frame)
        return self._source.merged(work, range(len(self._source.partitions)), _added)

    def expect(self, K: Array, h: Array) -> Sums:
        work = partial(_sums_of, K=K, h=h, frame=self._frame)
        return self._source.merged(work, range(len(self._source.partitions)), Sums.merged)


def _rows(source: Source, incomplete: Incomplete, frame: Frame) -> Rows:
    width = len(frame.centre)
    if isinstance(source, DaskSource):
        return RowsElsewhere(source, frame)
    if incomplete.kept is not None:
        parts = regroup(incomplete.kept, max(AT_ONCE // width, 1))
        blocks = [frame.block(rows, source.covariates) for rows in parts]
        incomplete.kept.clear()
        return Rows(lambda: blocks, width)
    if not source.repeatable and source.array is None:
        raise DataError(
            f"{source.describe} has more incomplete rows than fit in memory ({incomplete.limit * 8 / 1e9:.1g} GB), and can be read once "
            "only: write it to a file, or leave these rows out with missing='drop' (--missing drop)."
        )
    return Rows(lambda: _again(source, frame), width)


def _again(source: Source, frame: Frame) -> Iterator[Block]:
    """Read the incomplete rows of a source again."""
    p = len(source.names)
    for block in source.batches(chunk_rows(p)):
        absent = np.isnan(block)
        known = ~absent[:, :p].all(axis=1) & ~absent[:, p:].any(axis=1)
        rows = block[absent.any(axis=1) & known]
        if len(rows):
            yield frame.block(rows, source.covariates)


def _totals_of(source: Source, _: int, frame: Frame) -> Totals:
    return Rows(lambda: _again(source, frame), len(frame.centre)).totals()


def _sums_of(source: Source, _: int, K: Array, h: Array, frame: Frame) -> Sums:
    return Rows(lambda: _again(source, frame), len(frame.centre)).expect(K, h)


def _added(parts: Sequence[Totals]) -> Totals:
    return Totals(*(sum(part[1:], part[0]) for part in zip(*parts, strict=True)))
