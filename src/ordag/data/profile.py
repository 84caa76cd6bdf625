"""`Profile`: an even sample of the rows of a table and the extremes of its columns, taken as the rows are read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.data.labels import RowLabels

PROFILE_NUMBERS = 2**18
"""Numbers in the rows of a profile, two megabytes; wide tables have a few hundred rows all the same."""

MOST_ROWS, FEWEST_ROWS = 20_000, 200


class Rows(NamedTuple):
    """Complete rows, `stride` apart in the table; 1 means all. `labels` say what they are, where columns of the table do."""

    values: Array
    stride: int
    labels: RowLabels | None = None

    def thinned(self, most: int) -> Rows:
        """Return every second, fourth, … row, so that there are at most `most`."""
        step = stride_of(len(self.values), most)
        labels = None if self.labels is None else self.labels.of(slice(None, None, step))
        return Rows(np.ascontiguousarray(self.values[::step]), self.stride * step, labels)


class Profile(NamedTuple):
    """An even sample of the rows, `stride` apart (1 means all), and the least and the greatest value of every column.

    Where incomplete rows are used, missing values are NaN.
    """

    rows: Array
    stride: int
    least: Array
    most: Array
    labels: RowLabels | None = None

    @classmethod
    def of(cls, X: Array) -> Profile:
        """Profile rows in memory. All rows are searched for the extremes only where the sample looks scaled to a range."""
        stride = -(-len(X) // sample_size(X.shape[1]))
        rows = np.array(X[::stride])
        least, most = rows.min(axis=0), rows.max(axis=0)
        if stride > 1:
            reach = np.maximum(np.abs(least), np.abs(most))
            if reach.max() <= 1.5 * reach.min() or np.ptp(most - least) <= 0.5 * (most - least).min():
                least, most = X.min(axis=0), X.max(axis=0)
        return cls(rows, stride, least, most)

    @property
    def complete(self) -> Profile:
        """The profile with the complete rows alone."""
        whole = np.asarray(np.isfinite(self.rows).all(axis=1))
        labels = None if self.labels is None else self.labels.of(whole)
        return self if whole.all() else self._replace(rows=self.rows[whole], labels=labels)

    def thinned(self, most: int) -> Profile:
        """Return the profile with at most `most` rows, as `Rows.thinned`."""
        rows = Rows(self.rows, self.stride, self.labels).thinned(most)
        return Profile(rows.values, rows.stride, self.least, self.most, rows.labels)

    def scaled(self, columns: list[int], factors: Array) -> Profile:
        """Return the profile of these columns, each multiplied by its factor."""
        ends = self.least[columns] * factors, self.most[columns] * factors
        rows = np.ascontiguousarray(self.rows[:, columns] * factors)
        return Profile(rows, self.stride, np.minimum(*ends), np.maximum(*ends), self.labels)


class Sampler:
    """Keeps every row of the blocks added to it, then every second, every fourth, …, so that there are at most `limit`."""

    def __init__(self, p: int, limit: int) -> None:
        self._limit = limit
        self._blocks: list[Array] = []
        self._stride, self._count, self._position = 1, 0, 0
        self._least, self._most = np.full(p, np.inf), np.full(p, -np.inf)

    def add(self, block: Array) -> None:
        if not len(block):
            return
        np.fmin(self._least, np.fmin.reduce(block, axis=0), out=self._least)
        np.fmax(self._most, np.fmax.reduce(block, axis=0), out=self._most)
        kept = block[(-self._position) % self._stride :: self._stride]
        self._position += len(block)
        self._blocks.append(np.array(kept))
        self._count += len(kept)
        while self._count > self._limit:
            self._blocks = [np.concatenate(self._blocks)[::2].copy()]
            self._stride, self._count = 2 * self._stride, len(self._blocks[0])

    def select(self, columns: list[int]) -> None:
        """Keep these columns alone."""
        self._blocks = [block[:, columns] for block in self._blocks]
        self._least, self._most = self._least[columns], self._most[columns]

    def finish(self) -> Profile:
        """Return all rows that were kept, and the extremes of all that were added."""
        if len(self._blocks) != 1:
            self._blocks = [np.concatenate([np.empty((0, len(self._least))), *self._blocks])]
        return Profile(self._blocks[0], self._stride, self._least, self._most)


def stride_of(n: int, most: int) -> int:
    """Return the stride, a power of 2, at which a `Sampler` keeps at most `most` of n rows."""
    stride = 1
    while -(-n // stride) > most:
        stride *= 2
    return stride


def sample_size(p: int, numbers: int = 0) -> int:
    """Return the rows in the profile of a table with p columns, or in a sample of `numbers` numbers if that is more."""
    return max(FEWEST_ROWS, min(MOST_ROWS, PROFILE_NUMBERS // max(p, 1)), numbers // max(p, 1))
