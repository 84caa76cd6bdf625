"""The table of arrows: weights, p-values, and what directs each of them.

An arrow of an equivalence class that was found without variances (by PC or GES) has the reason "class". The arrows that all DAGs of
a graph's own class agree on would not do: if the graph was found by variances, so was its class. An arrow that the user fixed has the
reason "knowledge". For all others it is "variance". A method with probabilities gives the reason "class" where nine tenths of the
sampled graphs that have the edge have the arrow in their own class, and "open" where the direction has less than 90 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array
from ordag.evidence.hidden_causes import may_be_hidden
from ordag.learners.found import Found
from ordag.learners.sparse_parents import ArrowTest, SparseParents, discovery_rates
from ordag.resampling.support import Support

DECIDED = 0.9
"""The probability of a direction, given that there is an edge, from which the variances count as having decided it."""


def arrow_ends(found: Found) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The column numbers of the source and the target of every arrow, by their places in the order."""
    source, target = found.graph.arrows.source, found.graph.arrows.target
    if found.places is None:
        return source, target
    place = np.argsort(found.places)
    by_place = np.lexsort((place[target], place[source]))
    return source[by_place], target[by_place]


def arrow_columns(found: Found, support: Support | None = None) -> dict[str, Any]:
    """One entry per arrow: see `Fit.edges`."""
    source, target = arrow_ends(found)
    columns: dict[str, Any] = {
        "source": [found.names[i] for i in source],
        "target": [found.names[j] for j in target],
    }
    place = np.argsort(found.places or ())
    if found.refit is not None:
        columns["weight"], columns["std_error"] = found.refit.weights_of(source, target)
        columns["robustness"] = found.refit.robustness_of(source, target)
    p_values = edge_p_values(found, source, target)
    if p_values is not None:
        columns["p_value"] = p_values
    if found.ordering is not None and found.ordering.factor is not None:
        ends = place[source], place[target]
        columns["direction_p_value"] = found.ordering.direction_p_values(np.minimum(*ends), np.maximum(*ends))
    if isinstance(found.result, SparseParents):
        columns["q_value"] = discovery_rates(columns["p_value"], found.result.pairs)
    if found.probabilities is not None:
        columns["probability"] = found.probabilities.arrows[source, target]
        columns["edge_probability"] = found.probabilities.joined[source, target]
        columns["probability_error"] = found.probabilities.errors[source, target]
        columns["hidden_cause"] = may_be_hidden(found)[source, target]
    columns["reason"] = arrow_reasons(found, source, target)
    return columns if support is None else columns | support.arrow_columns(source, target)


def edge_p_values(found: Found, source: NDArray[np.intp], target: NDArray[np.intp]) -> Array | None:
    """Those of the tests for arrows of the graph, by column numbers; None where a method has neither tests nor weights.

    Where parents were chosen by tests of all pairs (`selection`), those of other pairs too.
    """
    if isinstance(found.result, SparseParents) and found.refit is not None:
        return found.result.p_values(found.refit, source, target)
    if found.selection is not None and found.ordering is not None:
        ends = np.argsort(found.ordering.order)[np.stack([source, target])]
        return found.selection.p_values_of(ends.max(axis=0), ends.min(axis=0))
    if found.pair_p_values is not None:
        return found.pair_p_values[source, target]
    return None if found.refit is None else ArrowTest().p_values(found.refit, source, target)


def arrow_reasons(found: Found, source: NDArray[np.intp], target: NDArray[np.intp]) -> list[str]:
    """ "knowledge", "class", "variance" or "open" for every arrow: see the top of this file."""
    chosen = np.full(len(source), "variance")
    if found.probabilities is not None:
        there, back = found.probabilities.arrows[source, target], found.probabilities.arrows[target, source]
        chosen[(there < DECIDED * (there + back)) | (there <= 0.5)] = "open"
    by_class = np.where(found.compelled.has(source, target), "class", chosen)
    reasons: list[str] = np.where(found.by_knowledge.has(source, target), "knowledge", by_class).tolist()
    return reasons
