"""A Fit in, the Fit without edges of small effect out: what many rows find is not always worth an arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ordag.arrays import Array, Mask
from ordag.checks import as_number, short
from ordag.data.moments import Moments
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.knowledge.knowledge import constraints
from ordag.knowledge.masks import class_fault
from ordag.learners.known import informed
from ordag.linalg import triangle
from ordag.words import counted

SMALL = 0.05
"""A standardised effect below this is a trifle to most people."""

EXPLAINED = 0.01
"""A trifle also explains less than this share of what the other parents leave of its target."""

BEYOND_CHANCE = 16.0
"""The square of its t from which an edge is surely there: a trifle below that may as well be chance."""

MANY_ROWS = BEYOND_CHANCE / EXPLAINED
"""With fewer rows no trifle is surely there."""

WIDE = 300
"""Tables with more columns are not searched for trifles unasked: that takes as long as to learn the graph."""


class Effect(NamedTuple):
    """Of the edge source → target, or of source — target in its stronger direction.

    size: |b| sd(source)/sd(target), with b the weight of the source in the regression of the target on its parents.
    explained: the share of the target's variance beside its other parents that the source accounts for.
    """

    source: int
    target: int
    size: float
    explained: float


def check_min_effect(min_effect: float | None) -> float:
    """The standardised effect below which edges are left out; 0 where none are."""
    if min_effect is None:
        return 0.0
    value = as_number(min_effect)
    if not 0.0 <= value < 1.0:
        raise SettingError(
            f"min_effect={short(min_effect)}: the standardised effect below which edges are left out is a number from 0 on "
            "and below 1; 0.1 is a usual one, 0 leaves none out."
        )
    return value


def without_small_effects(fit: Fit, min_effect: float) -> Fit:
    """The fit without the edges whose standardised effect is smaller; those are in `details["left_out"]`.

    Of the arrows into a variable the weakest goes first, then the regression is made anew, until none is too weak. The
    lines of a class follow: one is regressed in both directions, beside the arrows into its target that are left, and
    its effect is the larger of the two. There is a DAG of the class with just these parents. No required arrow goes.
    The marks of the other edges stay; where they no longer make a class, `details["valid"]` and a warning say so.
    """
    if min_effect == 0.0:
        return fit
    known = constraints(fit.settings.get("knowledge"), fit.names)
    adjacency = np.array(fit.graph.adjacency)
    required = np.zeros_like(adjacency) if known is None else known.required
    regressions = _Regressions(fit.moments)
    out = [*_weak_arrows(adjacency, required, regressions, min_effect)]
    out += _weak_lines(adjacency, regressions, min_effect)
    details: dict[str, Any] = {
        **fit.details,
        "left_out": {
            "below": min_effect,
            "count": len(out),
            "edges": [[fit.names[one.source], fit.names[one.target], one.size] for one in out],
        },
    }
    sentences = list(fit.warnings)
    graph: Dag | Cpdag
    if isinstance(fit.graph, Dag):
        graph = Dag.known_acyclic(fit.names, adjacency)
    else:
        graph = Cpdag(fit.names, adjacency)
        fault = class_fault(graph, known) if out else None
        if fault is not None:
            details["valid"] = False
            if class_fault(fit.graph, known) is None:
                sentences.append(f"Without the edges of small effect the graph is the class of no DAG: {fault}.")
    settings = {**fit.settings, "min_effect": min_effect}
    return informed(replace(fit, graph=graph, settings=settings, details=details, warnings=tuple(sentences)), known)


def with_notice(fit: Fit) -> Fit:
    """The fit with a warning where many rows made trifles into edges, and nobody asked to leave them out."""
    if "min_effect" in fit.settings or fit.n < MANY_ROWS or fit.moments.p > WIDE:
        return fit
    least = BEYOND_CHANCE / fit.n
    small = sum(one.size < SMALL and least < one.explained < EXPLAINED for one in effects(fit, _doubtful(fit)))
    if not small:
        return fit
    what = f"{counted(small, 'edge')} {'has' if small == 1 else 'have'}"
    sentence = (
        f"{what} a standardised effect below {SMALL}, which {counted(fit.n, 'row')} are enough to find: leave such edges out with "
        f"min_effect={SMALL} (--min-effect {SMALL})."
    )
    return replace(fit, warnings=(*fit.warnings, sentence))


def _doubtful(fit: Fit) -> list[int]:
    """The variables that may have a trifle among their parents, as far as the tests along the order tell at no cost."""
    if fit.selection is None or fit.ordering is None:
        return list(range(fit.moments.p))
    r_squared = np.square(fit.selection.r)
    weak = fit.selection.parents & (r_squared < 2 * EXPLAINED) & (r_squared > 0.75 * BEYOND_CHANCE / fit.n)
    doubtful: list[int] = fit.ordering.order[weak.any(axis=1)].tolist()
    return doubtful


def effects(fit: Fit, targets: list[int] | None = None) -> list[Effect]:
    """Those of all edges of the graph, or of the arrows into some of the variables and all lines."""
    adjacency = fit.graph.adjacency
    regressions = _Regressions(fit.moments)
    found: list[Effect] = []
    for j in range(len(adjacency)) if targets is None else targets:
        parents = np.flatnonzero(adjacency[:, j] & ~adjacency[j])
        found += regressions.effects(j, parents)
    return found + [regressions.of_line(adjacency, i, j) for i, j in _lines(adjacency)]


def _weak_arrows(adjacency: Mask, required: Mask, regressions: _Regressions, min_effect: float) -> Iterator[Effect]:
    """Take arrows of too small an effect out of the adjacency, the weakest into every variable first."""
    for j in range(len(adjacency)):
        while True:
            parents = np.flatnonzero(adjacency[:, j] & ~adjacency[j])
            weak = [
                one for one in regressions.effects(j, parents) if one.size < min_effect and not required[one.source, j]
            ]
            if not weak:
                break
            weakest = min(weak, key=lambda one: one.size)
            adjacency[weakest.source, j] = False
            yield weakest


def _weak_lines(adjacency: Mask, regressions: _Regressions, min_effect: float) -> list[Effect]:
    weak = [one for i, j in _lines(adjacency) if (one := regressions.of_line(adjacency, i, j)).size < min_effect]
    for one in weak:
        adjacency[one.source, one.target] = adjacency[one.target, one.source] = False
    return weak


def _lines(adjacency: Mask) -> list[list[int]]:
    lines: list[list[int]] = np.argwhere(np.triu(adjacency & adjacency.T)).tolist()
    return lines


class _Regressions:
    """Standardised effects from the root R."""

    def __init__(self, moments: Moments) -> None:
        self.R = moments.R
        self.sd = np.sqrt(moments.variances)

    def effects(self, target: int, parents: NDArray[np.intp]) -> list[Effect]:
        """Those of all parents, from the triangular factor U of [R_P, R_j]: b = U_PP⁻¹ U_Pj."""
        k = len(parents)
        if not k:
            return []
        columns = np.append(parents, target)
        U = triangle(self.R[: columns.max() + 1, columns])
        T: Array = lapack.dtrtri(U[:k, :k])[0]
        b = T @ U[:k, k]
        sizes = np.abs(b) * self.sd[parents] / self.sd[target]
        rise = b * b / np.einsum("ij,ij->i", T, T)
        explained = rise / (rise + U[k, k] ** 2)
        return [
            Effect(*one) for one in zip(parents.tolist(), [target] * k, sizes.tolist(), explained.tolist(), strict=True)
        ]

    def of_line(self, adjacency: Mask, i: int, j: int) -> Effect:
        """The larger of i → j and j → i, each beside the arrows into its target alone."""

        def toward(source: int, target: int) -> Effect:
            parents = np.flatnonzero(adjacency[:, target] & ~adjacency[target])
            return self.effects(target, np.append(parents, source))[-1]

        return max(toward(i, j), toward(j, i), key=lambda one: one.size)
