"""A fit in words: the sentences and table cells that terminal, page, notebook and `print(fit)` share."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.assess.clusters import clusters_finding
from ordag.common.words import (
    counted,
    harmless,
    joined,
    listed,
    mean_digits,
    number,
    percent,
    probability,
    shown,
)
from ordag.data.equations import is_untouched
from ordag.data.roles import few_values_sentence, set_aside_sentence
from ordag.data.series import lagged_name
from ordag.graph.acyclic import reachable
from ordag.graph.graph import arrow
from ordag.learners.pooled.posterior import SETTLED

if TYPE_CHECKING:
    from ordag.assess.causes import CauseArrow
    from ordag.assess.verdict import Verdict
    from ordag.data.moments import Moments
    from ordag.decisions.environment_changes import EnvironmentChanges
    from ordag.fit import Fit
    from ordag.show.view import Pairs

ROBUST = (
    "robust: the share of the residual variance of both variables that a hidden common cause would have to explain "
    "to reduce the weight to zero"
)

DIRECTIONS = {
    "class": "all graphs with the same independences agree on it",
    "variance": "error variances of similar size",
    "knowledge": "you gave it",
    "time": "causes come first",
    "experiment": "experiments on one of the two",
    "environment": "differences between environments",
    "open": "nothing in these data",
    "hidden?": "a hidden common cause could explain the arrow",
}
"""What decides a direction, by the word in the table of arrows."""

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
    held = f" · {held_fixed(moments)}" if moments.adjusted_for else ""
    worth = f" that count for {fit.n:,}" if moments.missing == "em" else ""
    sizes = f"{counted(fit.rows, 'row')}{worth}{dropped}{outlying} · {counted(variables(fit), 'variable')}{in_time(fit)}{held}"
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
    places = {name: k for k, name in enumerate(fit.order or fit.names)}
    targets = sorted({one.target for one in arrows}, key=places.__getitem__)
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


def margin(value: float) -> str:
    """Write by how much the runner-up is larger: in percent, and from twice as large as a multiple."""
    if value != value:
        return ""
    return f"{100 * value:.1f} %" if value < 1 else f"{value + 1:.3g} ×"


def arrows(fit: Fit) -> list[tuple[str, str]]:
    """Return every variable in order, with its children and its undirected neighbours as text."""
    order = {node: place for place, node in enumerate(fit.order or fit.names)}
    lines = []
    for name in () if fit.causes is None else fit.causes.names:
        effects = sorted((one.target for one in fit.cause_arrows if one.source == name), key=order.__getitem__)
        lines.append((shown(name), f"→ {', '.join(map(shown, effects))}" if effects else ""))
    earlier = set() if fit.series is None else set(fit.series.columns[fit.series.p :])
    for name in order:
        children = sorted(fit.graph.children(name), key=order.__getitem__)
        line = f"→ {', '.join(map(shown, children))}" if children else ""
        neighbours = [b if a == name else a for a, b in fit.graph.undirected if name in (a, b)]
        if neighbours:
            line += f"{'   ' if line else ''}— {', '.join(map(shown, neighbours))}"
        if line or name not in earlier:
            lines.append((shown(name), line))
    return lines


def present(fit: Fit) -> list[str]:
    """Return the order, causes first, without earlier values, which come before all others."""
    return [name for name in fit.order or () if fit.series is None or name in fit.series.names]


def order_title(fit: Fit) -> str:
    """Title the order; where every direction is open, others fit as well."""
    others = fit.ordering is None and all(reason == "open" for reason in fit.edge_columns["reason"])
    return "One order that fits, causes first" if others else "Order, causes first"


def sources(fit: Fit, most: int) -> list[str]:
    """Return the sources of the first `most` arrows, with how many steps earlier they are."""
    columns = fit.edge_columns
    lags = columns.get("lag", [0] * len(columns["source"]))
    return [lagged_name(name, lag) for name, lag in zip(columns["source"][:most], lags[:most], strict=True)]


def edge_cells(fit: Fit, most: int) -> dict[str, list[str]]:
    """Return the columns of the table of arrows by title, as text, for its first `most` rows."""
    columns = fit.edge_columns
    known: dict[str, tuple[str, Callable[[Any], str]]] = {
        "weight": ("weight", number),
        "std_error": ("s.e.", lambda value: number(value, 2)),
        "edge_probability": ("edge", percent),
        "probability": ("arrow", percent),
        "p_value": ("p edge", probability),
        "direction_p_value": ("p direction", probability),
        "robustness": ("robust", percent),
        "reason": ("direction", str),
        "support": ("support", percent),
    }
    cells = {
        title: ["" if value != value else write(value) for value in columns[key][:most]]
        for key, (title, write) in known.items()
        if key in columns and not (key == "p_value" and "probability" in columns)
    }
    for k, hidden in enumerate(columns.get("hidden_cause", ())[:most]):
        if hidden:
            cells["direction"][k] = "hidden?"
    for k, error in enumerate(columns.get("probability_error", ())[:most]):
        if error > SETTLED:
            cells["arrow"][k] = cells["edge"][k] = "not settled"
    return cells


def group_cells(fit: Fit, most: int) -> dict[str, list[str]]:
    """Return the columns of the table of arrows from categories, as text: F test and group means."""
    every = fit.cause_arrows[:most]
    return {
        "category": [shown(one.source) for one in every],
        "": ["→"] * len(every),
        "variable": [shown(one.target) for one in every],
        "F test": [f"F({one.test.columns}, {one.test.rows}) = {number(one.test.statistic, 3)}" for one in every],
        "p": [probability(one.test.p_value) for one in every],
        "mean of each group": [_means(one) for one in every],
    }


def _means(one: CauseArrow, most: int = 6) -> str:
    digits = mean_digits(one.means)
    groups = [f"{shown(level)} {number(mean, digits)}" for level, mean in zip(one.levels, one.means, strict=True)]
    more = f", and {len(groups) - most} more" if len(groups) > most else ""
    return f"{', '.join(groups[:most])}{more}"


def legend(fit: Fit, left_out: Collection[str] = ()) -> list[str]:
    """Explain the columns of the table of arrows but those left out, one sentence each."""
    columns = fit.edge_columns
    if not columns["source"]:
        return []
    sentences = []
    if "probability" in columns:
        meanings = {
            "edge": "the probability that the two are joined",
            "arrow": "that they are joined in this direction",
        }
        sentences.append("; ".join(f"{title}: {words}" for title, words in meanings.items() if title not in left_out))
    if "weight" in columns:
        tests, said = fit.result.p_value_of, []
        if tests:
            said.append(f"weight{'' if 's.e.' in left_out else ' and s.e.'}: given the target's other parents")
            said += [] if "p edge" in left_out else [f"p edge: {tests}"]
        sentences += ["; ".join(said), "" if "robust" in left_out else ROBUST]
    hidden = columns.get("hidden_cause", [False] * len(columns["reason"]))
    words = {"hidden?" if one else reason for reason, one in zip(columns["reason"], hidden, strict=True)}
    decides = [f"{word}: {meaning}" for word, meaning in DIRECTIONS.items() if word in words]
    if decides and "direction" not in left_out:
        sentences.append(f"direction: what decides it ({'; '.join(decides)})")
    return [sentence for sentence in sentences if sentence]


def lines_without_direction(fit: Fit) -> list[tuple[tuple[str, str], str]]:
    """Return the undirected edges with their p-values, empty where the method has no tests."""
    lines = fit.graph.undirected
    ends = np.array([[fit.names.index(name) for name in line] for line in lines], dtype=np.intp).reshape(-1, 2)
    p_values = fit.result.evidence(fit, *ends.T).get("p_value")
    written = [""] * len(lines) if p_values is None else map(probability, p_values.tolist())
    return list(zip(lines, written, strict=True))


def tied_with(fit: Fit, most: int = 3) -> list[str]:
    """Return for every step the variables tied with the chosen one, with a ! where the graph has an edge among them."""
    columns = fit.step_columns
    if "tied" not in columns:
        return []
    cells = []
    unlisted = columns.get("tied_more", [0] * len(columns["node"]))
    for node, group, hidden, matters in zip(
        columns["node"], columns["tied"], unlisted, columns["tie_matters"], strict=True
    ):
        others = [name for name in group if name != node]
        rest = len(others) - most + hidden
        more = f" and {rest} more" if rest > 0 else ""
        cells.append(f"{', '.join(map(shown, others[:most]))}{more}{' !' if matters and others else ''}")
    return cells


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


def differences(changes: EnvironmentChanges) -> list[tuple[str, str, str, str]]:
    """Return the rows of the table of equations that differ: variable, environment, what differs and by how much, the least p-value."""
    rows = []
    for one in changes.found:
        shift = number(one["level_shift"], 3)
        said = {
            "weights": "weights",
            "level": f"level {'' if shift.startswith('-') else '+'}{shift}",
            "variance": f"error variance × {number(one['variance_ratio'], 2)}",
        }
        least = min(one[f"corrected_{part}"] for part in one["changed"])
        where = shown(one["environment"]) if one["environment"] else "(empty)"
        rows.append(
            (shown(one["variable"]), where, ", ".join(said[part] for part in one["changed"]), probability(least))
        )
    return rows


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
