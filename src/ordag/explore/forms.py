"""The kinds of files that an answer of the workbench can be taken away as."""

from __future__ import annotations

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
    ".gv": "Graphviz, .gv",
    ".graphml": "GraphML",
    ".gml": "GML",
    ".adjacency.csv": "adjacency matrix, CSV",
    ".lavaan": "lavaan",
    ".lav": "lavaan, .lav",
    ".dagitty": "dagitty",
}


def forms() -> list[dict[str, str]]:
    """The kinds of files that an answer can be taken away as."""
    return [
        *({"form": form, "title": title} for form, title in WHOLE.items()),
        *({"form": ending, "title": TITLES.get(ending, ending[1:])} for ending in endings() if ending != ".html"),
    ]
