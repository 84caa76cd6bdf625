r"""`possible_effects`: the effects in all graphs of a class, averaged over the classes of the graphs drawn for resamples (IDA).

Graphs of one class fit alike, so each has the covariance $\Sigma$ that any of them is fitted with. In a graph in which the cause a has
the parents P, its effect on t is the coefficient of a in the regression of t on a and P under $\Sigma$, and 0 if t is one of P (Maathuis,
Kalisch & Bühlmann 2009). With the effects $T_{ab}$ among causes A found so, those of all of them together are $T_{AA}^{-1} T_{At}$, with
$T_{aa} = 1$ (Nandy, Maathuis & Richardson 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.plain import Document, Tabular, plain, records
from ordag.common.words import counted, joined, number, share, shown
from ordag.decisions.joint_effects import causes_of, doubts, drawn_models
from ordag.errors import GraphError, SettingError
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag, extend, to_cpdag
from ordag.graph.dag import Dag
from ordag.graph.partly_directed import ParentSets, meek, possible_parents
from ordag.knowledge.masks import Constraints, class_fault
from ordag.model.effects import FEWEST_PATHS
from ordag.model.refit import refit
from ordag.model.sem import LinearSEM
from ordag.resampling.intervals import check_interval_level

MOST_SETS = 500
"""Choices of parents in one class at most."""

SHOWN = 8
"""Possible effects that a line lists."""

ZERO = 1e-10
"""The size below which an effect is rounding, beside the largest numbers that it is made of."""


@dataclass(frozen=True, eq=False, repr=False)
class PossibleEffects(Document, Tabular):
    """The effects of causes on `target` in all graphs of a class.

    values: in the class of the learned graph, [choice of parents, cause]. The columns have a row for each cause: least and greatest of
    these values and, over the classes of `graphs` graphs drawn for resamples, in which every choice of parents counts alike: probability
    (of a path), certain (the share of resamples all of whose graphs have a path), low and high (the interval at `level` of the values that
    are not 0; nan where fewer than 20 resamples have one). doubts: what speaks against the learned graph.
    """

    sources: tuple[str, ...]
    target: str
    level: float
    graphs: int
    values: Array
    columns: dict[str, list[Any]]
    doubts: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What the class says of the effects, in a few words."""
        told = []
        for name, values in zip(self.sources, self.values.T, strict=True):
            least, greatest = float(values.min()), float(values.max())
            if least == greatest == 0.0:
                told.append(f"{shown(name)} has no effect on {shown(self.target)}")
            elif least <= 0.0 <= greatest:
                told.append(f"{shown(name)} may or may not have an effect on {shown(self.target)}")
            else:
                ends = sorted((least, greatest), key=abs)
                size = number(ends[0], 3) + (
                    f" to {number(ends[1], 3)}" if number(ends[0], 3) != number(ends[1], 3) else ""
                )
                told.append(f"{shown(name)} has an effect of {size} on {shown(self.target)}")
        return f"In the graphs that claim the same independences as the learned one, {joined(told)}."

    def line(self, k: int) -> str:
        """Say one row in words."""
        distinct = np.unique(np.round(self.values[:, k], 12)).tolist()
        listed = ", ".join(number(value, 3) for value in distinct[:SHOWN])
        more = f" and {len(distinct) - SHOWN} more" if len(distinct) > SHOWN else ""
        said = f"{shown(self.sources[k])}: {listed}{more}, in {counted(len(self.values), 'choice')} of parents"
        one = {key: values[k] for key, values in self.columns.items()}
        if one["probability"] is not None:
            said += f"; probability of a path {share(one['probability'])}, in every graph of the class {share(one['certain'])}"
        if one["low"] is not None:
            said += f"; {100 * self.level:g} % interval {number(one['low'], 3)} to {number(one['high'], 3)}"
        return said

    @property
    def notes(self) -> list[str]:
        """What the numbers rest on."""
        said = ["Directions that rest on error variances are not used: all graphs of a class count alike."]
        if len(self.sources) > 1:
            said.append("Effects are those with the other causes set as well.")
        if self.graphs:
            said.append(
                f"Probabilities and intervals (of what is not 0) are over the classes of {self.graphs} graphs, drawn for resamples."
            )
        else:
            said.append("Without intervals: the fit has no probabilities.")
        return [*said, *self.doubts]

    def to_dict(self) -> dict[str, Any]:
        """The whole answer in plain values."""
        return {
            "sources": list(self.sources),
            "target": self.target,
            "level": self.level,
            "graphs": self.graphs,
            "sentence": self.sentence,
            "values": self.values.tolist(),
            "effects": records(self.columns),
            "notes": self.notes,
        }

    def __str__(self) -> str:
        rows = [f"  {self.line(k)}" for k in range(len(self.sources))]
        return "\n".join([self.sentence, *rows, *self.notes])

    __repr__ = __str__


def possible_effects(fit: Fit, sources: str | Sequence[str], target: str, level: float = 0.95) -> PossibleEffects:
    """Return the effects of one variable or several on another in all graphs of the class, averaged over resamples.

    sources: one name, or several that are set together (`ordag.decisions.joint_effects`). Knowledge directs its edges in every class.

    >>> import ordag
    >>> found = ordag.learn("marks", "ges").possible_effects("vectors", "mechanics")
    >>> found.values.shape[1], round(float(found.values.max()), 2)
    (1, 0.74)
    """
    names, A, t = causes_of(fit, [sources] if isinstance(sources, str) else sources, target)
    check_interval_level(level)
    if fit.equations is not None:
        raise SettingError(
            "Experiments and environments leave smaller classes than independences do: ask for the effect itself, without --whole-class."
        )
    known, dag = fit.known, fit.graph
    if isinstance(dag, Cpdag):
        fault = class_fault(dag, known)
        if fault is not None:
            raise GraphError(f"This graph is the class of no DAG ({fault}), so it has no effects.")
        adjacency, dag = dag.adjacency, extend(dag)
    else:
        adjacency = _class(dag.adjacency, known)
    sem = fit.sem or refit(fit.within_causes.moments, dag).sem
    own = _effects(sem, adjacency, fit.moments.n, A, t)
    drawn = [_effects(one, _class(one.dag.adjacency, known), fit.moments.n, A, t) for one in drawn_models(fit)]
    rows = [_averaged([one[:, k] for one in drawn], level) for k in range(len(A))]
    columns = {
        "cause": list(names),
        "least": plain(own.min(axis=0)),
        "greatest": plain(own.max(axis=0)),
        **{
            key: plain(np.array([row[k] for row in rows]))
            for k, key in enumerate(("probability", "certain", "low", "high"))
        },
    }
    return PossibleEffects(names, target, level, len(drawn), own, columns, doubts(fit))


def _class(dag: Mask, known: Constraints | None) -> Mask:
    """Return the class of a graph, with the directions that knowledge gives."""
    adjacency = to_cpdag(Dag.known_acyclic(tuple(map(str, range(len(dag)))), dag)).adjacency
    if known is None:
        return adjacency
    lines = adjacency & adjacency.T
    return meek(adjacency & ~(lines & known.against))


def _effects(sem: LinearSEM, adjacency: Mask, n: int, A: Sequence[int], t: int) -> Array:
    """Return the effects of the causes in all graphs of a class, one row for each choice of their parents."""
    left = np.asarray(sem.omega) * (n - 1 - sem.dag.adjacency.sum(axis=0))  # up to a factor those of most likelihood
    Sigma = LinearSEM(sem.B, left / left.max(), names=sem.names).covariance()
    choices = list(islice(possible_parents(adjacency, A), MOST_SETS + 1))
    if len(choices) > MOST_SETS:
        names = [shown(sem.names[a]) for a in A]
        raise GraphError(
            f"Too many edges without a direction: there are more than {MOST_SETS} choices of the parents of {joined(names)}. "
            "Say what you know (knowledge=…, --knowledge), or ask for the effect itself."
        )
    return np.array([_of_parents(Sigma, A, parents, t) for parents in choices])


def _of_parents(Sigma: Array, A: Sequence[int], parents: ParentSets, t: int) -> Array:
    """Return the joint effects of the causes on t, with these parents."""
    among, on_target = np.eye(len(A)), np.zeros(len(A))
    for k, (a, given) in enumerate(zip(A, parents, strict=True)):
        used = [a, *given]
        inverse = np.linalg.inv(Sigma[np.ix_(used, used)])[0]
        for column, b in enumerate((*A, t)):
            if b == a or b in given:
                continue
            effect = float(inverse @ Sigma[used, b])
            scale = float(np.abs(inverse) @ np.abs(Sigma[used, b]))
            effect = effect if abs(effect) > ZERO * scale else 0.0
            if column < len(A):
                among[k, column] = effect
            else:
                on_target[k] = effect
    found = np.linalg.solve(among, on_target)
    found[np.abs(found) <= ZERO * (np.abs(np.linalg.inv(among)) @ np.abs(on_target))] = 0.0
    return np.asarray(found)


def _averaged(drawn: Sequence[Array], level: float) -> tuple[float, float, float, float]:
    """Return the share of effects, of resamples in all of whose graphs there is one, and the interval of those that are not 0."""
    if not drawn:
        return (np.nan,) * 4
    there = [one != 0.0 for one in drawn]
    probability = float(np.mean([one.mean() for one in there]))
    certain = float(np.mean([one.all() for one in there]))
    if sum(one.any() for one in there) < FEWEST_PATHS:
        return probability, certain, np.nan, np.nan
    values = np.concatenate([one[some] for one, some in zip(drawn, there, strict=True)])
    weights = np.concatenate([np.full(int(some.sum()), 1.0 / len(some)) for some in there])
    low, high = weighted_quantiles(values, weights, (0.5 - level / 2.0, 0.5 + level / 2.0))
    return probability, certain, low, high


def weighted_quantiles(values: Array, weights: Array, shares: Sequence[float]) -> list[float]:
    """Return quantiles of values that count by their weights; with equal weights, those of NumPy."""
    order = np.argsort(values, kind="stable")
    before = np.cumsum(weights[order]) - weights[order]
    last = before[-1]
    if last <= 0.0:
        return [float(values[0])] * len(shares)
    return [float(one) for one in np.interp(np.asarray(shares) * last, before, values[order])]
