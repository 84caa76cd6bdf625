"""`Cpdag`: the equivalence class of a DAG, with the way from a DAG to its class and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ordag.common.arrays import Mask
from ordag.common.words import listed
from ordag.errors import GraphError
from ordag.graph.acyclic import find_cycle
from ordag.graph.dag import Dag
from ordag.graph.formats import Weights
from ordag.graph.graph import Graph, arrow, line
from ordag.graph.partly_directed import class_links, completed, extension

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Cpdag(Graph):
    """A graph with directed and undirected edges that stands for the equivalence class of a DAG.

    In `adjacency` an undirected edge has both entries. A learner may return a graph that is the class of no
    DAG; see `valid` and `why_invalid`.
    """

    @property
    def valid(self) -> bool:
        """Whether this is the CPDAG of some DAG."""
        return self._fault is None

    def why_invalid(self) -> str | None:
        """Say in a sentence what keeps this from being the CPDAG of a DAG; None if nothing does."""
        return self._fault

    def why_not_extendable(self) -> str | None:
        """Say in a sentence why no DAG has this skeleton, these arrows and no other colliders; None if one does."""
        left = self._extension[1]
        if not left.any():
            return None
        cycle = find_cycle(self.arrows)
        if cycle is not None:
            return f"the arrows {self._cycle(cycle)} form a cycle"
        return f"whichever of {listed(self._names(np.flatnonzero(left)))} came last among them, there would be a new collider or a cycle"

    @cached_property
    def _extension(self) -> tuple[Mask, Mask]:
        return extension(self.adjacency)

    @cached_property
    def _fault(self) -> str | None:
        reason = self.why_not_extendable()
        if reason is not None:
            return f"no DAG agrees with it: {reason}"
        right = completed(self._extension[0])
        differs = np.argwhere(self.adjacency != right)
        if not len(differs):
            return None
        i, j = differs[0].tolist()
        edge = (self.nodes[i], self.nodes[j])
        if self.adjacency[i, j]:
            return f"{line(edge[::-1])} is undirected, though every DAG of the class has {arrow(edge[::-1])}"
        return f"{arrow(edge[::-1])} is directed, though some DAG of the class has {arrow(edge)}"

    def edge_table(self, weights: Weights | None = None) -> pandas.DataFrame:
        """Make a data frame with a row for each edge: `source`, `target`, `undirected`, and `weight` if given."""
        table = super().edge_table(weights)
        table.insert(2, "undirected", np.arange(self.edge_count) >= len(self.directed))
        return table


def to_cpdag(dag: Dag) -> Cpdag:
    """Return the equivalence class of a DAG; an edge is directed if all DAGs of the class agree on its direction."""
    return Cpdag.known(dag.nodes, class_links(dag.links))


def extend(cpdag: Cpdag) -> Dag:
    """Return a DAG with the same skeleton, the same arrows and no other colliders (Dor & Tarsi 1992).

    The graph need not be a CPDAG. Where there is a choice, arrows lead from nodes listed earlier.
    """
    reason = cpdag.why_not_extendable()
    if reason is not None:
        raise GraphError(f"none exists: {reason}")
    return Dag(cpdag.nodes, cpdag._extension[0])
