"""A Comparison in, tables of text out."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ordag.comparison import Comparison
from ordag.show.screen import Column, print_head, say, show_table
from ordag.words import counted, harmless, shown

LEAST_IMPORTANT_FIRST = ("seconds", "class_hamming", "undirected", "bic")
ELSEWHERE = "; see --json"
MOST_EDGES = 40


def print_comparison(comparison: Comparison, console: Console, description: str = "") -> None:
    """The methods, what they share, and the edges on which they differ."""
    sizes = f"{counted(comparison.rows, 'row')} · {counted(len(comparison.names), 'variable')}"
    print_head(console, description, sizes)
    console.print()
    rows = comparison.cells
    methods = []
    for k, (key, title) in enumerate(comparison.titles.items()):
        rank = LEAST_IMPORTANT_FIRST.index(key) if key in LEAST_IMPORTANT_FIRST else None
        methods.append(Column(title, [row[k] for row in rows], right=k > 0, rank=rank))
    show_table(console, methods, elsewhere=ELSEWHERE)
    for outcome in comparison.outcomes:
        for sentence in [outcome.problem] if outcome.problem else (outcome.fit.warnings if outcome.fit else ()):
            say(console, Text.assemble((f"{outcome.method}: ", "bold yellow"), harmless(sentence)))
    found = [outcome.method for outcome in comparison.outcomes if outcome.fit is not None]
    if len(found) > 1:
        console.print(Text("\nAdjacent pairs in common", style="bold"))
        shared = comparison.shared
        counts = [Column(name, [str(row[k]) for row in shared], right=True, rank=-k) for k, name in enumerate(found)]
        show_table(console, [Column("", found), *counts], elsewhere=ELSEWHERE)
    rows_of_pairs = comparison.edge_rows
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
