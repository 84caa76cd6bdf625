"""`ordag check`: what the data say about the assumptions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ordag.cli.options import DATA, READING, Progress, split_groups, take_reading, with_options


@click.command()
@DATA
@click.option(
    "--alpha",
    default=0.01,
    show_default=True,
    type=float,
    help="Level of the tests for edges and of each finding, between 0 and 1.",
)
@click.option(
    "--same-units", is_flag=True, help="All columns are in comparable units: what depends on units is a note."
)
@click.option(
    "--groups", help='Columns that share a unit: "a,b;c,d" says that a and b have one unit, and c and d another.'
)
@click.option("--seed", default=0, show_default=True, type=int, help="Of the random unit changes.")
@with_options(READING)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def check(
    data: str, alpha: float, same_units: bool, groups: str | None, seed: int, as_json: bool, **values: Any
) -> None:
    """Say how far the arrows that ordag learn finds in DATA can be trusted.

    The verdict has three tiers. Tested: the error variances come out equal along the learned order, as they would hardly
    do along a wrong one. Assumed: they do not, and the directions rest on a condition that no data can test.
    Uninformative: the columns are standardised, and the directions carry no information.

    \b
    Examples
      ordag check marks
      ordag check data.csv --same-units
      ordag check data.csv --groups "height,width;mass" --json
    """
    from ordag.trust.diagnosis import diagnose

    reading = take_reading(values)
    with Progress() as progress:
        diagnosis = diagnose(
            data,
            alpha=alpha,
            seed=seed,
            same_units=same_units,
            groups=split_groups(groups),
            progress=progress,
            **reading,
        )
    if as_json:
        click.echo(diagnosis.to_json())
    else:
        from ordag.show.diagnosis import print_diagnosis
        from ordag.show.screen import Screen

        print_diagnosis(diagnosis, Screen(), Path(data).name or data)
