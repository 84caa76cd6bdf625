"""A fit in words: the sentences that terminal, page, notebook and `print(fit)` share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ordag.assess.clusters import clusters_finding
from ordag.common.words import counted, harmless, joined, listed, number, shown
from ordag.data.equations import is_untouched
from ordag.data.set_aside import few_values_sentence, set_aside_sentence
from ordag.graph.acyclic import reachable
from ordag.graph.graph import arrow
from ordag.show.cells import arrows, present

if TYPE_CHECKING:
    from ordag.assess.verdict import Verdict
    from ordag.data.moments import Moments
    from ordag.fit import Fit
    from ordag.show.view import Pairs

STARTS = {
    "cvs": "the order by conditional variance",
    "sparse": "the order by conditional variance given few variables",
    "free": "the best graph with unrestricted error variances",
}
"""Where a search began, by the key in `fit.details`."""


def heading(fit: Fit) -> str:
    moments = fit.moments
    dropped = f", {counted(moments.dropped, 'row')} with missing values dropped" if moments.dropped else ""
    outlying = f", {counted(moments.outlying, 'outlying row')} left out" if moments.outlying else ""
    covariates = f" · {held_fixed(moments)}" if moments.adjusted_for else ""
    worth = f" that count for {fit.n:,}" if moments.missing == "em" else ""
    sizes = f"{counted(fit.rows, 'row')}{worth}{dropped}{outlying} · {counted(variables(fit), 'variable')}{in_time(fit)}{covariates}"
    return f"{fit.method} · {sizes}{of_causes(fit)} · {counted(fit.whole_graph.edge_count, 'edge')}"


def of_causes(fit: Fit) -> str:
    """Name the categories that may be causes, as a part of the heading."""
    if fit.causes is None:
        return ""
    named = [f"{shown(name)} ({counted(len(levels), 'value')})" for name, levels in fit.cause_levels.items()]
    count = len(named)
    return f" · {joined(named, 4)} as {'a possible cause' if count == 1 else 'possible causes'}"


def variables(fit: Fit) -> int:
    """Return the number of variables, earlier values of the same ones not counted."""
    return len(fit.names) if fit.series is None else fit.series.p


def in_time(fit: Fit) -> str:
    """Say how many earlier times there are, and what was done to the series first."""
    series = fit.series
    if series is None:
        return ""
    said = [counted(series.lags, "lag")] if series.lags else ["in time"]
    if series.step:
        said[0] += f" of a {series.step}" if series.lags and not series.step[0].isdigit() else ""
    said += [f"{counted(series.difference, 'difference')}"] if series.difference else []
    said += [f"season of {series.season} removed"] if series.season else []
    return f" · {', '.join(said)}"


def summary(fit: Fit, most: int = 30) -> str:
    """Describe the fit in a few lines, with at most `most` variables: what `print(fit)` shows."""
    lines = [f"Fit: {heading(fit)}"]
    if fit.order is not None:
        order = present(fit)
        lines.append(f"order  {' < '.join(map(shown, order[:most]))}{' < …' if len(order) > most else ''}")
    pointing = [(name, line) for name, line in arrows(fit) if line] if len(fit.names) <= 2000 else []
    width = max((len(name) for name, _ in pointing[:most]), default=0)
    lines += [f"  {name:<{width}} {line}" for name, line in pointing[:most]]
    if len(pointing) > most:
        lines.append(f"  … and {len(pointing) - most} more: see .edges")
    lines += [*kinds_of_rows(fit), *notes(fit)]
    lines += [f"warning: {harmless(sentence)}" for sentence in fit.warnings]
    return "\n".join(lines)


EARLIER = (
    "Effects of earlier values on this page are those with all other earlier values held fixed: fit.response (ordag effect … --steps 12) "
    "follows a change over time"
)


def headline(fit: Fit, pairs: Pairs) -> list[str]:
    """Describe the graph in one or two sentences; how sure it is, the verdict says."""
    if not fit.graph.edge_count and not fit.cause_arrows:
        return [
            f"No edges were found among {counted(len(fit.names), 'variable')}.",
            f"These {counted(fit.rows, 'row')} give no evidence that any of them causes another; weak effects may need more rows.",
        ]
    open_arrows = {
        (source, target)
        for source, target, kind, reason in zip(
            pairs.source.tolist(), pairs.target.tolist(), pairs.kind, pairs.reason, strict=True
        )
        if kind == "arrow" and reason in ("open", "hidden", "pending")
    }
    joins = [_graph_sentence(fit, open_arrows)] if fit.graph.edge_count else []
    strongest = _strongest(fit, pairs, open_arrows) if joins else ""
    said = [sentence for sentence in (*joins, _of_categories(fit), strongest) if sentence]
    changes = [] if fit.changes is None else [fit.changes.sentence]
    levels = [] if fit.between is None else [levels_in_words(fit)]
    return [*said, *(f"{sentence}." for sentence in (*kinds_of_rows(fit), *changes)), *levels]


def _of_categories(fit: Fit) -> str:
    """Say which categories have effects, and on what."""
    arrows = fit.cause_arrows
    if not arrows:
        return ""
    sources = list(dict.fromkeys(shown(one.source) for one in arrows))
    positions = {name: k for k, name in enumerate(fit.order or fit.names)}
    targets = sorted({one.target for one in arrows}, key=positions.__getitem__)
    several = len(sources) > 1
    named = joined(sources, 4) if len(sources) <= 4 else f"{len(sources)} categories"
    alone = "" if fit.graph.edge_count else "No arrow joins two variables. "
    return (
        f"{alone}The {'categories' if several else 'category'} {named} {'have' if several else 'has'} direct effects on "
        f"{joined(list(map(shown, targets)), 6)}."
    )


def _graph_sentence(fit: Fit, open_arrows: set[tuple[int, int]]) -> str:
    graph, p = fit.graph, len(fit.names)
    count, lines = len(graph.directed), len(graph.undirected)
    if fit.series is not None and fit.has_earlier:
        later = int((graph.arrows.source >= fit.series.p).sum())
        now = f"{counted(count + lines - later, 'edge')} at the same time"
        return f"{now} and {counted(later, 'arrow')} from earlier times join {counted(fit.series.p, 'variable')}."
    kinds = [counted(count, "arrow")] if count or not lines else []
    kinds += [counted(lines, "line")] if lines else []
    joins = f"{' and '.join(kinds)} {'joins' if count + lines == 1 else 'join'} {counted(p, 'variable')}"
    if lines:
        return f"{joins}; a line is an edge whose direction these data leave open."
    causes = set(graph.links.source.tolist()) - set(graph.links.target.tolist())
    first = [j for j in fit.column_order or range(p) if j in causes]
    if any(source in first for source, _ in open_arrows):
        return f"{joins}. Which variables come first is open."
    names = [fit.names[j] for j in first]
    if len(first) == 1:
        reached = int(reachable(graph.links, first[0]).sum())
        others = "every other variable" if reached == p - 1 else f"{reached} of the {p - 1} others"
        return f"{joins}. {shown(names[0])} comes first: no arrow points to it, and arrows lead from it to {others}."
    some = listed(names) if len(first) <= 4 else f"{len(first)} variables, {listed(names[:3])} among them,"
    return f"{joins}. {some} come first: no arrow points to them."


def _strongest(fit: Fit, pairs: Pairs, open_arrows: set[tuple[int, int]]) -> str:
    sizes = np.where(np.array(pairs.kind, dtype=object) == "arrow", np.abs(pairs.standardised), math.nan)
    if np.isnan(sizes).all():
        return ""
    best = int(np.nanargmax(sizes))
    a, b, weight = int(pairs.source[best]), int(pairs.target[best]), float(pairs.weight[best])
    cause, effect = fit.names[a], fit.names[b]
    alone = len(fit.graph.links.turned.row(b)) == 1
    return (
        f"The strongest arrow is {arrow((cause, effect))}{', whose direction is open' if (a, b) in open_arrows else ''}: "
        f"{shown(effect)} is {number(abs(weight), 3)} {'higher' if weight > 0 else 'lower'} for each unit that {shown(cause)} "
        f"is higher{'' if alone else f', with the other causes of {shown(effect)} held fixed'}."
    )


def open_directions(fit: Fit, verdict: Verdict) -> int:
    """Count the edges whose direction the method leaves open."""
    return int(verdict.numbers.get("reasons", {}).get("open", 0)) + len(fit.graph.undirected)


def order_title(fit: Fit) -> str:
    """Title the order; where every direction is open, others fit as well."""
    others = fit.ordering is None and all(reason == "open" for reason in fit.edge_columns["reason"])
    return "One order that fits, causes first" if others else "Order, causes first"


def notes(fit: Fit) -> list[str]:
    """Return the notes that apply: columns with few values, changed columns, chance edges, edges left out, resamples."""
    found = (
        within(fit),
        few_values_sentence(fit.columns),
        other_units(fit),
        fit.result.note(fit),
        left_out(fit),
        resampled(fit),
    )
    return [said for said in found if said]


def other_warnings(fit: Fit) -> list[str]:
    """Return the warnings without that on columns that were set aside, which stands at the head of an answer."""
    aside = f"{set_aside_sentence(fit.columns)}."
    return [sentence for sentence in fit.warnings if sentence != aside]


def held_fixed(moments: Moments) -> str:
    """Name the covariates that are held fixed."""
    return f"{joined([str(one) for one in moments.adjusted_for], 4)} held fixed"


def within(fit: Fit) -> str:
    moments = fit.moments
    if not moments.adjusted_for:
        return ""
    several = len(moments.adjusted_for) > 1 or moments.adjusted_for[0].levels is not None
    cost = f", which makes {counted(moments.rows, 'row')} count for {moments.n:,}" if moments.n < moments.rows else ""
    return f"relations within {'the' if several else 'its'} values of what is held fixed{cost}"


def kinds_of_rows(fit: Fit) -> list[str]:
    """Say what the rows are, where columns name experiments, environments, clusters or weights, and what they count for."""
    column = {one.role: shown(one.name) for one in fit.columns}
    moments, said = fit.moments, []
    if moments.conditions and "experiment" in column:
        acted = [(one.label, one.root.used) for one in moments.conditions if not is_untouched(one.label)]
        free = sum(one.root.used for one in moments.conditions if is_untouched(one.label))
        rows = joined([f"{shown(label)} ({counted(count, 'row')})" for label, count in acted], 12) or "none"
        said.append(f"Experiments by {column['experiment']}: {rows}; {counted(free, 'row')} untouched")
    elif moments.conditions and "environment" in column:
        said.append(f"Relations within {counted(len(moments.conditions), 'environment')} by {column['environment']}")
    if "cluster" in column and moments.clusters is not None:
        count = len(moments.clusters.numbers)
        said.append(f"Relations within the {counted(count, 'cluster')} of {column['cluster']}{_worth(fit)}")
    elif "cluster" in column and moments.conditions:
        said.append(f"Relations within the clusters of {column['cluster']}{_worth(fit)}")
    elif "cluster" in column:
        said.append(f"Relations between the means of the {counted(fit.rows, 'cluster')} of {column['cluster']}")
    if "weights" in column:
        weightless = f"; {counted(moments.weightless, 'row')} of weight 0 left out" if moments.weightless else ""
        said.append(f"Weighted by {column['weights']}{'' if 'cluster' in column else _worth(fit)}{weightless}")
    return said


def levels_in_words(fit: Fit) -> str:
    """Say how the relations within clusters compare with those between their means, where both were learned."""
    assert fit.between is not None
    edges = fit.between.graph.edge_count
    there = f"there {'is' if edges == 1 else 'are'} {counted(edges, 'edge')}"
    return f"Between the means of the {counted(fit.between.rows, 'cluster')} {there}. {clusters_finding(fit).sentence}"


def _worth(fit: Fit) -> str:
    return f": {counted(fit.rows, 'row')} count for {fit.n:,}" if fit.n < fit.rows else ""


def other_units(fit: Fit) -> str:
    words = {"log": "the logarithm of {}", "standardise": "{} in standard deviations"}
    changed = [
        words[change].format(shown(name)) if isinstance(change, str) else f"{shown(name)} times {change:g}"
        for name, change in fit.transform.items()
    ]
    return f"learned from {joined(changed)}" if changed else ""


def left_out(fit: Fit) -> str:
    if "left_out" not in fit.details:
        return ""
    count, below = fit.details["left_out"]["count"], fit.details["left_out"]["below"]
    return f"{counted(count, 'edge')} with a standardised effect below {below:g} left out"


def resampled(fit: Fit) -> str:
    if fit.support is None:
        return ""
    edges, learned = fit.support.mean_edges, fit.graph.edge_count
    return (
        f"support: the share of {counted(fit.support.completed, 'resample')} that have the arrow; their graphs average "
        f"{edges:.1f} edges, this one has {learned}"
        + (": more than new tables would give, so chance edges have support too" if edges > 1.1 * learned else "")
    )


def scored(fit: Fit) -> str:
    """Name the score that a search reached, and where it began."""
    if fit.score is None:
        return ""
    start = fit.details.get("start", "")
    if fit.best_graph != fit.graph:
        return f"score {fit.score:.6g}; the best single graph (--graph best) has {fit.details['best_score']:.6g}"
    if start == "all graphs":
        return f"score {fit.score:.6g}, the best of all graphs"
    return f"score {fit.score:.6g}{f', reached from {STARTS[start]}' if start in STARTS else ''}"
