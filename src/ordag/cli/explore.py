"""`ordag explore`: a table in, the workbench in a browser out."""

from __future__ import annotations

import threading
import webbrowser
from importlib.util import find_spec
from typing import Any

import click

from ordag.cli.help import ManualPage
from ordag.cli.options import DATA_OR_NONE, READING, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.cli.typed import options_of, typed
from ordag.errors import SettingError

MOST_MB = 256


@click.command(cls=ManualPage)
@DATA_OR_NONE
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), help="Where to listen; any that is free unless given."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address or name of this machine to listen on. With another than the loopback address, whoever can reach the machine and "
    "knows the printed address is let in.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser, or only print its address.")
@click.option(
    "--most-mb",
    default=MOST_MB,
    show_default=True,
    type=click.IntRange(min=1),
    help="The largest file, in megabytes, that can be dropped onto the page. A compressed one may unpack to four times as much.",
)
@with_options(READING)
def explore(data: str | list[str] | None, port: int, host: str, browser: bool, most_mb: int, **values: Any) -> None:
    """Open a workbench in the browser, in which the graph of DATA follows every change of settings, units and knowledge.

    DATA is as in ordag learn; without it the page has a place to drop a CSV, Parquet or Arrow file on, and the built-in tables. The
    address of the page is printed on standard output. It has a token in it, without which nobody is answered, and is good until
    the command is stopped with Ctrl-C. Nothing is written to disk, and nothing leaves this machine.

    \b
    Examples
      ordag explore marks
      ordag explore
      ordag explore export.csv --separator ";" --decimal "," --missing drop
      ordag explore data.parquet --port 8765 --no-browser
    """
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise SettingError("The workbench needs two packages that are not installed: pip install 'ordag[explore]'.")
    from ordag.explore.serve import serve
    from ordag.explore.tables import Tables

    tables = Tables(most_mb * 2**20)
    reading = take_reading(values)
    if data:
        with Progress() as progress:
            tables.start_with(data, title_of(data), reading, progress)
        if tables.first_unread is not None:
            sentence = typed(tables.first_unread, options_of([click.get_current_context().command]))
            click.echo(f"{sentence} The page offers what can be done.", err=True)
    serve(tables, host=host, port=port, ready=lambda address: _announce(address, browser))


def _announce(address: str, browser: bool) -> None:
    """Print where the page is; a browser that does not open is no fault, as the address is there."""
    click.echo(address)
    if browser:
        threading.Thread(target=_open, args=[address], daemon=True).start()


def _open(address: str) -> None:
    try:
        webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return
