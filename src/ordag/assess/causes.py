"""Evidence for arrows from categories: F tests, group means, and probabilities; and the total effect of a category."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ordag.common.arrays import Array
from ordag.common.plain import Document
from ordag.common.words import counted, did_you_mean, joined, listed, mean_digits, number, percent, probability, shown
from ordag.data.causes import BlockTest, Categories
from ordag.errors import ColumnError, SettingError
from ordag.graph.acyclic import reachable
from ordag.learners.found import Found
from ordag.model.effects import check_pair
from ordag.resampling.intervals import check_interval_level


@dataclass(frozen=True)
class CauseArrow:
    """An arrow from a category to a variable.

    `levels` of the category, sorted, each with its `rows` and the variable's mean there in `means`. `differences` are those from the first
    level with the other causes of the variable held fixed, `std_errors` theirs (0 and nan for the first). probability: nan without
    resamples.
    """

    source: str
    target: str
    test: BlockTest
    probability: float
    levels: tuple[str, ...]
    rows: tuple[int, ...]
    means: tuple[float, ...]
    differences: tuple[float, ...]
    std_errors: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the arrow in plain values."""
        said = {"source": self.source, "target": self.target, "f": self.test.statistic, "df": self.test.columns}
        said |= {"residual_df": self.test.rows, "p_value": self.test.p_value}
        if not math.isnan(self.probability):
            said["probability"] = self.probability
        said |= {"means": list(self.means), "differences": list(self.differences)}
        return said | {"std_errors": [None if math.isnan(one) else one for one in self.std_errors]}


def cause_arrows(found: Found) -> list[CauseArrow]:
    """Return the arrows from categories, those of one category together, by the place of their targets in the order."""
    causes = found.causes
    if causes is None:
        return []
    position = np.argsort(found.column_order) if found.column_order is not None else np.arange(len(found.names))
    return [
        cause_arrow(found, c, j) for c, j in sorted(causes.ends, key=lambda ends: (ends[0], int(position[ends[1]])))
    ]


def cause_arrow(found: Found, c: int, j: int) -> CauseArrow:
    """Return the arrow from category c to variable j, which the graph need not have."""
    causes = found.causes
    assert causes is not None
    categories = causes.categories
    means = categories.means(c, j)
    rank = level_ranks(means.levels)
    parents = np.flatnonzero(found.graph.adjacency[:, j]).tolist()
    chosen = sorted({c, *np.flatnonzero(causes.arrows[:, j]).tolist()})
    differences, errors = differences_between(categories, c, j, parents, chosen)
    chances = None if found.probabilities is None else found.probabilities.causes
    return CauseArrow(
        causes.names[c],
        found.names[j],
        causes.test(c, j, found.graph, found.column_order),
        math.nan if chances is None else float(chances[c, j]),
        tuple(means.levels[k] for k in rank),
        tuple(round(float(means.shares[k]) * found.rows) for k in rank),
        tuple(float(means.means[k]) for k in rank),
        tuple(differences[rank].tolist()),
        tuple(errors[rank].tolist()),
    )


def differences_between(
    categories: Categories, c: int, j: int, parents: list[int], chosen: list[int], first: str | None = None
) -> tuple[Array, Array]:
    """Return the differences of variable j between the levels of a category and one of them, by default the first sorted, and their errors.

    They are those of the equation of j with these parents and categories.
    """
    levels = categories.root.covariates[c].levels or ()
    columns, coefficients, covariance = categories.effects(j, parents, chosen)
    start = sum(len(other.columns) for other in categories.root.covariates[:c])
    A = np.zeros((len(levels), len(columns)))
    for k, column in enumerate(columns):
        if start <= column < start + len(levels) - 1:
            A[column - start + 1, k] = 1.0
    base = level_ranks(levels)[0] if first is None else levels.index(first)
    A = A - A[base]
    errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", A, covariance, A), 0.0))
    errors[base] = np.nan
    return A @ coefficients, errors


def level_ranks(levels: tuple[str, ...] | list[str] | Any) -> list[int]:
    """Return the positions of levels sorted: as numbers where all of them are, else as text."""

    def as_number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return math.nan

    numbers = [as_number(one) for one in levels]
    keys: list[Any] = list(levels) if any(map(math.isnan, numbers)) else numbers
    return sorted(range(len(keys)), key=keys.__getitem__)


def cause_columns(found: Found, names: list[str], found_support: Array | None = None) -> dict[str, Any]:
    """Return the columns of `Fit.edges` for the arrows from categories; `names` are the other columns present."""
    every = cause_arrows(found)
    blank = np.full(len(every), np.nan)
    said: dict[str, Any] = dict.fromkeys(names, blank)
    said |= {"source": [one.source for one in every], "target": [one.target for one in every]}
    said |= {"p_value": np.array([one.test.p_value for one in every], float), "reason": ["knowledge"] * len(every)}
    if "probability" in names:
        chances = np.array([one.probability for one in every], float)
        said |= {"probability": chances, "edge_probability": chances, "hidden_cause": np.zeros(len(every), dtype=bool)}
    if found_support is not None and "support" in names:
        assert found.causes is not None
        ends = [(found.causes.names.index(one.source), found.names.index(one.target)) for one in every]
        shares = np.array([found_support[c, j] for c, j in ends], float)
        said |= {"support": shares, "adjacency_support": shares, "direction_support": np.where(shares > 0, 1.0, np.nan)}
    return {name: said[name] for name in names}


def group_effect(
    fit: Found, source: str, target: str, level: float = 0.95, *, reference: str | None = None
) -> GroupEffect:
    """Return the differences of a variable between the groups of a category that may be a cause, by all ways together.

    reference: the group that the others are compared with; the first, sorted, if not given.
    """
    check_interval_level(level)
    causes = fit.causes
    if causes is None or source not in causes.names:
        able = "this fit has none: name some with cause=[…] (--cause)" if causes is None else listed(causes.names)
        raise SettingError(f"source={source!r} is no category that may be a cause; {able}.", ["source", "cause"])
    if target in causes.names:
        raise SettingError(f"target={target!r} is a category, which has no causes in the graph: name a variable.")
    if target not in fit.names:
        check_pair(target, target, fit.names)
    categories, c, j = causes.categories, causes.names.index(source), fit.names.index(target)
    levels = categories.root.covariates[c].levels or ()
    if reference is not None and reference not in levels:
        hint = did_you_mean(reference, levels)
        raise ColumnError(f"{source!r} has no value {reference!r}.{hint} Its values are {listed(levels)}.")
    every = list(range(len(causes.names)))
    rank = level_ranks(levels)
    differences, errors = differences_between(categories, c, j, [], every, reference)
    test = categories.test(c, j, [], every)
    means = categories.means(c, j)
    margin = float(stdtrit(max(test.rows, 1), 0.5 + level / 2.0)) * np.nan_to_num(errors)
    return GroupEffect(
        source,
        target,
        level,
        levels[rank[0]] if reference is None else reference,
        tuple(levels[k] for k in rank),
        tuple(round(float(means.shares[k]) * fit.rows) for k in rank),
        tuple(float(means.means[k]) for k in rank),
        tuple(differences[rank].tolist()),
        tuple((differences - margin)[rank].tolist()),
        tuple((differences + margin)[rank].tolist()),
        test.statistic,
        test.columns,
        test.rows,
        test.p_value,
        tuple(name for name in causes.names if name != source),
        bool(reachable(fit.whole_graph.links, len(fit.names) + c)[j]),
        _share_of_paths(fit, c, j),
    )


def _share_of_paths(fit: Found, c: int, j: int) -> float:
    """Return the share of the graphs drawn for the resamples that have a path from the category."""
    if fit.posterior is None or fit.probabilities is None:
        return math.nan
    found = []
    graphs = zip(fit.posterior.graphs(fit.sample), fit.posterior.causes(fit.sample), strict=True)
    for graph, arrows in graphs:
        reached, new = arrows[c].copy(), arrows[c]
        while new.any():
            new = graph[new].any(axis=0) & ~reached
            reached |= new
        found.append(bool(reached[j]))
    return float(np.mean(found)) if found else math.nan


@dataclass(frozen=True)
class GroupEffect(Document):
    r"""Differences of a variable between the groups of a category and one of them, with intervals.

    A category of the graph has no causes, so nothing has to be held fixed to see what it does by all ways together, but for the `other`
    categories that may be causes, which may go along with it. `differences` are those from the `reference`, with `low` and `high` at
    `level`; f, df, residual_df and p_value those of the test that all groups are alike. `path_found`: whether the graph has a directed
    path. `probability`: the share of resamples whose graph has one, nan where there are none.
    """

    source: str
    target: str
    level: float
    reference: str
    groups: tuple[str, ...]
    rows: tuple[int, ...]
    means: tuple[float, ...]
    differences: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    f: float
    df: int
    residual_df: int
    p_value: float
    other: tuple[str, ...]
    path_found: bool
    probability: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in plain values."""
        groups = [
            {"group": name, "rows": rows, "mean": mean, "difference": difference, "low": low, "high": high}
            for name, rows, mean, difference, low, high in zip(
                self.groups, self.rows, self.means, self.differences, self.low, self.high, strict=True
            )
        ]
        said = {"source": self.source, "target": self.target, "level": self.level, "reference": self.reference}
        said |= {"groups": groups, "f": self.f, "df": self.df, "residual_df": self.residual_df}
        said |= {"p_value": self.p_value, "held_fixed": list(self.other), "path_found": self.path_found}
        return said if math.isnan(self.probability) else said | {"probability": self.probability}

    def __str__(self) -> str:
        beside = f", with {joined(list(map(shown, self.other)))} held fixed" if self.other else ""
        lines = [
            f"Total effect of {shown(self.source)} on {shown(self.target)}: differences from {shown(self.reference)}{beside}"
        ]
        every = zip(self.groups, self.rows, self.means, self.differences, self.low, self.high, strict=True)
        digits = mean_digits(self.means)
        for name, rows, mean, difference, low, high in every:
            said = f"  {shown(name)}: mean {number(mean, digits)} of {counted(rows, 'row')}"
            if name != self.reference:
                apart = f"{'+' if difference > 0 else ''}{number(difference, digits)}"
                said += f", {apart} ({percent(self.level)} interval {number(low, digits)} to {number(high, digits)})"
            lines.append(said)
        chance = probability(self.p_value)
        p_value = f"p {chance}" if chance.startswith("<") else f"p = {chance}"
        test = f"F({self.df}, {self.residual_df}) = {number(self.f, 3)}, {p_value}"
        lines.append(f"  all groups alike: {test}")
        lines.append(
            f"  The graph has {'a' if self.path_found else 'no'} path from {shown(self.source)} to {shown(self.target)}"
            + ("." if math.isnan(self.probability) else f"; {percent(self.probability)} of the resamples have one.")
        )
        lines.append(
            "  Groups that were not assigned at random can differ in what the table does not have: then these are differences, "
            "and not effects."
        )
        return "\n".join(lines)
