"""A source: a table of numbers that can be read in batches of rows, as often as needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ordag.arrays import Array


@dataclass(frozen=True, eq=False)
class Source(ABC):
    """The selected columns of one table, missing values as NaN.

    `names` are the selected columns in the order asked for, `rows` their number of rows where it is known
    without reading the table, and `describe` is what messages call the table.
    """

    names: tuple[str, ...]
    rows: int | None
    describe: str

    @property
    def array(self) -> Array | None:
        """The whole (n, p) table where it is in memory already, else None. Never write into it."""
        return None

    def share(self, rows: int) -> float | None:
        """How much of the table is read when `rows` rows are, from 0 to 1; None where that is not known."""
        return rows / self.rows if self.rows else None

    @abstractmethod
    def batches(self, rows: int) -> Iterator[Array]:
        """C-contiguous (rows, p) blocks in the order of the table; only the last one may be shorter.

        Blocks may be read-only views of the caller's data. Every call starts again at the first row.
        """


def regroup(blocks: Iterable[Array], rows: int) -> Iterator[Array]:
    """The same rows in blocks of `rows`, so that batches do not depend on how a file is laid out."""
    held: list[Array] = []
    count = 0
    for block in blocks:
        rest = block
        while count + len(rest) >= rows:
            cut = rows - count
            yield np.concatenate([*held, rest[:cut]]) if held else rest[:cut]
            rest, held, count = rest[cut:], [], 0
        if len(rest):
            held.append(rest)
            count += len(rest)
    if held:
        yield np.concatenate(held)


def rows_at_once(p: int) -> int:
    """How many rows of p columns to convert at once: about a million numbers spread the cost of a call."""
    return min(max((1 << 20) // p, 1 << 10), 1 << 16)
