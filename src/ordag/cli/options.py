"""What the commands that read a table have in common."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from ordag.errors import SettingError, UnreadableError
from ordag.words import harmless

Command = TypeVar("Command", bound=Callable[..., Any])


def _penalty(_: click.Context, __: click.Parameter, value: str) -> str | float:
    """A word, or a number."""
    if value in ("bic", "ebic", "adaptive"):
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither bic, ebic, adaptive nor a number.") from None


@contextmanager
def _standard_input() -> Iterator[str]:
    """What comes through standard input, in a file: tables are read more than once. Its name is what messages call it."""
    with tempfile.TemporaryDirectory(prefix="ordag-") as folder:
        path = Path(folder) / "standard input"
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        except OSError as error:
            raise UnreadableError(f"Standard input could not be read: {error.strerror or error}.") from error
        yield str(path)


def _data(context: click.Context, _: click.Parameter, value: str | None) -> str | None:
    return context.with_resource(_standard_input()) if value == "-" else value


DATA = click.argument("data", callback=_data)

DATA_OR_NONE = click.argument("data", required=False, callback=_data)

METHODS = ["pooled", "cvs", "pc", "ges", "gds"]

AUTO = ["auto", *METHODS]

READING = [
    click.option(
        "--columns", multiple=True, help="Columns to use, separated by commas. Repeat the option for names with commas."
    ),
    click.option(
        "--missing",
        default="error",
        show_default=True,
        type=click.Choice(["error", "drop"]),
        help="Rows with missing values: refuse, or leave out.",
    ),
    click.option("--separator", help="Between the fields of a text file: , ; tab or another character."),
    click.option("--encoding", help="Of a text file; UTF-8 unless said otherwise."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of a text file."),
    click.option("--no-header", is_flag=True, help="The first line of a text file is data already."),
]

READING_NAMES = ("columns", "missing", "separator", "encoding", "decimal", "no_header")

SETTINGS = [
    click.option(
        "--alpha", default=0.01, show_default=True, type=float, help="cvs, pc: level of the tests, between 0 and 1."
    ),
    click.option(
        "--test",
        default="fisher-z",
        show_default=True,
        type=click.Choice(["fisher-z", "t", "mutual-information"]),
        help="cvs, pc: test of zero partial correlation.",
    ),
    click.option(
        "--parents",
        default="test",
        show_default=True,
        type=click.Choice(["test", "bic", "adaptive"]),
        help="cvs: choose parents by tests, or by backward elimination (no level to set): BIC, or an edge prior.",
    ),
    click.option(
        "--correction",
        default="none",
        show_default=True,
        type=click.Choice(["none", "bh", "bonferroni"]),
        help="cvs, many variables: bh controls the false-discovery rate of edges (not of directions) at alpha, bonferroni any false edge.",
    ),
    click.option(
        "--direction",
        default="forward",
        show_default=True,
        type=click.Choice(["forward", "backward"]),
        help="cvs: find causes first, or effects first.",
    ),
    click.option(
        "--colliders",
        default="largest",
        show_default=True,
        type=click.Choice(["largest", "first", "majority", "conservative"]),
        help="pc: how to tell colliders from other triples.",
    ),
    click.option("--max-level", type=int, help="pc: the most variables to condition on."),
    click.option(
        "--penalty",
        default="1.0",
        show_default=True,
        callback=_penalty,
        help="ges, gds: bic, ebic, adaptive (an edge prior), or a factor of BIC's penalty.",
    ),
    click.option("--max-degree", type=int, help="ges: the most edges at one variable."),
    click.option(
        "--strategy",
        default="random",
        show_default=True,
        type=click.Choice(["random", "steepest"]),
        help="gds: the published random search with restarts, or steepest descent.",
    ),
    click.option(
        "--kicks", type=int, help="pooled, gds: fruitless kicks before it stops; with 0 gds is the search as published."
    ),
    click.option(
        "--units", type=click.Choice(["commensurable"]), help="pooled: all columns have units that can be compared."
    ),
    click.option(
        "--groups",
        help='pooled: columns that share a unit: "a,b;c,d" says that a and b have one unit, and c and d another.',
    ),
    click.option("--draws", type=int, help="pooled: graphs to sample for the probabilities of arrows, 0 for none."),
    click.option(
        "--seed",
        type=int,
        help="pooled, gds: of the random numbers, 0 unless given. --bootstrap: for the same samples again.",
    ),
    click.option(
        "--min-effect",
        type=float,
        help="Leave out edges whose standardised effect, |weight| · sd(source)/sd(target), is smaller: 0.1, say.",
    ),
    click.option(
        "--knowledge",
        type=click.Path(dir_okay=False),
        help="A file of what is known beforehand: tiers, required and forbidden arrows, roots, sinks.",
    ),
    click.option(
        "--orient-by-order",
        is_flag=False,
        flag_value="class",
        type=click.Choice(["class", "skeleton"]),
        help="pc, ges: direct the edges along the order that cvs finds, within the class, or whatever it says.",
    ),
]


def with_options(options: list[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """Decorate a command with several options, listed in the order in which the help shows them."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def take_reading(values: dict[str, Any]) -> dict[str, Any]:
    """Move the options on how to read a table out of `values`, as keyword arguments of `learn`."""
    separator = values.pop("separator")
    reading = {
        "columns": _column_list(values.pop("columns")),
        "missing": values.pop("missing"),
        "separator": {"tab": "\t", "\\t": "\t"}.get(separator or "", separator),
        "encoding": values.pop("encoding"),
        "decimal": values.pop("decimal"),
        "header": False if values.pop("no_header") else None,
    }
    return {name: value for name, value in reading.items() if value is not None}


def given(context: click.Context, values: dict[str, Any]) -> dict[str, Any]:
    """Those of the settings that stand on the command line: a method's own defaults hold for the others."""
    said = click.core.ParameterSource.COMMANDLINE
    found = {name: value for name, value in values.items() if context.get_parameter_source(name) == said}
    if "groups" in found:
        found["groups"] = split_groups(found["groups"])
    return found


def refuse_options(context: click.Context, names: Collection[str], why: str) -> None:
    """Refuse options of these names that stand on the command line and would have no effect there."""
    said = click.core.ParameterSource.COMMANDLINE
    found = [
        one
        for one in context.command.params
        if one.name in names and context.get_parameter_source(one.name) == said and context.params[one.name] != ()
    ]
    if found:
        raise SettingError(f"{', '.join(max(one.opts, key=len) for one in found)} {why}.")


def refuse_unused_level(settings: dict[str, Any]) -> None:
    """A level is one of tests, and without tests nobody should believe that it does anything."""
    if "alpha" in settings and settings.get("parents", "test") != "test":
        raise SettingError(
            f"--alpha is a level of tests, and --parents {settings['parents']} makes none: leave one out."
        )


def split_groups(text: str | None) -> list[list[str]] | None:
    """`a,b;c,d`: groups between semicolons, names between commas."""
    if text is None:
        return None
    groups = [[name.strip() for name in group.split(",") if name.strip()] for group in text.split(";")]
    if not any(groups):
        raise SettingError(f'--groups "{text}" names no column: write "a,b;c,d" for two groups of two.')
    return [group for group in groups if group]


def _column_list(columns: tuple[str, ...]) -> list[str] | None:
    """`--columns a,b --columns "c, d"`: with one use of the option commas separate names, with several they do not."""
    if not columns:
        return None
    names = columns[0].split(",") if len(columns) == 1 else columns
    return [name.strip() for name in names if name.strip()]


class Progress:
    """Says on standard error how far things are, once they have taken a second and if someone is there to see it."""

    def __enter__(self) -> Progress:
        self.start = time.monotonic()
        self.last = 0.0
        self.visible = sys.stderr.isatty()
        self.shown = False
        return self

    def __call__(self, news: str) -> None:
        now = time.monotonic() - self.start
        if self.visible and now > 1.0 and now - self.last > 0.2:
            click.echo(f"\r{f'{harmless(news)}, {now:.0f} s':<78.78}", nl=False, err=True)
            self.last, self.shown = now, True

    def __exit__(self, *_: object) -> None:
        if self.shown:
            click.echo("\r" + " " * 78 + "\r", nl=False, err=True)
