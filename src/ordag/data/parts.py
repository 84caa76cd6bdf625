"""A table whose parts lie elsewhere: each is gone through where it lies, and what is known of them is put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import numpy as np

from ordag.arrays import Array
from ordag.data.profile import Profile, Rows, sample_size, stride_of
from ordag.data.reading import Missing
from ordag.data.scatter import Accumulator, chunk_rows, merge_roots
from ordag.data.sources.source import ScatteredSource, Source
from ordag.data.table_checks import RowCheck
from ordag.errors import OrdagError


@dataclass(frozen=True, eq=False)
class Scan:
    """One pass over the rows of some parts: n, mean and root R of their scatter, the least and the greatest values.

    `check` counts what is wrong with the rows, `counts` the good rows of every part, in order. `error` is the first that a part
    gave instead, and the rest says nothing then.
    """

    check: RowCheck
    root: tuple[int, Array, Array]
    least: Array
    most: Array
    counts: tuple[int, ...]
    error: OrdagError | None = None

    @property
    def starts(self) -> tuple[int, ...]:
        """How many good rows come before each part."""
        return tuple(accumulate(self.counts, initial=0))[:-1]


def scan(source: ScatteredSource, missing: Missing) -> Scan:
    """All parts, of which only matrices and counts travel."""
    found = source.merged(partial(_scanned, missing=missing), range(source.part_count), _together)
    if found.error is not None:
        raise found.error
    found.check.verdict()
    return found


def _scanned(source: Source, part: int, missing: Missing) -> Scan:
    """One part."""
    p = len(source.names)
    check, total = RowCheck(source.names, missing), Accumulator(p)
    least, most = np.full(p, np.inf), np.full(p, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            for block in source.batches(chunk_rows(p)):
                clean = check.admit(block)
                total.add(clean)
                least = np.minimum(least, clean.min(axis=0, initial=np.inf))
                most = np.maximum(most, clean.max(axis=0, initial=-np.inf))
        except (
            OrdagError
        ) as error:  # comes back as it is: which of several parts is named does not depend on who was first
            return Scan(check, (0, np.zeros(0), np.zeros((0, 0))), least, most, (0,), error)
        root = total.finish()
    check.note_part(part)
    return Scan(check, root, least, most, (root[0],))


def _together(scans: Sequence[Scan]) -> Scan:
    """Neighbours in one."""
    first = scans[0]
    wrong = next((one for one in scans if one.error is not None), None)
    if wrong is not None:
        return wrong
    filled = [one.root for one in scans if one.root[0] > 0] or [first.root]
    return Scan(
        RowCheck.merged([one.check for one in scans]),
        merge_roots(filled) if len(filled) > 1 else filled[0],
        np.min([one.least for one in scans], axis=0),
        np.max([one.most for one in scans], axis=0),
        tuple(count for one in scans for count in one.counts),
    )


def draw(source: ScatteredSource, starts: Sequence[int], stride: int) -> Array:
    """Every `stride`-th good row, counted from the first of all: those that a `Sampler` of the whole table keeps."""
    pieces = source.mapped(partial(_drawn, stride=stride), starts)
    return np.concatenate([np.empty((0, len(source.names))), *pieces])


def _drawn(source: Source, start: int, stride: int) -> Array:
    check, position = RowCheck(source.names, "drop"), start
    kept = [np.empty((0, len(source.names)))]
    for block in source.batches(chunk_rows(len(source.names))):
        clean = check.admit(block)
        kept.append(np.array(clean[-position % stride :: stride]))
        position += len(clean)
    return np.concatenate(kept)


class PartSampler:
    """What `Sampler` keeps of a table, drawn from its parts when it is asked for."""

    def __init__(self, source: ScatteredSource, found: Scan, keep: int) -> None:
        p = len(source.names)
        limit = max(sample_size(p), keep // max(p, 1))
        self._least, self._most = found.least, found.most
        self._stride = stride_of(found.root[0], limit)
        self._draw: Callable[[], Array] | None = lambda: draw(source, found.starts, self._stride)
        self._rows = np.empty((0, p))

    @property
    def rows(self) -> Rows:
        if self._draw is not None:
            self._rows, self._draw = self._draw(), None
        return Rows(self._rows, self._stride)

    @property
    def profile(self) -> Profile:
        rows = self.rows.thinned(sample_size(len(self._least)))
        return Profile(rows.values, rows.stride, self._least, self._most)
