"""Which arrows survive a change that should not matter to a cause: units, standardising, logarithms, the way of ordering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.data.table_checks import least_squares_rows
from ordag.diagnosis.baseline import Baseline, Survival, agreement, average
from ordag.evidence.finding import Finding, Level, at_most_look, unchecked
from ordag.learners.cvs import CvsSettings
from ordag.learners.pooled.method import placed_groups
from ordag.linalg import lengths
from ordag.words import counted, share

STARTS = 20
NO_ARROWS = "There are no arrows that could change."


def standardising_finding(baseline: Baseline, *, same_units: bool, tested: bool, starts: int = STARTS) -> Finding:
    """What is left, on average, after dividing every column by its standard deviation.

    All columns then tie for the first place, so each of them in turn goes first (of many columns, so many `starts` spread evenly
    over the learned order): without scales, nothing says which one it should be.
    """
    factors = np.sqrt(baseline.moments.n - 1.0) / lengths(baseline.moments.R)
    p = len(factors)
    changes = []
    for first in np.unique(np.linspace(0, p - 1, min(p, starts)).round().astype(int)).tolist():
        nudged = factors.copy()
        nudged[first] *= 1.0 - 1e-6
        changes.append(baseline.compare(baseline.rescaled(nudged)))
    words = "standardising the columns"
    if len(changes) < min(p, STARTS):
        words += f" (average of {len(changes)})"
    return _survival("standardising", baseline, average(changes), words, same_units, tested, {"draws": len(changes)})


def units_finding(
    baseline: Baseline, *, seed: int, draws: int, groups: Sequence[Sequence[str]] | None, same_units: bool, tested: bool
) -> Finding:
    """What is left, on average, when the unit of every column (or group of columns) is multiplied by a random factor.

    The factors are log-uniform on [0.1, 10], one for each group, drawn in the learned order.
    """
    member = unit_groups(baseline.moments.names, groups)
    if member.max() == 0:
        numbers = {**average([Survival(1.0, 0.0, 0.0)])._asdict(), "least": 1.0, "draws": 0}
        return Finding(
            "units", "fine", "All columns share one unit, as you say: there are no units to change.", numbers
        )
    random = np.random.default_rng(seed)
    changes = []
    for _ in range(draws):
        factors = 10.0 ** random.uniform(-1.0, 1.0, int(member.max()) + 1)
        changes.append(baseline.compare(baseline.rescaled(factors[member])))
    words = f"a random change of units (average of {draws})"
    least = {"least": min(change.kept for change in changes), "draws": draws}
    return _survival("units", baseline, average(changes), words, same_units, tested, least)


def logarithms_finding(baseline: Baseline, rows: Array, *, tested: bool) -> Finding:
    """What is left when the columns that are positive throughout are replaced by their logarithms."""
    positive = (rows > 0).all(axis=0)
    numbers = {"columns": [baseline.moments.names[j] for j in np.flatnonzero(positive).tolist()]}
    if not positive.any():
        sentence = "No column is positive throughout, so there is no logarithm to try."
        return Finding("logarithms", "fine", sentence, {**Survival(1.0, 0.0, 0.0)._asdict(), **numbers})
    changed = rows.copy()
    changed[:, positive] = np.log(changed[:, positive])
    kept = baseline.compare(baseline.again(baseline.table_of(changed)).graph.adjacency)
    which = "of all columns" if positive.all() else f"of the {counted(int(positive.sum()), 'positive column')}"
    return _survival("logarithms", baseline, kept, f"taking logarithms {which}", False, tested, numbers)


def backward_finding(baseline: Baseline) -> Finding:
    """Does finding effects first give the same order and arrows as finding causes first?"""
    recipe = baseline.fit.recipe
    if not isinstance(recipe, CvsSettings):
        return unchecked("backward", f"{recipe.name} does not choose an order step by step.")
    if recipe.variance not in (None, "auto", "least-squares"):
        variance = baseline.fit.settings["variance"]
        return unchecked("backward", f"not available with variance={variance!r}, which chooses causes first only.")
    if baseline.moments.n < least_squares_rows(baseline.moments.p):
        return unchecked("backward", "takes more rows than variables.")
    forward = recipe.direction == "forward"
    other = baseline.again(
        baseline.scaled(np.ones(len(baseline.order))), direction="backward" if forward else "forward"
    )
    assert other.ordering is not None
    places = np.argsort(other.ordering.order).astype(np.float64)
    tau = agreement(np.arange(len(places), dtype=np.float64), places)
    kept = baseline.compare(other.graph.adjacency)
    first, second = ("effects", "causes") if forward else ("causes", "effects")
    sentence = (
        f"Choosing {first} first instead of {second} keeps {share(kept.kept)} of the arrows (Kendall's tau {tau:.2f})."
    )
    return Finding("backward", kept.level, sentence, {**kept._asdict(), "tau": tau})


def unit_groups(names: Sequence[str], groups: Sequence[Sequence[str]] | None) -> NDArray[np.intp]:
    """The number of each column's group, counted by first appearance; a column in no group is one by itself."""
    lists = [] if groups is None else placed_groups(groups, names)
    of = {names[j]: index for index, group in enumerate(lists) for j in group}
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(of.get(name, name), len(numbers)) for name in names], dtype=np.intp)


def _survival(
    key: str,
    baseline: Baseline,
    kept: Survival,
    words: str,
    same_units: bool,
    tested: bool,
    more: Mapping[str, object] | None = None,
) -> Finding:
    numbers = {**kept._asdict(), **(more or {})}
    if not baseline.count:
        return Finding(key, "fine", NO_ARROWS, numbers)
    level: Level = at_most_look(kept.level, tested)
    sentence = (
        f"{share(kept.kept)} of the {counted(baseline.count, 'arrow')} survive {words}, {share(kept.turned)} turn round"
    )
    if same_units and level != "fine":
        return Finding(key, "look", f"{sentence}; a note only, as you say that the units are the same.", numbers)
    if level == "warning":
        on = "the transformation of the columns" if key == "logarithms" else "the units"
        sentence += f": the arrows depend on {on}"
    elif tested and level == "look":
        sentence += "; equal error variances speak for the columns as they are"
    return Finding(key, level, f"{sentence}.", numbers)
