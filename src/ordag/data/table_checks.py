"""The checks of every table and of moments, made once before anything is computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.checks import as_list, as_numbers, check_text, short
from ordag.common.linalg import EPSILON, cholesky_until
from ordag.common.words import counted, joined, listed, shell_word, shown
from ordag.data.holes import Holes, Incomplete
from ordag.data.reading import FEWEST_COLUMNS, Missing, without
from ordag.data.roles import ColumnRole
from ordag.data.set_aside import set_aside_sentence
from ordag.errors import (
    ColumnError,
    ConstantColumnError,
    CovarianceError,
    DataError,
    MissingValuesError,
    NonFiniteError,
    Remedy,
    TooFewRowsError,
    UnderflowError,
)

LeastRows: TypeAlias = Callable[[int], int]
"""The least number of rows for p columns."""

FEW_ROWS = 5
"""Rows that a regression on one variable needs, to leave a residual to test."""

SMALLEST, LARGEST = 1e-135, 1e145
"""Lengths of centred columns between which squares and their quotients stay within float64."""


EXPLAINED = 1e-10
"""Share of its length up to which nothing is left of a column."""

SMALL_MATRIX = 300
"""Columns up to which a copy of a matrix is quicker than a loop over its rows."""


def name_list(names: Any, setting: str = "names") -> list[str]:
    return [str(name) for name in as_list(names, f"{setting}={short(names)}: give a list of names.")]


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Refuse names that are not distinct texts."""
    names = name_list(names)
    if len(set(names)) < len(names):
        doubled = sorted(name for name, count in Counter(names).items() if count > 1)
        raise ColumnError(f"Column names must differ, but {listed(doubled)} is repeated: rename one of them.")
    check_text(names)
    return tuple(names)


FEW_INCOMPLETE = 0.02
"""Share of the rows up to which incomplete ones are left out unless the user decides."""


class RowCheck:
    """Passes on complete finite rows, counts the others, and refuses the table at the end if it has to.

    The columns behind the first `variables` are covariates. `incomplete` are the rows with missing values and all covariates, which are
    kept if `keep` says so: see `Incomplete`.
    """

    def __init__(self, names: tuple[str, ...], missing: Missing, keep: int = 0, variables: int | None = None) -> None:
        self.names = names
        self.variables = len(names) if variables is None else variables
        self.missing = missing
        self.rows = 0
        self.dropped = 0
        self.absent = np.zeros(len(names), np.int64)
        self.infinite = np.zeros(len(names), np.int64)
        self.partitions: list[int] = []  # of a table of Dask, those with such rows
        self.incomplete = Incomplete(self.variables, keep if self.estimating else 0)

    @property
    def estimating(self) -> bool:
        """Whether incomplete rows may be used."""
        return self.missing in ("auto", "em")

    @property
    def how(self) -> str:
        """What becomes of the incomplete rows, now that all have been seen: "em" or "drop"; "" if there are none."""
        if not self.dropped:
            return ""
        few = self.missing == "auto" and self.dropped <= FEW_INCOMPLETE * self.rows
        return "em" if self.estimating and self.incomplete.rows and not few else "drop"

    @property
    def usable(self) -> int:
        """The rows so far that can be used."""
        return self.rows - self.dropped + (self.incomplete.rows if self.how == "em" else 0)

    @property
    def holes(self) -> Holes | None:
        """Where values are missing; None where none is."""
        if not self.how:
            return None
        names, complete = self.names[: self.variables], self.rows - self.dropped
        return self.incomplete.found(names, complete, self.rows, self.how, unasked=self.missing == "auto")

    @classmethod
    def merged(cls, checks: Sequence[RowCheck]) -> RowCheck:
        """Return the check of all the rows that these have seen."""
        whole = cls(checks[0].names, checks[0].missing, variables=checks[0].variables)
        for one in checks:
            whole.rows += one.rows
            whole.dropped += one.dropped
            whole.absent += one.absent
            whole.infinite += one.infinite
            whole.partitions += one.partitions
        whole.incomplete = Incomplete.merged([one.incomplete for one in checks])
        return whole

    def note_partition(self, number: int) -> None:
        """Record that these rows are those of a partition."""
        self.partitions = [number] if self.infinite.any() or self.absent.any() else []

    def admit(self, block: Array) -> Array:
        """Return the complete rows of `block`."""
        return self.split(block)[0]

    def split(self, block: Array) -> tuple[Array, Array]:
        """Return the complete rows of `block`, and all rows that can be used, in their order."""
        self.rows += len(block)
        with np.errstate(over="ignore", invalid="ignore"):
            clean = bool(np.isfinite(block.sum()))
        if clean:
            return block, block
        absent = np.isnan(block)
        whole = np.asarray(~absent.any(axis=1))
        infinite = np.isinf(block)
        if not self.estimating:
            infinite &= whole[:, None]  # the other rows are not used, whatever they hold
        self.absent += absent.sum(axis=0)
        self.infinite += infinite.sum(axis=0)
        self.dropped += int(len(block) - whole.sum())
        finite = ~infinite.any(axis=1)
        p = self.variables
        known = finite & ~absent[:, :p].all(axis=1) & ~absent[:, p:].any(axis=1)
        self.incomplete.add(block[known & ~whole])
        complete = block[whole & finite]
        return complete, block[known] if self.estimating else complete

    def verdict(self, prefix: str = "") -> None:
        """Refuse infinite values, and missing ones where nothing else can be done; the sentence begins with `prefix`."""
        if self.infinite.any():
            raise NonFiniteError(
                f"{prefix}Infinite values in {self._counts(self.infinite)}{self._in_partitions()}: remove those rows or columns, or "
                "correct the values.",
                remedies=self._without(self.infinite),
            )
        if not self.dropped:
            return
        have = (
            f"{counted(self.dropped, 'row')} of {self.rows:,} {'has' if self.dropped == 1 else 'have'} missing values"
        )
        where = f"{self._counts(self.absent)}{self._in_partitions()}"
        if self.missing == "refuse":
            raise MissingValuesError(
                f"{prefix}{have}, in {where}: fill them in, leave those columns out, or use what these rows hold with missing='em' "
                "(--missing em), or drop them with missing='drop' (--missing drop).",
                remedies=[
                    Remedy("use what incomplete rows hold", {"missing": "em"}),
                    Remedy(f"leave out {counted(self.dropped, 'row')} with missing values", {"missing": "drop"}),
                    *self._without(self.absent),
                ],
            )
        if self.dropped == self.rows and self.how == "drop":
            raise MissingValuesError(
                f"{prefix}Every row has missing values, in {where}: use what they hold with missing='em' (--missing em), or leave those "
                "columns out (columns=…, --columns).",
                remedies=[
                    *([Remedy("use what incomplete rows hold", {"missing": "em"})] if self.incomplete.rows else []),
                    *self._without(self.absent),
                ],
            )

    def _without(self, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Remedy]:
        return without({self.names[j] for j in np.flatnonzero(counts)}, self.names)

    def _in_partitions(self) -> str:
        if not self.partitions:
            return ""
        numbers = joined([str(number) for number in self.partitions])
        return f", in partition{'s' if len(self.partitions) > 1 else ''} {numbers} (the first is 0)"

    def _counts(self, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
        return joined([f"{shown(self.names[j])} ({counted(int(counts[j]), 'row')})" for j in np.flatnonzero(counts)])


def least_squares_rows(p: int) -> int:
    """Return the rows that a regression on all other columns needs, to leave a residual to test."""
    return p + 2


def check_size(n: int, names: Sequence[str], least_rows: LeastRows = least_squares_rows, prefix: str = "") -> None:
    """Refuse a table with too few columns for a graph, or too few rows for its columns; `prefix` as in `RowCheck.verdict`."""
    p = len(names)
    if p == 0:
        raise DataError(f"{prefix}There are no columns: a graph needs at least two.")
    if n == 0:
        raise TooFewRowsError(f"{prefix}There are no rows: nothing can be learned from an empty table.")
    if p == 1:
        raise DataError(f"{prefix}There is only one column, {shown(names[0])}: a graph needs at least two.")
    if n < least_rows(p):
        most = max((q for q in range(2, p) if least_rows(q) <= n), default=0)
        fewer = f" or at most {most} of the columns (columns=…, --columns)" if most else ""
        sparse = ", or regress on few of them: method='cvs', variance='sparse' (--method cvs --variance sparse)"
        able = n >= FEW_ROWS and least_rows is least_squares_rows
        raise TooFewRowsError(
            f"{prefix}{counted(n, 'row')} and {p} variables: the tests need at least {least_rows(p)} rows. Use more rows{fewer}"
            f"{sparse if able else ''}."
        )


def check_variables(names: Sequence[str], columns: Sequence[ColumnRole], prefix: str = "") -> None:
    """Refuse a table of which too few variables are left because others were set aside."""
    aside = set_aside_sentence(columns, hints=False)
    if len(names) >= FEWEST_COLUMNS or not aside:
        return
    left = f"only {shown(names[0])} is left" if names else "none is left"
    found = [one for one in columns if one.role in ("time", "id") and one.is_number and one.name]
    able = [one.name for one in found if one.reason != "it numbers the rows"][: FEWEST_COLUMNS - len(names)]
    able = able if len(names) + len(able) >= FEWEST_COLUMNS else []
    role = dict.fromkeys(able, "variable")
    typed = " ".join(f"--role {shell_word(f'{name}=variable')}" for name in able)
    advice = f" To use {listed(able)} all the same: role={role!r} ({typed})." if able else ""
    remedies = (
        [Remedy(f"take {listed(able)} for {'a variable' if len(able) == 1 else 'variables'}", {"role": role})]
        if able
        else []
    )
    if not able and any(one.role == "category" for one in columns):
        advice = " Variables are columns of numbers: write ordered categories as numbers; others can be held fixed, or be causes."
    raise DataError(f"{prefix}A graph needs two variables, and {left}. {aside}.{advice}", remedies=remedies)


def check_adjusted(n: int, rank: int, left: Array, names: Sequence[str], fixed: str) -> None:
    """Refuse covariates that leave no rows, or nothing of a column; `left` is the share of each column's length that they leave."""
    if n - rank < 2:
        raise TooFewRowsError(
            f"Holding {fixed} fixed takes {counted(rank, 'row')} of {n:,}, and leaves too few to learn from: hold fixed what has fewer "
            "values.",
            ["adjust"],
        )
    gone = [name for name, share in zip(names, left, strict=True) if share <= EXPLAINED]
    if gone:
        raise ConstantColumnError(
            f"{listed(gone)} never {'changes' if len(gone) == 1 else 'change'} with {fixed} held fixed: leave out what follows from it "
            "(drop=…, --drop).",
            remedies=without(set(gone), names),
        )


def unchanging(n: int, mean: Array, spread: Array) -> Mask:
    """Return which columns have the same value in all rows, up to rounding; `spread` as in `check_moments`."""
    return np.asarray(spread <= np.sqrt(n) * 4 * EPSILON * np.abs(mean))


def check_moments(
    n: int,
    mean: Array,
    spread: Array,
    names: tuple[str, ...],
    least_rows: LeastRows = least_squares_rows,
    within: str = "",
) -> None:
    """Refuse moments with too few columns or rows, or with columns that do not vary; `spread` are the lengths of the centred columns.

    within: where columns vary, such as " within the clusters of site".
    """
    check_size(n, names, least_rows)
    large = [names[j] for j in np.flatnonzero(~(spread <= LARGEST))]
    if large:
        raise NonFiniteError(f"The values of {listed(large)} are too large to square in float64: use a larger unit.")
    if n > 1:
        constant = unchanging(n, mean, spread)
        if constant.any():
            which = [names[j] for j in np.flatnonzero(constant)]
            one = len(which) == 1
            barely = spread[constant].max() > 0.0
            digits = f", or {'changes' if one else 'change'} only in the last digits that float64 holds of {'it' if one else 'them'}"
            remedy = ", or subtract a constant first" if barely else ""
            where = f"{within}{digits if barely else ''}"
            raise ConstantColumnError(
                f"{'Column' if one else 'Columns'} {listed(which)} never {'changes' if one else 'change'}{where}: "
                f"leave out what does not vary (columns=…, --columns){remedy}.",
                remedies=without(set(which), names),
            )
        small = [names[j] for j in np.flatnonzero(spread < SMALLEST)]
        if small:
            raise UnderflowError(
                f"The values of {listed(small)} differ by so little (less than {SMALLEST:g}) that their squares vanish in "
                "float64: use a smaller unit, that is, multiply the column."
            )


def shaped(values: Any, what: str, *shape: int) -> Array:
    """Return the values as a float64 array, which must have this shape; a float64 array is not copied."""
    right = isinstance(values, np.ndarray) and values.dtype == np.float64
    array: Array = values if right else as_numbers(values, what)
    if array.shape != shape:
        raise ColumnError(f"{what} has shape {array.shape}; for {shape[0]} columns it is {shape}.")
    return array


def check_finite(mean: Array, values: Array, names: tuple[str, ...]) -> None:
    """Refuse a mean, or a root or variances, with an entry that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(mean.sum() + values.sum()):
            return
    finite = np.isfinite(mean) & np.isfinite(np.atleast_2d(values)).all(axis=0)
    wrong = [names[j] for j in np.flatnonzero(~finite)]
    if wrong:
        raise NonFiniteError(
            f"The moments of {listed(wrong)} are not finite numbers. If they come from rows, their values are too large to square in "
            "float64: use a larger unit."
        )


def is_triangle(R: Array) -> bool:
    """Return whether R is upper triangular; a large matrix is searched in the order of its entries, without a copy."""
    p = len(R)
    if p <= SMALL_MATRIX:
        return not np.tril(R, -1).any()
    columns = R.T if R.flags.f_contiguous else None
    return not any((R[k, :k] if columns is None else columns[k, k + 1 :]).any() for k in range(p))


def check_covariance(S: Array, names: Sequence[str]) -> None:
    """Refuse a matrix with infinite or missing entries, or one that is not symmetric."""
    if not np.isfinite(S).all():
        where = [names[j] for j in np.flatnonzero(~np.isfinite(S).all(axis=0)).tolist()]
        raise NonFiniteError(f"The covariance matrix has missing or infinite entries, at {listed(where)}.")
    spread = np.sqrt(np.abs(S.diagonal()))
    with np.errstate(over="ignore"):
        skew = np.abs(S - S.T) > 1e-8 * np.outer(spread, spread)
    if skew.any():
        i, j = (int(k) for k in np.argwhere(skew)[0])
        raise CovarianceError(
            f"The covariance matrix is not symmetric: {S[i, j]:g} at ({shown(names[i])}, {shown(names[j])}) "
            f"but {S[j, i]:g} at ({shown(names[j])}, {shown(names[i])})."
        )


def not_positive_definite(scatter: Array, names: tuple[str, ...]) -> CovarianceError:
    """Return the error for a scatter that has no Cholesky factor."""
    k = cholesky_until(scatter)[1]
    before = f" given {listed(names[: k - 1], 4)}" if k > 1 else ""
    return CovarianceError(
        f"The covariance matrix is not positive definite in float64: {shown(names[k - 1])} has no variance left{before}. "
        "Leave that column out, or give the rows instead of their covariances."
    )
