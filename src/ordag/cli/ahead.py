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
@click.option("--steps", default=12, show_default=True, type=click.IntRange(min=1), help="Number of steps to forecast.")
@click.option("--series", help="The series to forecast, if there are several: a value of the column --cluster.")
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
    """Forecast the series in DATA beyond its last time, with intervals.

    The model uses the earlier values that --lags allows. Its intervals include future errors and the uncertainty about the graph and
    its weights. DATA is as in ordag learn, or a saved fit (.ordag).

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
