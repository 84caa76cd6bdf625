r"""`joint_effect`: what one variable does to another while others are set as well: several causes at once.

With the causes A set from outside, their own equations count no more: B without the columns of A gives $T = (I - B)^{-1}$, and the mean of
the target is $c + \sum_{a \in A} T_{at} x_a$. So the effect of a cause is what it does by the paths on which no other cause lies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from ordag.common.arrays import Array
from ordag.common.checks import as_list
from ordag.common.plain import Document, Tabular, plain, records
from ordag.common.words import about, joined, number, share, shown
from ordag.errors import CollinearError, SettingError, TooFewRowsError
from ordag.fit import Fit
from ordag.model.effects import FEWEST_PATHS, Kind, check_pair, spreads
from ordag.model.sem import LinearSEM
from ordag.model.sensitivity import Sensitivity
from ordag.resampling.intervals import check_interval_level
from ordag.total_effects import directed

TOGETHER = "together"
"""The name of the last row: one unit more of every cause."""


@dataclass(frozen=True, eq=False, repr=False)
class JointEffect(Document, Tabular):
    """The effect of each of several causes on `target`, the others being set as well, and of one unit more of all of them.

    columns: a row for each cause, and one for all together: estimate, std_error, low, high (as `interval` says, at `level`; of the graphs
    with a path, nan where fewer than 20 have one), probability (of a path that no other cause lies on), robustness (what a hidden common
    cause of the cause and the target would have to explain of both to bring the effect to zero; nan where no set of variables can be held
    fixed for all causes at once). doubts: what speaks against the learned graph.
    """

    sources: tuple[str, ...]
    target: str
    interval: Kind
    level: float
    graphs: int
    columns: dict[str, list[Any]]
    doubts: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The effects in a few words."""
        first, *more, both = [number(value, 3) for value in self.columns["estimate"]]
        told = [f"of {shown(name)} by {value}" for name, value in zip(self.sources[1:], more, strict=True)]
        said = joined(
            [f"{shown(self.sources[0])} changes {shown(self.target)} by {first}", *told, f"of each by {both}"]
        )
        return f"With all of them set, one unit more of {said}."

    def line(self, k: int) -> str:
        """Say one row in words."""
        one = {key: values[k] for key, values in self.columns.items()}
        last = k == len(self.sources)
        said = f"{'together, one unit more of each' if last else shown(one['cause'])}: {number(one['estimate'], 3)}"
        if not one["estimate"] and not last:
            said += " in the learned graph, which has no such path"
            if self.interval == "given-graph":
                return said
        if one["low"] is not None:
            said += f"; {100 * self.level:g} % interval {number(one['low'], 3)} to {number(one['high'], 3)}"
        elif self.interval == "posterior":
            said += f"; no interval, as fewer than {FEWEST_PATHS} resamples have a path"
        if one["probability"] is not None:
            said += f"; probability of a path {share(one['probability'])}"
        if one["robustness"] is not None and one["estimate"]:
            said += f"; robust up to {share(one['robustness'])}"
        return said

    @property
    def notes(self) -> list[str]:
        """What the numbers rest on."""
        said = [
            "Effects are those with the other causes set as well: what a cause does through another one is left out."
        ]
        if self.interval == "posterior":
            said.append(
                f"Intervals are of the graphs with a path, of {self.graphs} graphs drawn for resamples of the rows."
            )
        else:
            said.append("Intervals take the graph for granted: they are too short for a learned graph.")
        if any(one is not None for one in self.columns["robustness"]):
            said.append(
                "Robust: what a hidden common cause would have to explain of a cause and the target for the effect to vanish."
            )
        return [*said, *self.doubts]

    def to_dict(self) -> dict[str, Any]:
        """The whole answer in plain values."""
        return {
            "sources": list(self.sources),
            "target": self.target,
            "interval": self.interval,
            "level": self.level,
            "graphs": self.graphs,
            "sentence": self.sentence,
            "effects": records(self.columns),
            "notes": self.notes,
        }

    def __str__(self) -> str:
        rows = [f"  {self.line(k)}" for k in range(len(self.sources) + 1)]
        return "\n".join([self.sentence, *rows, *self.notes])

    __repr__ = __str__


def joint_effect(
    fit: Fit, sources: Sequence[str], target: str, level: float = 0.95, *, interval: str | None = None
) -> JointEffect:
    """Return the effects of several variables on another, each with the others set as well.

    interval: "posterior" for the graphs drawn for the resamples of the probabilities of arrows, the default where there are any;
    "given-graph" takes the graph for granted.

    >>> import ordag
    >>> fit = ordag.learn("marks", "cvs", alpha=0.05)
    >>> print(fit.joint_effect(["algebra", "vectors"], "mechanics").sentence)
    With all of them set, one unit more of algebra changes mechanics by 0.548, of vectors by 0.466 and of each by 1.01.
    """
    names, A, t = causes_of(fit, sources, target)
    check_interval_level(level)
    if interval not in (None, "posterior", "given-graph"):
        raise SettingError(
            f"interval={interval!r}: for several causes use 'posterior' or 'given-graph' (--interval given-graph)."
        )
    sem = directed(fit)
    if interval == "posterior" and fit.probabilities is None:
        raise SettingError(
            "interval='posterior' takes the resamples of the probabilities of arrows, and this fit has none: learn with method='pooled', "
            "or use interval='given-graph' (--interval given-graph)."
        )
    kind: Kind = "given-graph" if interval == "given-graph" or fit.probabilities is None else "posterior"
    estimate = _with_sum(joint_weights(sem, A)[:, t]) + 0.0
    spread, low, high, probability = np.full((4, len(estimate)), np.nan)
    draws = np.zeros((0, len(estimate)))
    if kind == "posterior":
        draws = np.array([_with_sum(joint_weights(one, A)[:, t]) for one in drawn_models(fit)])
        assert fit.probabilities is not None
        tails = [0.5 - level / 2.0, 0.5 + level / 2.0]
        probability = (draws != 0.0).mean(axis=0)
        probability[:-1] = np.maximum(probability[:-1], fit.probabilities.arrows[list(A), t])
        probability[-1] = max(float((draws[:, :-1] != 0.0).any(axis=1).mean()), float(probability[:-1].max()))
        for k, values in enumerate(draws.T):
            there = values[values != 0.0] if k < len(A) else values[(draws[:, :-1] != 0.0).any(axis=1)]
            if len(there) >= FEWEST_PATHS:
                spread[k], (low[k], high[k]) = there.std(ddof=1), np.quantile(there, tails, method="weibull")
    else:
        spread = np.sqrt(_variances(sem, fit.within_causes.moments.R, A, t))
        reach = float(ndtri(0.5 + level / 2.0)) * spread
        low, high = estimate - reach, estimate + reach
    columns = {
        "cause": [*names, TOGETHER],
        "estimate": plain(estimate),
        "std_error": plain(spread),
        "low": plain(low),
        "high": plain(high),
        "probability": plain(probability),
        "robustness": plain(np.array([*_robustness(fit, sem, A, t), math.nan])),
    }
    return JointEffect(names, target, kind, level, len(draws), columns, doubts(fit))


def causes_of(fit: Fit, sources: Sequence[str], target: str) -> tuple[tuple[str, ...], tuple[int, ...], int]:
    """Return the causes and their columns, and that of the target, checked."""
    if not isinstance(fit, Fit):
        raise SettingError("fit: give what ordag.learn gave.")
    fit.at_one_time("An effect of several causes")
    names = tuple(as_list(sources, "sources: give a list of names of causes, such as ['price', 'ads']."))
    if not names:
        raise SettingError("sources: name at least one cause.")
    columns = [check_pair(name, target, fit.names) for name in names]
    if len(set(names)) < len(names):
        raise SettingError(f"sources={list(names)}: each cause once.")
    return names, tuple(i for i, _ in columns), columns[0][1]


def doubts(fit: Fit) -> tuple[str, ...]:
    """Return what speaks against the learned graph: the share of wrong arrows to expect, and cautions."""
    expected = fit.verdict.expected
    wrong = (
        "" if expected is None else f"Of the arrows of the learned graph {about(expected.wrong)} are expected wrong."
    )
    return tuple(filter(None, [wrong, *(f"{one.sentence} {one.advice}" for one in fit.verdict.cautions)]))


def joint_weights(sem: LinearSEM, causes: Sequence[int]) -> Array:
    """Return the effects of the causes on all variables, one row each, with all of the causes set."""
    return _set(sem, causes).total_effects()[list(causes)]


def drawn_models(fit: Fit) -> Iterator[LinearSEM]:
    """Yield the graph that was drawn for each resample, fitted to it; none for a fit without probabilities."""
    if fit.posterior is not None:
        for B, omega in fit.posterior.models(fit.sample):
            yield LinearSEM(B, omega, names=fit.names)


def _set(sem: LinearSEM, causes: Sequence[int]) -> LinearSEM:
    """Return the model without arrows into the causes."""
    B = np.array(sem.B)
    B[:, list(causes)] = 0.0
    return LinearSEM(B, sem.omega, names=sem.names)


def _with_sum(values: Array) -> Array:
    return np.append(values, values.sum())


def _variances(sem: LinearSEM, R: Array, A: Sequence[int], t: int) -> Array:
    """Return the variances of the effects and of their sum, given the graph (`ordag.model.effects.effect_variances`)."""
    cut = _set(sem, A)
    T = cut.total_effects() + np.eye(len(sem.names))
    rows = np.concatenate([T[list(A)], T[list(A)].sum(axis=0, keepdims=True)])
    return np.asarray(spreads(cut, R, rows) @ np.square(T[:, t]))


def _robustness(fit: Fit, sem: LinearSEM, A: Sequence[int], t: int) -> list[float]:
    """Return the robustness values of the effects.

    A hidden cause moves them by what it moves the regression on all causes and their parents: nan if one of these follows a cause.
    """
    adjacency, effects = sem.dag.adjacency, sem.total_effects()
    given = np.flatnonzero(adjacency[:, list(A)].any(axis=1) & ~np.isin(np.arange(len(adjacency)), A))
    reached = (effects[list(A)] != 0.0).any(axis=0)
    if t in given or reached[given].any() or fit.equations is not None:
        return [math.nan] * len(A)
    names, moments, found = fit.names, fit.within_causes.moments, []
    for a, effect in zip(A, joint_weights(sem, A)[:, t].tolist(), strict=True):
        fixed = [names[k] for k in given.tolist()] + [names[k] for k in A if k != a]
        try:
            found.append(replace(Sensitivity.of(moments, names[a], names[t], fixed), estimate=effect).robustness)
        except (TooFewRowsError, CollinearError):
            found.append(math.nan)
    return found
