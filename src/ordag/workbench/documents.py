"""The documents that the page of the workbench shows: those of the report without what takes long, changes of units, and effects."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordag.assess.forecast import usual_count
from ordag.assess.verdict import Verdict, quick_verdict, spread_sentence
from ordag.common.arrays import Array, Mask
from ordag.common.plain import plain
from ordag.common.words import counted, number, shown
from ordag.fit import Fit
from ordag.graph.acyclic import topological_order
from ordag.graph.cpdag import Cpdag
from ordag.model.effects import Effect, check_pair, effects_given_graph
from ordag.show.document import document
from ordag.show.provenance import Origin
from ordag.total_effects import How, directed, pair_effect

LEAST_PAIRS, PAIRS_EACH = 200, 5
"""Unjoined pairs in a document: so many, or so many for every variable. The report has all of them, to move a level over; the page
learns again instead."""

LEVEL = 0.95
"""Confidence level of the intervals of total effects."""

MOST_PATHS = 20
"""Paths of an effect that are shown, those with the largest products of weights."""


def brief(fit: Fit, origin: Origin, *, layout: bool, whole: bool = False) -> dict[str, Any]:
    """Return the document of a fit without findings and histograms.

    Unless `whole`, what else takes time is left out if it is not known yet: the forecast, the reasons of directions that probabilities
    decide, and the expected false edges.
    """
    pending = not whole and is_pending(fit)
    quick = fit if fit.result.is_complete(fit) else fit.result.without_slow_parts(fit)
    verdict = _first_verdict(quick) if pending else fit.verdict
    shown_document = document(
        quick,
        origin=origin,
        verdict=verdict,
        layout=layout,
        histograms=False,
        most_pairs=max(LEAST_PAIRS, PAIRS_EACH * len(fit.names)),
    )
    shown_document["verdict"]["pending"] = pending
    if not verdict.weighed:
        pairs = shown_document["pairs"]
        pairs["reason"] = ["pending" if reason == "variance" else reason for reason in pairs["reason"]]
    return {**shown_document, "raw": list(fit.whole_graph.nodes)}


def is_pending(fit: Fit) -> bool:
    """Return whether parts of the document take time and are not known yet."""
    if not fit.result.is_complete(fit):
        return True
    if "verdict" in vars(fit) or not fit.method_settings.linear or fit.result.by_probabilities:
        return False
    return fit.graph.edge_count > 0 and usual_count(fit) > 0


def _first_verdict(fit: Fit) -> Verdict:
    """Return what is known of the directions at once."""
    if not fit.result.by_probabilities:
        return quick_verdict(fit, forecast=False)
    return Verdict(
        None, spread_sentence(fit), weighed=False, sentence="What each direction rests on is being worked out."
    )


def judgement(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first sentences of a document and its verdict, which is final."""
    return {"found": document["found"], "verdict": {**document["verdict"], "pending": False}}


def scale_changes(before: Fit, after: Fit) -> dict[str, Any]:
    """List the edges that a change of units turned, removed and added, by column numbers, with a sentence that explains it."""
    old, new = before.graph.adjacency, after.graph.adjacency
    was: Mask = old & ~old.T
    now: Mask = new & ~new.T
    changed = {
        "turned": np.argwhere(now & was.T),
        "gone": _arrows(old, ~(new | new.T)),
        "new": _arrows(new, ~(old | old.T)),
    }
    return {
        **{name: pairs.tolist() for name, pairs in changed.items()},
        "sentence": _scale_sentence(before, after, changed),
    }


def _arrows(adjacency: Mask, where: Mask) -> NDArray[np.intp]:
    """List the edges at these entries, each undirected one once."""
    both = adjacency & adjacency.T
    return np.argwhere(where & ((adjacency & ~both) | np.triu(both)))


def _scale_sentence(before: Fit, after: Fit, changed: Mapping[str, NDArray[np.intp]]) -> str:
    """Count what a change of units did, and explain why the method allows it."""
    counts = [
        f"{counted(len(changed[key]), noun)} {word}"
        for key, noun, word in (("turned", "arrow", "reversed"), ("gone", "edge", "gone"), ("new", "edge", "new"))
        if len(changed[key])
    ]
    logs = any(change == "log" for change in after.transform.values())
    what = "the change of units" if not logs else "the change of scales"
    count = f"After {what}: {', '.join(counts)}." if counts else f"{what[0].upper()}{what[1:]} changes no arrow."
    if after.method != before.method:
        return f"{count} The method changed as well."
    if isinstance(after.graph, Cpdag):
        rests = "This method rests on partial correlations, which no unit can change" + (
            "; logarithms can, as they bend the relations between columns." if logs else "."
        )
    else:
        rests = after.method_settings.rests_on
    return f"{count} {rests}"


def effects_of(fit: Fit, cause: str) -> dict[str, Any]:
    """Return the total effects of a variable on its descendants, with intervals that take the graph for granted."""
    i, _ = check_pair(cause, next((name for name in fit.names if name != cause), cause), fit.names)
    found = effects_given_graph(directed(fit), fit.moments.R, LEVEL)
    reached = np.flatnonzero(found.path_found[i])
    return {
        "effects": [
            {
                "variable": int(j),
                "total": plain(found.estimate[i, j]),
                "low": plain(found.low[i, j]),
                "high": plain(found.high[i, j]),
                "level": LEVEL,
            }
            for j in reached
        ]
    }


def effect_of(fit: Fit, cause: str, effect: str) -> dict[str, Any]:
    """Return the total effect of one variable on another, and its paths.

    The interval is that of `ordag.effect` where the probabilities of arrows are known; else it takes the graph for granted.
    """
    i, j = check_pair(cause, effect, fit.names)
    sem = directed(fit)
    weighed = fit.result.is_complete(fit) and fit.probabilities is not None
    found = pair_effect(fit, cause, effect, How(LEVEL, "posterior" if weighed else "given-graph"))
    paths, count = _paths(sem.B, i, j)
    known = found if found.path_found else None
    return {
        "total": plain(found.estimate),
        **{name: None if known is None else plain(getattr(known, name)) for name in ("std_error", "low", "high")},
        "sentence": f"{_effect_sentence(found, count)} {found.certainty}".strip(),
        "paths": [{"nodes": nodes, "product": plain(product)} for nodes, product in paths],
        "more_paths": count - len(paths),
    }


def _effect_sentence(found: Effect, paths: int) -> str:
    one, other = shown(found.source), shown(found.target)
    if not paths:
        return f"No directed path leads from {one} to {other} in this graph, so a change of {one} changes nothing in {other}."
    more = "more" if found.estimate >= 0 else "less"
    granted = "taking the graph for granted" if found.interval == "given-graph" else "if there is a path"
    ends = (
        f"{LEVEL:.0%} interval {number(found.low, 3)} to {number(found.high, 3)}"
        if found.low == found.low
        else "no interval"
    )
    return (
        f"One unit more in {one} makes {other} {number(abs(found.estimate), 3)} {more} in expectation, along {counted(paths, 'path')} "
        f"({ends}, {granted})."
    )


def _paths(B: Array, source: int, target: int) -> tuple[list[tuple[list[int], float]], int]:
    """Find the directed paths with the largest absolute products of weights, and count all paths.

    best[k] is the largest absolute product from k to the target. As an exact estimate for A*, it lets the paths come out by their products,
    largest first, and no more of them are begun than are needed.
    """
    order = topological_order(B != 0)
    count, best = [0] * len(B), np.zeros(len(B))
    count[target], best[target] = 1, 1.0
    for k in reversed(order):
        for child in np.flatnonzero(B[k]).tolist():
            count[k] += count[child]
            best[k] = max(best[k], abs(B[k, child]) * best[child])
    found: list[tuple[list[int], float]] = []
    begun = [(-float(best[source]), [source], 1.0)] if count[source] else []
    while begun and len(found) < MOST_PATHS:
        _, nodes, product = heapq.heappop(begun)
        if nodes[-1] == target:
            found.append((nodes, product))
            continue
        for child in np.flatnonzero(B[nodes[-1]]).tolist():
            if count[child]:
                further = product * float(B[nodes[-1], child])
                heapq.heappush(begun, (-abs(further) * float(best[child]), [*nodes, child], further))
    return found, count[source]
