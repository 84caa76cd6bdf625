r"""`explain`: where odd rows come from: each variable's own error in a row, and what it adds to the deviation of a target.

In the fitted model a row deviates from the means by $x_t - \bar x_t = \sum_j T_{jt} e_j$, with the errors e of its equations and the total
effects T. The score of an error is exact for normal errors: for a row that the model was not fitted to,
$e_j / (s_j \sqrt{1 + h_j})$ is t with the equation's degrees of freedom, with h the leverage of the row; for one that it was fitted to,
$r_j = e_j / (s_j \sqrt{1 - h_j})$ gives $r_j \sqrt{(df - 1)/(df - r_j^2)}$, t with df − 1 (Cook & Weisberg 1982).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr
from scipy.stats import chi2

from ordag.common.arrays import Array
from ordag.common.checks import is_whole, short
from ordag.common.plain import frame, plain, records
from ordag.common.words import chance, counted, did_you_mean, joined, number, shown
from ordag.data.table import Table
from ordag.decisions.answer import Answer
from ordag.decisions.equations import Equation
from ordag.errors import ColumnError, GraphError, SettingError
from ordag.fit import Fit
from ordag.graph.dag import Dag

if TYPE_CHECKING:
    import pandas as pd

WORST = 10
"""Rows that are explained where none are named."""

BLOCK_ROWS = 1 << 16
"""Rows that are scored at a time."""

ODD = 0.01
"""The p-value of a row, or of an error in it, below which it is called odd."""


class Scorer:
    """The equations of a fit, to score rows with."""

    def __init__(self, fit: Fit, *, fitted: bool) -> None:
        if not isinstance(fit.graph, Dag):
            raise GraphError(
                f"The graph of this fit ({fit.method}) has edges without a direction: explain takes a DAG."
            )
        self.names, self.fitted = fit.names, fitted
        adjacency = fit.graph.adjacency
        self.parents = [np.flatnonzero(adjacency[:, j]) for j in range(fit.moments.p)]
        self.equations = [Equation.fitted(fit.moments, j, parents) for j, parents in enumerate(self.parents)]
        assert fit.sem is not None
        self.total = fit.sem.total_effects() + np.eye(fit.moments.p)
        self.mean = fit.moments.mean

    def errors(self, X: Array) -> tuple[Array, Array]:
        """Return the error of every equation in every row, and its score as a standard normal number."""
        errors, scores = np.empty(X.shape), np.empty(X.shape)
        for j, (equation, parents) in enumerate(zip(self.equations, self.parents, strict=True)):
            away = X[:, parents] - equation.parents
            e = X[:, j] - equation.mean - away @ equation.weights
            leverage = 1.0 / equation.rows + np.einsum("ri,ij,rj->r", away, equation.spread, away, optimize=True)
            s = np.sqrt(equation.variance)
            if self.fitted and equation.df > 1:
                r = e / (s * np.sqrt(np.maximum(1.0 - leverage, 1e-12)))
                t, df = r * np.sqrt((equation.df - 1) / np.maximum(equation.df - r * r, 1e-12)), equation.df - 1
            else:
                t, df = e / (s * np.sqrt(1.0 + leverage)), equation.df
            errors[:, j] = e
            scores[:, j] = -np.sign(t) * ndtri(np.maximum(stdtr(df, -np.abs(t)), 1e-300))
        return errors, scores

    def p_values(self, scores: Array) -> Array:
        """Return the p-value of every row: the sum of squared scores is χ² with as many degrees of freedom as variables."""
        return np.asarray(chi2.sf((scores**2).sum(axis=1), scores.shape[1]))


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Answer):
    """Rows, with the part that each equation has in them.

    rows: their numbers in the table, from 1. values: the rows. errors, scores: of every equation (`Scorer.errors`). p_values: of each row.
    contributions: what each variable's error adds to the deviation of the target from its mean; None without a target.
    scored: the number of rows looked at.
    """

    names: tuple[str, ...]
    rows: NDArray[np.int64]
    values: Array
    errors: Array
    scores: Array
    p_values: Array
    mean: Array
    scored: int
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

    @cached_property
    def table(self) -> pd.DataFrame:
        """`columns` as a data frame."""
        return frame(self.columns)

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
        if self.contributions is None or self.target is None:
            return said
        t = self.names.index(self.target)
        away = float(self.values[k, t] - self.mean[t])
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
        odd = int((self.p_values[known] < ODD / max(self.scored, 1)).sum())
        said = f"{odd:,} of {counted(self.scored, 'row')} {'is' if odd == 1 else 'are'} too odd for this model, after correction."
        if not known.any():
            return "No row without missing values."
        k = int(np.nanargmin(self.p_values))
        return f"{said} Row {self.rows[k]:,} ({chance(float(self.p_values[k]))}): {self.line(k)}."

    def to_dict(self) -> dict[str, Any]:
        """The whole answer in plain values."""
        return {
            "nodes": list(self.names),
            "scored": self.scored,
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
    if not isinstance(fit, Fit):
        raise SettingError(f"fit={short(fit)}: give what ordag.learn gave.")
    fit.at_one_time("explain")
    if not is_whole(worst, 1):
        raise SettingError(f"worst={short(worst)}: give a whole number from 1 on.")
    fit = fit.within_causes
    if target is not None and target not in fit.names:
        raise ColumnError(f"target={target!r} is not a variable of the fit.{did_you_mean(target, fit.names)}")
    numbers = _row_numbers(rows)
    if rows is not None and numbers is None:
        if data is not None:
            raise SettingError("rows, data: give row numbers with data, or a table of rows alone.")
        data = rows
    scorer = Scorer(fit, fitted=data is None)
    blocks = _blocks(fit, data, reading)
    kept = _Kept(scorer, None if data is not None and numbers is None and rows is not None else worst, numbers)
    for block in blocks:
        kept.add(block)
    return kept.explanation(target)


def _row_numbers(rows: Any) -> list[int] | None:
    """Return row numbers; None where there are none or a table is given."""
    if is_whole(rows, 1):
        return [int(rows)]
    if (
        isinstance(rows, Sequence | range)
        and not isinstance(rows, str)
        and len(rows)
        and all(is_whole(one, 1) for one in rows)
    ):
        return [int(one) for one in rows]
    return None


def _blocks(fit: Fit, data: Any, reading: dict[str, Any]) -> Iterable[Array]:
    if data is not None:
        held = [one.name for one in fit.moments.held]
        codes = [one.name for one in fit.moments.held if one.levels is not None]
        known = {"columns": list(fit.names), "transform": dict(fit.transform) or None, "adjust": held, **reading}
        known = {"category": codes, **known}
        table = Table(data, **known)
        if table.rows_source is None:
            raise SettingError("explain needs rows, and only moments were given.")
        return table.rows_source.batches(BLOCK_ROWS)
    if fit.profile is None or fit.profile.stride > 1 or fit.moments.dropped or len(fit.profile.rows) < fit.rows:
        raise SettingError("The fit does not keep all rows of its table: give data=… with the rows to explain.")
    return [fit.profile.rows]


class _Kept:
    """The rows to explain: those of given numbers, the oddest, or all; gathered block by block."""

    def __init__(self, scorer: Scorer, most: int | None, numbers: list[int] | None) -> None:
        self._scorer, self._most, self._numbers = scorer, most, numbers
        self._count = 0
        self._held: list[tuple[Array, ...]] = []

    def add(self, block: Array) -> None:
        X = np.asarray(block, dtype=np.float64)
        row = np.arange(self._count + 1, self._count + len(X) + 1, dtype=np.float64)
        if self._numbers is not None:
            chosen = np.isin(row, self._numbers)
            self._count += len(X)
            self._hold(X[chosen], row[chosen])
            return
        self._count += len(X)
        self._hold(X, row)
        if self._most is not None:
            values, rows, errors, scores, p_values = (np.concatenate(parts) for parts in zip(*self._held, strict=True))
            oddest = np.argsort(p_values, kind="stable")[: self._most]  # nan last
            self._held = [(values[oddest], rows[oddest], errors[oddest], scores[oddest], p_values[oddest])]

    def _hold(self, X: Array, row: Array) -> None:
        errors, scores = self._scorer.errors(X)
        self._held.append((np.array(X), row, errors, scores, self._scorer.p_values(scores)))

    def explanation(self, target: str | None) -> Explanation:
        if not self._held:
            raise SettingError("There are no rows to explain.")
        values, rows, errors, scores, p_values = (np.concatenate(parts) for parts in zip(*self._held, strict=True))
        beyond = [] if self._numbers is None else [one for one in self._numbers if one > self._count]
        if beyond:
            raise SettingError(f"rows: there is no row {beyond[0]:,}; the table has {counted(self._count, 'row')}.")
        scorer, contributions = self._scorer, None
        if target is not None:
            contributions = errors * scorer.total[:, scorer.names.index(target)]
        return Explanation(
            scorer.names,
            rows.astype(np.int64),
            values,
            errors,
            scores,
            p_values,
            scorer.mean,
            self._count,
            target,
            contributions,
        )
