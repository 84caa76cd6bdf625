"""The option --plot of commands with one picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from ordag.common.files import write_whole
from ordag.common.words import shown
from ordag.show.files import Named, check_outputs
from ordag.show.plots import ENDINGS, chart_file, check_picture

PLOT = click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    help=f"Also draw a picture of the answer, by its ending: {' '.join(ENDINGS)}.",
)


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
