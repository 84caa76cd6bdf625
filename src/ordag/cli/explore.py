"""`ordag explore`: the workbench in a browser."""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.help import ManualPage, in_options, typed
from ordag.cli.options import DATA_OR_NONE, READING, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.exploring import MOST_MB, open_tables, serve_tables


@click.command(cls=ManualPage)
@DATA_OR_NONE
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port to listen on; by default any free port.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address or name of this machine to listen on. Beyond the loopback address, anyone who can reach the machine and has the printed "
    "address is let in.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser, or only print its address.")
@click.option(
    "--most-mb",
    default=MOST_MB,
    show_default=True,
    type=click.IntRange(min=1),
    help="Largest file, in megabytes, that can be dropped onto the page. A compressed file may unpack to four times as much.",
)
@with_options(READING)
def explore(data: str | list[str] | None, port: int, host: str, browser: bool, most_mb: int, **values: Any) -> None:
    """Open a workbench in the browser, where the graph of DATA follows every change of settings, units and knowledge.

    DATA is as in ordag learn; without it the page offers the built-in tables and a place to drop a CSV, Parquet or Arrow file. The
    address of the page is printed on standard output. It contains a token, without which requests are refused, and works until
    the command is stopped with Ctrl-C. Nothing is written to disk, and nothing leaves this machine.

    \b
    Examples
      ordag explore marks
      ordag explore
      ordag explore export.csv --separator ";" --decimal "," --missing drop
      ordag explore data.parquet --port 8765 --no-browser
    """
    reading = take_reading(values)
    with Progress() as progress:
        tables = open_tables(data or None, title_of(data) if data else None, most_mb, progress, reading)
    if tables.first_unread is not None:
        sentence = in_options(tables.first_unread, [click.get_current_context().command])
        click.echo(f"{sentence} The page offers ways to read it.", err=True)
    for remark in () if tables.first is None else tables.first.table.remarks:
        click.echo(typed(remark), err=True)
    serve_tables(tables, host=host, port=port, browser=browser, announce=click.echo)
