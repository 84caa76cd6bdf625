"""A Fit in, a few plain sentences out: what was found, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ordag.evidence.verdict import Verdict
from ordag.graph.acyclic import reachable
from ordag.graph.graph import arrow
from ordag.show.view import View
from ordag.words import counted, listed, number, shown

if TYPE_CHECKING:
    from ordag.fit import Fit


def headline(fit: Fit, view: View, verdict: Verdict) -> list[str]:
    """Say what was found in two sentences, and how many arrows to expect wrong in a third."""
    if not fit.graph.edge_count:
        return [
            f"No edge was found among {counted(len(fit.names), 'variable')}.",
            f"Nothing in these {counted(fit.n, 'row')} speaks for one of them causing another; weak effects may need more rows.",
        ]
    open_at = {pair for pair, reason in _reasons(view) if reason in ("open", "hidden", "pending")}
    sure = verdict.sentence.partition(". ")[0].rstrip(".") + "." if verdict.weighed and verdict.sentence else ""
    return [_what(fit, open_at), *filter(None, [_strongest(fit, view, open_at), sure])]


def open_directions(fit: Fit, verdict: Verdict) -> int:
    """How many edges have no direction that the method would stand by."""
    return int(verdict.numbers.get("reasons", {}).get("open", 0)) + len(fit.graph.undirected)


def _reasons(view: View) -> Iterator[tuple[tuple[int, int], str]]:
    """The ends of every arrow, and what directs it."""
    pairs = view.pairs
    for source, target, kind, reason in zip(
        pairs.source.tolist(), pairs.target.tolist(), pairs.kind, pairs.reason, strict=True
    ):
        if kind == "arrow":
            yield (source, target), reason


def _what(fit: Fit, open_at: set[tuple[int, int]]) -> str:
    graph, p = fit.graph, len(fit.names)
    arrows, lines = len(graph.directed), len(graph.undirected)
    if lines:
        edges = f"{counted(arrows, 'arrow')} and {counted(lines, 'line')}" if arrows else counted(lines, "line")
        return (
            f"{_join(edges, arrows + lines)} {counted(p, 'variable')}; of a line, these data leave the direction open."
        )
    joins = f"{_join(counted(arrows, 'arrow'), arrows)} {counted(p, 'variable')}."
    causes = set(graph.links.source.tolist()) - set(graph.links.target.tolist())
    first = [j for j in fit.places or range(p) if j in causes]
    if any(source in first for source, _ in open_at):
        return f"{joins} Which of them come first is open."
    names = [fit.names[j] for j in first]
    if len(first) == 1:
        reached = int(reachable(graph.links, first[0]).sum())
        others = "every other variable" if reached == p - 1 else f"{reached} of the {p - 1} others"
        return f"{joins} {shown(names[0])} comes first: no arrow points to it, and following the arrows from it one reaches {others}."
    come = (
        f"{listed(names)} come first"
        if len(first) <= 4
        else f"{len(first)} variables come first, {listed(names[:3])} among them"
    )
    return f"{joins} {come}: no arrow points to them."


def _join(edges: str, count: int) -> str:
    return f"{edges} {'joins' if count == 1 else 'join'}"


def _strongest(fit: Fit, view: View, open_at: set[tuple[int, int]]) -> str:
    pairs = view.pairs
    sizes = np.where(np.array(pairs.kind, dtype=object) == "arrow", np.abs(pairs.standardised), math.nan)
    if np.isnan(sizes).all():
        return ""
    best = int(np.nanargmax(sizes))
    a, b, weight = int(pairs.source[best]), int(pairs.target[best]), float(pairs.weight[best])
    alone = len(fit.graph.links.turned.row(b)) == 1
    held = "" if alone else f" while the other causes of {view.names[b]} stay as they are"
    doubt = ", whose direction is open" if (a, b) in open_at else ""
    return (
        f"The strongest arrow is {arrow((fit.names[a], fit.names[b]))}{doubt}: {view.names[b]} is {number(abs(weight), 3)} "
        f"{'higher' if weight > 0 else 'lower'} for every unit that {view.names[a]} is higher{held}."
    )
