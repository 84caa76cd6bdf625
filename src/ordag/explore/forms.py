"""The kinds of files that an answer of the workbench can be taken away as."""

from __future__ import annotations

from ordag.graph.formats import FORMATS
from ordag.show.export import endings

WHOLE = {
    "report": "report, one page for a browser",
    "knowledge": "what is known, as a file",
    "python": "Python code",
    "command": "command line",
}
TITLES = {
    ".json": "whole answer, JSON",
    ".csv": "table of arrows, CSV",
    ".svg": "picture, SVG",
    ".pdf": "picture, PDF",
    ".png": "picture, PNG",
    ".dot": "Graphviz",
    ".graphml": "GraphML",
    ".gml": "GML",
    ".adjacency.csv": "adjacency matrix, CSV",
    ".lavaan": "lavaan",
    ".dagitty": "dagitty",
}


def forms() -> list[dict[str, str]]:
    """The kinds of files that an answer can be taken away as, those with several endings by the first of them."""
    others = [ending for known in FORMATS.values() for ending in known.endings[1:]]
    return [
        *({"form": form, "title": title} for form, title in WHOLE.items()),
        *(
            {"form": ending, "title": TITLES.get(ending, ending[1:])}
            for ending in endings()
            if ending not in (".html", *others)
        ),
    ]
