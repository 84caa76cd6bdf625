"""A Comparison in, tables of text out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from ordag.show.screen import Column, print_head, say, show_table
from ordag.words import counted, harmless, number, shown

if TYPE_CHECKING:
    from ordag.comparison import Comparison

TITLES = {
    "method": "method",
    "directed": "arrows",
    "undirected": "undirected",
    "bic": "BIC",
    "seconds": "seconds",
    "hamming": "distance to DAG",
    "class_hamming": "distance to class",
}
LEAST_IMPORTANT_FIRST = ("seconds", "class_hamming", "undirected", "bic")
ELSEWHERE = "; see --json"
MOST_EDGES = 40


def plain(comparison: Comparison) -> str:
    """The table of methods in columns."""
    rows = [list(_titles(comparison).values()), *(_cells(comparison, row) for row in comparison._rows())]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def print_comparison(comparison: Comparison, console: Console, description: str = "") -> None:
    """The methods, what they share, and the edges on which they differ."""
    sizes = f"{counted(comparison.rows, 'row')} · {counted(len(comparison.names), 'variable')}"
    print_head(console, description, sizes)
    console.print()
    rows = [_cells(comparison, row) for row in comparison._rows()]
    methods = []
    for k, (key, title) in enumerate(_titles(comparison).items()):
        rank = LEAST_IMPORTANT_FIRST.index(key) if key in LEAST_IMPORTANT_FIRST else None
        methods.append(Column(title, [row[k] for row in rows], right=k > 0, rank=rank))
    show_table(console, methods, elsewhere=ELSEWHERE)
    for outcome in comparison.outcomes:
        for sentence in [outcome.problem] if outcome.problem else (outcome.fit.warnings if outcome.fit else ()):
            say(console, Text.assemble((f"{outcome.method}: ", "bold yellow"), harmless(sentence)))
    found = [outcome.method for outcome in comparison.outcomes if outcome.fit is not None]
    if len(found) > 1:
        console.print(Text("\nAdjacent pairs in common", style="bold"))
        shared = comparison._shared()
        counts = [Column(name, [str(row[k]) for row in shared], right=True, rank=-k) for k, name in enumerate(found)]
        show_table(console, [Column("", found), *counts], elsewhere=ELSEWHERE)
    rows_of_pairs = comparison._edge_rows()
    differing = [row for row in rows_of_pairs if len(set(list(row.values())[2:])) > 1]
    agreed = counted(len(rows_of_pairs) - len(differing), "pair")
    console.print()
    say(console, f"{agreed} on which all agree, {len(differing)} on which not", style="bold")
    if differing:
        listed = differing[:MOST_EDGES]
        pairs = Column("", [f"{shown(row['first'])} · {shown(row['second'])}" for row in listed], prose=True)
        graphs = list(listed[0])[2:]
        marks = [Column(name, [row[name] for row in listed], right=True, rank=-k) for k, name in enumerate(graphs)]
        show_table(console, [pairs, *marks], elsewhere=ELSEWHERE)
        if len(differing) > MOST_EDGES:
            say(console, f"… and {len(differing) - MOST_EDGES} more: see them all with --json", "  ", style="dim")


def _titles(comparison: Comparison) -> dict[str, str]:
    known = comparison._rows()[0]
    return {key: title for key, title in TITLES.items() if key in known}


def _cells(comparison: Comparison, row: dict[str, Any]) -> list[str]:
    return [_cell(key, row.get(key)) for key in _titles(comparison)]


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "–"
    if key == "seconds":
        return f"{value:.3f}"
    return number(value, 7) if isinstance(value, float) else str(value)
