"""What commands have in common around an answer: where its fit comes from, how it is printed and drawn, and what may come next."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ordag.cli.help import SectionedOption, typed
from ordag.cli.options import FILE, STANDARD_INPUT
from ordag.common.files import write_whole
from ordag.common.plain import Document
from ordag.common.words import listed, shell_word, shown
from ordag.data.reading import Reading
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.learning import learn
from ordag.saved import ENDING, load
from ordag.show.decisions import print_decision
from ordag.show.files import Named, check_outputs
from ordag.show.plots import ENDINGS, chart_file, check_picture
from ordag.show.screen import Screen

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")

PLOT = click.option("--plot", type=FILE, help=f"Also draw a picture of the answer, by its ending: {' '.join(ENDINGS)}.")


def loaded_or_learned(
    data: str | list[str], method: str, settings: Mapping[str, Any], progress: Callable[[str], None]
) -> Fit:
    """Load a saved fit, or learn from a table."""
    saved = saved_fit(data, method, settings)
    return saved or learn(data, method, progress=progress, **settings)


def saved_fit(data: str | list[str], method: str, settings: Mapping[str, Any]) -> Fit | None:
    """Return the fit that DATA is, for which nothing can be set any more; None for a table."""
    if not isinstance(data, str) or not data.lower().endswith(ENDING):
        return None
    usual = Reading()
    given = [
        *(["method"] if method != "auto" else []),
        *(one for one, value in settings.items() if value and value != getattr(usual, one, None)),
    ]
    if given:
        raise SettingError(
            f"{shown(data)} is a saved fit, whose graph is learned already: leave {listed(given)} out.", given
        )
    return load(data)


def print_answer(answer: Document, title: str, as_json: bool) -> bool:
    """Print an answer as JSON, or as text below its title; return whether it was text."""
    if as_json:
        click.echo(answer.to_json())
    else:
        print_decision(answer, Screen(typed), title)
    return not as_json


def check_plot(path: str | None, read: Sequence[Named]) -> None:
    """Refuse, before any work is done, a picture that cannot be written or would overwrite an input."""
    if path is not None:
        check_picture(path)
        check_outputs([("--plot", path)], read)


def write_plot(path: str | None, draw: Callable[[], Any]) -> None:
    """Write a picture of an answer, if there is to be one."""
    if path is not None:
        write_whole(path, chart_file(draw, path))
        click.echo(f"written: {shown(path)}", err=True)


def say_next(words: str, *command: str) -> None:
    """Print what may come next and its command, quoted for a shell, on standard error; nothing if output is not read on a terminal.

    Options on the table and on learning that were typed are kept, as the answer would be another one without them.
    """
    if sys.stdout.isatty() and sys.stderr.isatty():
        line = " ".join(map(shell_word, ["ordag", *command, *_typed_again(*command)]))
        click.secho(f"Next: {words}: {line}", err=True, dim=True)


def _typed_again(name: str, data: str, *_: str) -> list[str]:
    """Return the words of the typed options on the table and on learning that a command has too; none for a saved fit."""
    context = click.get_current_context(silent=True)
    if context is None or (data.lower().endswith(ENDING) and name not in ("test", "adjust")):
        return []
    root = context.find_root()
    other = root.command.get_command(root, name) if isinstance(root.command, click.Group) else None
    known = {option for one in (other.params if other else ()) for option in one.opts}
    options = {
        option: one
        for one in context.command.params
        if isinstance(one, SectionedOption) or (isinstance(one, click.Option) and one.name == "method")
        for option in one.opts
    }
    found, left = [], sys.argv[1:]
    while left:
        word, left = left[0], left[1:]
        option, given, _value = word.partition("=")
        if option not in options:
            continue
        one = options[option]
        bare = given or one.is_flag or (one._flag_needs_value and (not left or left[0].startswith("-")))
        words, left = ([word], left) if bare else ([word, *left[:1]], left[1:])
        found += words if option in known else []
    return found


def as_words(data: str | list[str] | None) -> list[str]:
    """Return DATA as it was given; a dash for standard input."""
    given = [data] if isinstance(data, str) else list(data or ())
    return ["-" if Path(one).stem == STANDARD_INPUT else one for one in given]
