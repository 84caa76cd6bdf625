"""How the command line explains itself: manual pages, errors in terms of options, shell completion."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import get_completion_class

from ordag.common.words import harmless, shell_word
from ordag.common.words import typed as typed_option
from ordag.data.reading import COLUMN_LISTS, setting_words
from ordag.errors import DataError, OrdagError

ABOUT_METHODS = "Methods and their settings"
ABOUT_READING = "Reading DATA"
ABOUT_OUTPUT = "Output"
SECTIONS = ("Options", ABOUT_METHODS, ABOUT_READING, ABOUT_OUTPUT)

SECTION_OF = {"method": ABOUT_METHODS} | dict.fromkeys(
    ("as_json", "out", "report", "check", "compare", "plot", "kind", "variable"), ABOUT_OUTPUT
)
"""Sections of plain options; the others come first."""

STATUS = [
    ("0", "The command gave an answer, whatever it is."),
    ("2", "Data, an option or a file needs changing; a sentence on standard error says which, and what to do."),
    ("130, 143", "Stopped by Ctrl-C, or by the system."),
]

NARROW = 70
"""Width of a terminal, in characters, below which descriptions stand under their options instead of beside them."""

LISTS = tuple(f"--{name.replace('_', '-')}" for name in (*COLUMN_LISTS, "na"))
"""Options that are split at commas where they are typed once."""

SHELLS = ("bash", "zsh", "fish")


class SectionedOption(click.Option):
    """An option with the section of the help that it belongs to."""

    def __init__(self, *args: Any, section: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.section = section


class ManualPage(click.Command):
    """A command whose docstring may end in a paragraph of examples, which the help shows last.

    terms: a title, and words with their meanings, which the help lists below the text.
    """

    def __init__(self, *args: Any, terms: tuple[str, Mapping[str, str]] | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.terms = terms

    def parts(self) -> tuple[list[str], list[str]]:
        """Return the paragraphs of the help, and the lines of the examples."""
        text, _, examples = inspect.cleandoc(self.help or "").partition("\b\nExamples\n")
        paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
        return paragraphs, [line.strip() for line in examples.strip().splitlines()]

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the options by section: how each is typed, and what it does."""
        found: dict[str, list[tuple[str, str]]] = {section: [] for section in SECTIONS}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx) if isinstance(one, click.Option) else None
            if record is not None:
                section = one.section if isinstance(one, SectionedOption) else SECTION_OF.get(one.name or "", "Options")
                found[section].append((record[0].replace(" RANGE", ""), re.sub(r"x>=(\d+)", r"\1 or more", record[1])))
        return {section: records for section, records in found.items() if records}

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for paragraph in self.parts()[0]:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(paragraph)
        if self.terms is not None:
            with formatter.section(self.terms[0]):
                formatter.write_dl(list(self.terms[1].items()))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, records in self.sections(ctx).items():
            with formatter.section(section):
                formatter.write_dl(records, col_max=6 if formatter.width < NARROW else 30)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if examples := self.parts()[1]:
            with formatter.section("Examples"):
                formatter.write("".join(f"{'':{formatter.current_indent}}{line}\n" for line in examples))
        format_status(formatter)


def format_status(formatter: click.HelpFormatter) -> None:
    """Write the section on exit statuses, which ends every help."""
    with formatter.section("Exit status"):
        formatter.write_dl(STATUS)


VALUE = r"""(?:'[^']*'|"[^"]*"|\{[^}]*\}|\[(?:'[^']*'|"[^"]*"|[^\]'"])*\]|\([^)]*\)|…|[^\s,;:()…]*[^\s,;:()….])"""
"""A value as errors write it: a string, a list, a tuple, … or a word."""

BOTH = re.compile(
    rf"\b(?:\w+={VALUE} and )?\w+={VALUE}(?: \((--.+?) on the command line\)| \((--[^()]+)\)|, (--[\w-]+))"
)
"""A setting written both ways: `correction='bh' (--correction bh)`."""


def in_options(error: OrdagError, commands: Iterable[click.Command]) -> str:
    """Return an error's message with options instead of Python settings.

    Errors are written for Python: `min_effect=2` becomes `--min-effect 2`, and of a setting written both ways only the option is left.
    The commands define which parameter is which option.
    """
    options = {
        parameter.name: max(parameter.opts, key=len)
        for command in commands
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.name
    }
    said = error.faults if isinstance(error, DataError) else str(error)
    text = BOTH.sub(lambda both: both[1] or both[2] or both[3], harmless(said))
    setting = rf"(--[\w-]+ '?)?\b({'|'.join(options)})=({VALUE})"  # of --role time=variable, time is a column
    text = re.sub(setting, lambda one: one[0] if one[1] else _option(options[one[2]], one[3]), text)
    bare = [name for name in options if "_" in name or name in error.settings]
    if not bare:
        return text
    return re.sub(rf"(?<![\w-])({'|'.join(bare)})(?![\w=-])", lambda name: options[name[1]], text)


def typed(sentence: str) -> str:
    """Return a sentence with options of the current command instead of Python settings."""
    return in_options(OrdagError(sentence), [click.get_current_context().command])


def _option(option: str, written: str) -> str:
    """Write `--correction bh` for the Python value 'bh'."""
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        value = written
    if value == "…":
        value = True
    return typed_option(option, [value] if option in LISTS and isinstance(value, str) else value)


def complete_command(typed: Sequence[str], reading: Mapping[str, Any]) -> str:
    """Return a command line with these settings of reading in place of what it says of them; "" if its table comes through a pipe."""
    if "-" in typed:
        return ""
    given = [setting_words(name, value) for name, value in reading.items()]
    options = {words[0]: len(words) > 1 for words in given}  # and whether each takes a value
    kept, left = [], iter(typed)
    for word in left:
        option, _, value = word.partition("=")
        if option not in options:
            kept.append(shell_word(word))
        elif not value and options[option]:
            next(left, "")
    return " ".join(["ordag", *kept, *(shell_word(word) for words in given for word in words)])


@click.command(cls=ManualPage)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, /, shell: str) -> None:
    """Print the script with which a shell completes ordag's commands, options, files and names.

    For the current shell: in bash and zsh evaluate the output, in fish source it. For all future shells, put that line into
    ~/.bashrc or ~/.zshrc, or write the output to ~/.config/fish/completions/ordag.fish. bash must be 4.4 or newer.

    \b
    Examples
      eval "$(ordag completion bash)"
      eval "$(ordag completion zsh)"
      ordag completion fish | source
      ordag completion fish > ~/.config/fish/completions/ordag.fish
    """
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(context.find_root().command, {}, "ordag", "_ORDAG_COMPLETE").source())
