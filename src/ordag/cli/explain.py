"""`ordag explain`: where odd rows come from."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from ordag.cli.answers import AS_JSON, as_words, print_answer, say_next
from ordag.cli.help import ManualPage
from ordag.cli.options import DATA, FILE, METHOD, READING, given, setting_options, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.decisions.explaining import WORST
from ordag.decisions.explaining import explain as explain_rows
from ordag.errors import GraphError, SettingError
from ordag.learning import learn
from ordag.saved import ENDING, load


@click.command(cls=ManualPage)
@DATA
@click.option("--rows", help="Numbers of rows, from 1, separated by commas; by default the oddest.")
@click.option(
    "--worst",
    default=WORST,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many of the oddest rows to explain.",
)
@click.option("--target", "of", help="Variable whose deviation from its mean is shared out among the errors.")
@click.option(
    "--fit", "saved", type=FILE, help="Saved fit (.ordag) of another table; by default one is learned from DATA."
)
@METHOD
@with_options(setting_options("knowledge"))
@with_options(READING)
@AS_JSON
def explain(
    data: str | list[str],
    rows: str | None,
    worst: int,
    of: str | None,
    saved: str | None,
    method: str,
    as_json: bool,
    **values: Any,
) -> None:
    """Say where odd rows of DATA come from.

    In each row every equation of the learned model has an error. The score of an error says how far it is out; with --target, each error's
    part in the deviation of the target, passed on along the arrows, is shown. DATA is as in ordag learn.

    \b
    Examples
      ordag explain data.csv
      ordag explain data.csv --rows 17,23 --target price
      ordag explain today.csv --fit answer.ordag --worst 20 --json
    """
    reading = take_reading(values)
    settings = given(values)
    numbers = None if rows is None else _numbers(rows)
    with Progress() as progress:
        if saved is None:
            fit, other = learn(data, method, progress=progress, **reading, **settings), None
            if fit.profile is None or fit.profile.stride > 1 or fit.moments.dropped:
                other = data
        else:
            if not saved.lower().endswith(ENDING):
                raise GraphError(
                    "--fit takes a saved fit (.ordag), with its weights: `ordag learn … --out answer.ordag` writes one."
                )
            fit, other = load(saved), data
        found = explain_rows(fit, numbers, data=other, target=of, worst=worst, **(reading if other is not None else {}))
    if not print_answer(found, title_of(data), as_json):
        return
    if of is None and len(found.rows):
        model = ["--fit", saved] if saved else []
        row = ("--rows", str(found.rows[0]), "--target", found.names[-1])
        say_next("what it does to one variable", "explain", *as_words(data), *model, *row)
    elif found.contributions is not None:
        parts = np.abs(found.contributions[0]) * (np.array(found.names) != of)
        if parts.any() and of is not None:
            most = found.names[int(parts.argmax())]
            say_next(
                "what it does in all rows",
                "effect",
                *([saved] if saved else as_words(data)),
                "--from",
                most,
                "--to",
                of,
            )


def _numbers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",") if word.strip()]
    except ValueError:
        raise SettingError(f"--rows {text}: give numbers of rows, separated by commas, such as 17,23.") from None
