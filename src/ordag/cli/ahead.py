"""`ordag ahead`: how a series goes on."""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.help import ManualPage
from ordag.cli.options import DATA, READING, given, setting_options, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.decisions.in_time import ahead as series_ahead
from ordag.learners.methods import AUTO
from ordag.learning import learn
from ordag.saved import ENDING, load
from ordag.show.decisions import print_decision
from ordag.show.screen import Screen


@click.command(cls=ManualPage)
@DATA
@click.option("--steps", default=12, show_default=True, type=click.IntRange(min=1), help="Steps of time to go on.")
@click.option("--series", help="Which series to go on from, of several: a value of the column of --cluster.")
@click.option("--level", default=0.95, show_default=True, type=float, help="Level of the intervals.")
@click.option("--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn, as in learn.")
@with_options(setting_options())
@with_options(READING)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def ahead(
    context: click.Context,
    /,
    data: str | list[str],
    steps: int,
    series: str | None,
    level: float,
    method: str,
    as_json: bool,
    **values: Any,
) -> None:
    """Say how the series in DATA goes on after its last time, with intervals.

    The model is learned with the earlier values that --lags allows; its intervals hold the errors to come, and what is not known of the
    graph and its weights. DATA is as in ordag learn, or a saved fit (.ordag).

    \b
    Examples
      ordag ahead sales.csv --time month --lags 2 --season 12
      ordag ahead panel.csv --time year --cluster country --lags 1 --series France
      ordag ahead answer.ordag --steps 24 --json
    """
    reading = take_reading(values)
    settings = given(context, values)
    with Progress() as progress:
        if isinstance(data, str) and data.lower().endswith(ENDING):
            fit = load(data)
        else:
            fit = learn(data, method, progress=progress, **reading, **settings)
        found = series_ahead(fit, steps, series=series, level=level)
    if as_json:
        click.echo(found.to_json())
    else:
        print_decision(found, Screen(), title_of(data))
