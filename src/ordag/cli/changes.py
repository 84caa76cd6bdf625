"""`ordag changes`: which equations differ between two tables."""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.answers import AS_JSON, PLOT, check_plot, print_answer, say_next, write_plot
from ordag.cli.help import ManualPage
from ordag.cli.options import METHOD, READING, given, setting_options, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.common.words import joined
from ordag.decisions.changing import changes as find_changes


@click.command(cls=ManualPage)
@click.argument("before", type=click.Path())
@click.argument("after", type=click.Path(), required=False)
@click.option("--by", help="Column of one table that says which rows to compare.")
@click.option(
    "--values",
    help="Two values of --by, with a comma between them; each may be the beginning of dates (2025-05) or a range (1990..1995). One is held "
    "against all other rows. Not needed if --by has two values, or dates in two months or years.",
)
@click.option("--graph", help="Graph, as in ordag test; by default it is learned from both tables.")
@click.option("--target", "of", help="Variable whose change of mean and variance is shared out among the equations.")
@click.option(
    "--level", default=0.05, show_default=True, type=float, help="Level of the tests, corrected for their number."
)
@METHOD
@with_options(setting_options("knowledge", "seed"))
@with_options(READING)
@PLOT
@AS_JSON
def changes(
    before: str,
    after: str | None,
    by: str | None,
    values: str | None,
    graph: str | None,
    of: str | None,
    level: float,
    method: str,
    plot: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Say which equations differ between two tables, or two groups of rows, and what explains a change.

    Every variable's equation is fitted to both tables: its weights, its level and its error variance are compared. With --target, the
    change of its mean and variance is shared out among the equations (Shapley values). The graph is learned from both tables together,
    each with its own means, unless one is given. BEFORE and AFTER are as DATA in ordag learn; with --by, BEFORE is one table with all rows.

    \b
    Examples
      ordag changes may.csv june.csv
      ordag changes may.csv june.csv --target price
      ordag changes sales.csv --by date --values 2025-05,2025-06
      ordag changes may.csv june.csv --graph model.dagitty --json
    """
    reading = take_reading(options)
    settings = given(options)
    named = [("BEFORE", before), ("AFTER", after), ("--graph", graph), ("--knowledge", settings.get("knowledge"))]
    check_plot(plot, [(name, path) for name, path in named if path is not None])
    chosen = None if values is None else [one.strip() for one in values.split(",") if one.strip()]
    with Progress():
        found = find_changes(
            before, after, graph, by=by, values=chosen, target=of, level=level, method=method, **reading, **settings
        )
    write_plot(plot, found.plot)
    both = f"{title_of(before)} and {title_of(after)}" if after else f"{title_of(before)}, {joined(list(found.names))}"
    if not print_answer(found, both, as_json):
        return
    if of is None and found.changed_variables:
        said = {"--by": by, "--values": values, "--graph": graph}
        chosen_rows = [word for option, value in said.items() if value for word in (option, value)]
        tables = [before, *([after] if after else []), *chosen_rows]
        last = found.graph.topological_order()[-1]
        say_next("what a change comes from", "changes", *tables, "--target", last, "--plot", "changes.png")
    else:
        say_next("which rows are odd", "explain", after or before, *(["--target", of] if of else []))
