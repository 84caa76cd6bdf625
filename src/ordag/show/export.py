"""A Fit and a file name in, a file of that kind out."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ordag.errors import OutputError
from ordag.graph.formats import FORMATS, format_of, write_text
from ordag.show.files import write_whole

if TYPE_CHECKING:
    from ordag.fit import Fit


def export(fit: Fit, path: str | PathLike[str]) -> Path:
    """Write the fit as its file ending says; see `content`."""
    return write_whole(path, content(fit, path))


def check_ending(path: str | PathLike[str]) -> None:
    """Refuse a name by which `content` would not know what to write."""
    endings = [".json", ".csv", ".html", ".svg", *(ending for format in FORMATS.values() for ending in format.endings)]
    if not str(path).lower().endswith(tuple(endings)):
        raise OutputError(f"{path} has none of the endings of a file to write: {', '.join(dict.fromkeys(endings))}.")


def content(fit: Fit, path: str | PathLike[str]) -> str:
    """What a file of this name is to hold.

    .json is the whole answer, .csv the table of arrows with their numbers, .html the report, .svg the picture; the
    other endings are those of `ordag.graph.formats`, with the weights where the format has a place for them.
    """
    ending = Path(path).suffix.lower()
    if ending == ".json":
        return fit.to_json() + "\n"
    if ending == ".csv" and not str(path).lower().endswith(".adjacency.csv"):
        return fit.edges.to_csv(index=False, lineterminator="\n")
    if ending == ".html":
        from ordag.show.page import page

        return page(fit)
    if ending == ".svg":
        from ordag.show.drawing import MOST_NODES, draw

        picture = draw(fit)
        if picture is None:
            raise OutputError(
                f"{path}: graphs of more than {MOST_NODES} variables are not drawn; export to .dot instead."
            )
        return picture + "\n"
    return write_text(fit.graph, format_of(path), fit.weights)
