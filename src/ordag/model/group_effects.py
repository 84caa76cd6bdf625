"""The total effect of a category on a variable: differences between the means of its groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ordag.common.plain import Document
from ordag.common.words import counted, joined, mean_digits, number, percent, probability, shown


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
