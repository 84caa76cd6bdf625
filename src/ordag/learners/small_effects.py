"""Leave out edges of small standardised effect, or warn of them: many rows find edges of no importance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import triangle
from ordag.common.words import counted
from ordag.data.moments import Moments
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.knowledge.masks import class_fault
from ordag.learners.found import AnyFound, Found, LeftOut

SMALL_EFFECT = 0.05
"""Warn of standardised effects below this."""

SMALL_SHARE = 0.01
"""A small effect also explains less than this share of the variance that the other parents leave of its target."""

CERTAIN_T_SQUARED = 16.0
"""The square of its t from which an edge is certain: a small effect below that may be chance."""

LEAST_ROWS = CERTAIN_T_SQUARED / SMALL_SHARE
"""With fewer rows no small effect is certain."""

MOST_COLUMNS = 300
"""Columns of tables that are checked for a warning: with more it takes as long as learning the graph."""


class Effect(NamedTuple):
    """The effect of the edge source → target, or of source — target in its stronger direction.

    size: |b| sd(source)/sd(target), with b the weight of the source in the regression of the target on its parents.
    explained: the share of the target's variance given its other parents that the source explains.
    """

    source: int
    target: int
    size: float
    explained: float


def without_small_effects(found: Found, min_effect: float) -> Found:
    """Leave out the edges whose standardised effect is smaller.

    Of the arrows into a variable the weakest is removed first, then the regression is repeated, until none is too weak. The
    lines of a class follow: each is regressed in both directions, given the remaining arrows into its target, and
    its effect is the larger of the two. There is a DAG of the class with just these parents. Required arrows stay.
    The marks of the other edges stay; if they no longer make a class, `left_out.fault` and a warning explain why.
    """
    names, known = found.names, found.known
    adjacency = np.array(found.graph.adjacency)
    required = np.zeros_like(adjacency) if known is None else known.required
    regressions = _Regressions(found.moments)
    out = [*_weak_arrows(adjacency, required, regressions, min_effect)]
    out += _weak_lines(adjacency, regressions, min_effect)
    sentences, fault = found.warnings, None
    graph: Dag | Cpdag
    if isinstance(found.graph, Dag):
        graph = Dag.known_acyclic(names, adjacency)
    else:
        graph = Cpdag(names, adjacency)
        fault = class_fault(graph, known) if out else None
        if fault is not None and class_fault(found.graph, known) is None:
            sentences = (*sentences, f"Without the edges of small effect the graph is the class of no DAG: {fault}.")
    edges = tuple((names[one.source], names[one.target], one.size) for one in out)
    return replace(found, graph=graph, left_out=LeftOut(min_effect, edges, fault), warnings=sentences)


def with_notice(found: AnyFound) -> AnyFound:
    """Add a warning where many rows have found small effects and no `min_effect` is set."""
    if found.left_out is not None or found.n < LEAST_ROWS or found.moments.p > MOST_COLUMNS:
        return found
    least = CERTAIN_T_SQUARED / found.n
    every = effects(found, _doubtful(found))
    small = sum(one.size < SMALL_EFFECT and least < one.explained < SMALL_SHARE for one in every)
    if not small:
        return found
    what = f"{counted(small, 'edge')} {'has' if small == 1 else 'have'}"
    sentence = (
        f"{what} a standardised effect below {SMALL_EFFECT}, which {counted(found.n, 'row')} are enough to find: leave such edges "
        f"out with min_effect={SMALL_EFFECT} (--min-effect {SMALL_EFFECT})."
    )
    return replace(found, warnings=(*found.warnings, sentence))


def _doubtful(found: Found) -> list[int]:
    """Return the variables that may have a parent of small effect, from the tests along the order if there are any."""
    if found.selection is None or found.ordering is None:
        return list(range(found.moments.p))
    if found.selection.row_p_values is not None or found.selection.r is None:
        return []  # the effect of a curve is not its weight
    r_squared = np.square(found.selection.r)
    weak = found.selection.parents & (r_squared < 2 * SMALL_SHARE) & (r_squared > 0.75 * CERTAIN_T_SQUARED / found.n)
    doubtful: list[int] = found.ordering.order[weak.any(axis=1)].tolist()
    return doubtful


def effects(found: Found, targets: list[int] | None = None) -> list[Effect]:
    """Return the effects of all edges of the graph, or of the arrows into some of the variables and all lines."""
    adjacency = found.graph.adjacency
    regressions = _Regressions(found.moments)
    sizes: list[Effect] = []
    for j in range(len(adjacency)) if targets is None else targets:
        parents = np.flatnonzero(adjacency[:, j] & ~adjacency[j])
        sizes += regressions.effects(j, parents)
    return sizes + [regressions.of_line(adjacency, i, j) for i, j in _lines(adjacency)]


def _weak_arrows(adjacency: Mask, required: Mask, regressions: _Regressions, min_effect: float) -> Iterator[Effect]:
    """Remove arrows of small effect from the adjacency, the weakest into every variable first, and yield them."""
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
    """Remove lines of small effect from the adjacency, and return them."""
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
        """Return the effects of all parents, from the triangular factor U of [R_P, R_j]: b = U_PP⁻¹ U_Pj."""
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
        """Return the larger effect of i → j and j → i, each given the arrows into its target alone."""

        def toward(source: int, target: int) -> Effect:
            parents = np.flatnonzero(adjacency[:, target] & ~adjacency[target])
            return self.effects(target, np.append(parents, source))[-1]

        return max(toward(i, j), toward(j, i), key=lambda one: one.size)
