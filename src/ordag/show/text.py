"""A Fit in, plain lines out: what `print(fit)` shows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ordag.learners.pooled.posterior import SETTLED
from ordag.words import counted, harmless, joined, number, percent, probability, shown

if TYPE_CHECKING:
    from ordag.fit import Fit


ROBUST = "robust: the share of what is left of both ends that a hidden common cause would have to explain to bring the weight to zero"
"""How to read the robustness value of an arrow."""


def margin(value: float) -> str:
    """By how much larger the runner-up is, in percent, or from twice on how many times as large."""
    if value != value:
        return ""
    return f"{100 * value:.1f} %" if value < 1 else f"{value + 1:.3g} ×"


def arrows(fit: Fit) -> list[tuple[str, str]]:
    """Every variable in order with what it points to, and its undirected neighbours."""
    lines = []
    order = {node: place for place, node in enumerate(fit.order or fit.names)}
    for name in order:
        children = sorted(fit.graph.children(name), key=order.__getitem__)
        line = f"→ {', '.join(map(shown, children))}" if children else ""
        neighbours = [b if a == name else a for a, b in fit.graph.undirected if name in (a, b)]
        if neighbours:
            line += f"{'   ' if line else ''}— {', '.join(map(shown, neighbours))}"
        lines.append((shown(name), line))
    return lines


def edge_cells(fit: Fit, most: int) -> dict[str, list[str]]:
    """The number columns of the table of arrows that this fit has, by their titles, and the words in the first rows."""
    columns = fit.edge_columns
    known: dict[str, tuple[str, Callable[[Any], str]]] = {
        "weight": ("weight", number),
        "std_error": ("s.e.", lambda value: number(value, 2)),
        "edge_probability": ("edge", percent),
        "probability": ("arrow", percent),
        "p_value": ("p edge", probability),
        "direction_p_value": ("p direction", probability),
        "robustness": ("robust", percent),
        "reason": ("by", str),
        "support": ("support", percent),
    }
    cells = {
        title: [write(value) for value in columns[key][:most]]
        for key, (title, write) in known.items()
        if key in columns and not (key == "p_value" and "probability" in columns)
    }
    for k, hidden in enumerate(columns.get("hidden_cause", ())[:most]):
        if hidden:
            cells["by"][k] = "hidden?"
    for k, error in enumerate(columns.get("probability_error", ())[:most]):
        if error > SETTLED:
            cells["arrow"][k] = cells["edge"][k] = "not settled"
    return cells


def legend(fit: Fit) -> str:
    """Which regressions the numbers of the table of arrows are from, where they are from two; and how to read robustness."""
    columns = fit.edge_columns
    if not columns["source"] or "weight" not in columns:
        return ""
    said = [ROBUST]
    if "probability" not in columns and (fit.selection is not None or fit.pair_p_values is not None):
        tests = "given all earlier variables" if fit.selection is not None else "the largest of all tests of the pair"
        said = [f"weight and s.e.: given the target's other parents; p edge: {tests}", ROBUST]
    return "; ".join(said)


def lines_without_direction(fit: Fit) -> list[tuple[tuple[str, str], str]]:
    """The undirected edges of an equivalence class, with their p-values where there are tests."""
    lines = []
    for a, b in fit.graph.undirected:
        p_value = ""
        if fit.pair_p_values is not None:
            p_value = probability(float(fit.pair_p_values[fit.names.index(a), fit.names.index(b)]))
        lines.append(((a, b), p_value))
    return lines


def tied_with(fit: Fit, most: int = 3) -> list[str]:
    """For every step, the variables that could as well have come there; with a ! where the graph has an edge among them."""
    columns = fit.step_columns
    if "tied" not in columns:
        return []
    cells = []
    unlisted = columns.get("tied_more", [0] * len(columns["node"]))
    for node, group, more_of_them, matters in zip(
        columns["node"], columns["tied"], unlisted, columns["tie_matters"], strict=True
    ):
        others = [name for name in group if name != node]
        rest = len(others) - most + more_of_them
        more = f" and {rest} more" if rest > 0 else ""
        cells.append(f"{', '.join(map(shown, others[:most]))}{more}{' !' if matters and others else ''}")
    return cells


def scored(fit: Fit) -> str:
    """One sentence on the score that a search has reached, and from where."""
    if fit.score is None:
        return ""
    starts = {
        "cvs": "the order by conditional variance",
        "sparse": "the order by conditional variance given few variables",
        "free": "the best graph of any error variances",
    }
    start = fit.details.get("start", "")
    if fit.optimum is not None and fit.optimum != fit.graph:
        return f"score {fit.score:.6g}; the best single graph (--graph best) has {fit.details['best_score']:.6g}"
    if start == "all graphs":
        return f"score {fit.score:.6g}, the best of all graphs"
    return f"score {fit.score:.6g}{f', reached from {starts[start]}' if start in starts else ''}"


def false_edges(fit: Fit) -> str:
    """One sentence on how many edges chance alone would give."""
    if fit.selection is None or math.isnan(fit.selection.expected_false):
        return ""
    amount, noun = fit.selection.expected_in_words, "edge" if fit.selection.expected_false == 1 else "edges"
    return f"about {amount} false {noun} to expect {fit.selection.grounds}"


def resampled(fit: Fit) -> str:
    """One sentence on the resamples behind the support of every arrow."""
    if fit.bootstrap is None:
        return ""
    edges, learned = fit.bootstrap.mean_edges, fit.graph.edge_count
    return (
        f"support: the share of {counted(fit.bootstrap.completed, 'resample')} with the arrow; their graphs have {edges:.1f} edges on "
        f"average, this one {learned}"
        + (": more than in fresh tables, so chance edges have support too" if edges > 1.1 * learned else "")
    )


def left_out(fit: Fit) -> str:
    """One sentence on the edges that were left out for their small effect."""
    if "left_out" not in fit.details:
        return ""
    count, below = fit.details["left_out"]["count"], fit.details["left_out"]["below"]
    return f"{counted(count, 'edge')} with a standardised effect below {below:g} left out"


def other_units(fit: Fit) -> str:
    """One sentence on the columns that were changed before anything was learned."""
    words = {"log": "the logarithm of {}", "standardise": "{} in standard deviations"}
    said = [
        words[change].format(shown(name)) if isinstance(change, str) else f"{shown(name)} times {change:g}"
        for name, change in fit.transform.items()
    ]
    return f"learned from {joined(said)}" if said else ""


def notes(fit: Fit) -> list[str]:
    """What there is to say on changed columns, chance edges, edges left out and resamples."""
    return [said for said in (other_units(fit), false_edges(fit), left_out(fit), resampled(fit)) if said]


def heading(fit: Fit) -> str:
    moments = fit.moments
    dropped = f", {counted(moments.dropped, 'row')} with missing values dropped" if moments.dropped else ""
    outlying = f", {counted(moments.outlying, 'outlying row')} left out" if moments.outlying else ""
    sizes = f"{counted(fit.n, 'row')}{dropped}{outlying} · {counted(len(fit.names), 'variable')}"
    return f"{fit.method} · {sizes} · {counted(fit.graph.edge_count, 'edge')}"


def summary(fit: Fit, most: int = 30) -> str:
    """A short description: at most `most` variables are listed."""
    lines = [f"Fit: {heading(fit)}"]
    if fit.order is not None:
        first = map(shown, fit.order[:most])
        lines.append(f"order  {' < '.join(first)}{' < …' if len(fit.order) > most else ''}")
    pointing = [(name, line) for name, line in arrows(fit) if line] if len(fit.names) <= 2000 else []
    width = max((len(name) for name, _ in pointing[:most]), default=0)
    lines += [f"  {name:<{width}} {line}" for name, line in pointing[:most]]
    if len(pointing) > most:
        lines.append(f"  … and {len(pointing) - most} more: see .edges")
    lines += notes(fit)
    lines += [f"warning: {harmless(sentence)}" for sentence in fit.warnings]
    return "\n".join(lines)
