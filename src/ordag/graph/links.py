"""`Links`: the edges of a graph as index arrays, a sparse form of the adjacency mask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Links:
    """The True entries of a p × p mask: rows `source` and columns `target`, sorted by row and then by column, each once."""

    p: int
    source: Indices
    target: Indices

    def __post_init__(self) -> None:
        self.source.flags.writeable = self.target.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Links, (self.p, self.source, self.target)  # unpickled arrays would be writable

    @classmethod
    def of(cls, mask: Mask) -> Links:
        """Return the links of a mask."""
        p = len(mask)
        # several times as fast as np.nonzero in two dimensions
        return cls(p, *np.divmod(np.flatnonzero(mask), max(p, 1)))

    @classmethod
    def between(cls, p: int, source: Indices, target: Indices) -> Links:
        """Return the links of distinct entries in any order."""
        by_source = np.lexsort((target, source))
        return cls(p, source[by_source], target[by_source])

    @classmethod
    def joining(cls, p: int, pairs: Iterable[tuple[int, int]]) -> Links:
        """Return the links of distinct (row, column) pairs in any order."""
        ends = np.array([*pairs], dtype=np.intp).reshape(-1, 2)
        return cls.between(p, ends[:, 0], ends[:, 1])

    def __len__(self) -> int:
        return len(self.source)

    @property
    def mask(self) -> Mask:
        """The p × p mask."""
        mask = np.zeros((self.p, self.p), dtype=bool)
        mask[self.source, self.target] = True
        return mask

    @cached_property
    def starts(self) -> list[int]:
        """Row i has the entries `starts[i]` up to, not including, `starts[i + 1]`."""
        return np.searchsorted(self.source, np.arange(self.p + 1)).tolist()  # type: ignore[no-any-return]

    def row(self, node: int) -> Indices:
        """Return the columns of the entries in one row."""
        return self.target[self.starts[node] : self.starts[node + 1]]

    @cached_property
    def by_target(self) -> Indices:
        """The permutation that sorts the entries by column and then by row."""
        return np.lexsort((self.source, self.target))

    @cached_property
    def turned(self) -> Links:
        """The links of the transposed mask."""
        return Links(self.p, self.target[self.by_target], self.source[self.by_target])

    @property
    def in_columns(self) -> Indices:
        """The number of entries in each column: the in-degrees."""
        return np.bincount(self.target, minlength=self.p)

    @cached_property
    def mutual(self) -> Mask:
        """For every entry, whether its transpose is an entry too."""
        return self.has(self.target, self.source)

    def where(self, chosen: Mask) -> Links:
        """Return those of the entries that a mask over the entries selects."""
        return Links(self.p, self.source[chosen], self.target[chosen])

    def without_direction(self) -> Links:
        """Return the links of the symmetric mask with these entries and their transposes."""
        one_way = self.where(~self.mutual)
        return Links.between(self.p, np.r_[self.source, one_way.target], np.r_[self.target, one_way.source])

    def renamed(self, indices: Indices) -> Links:
        """Return the links after node i becomes node `indices[i]`."""
        return Links.between(self.p, indices[self.source], indices[self.target])

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return self.source.astype(np.int64) * self.p + self.target

    def has(self, source: Indices, target: Indices) -> Mask:
        """For each of these positions, whether it is an entry."""
        return np.asarray(self.find(source, target) >= 0)

    def find(self, source: Indices, target: Indices) -> Indices:
        """For each of these positions, the index of its entry; -1 where there is none."""
        keys = np.asarray(source, dtype=np.int64) * self.p + target
        if not len(self):
            return np.full(keys.shape, -1, dtype=np.intp)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        return np.where(self._keys[at] == keys, at, -1)

    def look_up(self, values: Array, source: Indices, target: Indices, missing: float) -> Array:
        """For each of these positions, the element of `values` (one per entry), or `missing` where there is no entry."""
        at = self.find(source, target)
        return np.where(at < 0, missing, values[at]) if len(self) else np.full(at.shape, missing)

    def same(self, other: Links) -> bool:
        """Return whether both are links of the same mask."""
        return (
            self.p == other.p
            and np.array_equal(self.source, other.source)
            and np.array_equal(self.target, other.target)
        )


NO_LINKS = Links(0, np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
"""No entries, for a mask of any size."""
