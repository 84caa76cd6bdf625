"""A Fit in, coloured lines on a terminal out. Names are printed as they are, never read as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ordag.show.diagnosis import print_verdict
from ordag.show.text import (
    arrows,
    chance,
    edge_cells,
    heading,
    left_out,
    legend,
    lines_without_direction,
    number,
    percent,
    resampled,
    scored,
    tied_with,
)

if TYPE_CHECKING:
    from ordag.fit import Fit

MOST_ROWS = 40


def print_fit(fit: Fit, console: Console, description: str = "") -> None:
    """The order, the graph as arrows, the table of arrows, and what to be careful about."""
    console.print(Text.assemble(("Ordag", "bold"), f" · {description} · " if description else " · ", heading(fit)))
    if fit.ordering is not None:
        _section(console, "Order, causes first")
        _steps(fit, console)
    elif fit.order is not None:
        _section(console, "Order, causes first")
        more = f" and {len(fit.order) - MOST_ROWS} more" if len(fit.order) > MOST_ROWS else ""
        names = ", ".join(" ".join(name.split()) for name in fit.order[:MOST_ROWS])
        console.print(Padding(Text(f"{names}{more}"), (0, 0, 0, 2), expand=False))
    _section(console, "Graph")
    _arrows(fit, console)
    _section(console, "Arrows")
    _edges(fit, console)
    console.print()
    if fit.verdict is not None:
        print_verdict(fit.verdict, console)
    for sentence in (chance(fit), scored(fit), left_out(fit), resampled(fit)):
        if sentence:
            console.print(Text(f"{sentence}.", style="dim"))
    for sentence in fit.warnings:
        console.print(Text.assemble(("Warning ", "bold yellow"), sentence))


def _section(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _plain(text: str) -> Text:
    return Text(" ".join(text.split()), overflow="fold")


def _show(console: Console, table: Table, left: int, what: str) -> None:
    console.print(Padding(table, (0, 0, 0, 2), expand=False))
    if left > 0:
        console.print(Text(f"  … and {left} more {what}: see them all with --json or --out", style="dim"))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        left = name in ("variable", "source", "target", "tied with", "by", "")
        table.add_column(name, justify="left" if left else "right", no_wrap=not left)
    return table


def _steps(fit: Fit, console: Console) -> None:
    columns = fit._step_columns
    tied = tied_with(fit)
    table = _table(
        "step", "variable", "variance given earlier", "margin to runner-up", *(["tied with"] if any(tied) else [])
    )
    for k, node in enumerate(columns["node"][:MOST_ROWS]):
        cells = [number(columns["variance"][k]), percent(columns["margin"][k]), *([tied[k]] if any(tied) else [])]
        table.add_row(str(k + 1), _plain(node), *(Text(cell) for cell in cells))
    _show(console, table, len(columns["node"]) - MOST_ROWS, "steps")
    if any(cell.endswith("!") for cell in tied[:MOST_ROWS]):
        console.print(
            Text("  ! the graph has an edge among these, whose direction the variances leave open", style="dim")
        )


def _arrows(fit: Fit, console: Console) -> None:
    lines = arrows(fit)
    if len(lines) > MOST_ROWS:
        lines = [line for line in lines if line[1]]
    table = _table("", "")
    table.show_header = False
    for name, line in lines[:MOST_ROWS]:
        table.add_row(Text(" ".join(name.split()), style="cyan", overflow="fold"), _plain(line))
    _show(console, table, len(lines) - MOST_ROWS, "variables")


def _edges(fit: Fit, console: Console) -> None:
    columns = fit._edge_columns
    shown = edge_cells(columns)
    table = _table("source", "", "target", *shown)
    for k in range(min(len(columns["source"]), MOST_ROWS)):
        cells = [cell(columns, k) for cell in shown.values()]
        table.add_row(_plain(columns["source"][k]), "→", _plain(columns["target"][k]), *cells)
    if columns["source"]:
        _show(console, table, len(columns["source"]) - MOST_ROWS, "arrows")
        if legend(fit):
            console.print(Text(f"  {legend(fit)}", style="dim"))
    else:
        console.print("  none")
    lines = lines_without_direction(fit)
    if lines:
        _section(console, "Without direction")
        for line in lines[:MOST_ROWS]:
            console.print(Text(f"  {' '.join(line.split())}"))
        if len(lines) > MOST_ROWS:
            console.print(Text(f"  … and {len(lines) - MOST_ROWS} more", style="dim"))
