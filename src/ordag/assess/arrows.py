"""The table of arrows: weights, p-values, and what directs each of them.

An arrow of an equivalence class that was found without variances (by PC or GES) has the reason "class". The arrows that all DAGs of
a graph's own class agree on would not do: if the graph was found by variances, so was its class. An arrow that the user fixed has the
reason "knowledge". For all others it is "variance". A method with probabilities gives the reason "class" where nine tenths of the
sampled graphs that have the edge have the arrow in their own class, "experiment" or "environment" where nine tenths have it in the
class that experiments or environments leave, and "open" where the direction has less than 90 %. An arrow from an earlier value has the
reason "time".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ordag.assess.causes import cause_columns
from ordag.assess.hidden_causes import may_be_hidden
from ordag.common.arrays import Array, Indices
from ordag.learners.found import Found
from ordag.resampling.support import Support

DECIDED = 0.9
"""A direction counts as decided from this probability on, given that the edge exists."""


def arrow_ends(found: Found) -> tuple[Indices, Indices]:
    """Return the column numbers of the source and target of every arrow, sorted by their positions in the order."""
    source, target = found.graph.arrows.source, found.graph.arrows.target
    if found.column_order is None:
        return source, target
    place = np.argsort(found.column_order)
    by_place = np.lexsort((place[target], place[source]))
    return source[by_place], target[by_place]


def arrow_columns(found: Found, support: Support | None = None) -> dict[str, Any]:
    """Return the columns of `Fit.edges`."""
    source, target = arrow_ends(found)
    columns: dict[str, Any] = {
        "source": [found.names[i] for i in source],
        "target": [found.names[j] for j in target],
    }
    if found.series is not None:
        columns["source"], columns["lag"] = (
            map(list, zip(*map(found.series.place, source.tolist()), strict=True)) if len(source) else ([], [])
        )
    if found.refit is not None:
        columns["weight"], columns["std_error"] = found.refit.weights_of(source, target)
        columns["robustness"] = found.refit.robustness_of(source, target)
    columns |= pair_evidence(found, source, target)
    if "probability" in columns:
        columns["hidden_cause"] = may_be_hidden(found)[source, target]
    columns["reason"] = arrow_reasons(found, source, target)
    if found.equations is not None:
        columns["conditions"] = deciding_conditions(found, source, target, columns["reason"])
    if support is not None:
        columns |= support.arrow_columns(source, target)
    return columns if found.causes is None else _with_causes(found, columns, support)


def _with_causes(found: Found, columns: dict[str, Any], support: Support | None) -> dict[str, Any]:
    """Return the columns with the arrows from categories before the others."""
    causes = cause_columns(found, list(columns), None if support is None else support.cause_support)
    return {
        name: causes[name] + values if isinstance(values, list) else np.concatenate([causes[name], values])
        for name, values in columns.items()
    }


def pair_evidence(found: Found, source: Indices, target: Indices) -> dict[str, Array]:
    """Return the evidence of the method for pairs of columns, with the p-value of their direction where an order has a factor."""
    evidence = found.result.evidence(found, source, target)
    if found.factor is not None:
        place = np.argsort(found.known_ordering.order)
        ends = place[source], place[target]
        evidence["direction_p_value"] = found.known_ordering.direction_p_values(np.minimum(*ends), np.maximum(*ends))
    return evidence


def deciding_conditions(found: Found, source: Indices, target: Indices, reasons: Sequence[str]) -> list[list[str]]:
    """Return, for every arrow that experiments or environments direct, those that act on one of its ends alone."""
    if found.equations is None:
        return [[] for _ in reasons]
    return [
        found.equations.deciding(i, j) if reason == found.equations.reason else []
        for i, j, reason in zip(source.tolist(), target.tolist(), reasons, strict=True)
    ]


def arrow_reasons(found: Found, source: Indices, target: Indices) -> list[str]:
    """Return the reason for the direction of every arrow, as explained at the top of this file."""
    chosen = np.full(len(source), "variance", dtype="<U11")
    if found.probabilities is not None:
        there, back = found.probabilities.arrows[source, target], found.probabilities.arrows[target, source]
        chosen[(there < DECIDED * (there + back)) | (there <= 0.5)] = "open"
    if found.equations is not None:
        chosen = np.where(found.by_conditions.has(source, target), found.equations.reason, chosen)
    compelled = found.compelled.has(source, target)
    if found.equations is not None:
        compelled &= ~np.isin(source, found.equations.external)
        chosen[np.isin(source, found.equations.external)] = found.equations.reason
    by_class = np.where(compelled, "class", chosen)
    if found.series is not None:
        by_class[source >= found.series.p] = "time"
    reasons: list[str] = np.where(found.by_knowledge.has(source, target), "knowledge", by_class).tolist()
    return reasons
