"""A source: a table of numbers that can be read in batches of rows, as often as needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np

from ordag.arrays import Array
from ordag.errors import UnreadableError
from ordag.words import News, counted

Found = TypeVar("Found")


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
    def repeatable(self) -> bool:
        """Whether the table lies in a file, so that a second pass gives the same rows."""
        return False

    @property
    def place(self) -> str:
        """How a sentence about the rows of a file begins; other tables have no name that would help."""
        return f"{self.describe}: " if self.file_bytes is not None else ""

    @property
    def array(self) -> Array | None:
        """The whole (n, p) table where it is in memory already, else None. Never write into it."""
        return None

    @property
    def file_bytes(self) -> int | None:
        """Bytes of the files that are read; None for other tables."""
        return None

    def news(self, rows: int) -> News:
        """What to say when `rows` rows are read."""
        share, size = self.share(rows), self.file_bytes
        read = f", {_bytes(share * size, size)}" if size and share is not None else ""
        return News(f"{counted(rows, 'row')}{read} read", share)

    def share(self, rows: int) -> float | None:
        """How much of the table is read when `rows` rows are, from 0 to 1; None where that is not known."""
        return rows / self.rows if self.rows else None

    @abstractmethod
    def batches(self, rows: int) -> Iterator[Array]:
        """C-contiguous (rows, p) blocks in the order of the table; only the last one may be shorter.

        Blocks may be read-only views of the caller's data. Every call starts again at the first row.
        """


@dataclass(frozen=True, eq=False)
class ScatteredSource(Source):
    """A table whose parts lie elsewhere, such as on the machines of a cluster: work goes to the rows, they do not come.

    Rows are those of part 0, then those of part 1, and so on.
    """

    @property
    @abstractmethod
    def part_count(self) -> int:
        """The number of parts, empty ones included."""

    @abstractmethod
    def mapped(self, work: Callable[[Source, Any], Found], places: Sequence[Any]) -> list[Found]:
        """What `work` makes, where it lies, of every part and of its own one of the `places`."""

    @abstractmethod
    def merged(
        self,
        work: Callable[[Source, Any], Found],
        places: Sequence[Any],
        merge: Callable[[Sequence[Found]], Found],
    ) -> Found:
        """The same in one: `merge` makes one of several neighbours, and one of several of those, where they lie."""

    def batches(self, rows: int) -> NoReturn:
        raise UnreadableError(
            f"{self.describe} lies on a cluster, and this takes its rows one after the other: write them to a Parquet file, "
            "or bring them into memory with .compute()."
        )


def regroup(blocks: Iterable[Array], rows: int, begun: int = 0) -> Iterator[Array]:
    """The same rows in blocks of `rows`, so that batches do not depend on how a file is laid out.

    The first block lacks the `begun` rows that are elsewhere.
    """
    held: list[Array] = []
    count = begun
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


def _bytes(done: float, size: int) -> str:
    """So many bytes of all, in a unit that fits: "0.5 of 1.8 GB"."""
    unit, name = next((one for one in ((1e9, "GB"), (1e6, "MB")) if size >= one[0]), (1e3, "kB"))
    digits = 1 if size < 100 * unit else 0
    return f"{min(done, size) / unit:.{digits}f} of {size / unit:.{digits}f} {name}"


def rows_at_once(p: int) -> int:
    """How many rows of p columns to convert at once: about a million numbers spread the cost of a call."""
    return min(max((1 << 20) // p, 1 << 10), 1 << 16)
