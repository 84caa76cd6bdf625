"""`ordag effect`: the total causal effect of one variable on another."""

from __future__ import annotations

from typing import Any

import click

from ordag.bootstrapping import Bootstrap
from ordag.cli.answers import (
    AS_JSON,
    PLOT,
    as_words,
    check_plot,
    loaded_or_learned,
    print_answer,
    saved_fit,
    say_next,
    write_plot,
)
from ordag.cli.help import ManualPage
from ordag.cli.options import (
    DATA,
    METHOD,
    READING,
    given,
    inputs,
    refuse_unused_level,
    setting_options,
    take_reading,
    title_of,
    with_options,
)
from ordag.cli.progress import Progress
from ordag.common.words import joined
from ordag.decisions.in_time import response
from ordag.decisions.joint_effects import JointEffect
from ordag.decisions.possible_effects import PossibleEffects
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.learners.methods import settings_of
from ordag.model.effects import KINDS
from ordag.total_effects import How, learned_for_effect
from ordag.total_effects import effect as total_effect


@click.command(cls=ManualPage)
@DATA
@click.option(
    "--from",
    "source",
    required=True,
    multiple=True,
    help="Name of the cause. Several (with commas between them, or typed several times) are set together.",
)
@click.option("--to", "target", required=True, help="Name of the effect.")
@click.option("--level", default=0.95, show_default=True, type=float, help="Level of the interval.")
@click.option(
    "--interval",
    type=click.Choice(KINDS),
    help="posterior: from the resamples behind the probabilities of arrows (pooled only, and the default there). bootstrap: learn the "
    "graph again from resamples. given-graph: treat the graph as known (quick, and too short for a learned graph).",
)
@click.option(
    "--replicates", type=int, help="Resamples of the bootstrap; by default 200, or 100 to 40 if learning takes long."
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    help="In time (--lags): what one unit more of the cause changes at the same time and up to so many steps later.",
)
@click.option(
    "--whole-class",
    is_flag=True,
    help="The possible effects in all graphs of the class (IDA): directions that rest on error variances are not used.",
)
@METHOD
@with_options(setting_options(also={"seed": "Also seeds the resamples."}))
@with_options(READING)
@PLOT
@AS_JSON
def effect(
    data: str | list[str],
    source: tuple[str, ...],
    target: str,
    level: float,
    interval: str | None,
    replicates: int | None,
    steps: int | None,
    whole_class: bool,
    method: str,
    plot: str | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Estimate the total causal effect of one variable on another in the model learned from DATA.

    It is what one unit more of the cause adds to the effect along all directed paths of the learned graph. The answer has the
    probability that there is a path, the interval of the effect if there is one, how strong a hidden common cause would have to be
    to reduce it to zero, and reasons to doubt the graph. --plot draws the effect under hidden common causes of any strength.
    Of a category (--cause) it is the differences between its groups. Of several causes it is what each does while the others are set as
    well, and what one unit more of all of them does. DATA is as in ordag learn, or a saved fit (.ordag).

    \b
    Examples
      ordag effect marks --from algebra --to mechanics
      ordag effect marks --from algebra --to mechanics --alpha 0.05 --interval given-graph
      ordag effect sales.csv --from price,ads --to sales
      ordag effect data.csv --from dose --to response --whole-class
      ordag effect data.csv --cause sex --from sex --to income
      ordag effect data.csv --from dose --to response --knowledge known.txt --json
      ordag effect sales.csv --time month --lags 2 --from price --to sales --steps 12
    """
    reading = take_reading(values)
    settings = given(values)
    refuse_unused_level(settings)
    if (
        not whole_class
        and method != "auto"
        and "orient_by_order" in settings_of(method)
        and "orient_by_order" not in settings
    ):
        raise SettingError(
            f"--method {method} finds a class of graphs, whose effects differ: add --orient-by-order for one of its graphs, "
            "--whole-class for all, or choose another method."
        )
    cause, title = source[0], title_of(data)

    def learned_once() -> Fit:
        with Progress() as progress:
            return loaded_or_learned(data, method, reading | settings, progress)

    if whole_class or len(source) > 1 or "," in cause:
        others = {"--steps": steps, "--replicates": replicates, "--plot": plot}
        others |= {"--interval": interval} if whole_class else {}
        unused = [name for name, value in others.items() if value is not None]
        fit = learned_once()
        if whole_class or len(source) > 1 or cause not in fit.names:
            _print_several(data, fit, source, target, level, interval, whole_class, unused, as_json)
            return
    if steps is not None:
        if plot is not None:
            raise SettingError("--plot draws an effect at one time: leave it or --steps out.")
        if interval not in (None, "posterior") or replicates is not None:
            raise SettingError(
                "--steps: intervals over time are those of the resamples behind the probabilities of arrows: leave --interval and "
                "--replicates out."
            )
        print_answer(response(learned_once(), cause, target, steps, level=level), title, as_json)
        return
    if cause in reading.get("cause", ()):
        if interval or replicates or plot:
            raise SettingError(
                f"--from {cause} is a category: the intervals of its differences take no resamples and have no picture, so leave out "
                "--interval, --replicates and --plot."
            )
        print_answer(learned_once().group_effect(cause, target, level), title, as_json)
        return
    check_plot(plot, inputs(data, settings.get("knowledge")))
    how = How(level, interval, replicates, settings.pop("seed", None))
    with Progress() as progress:
        learned = saved_fit(data, method, reading | settings) or learned_for_effect(
            data, (cause, target), how, method, reading | settings, progress
        )
        found = total_effect(learned, cause, target, **how._asdict())
    fit = learned.fit if isinstance(learned, Bootstrap) else learned
    write_plot(plot, lambda: fit.plot("robustness", source=cause, target=target))
    if print_answer(found, title, as_json):
        if reading.get("lags"):
            click.echo("This is the effect at the same time: --steps 12, say, follows it over time.")
        if plot is None:
            command = ("effect", *as_words(data), "--from", cause, "--to", target, "--plot", "doubt.png")
            say_next("the effect under hidden causes", *command)
        else:
            say_next("what happens to all variables", "intervene", *as_words(data), "--shift", f"{cause}=1")


def _print_several(
    data: str | list[str],
    fit: Fit,
    typed: tuple[str, ...],
    target: str,
    level: float,
    interval: str | None,
    whole_class: bool,
    unused: list[str],
    as_json: bool,
) -> None:
    """Print the effects of several causes, or those in all graphs of the class."""
    if unused:
        what = "--whole-class" if whole_class else "Several causes"
        raise SettingError(
            f"{what}: {joined(unused)} cannot go with it: leave {'it' if len(unused) == 1 else 'them'} out."
        )
    alone = len(typed) == 1 and typed[0] not in fit.names
    sources = [one.strip() for one in typed[0].split(",") if one.strip()] if alone else list(typed)
    found: JointEffect | PossibleEffects = (
        fit.possible_effects(sources, target, level)
        if whole_class
        else fit.joint_effect(sources, target, level, interval=interval)
    )
    if print_answer(found, title_of(data), as_json):
        what = "the effect in the learned graph" if whole_class else "the effect of one of them alone"
        say_next(what, "effect", *as_words(data), "--from", sources[0], "--to", target)
