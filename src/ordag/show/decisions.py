"""Answers to questions about a graph on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, singledispatch
from itertools import islice
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from ordag.assess.causes import GroupEffect
from ordag.common.words import counted, harmless, listed, number, percent, probability, shown
from ordag.decisions.adjusting import AdjustmentAnswer
from ordag.decisions.changing import PARTS, Changes
from ordag.decisions.explaining import Explanation
from ordag.decisions.in_time import Ahead, Response
from ordag.decisions.intervening import Intervention
from ordag.decisions.joint_effects import JointEffect
from ordag.decisions.possible_effects import PossibleEffects
from ordag.decisions.tested_graph import GraphTest, claim
from ordag.model.effects import Effect
from ordag.show.screen import Column, as_text, print_head, print_rest, say, section, show_table, written

MOST_ROWS = 20
"""Rows of a table on a terminal."""

MOST_STEPS, COLUMN_WIDTH = 60, 30
"""Steps of time on a terminal, and the width of a column with an interval."""

LEGEND_OF_SETS = {
    "robust": "what a hidden common cause would have to explain of both for the effect to vanish",
    "valid in": "share of the graphs drawn for resamples in which the set is valid",
}

short, long = partial(number, digits=2), partial(number, digits=3)


def text(answer: Any, width: int = 100) -> str:
    """Return what `print_decision` prints on a terminal of this width, without colours."""
    return as_text(lambda console: print_decision(answer, console, ""), width)


@singledispatch
def print_decision(answer: Any, console: Console, description: str) -> None:
    """Print an answer under a heading."""
    raise TypeError(type(answer))


@print_decision.register
def _(answer: GraphTest, console: Console, description: str) -> None:
    counts = {"row": answer.moments.rows, "variable": len(answer.graph.nodes), "edge": answer.graph.edge_count}
    print_head(console, description, " · ".join(counted(count, noun) for noun, count in counts.items()))
    _verdict(console, answer.sentence, answer.light)
    columns = answer.columns
    if columns["first"]:
        section(console, "Independences that the graph claims, worst first")
        ends = zip(columns["first"], columns["second"], columns["given"], strict=True)
        marks = _cells(columns, "contradicted", lambda is_so: "contradicted" if is_so else "")
        table = [
            Column("", [claim(*one) for one in islice(ends, MOST_ROWS)], prose=True),
            Column("partial correlation", _cells(columns, "correlation", short), right=True),
            Column("p", _cells(columns, "p_value", probability), right=True, rank=0),
            Column("p corrected", _cells(columns, "corrected", probability), right=True, rank=1),
        ]
        show_table(console, [*table, Column("", marks, style="red")] if any(marks) else table)
        print_rest(console, len(columns["first"]) - MOST_ROWS, "claims")
    arrows = answer.arrow_columns
    if arrows["source"]:
        section(console, "Arrows, least needed first")
        pairs = islice(zip(arrows["source"], arrows["target"], strict=True), MOST_ROWS)
        table = [
            Column("", [f"{shown(source)} → {shown(target)}" for source, target in pairs], prose=True),
            Column("weight", _cells(arrows, "weight"), right=True),
            Column("s.e.", _cells(arrows, "std_error", short), right=True, rank=0),
            Column("p", _cells(arrows, "p_value", probability), right=True, rank=1),
            Column("", _cells(arrows, "needed", lambda is_so: "" if is_so else "not needed"), style="yellow"),
        ]
        show_table(console, table)
        print_rest(console, len(arrows["source"]) - MOST_ROWS, "arrows")
    _notes(console, answer.notes)


@print_decision.register
def _(answer: Effect | GroupEffect | JointEffect | PossibleEffects, console: Console, description: str) -> None:
    for line in str(answer).splitlines():
        say(console, written(console, line.lstrip()), "  " if line.startswith("  ") else "")


@print_decision.register
def _(answer: Response, console: Console, description: str) -> None:
    print_head(console, description, f"{shown(answer.source)} → {shown(answer.target)}")
    _verdict(console, answer.sentence)
    section(console, f"{(answer.step or 'step').capitalize()}s later")
    columns = {name: values[:MOST_STEPS] for name, values in answer.columns.items()}
    table = [
        Column("", list(map(str, columns["step"])), right=True),
        Column("change", list(map(number, columns["estimate"])), right=True),
    ]
    if columns["low"][0] is not None:
        table += [
            Column(f"{100 * answer.level:g} % interval", _spans(columns), right=True, rank=1),
            Column("changes at all", list(map(percent, columns["probability"])), right=True, rank=0),
        ]
    show_table(console, table)
    print_rest(console, len(answer.columns["step"]) - MOST_STEPS, "steps")
    _notes(console, answer.notes)


@print_decision.register
def _(answer: Ahead, console: Console, description: str) -> None:
    print_head(console, description, answer.sentence[:-1])
    steps, p = answer.estimate.shape
    wide = max(1, (console.width - 8) // COLUMN_WIDTH)
    for first in range(0, p, wide):
        columns = [Column((answer.step or "step"), [str(h + 1) for h in range(min(steps, MOST_STEPS))], right=True)]
        for j in range(first, min(first + wide, p)):
            cells = []
            for h in range(min(steps, MOST_STEPS)):
                span = ""
                if answer.graphs:
                    span = f" ({number(answer.low[h, j], 3)} to {number(answer.high[h, j], 3)})"
                cells.append(f"{number(answer.estimate[h, j], 3)}{span}")
            columns.append(Column(shown(answer.names[j]), cells, right=True))
        console.print()
        show_table(console, columns)
    print_rest(console, steps - MOST_STEPS, "steps")
    _notes(console, answer.notes)


@print_decision.register
def _(answer: AdjustmentAnswer, console: Console, description: str) -> None:
    graph = answer.rule.graph
    print_head(console, description, f"{counted(len(graph.nodes), 'variable')} · {counted(graph.edge_count, 'edge')}")
    _verdict(console, answer.sentence)
    if answer.sets and answer.rule.has_path:
        section(console, "Held fixed, with the effect" if answer.estimates else "Sets to hold fixed")
        kinds = _kinds_of_sets(answer)
        rows = range(min(len(answer.sets), MOST_ROWS))
        table = [
            Column("", [listed(answer.sets[k], 20) if answer.sets[k] else "nothing" for k in rows], prose=True),
            Column("", [kinds[k] for k in rows]),
        ]
        if answer.estimates:
            found = answer.estimates[:MOST_ROWS]
            table += [
                Column("effect", [number(one.effect) for one in found], right=True),
                Column("95 % interval", [f"{long(one.low)} to {long(one.high)}" for one in found], right=True, rank=2),
                Column(
                    "robust",
                    [percent(one.robustness) if one.robustness == one.robustness else "" for one in found],
                    right=True,
                    rank=0,
                ),
            ]
            if any(one.valid == one.valid for one in found):
                table.append(Column("valid in", [percent(one.valid) for one in found], right=True, rank=1))
        left_out = show_table(console, table)
        print_rest(console, len(answer.sets) - MOST_ROWS, "sets")
        titles = {column.title for column in table} - {*left_out}
        legend = [f"{title}: {meaning}" for title, meaning in LEGEND_OF_SETS.items() if title in titles]
        if legend:
            say(console, "; ".join(legend), "  ", style="dim")
    _notes(console, answer.notes)


@print_decision.register
def _(answer: Changes, console: Console, description: str) -> None:
    before, after = answer.rows
    print_head(
        console, description, f"{before:,} and {counted(after, 'row')} · {counted(len(answer.graph.nodes), 'variable')}"
    )
    _verdict(console, answer.sentence)
    columns = answer.columns
    section(console, "Equations, most surely changed first")
    table = [
        Column("variable", _cells(columns, "variable", shown)),
        Column("changed", _cells(columns, "changed", lambda parts: ", ".join(parts) or "–"), prose=True),
        *(Column(f"p {part}", _cells(columns, f"corrected_{part}", probability), right=True) for part in PARTS),
        Column("level", _from_to(columns, "level", number), right=True, rank=1),
        Column("error s.d.", _from_to(columns, "error_sd", long), right=True, rank=0),
    ]
    show_table(console, table)
    print_rest(console, len(columns["variable"]) - MOST_ROWS, "equations")
    for what, found in (answer.explained or {}).items():
        assert answer.target is not None
        ends = f"{number(found['before'])} to {number(found['after'])}"
        section(console, f"What changed the {what} of {shown(answer.target)}: {ends}")
        most = np.argsort(-np.abs(found["values"]), kind="stable")[:MOST_ROWS]
        parts = {name: [found[name][k] for k in most] for name in ("variable", "values", "low", "high")}
        table = [
            Column("equation of", list(map(shown, parts["variable"]))),
            Column("adds", list(map(long, parts["values"])), right=True),
            Column("95 % interval", _spans(parts), right=True),
        ]
        show_table(console, table)
    _notes(console, answer.notes)


@print_decision.register
def _(answer: Explanation, console: Console, description: str) -> None:
    print_head(console, description, f"{counted(answer.scored, 'row')} · {counted(len(answer.names), 'variable')}")
    _verdict(console, answer.sentence)
    section(console, "Rows")
    rows = range(min(len(answer.rows), MOST_ROWS))
    show_table(
        console,
        [
            Column("row", [f"{answer.rows[k]:,}" for k in rows], right=True),
            Column("p", [probability(float(answer.p_values[k])) for k in rows], right=True),
            Column("", [harmless(answer.line(k)) for k in rows], prose=True),
        ],
    )
    print_rest(console, len(answer.rows) - MOST_ROWS, "rows")


@print_decision.register
def _(answer: Intervention, console: Console, description: str) -> None:
    print_head(console, description, counted(len(answer.names), "variable"))
    _verdict(console, answer.sentence)
    section(console, "Means and standard deviations")
    scale = np.where(answer.sd_before > 0.0, answer.sd_before, 1.0)
    most = np.argsort(-np.abs(answer.after - answer.before) / scale, kind="stable")[:MOST_ROWS].tolist()
    table = [
        Column("variable", [shown(answer.names[j]) for j in most]),
        Column("mean before", [number(answer.before[j]) for j in most], right=True),
        Column("after", [number(answer.after[j]) for j in most], right=True),
    ]
    if answer.graphs:
        ends = [f"{number(answer.low[j], 4)} to {number(answer.high[j], 4)}" for j in most]
        table.append(Column("95 % interval", ends, right=True, rank=3))
        table.append(Column("changes", [percent(answer.changed[j]) for j in most], right=True, rank=2))
    table.append(Column("s.d. before", [number(answer.sd_before[j], 3) for j in most], right=True, rank=1))
    table.append(Column("after", [number(answer.sd_after[j], 3) for j in most], right=True, rank=1))
    show_table(console, table)
    print_rest(console, len(answer.names) - MOST_ROWS, "variables")
    _notes(console, answer.notes)


def _kinds_of_sets(answer: AdjustmentAnswer) -> list[str]:
    if answer.rule.optimal is None:
        return ["possible parents" if answer.rule.reason else "minimal"] * len(answer.sets)
    minimal = {frozenset(one) for one in answer.rule.minimal}
    return [
        ("most precise, minimal" if frozenset(one) in minimal else "most precise") if not k else "minimal"
        for k, one in enumerate(answer.sets)
    ]


def _cells(columns: Mapping[str, Sequence[Any]], name: str, write: Callable[[Any], str] = number) -> list[str]:
    """Return the first cells of a column as text."""
    return [write(value) for value in columns[name][:MOST_ROWS]]


def _from_to(columns: Mapping[str, Sequence[Any]], name: str, write: Callable[[Any], str]) -> list[str]:
    """Return the cells of a number before and after."""
    both = (_cells(columns, f"{name}_{when}", write) for when in ("before", "after"))
    return [f"{before} → {after}" for before, after in zip(*both, strict=True)]


def _spans(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the cells of intervals."""
    return [f"{long(low)} to {long(high)}" for low, high in zip(columns["low"], columns["high"], strict=True)]


def _verdict(console: Console, sentence: str, light: str = "") -> None:
    console.print()
    console.print(Text("Answer" if not light else "Verdict", style=f"bold {light}".strip()))
    say(console, written(console, sentence), "  ")


def _notes(console: Console, notes: list[str]) -> None:
    if notes:
        console.print()
    for note in notes:
        say(console, written(console, note), style="dim")
