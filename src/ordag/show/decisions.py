"""Answers to questions about a graph on a terminal."""

from __future__ import annotations

from functools import singledispatch
from io import StringIO
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from ordag.common.words import counted, harmless, listed, number, percent, probability, shown
from ordag.decisions.adjusting import AdjustmentAnswer
from ordag.decisions.changing import Changes
from ordag.decisions.explaining import Explanation
from ordag.decisions.in_time import Ahead, Response
from ordag.decisions.intervening import Intervention
from ordag.decisions.tested_graph import GraphTest, claim
from ordag.model.effects import Effect
from ordag.model.group_effects import GroupEffect
from ordag.show.screen import Column, print_head, say, show_table

MOST_ROWS = 20
"""Rows of a table on a terminal."""

MOST_STEPS, COLUMN_WIDTH = 60, 30
"""Steps of time on a terminal, and the width of a column with an interval."""


def text(answer: Any, width: int = 100) -> str:
    """Return what `print_decision` prints on a terminal of this width, without colours."""
    lines = StringIO()
    print_decision(answer, Console(file=lines, width=width, highlight=False, markup=False, color_system=None), "")
    return lines.getvalue().rstrip("\n")


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
        rows = range(min(len(columns["first"]), MOST_ROWS))
        _title(console, "Independences that the graph claims, worst first")
        words = [claim(columns["first"][k], columns["second"][k], columns["given"][k]) for k in rows]
        marks = ["contradicted" if columns["contradicted"][k] else "" for k in rows]
        table = [
            Column("", words, prose=True),
            Column("partial correlation", [number(columns["correlation"][k], 2) for k in rows], right=True),
            Column("p", [probability(columns["p_value"][k]) for k in rows], right=True, rank=0),
            Column("p corrected", [probability(columns["corrected"][k]) for k in rows], right=True, rank=1),
        ]
        show_table(console, [*table, Column("", marks, style="red")] if any(marks) else table)
        _rest(console, len(columns["first"]) - MOST_ROWS, "claims")
    arrows = answer.arrow_columns
    if arrows["source"]:
        rows = range(min(len(arrows["source"]), MOST_ROWS))
        _title(console, "Arrows, least needed first")
        names = [f"{shown(arrows['source'][k])} → {shown(arrows['target'][k])}" for k in rows]
        table = [
            Column("", names, prose=True),
            Column("weight", [number(arrows["weight"][k]) for k in rows], right=True),
            Column("s.e.", [number(arrows["std_error"][k], 2) for k in rows], right=True, rank=0),
            Column("p", [probability(arrows["p_value"][k]) for k in rows], right=True, rank=1),
            Column("", ["" if arrows["needed"][k] else "not needed" for k in rows], style="yellow"),
        ]
        show_table(console, table)
        _rest(console, len(arrows["source"]) - MOST_ROWS, "arrows")
    _notes(console, answer.notes)


@print_decision.register
def _(answer: Effect | GroupEffect, console: Console, description: str) -> None:
    for line in str(answer).splitlines():
        say(console, line)


@print_decision.register
def _(answer: Response, console: Console, description: str) -> None:
    print_head(console, description, f"{shown(answer.source)} → {shown(answer.target)}")
    _verdict(console, answer.sentence)
    _title(console, f"{(answer.step or 'step').capitalize()}s later")
    columns = answer.columns
    rows = range(min(len(columns["step"]), MOST_STEPS))
    table = [
        Column("", [str(columns["step"][k]) for k in rows], right=True),
        Column("change", [number(columns["estimate"][k]) for k in rows], right=True),
    ]
    if columns["low"][0] is not None:
        spans = [f"{number(columns['low'][k], 3)} to {number(columns['high'][k], 3)}" for k in rows]
        table += [
            Column(f"{100 * answer.level:g} % interval", spans, right=True, rank=1),
            Column("changes at all", [percent(columns["probability"][k]) for k in rows], right=True, rank=0),
        ]
    show_table(console, table)
    _rest(console, len(columns["step"]) - MOST_STEPS, "steps")
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
    _rest(console, steps - MOST_STEPS, "steps")
    _notes(console, answer.notes)


@print_decision.register
def _(answer: AdjustmentAnswer, console: Console, description: str) -> None:
    graph = answer.rule.graph
    print_head(console, description, f"{counted(len(graph.nodes), 'variable')} · {counted(graph.edge_count, 'edge')}")
    _verdict(console, answer.sentence)
    if answer.sets and answer.rule.has_path:
        _title(console, "Held fixed, with the effect" if answer.estimates else "Sets to hold fixed")
        kinds = _kinds_of_sets(answer)
        rows = range(min(len(answer.sets), MOST_ROWS))
        table = [
            Column("", [listed(answer.sets[k], 20) if answer.sets[k] else "nothing" for k in rows], prose=True),
            Column("", [kinds[k] for k in rows]),
        ]
        if answer.estimates:
            found = answer.estimates
            table += [
                Column("effect", [number(found[k].effect) for k in rows], right=True),
                Column(
                    "95 % interval",
                    [f"{number(found[k].low, 3)} to {number(found[k].high, 3)}" for k in rows],
                    right=True,
                    rank=2,
                ),
                Column(
                    "robust",
                    [percent(found[k].robustness) if found[k].robustness == found[k].robustness else "" for k in rows],
                    right=True,
                    rank=0,
                ),
            ]
            if any(one.valid == one.valid for one in found):
                table.append(Column("valid in", [percent(found[k].valid) for k in rows], right=True, rank=1))
        show_table(console, table)
        _rest(console, len(answer.sets) - MOST_ROWS, "sets")
        if answer.estimates:
            legend = "robust: what a hidden common cause would have to explain of both for the effect to vanish"
            if any(one.valid == one.valid for one in answer.estimates):
                legend += "; valid in: share of the graphs drawn for resamples in which the set is valid"
            say(console, legend, "  ", style="dim")
    _notes(console, answer.notes)


@print_decision.register
def _(answer: Changes, console: Console, description: str) -> None:
    before, after = answer.rows
    print_head(
        console, description, f"{before:,} and {counted(after, 'row')} · {counted(len(answer.graph.nodes), 'variable')}"
    )
    _verdict(console, answer.sentence)
    columns = answer.columns
    rows = range(min(len(columns["variable"]), MOST_ROWS))
    _title(console, "Equations, most surely changed first")
    show_table(
        console,
        [
            Column("variable", [shown(columns["variable"][k]) for k in rows]),
            Column("changed", [", ".join(columns["changed"][k]) or "–" for k in rows], prose=True),
            Column("level before", [number(columns["level_before"][k]) for k in rows], right=True, rank=4),
            Column("after", [number(columns["level_after"][k]) for k in rows], right=True, rank=4),
            Column("error s.d. before", [number(columns["error_sd_before"][k], 3) for k in rows], right=True, rank=3),
            Column("after", [number(columns["error_sd_after"][k], 3) for k in rows], right=True, rank=3),
            *(
                Column(
                    f"p {part}", [probability(columns[f"corrected_{part}"][k]) for k in rows], right=True, rank=place
                )
                for place, part in enumerate(("weights", "level", "variance"))
            ),
        ],
    )
    _rest(console, len(columns["variable"]) - MOST_ROWS, "equations")
    for what, found in (answer.explained or {}).items():
        assert answer.target is not None
        ends = f"{number(found['before'])} to {number(found['after'])}"
        _title(console, f"What changed the {what} of {shown(answer.target)}: {ends}")
        worst = sorted(range(len(found["variable"])), key=lambda k: -abs(found["values"][k]))[:MOST_ROWS]
        show_table(
            console,
            [
                Column("equation of", [shown(found["variable"][k]) for k in worst]),
                Column("adds", [number(found["values"][k], 3) for k in worst], right=True),
                Column(
                    "95 % interval",
                    [f"{number(found['low'][k], 3)} to {number(found['high'][k], 3)}" for k in worst],
                    right=True,
                ),
            ],
        )
    _notes(console, answer.notes)


@print_decision.register
def _(answer: Explanation, console: Console, description: str) -> None:
    print_head(console, description, f"{counted(answer.scored, 'row')} · {counted(len(answer.names), 'variable')}")
    _verdict(console, answer.sentence)
    _title(console, "Rows")
    rows = range(min(len(answer.rows), MOST_ROWS))
    show_table(
        console,
        [
            Column("row", [f"{answer.rows[k]:,}" for k in rows], right=True),
            Column("p", [probability(float(answer.p_values[k])) for k in rows], right=True),
            Column("", [harmless(answer.line(k)) for k in rows], prose=True),
        ],
    )
    _rest(console, len(answer.rows) - MOST_ROWS, "rows")


@print_decision.register
def _(answer: Intervention, console: Console, description: str) -> None:
    print_head(console, description, counted(len(answer.names), "variable"))
    _verdict(console, answer.sentence)
    _title(console, "Means and standard deviations")
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
    _rest(console, len(answer.names) - MOST_ROWS, "variables")
    _notes(console, answer.notes)


def _kinds_of_sets(answer: AdjustmentAnswer) -> list[str]:
    if answer.rule.optimal is None:
        return ["possible parents"] * len(answer.sets)
    minimal = {frozenset(one) for one in answer.rule.minimal}
    return [
        ("most precise, minimal" if frozenset(one) in minimal else "most precise") if not k else "minimal"
        for k, one in enumerate(answer.sets)
    ]


def _title(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _verdict(console: Console, sentence: str, light: str = "") -> None:
    console.print()
    console.print(Text("Answer" if not light else "Verdict", style=f"bold {light}".strip()))
    say(console, harmless(sentence), "  ")


def _notes(console: Console, notes: list[str]) -> None:
    if notes:
        console.print()
    for note in notes:
        say(console, harmless(note), style="dim")


def _rest(console: Console, count: int, what: str) -> None:
    if count > 0:
        say(console, f"… and {count} more {what}: see --json", "  ", style="dim")
