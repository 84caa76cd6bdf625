"""Moments of a table with missing values: where its incomplete rows are, how EM gets at them, and what the rows are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import comb

from ordag.common.arrays import Array
from ordag.common.words import News, counted, listed, shown
from ordag.data.em import SETTLED, Block, Em, Estimate, Gaussian, Sums, Totals, inverse
from ordag.data.holes import Holes, Incomplete, pooled
from ordag.data.reading import without
from ordag.data.scatter import chunk_rows
from ordag.data.sources import DaskSource, Source
from ordag.data.sources.source import regroup
from ordag.data.table_checks import RowCheck, check_moments
from ordag.errors import CollinearError, DataError, MissingValuesError

Tell = Callable[[str], None]

AT_ONCE = 2**21
"""Numbers in a block of incomplete rows: a fraction of a second, after which the user can interrupt."""

FEW_ROWS, PRIOR = 2, 0.1
"""Rows for every column up to which the estimate is drawn towards uncorrelated columns, and the share of the rows that draws."""

TRACE = 1e-6
"""The same where a covariance matrix becomes singular: enough to find the columns that others make up."""

MADE_UP = 1e-9, 1e-4
"""Share of its variance that the others leave of a column that they make up; the second with `TRACE`."""


class Complete(NamedTuple):
    """Number, mean and centred scatter of the complete rows."""

    n: int
    mean: Array
    scatter: Array


class Estimated(NamedTuple):
    """What all rows come to: the complete rows that they count for, mean, root of the scatter, and what is to be said."""

    n: int
    mean: Array
    R: Array
    rows: int
    holes: Holes


def is_nearly_empty(values: int, rows: int) -> bool:
    """Return whether a column has too few values for any estimate: fewer than a tenth of the rows and than 20, or fewer than 5."""
    return values < max(5, min(20, rows // 10))


def estimate(source: Source, check: RowCheck, complete: Complete, tell: Tell | None = None) -> Estimated:
    """Estimate the moments of all rows by EM; `check` has seen them, and has kept the incomplete ones as far as they fit in memory."""
    names, incomplete = check.names, check.incomplete
    n, p = complete.n + incomplete.rows, len(names)
    counts, centre, squares = pooled(
        (np.full(p, float(complete.n)), complete.mean, complete.scatter.diagonal()),
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
    scale = spread / np.sqrt(counts)
    rows = _rows(source, incomplete, centre, scale)
    about = (complete.mean - centre) / scale
    own = complete.scatter / np.outer(scale, scale)
    known = rows.totals()
    totals = Totals(
        n,
        known.first + complete.n * about,
        known.second + own + complete.n * np.outer(about, about),
        known.holes,
    )
    start = Gaussian(np.zeros(p), np.eye(p))
    if complete.n > FEW_ROWS * p and inverse(own) is not None:
        start = Gaussian(about, own / complete.n)
    few = n <= FEW_ROWS * p
    found = _run(totals, rows, PRIOR * n if few else 0.0, start, names, source.prefix, tell)
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
    holes = incomplete.found(names, complete.n, "em", unasked=check.missing == "auto")
    return Estimated(
        worth,
        centre + found.gaussian.mean * scale,
        root * scale * math.sqrt(n / (n - 1.0) * max(worth - 1.0, 1.0)),
        n,
        holes.concluded(worth, remarks),
    )


def worth_of(incomplete: Incomplete, complete: int) -> int:
    r"""Return the complete rows that all rows count for: the rows that have three columns, averaged over all choices of three.

    Three are the least that a partial correlation takes. A row with o of p values is $\binom o3 / \binom p3$ of one. With up to three
    columns it is pairs. docs/guides/missing_values.md compares this with other numbers.
    """
    p = len(incomplete.lengths) - 1
    k = 3 if p > 3 else min(p, 2)
    return complete + int(comb(np.arange(p + 1), k) @ incomplete.lengths / comb(p, k))


def _run(
    totals: Totals, rows: Rows, prior: float, start: Gaussian, names: Sequence[str], prefix: str, tell: Tell | None
) -> Estimate:
    """Run EM, and refuse columns that others make up."""
    said = None if tell is None else partial(_say, tell)
    found = Em(totals, rows.expect, prior).run(start, said)
    least = MADE_UP[0]
    if found is None:
        p = len(names)
        found, least = Em(totals, rows.expect, TRACE * totals.n).run(Gaussian(np.zeros(p), np.eye(p)), said), MADE_UP[1]
    inverted = None if found is None else inverse(found.gaussian.S)
    if found is None or inverted is None:
        raise CollinearError(
            f"{prefix}The columns are too nearly combinations of each other to estimate missing values."
        )
    left = 1.0 / (inverted[0].diagonal() * found.gaussian.S.diagonal())
    made_up = [names[j] for j in np.flatnonzero(left < least).tolist()]
    if made_up:
        raise CollinearError(
            f"{prefix}{listed(made_up)} follow from each other exactly, as far as their values are there, so missing values of other "
            "columns cannot be estimated beside them: leave one of them out (columns=…, --columns)."
        )
    return found


def _say(tell: Tell, step: int, change: float) -> None:
    share = min(max(math.log(max(change, SETTLED)) / math.log(SETTLED), 0.0), 1.0)
    tell(News(f"estimating with missing values: step {step}", share))


class Rows:
    """The incomplete rows about a point, in memory or read again for every step."""

    def __init__(self, blocks: Callable[[], Iterable[Block]], p: int) -> None:
        self._blocks, self._p = blocks, p

    def totals(self) -> Totals:
        """Sum up what is there."""
        n, first, second, holes = 0, np.zeros(self._p), np.zeros((self._p, self._p)), 0
        for one in self._blocks():
            n += len(one.X)
            first += one.X.sum(axis=0)
            second += one.X.T @ one.X
            holes += len(one.holes)
        return Totals(n, first, second, holes)

    def expect(self, K: Array, h: Array) -> Sums:
        """Sum up what the holes add."""
        sums = Sums.zero(self._p)
        for one in self._blocks():
            sums = one.add_to(sums, K, h)
        return sums


class RowsElsewhere(Rows):
    """The same on the workers that hold a table of Dask."""

    def __init__(self, source: DaskSource, centre: Array, scale: Array) -> None:
        self._source, self._centre, self._scale = source, centre, scale

    def totals(self) -> Totals:
        work = partial(_totals_of, centre=self._centre, scale=self._scale)
        return self._source.merged(work, range(len(self._source.partitions)), _added)

    def expect(self, K: Array, h: Array) -> Sums:
        work = partial(_sums_of, K=K, h=h, centre=self._centre, scale=self._scale)
        return self._source.merged(work, range(len(self._source.partitions)), Sums.merged)


def _rows(source: Source, incomplete: Incomplete, centre: Array, scale: Array) -> Rows:
    p = len(centre)
    if isinstance(source, DaskSource):
        return RowsElsewhere(source, centre, scale)
    if incomplete.kept is not None:
        blocks = [Block.of(rows, centre, scale) for rows in regroup(incomplete.kept, max(AT_ONCE // p, 1))]
        incomplete.kept.clear()
        return Rows(lambda: blocks, p)
    if not source.repeatable and source.array is None:
        raise DataError(
            f"{source.describe} has more incomplete rows than fit in memory ({incomplete.limit * 8 / 1e9:.1g} GB), and can be read once "
            "only: write it to a file, or leave these rows out with missing='drop' (--missing drop)."
        )
    return Rows(lambda: _again(source, centre, scale), p)


def _again(source: Source, centre: Array, scale: Array) -> Iterator[Block]:
    """Read the incomplete rows of a source again."""
    p = len(centre)
    for block in source.batches(chunk_rows(p)):
        absent = np.isnan(block)
        rows = block[absent.any(axis=1) & ~absent.all(axis=1)]
        if len(rows):
            yield Block.of(rows, centre, scale)


def _totals_of(source: Source, _: int, centre: Array, scale: Array) -> Totals:
    return Rows(lambda: _again(source, centre, scale), len(centre)).totals()


def _sums_of(source: Source, _: int, K: Array, h: Array, centre: Array, scale: Array) -> Sums:
    return Rows(lambda: _again(source, centre, scale), len(centre)).expect(K, h)


def _added(parts: Sequence[Totals]) -> Totals:
    return Totals(*(sum(part[1:], part[0]) for part in zip(*parts, strict=True)))
