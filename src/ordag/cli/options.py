"""Arguments and options that commands share: DATA, how to read it, and the settings of the methods."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from ordag.cli.help import ABOUT_METHODS, ABOUT_READING, SectionedOption
from ordag.cli.progress import Progress
from ordag.common.files import unfinished
from ordag.common.settings import Setting, declared
from ordag.common.words import News, counted, shell_word, shown, spelled
from ordag.data.datasets import DATASETS
from ordag.data.moments_file import ENDING
from ordag.data.reading import CHANGES, COLUMN_LISTS, Reading, changes_from_text, roles_from_text
from ordag.errors import OrdagError, SettingError, UnreadableError
from ordag.learners.methods import AUTO, METHODS
from ordag.learners.settings import MethodSettings
from ordag.show.provenance import Origin

INPUT_BLOCK_BYTES = 1 << 20
"""Bytes of standard input read at a time."""

Command = TypeVar("Command", bound=Callable[..., Any])

STANDARD_INPUT = "standard input"

FILE = click.Path(dir_okay=False)
"""The type of options that name a file to write or read."""


@contextmanager
def _standard_input() -> Iterator[str]:
    """Copy standard input to a file, because tables are read more than once; messages show the name of the file."""
    with tempfile.TemporaryDirectory(prefix="ordag-") as folder:
        unfinished.add(Path(folder))
        path = Path(folder) / STANDARD_INPUT
        if sys.stdin is None or sys.stdin.closed:
            raise UnreadableError("Standard input is closed: give the path of a file, or pipe a table in.")
        what, whole = "could not be read", _size_of_input()
        try:
            with path.open("wb") as file, nullcontext() if sys.stdin.isatty() else Progress() as progress:
                while block := sys.stdin.buffer.read(INPUT_BLOCK_BYTES):
                    what = f"could not be kept in the folder {folder}"
                    file.write(block)
                    what = "could not be read"
                    if progress is not None:
                        taken = file.tell()
                        progress(
                            News(f"{taken / 1e6:,.0f} MB of standard input read", taken / whole if whole else None)
                        )
                what = f"could not be kept in the folder {folder}"
        except OSError as error:
            hint = " Set TMPDIR to a folder with more space, or give a file." if "kept" in what else ""
            raise UnreadableError(f"Standard input {what}: {error.strerror or error}.{hint}") from error
        yield str(path)


def _size_of_input() -> int:
    """Return the size of standard input if it is a file, else 0."""
    try:
        return os.fstat(sys.stdin.fileno()).st_size
    except OSError:
        return 0


def _data(context: click.Context, _: click.Parameter, value: str | None) -> str | None:
    return context.with_resource(_standard_input()) if value == "-" else value


def one_of(names: Iterable[str]) -> Callable[..., list[CompletionItem]]:
    """Return a shell completion among these names."""
    return lambda _, __, begun: [CompletionItem(name) for name in names if name.startswith(begun)]


def _files_or_data_sets(context: click.Context, data: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete files, or built-in tables if no file matches: a shell shows only one kind."""
    if glob.glob(f"{glob.escape(begun)}*"):
        return [CompletionItem(begun, type="file")]
    return one_of(DATASETS)(context, data, begun)


def title_of(data: str | list[str]) -> str:
    """Return the name of a table for the answer."""
    paths = [data] if isinstance(data, str) else data
    more = f" and {counted(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
    return f"{spelled(Path(paths[0]).name or paths[0])}{more}"


def inputs(data: str | list[str], knowledge: str | None = None) -> list[tuple[str, str]]:
    """Return the files that are read, with the arguments that name them, so that no output overwrites them."""
    read = [("DATA", one) for one in ([data] if isinstance(data, str) else data)]
    return read if knowledge is None else [*read, ("--knowledge", knowledge)]


def _parts(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str | list[str] | None:
    """Return one table, or the files of moments of its parts."""
    if len(values) < 2:
        return _data(context, parameter, values[0]) if values else None
    other = [value for value in values if not value.lower().endswith(ENDING)]
    if other:
        raise SettingError(
            f"{shown(other[0])} is one of {len(values)} tables: give one, or several files of moments ({ENDING}) that are parts of "
            "one table. `ordag moments` writes them."
        )
    return list(values)


DATA = click.argument(
    "data", nargs=-1, required=True, metavar="DATA", callback=_parts, shell_complete=_files_or_data_sets
)

DATA_OR_NONE = click.argument("data", nargs=-1, metavar="[DATA]", callback=_parts, shell_complete=_files_or_data_sets)

METHOD = click.option(
    "--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn, as in learn."
)

SCHEDULER = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Run on the Dask cluster of this scheduler, such as tcp://host:8786; its workers need Ordag too.",
)

Option = Callable[[Command], Command]


def setting_options(*names: str, also: Mapping[str, str] | None = None) -> list[Option[Any]]:
    """Return the options of these settings, or of all, each with the methods that have it; `also` adds to their help."""
    found: dict[str, list[tuple[type[MethodSettings], Setting, Any]]] = {}
    for method in METHODS.values():
        defaults = {field.name: field.default for field in fields(method.settings)}
        for name, known in declared(method.settings).items():
            if known.typed is not None:
                found.setdefault(name, []).append((method.settings, known, defaults[name]))
    common = [name for name, takers in found.items() if len(takers) == len(METHODS)]
    order = names or (*(name for name in found if name not in common), *common)
    return [_option(name, found[name], (also or {}).get(name, ""), plain=bool(names)) for name in order]


def _option(
    name: str, takers: list[tuple[type[MethodSettings], Setting, Any]], also: str, *, plain: bool
) -> Option[Any]:
    by_help: dict[str, list[str]] = {}
    for method, known, _ in takers:
        by_help.setdefault(known.help, []).append(method.name)
    said = [f"{', '.join(methods)}: {help}." for help, methods in by_help.items()]
    if plain or len(takers) == len(METHODS):
        said = [_sentence(takers[0][1].help)]
    choices = tuple(dict.fromkeys(word for _, known, _ in takers for word in known.choices))
    known, default = replace(takers[0][1], choices=choices), takers[0][2]
    return _setting_option(name, known, default, " ".join([*said, also]).strip(), ABOUT_METHODS)


def _setting_option(name: str, known: Setting, default: Any, help: str, section: str) -> Option[Any]:
    more: dict[str, Any] = {"is_flag": True} if known.typed is bool else {"type": _type(known)}
    if known.bare is not None:
        more |= {"is_flag": False, "flag_value": known.bare}
    if known.typed is not bool and default is not None and name != "seed":
        more |= {"default": default, "show_default": True}
    return _sectioned(name, help, section, **more)


def _sectioned(name: str, help: str, section: str = ABOUT_READING, **more: Any) -> Option[Any]:
    return click.option(f"--{name.replace('_', '-')}", cls=SectionedOption, section=section, help=help, **more)


def _sentence(help: str) -> str:
    return f"{help[0].upper()}{help[1:]}."


def _type(known: Setting) -> click.ParamType[Any]:
    if known.choices:
        return click.Choice(known.choices)
    plain: dict[Any, click.ParamType[Any]] = {float: click.FLOAT, int: click.INT, Path: FILE}
    assert known.typed is not None
    return plain.get(known.typed) or _Written(known.typed)


class _Written(click.ParamType):  # type: ignore[type-arg]
    """A parameter type that reads its value with a function."""

    name = "text"

    def __init__(self, read: Callable[[str], Any]) -> None:
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except OrdagError as error:
            self.fail(str(error), param, ctx)


def _changes(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the named changes, once the column is typed."""
    column, _equals, change = begun.rpartition("=")
    return [CompletionItem(f"{column}={word}") for word in CHANGES if column and word.startswith(change)]


def _column_list_help(name: str) -> str:
    more = "Separated by commas; repeat the option for names with commas." if name == "columns" else "As --columns."
    return f"{_sentence(declared(Reading)[name].help)} {more}"


READING = [
    *(_sectioned(name, _column_list_help(name), multiple=True) for name in COLUMN_LISTS),
    _sectioned(
        "role",
        "Role of a column, where the detected one is wrong: variable, id, time or category. May be repeated.",
        multiple=True,
        metavar="COLUMN=ROLE",
    ),
    _sectioned(
        "transform",
        "Change a column: COLUMN=100 multiplies it, COLUMN=log takes its natural logarithm, COLUMN=standardise divides it by its "
        "standard deviation. May be repeated.",
        multiple=True,
        metavar="COLUMN=CHANGE",
        shell_complete=_changes,
    ),
    _sectioned("na", "Cells of a text file that stand for a missing value, such as -99. As --columns.", multiple=True),
    *(
        _setting_option(name, known, getattr(Reading(), name), _sentence(known.help), ABOUT_READING)
        for name, known in declared(Reading).items()
        if known.typed is not None
    ),
    _sectioned("no_header", "The first line of a text file is data.", is_flag=True),
]

READING_NAMES = (*declared(Reading), "no_header")


def with_options(options: list[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """Decorate a command with several options, in the order of the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def take_reading(values: dict[str, Any]) -> dict[str, Any]:
    """Take the options on reading a table out of `values`, as keyword arguments of `learn`."""
    values["header"] = False if values.pop("no_header") else None
    values |= {name: _column_list(values[name]) for name in (*COLUMN_LISTS, "na")}
    values["transform"] = changes_from_text(values["transform"]) or None
    values["role"] = roles_from_text(values["role"]) or None
    values["strict"] = values["strict"] or None
    reading = {name: values.pop(name) for name in declared(Reading)}
    return {name: value for name, value in reading.items() if value is not None}


def given(values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings typed on the command line; the others keep the method's defaults."""
    return {name: value for name, value in values.items() if _is_typed(name)}


def _is_typed(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source == click.core.ParameterSource.COMMANDLINE


def refuse_options(names: Collection[str], why: str) -> None:
    """Refuse options of these names if they were typed, because they would have no effect."""
    context = click.get_current_context()
    found = [
        one
        for one in context.command.params
        if one.name in names and _is_typed(one.name) and context.params[one.name] != ()
    ]
    if found:
        raise SettingError(f"{', '.join(max(one.opts, key=len) for one in found)} {why}.")


def method_list(text: str | None) -> list[str]:
    """Return the methods in `pc,ges` or `all`; unknown names are refused later."""
    if text is None:
        return []
    names = [name.strip() for name in text.split(",") if name.strip()]
    return list(METHODS) if names == ["all"] else names


def origin(data: str | list[str], reading: Mapping[str, Any]) -> Origin:
    """Return where a report came from: the table, how it was read, and the command line."""
    file = data if isinstance(data, str) and Path(data).stem != STANDARD_INPUT else None
    return Origin(file, reading, " ".join(map(shell_word, ["ordag", *sys.argv[1:]])))


def refuse_unused_level(settings: dict[str, Any]) -> None:
    """Reject `alpha` if no tests are run."""
    if "alpha" in settings and settings.get("parents", "test") != "test":
        raise SettingError(
            f"--alpha is the level of tests, and --parents {settings['parents']} runs none: leave one out."
        )


def _column_list(columns: tuple[str, ...]) -> list[str] | None:
    """Return the columns: one use of the option separates names by commas, several uses do not."""
    if not columns:
        return None
    names = [name.strip() for name in columns[0].split(",")] if len(columns) == 1 else columns
    kept = [name for name in names if name.strip()]
    return kept if len(columns) == 1 else list(dict.fromkeys(kept))
