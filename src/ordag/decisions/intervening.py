r"""`intervene`: what happens to every variable if some are set, shifted, or follow a rule.

Setting a to v replaces its equation by x_a = v, a shift by d adds d to it, a rule replaces it by a linear function of variables that a
does not act on. In the model of deviations from the means, x = c + xB + e, the means become $c(I - B)^{-1}$ with the new c and B, and the
covariance $(I - B)^{-\top} \Omega (I - B)^{-1}$ with error variance 0 where an equation was replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import as_number, short
from ordag.common.plain import Tabular, plain, records
from ordag.common.words import did_you_mean, joined, listed, number, share, shown
from ordag.decisions.answer import Answer
from ordag.decisions.given_graph import checked_fit
from ordag.decisions.joint_effects import doubts
from ordag.errors import ColumnError, GraphError, SettingError
from ordag.fit import Fit
from ordag.graph.acyclic import find_cycle
from ordag.model.sem import LinearSEM
from ordag.total_effects import directed

LEVEL = 0.95
"""The level of intervals."""

FAR = 5.0
"""Standard deviations from its mean from which on hardly any row has a value like that to which a variable is moved."""

FEWEST_GRAPHS = 20
"""Graphs below which no interval is given."""


@dataclass(frozen=True)
class Rules:
    """What is done to a model: the variables that are set and shifted, and those that follow a rule, by column."""

    constants: Mapping[int, float]
    shifts: Mapping[int, float]
    weights: Mapping[int, Array]

    def weighted(self, B: Array) -> Array:
        """Return the weights with the equations of the variables that are set or ruled replaced."""
        B = B.copy()
        B[:, list(self.constants)] = 0.0
        for j, weights in self.weights.items():
            B[:, j] = weights
        return B

    def applied(self, B: Array, omega: Array, mean: Array) -> tuple[Array, Array] | None:
        """Return the change of every mean and the new variances; None where the rules make a cycle in this graph."""
        p = len(mean)
        B, omega, c = self.weighted(B), omega.copy(), np.zeros(p)
        for j, value in self.constants.items():
            omega[j], c[j] = 0.0, value - mean[j]
        for j, weights in self.weights.items():
            omega[j] = 0.0
            c[j] = float(weights @ mean) - mean[j]  # the rule is in the variables' own values, the model in deviations
        if self.weights and find_cycle(B != 0.0) is not None:
            return None
        for j, away in self.shifts.items():
            c[j] += away
        total = LinearSEM(B).total_effects() + np.eye(p)  # along the arrows, so that there is 0 where there is no path
        return c @ total, omega @ total**2


@dataclass(frozen=True, eq=False, repr=False)
class Intervention(Answer, Tabular):
    """Every variable before and after an intervention.

    words: what is done. before, after: the means in the learned model, sd_before, sd_after: the standard deviations.
    low, high: 95 % interval of the mean after, over the graphs drawn for resamples of the rows, each fitted to its resample with a mean of
    its own; change_low, change_high: that of the change of the mean; nan without such graphs. changed: the share of these graphs in which
    the mean changes at all. cyclic: graphs left out, because the rule makes a cycle in them. fit: the learned
    graph.
    """

    names: tuple[str, ...]
    words: str
    done: tuple[int, ...]
    before: Array
    after: Array
    sd_before: Array
    sd_after: Array
    low: Array
    high: Array
    change_low: Array
    change_high: Array
    changed: Array
    graphs: int
    cyclic: int = 0
    fit: Fit | None = None

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against the learned graph; for some methods it takes a second to find out."""
        return () if self.fit is None else doubts(self.fit)

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns of `table`: a row per variable."""
        return {
            "variable": list(self.names),
            "mean_before": plain(self.before),
            "mean_after": plain(self.after),
            "low": plain(self.low),
            "high": plain(self.high),
            "change_low": plain(self.change_low),
            "change_high": plain(self.change_high),
            "probability": plain(self.changed),
            "sd_before": plain(self.sd_before),
            "sd_after": plain(self.sd_after),
        }

    @property
    def moved(self) -> list[int]:
        """The other variables whose mean changes, those first that move most standard deviations."""
        away = np.abs(self.after - self.before) / np.where(self.sd_before > 0.0, self.sd_before, 1.0)
        return [j for j in np.argsort(-away).tolist() if away[j] > 1e-12 and j not in self.done]

    @property
    def sentence(self) -> str:
        """The largest changes, in standard deviations, in words."""
        moved = self.moved
        if not moved:
            return f"If {self.words}, no other variable changes in this model."
        told = []
        for j in moved[:3]:
            sure = (
                ""
                if self.changed[j] != self.changed[j] or self.changed[j] > 0.95
                else f" (probability {share(self.changed[j])})"
            )
            told.append(f"{shown(self.names[j])} goes from {number(self.before[j])} to {number(self.after[j])}{sure}")
        return f"If {self.words}, the mean of {joined(told)}."

    @property
    def notes(self) -> list[str]:
        """What the numbers rest on."""
        if not self.graphs:
            return ["Without intervals: the fit has no probabilities.", *self.doubts]
        left = f"; in {self.cyclic} others the rule makes a cycle" if self.cyclic else ""
        over = f"Intervals and probabilities of a change are over {self.graphs} graphs drawn for resamples of the rows{left}."
        slack = 1e-9 * np.abs(self.after)
        beyond = (self.after < self.low - slack) | (self.after > self.high + slack)
        odd = [shown(self.names[j]) for j in np.flatnonzero(beyond)]
        away = np.abs(self.after - self.before) / np.where(self.sd_before > 0.0, self.sd_before, 1.0)
        far = [f"{shown(self.names[j])} ({number(away[j], 2)} s.d.)" for j in self.done if away[j] > FAR]
        warning = f"Do not rely on the mean of {joined(odd, 6)}: most of these graphs are at odds with the learned one."
        beyond_rows = (
            f"Far from the mean of the rows: {joined(far, 6)}. There the answer extends straight lines beyond the data."
        )
        return [over, *([warning] if odd else []), *([beyond_rows] if far else []), *self.doubts]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer in plain values."""
        return {
            "intervention": self.words,
            "sentence": self.sentence,
            "graphs": self.graphs,
            "cyclic": self.cyclic,
            "doubts": list(self.doubts),
            "variables": records(self.columns),
        }


def intervene(
    fit: Fit,
    set: Mapping[str, float] | None = None,
    shift: Mapping[str, float] | None = None,
    rule: Mapping[str, Mapping[str, float]] | None = None,
) -> Intervention:
    """Say what happens to every variable if some are set from outside, shifted, or follow a rule.

    fit: a fit with a DAG. set: values of variables, {"dose": 2}. shift: what is added to variables, {"price": -1}.
    rule: for a variable its coefficients on others, and a constant under "": {"dose": {"": 5, "age": 0.1}}. A rule may not use a variable
        that its own variable acts on.

    >>> import ordag
    >>> fit = ordag.learn("marks", "cvs", alpha=0.05)
    >>> print(ordag.intervene(fit, shift={"vectors": 10}).sentence)
    If vectors is raised by 10, the mean of mechanics goes from 38.95 to 43.61.
    """
    checked_fit(fit).at_one_time("intervene")
    sem = directed(fit)
    rules, words = _rules(fit.names, set or {}, shift or {}, rule or {})
    found = rules.applied(sem.B, sem.omega, fit.moments.mean)
    if found is None:
        cycle = find_cycle(rules.weighted(sem.B) != 0.0) or ()
        path = " → ".join(shown(fit.names[j]) for j in (*cycle, *cycle[:1]))
        raise GraphError(
            f"The rule makes a cycle in the learned graph: {path}. It may not use a variable that its own variable acts on."
        )
    change, variances = found
    nothing = Rules({}, {}, {}).applied(sem.B, sem.omega, fit.moments.mean)
    assert nothing is not None
    done = tuple(sorted({*rules.constants, *rules.shifts, *rules.weights}))
    means, changes, cyclic = _drawn(fit, rules)
    mean, unknown = fit.moments.mean, np.full((2, len(fit.names)), np.nan)
    ends, change_ends = unknown, unknown
    if len(changes) >= FEWEST_GRAPHS:
        tails = [50.0 * (1.0 - LEVEL), 50.0 * (1.0 + LEVEL)]
        ends, change_ends = (np.percentile(one, tails, axis=0, method="weibull") for one in (means + changes, changes))
    changed = (changes != 0.0).mean(axis=0) if len(changes) else unknown[0]
    return Intervention(
        fit.names,
        words,
        done,
        before=mean,
        after=mean + change,
        sd_before=np.sqrt(nothing[1]),
        sd_after=np.sqrt(variances),
        low=ends[0],
        high=ends[1],
        change_low=change_ends[0],
        change_high=change_ends[1],
        changed=changed,
        graphs=len(changes),
        cyclic=cyclic,
        fit=fit,
    )


def _drawn(fit: Fit, rules: Rules) -> tuple[Array, Array, int]:
    """Return the means, and their changes, in the graphs that were drawn for resamples, and in how many others the rules make a cycle.

    The mean of a resample is independent of its scatter, and as far from that of the rows as theirs is from the truth.
    """
    moments, random = fit.moments, np.random.default_rng(0)
    means, changes, cyclic = [], [], 0
    for B, omega in () if fit.posterior is None else fit.posterior.models(fit.sample):
        away = random.standard_normal(len(moments.R)) @ moments.R / np.sqrt((moments.n - 1.0) * moments.n)
        answer = rules.applied(B, omega, moments.mean + away)
        if answer is None:
            cyclic += 1
            continue
        means.append(moments.mean + away)
        changes.append(answer[0])
    shape = (-1, len(fit.names))
    return np.array(means).reshape(shape), np.array(changes).reshape(shape), cyclic


def _rules(
    names: tuple[str, ...],
    set: Mapping[str, float],
    shift: Mapping[str, float],
    rule: Mapping[str, Mapping[str, float]],
) -> tuple[Rules, str]:
    """Check the intervention, and describe it in words."""
    where = {name: j for j, name in enumerate(names)}

    def column(name: str, setting: str) -> int:
        if name not in where:
            raise ColumnError(
                f"{setting}: there is no variable {name!r}.{did_you_mean(name, names)} There are {listed(names)}."
            )
        return where[name]

    def value(given: Any, setting: str) -> float:
        found = as_number(given)
        if not np.isfinite(found):
            raise SettingError(f"{setting}={short(given)}: give a number.")
        return found

    for setting, given in (("set", set), ("shift", shift), ("rule", rule)):
        if given and not isinstance(given, Mapping):
            raise SettingError(
                f"{setting}={short(given)}: give the variables with their values, such as {{'dose': 2}}."
            )
    if wrong := [one for one in rule.values() if not isinstance(one, Mapping)] if rule else []:
        raise SettingError(
            f"rule={short(wrong[0])}: give what a variable follows, such as {{'dose': {{'': 5, 'age': 0.1}}}}."
        )
    if not (set or shift or rule):
        raise SettingError("set, shift, rule: say what is done to at least one variable, such as set={'dose': 2}.")
    twice = [name for name in rule if name in set]
    if twice:
        raise SettingError(f"{twice[0]!r} is set and has a rule: choose one.")
    constants = {column(name, "set"): value(one, "set") for name, one in set.items()}
    shifts = {column(name, "shift"): value(one, "shift") for name, one in shift.items()}
    weights, words = {}, [f"{shown(name)} is set to {number(value(one, 'set'))}" for name, one in set.items()]
    for name, one in shift.items():
        words.append(f"{shown(name)} is {'raised' if one >= 0 else 'lowered'} by {number(abs(value(one, 'shift')))}")
    for name, parts in rule.items():
        j, row = column(name, "rule"), np.zeros(len(names))
        for other, weight in parts.items():
            if other:
                row[column(other, "rule")] = value(weight, "rule")
        if row[j]:
            raise SettingError(f"rule: {name!r} cannot follow itself.")
        weights[j] = row
        shifts[j] = shifts.get(j, 0.0) + value(parts.get("", 0.0), "rule")
        terms = [number(value(parts[""], "rule"))] if parts.get("") else []
        terms += [f"{number(weight)} × {shown(other)}" for other, weight in parts.items() if other]
        words.append(f"{shown(name)} = {' + '.join(terms) or '0'}")
    return Rules(constants, shifts, weights), joined(words)
