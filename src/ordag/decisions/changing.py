"""`changes`: which equations of a graph differ between two tables, and which of them explain the change of a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import Seed
from ordag.common.linalg import triangle, wishart_root
from ordag.common.plain import frame, plain, records
from ordag.common.words import counted, joined, listed, number, shown
from ordag.data.moments import Moments
from ordag.data.reading import split_reading
from ordag.data.table import Table
from ordag.decisions.answer import Answer
from ordag.decisions.claims import holm
from ordag.decisions.equations import EXACT_UP_TO, FEW_ORDERS, Difference, Equation, Model, compare, shapley, unchanging
from ordag.decisions.given_graph import any_dag, checked_level, given_graph
from ordag.decisions.two_groups import two_groups
from ordag.errors import ColumnError, SettingError
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.graph.graph import arrow
from ordag.learners.methods import check_settings, settings_for

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

DRAWS = 200
"""Resamples of both tables for the intervals of the shares of equations."""

MOST_ARROWS = 8
"""Arrows of a learned graph that a note lists."""

PARTS = ("weights", "level", "variance")


@dataclass(frozen=True, eq=False, repr=False)
class Changes(Answer):
    """The equations of one graph in two tables.

    differences: the tests of every variable's equation. corrected: the p-values of weights, level and variance, a row for each variable,
    corrected for their number (Holm). names: what the two groups of rows are called. target: the variable whose change is explained; for
    the mean and the variance: `before`, `after`, `values` (Shapley values of its ancestors' equations and its own) and `low`, `high`
    (95 % intervals). learned: whether the graph was learned from the tables. left_out: columns that one of the tables
    lacks, or that never change in it. dropped: rows left out for missing values.
    """

    graph: Dag
    before: tuple[Equation, ...]
    after: tuple[Equation, ...]
    differences: tuple[Difference, ...]
    corrected: Array
    level: float
    rows: tuple[int, int]
    names: tuple[str, str] = ("before", "after")
    target: str | None = None
    explained: dict[str, dict[str, Any]] | None = None
    learned: bool = False
    left_out: tuple[str, ...] = ()
    dropped: int = 0

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns of `equations`."""
        names = self.graph.nodes
        worst = np.argsort(np.nanmin(self.corrected, axis=1), kind="stable").tolist()
        found: dict[str, list[Any]] = {"variable": [names[j] for j in worst]}
        found["parents"] = [list(self.graph.parents(names[j])) for j in worst]
        found["changed"] = [self.changed(j) for j in worst]
        for k, part in enumerate(PARTS):
            found[f"p_{part}"] = plain(np.array([self.differences[j][k] for j in worst]))
            found[f"corrected_{part}"] = plain(self.corrected[worst, k])
        found["level_before"] = [self.differences[j].level_before for j in worst]
        found["level_after"] = [self.differences[j].level_after for j in worst]
        for when, equations in (("before", self.before), ("after", self.after)):
            found[f"weights_{when}"] = [plain(equations[j].weights) for j in worst]
            found[f"error_sd_{when}"] = [float(np.sqrt(equations[j].variance)) for j in worst]
        return found

    @cached_property
    def equations(self) -> pd.DataFrame:
        """One row per variable, those that changed most surely first."""
        return frame(self.columns)

    def changed(self, j: int) -> list[str]:
        """Return which parts of an equation differ: weights, level, variance."""
        return [part for part, p_value in zip(PARTS, self.corrected[j], strict=True) if p_value < self.level]

    @property
    def changed_variables(self) -> tuple[str, ...]:
        """The variables whose equation differs."""
        return tuple(name for j, name in enumerate(self.graph.nodes) if self.changed(j))

    @property
    def sentence(self) -> str:
        """Which equations differ and, for a target, what its change comes from."""
        names, columns = self.changed_variables, self.columns
        if not names:
            said = f"No equation differs between the tables, as far as {self.rows[0]:,} and {self.rows[1]:,} rows can tell."
        else:
            both = zip(columns["variable"], columns["changed"], strict=True)
            words = [f"{shown(name)} ({joined(parts)})" for name, parts in both if parts]
            which = f"{counted(len(names), 'equation')} of {len(self.graph.nodes)}"
            said = f"{which} {'differs' if len(names) == 1 else 'differ'}: {joined(words, 6)}."
        if self.target is not None and self.explained is not None:
            mean = self.explained["mean"]
            away = mean["after"] - mean["before"]
            said += f" The mean of {shown(self.target)} goes from {number(mean['before'])} to {number(mean['after'])}"
            sure = [
                k for k, name in enumerate(mean["variable"]) if name in names and mean["low"][k] * mean["high"][k] > 0.0
            ]
            parts = sorted(sure, key=lambda k: -abs(mean["values"][k]))
            told = [f"{number(mean['values'][k], 3)} by the equation of {shown(mean['variable'][k])}" for k in parts]
            said += f": {joined(told, 3)}." if told and away else "."
        return said

    @property
    def notes(self) -> list[str]:
        """What the reader should know beside the verdict."""
        arrows = joined([arrow(edge) for edge in self.graph.directed], MOST_ARROWS) or "no arrow"
        learned = f"The graph was learned from both tables: {arrows}. With another one other equations differ; graph=… (--graph) takes it."
        return [
            *(
                [f"Left out, as one of the tables lacks them or has one value only: {listed(self.left_out)}."]
                if self.left_out
                else []
            ),
            *([f"Left out for missing values: {counted(self.dropped, 'row')}."] if self.dropped else []),
            *([learned] if self.learned else []),
            "Level: the expected value with the parents at their mean over both tables. P-values are corrected for their number (Holm).",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer in plain values."""
        return {
            "rows": list(self.rows),
            "groups": list(self.names),
            "learned": self.learned,
            "left_out": list(self.left_out),
            "dropped": self.dropped,
            "nodes": list(self.graph.nodes),
            "arrows": [list(edge) for edge in self.graph.directed],
            "level": self.level,
            "sentence": self.sentence,
            "changed": list(self.changed_variables),
            "equations": records(self.columns),
            "target": self.target,
            "explained": self.explained,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what each equation adds to the change of the target; without a target, which parts of every equation differ."""
        from ordag.show.plots import chart
        from ordag.show.plots.decisions import changes

        return chart(lambda axes: changes(self, axes), ax)


def changes(
    before: Any,
    after: Any = None,
    graph: Any = None,
    *,
    by: str | None = None,
    values: Sequence[Any] | None = None,
    target: str | None = None,
    level: float = 0.05,
    method: str = "auto",
    seed: Seed = 0,
    **settings: Any,
) -> Changes:
    """Say which equations differ between two tables of the same variables, and what explains the change of a target.

    before, after: tables, as for `ordag.learn`, or fits; with `by`, one table.
    by: the column that says which rows to compare. values: two of its values, each also the beginning of dates ("2025-05") or a range
        ("1990..1995"), or one to hold against all others; not needed if it has two values, or dates in two months or two years.
    graph: as for `ordag.test`; without one, it is learned from both tables together, each with its own means.
    target: the variable whose change of mean and variance is shared out among the equations.
    level: of the tests, which are corrected for their number. seed: of the intervals.
    method, settings: of learning, and of reading the tables.

    >>> import ordag
    >>> rows = ordag.simulate("er2", p=4, n=500, seed=1).X
    >>> ordag.changes(rows, rows * 2, method="cvs").changed_variables
    ('X1', 'X2', 'X3', 'X4')
    """
    level = checked_level(level)
    reading, chosen = split_reading(settings)
    check_settings(method, chosen)
    if reading.get("lags"):
        raise SettingError(
            "lags: equations with earlier values are not compared between tables: leave lags out.", ["lags"]
        )
    known = None if graph is None else any_dag(given_graph(graph).graph)
    wanted = {} if known is None else {"columns": list(known.nodes)}
    names, left_out = ("before", "after"), list[str]()
    if by is None:
        if after is None or values is not None:
            raise SettingError(
                "Give a second table, or with by=… (--by) the column of one table that says which rows to compare."
            )
        first, second = (
            one.within_causes.moments if isinstance(one, Fit) else Table(one, **{**wanted, **reading}).moments
            for one in (before, after)
        )
        dropped = first.dropped + second.dropped
    else:
        if after is not None or isinstance(before, Fit):
            raise SettingError("by: give one table, and the column of it that says which rows to compare.")
        first, second, names, left_out, dropped = two_groups(before, by, values, **{**wanted, **reading})
    if known is None:
        common = [name for name in first.names if name in set(second.names)]
        if len(common) < 2:
            shared = f"only the column {listed(common)}" if common else "no column"
            raise ColumnError(f"The tables share {shared}: a graph needs two columns that both have.")
        never = {*unchanging(first), *unchanging(second)}
        common = [name for name in common if name not in never]
        left_out += [name for name in dict.fromkeys((*first.names, *second.names)) if name not in common]
        first, second = first.select(common), second.select(common)
        known = _learned(first, second, method, chosen)
    else:
        first, second = first.select(known.nodes), second.select(known.nodes)
    if target in left_out:
        raise ColumnError(f"target={target!r}: one of the tables lacks it, or it never changes in one.")
    parents = [np.flatnonzero(known.adjacency[:, j]) for j in range(first.p)]
    fitted = [tuple(Equation.fitted(one, j, parents[j]) for j in range(one.p)) for one in (first, second)]
    differences = tuple(compare(*pair) for pair in zip(fitted[0], fitted[1], strict=True))
    p_values = np.array([one[:3] for one in differences])
    explained = None
    if target is not None:
        known.index(target)
        explained = _explained(known, target, first, second, np.random.default_rng(seed))
    corrected = holm(p_values.ravel()).reshape(p_values.shape)
    rows = (first.rows, second.rows)
    return Changes(
        known,
        fitted[0],
        fitted[1],
        differences,
        corrected,
        level,
        rows,
        names,
        target,
        explained,
        learned=graph is None,
        left_out=tuple(left_out),
        dropped=dropped,
    )


def _learned(first: Moments, second: Moments, method: str, settings: dict[str, Any]) -> Dag:
    """Learn a graph from the rows of both tables, each less its own means."""
    R = triangle(np.concatenate([first.R, second.R]))
    mean = (first.n * first.mean + second.n * second.mean) / (first.n + second.n)
    table = Table(Moments(first.n + second.n - 1, mean, first.names, R=R, squared=first.squared or second.squared))
    return any_dag(Fit.learned(table, settings_for(table, method, settings)).graph)


def _explained(
    graph: Dag, target: str, first: Moments, second: Moments, random: np.random.Generator
) -> dict[str, dict[str, Any]]:
    """Share the change of a target's mean and variance out among the equations, with intervals from resamples of both tables."""
    above = {*graph.ancestors(target), target}
    names = [name for name in graph.topological_order() if name in above and name != target] + [target]
    columns = [graph.index(name) for name in names]
    where = {j: k for k, j in enumerate(columns)}
    parents = [np.flatnonzero(graph.adjacency[:, j]) for j in columns]

    def model(moments: Moments) -> Model:
        B, found = np.zeros((len(names),) * 2), []
        for k, j in enumerate(columns):
            equation = Equation.fitted(moments, j, parents[k])
            B[[where[i] for i in parents[k].tolist()], k] = equation.weights
            found.append(equation)
        return Model(B, np.array([one.intercept for one in found]), np.array([one.variance for one in found]))

    models = model(first), model(second)
    values = shapley(models[0], models[1], random)
    count = DRAWS if len(names) <= EXACT_UP_TO else DRAWS // 4
    draws = [
        shapley(model(_resampled(first, random)), model(_resampled(second, random)), random, FEW_ORDERS)
        for _ in range(count)
    ]
    ends = [_target_moments(one) for one in models]
    explained = {}
    for k, what in enumerate(("mean", "variance")):
        low, high = np.percentile([draw[k] for draw in draws], [2.5, 97.5], axis=0, method="weibull")
        # percentiles of draws about the estimate, turned round it
        explained[what] = {
            "before": ends[0][k],
            "after": ends[1][k],
            "variable": names,
            "values": plain(values[k]),
            "low": plain(2.0 * values[k] - high),
            "high": plain(2.0 * values[k] - low),
        }
    return explained


def _target_moments(model: Model) -> tuple[float, float]:
    total = np.linalg.inv(np.eye(len(model.omega)) - model.B)[:, -1]
    return float(model.intercepts @ total), float(model.omega @ total**2)


def _resampled(moments: Moments, random: np.random.Generator) -> Moments:
    """Return the moments of as many Gaussian rows with these moments."""
    n, p = moments.n, moments.p
    A = wishart_root(n, p, random)
    root = triangle(np.asarray(A @ moments.R) / np.sqrt(n - 1.0))
    mean = moments.mean + random.standard_normal(p) @ moments.R / np.sqrt((n - 1.0) * n)
    return Moments(n, mean, moments.names, R=root)
