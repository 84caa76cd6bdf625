"""`explain`: where odd rows come from: each variable's own error in a row, and what it adds to the deviation of a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ordag.common.arrays import Array, Indices
from ordag.common.checks import LARGEST, is_whole, short
from ordag.common.plain import Tabular, plain, records
from ordag.common.words import chance, counted, did_you_mean, joined, listed, number, shown
from ordag.decisions.answer import Answer
from ordag.decisions.given_graph import checked_fit
from ordag.decisions.row_scores import Scorer, other_rows, own_rows
from ordag.errors import ColumnError, SettingError
from ordag.fit import Fit

WORST = 10
"""Rows that are explained where none are named."""

ODD = 0.01
"""The p-value of a row, or of an error in it, below which it is called odd."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Answer, Tabular):
    """Rows, with the part that each equation has in them.

    rows: their numbers in the table, from 1. values: the rows. errors, scores: of every equation (`Scorer.errors`), the scores nan where a
    variable was acted on. p_values: of each row. mean: what each row deviates from. contributions: what each variable's error adds to the
    deviation of the target from its mean; None without a target.
    scored: the number of rows looked at, and odd: of those that are too odd, after correction; None where only named rows were looked at.
    """

    names: tuple[str, ...]
    rows: NDArray[np.int64]
    values: Array
    errors: Array
    scores: Array
    p_values: Array
    mean: Array
    scored: int
    odd: int | None
    target: str | None = None
    contributions: Array | None = None

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """One entry per row and variable: value, error, score, and what the error adds to the target."""
        count, p = self.values.shape
        found: dict[str, list[Any]] = {
            "row": np.repeat(self.rows, p).tolist(),
            "p_row": plain(np.repeat(self.p_values, p)),
            "variable": list(self.names) * count,
            "value": plain(self.values.ravel()),
            "error": plain(self.errors.ravel()),
            "score": plain(self.scores.ravel()),
        }
        if self.contributions is not None:
            found["contribution"] = plain(self.contributions.ravel())
        return found

    def line(self, k: int) -> str:
        """Say where one row comes from, in a sentence."""
        if np.isnan(self.p_values[k]):
            return "has missing values"
        by_size = np.argsort(-np.abs(self.scores[k]))
        odd = [j for j in by_size.tolist() if abs(self.scores[k, j]) > -ndtri(ODD / 2.0)][:3]
        words = [
            f"{shown(self.names[j])} is {number(abs(self.errors[k, j]), 3)} {'above' if self.errors[k, j] > 0 else 'below'} its equation "
            f"({number(abs(self.scores[k, j]), 2)} s.d.)"
            for j in odd
        ]
        said = f"{joined(words)}" if words else "no equation is odd by itself"
        acted = [name for name, score in zip(self.names, self.scores[k], strict=True) if np.isnan(score)]
        if acted:
            said += f"; {listed(acted)} {'was' if len(acted) == 1 else 'were'} acted on and {'is' if len(acted) == 1 else 'are'} not judged"
        if self.contributions is None or self.target is None:
            return said
        t = self.names.index(self.target)
        away = float(self.values[k, t] - self.mean[k, t])
        most = np.argsort(-np.abs(self.contributions[k]))[:3].tolist()
        parts = [
            f"{number(self.contributions[k, j], 3)} from {shown(self.names[j])}"
            for j in most
            if self.contributions[k, j]
        ]
        return f"{shown(self.target)} is {number(abs(away), 3)} {'above' if away > 0 else 'below'} its mean: {joined(parts)}; {said}"

    @property
    def sentence(self) -> str:
        """How many rows are odd, and the oddest."""
        known = ~np.isnan(self.p_values)
        if not known.any():
            return "Rows with missing values are not explained, and these all have some."
        said = ""
        if self.odd is not None:
            are = "is" if self.odd < 2 else "are"
            count = f"{self.odd:,} of {counted(self.scored, 'row')}" if self.odd else f"No row of {self.scored:,}"
            said = f"{count} {are} too odd for this model, after correction. "
        k = int(np.nanargmin(self.p_values))
        return f"{said}Row {self.rows[k]:,} ({chance(float(self.p_values[k]))}): {self.line(k)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer in plain values."""
        return {
            "nodes": list(self.names),
            "scored": self.scored,
            "odd": self.odd,
            "target": self.target,
            "sentence": self.sentence,
            "rows": [
                {"row": int(row), "p_value": plain(float(p_value)), "sentence": self.line(k)}
                for k, (row, p_value) in enumerate(zip(self.rows, self.p_values, strict=True))
            ],
            "errors": records(self.columns),
        }


def explain(
    fit: Fit, rows: Any = None, *, data: Any = None, target: str | None = None, worst: int = WORST, **reading: Any
) -> Explanation:
    """Say where odd rows come from: the error of each equation and, for a target, what it adds to its deviation.

    fit: a fit with a DAG.
    rows: row numbers, from 1; without them, the `worst` rows are explained. Or a table of other rows, which are then all explained.
    data: the table that the row numbers are of, as for `ordag.learn`, if the fit was not learned from it; by default the rows that the fit
        keeps.
    target: the variable whose deviation from its mean is shared out. reading: how to read the table.

    >>> import ordag
    >>> found = ordag.explain(ordag.learn("marks"), [81], target="statistics")
    >>> found.rows.tolist()
    [81]
    """
    checked_fit(fit).at_one_time("explain")
    if not is_whole(worst, 1):
        raise SettingError(f"worst={short(worst)}: give a whole number from 1 on.")
    fit = fit.within_causes
    if target is not None and target not in fit.names:
        raise ColumnError(
            f"The fit has no variable {target!r} (target=…, --target).{did_you_mean(target, fit.names)} It has {listed(fit.names)}."
        )
    numbers = _row_numbers(rows)
    if rows is not None and numbers is None:
        if data is not None:
            raise SettingError("rows, data: give row numbers with data, or a table of rows alone.")
        data = rows
    scorer = Scorer(fit, fitted=data is None)
    kept = _Kept(scorer, None if data is not None and numbers is None and rows is not None else worst, numbers)
    for block, condition in own_rows(fit, scorer) if data is None else other_rows(fit, data, reading):
        kept.add(block, condition)
    return kept.explanation(target)


def _row_numbers(rows: Any) -> list[int] | None:
    """Return row numbers; None where there are none or a table is given."""
    if is_whole(rows, 1):
        return [int(rows)]
    if not isinstance(rows, Sequence | range) or isinstance(rows, str) or not len(rows):
        return None
    if not all(is_whole(one, -LARGEST) for one in rows):
        return None
    if min(rows) < 1:
        raise SettingError(f"There is no row {min(rows):,}: the first is row 1.")
    return [int(one) for one in rows]


class _Kept:
    """The rows to explain: those of given numbers, the oddest, or all; gathered block by block."""

    def __init__(self, scorer: Scorer, most: int | None, numbers: list[int] | None) -> None:
        self._scorer, self._most, self._numbers = scorer, most, numbers
        self._count = 0
        self._small: list[Array] = []  # p-values of which some may be too small
        self._batches: list[tuple[NDArray[Any], ...]] = []

    def add(self, block: Array, condition: Indices) -> None:
        X = np.asarray(block, dtype=np.float64)
        row = np.arange(self._count + 1, self._count + len(X) + 1, dtype=np.float64)
        self._count += len(X)
        if self._numbers is not None:
            chosen = np.isin(row, self._numbers)
            self._hold(X[chosen], row[chosen], condition[chosen])
            return
        self._hold(X, row, condition)
        if self._most is not None:
            parts = [np.concatenate(each) for each in zip(*self._batches, strict=True)]
            oddest = np.argsort(parts[-1], kind="stable")[: self._most]  # nan last
            self._batches = [tuple(part[oddest] for part in parts)]

    def _hold(self, X: Array, row: Array, condition: Indices) -> None:
        errors, scores = self._scorer.errors(X, condition)
        p_values = self._scorer.p_values(scores, np.asarray(np.isnan(X).any(axis=1)))
        self._small.append(p_values[p_values < ODD])
        self._batches.append((np.array(X), row, condition, errors, scores, p_values))

    def explanation(self, target: str | None) -> Explanation:
        if not self._batches:
            raise SettingError("There are no rows to explain.")
        values, rows, condition, errors, scores, p_values = (
            np.concatenate(one) for one in zip(*self._batches, strict=True)
        )
        beyond = [] if self._numbers is None else [one for one in self._numbers if one > self._count]
        if beyond:
            raise SettingError(f"There is no row {beyond[0]:,}: the table has {counted(self._count, 'row')}.")
        scorer, contributions = self._scorer, None
        if target is not None:
            contributions = scorer.contributions(errors, condition, scorer.names.index(target))
        return Explanation(
            scorer.names,
            rows.astype(np.int64),
            values,
            errors,
            scores,
            p_values,
            scorer.means[condition],
            self._count,
            None if self._numbers is not None else int((np.concatenate(self._small) < ODD / self._count).sum()),
            target,
            contributions,
        )
