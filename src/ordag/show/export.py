"""Files of a fit, in the format of the file name's ending."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordag.common.files import write_whole
from ordag.errors import OutputError
from ordag.graph.formats import FORMATS, format_of, write_text
from ordag.handover import edge_attributes, to_lavaan
from ordag.saved import ENDING
from ordag.saved import save as saved
from ordag.show.files import check_output
from ordag.show.plots import ENDINGS, picture
from ordag.show.report import report

if TYPE_CHECKING:
    from ordag.fit import Fit


def save(fit: Fit, path: str | PathLike[str]) -> Path:
    """Write the fit in the format of the file's ending; see `content`."""
    check_ending(path)
    check_output(path, fit.inputs)
    return write_whole(path, content(fit, path))


def endings() -> list[str]:
    """Return the endings of files that can be written: of whole fits, then of graphs."""
    graphs = (ending for format in FORMATS.values() for ending in format.endings)
    return list(dict.fromkeys([ENDING, ".json", ".csv", ".html", *ENDINGS, *graphs]))


def check_ending(path: str | PathLike[str]) -> None:
    """Refuse a file name with an ending that `content` cannot write."""
    if not str(path).lower().endswith(tuple(endings())):
        raise OutputError(f"{path} has none of the endings of a file to write: {', '.join(endings())}.")


def content(fit: Fit, path: str | PathLike[str]) -> str | bytes:
    """Return the content of a file of this name.

    .ordag is everything, for `ordag.load`; .json is the whole answer, .csv the table of edges, .html the report, .svg, .pdf and .png the
    picture; the other endings are those of `ordag.graph.formats`, with weights and what else is known of arrows where the format holds it.
    """
    ending = max((one for one in endings() if str(path).lower().endswith(one)), key=len, default="")
    if ending == ENDING:
        return saved(fit, path)
    if ending == ".json":
        return fit.to_json() + "\n"
    if ending == ".csv":
        return _edge_table(fit)
    if ending == ".html":
        return report(fit)
    if ending in ENDINGS:
        return picture(fit, path)
    format = format_of(path)
    if format == "lavaan":
        return to_lavaan(fit)
    categories = () if fit.causes is None else fit.causes.names
    return write_text(fit.whole_graph, format, fit.edge_weights, edge_attributes(fit), categories)


def _edge_table(fit: Fit) -> str:
    """Return `fit.edges` with undirected edges and isolated nodes, in the layout of `ordag.graph.formats.tables`."""
    import pandas as pd

    if "" in fit.names:
        raise OutputError("An edge table cannot hold a variable without a name: rename it, or use .adjacency.csv.")
    columns: dict[str, Sequence[Any]] = dict(fit.edge_columns)
    if fit.graph.undirected:
        columns["undirected"] = ["false"] * len(columns["source"])
    arrows = zip(*columns.values(), strict=True)
    lines = [{"source": a, "target": b, "undirected": "true"} for a, b in fit.graph.undirected]
    links = fit.whole_graph.links
    joined = set(links.source.tolist() + links.target.tolist())
    lone = [{"source": name} for place, name in enumerate(fit.whole_graph.nodes) if place not in joined]
    rows = [*(dict(zip(columns, row, strict=True)) for row in arrows), *lines, *lone]
    return pd.DataFrame(rows, columns=list(columns), dtype=object).to_csv(index=False, lineterminator="\n")
