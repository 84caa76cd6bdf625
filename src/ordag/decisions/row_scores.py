r"""`Scorer`: the error of every equation in rows, and how odd it is; and the rows, those of a fit or others, block by block.

In the fitted model a row deviates from the means by $x_t - \bar x_t = \sum_j T_{jt} e_j$, with the errors e of its equations and the total
effects T. The score of an error is exact for normal errors: for a row that the model was not fitted to,
$e_j / (s_j \sqrt{1 + h_j})$ is t with the equation's degrees of freedom, with h the leverage of the row; for one that it was fitted to,
$r_j = e_j / (s_j \sqrt{1 - h_j})$ gives $r_j \sqrt{(df - 1)/(df - r_j^2)}$, t with df − 1 (Cook & Weisberg 1982).

Rows of experiments and environments deviate from the means of their condition. A variable that was acted on has no equation there: all
of its deviation is its own, it is not judged, and nothing from above it passes through it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtr
from scipy.stats import chi2

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.words import listed
from ordag.data.equations import LEFT_OUT, is_untouched
from ordag.data.table import Table
from ordag.decisions.equations import Equation
from ordag.decisions.given_graph import reading_of
from ordag.errors import ColumnError, GraphError, SettingError
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.model.sem import LinearSEM

CONDITION_COLUMNS = ("experiment", "environment")
BLOCK_ROWS = 1 << 16
"""Rows that are scored at a time."""


class Scorer:
    """The equations of a fit, to score rows with."""

    def __init__(self, fit: Fit, *, fitted: bool) -> None:
        if not isinstance(fit.graph, Dag):
            raise GraphError(
                f"The graph of this fit ({fit.method}) has edges without a direction: explain takes a DAG."
            )
        self.names, self.fitted = fit.names, fitted
        adjacency, moments, given = fit.graph.adjacency, fit.moments, fit.equations
        self.parents = [np.flatnonzero(adjacency[:, j]) for j in range(moments.p)]
        own = [moments if given is None else given.of_variable(j) for j in range(moments.p)]
        self.equations = [Equation.fitted(one, j, self.parents[j]) for j, one in enumerate(own)]
        assert fit.sem is not None
        B, self.acted = fit.sem.B, np.zeros((1, moments.p), dtype=bool)
        self.means, self.sizes = moments.mean[None, :], None
        if given is not None:
            self.acted = (given.groups[list(given.which)] == LEFT_OUT).T
            self.means = np.array([one.root.mean for one in moments.conditions])
            self.sizes = np.array([one.root.used for one in moments.conditions])
        self.totals = [LinearSEM(np.where(acted, 0.0, B)).total_effects() + np.eye(moments.p) for acted in self.acted]

    def errors(self, X: Array, condition: Indices | None = None) -> tuple[Array, Array]:
        """Return the error of every equation in every row, and its score as a standard normal number, nan where it is not judged."""
        errors, scores = np.empty(X.shape), np.empty(X.shape)
        away_from = X - self.means[0 if condition is None else condition]
        for j, (equation, parents) in enumerate(zip(self.equations, self.parents, strict=True)):
            away = away_from[:, parents]
            e = away_from[:, j] - away @ equation.weights
            rows = equation.rows if self.sizes is None or condition is None else self.sizes[condition]
            leverage = 1.0 / rows + np.einsum("ri,ij,rj->r", away, equation.spread, away, optimize=True)
            s = np.sqrt(equation.variance)
            if self.fitted and equation.df > 1:
                r = e / (s * np.sqrt(np.maximum(1.0 - leverage, 1e-12)))
                t, df = r * np.sqrt((equation.df - 1) / np.maximum(equation.df - r * r, 1e-12)), equation.df - 1
            else:
                t, df = e / (s * np.sqrt(1.0 + leverage)), equation.df
            errors[:, j] = e
            scores[:, j] = -np.sign(t) * ndtri(np.maximum(stdtr(df, -np.abs(t)), 1e-300))
            if condition is not None:
                acted = self.acted[condition, j]
                errors[acted, j], scores[acted, j] = away_from[acted, j], np.nan
        return errors, scores

    def p_values(self, scores: Array, missing: Mask | None = None) -> Array:
        """Return the p-value of every row, nan if missing: the sum of squares is χ² with a degree of freedom for every score."""
        known = ~np.isnan(scores)
        found = np.asarray(chi2.sf((np.where(known, scores, 0.0) ** 2).sum(axis=1), np.maximum(known.sum(axis=1), 1)))
        return np.where(np.isnan(scores).any(axis=1) if missing is None else missing, np.nan, found)

    def contributions(self, errors: Array, condition: Indices, t: int) -> Array:
        """Return what each error adds to the deviation of variable t."""
        return np.asarray(errors * np.array([total[:, t] for total in self.totals])[condition])


def own_rows(fit: Fit, scorer: Scorer) -> Iterator[tuple[Array, Indices]]:
    """Yield the rows that the fit keeps, with the places of their conditions."""
    if fit.profile is None or fit.profile.stride > 1 or fit.moments.dropped or len(fit.profile.rows) < fit.rows:
        raise SettingError("The fit does not keep all rows of its table: give data=… with the rows to explain.")
    X, labels = fit.profile.rows, fit.profile.labels
    condition = np.zeros(len(X), dtype=np.intp)
    if fit.equations is not None and labels is not None and labels.condition is not None:  # rows are about their means
        condition = labels.condition
        X = X - fit.moments.mean + scorer.means[condition]
    yield X, condition


def other_rows(fit: Fit, data: Any, reading: dict[str, Any]) -> Iterator[tuple[Array, Indices]]:
    """Yield the rows of a table, with the places of their conditions."""
    known = {**reading_of(fit), "transform": dict(fit.transform) or None, **reading}
    table, p = _with_conditions(fit, data, known), len(fit.names)
    labels = table.row_labels
    if table.source is None:
        raise SettingError("explain needs rows, and only moments were given.")
    if fit.equations is None or labels is None or labels.condition is None or fit.moments.adjusted_for:
        place = _untouched(fit)
        source = table.rows_source
        assert source is not None
        for block in source.batches(BLOCK_ROWS):
            yield block[:, :p], np.full(len(block), place, dtype=np.intp)
        return
    names = fit.equations.labels
    for block in table.source.batches(BLOCK_ROWS):
        levels = labels.levels(labels.condition)  # known once their rows are read
        unknown = [one for one in levels if one not in names]
        if unknown:
            raise ColumnError(f"The fit has no rows of {listed(unknown)}: its conditions are {listed(names)}.")
        found = labels.of(block).condition
        assert found is not None
        yield block[:, :p], np.array([names.index(one) for one in levels], dtype=np.intp)[found]


def _with_conditions(fit: Fit, data: Any, known: dict[str, Any]) -> Table:
    """Open a table, with the conditions of its rows in the column that the fit has them from, if the table has that column."""
    given = next(((one.role, one.name) for one in fit.columns if one.role in CONDITION_COLUMNS), None)
    if given is not None and not known["adjust"] and not any(name in known for name in CONDITION_COLUMNS):
        try:
            return Table(data, **{**known, given[0]: given[1]})
        except ColumnError:  # the table may lack that column
            pass
    return Table(data, **known)


def _untouched(fit: Fit) -> int:
    """Return the place of the condition that rows without one are of: where nothing was acted on."""
    if fit.equations is None:
        return 0
    if fit.moments.adjusted_for:
        raise SettingError(
            "data: other rows of experiments or environments are not explained with adjust: leave one of the two out of the fit."
        )
    found = [c for c, label in enumerate(fit.equations.labels) if is_untouched(label)]
    if not found:
        raise SettingError(
            f"data: the rows of this fit are of {listed(fit.equations.labels)}, so name the column that says which each row is of: "
            "experiment=… or environment=… (--experiment, --environment)."
        )
    return found[0]
