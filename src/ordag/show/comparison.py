"""A Comparison in, tables of text out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ordag.show.text import number

if TYPE_CHECKING:
    from rich.console import Console

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
MOST_EDGES = 40


def plain(comparison: Comparison) -> str:
    """The table of methods in columns."""
    rows = [list(_shown(comparison).values()), *(_cells(comparison, row) for row in comparison._rows())]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def print_comparison(comparison: Comparison, console: Console, description: str = "") -> None:
    """The methods, what they share, and the edges on which they differ."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    def show(head: list[str], rows: list[list[str]]) -> None:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for k, title in enumerate(head):
            table.add_column(Text(title), justify="left" if k == 0 else "right", no_wrap=k > 0)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(Padding(table, (0, 0, 0, 2), expand=False))

    variables = len(comparison.names)
    console.print(
        Text.assemble(("Ordag", "bold"), f" · {description} · {comparison.rows} rows · {variables} variables\n")
    )
    show(list(_shown(comparison).values()), [_cells(comparison, row) for row in comparison._rows()])
    for outcome in comparison.outcomes:
        for sentence in [outcome.problem] if outcome.problem else (outcome.fit.warnings if outcome.fit else ()):
            console.print(Text.assemble((f"{outcome.method}: ", "bold yellow"), sentence))
    found = [outcome.method for outcome in comparison.outcomes if outcome.fit is not None]
    if len(found) > 1:
        console.print(Text("\nAdjacent pairs in common", style="bold"))
        shared = [[name, *map(str, row)] for name, row in zip(found, comparison._shared(), strict=True)]
        show(["", *found], shared)
    rows = comparison._edge_rows()
    differing = [row for row in rows if len(set(list(row.values())[2:])) > 1]
    console.print(
        Text(f"\n{len(rows) - len(differing)} pairs on which all agree, {len(differing)} on which not", style="bold")
    )
    if differing:
        head = ["", *list(differing[0])[2:]]
        show(head, [[f"{row['first']} · {row['second']}", *list(row.values())[2:]] for row in differing[:MOST_EDGES]])
        if len(differing) > MOST_EDGES:
            console.print(Text(f"  … and {len(differing) - MOST_EDGES} more: see them all with --json", style="dim"))


def _shown(comparison: Comparison) -> dict[str, str]:
    known = comparison._rows()[0]
    return {key: title for key, title in TITLES.items() if key in known}


def _cells(comparison: Comparison, row: dict[str, Any]) -> list[str]:
    return [_cell(key, row.get(key)) for key in _shown(comparison)]


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "–"
    if key == "seconds":
        return f"{value:.3f}"
    return number(value, 7) if isinstance(value, float) else str(value)
