"""Write docs/commands.md from the commands themselves: `make settings`. A test compares them."""

from __future__ import annotations

import re
from pathlib import Path

import click

from ordag.cli import COMMANDS, cli
from ordag.cli.help import ABOUT_METHODS, ABOUT_READING, STATUS, ManualPage

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"

SHARED = {
    ABOUT_READING: "**Reading DATA**: the options are those of [`ordag learn`](#ordag-learn).",
    ABOUT_METHODS: "**Methods and their settings**: the options are those of [`ordag learn`](#ordag-learn).",
}
"""What stands in place of the options of a section where a command has the same as `ordag learn`."""


def page() -> str:
    """docs/commands.md."""
    parts = [
        "# Commands\n",
        "What `ordag COMMAND --help` prints, on one page; options that a command shares with `ordag learn` stand there. "
        "`ordag --version` prints the version.\n",
        _table("status", "what it says", [(f"`{status}`", text) for status, text in STATUS]),
    ]
    root = click.Context(cli, info_name="ordag")
    known: dict[str, list[tuple[str, str]]] = {}
    for name in COMMANDS:
        command = cli.get_command(root, name)
        assert isinstance(command, ManualPage)
        parts += _command(command, click.Context(command, info_name=name, parent=root), known)
    return "\n".join(parts)


def _command(command: ManualPage, context: click.Context, known: dict[str, list[tuple[str, str]]]) -> list[str]:
    """Describe a command; `known` has the sections of options described before, and gets those of this one."""
    paragraphs, examples = command.parts()
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"## {context.command_path}\n", f"```text\n{usage}\n```\n"]
    parts += [f"{_escaped(paragraph)}\n" for paragraph in paragraphs]
    if command.terms is not None:
        title, terms = command.terms
        parts.append(_table(title.lower().removesuffix("s"), "", [(f"`{one}`", text) for one, text in terms.items()]))
    for section, records in command.sections(context).items():
        rows = [(f"`{one}`".replace("|", "\\|"), text) for one, text in records if not one.endswith("--help")]
        same = section in SHARED and known.setdefault(section, rows) == rows and known[section] is not rows
        parts += [f"{SHARED[section]}\n"] if same else [_table(section, "", rows)] if rows else []
    return [*parts, "```{}\n{}\n```\n".format("text" if command.name == "completion" else "sh", "\n".join(examples))]


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {first} | {second} |", "|---|---|", *(f"| {one} | {_escaped(text)} |" for one, text in rows), ""]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Text of a terminal as Markdown: words that begin like options are code, and signs of Markdown are themselves."""
    words = " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;")
    return "".join(f"`{word}`" if word.startswith("--") else word for word in re.split(r"(--[a-z][a-z-]*)", words))


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
