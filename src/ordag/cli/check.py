"""`ordag check`: what the data say about the assumptions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ordag.cli.options import AUTO, DATA, READING, Progress, split_groups, take_reading, with_options


@click.command()
@DATA
@click.option("--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn, as in learn.")
@click.option(
    "--alpha",
    type=float,
    help="Level of each finding, 0.01 unless given, and of the tests for edges: auto then takes cvs.",
)
@click.option("--orient-by-order", is_flag=True, help="pc, ges: direct the edges of the class along the order of cvs.")
@click.option(
    "--knowledge",
    type=click.Path(dir_okay=False),
    help="A file of what is known beforehand: tiers, required and forbidden arrows, roots, sinks.",
)
@click.option(
    "--same-units", is_flag=True, help="All columns are in comparable units: what depends on units is a note."
)
@click.option("--units", type=click.Choice(["commensurable"]), help="Says the same in a word, as in learn.")
@click.option(
    "--groups", help='Columns that share a unit: "a,b;c,d" says that a and b have one unit, and c and d another.'
)
@click.option("--seed", default=0, show_default=True, type=int, help="Of the random unit changes.")
@with_options(READING)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def check(
    data: str,
    method: str,
    alpha: float | None,
    orient_by_order: bool,
    knowledge: str | None,
    same_units: bool,
    units: str | None,
    groups: str | None,
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
    from ordag.diagnosis.diagnosis import diagnose

    reading = take_reading(values)
    settings: dict[str, Any] = {"orient_by_order": "class"} if orient_by_order else {}
    if knowledge is not None:
        settings["knowledge"] = knowledge
    with Progress() as progress:
        diagnosis = diagnose(
            data,
            method=method,
            alpha=alpha,
            seed=seed,
            same_units=same_units,
            units=units,
            groups=split_groups(groups),
            progress=progress,
            **reading,
            **settings,
        )
    if as_json:
        click.echo(diagnosis.to_json())
    else:
        from ordag.show.diagnosis import print_diagnosis
        from ordag.show.screen import Screen

        print_diagnosis(diagnosis, Screen(), Path(data).name or data)
