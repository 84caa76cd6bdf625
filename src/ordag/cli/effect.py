"""`ordag effect`: the total causal effect of one variable on another."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from ordag.bootstrapping import bootstrap
from ordag.cli.help import ManualPage
from ordag.cli.options import (
    DATA,
    READING,
    given,
    refuse_unused_level,
    setting_options,
    take_reading,
    with_options,
)
from ordag.cli.progress import Progress
from ordag.effects import directed, total_effect, usual_replicates
from ordag.errors import SettingError
from ordag.learners.methods import AUTO, settings_of
from ordag.learners.pooled.method import PooledSettings
from ordag.learning import learn
from ordag.model.effects import check_pair


@click.command(cls=ManualPage)
@DATA
@click.option("--from", "source", required=True, help="The cause.")
@click.option("--to", "target", required=True, help="What it may have an effect on.")
@click.option("--level", default=0.95, show_default=True, type=float, help="Of the interval.")
@click.option(
    "--interval",
    default="bootstrap",
    show_default=True,
    type=click.Choice(["bootstrap", "given-graph"]),
    help="Learn the graph again from resamples, or take it for granted (quick, and too short for a learned graph).",
)
@click.option("--replicates", type=int, help="Resamples for the interval: 200, or 100 to 40 where learning takes long.")
@click.option("--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn the graph.")
@with_options(setting_options(also={"seed": "Of the resamples too."}))
@with_options(READING)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def effect(
    context: click.Context,
    /,
    data: str | list[str],
    source: str,
    target: str,
    level: float,
    interval: str,
    replicates: int | None,
    method: str,
    as_json: bool,
    **values: Any,
) -> None:
    """The total causal effect of one variable on another in the model learned from DATA.

    It is what a change of the cause by one unit adds to the target along all directed paths of the learned graph. The interval
    allows for the graph having been learned: it is learned again from resamples, with the seed 0 unless --seed says otherwise. DATA is
    as in ordag learn.

    \b
    Examples
      ordag effect marks --from algebra --to mechanics --alpha 0.05
      ordag effect marks --from algebra --to mechanics --interval given-graph
      ordag effect data.csv --from dose --to response --knowledge known.txt --json
    """
    reading = take_reading(values)
    settings = given(context, values)
    refuse_unused_level(settings)
    if method != "auto" and "orient_by_order" in settings_of(method) and "orient_by_order" not in settings:
        raise SettingError(
            f"--method {method} finds a class of graphs, whose effects differ: add --orient-by-order, or choose another method."
        )
    with Progress() as progress:
        fit = learn(data, method, progress=progress, **reading, **settings)
        check_pair(source, target, fit.names)
        directed(fit)
        if interval == "bootstrap":
            count = usual_replicates(fit) if replicates is None else replicates
            again = {"seed": 0, **({"kicks": 0} if isinstance(fit.recipe, PooledSettings) else {}), **settings}
            resampled = bootstrap(data, count, method=fit.method, level=level, progress=progress, **reading, **again)
            fit = replace(fit, bootstrap=resampled)
    found = total_effect(fit, source, target, level, interval=interval)
    click.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) if as_json else str(found))
