"""`ordag changes`: which equations differ between two tables."""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.help import ManualPage
from ordag.cli.options import READING, given, setting_options, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.decisions.changing import changes as find_changes
from ordag.learners.methods import AUTO
from ordag.show.decisions import print_decision
from ordag.show.screen import Screen


@click.command(cls=ManualPage)
@click.argument("before", type=click.Path())
@click.argument("after", type=click.Path())
@click.option(
    "--graph",
    help="Graph, as in ordag test; by default it is learned from both tables.",
)
@click.option("--target", "of", help="Variable whose change of mean and variance is shared out among the equations.")
@click.option(
    "--level", default=0.05, show_default=True, type=float, help="Level of the tests, corrected for their number."
)
@click.option("--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn, as in learn.")
@with_options(setting_options("knowledge", "seed"))
@with_options(READING)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def changes(
    context: click.Context,
    /,
    before: str,
    after: str,
    graph: str | None,
    of: str | None,
    level: float,
    method: str,
    as_json: bool,
    **values: Any,
) -> None:
    """Say which equations differ between the tables BEFORE and AFTER, and what explains a change.

    Every variable's equation is fitted to both tables: its weights, its level and its error variance are compared. With --target, the
    change of its mean and variance is shared out among the equations (Shapley values). The graph is learned from both tables together,
    each with its own means, unless one is given. BEFORE and AFTER are as DATA in ordag learn.

    \b
    Examples
      ordag changes may.csv june.csv
      ordag changes may.csv june.csv --target price
      ordag changes may.csv june.csv --graph model.dagitty --json
    """
    reading = take_reading(values)
    settings = given(context, values)
    with Progress():
        found = find_changes(before, after, graph, target=of, level=level, method=method, **reading, **settings)
    if as_json:
        click.echo(found.to_json())
    else:
        print_decision(found, Screen(), f"{title_of(before)} and {title_of(after)}")
