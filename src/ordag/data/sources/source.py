"""`Source`: a table of numbers that is read in batches of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import News, counted
from ordag.data.covariates import Covariate
from ordag.data.roles import ColumnRole, Suspect


@dataclass(frozen=True, eq=False)
class Source(ABC):
    """The variables of one table, missing values as NaN.

    `names` are the variables in the requested order, `rows` the number of rows where it is known without reading the table, and
    `describe` is the name of the table in messages. `covariates` are columns that a block has behind the variables, categories as
    level numbers; `columns` are the roles of all columns of the table; `suspects` are variables that later rows may show to be none.
    """

    names: tuple[str, ...]
    rows: int | None
    describe: str
    covariates: tuple[Covariate, ...] = field(default=(), kw_only=True)
    """Columns that are waiting fixed. In blocks they stand behind the columns of `names`, categories as numbers of their levels."""
    columns: tuple[ColumnRole, ...] = field(default=(), kw_only=True)
    suspects: tuple[Suspect, ...] = field(default=(), kw_only=True)

    notes: tuple[str, ...] = field(default=(), kw_only=True)
    """How the table was read where there was a choice, each in a few words."""

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names of all columns of a block."""
        return (*self.names, *(one.name for one in self.covariates))

    @property
    def repeatable(self) -> bool:
        """Whether the table is in a file, so that a second pass gives the same rows."""
        return False

    @property
    def prefix(self) -> str:
        """The beginning of a sentence about the rows: the name of a file, nothing for other tables."""
        return f"{self.describe}: " if self.file_bytes is not None else ""

    @property
    def array(self) -> Array | None:
        """The whole table, as one block, if it is in memory already, else None. Never write into it."""
        return None

    @property
    def file_bytes(self) -> int | None:
        """Bytes of the files that are read; None for other tables."""
        return None

    def news(self, rows: int) -> News:
        """Return the progress message after `rows` rows."""
        share, size = self.share(rows), self.file_bytes
        read = f", {_bytes(share * size, size)}" if size and share is not None else ""
        return News(f"{counted(rows, 'row')}{read} read", share)

    def share(self, rows: int) -> float | None:
        """Return the share of the table that is read after `rows` rows, from 0 to 1; None where it is unknown."""
        return rows / self.rows if self.rows else None

    @abstractmethod
    def batches(self, rows: int) -> Iterator[Array]:
        """Yield C-contiguous blocks of rows in the order of the table, from its first row; only the last one may be shorter.

        Blocks may be read-only views of the caller's data.
        """


def noted(source: Source, *notes: str) -> Source:
    """Return the source with further notes on how it was read."""
    return replace(source, notes=(*source.notes, *notes)) if notes else source


def regroup(blocks: Iterable[Array], rows: int, begun: int = 0) -> Iterator[Array]:
    """Yield the same rows in blocks of `rows`, the first of which is shorter by `begun` rows."""
    waiting: list[Array] = []
    count = begun
    for block in blocks:
        rest = block
        while count + len(rest) >= rows:
            cut = rows - count
            yield np.concatenate([*waiting, rest[:cut]]) if waiting else rest[:cut]
            rest, waiting, count = rest[cut:], [], 0
        if len(rest):
            waiting.append(rest)
            count += len(rest)
    if waiting:
        yield np.concatenate(waiting)


def _bytes(done: float, size: int) -> str:
    """Bytes read of all, in a unit that fits: "0.5 of 1.8 GB"."""
    unit, name = next((one for one in ((1e9, "GB"), (1e6, "MB")) if size >= one[0]), (1e3, "kB"))
    digits = 1 if size < 100 * unit else 0
    return f"{min(done, size) / unit:.{digits}f} of {size / unit:.{digits}f} {name}"


def rows_at_once(p: int) -> int:
    """Return the rows of p columns to convert at once: about a million numbers spread the cost of a call."""
    return min(max((1 << 20) // max(p, 1), 1 << 10), 1 << 16)
