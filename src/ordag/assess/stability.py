"""Check how many arrows remain under changes of units, transformations, the direction of ordering, and without a few rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.assess.finding import Finding, Level, at_most_look, unchecked
from ordag.assess.influence import distances, tail
from ordag.common.arrays import Array, Indices, Mask
from ordag.common.linalg import lengths, triangle
from ordag.common.words import chance, counted, share
from ordag.data.labels import RowLabels
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.data.table_checks import least_squares_rows
from ordag.errors import PrecisionWarning, SettingError
from ordag.graph.acyclic import topological_order
from ordag.graph.cpdag import to_cpdag
from ordag.graph.dag import Dag
from ordag.learners.found import Found
from ordag.learners.methods import learn_from
from ordag.learners.pooled.method import placed_groups
from ordag.learners.settings import MethodSettings
from ordag.resampling.labelled import LabelledResampler

QUICK_ESTIMATORS = ("robust", "shrinkage")
"""Estimators that need rows and are fast."""


class Survival(NamedTuple):
    """The shares of arrows that another graph keeps, reverses or lacks."""

    kept: float
    turned: float
    lost: float

    @property
    def level(self) -> Level:
        """Return "fine" from 90 % on, and "warning" below 80 %."""
        return "fine" if self.kept >= 0.9 else "look" if self.kept >= 0.8 else "warning"


@dataclass(frozen=True)
class Baseline:
    """A fit with its columns in the learned order.

    Where columns tie, the earlier one goes first: in this order nothing depends on how the columns of the table happen to
    stand.
    """

    fit: Found
    order: NDArray[np.intp]
    moments: Moments
    arrows: Mask
    rows: Array | None = None
    """The rows, with columns in the learned order, if there are any."""
    labels: RowLabels | None = None
    """What the rows are, where they have conditions."""
    arbitrary: Mask | None = None
    """The arrows that may as well point the other way: where no error variances are compared, those that the class leaves open."""

    @classmethod
    def of(cls, fit: Found, rows: Array | None = None, labels: RowLabels | None = None) -> Baseline:
        """Put the columns of a fit and of its rows into the learned order."""
        order = np.array(fit.column_order or topological_order(fit.graph.adjacency))
        given = fit.moments
        R = triangle(given.R[:, order]) if fit.factor is None else fit.factor.L.T
        names = [fit.names[j] for j in order]
        moments = Moments(
            given.n,
            given.mean[order],
            names,
            R=np.asfortranarray(R),
            squared=given.squared,
            adjusted_for=given.adjusted_for,
        )
        if given.conditions:
            moments = given.select(names)
        in_line = None if rows is None else rows[:, order]
        within = labels if given.conditions and not any(one.root.covariates for one in given.conditions) else None
        best, arbitrary = fit.best_graph, None
        if isinstance(best, Dag) and fit.result.by_probabilities and not fit.result.compares_variances:
            either = to_cpdag(best).adjacency
            arbitrary = (best.adjacency & either & either.T)[np.ix_(order, order)]
        return cls(fit, order, moments, best.adjacency[np.ix_(order, order)], in_line, within, arbitrary)

    @property
    def count(self) -> int:
        return int(self.arrows.sum())

    def scaled(self, factors: Array) -> Table:
        """Return the table with every column multiplied by its factor."""
        if self.fit.method_settings.needs_rows:
            variance = self.fit.settings.get("variance")
            if variance not in QUICK_ESTIMATORS or self.rows is None:
                raise SettingError(
                    f"not available with {f'variance={variance!r}' if variance else 'this test'}: it learns from the rows dozens of times."
                )
            return self.table_of(self.rows * factors)
        return Table(self.moments.scaled(factors))

    def table_of(self, rows: Array, stay: Indices | None = None) -> Table:
        """Return a table of other rows of the same columns, or of those of them that stay."""
        names = self.moments.names
        if self.labels is not None and not self.fit.method_settings.needs_rows:
            counts = np.ones(len(rows)) if stay is None else np.isin(np.arange(len(rows)), stay).astype(np.float64)
            return Table(LabelledResampler(self.moments, rows, self.labels).weighted(counts))
        rows = rows if stay is None else rows[stay]
        if self.fit.method_settings.needs_rows:
            return Table.of_rows(names, rows, self.fit.moments)
        return Table(Moments.from_rows(rows, names).counted_like(self.fit.moments))

    def rescaled(self, factors: Array) -> Mask:
        """Return the arrows learned with the same settings after every column is multiplied by its factor."""
        return self.learn(self.scaled(factors)).graph.adjacency

    def learn(self, table: Table, settings: MethodSettings | None = None) -> Found:
        """Learn with the same settings, or with others, from another table of the same columns."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)
            return learn_from(table, settings or self.fit.method_settings.alone())

    def compare(self, other: Mask) -> Survival:
        """Compare the arrows with those of another graph of the same columns; all are kept if there are none.

        Arbitrary arrows are kept whichever way they point.
        """
        if not self.count:
            return Survival(1.0, 0.0, 0.0)
        same, reverse = self.arrows & other, self.arrows & other.T
        if self.arbitrary is not None:
            same, reverse = same | (reverse & self.arbitrary), reverse & ~self.arbitrary
        kept, turned = int(same.sum()) / self.count, int(reverse.sum()) / self.count
        return Survival(kept, turned, max(0.0, 1.0 - kept - turned))


def agreement(place: Array, values: Array) -> float:
    """Return Kendall's tau; values that agree to 9 digits are ties."""
    later = np.sign(place[:, None] - place[None, :])
    difference = values[:, None] - values[None, :]
    scale = np.maximum(np.abs(values)[:, None], np.abs(values)[None, :])
    higher = np.where(np.abs(difference) <= 1e-9 * scale, 0.0, np.sign(difference))
    p = len(place)
    return float((later * higher).sum() / (p * (p - 1)))


def average(changes: list[Survival]) -> Survival:
    return Survival(*(float(value) for value in np.mean(changes, axis=0)))


STARTS = 20
NO_ARROWS = "There are no arrows to change."


def standardising_finding(baseline: Baseline, *, same_units: bool, tested: bool, starts: int = STARTS) -> Finding:
    """Report the arrows that remain, on average, after dividing every column by its standard deviation.

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
    """Report the arrows that remain, on average, after multiplying every column (or group of columns) by a random factor.

    The factors are log-uniform on [0.1, 10], one for each group, drawn in the learned order.
    """
    member = unit_groups(baseline.moments.names, groups)
    if member.max() == 0:
        numbers = {**average([Survival(1.0, 0.0, 0.0)])._asdict(), "least": 1.0, "draws": 0}
        return Finding(
            "units", "fine", "All columns share one unit, as you declared, so there are no units to change.", numbers
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
    """Report the arrows that remain after taking logarithms of all positive columns."""
    positive = (rows > 0).all(axis=0)
    numbers = {"columns": [baseline.moments.names[j] for j in np.flatnonzero(positive).tolist()]}
    if not positive.any():
        sentence = "No column is positive throughout, so there is no logarithm to try."
        return Finding("logarithms", "fine", sentence, {**Survival(1.0, 0.0, 0.0)._asdict(), **numbers})
    changed = rows.copy()
    changed[:, positive] = np.log(changed[:, positive])
    kept = baseline.compare(baseline.learn(baseline.table_of(changed)).graph.adjacency)
    which = "of all columns" if positive.all() else f"of the {counted(int(positive.sum()), 'positive column')}"
    return _survival("logarithms", baseline, kept, f"taking logarithms {which}", False, tested, numbers)


def backward_finding(baseline: Baseline) -> Finding:
    """Report whether finding effects first gives the same order and arrows as finding causes first."""
    settings = baseline.fit.method_settings
    other_way = settings.reversed()
    if isinstance(other_way, str):
        return unchecked("backward", other_way)
    if baseline.moments.n < least_squares_rows(baseline.moments.p):
        return unchecked("backward", "takes more rows than variables.")
    if baseline.fit.ordering is None:
        return unchecked("backward", "not available with experiments.")
    forward = baseline.fit.settings["direction"] == "forward"
    other = baseline.learn(baseline.scaled(np.ones(len(baseline.order))), other_way)
    positions = np.argsort(other.known_ordering.order).astype(np.float64)
    tau = agreement(np.arange(len(positions), dtype=np.float64), positions)
    kept = baseline.compare(other.graph.adjacency)
    first, second = ("effects", "causes") if forward else ("causes", "effects")
    sentence = (
        f"Choosing {first} first instead of {second} keeps {share(kept.kept)} of the arrows (Kendall's tau {tau:.2f})."
    )
    return Finding("backward", kept.level, sentence, {**kept._asdict(), "tau": tau})


def unit_groups(names: Sequence[str], groups: Sequence[Sequence[str]] | None) -> NDArray[np.intp]:
    """Number the groups of columns by first appearance; a column in no group is a group by itself."""
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
    which = " of the best single graph" if baseline.fit.best_graph != baseline.fit.graph else ""
    sentence = f"{share(kept.kept)} of the {counted(baseline.count, 'arrow')}{which} survive {words}, {share(kept.turned)} reverse"
    if same_units and level != "fine":
        return Finding(
            key, "look", f"{sentence}; only a note, because you declared that the units are the same.", numbers
        )
    if level == "warning":
        on = "the transformation of the columns" if key == "logarithms" else "the units"
        sentence += f": the arrows depend on {on}"
    elif tested and level == "look":
        sentence += "; equal error variances speak for the columns as they are"
    return Finding(key, level, f"{sentence}.", numbers)


def influence_finding(baseline: Baseline, rows: Array, alpha: float) -> Finding:
    """Report outlying rows (Bonferroni over rows), and the arrows learned without the most distant 1 %."""
    n, p = rows.shape
    d2 = distances(rows)
    outside = int((tail(d2, n, p) * n < alpha).sum())
    p_value = min(1.0, float(tail(d2.max(), n, p)) * n)
    left_out = math.ceil(n / 100)
    stay = np.sort(np.argsort(d2, kind="stable")[: n - left_out])
    kept = baseline.compare(baseline.learn(baseline.table_of(rows, stay)).graph.adjacency)
    total = float(d2[d2 >= np.partition(d2, n - left_out)[n - left_out]].sum() / d2.sum())
    numbers = {
        "outside": outside,
        "largest": float(d2.max()),
        "p_value": p_value,
        "left_out": left_out,
        "weight": total,
        **kept._asdict(),
    }
    rest = f"without the {counted(left_out, 'row')} farthest out {share(kept.kept)} of the arrows remain"
    level = kept.level if kept.level != "fine" or not outside else "look"
    if not outside and level != "fine":
        rest = f"{rest[0].upper()}{rest[1:]}, although no row lies farther out than Gaussian rows would ({chance(p_value)})"
        return Finding("influence", level, f"{rest}.", numbers)
    if not outside:
        return Finding("influence", level, f"No row lies too far out ({chance(p_value)}); {rest}.", numbers)
    which = f"{counted(outside, 'row')} {'lies' if outside == 1 else 'lie'}"
    return Finding("influence", level, f"{which} farther out than Gaussian rows would; {rest}.", numbers)
