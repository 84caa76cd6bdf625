"""Evidence for arrows from categories: F tests, group means, and probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.data.causes import BlockTest, Categories
from ordag.learners.found import Found


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
    places = np.argsort(found.places) if found.places is not None else np.arange(len(found.names))
    return [cause_arrow(found, c, j) for c, j in sorted(causes.ends, key=lambda ends: (ends[0], int(places[ends[1]])))]


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
        causes.test(c, j, found.graph, found.places),
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
    """Return the places of levels sorted: as numbers where all of them are, else as text."""

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
