"""`ordag intervene`: what happens if variables are set, shifted, or follow a rule."""

from __future__ import annotations

import re
from typing import Any

import click

from ordag.cli.answers import AS_JSON, as_words, loaded_or_learned, print_answer, say_next
from ordag.cli.help import ManualPage
from ordag.cli.options import DATA, METHOD, READING, given, setting_options, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.decisions.intervening import intervene as intervene_in
from ordag.errors import SettingError

TERM = re.compile(r"\s*([+-]?)\s*(?:(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?:\*\s*|(?=[+-]|$)))?([^+*-]*)", re.IGNORECASE)
"""One term of a rule: a sign, a number, and the name of a variable."""


@click.command(cls=ManualPage)
@DATA
@click.option(
    "--set", "constants", multiple=True, metavar="NAME=VALUE", help="Set a variable to a value. May be repeated."
)
@click.option(
    "--shift", "shifts", multiple=True, metavar="NAME=AMOUNT", help="Add an amount to a variable. May be repeated."
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="NAME=RULE",
    help='Let a variable follow others: "dose=5 + 0.1*age". May be repeated.',
)
@METHOD
@with_options(setting_options("knowledge", "units"))
@with_options(READING)
@AS_JSON
def intervene(
    data: str | list[str],
    constants: tuple[str, ...],
    shifts: tuple[str, ...],
    rules: tuple[str, ...],
    method: str,
    as_json: bool,
    **values: Any,
) -> None:
    """Say what happens to every variable of DATA if some are set, shifted, or follow a rule.

    The means after the intervention are those of the learned model; the intervals and the probability of a change are over the graphs drawn
    for resamples of the rows. DATA is as in ordag learn, or a saved fit (.ordag).

    \b
    Examples
      ordag intervene data.csv --set dose=2
      ordag intervene data.csv --shift price=-1 --shift ads=10
      ordag intervene answer.ordag --rule "dose=5 + 0.1*age" --json
    """
    reading = take_reading(values)
    settings = given(values)
    interventions = _numbers("--set", constants), _numbers("--shift", shifts), dict(map(_rule, rules))
    if not any(interventions):
        raise SettingError("Say what is done, with --set, --shift or --rule.")
    with Progress() as progress:
        fit = loaded_or_learned(data, method, reading | settings, progress)
        found = intervene_in(fit, *interventions)
    if print_answer(found, title_of(data), as_json):
        source = found.names[found.done[0]]
        for target in found.moved[:1]:
            say_next("what this rests on", "effect", *as_words(data), "--from", source, "--to", found.names[target])
        if not found.moved:
            say_next("the graph", "learn", *as_words(data))


def _numbers(option: str, texts: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise SettingError(f"{option} {text}: write the variable, =, and a number, such as dose=2.")
    return found


def _rule(text: str) -> tuple[str, dict[str, float]]:
    name, _, formula = text.partition("=")
    parts: dict[str, float] = {}
    place = 0
    while name and (place < len(formula) or not parts):
        found = TERM.match(formula, place)
        if found is None or not (found[2] or found[3].strip()):
            raise SettingError(
                f'--rule {text}: write the variable, =, and numbers times variables, such as "dose=5 + 0.1*age".'
            )
        other = found[3].strip()
        parts[other] = parts.get(other, 0.0) + float(f"{found[1]}{found[2] or 1}")
        place = found.end()
    return name.strip(), parts
