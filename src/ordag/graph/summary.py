"""`SummaryGraph`: which variable acts on which over time, and after how many steps. It may have cycles."""

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
