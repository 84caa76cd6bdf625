"""Parents where regressions on all earlier variables are out of reach: the few that the order itself was found with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ordag.arrays import Array
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Constraints
from ordag.model.refit import Refit, refit
from ordag.order.ordering import Ordering


@dataclass(frozen=True, eq=False)
class SupportResult:
    """What there is to tell of a graph whose parents are the supports of its order.

    pairs: how many pairs of variables there are. split: the model of the graph fitted to rows that it
    was not learned from, where that was asked for: its tests are honest, those of the learned rows come after selection.
    """

    pairs: int
    split: Refit | None = None

    def details(self) -> dict[str, Any]:
        tests = "of other rows than the graph" if self.split is not None else "after selection"
        return {"p_values": tests}


def supported_graph(ordering: Ordering, rate: float, known: Constraints | None) -> Dag:
    """The arrows from the support of every variable, within what is known, that a t test finds at this false-discovery rate.

    The rate is over all pairs of variables, not those of the supports only: among independent columns a support is no less a
    chance find than any other pair.
    """
    assert ordering.support is not None
    moments = ordering.moments
    adjacency = np.zeros((moments.p, moments.p), dtype=bool)
    for j, support in zip(ordering.order, ordering.support, strict=True):
        adjacency[support, j] = True
    required = np.zeros_like(adjacency) if known is None else known.required
    if known is not None:
        adjacency = adjacency & known.allowed | known.required
    fitted = refit(moments, Dag.known_acyclic(moments.names, adjacency.copy()))
    source, target = np.nonzero(adjacency)
    rates = discovery_rates(weight_p_values(fitted, source, target), math.comb(moments.p, 2))
    adjacency[source, target] = rates <= rate
    return Dag.known_acyclic(moments.names, adjacency | required)


def weight_p_values(fitted: Refit, source: NDArray[np.intp], target: NDArray[np.intp]) -> Array:
    """Those of t tests that the weights are zero."""
    t = np.abs(fitted.sem.B[source, target] / fitted.std_error[source, target])
    return np.asarray(2.0 * stdtr(fitted.residual_df[target].astype(float), -t))


def discovery_rates(p_values: Array, pairs: int) -> Array:
    """The least false-discovery rate at which each is found among so many pairs (Benjamini & Hochberg 1995)."""
    rank = np.argsort(p_values)
    scaled = np.minimum(p_values[rank] * pairs / np.arange(1, len(rank) + 1), 1.0)
    rates = np.empty(len(rank))
    rates[rank] = np.minimum.accumulate(scaled[::-1])[::-1]
    return rates
