"""What is kept of the rows of a table: an even sample, and a `Profile`, what they say beside their moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordag.arrays import Array

NUMBERS = 2**18
"""Numbers in a profile's sample of rows, two megabytes; of wide tables it has a few hundred rows all the same."""

MOST_ROWS, FEWEST_ROWS = 20_000, 200


class Rows(NamedTuple):
    """Complete rows, `stride` apart in the table; 1 means all."""

    values: Array
    stride: int

    def thinned(self, most: int) -> Rows:
        """Every second, fourth, … of them, so that there are no more than `most`."""
        step = 1
        while len(self.values) > most * step:
            step *= 2
        return Rows(np.ascontiguousarray(self.values[::step]), self.stride * step)


class Profile(NamedTuple):
    """An even sample of the rows, `stride` apart (1 means all), and the least and the greatest value of every column."""

    rows: Array
    stride: int
    least: Array
    most: Array

    @classmethod
    def of(cls, X: Array) -> Profile:
        """That of rows in memory. Only where the sample looks scaled to a range are all rows gone through for the extremes."""
        stride = -(-len(X) // sample_size(X.shape[1]))
        rows = np.array(X[::stride])
        least, most = rows.min(axis=0), rows.max(axis=0)
        if stride > 1:
            reach = np.maximum(np.abs(least), np.abs(most))
            if reach.max() <= 1.5 * reach.min() or np.ptp(most - least) <= 0.5 * (most - least).min():
                least, most = X.min(axis=0), X.max(axis=0)
        return cls(rows, stride, least, most)


def stride_of(n: int, most: int) -> int:
    """How far apart the rows are that a `Sampler` keeps of n, no more than `most` of them: 1, 2, 4, …"""
    stride = 1
    while -(-n // stride) > most:
        stride *= 2
    return stride


class Sampler:
    """Takes blocks of rows as they go by; keeps every row, then every second, every fourth, …

    It keeps what a profile needs, or `keep` numbers if that is more.
    """

    def __init__(self, p: int, keep: int = 0) -> None:
        self._limit = max(sample_size(p), keep // max(p, 1))
        self._held: list[Array] = []
        self._stride, self._count, self._position = 1, 0, 0
        self._least, self._most = np.full(p, np.inf), np.full(p, -np.inf)

    def add(self, block: Array) -> None:
        if not len(block):
            return
        np.minimum(self._least, block.min(axis=0), out=self._least)
        np.maximum(self._most, block.max(axis=0), out=self._most)
        kept = block[(-self._position) % self._stride :: self._stride]
        self._position += len(block)
        self._held.append(np.array(kept))
        self._count += len(kept)
        while self._count > self._limit:
            self._held = [np.concatenate(self._held)[::2].copy()]
            self._stride, self._count = 2 * self._stride, len(self._held[0])

    @property
    def rows(self) -> Rows:
        """All that was kept."""
        if len(self._held) != 1:
            self._held = [np.concatenate([np.empty((0, len(self._least))), *self._held])]
        return Rows(self._held[0], self._stride)

    @property
    def profile(self) -> Profile:
        rows = self.rows.thinned(sample_size(len(self._least)))
        return Profile(rows.values, rows.stride, self._least, self._most)


def sample_size(p: int) -> int:
    """Rows in the profile of a table with p columns."""
    return max(FEWEST_ROWS, min(MOST_ROWS, NUMBERS // max(p, 1)))
