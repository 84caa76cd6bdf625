"""One pass over the rows of a source: they are checked, summed up to a root or a scatter, and sampled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.data.covariates import Condition, Covariate, Groups, Root, merged
from ordag.data.holding import RootAccumulator
from ordag.data.holes import KEPT, Holes
from ordag.data.labelled import LabelledAccumulator, accumulator
from ordag.data.missing import Announce, Complete, estimate
from ordag.data.profile import Profile, Sampler, stride_of
from ordag.data.reading import Missing
from ordag.data.scatter import Products, chunk_rows, gram_rows, scatter_of
from ordag.data.sources import DaskSource, Source, TensorSource
from ordag.data.table_checks import SMALLEST, LeastRows, RowCheck, check_size
from ordag.errors import DataError, OrdagError

Progress = Callable[[int], None]
"""Called with the number of rows that are read."""


class Pass(NamedTuple):
    """How rows are passed over: what is done where values are missing, what hears of progress, and where a sample of them goes.

    With `least_rows`, fewer rows are refused before anything is computed.
    """

    missing: Missing = "auto"
    progress: Progress | None = None
    announce: Announce | None = None
    sampler: Sampler | None = None
    least_rows: LeastRows | None = None


class Summary(NamedTuple):
    """The arguments of `Moments`: columns, number and mean of the complete rows, and R or the scatter; `dropped` rows were incomplete.

    `rows` were used, if not n. The columns of `covariates` come first.
    """

    names: tuple[str, ...]
    n: int
    mean: Array
    R: Array | None = None
    scatter: Array | None = None
    squared: bool = False
    dropped: int = 0
    rows: int | None = None
    covariates: tuple[Covariate, ...] = ()
    adjusted_for: tuple[Covariate, ...] = ()
    holes: Holes | None = None
    conditions: tuple[Condition, ...] = ()
    clusters: Groups | None = None

    @classmethod
    def of(cls, source: Source, check: RowCheck, root: Root, announce: Announce | None = None) -> Summary:
        """Summarise rows by the root of the complete ones, and by what the others hold where these are used."""
        known = cls.of_root(source.names, root, check.dropped)
        if check.how == "em":
            complete = Complete(root.n, root.mean, root.R.T @ root.R, root.covariates)
            return known._replace(squared=True, **estimate(source, check, complete, announce)._asdict())
        return known._replace(holes=check.holes)

    @classmethod
    def of_root(cls, names: tuple[str, ...], root: Root, dropped: int) -> Summary:
        """Summarise complete rows by their root."""
        before = [column for one in root.covariates for column in one.columns]
        known: dict[str, Any] = {"dropped": dropped, "rows": root.rows}
        known |= {"conditions": root.conditions, "clusters": root.groups}
        return cls((*before, *names), root.n, root.mean, R=root.R, covariates=root.covariates, **known)


def gram_in_memory(source: Source) -> Summary | None:
    """Form the scatter of rows in memory; None for others, where values are missing or infinite, and where covariates are held fixed."""
    if source.covariates:
        return None
    X = source.tensor if isinstance(source, TensorSource) else source.array
    if X is None or not len(X):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        mean, scatter = source.scatter() if isinstance(source, TensorSource) else scatter_of(X)
    return Summary(source.names, len(X), mean, scatter=scatter) if _usable(mean, scatter) else None


def gram_pass(source: Source, how: Pass) -> Summary | None:
    """Form the scatter in one pass; None where that loses digits. Where incomplete rows are used, there is a root instead."""
    p = len(source.names)
    total = Products(p)
    with np.errstate(over="ignore", invalid="ignore"):
        check = _add_rows(source, how, gram_rows(p), total)
        mean, scatter = total.finish() if total.rows else (np.zeros(p), total.scatter)
    if check.how == "em":
        complete = Complete(total.rows, mean, np.tril(scatter) + np.tril(scatter, -1).T)
        return Summary(source.names, squared=True, **estimate(source, check, complete, how.announce)._asdict())
    if not _usable(mean, scatter) or not total.kept(scatter):
        return None
    return Summary(source.names, total.rows, mean, scatter=scatter, dropped=check.dropped, holes=check.holes)


def root_pass(source: Source, how: Pass) -> Summary:
    """Compute the root by orthogonal transformations in one pass, with all the digits of the rows."""
    p = len(source.names)
    if p == 0:
        raise DataError("There are no columns: a graph needs at least two.")
    if isinstance(source, DaskSource):
        return summed_up(source, scan(source, how.missing), how.announce)
    total = accumulator(p, source.covariates)
    with np.errstate(over="ignore", invalid="ignore"):
        check = _add_rows(source, how, chunk_rows(p), total)
        return Summary.of(source, check, total.finish(), how.announce)


def _usable(mean: Array, scatter: Array) -> bool:
    variances = scatter.diagonal()
    finite = np.isfinite(mean).all() and np.isfinite(variances).all()
    return bool(finite and variances.min(initial=SMALLEST**2) >= SMALLEST**2)


def _add_rows(
    source: Source, how: Pass, batch: int, total: RootAccumulator | LabelledAccumulator | Products
) -> RowCheck:
    """Add every complete row to `total`, and every row that can be used to the sampler; return the check that all rows went through.

    The first rows wait until there are `least_rows` of them: with fewer, nothing is computed.
    """
    rows = RowCheck(source.all_names, how.missing, KEPT, len(source.names))
    least = 0 if how.least_rows is None else how.least_rows(len(source.names))
    waiting: list[tuple[Array, Array]] = []

    def add_waiting() -> None:
        for complete, every in waiting:
            total.add(complete)
            if how.sampler is not None:
                how.sampler.add(every)
        waiting.clear()

    if how.progress is not None:
        how.progress(0)
    for block in source.batches(batch):
        waiting.append(rows.split(block))
        if rows.usable >= least:
            add_waiting()
        if how.progress is not None:
            how.progress(rows.rows)
    rows.verdict(source.prefix)
    if how.least_rows is not None:
        check_size(rows.usable, source.names, how.least_rows, source.prefix)
    add_waiting()
    return rows


@dataclass(frozen=True, eq=False)
class Scan:
    """One pass over some partitions: what `RowCheck` found, the root, the extremes, and the complete rows of each partition.

    `error` is the first that a partition raised; the rest is void then.
    """

    check: RowCheck
    root: Root
    least: Array
    most: Array
    counts: tuple[int, ...]
    error: OrdagError | None = None

    @property
    def starts(self) -> tuple[int, ...]:
        """Complete rows before each partition."""
        return tuple(accumulate(self.counts, initial=0))[:-1]


def scan(source: DaskSource, missing: Missing) -> Scan:
    """Pass over all partitions on their workers; only matrices and counts travel."""
    found = source.merged(partial(_scan_partition, missing=missing), range(len(source.partitions)), _merge_scans)
    if found.error is not None:
        raise found.error
    found.check.verdict()
    return found


def _scan_partition(source: Source, number: int, missing: Missing) -> Scan:
    p = len(source.names)
    check = RowCheck(source.all_names, missing, variables=p)
    total = accumulator(p, source.covariates)
    least, most = np.full(p, np.inf), np.full(p, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            for block in source.batches(chunk_rows(p)):
                clean = check.admit(block)
                total.add(clean)
                least = np.minimum(least, clean[:, :p].min(axis=0, initial=np.inf))
                most = np.maximum(most, clean[:, :p].max(axis=0, initial=-np.inf))
        except OrdagError as error:  # returned, so that which partition is named does not depend on who was first
            return Scan(check, Root(0, np.zeros(0), np.zeros((0, 0))), least, most, (0,), error)
        root = total.finish()
    check.note_partition(number)
    return Scan(check, root, least, most, (root.used,))


def _merge_scans(scans: Sequence[Scan]) -> Scan:
    wrong = next((one for one in scans if one.error is not None), None)
    if wrong is not None:
        return wrong
    return Scan(
        RowCheck.merged([one.check for one in scans]),
        merged([one.root for one in scans]),
        np.min([one.least for one in scans], axis=0),
        np.max([one.most for one in scans], axis=0),
        tuple(count for one in scans for count in one.counts),
    )


def summed_up(source: DaskSource, found: Scan, announce: Announce | None = None) -> Summary:
    """Return what a pass over all partitions comes to; incomplete rows are used where they lie."""
    return Summary.of(source, found.check, found.root, announce)


def draw_sample(source: DaskSource, found: Scan, limit: int) -> Profile:
    """Draw the rows that a `Sampler` of the whole table keeps, from the partitions that `found` has counted."""
    stride = stride_of(found.root.n, limit)
    pieces = source.mapped(partial(_draw_rows, stride=stride), found.starts)
    rows = np.concatenate([np.empty((0, len(source.names))), *pieces])
    return Profile(rows, stride, found.least, found.most)


def _draw_rows(source: Source, start: int, stride: int) -> Array:
    check, position = RowCheck(source.names, "drop"), start
    kept = [np.empty((0, len(source.names)))]
    for block in source.batches(chunk_rows(len(source.names))):
        clean = check.admit(block)
        kept.append(np.array(clean[-position % stride :: stride]))
        position += len(clean)
    return np.concatenate(kept)
