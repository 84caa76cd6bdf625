"""`ordag check`: what the data say about the assumptions."""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.options import DATA, READING, Progress, setting_options, take_reading, title_of, with_options
from ordag.diagnosis.diagnosis import diagnose
from ordag.learners.methods import AUTO
from ordag.show.diagnosis import print_diagnosis
from ordag.show.screen import Screen


@click.command()
@DATA
@click.option("--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn, as in learn.")
@click.option(
    "--alpha",
    type=float,
    help="Level of each finding, 0.01 unless given, and of the tests for edges: auto then takes cvs.",
)
@with_options(setting_options("orient_by_order", "knowledge"))
@click.option(
    "--same-units", is_flag=True, help="All columns are in comparable units: what depends on units is a note."
)
@with_options(setting_options("units", "groups"))
@click.option("--seed", default=0, show_default=True, type=int, help="Of the random unit changes.")
@with_options(READING)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def check(
    data: str | list[str],
    method: str,
    alpha: float | None,
    orient_by_order: str | None,
    knowledge: str | None,
    same_units: bool,
    units: str | None,
    groups: list[list[str]] | None,
    seed: int,
    as_json: bool,
    **values: Any,
) -> None:
    """Say how far the arrows that ordag learn finds in DATA can be trusted.

    The verdict says what every direction rests on and how many of the arrows to expect wrong; directions that rest on variances
    alone (cvs, gds) have a tier. Tested: the error variances come out equal along the learned order, as they would hardly do
    along a wrong one. Untested: they do, but these data could hardly have contradicted it. Assumed: they do not, and the directions
    rest on a condition that no data can test. Uninformative: the columns were scaled, and the directions carry no information.

    \b
    Examples
      ordag check marks
      ordag check marks --method cvs
      ordag check data.csv --same-units
      ordag check data.csv --groups "height,width;mass" --json
    """
    reading = take_reading(values)
    said = {"orient_by_order": orient_by_order, "knowledge": knowledge}
    settings: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    with Progress() as progress:
        diagnosis = diagnose(
            data,
            method=method,
            alpha=alpha,
            seed=seed,
            same_units=same_units,
            units=units,
            groups=groups,
            progress=progress,
            **reading,
            **settings,
        )
    if as_json:
        click.echo(diagnosis.to_json())
    else:
        print_diagnosis(diagnosis, Screen(), title_of(data))
