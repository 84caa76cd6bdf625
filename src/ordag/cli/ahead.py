"""`ordag ahead`: how a series goes on."""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.answers import AS_JSON, loaded_or_learned, print_answer
from ordag.cli.help import ManualPage
from ordag.cli.options import DATA, METHOD, READING, given, setting_options, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.decisions.in_time import ahead as series_ahead


@click.command(cls=ManualPage)
@DATA
@click.option("--steps", default=12, show_default=True, type=click.IntRange(min=1), help="Number of steps to forecast.")
@click.option("--series", help="The series to forecast, if there are several: a value of the column --cluster.")
@click.option("--level", default=0.95, show_default=True, type=float, help="Level of the intervals.")
@METHOD
@with_options(setting_options())
@with_options(READING)
@AS_JSON
def ahead(
    data: str | list[str], steps: int, series: str | None, level: float, method: str, as_json: bool, **values: Any
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
    settings = given(values)
    with Progress() as progress:
        found = series_ahead(
            loaded_or_learned(data, method, reading | settings, progress), steps, series=series, level=level
        )
    print_answer(found, title_of(data), as_json)
