"""The single change of a DAG that lowers BIC most: an arrow more, one less, or one turned round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.decisions.claims import given_parents
from ordag.graph.acyclic import reachable
from ordag.graph.dag import Dag
from ordag.graph.graph import arrow

LEAST_GAIN = 1e-9
"""A change that lowers BIC by less mends nothing."""


class Change(NamedTuple):
    """A single change of a graph: what is done, the arrow that it is done to, and by how much it lowers BIC and χ²."""

    kind: str
    source: str
    target: str
    bic: float
    chi2: float

    @property
    def words(self) -> str:
        ends = arrow((self.source, self.target))
        return {"add": f"adding {ends}", "drop": f"leaving out {ends}", "turn": f"turning {ends} round"}[self.kind]


def best_change(U: Array, correlations: Array, rests: Array, dag: Dag, n: int) -> Change | None:
    """Return the change that lowers BIC most; None if none lowers it.

    `correlations` are those of i with j given the parents of j, at [i, j]; `rests` are the shares of sums of squares that parents leave.
    """
    p, adjacency, price = len(U), dag.adjacency, float(np.log(n))
    with np.errstate(divide="ignore"):
        gains = np.nan_to_num(-n * np.log1p(-(correlations**2)), posinf=0.0)  # in χ², of i as one more parent of j
    below = [reachable(dag.links, j) for j in range(p)]
    best, found = LEAST_GAIN, None

    def offer(kind: str, i: int, j: int, bic: float, chi2: float) -> None:
        nonlocal best, found
        if bic > best:
            best, found = bic, Change(kind, dag.nodes[i], dag.nodes[j], bic, chi2)

    for j in range(p):
        for i in np.flatnonzero(~adjacency[:, j] & ~adjacency[j] & ~below[j]).tolist():
            if i != j:
                offer("add", i, j, float(gains[i, j]) - price, float(gains[i, j]))
        parents = np.flatnonzero(adjacency[:, j])
        for i in parents.tolist():
            loss = n * float(np.log(given_parents(U, j, parents[parents != i]).rest / rests[j]))
            offer("drop", i, j, price - loss, -loss)
            if not any(below[k][j] for k in np.flatnonzero(adjacency[i]).tolist()):
                offer("turn", i, j, float(gains[j, i]) - loss, float(gains[j, i]) - loss)
    return found
