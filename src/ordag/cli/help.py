"""The help of a command, laid out as a manual page: what it does, its options by what they are about, examples, exit status."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

import click

ABOUT_METHODS = "Methods and their settings"
ABOUT_READING = "Reading DATA"
ABOUT_OUTPUT = "Output"
SECTIONS = ("Options", ABOUT_METHODS, ABOUT_READING, ABOUT_OUTPUT)

PLACES = {"method": ABOUT_METHODS} | dict.fromkeys(
    ("as_json", "out", "report", "check", "compare", "plot", "plot_kind", "plot_variable"), ABOUT_OUTPUT
)
"""Where options stand that do not say so themselves; the others come first."""

STATUS = [
    ("0", "The answer is given, whatever it is."),
    ("2", "Data, an option or a file needs changing: a sentence on standard error says which, and what to do."),
    ("130, 143", "Stopped by Ctrl-C; by the system."),
]

NARROW = 70
"""Columns of a terminal under which descriptions stand below their options instead of beside them."""


class SectionedOption(click.Option):
    """An option that knows the section of the help that it belongs to."""

    def __init__(self, *args: Any, section: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.section = section


class ManualPage(click.Command):
    """A command whose docstring may end in a paragraph of examples: they come last, where one looks after a long list.

    terms: words that the text uses, each with what it means, under a title of their own.
    """

    def __init__(self, *args: Any, terms: tuple[str, Mapping[str, str]] | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.terms = terms

    def parts(self) -> tuple[list[str], list[str]]:
        """The paragraphs of the help, and the lines of the examples."""
        text, _, examples = inspect.cleandoc(self.help or "").partition("\b\nExamples\n")
        paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
        return paragraphs, [line.strip() for line in examples.strip().splitlines()]

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """The options by what they are about: how each is typed, and what it does."""
        found: dict[str, list[tuple[str, str]]] = {section: [] for section in SECTIONS}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx) if isinstance(one, click.Option) else None
            if record is not None:
                section = one.section if isinstance(one, SectionedOption) else PLACES.get(one.name or "", "Options")
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
    """What the status of the process says, at the end of every help."""
    with formatter.section("Exit status"):
        formatter.write_dl(STATUS)
