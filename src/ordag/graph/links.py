"""`Links`: the edges of a graph by the places of their ends. What a graph of few edges is held by: nothing in it is p × p."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Links:
    """The True entries of a p × p mask: the rows `source` and the columns `target`, sorted by row and then by column, each once."""

    p: int
    source: Places
    target: Places

    def __post_init__(self) -> None:
        self.source.flags.writeable = self.target.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Links, (self.p, self.source, self.target)  # made anew, for unpickled arrays can be written to

    @classmethod
    def of(cls, mask: Mask) -> Links:
        """Those of a mask."""
        p = len(mask)
        return cls(
            p, *np.divmod(np.flatnonzero(mask), max(p, 1))
        )  # several times as fast as np.nonzero of two dimensions

    @classmethod
    def between(cls, p: int, source: Places, target: Places) -> Links:
        """Those of entries in any order, each given once."""
        by_source = np.lexsort((target, source))
        return cls(p, source[by_source], target[by_source])

    @classmethod
    def joining(cls, p: int, pairs: Iterable[tuple[int, int]]) -> Links:
        """Those of (row, column) pairs in any order, each given once."""
        ends = np.array([*pairs], dtype=np.intp).reshape(-1, 2)
        return cls.between(p, ends[:, 0], ends[:, 1])

    def __len__(self) -> int:
        return len(self.source)

    @property
    def mask(self) -> Mask:
        """The mask itself."""
        mask = np.zeros((self.p, self.p), dtype=bool)
        mask[self.source, self.target] = True
        return mask

    @cached_property
    def starts(self) -> list[int]:
        """Row i has the entries from `starts[i]` up to `starts[i + 1]`."""
        return np.searchsorted(self.source, np.arange(self.p + 1)).tolist()  # type: ignore[no-any-return]

    def row(self, node: int) -> Places:
        """The columns of one row."""
        return self.target[self.starts[node] : self.starts[node + 1]]

    @cached_property
    def by_target(self) -> Places:
        """What sorts the entries by column and then by row."""
        return np.lexsort((self.source, self.target))

    @cached_property
    def turned(self) -> Links:
        """Those of the transposed mask."""
        return Links(self.p, self.target[self.by_target], self.source[self.by_target])

    @property
    def in_columns(self) -> Places:
        """How many entries every column has."""
        return np.bincount(self.target, minlength=self.p)

    @cached_property
    def mutual(self) -> Mask:
        """For every entry, whether the one across the diagonal is there too."""
        return self.has(self.target, self.source)

    def where(self, chosen: Mask) -> Links:
        """Some of them."""
        return Links(self.p, self.source[chosen], self.target[chosen])

    def without_direction(self) -> Links:
        """The same with every entry across the diagonal of one of them: a symmetric mask."""
        one_way = ~self.mutual
        ends = self.source, self.target
        return Links.between(self.p, *(np.concatenate([ends[k], ends[1 - k][one_way]]) for k in (0, 1)))

    def renamed(self, places: Places) -> Links:
        """Those of the mask whose row and column `places[i]` are what i was."""
        return Links.between(self.p, places[self.source], places[self.target])

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return self.source.astype(np.int64) * self.p + self.target

    def has(self, source: Places, target: Places) -> Mask:
        """Whether each of these entries is there."""
        return np.asarray(self.find(source, target) >= 0)

    def find(self, source: Places, target: Places) -> Places:
        """The place of each of these entries among all, -1 where there is none."""
        keys = np.asarray(source, dtype=np.int64) * self.p + target
        if not len(self):
            return np.full(keys.shape, -1, dtype=np.intp)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        return np.where(self._keys[at] == keys, at, -1)

    def look_up(self, values: Array, source: Places, target: Places, missing: float) -> Array:
        """What `values` has for each of these entries, one value for each entry there is."""
        at = self.find(source, target)
        return np.where(at < 0, missing, values[at]) if len(self) else np.full(at.shape, missing)

    def same(self, other: Links) -> bool:
        """Whether both have the same entries."""
        return (
            self.p == other.p
            and np.array_equal(self.source, other.source)
            and np.array_equal(self.target, other.target)
        )


NO_LINKS = Links(0, np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
"""None at all, of any mask."""
