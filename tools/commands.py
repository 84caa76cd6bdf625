"""Write docs/commands.md from the commands themselves: `make settings`. A test compares them."""

from __future__ import annotations

import re
from pathlib import Path

import click

from ordag.cli import COMMANDS, cli
from ordag.cli.help import STATUS, ManualPage

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"


def page() -> str:
    """docs/commands.md."""
    parts = [
        "# Commands\n",
        "What `ordag COMMAND --help` says, on one page. `ordag --version` prints the version.\n",
        _table("status", "what it says", [(f"`{status}`", text) for status, text in STATUS]),
    ]
    root = click.Context(cli, info_name="ordag")
    for name in COMMANDS:
        command = cli.get_command(root, name)
        assert isinstance(command, ManualPage)
        parts += _command(command, click.Context(command, info_name=name, parent=root))
    return "\n".join(parts)


def _command(command: ManualPage, context: click.Context) -> list[str]:
    paragraphs, examples = command.parts()
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"## {context.command_path}\n", f"```text\n{usage}\n```\n"]
    parts += [f"{_escaped(paragraph)}\n" for paragraph in paragraphs]
    if command.terms is not None:
        title, terms = command.terms
        parts.append(_table(title.lower().removesuffix("s"), "", [(f"`{one}`", text) for one, text in terms.items()]))
    for section, records in command.sections(context).items():
        rows = [(f"`{one}`".replace("|", "\\|"), text) for one, text in records if not one.endswith("--help")]
        parts += [_table(section, "", rows)] if rows else []
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
