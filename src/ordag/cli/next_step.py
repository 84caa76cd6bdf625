"""The next sensible command, in one line after an answer; only where a person reads it, on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ordag.cli.options import STANDARD_INPUT
from ordag.common.words import shell_word


def say_next(words: str, *command: str) -> None:
    """Print what may come next and its command, quoted for a shell, on standard error; nothing if output is not read on a terminal."""
    if sys.stdout.isatty() and sys.stderr.isatty():
        click.secho(f"Next: {words}: {' '.join(shell_word(one) for one in command)}", err=True, dim=True)


def as_words(data: str | list[str] | None) -> list[str]:
    """Return DATA as it was given; a dash for standard input."""
    given = [data] if isinstance(data, str) else list(data or ())
    return ["-" if Path(one).stem == STANDARD_INPUT else one for one in given]
