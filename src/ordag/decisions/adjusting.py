"""`adjust`: what to hold fixed to estimate the effect of one variable on another, and what the estimates are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ordag.common.checks import as_list
from ordag.common.plain import plain
from ordag.common.words import listed, share, shown
from ordag.data.moments import Moments
from ordag.decisions.answer import Answer
from ordag.decisions.given_graph import at_one_time, given_graph, table_of
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.graph.adjustment import MOST_SETS, Adjustment
from ordag.graph.dag import Dag
from ordag.model.sensitivity import Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SURE = 0.5
"""The share of the drawn graphs in which a set is valid, below which it is said to be unsure."""


class Estimate(NamedTuple):
    """The coefficient of the cause in the regression of the target on it and on `given`, with a 95 % interval.

    robustness: how strong a hidden common cause would have to be (`ordag.model.refit.robustness_value`). valid: the share of the graphs
    drawn for resamples of the rows in which the set is valid; nan where there are none.
    """

    given: tuple[str, ...]
    effect: float
    std_error: float
    low: float
    high: float
    robustness: float
    valid: float


@dataclass(frozen=True, eq=False, repr=False)
class AdjustmentAnswer(Answer):
    """What a graph says of estimating an effect, with estimates where there is a table.

    rule: the sets of variables by the graph alone. estimates: one for each set to hold fixed, the optimal one first; of a class in which
    no set is valid, one for each set of parents that the cause may have (IDA). sensitivity: of the first of them to hidden common causes.
    paths: the share of the graphs drawn for resamples that have a directed path, nan without them. adjusted_for: what estimates
    hold fixed beside that, as the fit does.
    """

    rule: Adjustment
    estimates: tuple[Estimate, ...] = ()
    sensitivity: Sensitivity | None = None
    paths: float = math.nan
    adjusted_for: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return self.rule.source

    @property
    def target(self) -> str:
        return self.rule.target

    @cached_property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """The sets to hold fixed: the optimal one, then the minimal ones; possible parents of the cause where none is valid."""
        return _sets(self.rule)

    @property
    def sentence(self) -> str:
        """The answer in a few words."""
        rule, pair = self.rule, f"{shown(self.source)} on {shown(self.target)}"
        if not rule.has_path:
            return f"In this graph no directed path leads from {shown(self.source)} to {shown(self.target)}: the effect is zero."
        if rule.reason and rule.unmeasured:
            return f"No set of measured variables gives the effect of {pair}: {rule.reason}."
        if rule.reason:
            return (
                f"No set of variables gives the effect of {pair} in every graph of the class: {rule.reason}. "
                f"There are {len(self.sets)} possible values, one for each set of parents that {shown(self.source)} may have."
            )
        least = rule.minimal[0]
        if not least:
            said = f"Nothing has to be held fixed to estimate the effect of {pair}."
            best = f" Holding {listed(rule.optimal)} fixed makes the estimate most precise." if rule.optimal else ""
            return said + best
        said = f"To estimate the effect of {pair}, hold {listed(least)} fixed."
        if rule.optimal and set(rule.optimal) != set(least):
            said += f" The most precise estimate holds {listed(rule.optimal)} fixed."
        return said

    @property
    def notes(self) -> list[str]:
        """What else the graph says of other variables."""
        rule, said = self.rule, []
        if rule.has_path and rule.forbidden and not rule.reason:
            said.append(f"Never hold fixed: {listed(rule.forbidden)} (on the path, or effects of it).")
        if rule.needless:
            said.append(f"No need to hold fixed: {listed(rule.needless)}.")
        if rule.unmeasured:
            said.append(f"Not measured: {listed(rule.unmeasured)}.")
        for name, given in rule.instruments[:5]:
            said.append(f"Instrument: {shown(name)}{f', with {listed(given)} held fixed' if given else ''}.")
        if len(rule.minimal) == MOST_SETS:
            said.append(f"There may be more minimal sets than the {MOST_SETS} that were looked for.")
        lows, highs = [one.low for one in self.estimates], [one.high for one in self.estimates]
        if not rule.reason and max(lows, default=0.0) > min(highs, default=0.0):
            said.append(
                "The estimates contradict each other, so the graph does not hold in these rows: see ordag test."
            )
        if max((one.valid for one in self.estimates if one.valid == one.valid), default=1.0) < SURE:
            said.append(
                "No set is valid in most of the graphs drawn for resamples, so neither the sets nor their estimates are sure."
            )
        if self.adjusted_for:
            said.append(f"Held fixed as well: {listed(self.adjusted_for)}.")
        if self.paths == self.paths:
            said.append(f"A directed path is in {share(self.paths)} of the graphs drawn for resamples of the rows.")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer in plain values."""
        rule = self.rule
        return {
            "source": self.source,
            "target": self.target,
            "path": rule.has_path,
            "sentence": self.sentence,
            "reason": rule.reason,
            "optimal": None if rule.optimal is None else list(rule.optimal),
            "minimal": [list(names) for names in rule.minimal],
            "forbidden": list(rule.forbidden),
            "needless": list(rule.needless),
            "instruments": [{"name": one.name, "given": list(one.given)} for one in rule.instruments],
            "possible_parents": [list(names) for names in self.sets] if rule.reason else None,
            "unmeasured": list(rule.unmeasured),
            "estimates": [{key: plain(value) for key, value in one._asdict().items()} for one in self.estimates],
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_dict(),
            "path_probability": plain(self.paths),
            "held": list(self.adjusted_for),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the first estimate under hidden common causes of any strength."""
        from ordag.show.plots import chart
        from ordag.show.plots.decisions import contours

        if self.sensitivity is None:
            why = "give data to adjust" if self.rule.has_path else "in this graph the effect is zero"
            raise SettingError(f"There is no estimate to draw: {why}.")
        found = self.sensitivity
        return chart(lambda axes: contours(found, axes), ax)


def adjust(
    graph: Any, source: str, target: str, data: Any = None, *, unmeasured: Sequence[str] = (), **reading: Any
) -> AdjustmentAnswer:
    """Say which variables to hold fixed to estimate the total effect of one variable on another.

    graph: as for `ordag.test`.
    data: a table to estimate the effect from, as for `ordag.learn`; for a fit, by default the moments it was learned from.
    unmeasured: variables of the graph that cannot be held fixed, beside those that DAGitty's text marks as latent.
    reading: how to read the table.

    >>> import ordag
    >>> graph = ordag.Dag.from_edges(["smoke", "tar", "cancer", "gene"], [("smoke", "tar"), ("tar", "cancer"), ("gene", "smoke"),
    ...     ("gene", "cancer")])
    >>> ordag.adjust(graph, "smoke", "cancer").rule.optimal
    ('gene',)
    """
    at_one_time(reading, "adjust")
    known, fit, hidden = given_graph(graph)
    hidden = (*hidden, *as_list(unmeasured, "unmeasured: give a list of variables."))
    rule = Adjustment(known, source, target, tuple(dict.fromkeys(hidden)))
    sets = _sets(rule)
    if data is not None:
        used = {source, target}.union(*sets)
        hint = "Name what is not measured with unmeasured=… (--unmeasured)."
        moments = table_of(data, [node for node in known.nodes if node in used], hint, reading).moments
    elif fit is not None:
        moments = fit.moments
    else:
        return AdjustmentAnswer(rule)
    drawn = [] if fit is None else _drawn(fit, source, target)
    shares = [math.nan if not drawn else float(np.mean([one.is_valid(given) for one in drawn])) for given in sets]
    estimates = [_estimate(moments, rule, given, valid) for given, valid in zip(sets, shares, strict=True)]
    paths = float(np.mean([one.has_path for one in drawn])) if drawn else math.nan
    if fit is not None and fit.probabilities is not None:
        i, j = fit.names.index(source), fit.names.index(target)
        paths = max(paths, float(fit.probabilities.arrows[i, j]))
    first = next((given for given in sets if target not in given), None)
    found = None if first is None else Sensitivity.of(moments, source, target, first)
    return AdjustmentAnswer(rule, tuple(estimates), found, paths, tuple(one.name for one in moments.adjusted_for))


def _sets(rule: Adjustment) -> tuple[tuple[str, ...], ...]:
    if not rule.has_path:
        return ()
    if rule.reason:
        return () if rule.unmeasured else rule.parent_sets
    if rule.optimal is None:
        return rule.minimal
    optimal = frozenset(rule.optimal)
    return (rule.optimal, *(names for names in rule.minimal if frozenset(names) != optimal))


def _drawn(fit: Fit, source: str, target: str) -> list[Adjustment]:
    """Return the adjustments in the graphs that were drawn for resamples; none where there are no probabilities."""
    if fit.posterior is None:
        return []
    graphs = fit.posterior.graphs(fit.sample)
    return [Adjustment(Dag.known_acyclic(fit.names, graph), source, target) for graph in graphs]


def _estimate(moments: Moments, rule: Adjustment, given: tuple[str, ...], valid: float) -> Estimate:
    """Regress the target on the cause and on what is held fixed; the effect is 0 where the target may be a parent of the cause."""
    if rule.target in given:
        return Estimate(given, 0.0, 0.0, 0.0, 0.0, math.nan, valid)
    found = Sensitivity.of(moments, rule.source, rule.target, given)
    return Estimate(given, found.estimate, found.std_error, *found.interval, found.robustness, valid)
