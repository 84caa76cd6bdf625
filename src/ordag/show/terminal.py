"""A Fit in, coloured lines on a terminal out. Names are text, never markup, and are `shown` as every name is."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ordag.evidence.verdict import TIERS, Verdict
from ordag.show.screen import Column, print_head, say, show_table
from ordag.show.text import (
    arrows,
    edge_cells,
    false_edges,
    heading,
    left_out,
    legend,
    lines_without_direction,
    margin,
    other_units,
    resampled,
    scored,
    tied_with,
)
from ordag.words import harmless, number, shown

if TYPE_CHECKING:
    from ordag.fit import Fit

MOST_ROWS = 40
ELSEWHERE = "; see --json or --out"
LEAST_IMPORTANT_FIRST = ("robust", "s.e.", "edge", "p direction", "p edge", "by", "support", "arrow")
"""Columns of the table of arrows in the order in which a narrow screen leaves them out, after all that are not named here."""


def print_verdict(verdict: Verdict, console: Console, *, verbose: bool = False) -> None:
    """Print the verdict and, if `verbose`, what it rests on."""
    title = Text("Verdict", style=f"bold {verdict.light}")
    if verdict.tier is not None:
        title = Text.assemble(title, f" · {TIERS[verdict.tier]}")
    console.print(title)
    say(console, harmless(verdict.sentence), "  ")
    if verbose:
        say(console, harmless(verdict.help), "  ", style="dim")


def print_fit(fit: Fit, console: Console, description: str = "", *, verbose: bool = False) -> None:
    """Print the order, the graph as arrows, the table of arrows, and what to be careful about; if `verbose`, all that is behind it."""
    print_head(console, description, heading(fit))
    if fit.ordering is not None:
        _section(console, "Order, causes first")
        _steps(fit, console)
    elif fit.order is not None:
        _section(console, "Order, causes first")
        more = f" and {len(fit.order) - MOST_ROWS} more" if len(fit.order) > MOST_ROWS else ""
        say(console, f"{', '.join(map(shown, fit.order[:MOST_ROWS]))}{more}", "  ")
    _section(console, "Graph")
    _arrows(fit, console)
    _section(console, "Arrows")
    _edges(fit, console)
    console.print()
    print_verdict(fit.verdict, console, verbose=verbose)
    for sentence in (other_units(fit), false_edges(fit), scored(fit) if verbose else "", left_out(fit), resampled(fit)):
        if sentence:
            say(console, f"{sentence}.", style="dim")
    for sentence in fit.warnings:
        say(console, Text.assemble(("Warning ", "bold yellow"), harmless(sentence)))


def fit_text(fit: Fit, width: int, *, verbose: bool = False) -> str:
    """Return what `print_fit` prints on a terminal of this width, without colours."""
    text = StringIO()
    print_fit(fit, Console(file=text, width=width, highlight=False, markup=False, color_system=None), verbose=verbose)
    return text.getvalue().rstrip("\n")


def _section(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _more(console: Console, left: int, what: str) -> None:
    if left > 0:
        say(console, f"… and {left} more {what}: see --json or --out", "  ", style="dim")


def _steps(fit: Fit, console: Console) -> None:
    columns = fit.step_columns
    count = min(len(columns["node"]), MOST_ROWS)
    tied = tied_with(fit)[:MOST_ROWS]
    table = [
        Column("step", [str(k + 1) for k in range(count)], right=True, rank=1),
        Column("variable", [shown(node) for node in columns["node"][:count]]),
        Column("variance given earlier", [number(value) for value in columns["variance"][:count]], right=True, rank=2),
        Column("margin to runner-up", [margin(value) for value in columns["margin"][:count]], right=True, rank=0),
    ]
    show_table(console, [*table, Column("tied with", tied, prose=True)] if any(tied) else table, elsewhere=ELSEWHERE)
    _more(console, len(columns["node"]) - MOST_ROWS, "steps")
    if any(cell.endswith("!") for cell in tied):
        note = "! the graph has an edge among these, whose direction the variances leave open"
        say(console, note, "  ", style="dim")


def _arrows(fit: Fit, console: Console) -> None:
    lines = arrows(fit)
    if len(lines) > MOST_ROWS:
        lines = [line for line in lines if line[1]]
    names, pointing = [name for name, _ in lines[:MOST_ROWS]], [line for _, line in lines[:MOST_ROWS]]
    show_table(console, [Column("", names, style="cyan"), Column("", pointing, prose=True)])
    _more(console, len(lines) - MOST_ROWS, "variables")


def _edges(fit: Fit, console: Console) -> None:
    columns = fit.edge_columns
    count = min(len(columns["source"]), MOST_ROWS)
    table = [
        Column("source", [shown(name) for name in columns["source"][:count]]),
        Column("", ["→"] * count),
        Column("target", [shown(name) for name in columns["target"][:count]]),
    ]
    for title, cells in edge_cells(fit, count).items():
        rank = LEAST_IMPORTANT_FIRST.index(title) if title in LEAST_IMPORTANT_FIRST else -1
        table.append(Column(title, cells, right=title != "by", rank=None if title == "weight" else rank))
    if count:
        show_table(console, table, elsewhere=ELSEWHERE)
        _more(console, len(columns["source"]) - MOST_ROWS, "arrows")
        if legend(fit):
            say(console, legend(fit), "  ", "dim")
    else:
        console.print("  none")
    lines = lines_without_direction(fit)
    if lines:
        _section(console, "Without direction")
        ends, p_values = [pair for pair, _ in lines[:MOST_ROWS]], [p_value for _, p_value in lines[:MOST_ROWS]]
        p_edge = [Column("p edge", p_values, right=True)] if any(p_values) else []
        show_table(
            console,
            [
                Column("", [shown(a) for a, _ in ends]),
                Column("", ["—"] * len(ends)),
                Column("", [shown(b) for _, b in ends]),
                *p_edge,
            ],
        )
        _more(console, len(lines) - MOST_ROWS, "edges")
