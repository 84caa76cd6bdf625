"""What every table is checked for, once, before anything is computed from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from ordag.arrays import Array
from ordag.checks import as_list, check_text, short
from ordag.data.reading import Missing
from ordag.data.remedies import without
from ordag.errors import (
    ColumnError,
    ConstantColumnError,
    DataError,
    MissingValuesError,
    NonFiniteError,
    Remedy,
    TooFewRowsError,
    UnderflowError,
)
from ordag.linalg import EPSILON
from ordag.words import counted, joined, listed, shown

LeastRows: TypeAlias = Callable[[int], int]
"""How many rows p columns take, for those who cannot do with fewer."""

FEW_ROWS = 5
"""What a regression on one variable takes, to leave something to test."""

SMALLEST, LARGEST = 1e-135, 1e145
"""Lengths of centred columns between which squares, and quotients of squares, stay within float64."""


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    names = [str(name) for name in as_list(names, f"names={short(names)}: give a list of names.")]
    if len(set(names)) < len(names):
        doubled = sorted(name for name, count in Counter(names).items() if count > 1)
        raise ColumnError(f"Column names must differ, but {listed(doubled)} stands more than once: rename one of them.")
    check_text(names)
    return tuple(names)


class RowCheck:
    """Lets clean rows through, counts the others, and at the end says what is wrong with them."""

    def __init__(self, names: tuple[str, ...], missing: Missing) -> None:
        self.names = names
        self.missing = missing
        self.rows = 0
        self.dropped = 0
        self.absent = np.zeros(len(names), np.int64)
        self.infinite = np.zeros(len(names), np.int64)
        self.parts: list[int] = []  # of a table in parts, those with such rows

    @classmethod
    def merged(cls, checks: Sequence[RowCheck]) -> RowCheck:
        """The check of all the rows that these have seen."""
        whole = cls(checks[0].names, checks[0].missing)
        for one in checks:
            whole.rows += one.rows
            whole.dropped += one.dropped
            whole.absent += one.absent
            whole.infinite += one.infinite
            whole.parts += one.parts
        return whole

    def note_part(self, number: int) -> None:
        """What is wrong with the rows, if anything is, is wrong with those of this part."""
        self.parts = [number] if self.infinite.any() or self.absent.any() else []

    def admit(self, block: Array) -> Array:
        """The rows of `block` that can be used."""
        self.rows += len(block)
        with np.errstate(over="ignore", invalid="ignore"):
            clean = bool(np.isfinite(block.sum()))
        if clean:
            return block
        absent = np.isnan(block)
        whole = ~absent.any(axis=1)
        infinite = np.isinf(block) & ~absent.any(
            axis=1, keepdims=True
        )  # rows with missing values are not used, whatever else they hold
        self.absent += absent.sum(axis=0)
        self.infinite += infinite.sum(axis=0)
        self.dropped += int(len(block) - whole.sum())
        return block[whole & ~infinite.any(axis=1)]

    def verdict(self, place: str = "") -> None:
        """Refuse what is wrong with the rows; the sentence begins with `place`, if that is known."""
        if self.infinite.any():
            raise NonFiniteError(
                f"{place}Infinite values in {self._counts(self.infinite)}{self._place()}: remove those rows or columns, or correct "
                "the values.",
                remedies=self._without(self.infinite),
            )
        if self.dropped and self.dropped == self.rows:
            raise MissingValuesError(
                f"{place}Every row has missing values, in {self._counts(self.absent)}: fill them in, or leave those columns out "
                "(columns=…, --columns).",
                remedies=self._without(self.absent),
            )
        if self.dropped and self.missing == "error":
            raise MissingValuesError(
                f"{place}{counted(self.dropped, 'row')} of {self.rows:,} {'has' if self.dropped == 1 else 'have'} missing values, in "
                f"{self._counts(self.absent)}{self._place()}: fill them in, leave those columns out, or drop the rows with "
                "missing='drop' (--missing drop).",
                remedies=[
                    Remedy(f"leave out {counted(self.dropped, 'row')} with missing values", {"missing": "drop"}),
                    *self._without(self.absent),
                ],
            )

    def _without(self, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Remedy]:
        return without({self.names[j] for j in np.flatnonzero(counts)}, self.names)

    def _place(self) -> str:
        if not self.parts:
            return ""
        numbers = joined([str(part) for part in self.parts])
        return f", in partition{'s' if len(self.parts) > 1 else ''} {numbers} (the first is 0)"

    def _counts(self, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
        return joined([f"{shown(self.names[j])} ({counted(int(counts[j]), 'row')})" for j in np.flatnonzero(counts)])


def least_squares_rows(p: int) -> int:
    """Rows that leave a regression on all other columns a residual to test."""
    return p + 2


def check_size(n: int, names: Sequence[str], least_rows: LeastRows = least_squares_rows, place: str = "") -> None:
    """Refuse a table with too few columns for a graph, or too few rows for its columns; `place` as in `RowCheck.verdict`."""
    p = len(names)
    if p == 0:
        raise DataError(f"{place}There are no columns: a graph needs at least two.")
    if n == 0:
        raise TooFewRowsError(f"{place}There are no rows: nothing can be learned from an empty table.")
    if p == 1:
        raise DataError(f"{place}There is only one column, {shown(names[0])}: a graph needs at least two.")
    if n < least_rows(p):
        most = max((q for q in range(2, p) if least_rows(q) <= n), default=0)
        fewer = f" or at most {most} of the columns (columns=…, --columns)" if most else ""
        sparse = ", or regress on few of them: method='cvs', variance='sparse' (--method cvs --variance sparse)"
        able = n >= FEW_ROWS and least_rows is least_squares_rows
        raise TooFewRowsError(
            f"{place}{counted(n, 'row')} and {p} variables: the tests need at least {least_rows(p)} rows. Use more rows{fewer}"
            f"{sparse if able else ''}."
        )


def check_moments(
    n: int, mean: Array, spread: Array, names: tuple[str, ...], least_rows: LeastRows = least_squares_rows
) -> None:
    """What a learner needs of a table: enough columns, enough rows, and columns that vary.

    `spread` are the lengths of the centred columns.
    """
    check_size(n, names, least_rows)
    large = [names[j] for j in np.flatnonzero(~(spread <= LARGEST))]
    if large:
        raise NonFiniteError(f"The values of {listed(large)} are too large to square in float64: use a larger unit.")
    if n > 1:
        constant = spread <= np.sqrt(n) * 4 * EPSILON * np.abs(mean)
        if constant.any():
            which = [names[j] for j in np.flatnonzero(constant)]
            one = len(which) == 1
            barely = spread[constant].max() > 0.0
            digits = f", or {'changes' if one else 'change'} only in the last digits that float64 holds of {'it' if one else 'them'}"
            remedy = ", or subtract a constant first" if barely else ""
            raise ConstantColumnError(
                f"{'Column' if one else 'Columns'} {listed(which)} never {'changes' if one else 'change'}{digits if barely else ''}: "
                f"leave out what does not vary (columns=…, --columns){remedy}.",
                remedies=without(set(which), names),
            )
        small = [names[j] for j in np.flatnonzero(spread < SMALLEST)]
        if small:
            raise UnderflowError(
                f"The values of {listed(small)} differ by so little (less than {SMALLEST:g}) that their squares vanish in "
                "float64: use a smaller unit, that is, multiply the column."
            )
