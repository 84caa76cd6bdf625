r"""The model of a series in the order of time: its graph over lags, what follows from a change, and how it goes on.

With $B_l$ the weights of the values l steps earlier and $T = (I - B_0)^{-1}$, row vectors as everywhere,

    $x_t = c + \sum_{l=0}^{L} x_{t-l} B_l + e_t$,  so  $x_t = cT + \sum_{l=1}^{L} x_{t-l} B_l T + e_t T$.

One unit more of a variable at time t changes $x_{t+h}$ by its row of $\Psi_h$: $\Psi_0 = T$ and
$\Psi_h = \sum_{l=1}^{\min(h, L)} \Psi_{h-l} B_l T$.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.words import counted

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False, repr=False)
class SummaryGraph:
    """The variables of a series, and `at_lags`[l, i, j]: whether i acts on j l steps later. Its own past is an arrow to itself."""

    nodes: tuple[str, ...]
    at_lags: Mask

    @cached_property
    def adjacency(self) -> Mask:
        """Whether i acts on j, now or later, at [i, j]."""
        return np.asarray(self.at_lags.any(axis=0))

    @cached_property
    def edges(self) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
        """Source, target, and the lags of every arrow, 0 for the same time."""
        return tuple(
            (self.nodes[i], self.nodes[j], tuple(np.flatnonzero(self.at_lags[:, i, j]).tolist()))
            for i, j in np.argwhere(self.adjacency).tolist()
        )

    def to_networkx(self) -> nx.DiGraph:
        """Return a directed graph of NetworkX whose edges have `lags`."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from((source, target, {"lags": list(lags)}) for source, target, lags in self.edges)
        return graph

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the arrows in plain values."""
        return [{"source": source, "target": target, "lags": list(lags)} for source, target, lags in self.edges]

    def __repr__(self) -> str:
        return f"SummaryGraph({counted(len(self.nodes), 'variable')}, {counted(len(self.edges), 'arrow')})"


def summary_of(nodes: tuple[str, ...], adjacency: Mask | Array) -> SummaryGraph:
    """Return the summary of the graph over all columns of a series: its variables first, then those of each earlier time."""
    p = len(nodes)
    return SummaryGraph(nodes, np.asarray(adjacency[:, :p] != 0).reshape(-1, p, p))


def at_once(B: Array) -> Array:
    """Return T, the total effects at the same time; B[l] has the weights of the values l steps earlier."""
    return np.asarray(np.linalg.inv(np.eye(B.shape[1]) - B[0]))


def responses(B: Array, steps: int) -> Array:
    """Return Ψ_h for h from 0 to `steps`: what one unit more of i does to j at [h, i, j]."""
    T = at_once(B)
    found = [T]
    for h in range(1, steps + 1):
        found.append(sum((found[h - lag] @ (B[lag] @ T) for lag in range(1, min(h, len(B) - 1) + 1)), np.zeros_like(T)))
    return np.stack(found)


def continued(B: Array, means: Array, last: Array, errors: Array) -> Array:
    """Return how a series goes on, one row for every row of errors, with more axes for many ways.

    means: of the present and of each earlier time, one row each; the intercept is what passes through them. last: the last L rows.
    """
    T = at_once(B)
    A = [B[lag] @ T for lag in range(1, len(B))]
    constant = means[0] - sum((means[lag] @ A[lag - 1] for lag in range(1, len(B))), np.zeros(B.shape[1]))
    rows = [np.broadcast_to(row, errors.shape[1:]) for row in last]
    for e in errors:
        now = constant + e @ T
        for lag, matrix in enumerate(A, start=1):
            now = now + rows[-lag] @ matrix
        rows.append(now)
    return np.stack(rows[len(last) :]) if len(errors) else np.empty((0, *errors.shape[1:]))


def largest_root(B: Array) -> float:
    """Return the modulus of the largest root: below 1 changes die out, from 1 on they last or grow."""
    lags, p = len(B) - 1, B.shape[1]
    if not lags:
        return 0.0
    T = at_once(B)
    companion = np.zeros((lags * p, lags * p))
    for lag in range(lags):
        companion[lag * p : (lag + 1) * p, :p] = B[lag + 1] @ T
    companion[: (lags - 1) * p, p:] = np.eye((lags - 1) * p)
    return float(np.abs(np.linalg.eigvals(companion)).max())
