"""`EnvironmentChanges`: which equations of a graph differ between the environments of a table, and in what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.bits import members, packed_columns
from ordag.common.plain import Tabular, plain, records
from ordag.common.words import counted, joined, shown
from ordag.data.environments import SHARED, SPARE, Environments
from ordag.data.moments import Moments
from ordag.data.scatter import merge_roots
from ordag.decisions.claims import holm
from ordag.decisions.equations import Equation, compare
from ordag.errors import DataError
from ordag.graph.dag import Dag
from ordag.learners.pooled.environments import Changed

if TYPE_CHECKING:
    from ordag.fit import Fit

PARTS = ("weights", "level", "variance")

LEVEL = 0.05
"""The level of the tests, which are corrected for their number."""

APART = 3.0
"""Standard errors from the median beyond which the level of an environment is not one of those that others are compared with."""

MOST_LEFT_OUT = 12
"""Environments up to which each is compared with the others alone; beyond, with all of them."""


FEWEST_ERRORS = 20
"""Errors of an environment from which their kurtosis counts."""


class Compared(NamedTuple):
    """The equation of a variable in one environment, and in those that share one.

    p_values: of weights, level and variance. scale: the error variance there over the shared one.
    """

    variable: int
    environment: int
    p_values: tuple[float, float, float]
    shift: float
    scale: float
    own: Array
    shared: Array


@dataclass(frozen=True, eq=False, repr=False)
class EnvironmentChanges(Tabular):
    """The equations of a graph in every environment, compared with those that environments share.

    compared: one for each variable and environment that can be compared. corrected: the p-values of weights, level and variance, a row
    for each, corrected for the number of all (Holm). rows: of every environment.
    """

    graph: Dag
    labels: tuple[str, ...]
    rows: tuple[int, ...]
    compared: tuple[Compared, ...]
    corrected: Array
    level: float = LEVEL

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns of `table`: a row per variable and environment, those that changed most surely first, in their level alone after
        others."""
        least = np.where(np.isnan(self.corrected), np.inf, self.corrected).min(axis=1, initial=np.inf)
        level_alone = np.array([self.changed(k) == ["level"] for k in range(len(self.compared))], dtype=bool)
        first = [int(k) for k in np.lexsort((least, level_alone, least >= self.level))]
        each, names = [self.compared[k] for k in first], self.graph.nodes
        found: dict[str, list[Any]] = {
            "variable": [names[one.variable] for one in each],
            "environment": [self.labels[one.environment] for one in each],
            "changed": [self.changed(k) for k in first],
        }
        for at, part in enumerate(PARTS):
            found[f"p_{part}"] = plain(np.array([one.p_values[at] for one in each]))
            found[f"corrected_{part}"] = plain(self.corrected[first, at])
        found["level_shift"] = plain(np.array([one.shift for one in each]))
        found["variance_ratio"] = plain(np.array([one.scale for one in each]))
        found["parents"] = [list(self.graph.parents(names[one.variable])) for one in each]
        found["weights"] = [plain(one.own) for one in each]
        found["weights_shared"] = [plain(one.shared) for one in each]
        return found

    def changed(self, k: int) -> list[str]:
        """Return which parts of the k-th comparison differ: weights, level, variance."""
        return [part for part, p_value in zip(PARTS, self.corrected[k], strict=True) if p_value < self.level]

    @cached_property
    def found(self) -> list[dict[str, Any]]:
        """The rows of `table` in which something differs."""
        return [one for one in records(self.columns) if one["changed"]]

    @property
    def sentence(self) -> str:
        """Which equations differ where."""
        count = len(self.labels)
        equations: dict[str, list[str]] = {}
        for one in self.found:
            if one["changed"] != ["level"]:
                equations.setdefault(one["variable"], []).append(one["environment"])
        levels = list(dict.fromkeys(one["variable"] for one in self.found if "level" in one["changed"]))
        if not equations and not levels:
            return f"No equation differs between the {counted(count, 'environment')}, as far as these rows can tell"
        said = []
        if equations:
            where = [f"{shown(name)} in {joined([shown(one) for one in own], 3)}" for name, own in equations.items()]
            which = f"{counted(len(equations), 'equation')} of {len(self.graph.nodes)}"
            said.append(f"{which} {'differs' if len(equations) == 1 else 'differ'}: {'; '.join(where[:6])}")
            if len(where) > 6:
                said[0] += f"; {len(where) - 6} more"
        if levels:
            alone = (
                ""
                if equations
                else "Weights and error variances are the same in all environments as far as these rows can tell; "
            )
            said.append(f"{alone}the level differs of {joined([shown(name) for name in levels], 6)}")
        return "; ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Return what differs, in plain values."""
        return {
            "environments": [
                {"label": label, "rows": rows} for label, rows in zip(self.labels, self.rows, strict=True)
            ],
            "level": self.level,
            "compared": len(self.compared),
            "sentence": f"{self.sentence}.",
            "changed": self.found,
        }

    def __repr__(self) -> str:
        return self.sentence


def environment_changes(fit: Fit) -> EnvironmentChanges | None:
    """Compare every equation of a fit in every environment with those that share one; None without environments, or for a Cpdag."""
    environments = Environments.of(fit.moments)
    if environments is None or not isinstance(fit.graph, Dag):
        return None
    changed, masks = Changed(environments), packed_columns(fit.graph.adjacency)
    levels = (
        not fit.moments.adjusted_for
        and fit.moments.clusters is None
        and not any(one.adjusted_for for one in environments.each)
    )
    rows = _rows_of(fit, len(environments.each))
    compared = tuple(
        one
        for j, mask in enumerate(masks)
        for one in _compared(environments, rows, j, members(mask), changed.equation(j, mask).states == SHARED, levels)
    )
    p_values = np.array([one.p_values for one in compared]).reshape(-1, len(PARTS))
    corrected = holm(p_values.ravel()).reshape(p_values.shape)
    used = tuple(one.root.used for one in fit.moments.conditions)
    return EnvironmentChanges(fit.graph, environments.labels, used, compared, corrected)


def _rows_of(fit: Fit, count: int) -> list[Array]:
    """Return a sample of the rows of every environment, about their means; none where there are moments alone."""
    profile = None if fit.profile is None else fit.profile.complete
    labels = None if profile is None else profile.labels
    if profile is None or labels is None or labels.condition is None:
        return []
    parts = [profile.rows[labels.condition == c] for c in range(count)]
    return [part - part.mean(axis=0) if len(part) else part for part in parts]


def _kurtosis(rows: Sequence[Array], fitted: Sequence[Equation | None], j: int, parents: Indices) -> float:
    """Return the excess kurtosis of the errors of variable j, each over their standard deviation in their environment."""
    errors = [part[:, j] - part[:, parents] @ one.weights for part, one in zip(rows, fitted, strict=bool(rows)) if one]
    unit = [e / np.sqrt(np.mean(e * e)) for e in errors if len(e) >= FEWEST_ERRORS and e.any()]
    return float(np.mean(np.concatenate(unit) ** 4)) - 3.0 if unit else 0.0


def _compared(
    environments: Environments, rows: Sequence[Array], j: int, parents: list[int], sharing: Mask, levels: bool
) -> list[Compared]:
    """Return the comparisons of variable j's equation in every environment with that of those that share one."""
    each, place = environments.each, np.array(parents, np.intp)
    count, few = len(each), len(parents) + SPARE
    fitted = [None if environments.left_out[c, j] else _fitted(each[c], j, place, few) for c in range(count)]
    alike = [c for c in range(count) if sharing[c] and fitted[c] is not None]
    if not alike:
        return []
    usual = _usual_levels(fitted, alike) if levels else []
    kurtosis = _kurtosis(rows, fitted, j, place)
    found = []
    for c in range(count):
        here = fitted[c]
        others = [k for k in alike if k != c or count > MOST_LEFT_OUT]
        if here is None or not others or not environments.free[c]:
            continue
        if len([k for k in range(count) if fitted[k] is not None]) == 2 and c == alike[0]:
            continue  # of two, one is compared with the other
        reference = _fitted(environments.sharing(others), j, place, few)
        if reference is None:
            continue
        tested = compare(reference, here, kurtosis)
        p_level, shift = np.nan, np.nan
        level_of = [k for k in usual if k != c]
        if level_of:
            base = _fitted(_merged([each[k] for k in level_of]), j, place, few)
            if base is not None:
                by_level = compare(base, here)
                p_level, shift = by_level.level, by_level.level_after - by_level.level_before
        p_values = (tested.weights, float(p_level), tested.variance)
        found.append(
            Compared(j, c, p_values, shift, here.variance / reference.variance, here.weights, reference.weights)
        )
    return found


def _fitted(moments: Moments, j: int, parents: Indices, few: int) -> Equation | None:
    """Fit an equation, if there are the rows for it and no column follows from the others."""
    try:
        return Equation.fitted(moments, j, parents) if moments.n > few else None
    except DataError:
        return None


def _usual_levels(fitted: Sequence[Equation | None], alike: list[int]) -> list[int]:
    """Return the environments with the level of most rows: within three standard errors of the median, by their own weights."""
    equations = [one for one in (fitted[c] for c in alike) if one is not None]
    rows = np.array([one.rows for one in equations], dtype=float)
    middle = rows @ np.stack([one.parents for one in equations]) / rows.sum()
    values = np.array([one.level_at(middle) for one in equations])
    order = values[:, 0].argsort()
    median = values[order[np.searchsorted(np.cumsum(rows[order]), rows.sum() / 2.0)], 0]
    near = np.abs(values[:, 0] - median) <= APART * np.sqrt(values[:, 1])
    return [c for c, one in zip(alike, near, strict=True) if one]


def _merged(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all rows about one mean."""
    if len(parts) == 1:
        return parts[0]
    n, mean, R = merge_roots([(one.n, one.mean, one.R) for one in parts])
    return Moments(n, mean, parts[0].names, R=R)
