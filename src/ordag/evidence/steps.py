r"""How clear was every step of an ordering, and what directs every arrow?

**Steps.** The forward ordering chooses at step m the variable a with the least variance given S, the variables before it.
For every other candidate b the Pitman–Morgan test asks whether b could have the same variance given S: with the residual
variances and covariance $v_a, v_b, c$ given S,

    $t = |v_b - v_a| \sqrt{d / (4 (v_a v_b - c^2))}$,   d = n − |S| − 2,

has Student's distribution with d degrees of freedom if they are equal (Pitman 1939; Morgan 1939). In the factor L of the
ordering $v_a = L_{aa}^2$, $v_b = \sum_{i \ge a} L_{bi}^2$ and $c = L_{ba} L_{aa}$, so all pairs come from one reversed
cumulative sum. The candidates that are not told apart from the chosen one (p > α) make up, with it, the step's *tie group*.

The backward ordering chooses at step m, for the last place among the first m + 1 variables, the one with the least precision
$K_{aa}$, that is the largest variance given all the others. For two variables a and b with the rest S of those m + 1 given,
$K_{aa} < K_{bb}$ if and only if $v_a > v_b$ given S, because the 2 × 2 block of K is the inverse of their covariance given S.
So the same test serves, on S with |S| = m − 1, and in terms of K it is the same formula:
$t = |K_{bb} - K_{aa}| \sqrt{d / (4 (K_{aa} K_{bb} - K_{ab}^2))}$, with $K_{aa} = W_{aa}^2$, $K_{bb} = \sum_{i \le a} W_{ib}^2$
and $K_{ab} = W_{aa} W_{ab}$.

A p-value is exact for a pair given S that was chosen before looking. That the smaller of two goes first is allowed for by
testing both sides; that the runner-up is the nearest of many candidates, and that S was found from the same rows, is not.

**Arrows.** An arrow of an equivalence class that was found without variances (by PC or GES) has the reason "class". The arrows
that all DAGs of a graph's own class agree on would not do: if the graph was found by variances, so was its class. An arrow that
the user fixed has the reason "knowledge". For all others it is "variance", or "open" where a method with probabilities gives the
direction less than 90 %.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.errors import GraphError
from ordag.fit import Fit
from ordag.knowledge.masks import constraints
from ordag.order.ordering import Ordering
from ordag.parents.select import check_level

if TYPE_CHECKING:
    import pandas as pd


DECIDED = 0.9
"""The probability of a direction, given that there is an edge, from which the variances count as having decided it."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of an ordering, by position. Where a step has a single candidate, its entries are nan and -1.

    `tied[m, b]` tells that position b is in the tie group of step m (the chosen one, m, always is); `matters[m]` that the
    group has an edge of the graph in it, so that another choice could have given another graph.
    """

    names: tuple[str, ...]
    margin: Array
    runner_up: NDArray[np.intp]
    p_value: Array
    tied: Mask
    matters: Mask

    def group(self, step: int) -> tuple[str, ...]:
        """The names of a step's tie group, the chosen one first; empty where nothing is tied with it."""
        others = [self.names[b] for b in np.flatnonzero(self.tied[step]) if b != step]
        return (self.names[step], *others) if others else ()

    @cached_property
    def columns(self) -> dict[str, Any]:
        """What a table of the steps shows: runner_up, runner_up_p_value, tied (names), tie_matters."""
        return {
            "runner_up": [self.names[b] if b >= 0 else None for b in self.runner_up.tolist()],
            "runner_up_p_value": self.p_value,
            "tied": [list(self.group(step)) for step in range(len(self.names))],
            "tie_matters": [bool(flag) for flag in self.matters],
        }


@dataclass(frozen=True, eq=False)
class Evidence:
    """The steps of the ordering (None for methods without one), and for every arrow its test and its reason.

    `source` and `target` are indices of the names, in the order of the fit's edge table; `direction_p_value` is nan for
    methods without an ordering.
    """

    names: tuple[str, ...]
    alpha: float
    steps: Steps | None
    source: NDArray[np.intp]
    target: NDArray[np.intp]
    direction_p_value: Array
    reason: tuple[str, ...]

    @cached_property
    def arrows(self) -> pd.DataFrame:
        """One row an arrow: source, target, direction_p_value, reason."""
        import pandas as pd

        return pd.DataFrame(
            {
                "source": [self.names[i] for i in self.source],
                "target": [self.names[j] for j in self.target],
                "direction_p_value": self.direction_p_value,
                "reason": list(self.reason),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the steps and the arrows, each a list of records."""
        steps = None
        if self.steps is not None:
            columns = {"node": list(self.steps.names), "margin": self.steps.margin, **self.steps.columns}
            steps = [dict(zip(columns, map(_plain, row), strict=True)) for row in zip(*columns.values(), strict=True)]
        arrows = [
            {"source": self.names[i], "target": self.names[j], "direction_p_value": _plain(p), "reason": reason}
            for i, j, p, reason in zip(self.source, self.target, self.direction_p_value, self.reason, strict=True)
        ]
        return {"alpha": self.alpha, "steps": steps, "arrows": arrows}


def evidence(
    fit: Fit, alpha: float = 0.05, known: Iterable[tuple[str, str]] = (), before: Mask | None = None
) -> Evidence:
    """What speaks for the order and for the direction of every arrow.

    alpha: the level at which a candidate counts as told apart from the chosen one.
    known: (source, target) pairs whose direction the user has fixed.
    before: the partial order that the ordering had to keep to, [i, j] for column i before column j: a variable that had to
        wait for another was no candidate. That of the fit's knowledge if not given.
    """
    alpha = check_level(alpha)
    adjacency = fit.graph.adjacency
    source, target = np.nonzero(adjacency & ~adjacency.T)
    p_values = np.full(len(source), np.nan)
    steps = None
    if fit.ordering is not None:
        place = np.argsort(fit.ordering.order)
        by_place = np.lexsort((place[target], place[source]))
        source, target = source[by_place], target[by_place]
        ends = place[source], place[target]
        p_values = fit.ordering.direction_p_values(np.minimum(*ends), np.maximum(*ends))
        if before is None:
            held = constraints(fit.settings.get("knowledge"), fit.names)
            before = None if held is None else held.before
        steps = step_evidence(fit.ordering, fit.graph.skeleton, alpha, before)
    reasons = arrow_reasons(fit, source, target, known)
    return Evidence(fit.names, alpha, steps, source, target, p_values, reasons)


def step_evidence(ordering: Ordering, skeleton: Mask, alpha: float, before: Mask | None = None) -> Steps:
    """Every step against all its candidates; `skeleton` is the symmetric mask of joined columns."""
    found = ordering.candidates(before)
    tests, nearest, alone = found.p_values, found.nearest, ~found.rivals.any(axis=1)
    tied = tests > alpha
    np.fill_diagonal(tied, True)
    joined = skeleton[np.ix_(ordering.order, ordering.order)].astype(np.float32)
    group = tied.astype(np.float32)
    return Steps(
        names=tuple(ordering.moments.names[j] for j in ordering.order),
        margin=ordering.margins,
        runner_up=np.where(alone, -1, nearest),
        p_value=np.where(alone, np.nan, tests[np.arange(len(nearest)), nearest]),
        tied=tied,
        matters=np.einsum("ij,ij->i", group @ joined, group) > 0,
    )


def arrow_reasons(
    fit: Fit, source: NDArray[np.intp], target: NDArray[np.intp], known: Iterable[tuple[str, str]] = ()
) -> tuple[str, ...]:
    """ "knowledge", "class", "variance" or "open" for every arrow: see the top of this file."""
    fixed = np.zeros(fit.graph.adjacency.shape, dtype=bool)
    for arrow in known:
        strangers = [name for name in arrow if name not in fit.names]
        if strangers:
            raise GraphError(
                f"The arrow {' → '.join(arrow)} is said to be known, and {strangers[0]} is not a variable."
            )
        fixed[fit.names.index(arrow[0]), fit.names.index(arrow[1])] = True
    chosen = np.full(len(source), "variance")
    if fit.probabilities is not None:
        arrows = fit.probabilities.arrows
        chosen[arrows[source, target] < DECIDED * (arrows[source, target] + arrows[target, source])] = "open"
    words = np.where(fixed[source, target], "knowledge", np.where(fit.compelled[source, target], "class", chosen))
    return tuple(str(word) for word in words)


def _plain(value: Any) -> Any:
    """Numbers that are not there become None, NumPy's become Python's."""
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
