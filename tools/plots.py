"""Draw the pictures of the README and of docs/pictures.md into docs/figures: `make plots`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ordag
from ordag.common.files import write_whole
from ordag.show.plots import picture

FIGURES = Path(__file__).parent.parent / "docs" / "figures"

PICTURES: dict[str, dict[str, Any]] = {
    "marks_graph.svg": {"kind": "graph"},
    "marks_matrix.svg": {"kind": "matrix"},
    "marks_neighbourhood.svg": {"kind": "neighbourhood", "variable": "vectors"},
    "marks_support.svg": {"kind": "support"},
}
"""Of the marks of 88 students, by file name; that of the order is from the published method, which has runners-up."""


def main() -> None:
    marks = ordag.learn("marks", units="commensurable", bootstrap=200, seed=1)
    for name, options in PICTURES.items():
        write_whole(FIGURES / name, picture(marks, name, **options))
    name = "marks_order.svg"
    write_whole(FIGURES / name, picture(ordag.learn("marks", "cvs", alpha=0.05), name, "order"))


if __name__ == "__main__":
    main()
