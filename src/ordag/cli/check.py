"""`ordag check`: checks of the assumptions behind a graph."""

from __future__ import annotations

import warnings
from typing import Any

import click

from ordag.checking import check as check_assumptions
from ordag.cli.answers import AS_JSON, as_words, say_next
from ordag.cli.help import ManualPage, typed
from ordag.cli.options import (
    DATA,
    FILE,
    METHOD,
    READING,
    inputs,
    method_list,
    origin,
    refuse_options,
    setting_options,
    take_reading,
    title_of,
    with_options,
)
from ordag.cli.progress import Progress
from ordag.common.files import write_whole
from ordag.common.words import shown
from ordag.errors import ColumnWarning
from ordag.learners.methods import METHODS
from ordag.show.files import check_outputs
from ordag.show.report import check_page
from ordag.show.report import report as report_of
from ordag.show.screen import Screen
from ordag.show.terminal import print_diagnosis


@click.command(
    cls=ManualPage,
    terms=(
        "Tiers",
        {
            "tested": "The error variances are equal along the learned order; along a wrong order they rarely would be.",
            "untested": "They look equal, but these data could hardly have shown a difference.",
            "assumed": "They are not equal: the directions rest on a condition that no data can test.",
            "uninformative": "The columns were scaled, so the directions carry no information.",
        },
    ),
)
@DATA
@METHOD
@click.option(
    "--alpha",
    type=float,
    help="Level of each finding, by default 0.01, and of the tests for edges; with it, auto uses cvs.",
)
@with_options(setting_options("orient_by_order", "variance", "knowledge"))
@click.option(
    "--same-units", is_flag=True, help="All columns are in comparable units, so findings on units become notes."
)
@with_options(setting_options("units", "groups"))
@click.option("--seed", default=0, show_default=True, type=int, help="Seed of the random changes of units.")
@with_options(READING)
@AS_JSON
@click.option("--report", type=FILE, help="Also write a page for a browser (.html) with these findings.")
@click.option(
    "--compare", help=f"--report: methods to show beside, separated by commas ({', '.join(METHODS)}), or all."
)
def check(
    data: str | list[str],
    method: str,
    alpha: float | None,
    orient_by_order: str | None,
    variance: str | None,
    knowledge: str | None,
    same_units: bool,
    units: str | None,
    groups: list[list[str]] | None,
    seed: int,
    as_json: bool,
    report: str | None,
    compare: str | None,
    **values: Any,
) -> None:
    """Check how far the arrows that ordag learn finds in DATA can be trusted.

    The verdict states the expected share of wrong arrows and what the directions rest on. Then comes one finding per assumption:
    scales, equal error variances, linearity, normal errors, influential rows. Directions that rest on variances alone (cvs, gds)
    have a tier. DATA is as in ordag learn.

    \b
    Examples
      ordag check marks
      ordag check marks --method cvs
      ordag check data.csv --same-units
      ordag check data.csv --groups "height,width;mass" --json
      ordag check data.csv --report page.html
    """
    if report is None:
        refuse_options(["compare"], "has an effect only with --report: give both, or leave it out")
    else:
        check_page(report)
        check_outputs([("--report", report)], inputs(data, knowledge))
    reading = take_reading(values)
    said = {"orient_by_order": orient_by_order, "variance": variance, "knowledge": knowledge}
    settings: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    with warnings.catch_warnings(), Progress() as progress:
        if not as_json:
            warnings.simplefilter("ignore", ColumnWarning)  # the answer says it
        diagnosis = check_assumptions(
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
        if report is not None:
            made = report_of(
                diagnosis.fit,
                diagnosis=diagnosis,
                compare=method_list(compare),
                progress=progress,
                origin=origin(data, reading),
            )
            write_whole(report, made)
    if as_json:
        click.echo(diagnosis.to_json())
    else:
        print_diagnosis(diagnosis, Screen(typed), title_of(data))
        if report is not None:
            click.echo(f"written: {shown(report)}", err=True)
        say_next("the graph", "learn", *as_words(data))
