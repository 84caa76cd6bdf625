"""`ordag effect`: the total causal effect of one variable on another."""

from __future__ import annotations

import json
from typing import Any

import click

from ordag.cli.options import (
    AUTO,
    DATA,
    READING,
    SETTINGS,
    Progress,
    given,
    refuse_unused_level,
    take_reading,
    with_options,
)
from ordag.errors import SettingError
from ordag.words import shown


@click.command()
@DATA
@click.option("--from", "source", required=True, help="The cause.")
@click.option("--to", "target", required=True, help="What it may have an effect on.")
@click.option("--level", default=0.95, show_default=True, type=float, help="Of the interval.")
@click.option("--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn the graph.")
@with_options(SETTINGS)
@with_options(READING)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def effect(
    context: click.Context,
    /,
    data: str,
    source: str,
    target: str,
    level: float,
    method: str,
    as_json: bool,
    **values: Any,
) -> None:
    """The total causal effect of one variable on another in the model learned from DATA.

    It is what a change of the cause by one unit adds to the target along all directed paths of the learned graph, with a
    standard error and an interval that take the graph for granted.

    \b
    Examples
      ordag effect marks --from algebra --to mechanics --alpha 0.05
      ordag effect data.csv --from dose --to response --knowledge known.txt --json
    """
    from ordag.learning import learn
    from ordag.trust.effects import total_effect

    reading = take_reading(values)
    settings = given(context, values)
    refuse_unused_level(settings)
    if method in ("pc", "ges") and "orient_by_order" not in settings:
        raise SettingError(
            f"--method {method} finds a class of graphs, whose effects differ: add --orient-by-order, or choose another method."
        )
    with Progress() as progress:
        fit = learn(data, method, progress=progress, **reading, **settings)
    found = total_effect(fit, source, target, level)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return
    if found.estimate == 0 and found.std_error == 0:
        click.echo(
            f"{shown(source)} has no effect on {shown(target)}: no directed path leads there in the learned graph."
        )
        return
    click.echo(
        f"{shown(source)} → {shown(target)}: {found.estimate:.4g} per unit, standard error {found.std_error:.2g}, "
        f"{100 * level:g}% interval {found.low:.4g} to {found.high:.4g}"
    )
