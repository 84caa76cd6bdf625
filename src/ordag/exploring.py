"""`explore`: open a table in the workbench."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordag.errors import SettingError

if TYPE_CHECKING:
    from ordag.workbench.tables import Tables

MOST_MB = 256
"""Megabytes of the largest file that can be dropped onto the page."""


def explore(
    data: Any = None,
    *,
    title: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
    most_mb: int = MOST_MB,
    progress: Callable[[str], None] | None = None,
    **reading: Any,
) -> None:
    """Open the workbench in a browser, and answer it until it is stopped (Ctrl-C, or the stop button of a notebook).

    data: as for `ordag.learn`; without it the page offers the built-in tables and a place to drop a file.
    title: what the page calls the table; the name of the file if not given.
    host, port: where to listen: this machine and any free port by default. browser: open the page, or only print its address.
    most_mb: megabytes of the largest file that can be dropped onto the page.
    reading: how to read text files, as for `ordag.learn`.
    """
    tables = open_tables(data, title, most_mb, progress, reading)
    if tables.first_unread is not None:
        print(f"{tables.first_unread} The page offers ways to read it.")
    if tables.first is not None:
        tables.first.table.warn()
    serve_tables(tables, host=host, port=port, browser=browser, announce=print)


def open_tables(
    data: Any, title: str | None, most_mb: int, progress: Callable[[str], None] | None, reading: Mapping[str, Any]
) -> Tables:
    """Read the first table of a workbench, if there is one. Where it is refused but could be read otherwise, the page offers ways."""
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise SettingError(
            "The workbench needs two packages, and they are not installed: python -m pip install starlette uvicorn."
        )
    from ordag.workbench.tables import Tables

    tables = Tables(most_mb * 2**20)
    if data is not None:
        path = fspath(data) if isinstance(data, str | PathLike) else None
        name = title or (Path(path).name if isinstance(path, str) else type(data).__name__)
        tables.start_with(data if path is None else path, name, reading, progress)
    return tables


def serve_tables(tables: Tables, *, host: str, port: int, browser: bool, announce: Callable[[str], None]) -> None:
    """Answer requests until stopped; `announce` gets the address."""
    from ordag.workbench.serve import serve

    def ready(address: str) -> None:
        announce(address)
        if browser:
            threading.Thread(target=_open, args=[address], daemon=True).start()

    serve(tables, host=host, port=port, ready=ready)


def _open(address: str) -> None:
    """Open a page in a browser if there is one."""
    try:
        webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return
