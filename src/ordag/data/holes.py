"""`Incomplete`: the rows of a table that have missing values, as one pass finds them; `Holes`: what is said of them afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.words import counted, joined, shown

KEPT = 2**27
"""Numbers of incomplete rows kept in memory, a gigabyte; where there are more, they are read again in every step."""

MOST_PATTERNS = 10_000
"""Different patterns of holes that are counted."""

LISTED = 20
"""Patterns, and pairs of columns, in `Holes`."""


class Incomplete:
    """Incomplete rows of a pass: their number, the observed values of every column, the commonest patterns, and the rows themselves.

    With `keep` the rows are kept, up to so many numbers; `kept` is None where there were more.
    """

    def __init__(self, p: int, keep: int = 0) -> None:
        self.rows = self.others = 0
        self.limit, self.numbers = keep, 0
        self.kept: list[Array] | None = [] if keep else None
        self.observed, self.mean, self.squares = np.zeros(p), np.zeros(p), np.zeros(p)
        self.pairs = np.zeros((p, p))  # rows that have both of two columns
        self.lengths = np.zeros(p + 1)  # rows by the number of values that they have
        self.patterns: Counter[bytes] = Counter()

    def add(self, rows: Array) -> None:
        """Take up rows with some values of the variables, which come first, and some missing ones; nothing is infinite."""
        if not len(rows):
            return
        variables = rows[:, : len(self.observed)]
        absent = np.isnan(variables)
        self.rows += len(rows)
        self._count(absent)
        present = (~absent).astype(np.float64)
        self.pairs += present.T @ present
        self.lengths += np.bincount((~absent).sum(axis=1), minlength=len(self.lengths))
        self._moments(variables, absent, present.sum(axis=0))
        if self.kept is not None:
            self.kept.append(rows)
            self.numbers += rows.size
            if self.numbers > self.limit:
                self.kept = None

    def _count(self, absent: Mask) -> None:
        codes, counts = np.unique(pattern_codes(absent), return_counts=True)
        for code, count in zip(codes, counts.tolist(), strict=True):
            key = code.tobytes()
            if key in self.patterns or len(self.patterns) < MOST_PATTERNS:
                self.patterns[key] += count
            else:
                self.others += count

    def _moments(self, rows: Array, absent: Mask, counts: Array) -> None:
        n = np.maximum(counts, 1.0)
        mean = np.where(absent, 0.0, rows).sum(axis=0) / n
        squares = (np.where(absent, 0.0, rows - mean) ** 2).sum(axis=0)
        self.observed, self.mean, self.squares = pooled(
            (self.observed, self.mean, self.squares), (counts, mean, squares)
        )

    def having(self, columns: Mask) -> int:
        """Return how many rows have all of these columns; those of patterns that were not counted are taken to have them."""
        count = self.others
        for code, rows in self.patterns.items():
            absent = np.unpackbits(np.frombuffer(code, np.uint8), count=len(columns)).astype(bool)
            count += 0 if (absent & columns).any() else rows
        return count

    @classmethod
    def merged(cls, parts: Sequence[Incomplete]) -> Incomplete:
        """Return the same of all the rows together, without the rows themselves."""
        whole = cls(len(parts[0].observed))
        for one in parts:
            whole.rows += one.rows
            whole.others += one.others
            whole.pairs += one.pairs
            whole.lengths += one.lengths
            whole.patterns.update(one.patterns)
            whole.observed, whole.mean, whole.squares = pooled(
                (whole.observed, whole.mean, whole.squares), (one.observed, one.mean, one.squares)
            )
        return whole

    def found(self, names: Sequence[str], complete: int, rows: int, how: str, *, unasked: bool) -> Holes:
        """Say where the holes are in `rows` rows; `complete` ones have none."""
        p = len(names)
        patterns = []
        for code, count in self.patterns.most_common(LISTED):
            absent = np.unpackbits(np.frombuffer(code, np.uint8), count=p).astype(bool)
            patterns.append((tuple(names[j] for j in np.flatnonzero(absent).tolist()), count))
        every = self.pairs + complete
        apart = np.argwhere(np.triu(every == 0.0, 1))
        return Holes(
            how,
            rows,
            self.rows,
            rows - complete - self.rows,
            tuple((name, int(count)) for name, count in zip(names, self.rows - self.observed, strict=True)),
            tuple(patterns),
            tuple((names[i], names[j]) for i, j in apart[:LISTED].tolist()),
            unasked=unasked,
        )


def is_nearly_empty(values: int, rows: int) -> bool:
    """Return whether a column has too few values for any estimate.

    These are fewer than a tenth of the rows and than 20, or fewer than 5 and than half of the rows.
    """
    return values < max(min(5, rows / 2), min(20, rows // 10))


def pattern_codes(absent: Mask) -> np.ndarray[Any, Any]:
    """Return one value for every row that tells which of its columns are missing."""
    bits = np.packbits(absent, axis=1)
    width = 8 * -(-bits.shape[1] // 8)
    wide = np.zeros((len(bits), width), np.uint8)
    wide[:, : bits.shape[1]] = bits
    return wide.view(np.uint64 if width == 8 else np.dtype((np.void, width)))[:, 0]


def pooled(a: tuple[Array, Array, Array], b: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Return counts, means and sums of squares about the means of two sets of values together."""
    n = np.maximum(a[0] + b[0], 1.0)
    step = (b[1] - a[1]) * b[0] / n
    return a[0] + b[0], a[1] + step, a[2] + b[2] + (b[1] - a[1]) * step * a[0]


@dataclass(frozen=True)
class Holes:
    """Where values are missing, and what was done.

    how: "em" or "drop"; unasked: whether the user left that open. rows: of the table. incomplete: rows with missing values and some
    others. empty: rows without any value or without a covariate. columns: missing values of each column in the incomplete rows.
    patterns: columns that are missing together, and in how many rows, the commonest first. apart: pairs of columns of which no row has
    both. worth: the complete rows that all rows count for. prior: the share of the rows by which the estimate is drawn towards uncorrelated
    columns. remarks: what else there is to say of it.
    """

    how: str
    rows: int
    incomplete: int
    empty: int
    columns: tuple[tuple[str, int], ...]
    patterns: tuple[tuple[tuple[str, ...], int], ...]
    apart: tuple[tuple[str, str], ...] = ()
    worth: int = 0
    unasked: bool = True
    remarks: tuple[str, ...] = ()
    prior: float = 0.0

    @property
    def complete(self) -> int:
        """The rows without missing values."""
        return self.rows - self.incomplete - self.empty

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is to be said with an answer."""
        lacking = self.incomplete + self.empty
        have = f"{lacking:,} of {counted(self.rows, 'row')} {'has' if lacking == 1 else 'have'} missing values"
        if self.how == "drop" and not self.unasked:
            return ()
        if self.how == "drop":
            left_out = "was left out" if lacking == 1 else "were left out"
            if not self.incomplete:
                return (f"{have}, in all variables or in what is held fixed, and {left_out}.",)
            return (f"{have} and {left_out}; missing='em' (--missing em) uses what they hold.",)
        none = (
            f" ({counted(self.empty, 'row')} without any value, or without a covariate, left out)" if self.empty else ""
        )
        said = [f"{have}{none}: together all rows count for {self.worth:,} complete ones (EM)."]
        if self.apart:
            pairs = joined([f"{shown(a)} and {shown(b)}" for a, b in self.apart], 4)
            said.append(f"No row has both {pairs}: whether an arrow joins them, these data cannot say.")
        return (*said, *self.remarks)

    def concluded(self, worth: int, remarks: Sequence[str], prior: float) -> Holes:
        """Return the same with what the estimate has come to."""
        return replace(self, worth=worth, remarks=tuple(remarks), prior=prior)

    def renamed(self, names: Sequence[str]) -> Holes:
        """Return the same with other names for the columns."""
        new = dict(zip((name for name, _ in self.columns), names, strict=True))
        return replace(
            self,
            columns=tuple((new[name], missing) for name, missing in self.columns),
            patterns=tuple((tuple(new[name] for name in absent), rows) for absent, rows in self.patterns),
            apart=tuple((new[a], new[b]) for a, b in self.apart),
        )

    def of_columns(self, names: Sequence[str]) -> Holes:
        """Return the same of these columns alone; rows without holes in them are complete then."""
        wanted = set(names)
        counts = dict(self.columns)
        patterns: Counter[tuple[str, ...]] = Counter()
        for absent, rows in self.patterns:
            patterns[tuple(name for name in absent if name in wanted)] += rows
        patterns.pop((), None)
        return replace(
            self,
            columns=tuple((name, counts[name]) for name in names if name in counts),
            patterns=tuple(patterns.most_common()),
            apart=tuple(pair for pair in self.apart if wanted.issuperset(pair)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python values."""
        return {
            "how": self.how,
            "rows": self.rows,
            "incomplete": self.incomplete,
            "empty": self.empty,
            "count_for": self.worth,
            "columns": [
                {"column": name, "missing": missing, "share": missing / max(self.incomplete + self.complete, 1)}
                for name, missing in self.columns
            ],
            "patterns": [{"columns": list(names), "rows": rows} for names, rows in self.patterns],
            "never_together": [list(pair) for pair in self.apart],
        }
