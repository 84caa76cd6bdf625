"""The rows of the marks in, Figures 5 to 7 out: two matrices, and five graphs held against the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.paper.boxes import ALARM, INK, PALE, Line, draw_graph
from ordag.paper.panels import FONT, save
from ordag.paper.tikz_graphs import PANELS, PLACES, SUBJECTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BENDS = {
    frozenset({"algebra", "analysis"}): 0.1,
    frozenset({"algebra", "vectors"}): 0.1,
    frozenset({"algebra", "statistics"}): 0.04,
    frozenset({"algebra", "mechanics"}): 0.04,
}
"""How far the paper's edges bend, outwards at the sides; the others are straight."""

HERE, PAPER = (0, (4.5, 2)), (0, (1, 1.6))
"""Dashes for what only we find, dots for what only the paper draws."""


def present(rows: Any, folder: Path) -> list[Path]:
    from matplotlib import rc_context

    with rc_context(FONT):
        return [
            *save(correlation_figure(rows), folder / "marks_correlations"),
            *save(graph_figure(rows), folder / "marks_graphs"),
        ]


def correlation_figure(rows: Any) -> Figure:
    """Figure 5: correlations at the left, partial correlations given the other three at the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 3.7), layout="constrained")
    panels = figure.subplots(1, 2)
    titles = {"correlation": "Correlation", "partial correlation": "Partial correlation given the other three"}
    for axes, (quantity, title) in zip(panels, titles.items(), strict=True):
        part = rows[rows["quantity"] == quantity]
        matrix, p_values = np.full((5, 5), np.nan), np.ones((5, 5))
        for row in part.itertuples():
            i, j = SUBJECTS.index(row.first), SUBJECTS.index(row.second)
            matrix[i, j] = matrix[j, i] = row.value
            p_values[i, j] = p_values[j, i] = row.p_value
        image = axes.imshow(matrix, cmap="PuOr_r", vmin=-1, vmax=1)
        for i, j in np.argwhere(np.isfinite(matrix)).tolist():
            certain = p_values[i, j] < 0.05
            axes.text(
                j,
                i,
                f"{matrix[i, j]:.2f}".replace("-0.00", "0.00").replace("-", "−"),
                ha="center",
                va="center",
                color="white" if matrix[i, j] > 0.6 else INK if certain else "#555555",
                weight="bold" if certain else "normal",
                style="normal" if certain else "italic",
            )
        axes.set_xticks(range(5), SUBJECTS, rotation=35, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(5), SUBJECTS)
        axes.tick_params(length=0)
        axes.set_title(title)
        for side in axes.spines.values():
            side.set_visible(False)
    bar = figure.colorbar(image, ax=panels, shrink=0.75, pad=0.02)
    bar.outline.set_visible(False)
    figure.supxlabel("bold: p < 5% (Fisher's z); italic: not", fontsize=8.5)
    return figure


def graph_figure(rows: Any) -> Figure:
    """Figures 6 and 7 in the paper's layout: what agrees, what only we find, what only the paper draws."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(8.4, 4.8), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.1)  # type: ignore[union-attr, call-arg]
    panels = figure.subplots(2, 3).ravel()
    methods = {"6 left": "undirected", "6 right": "cvs", "7 left": "pc", "7 middle": "ges", "7 right": "gds"}
    edges = rows[rows["quantity"] == "edge"]
    places = {name: (1.35 * x, 1.5 * y) for name, (x, y) in PLACES.items()}
    for axes, (panel, method) in zip((panels[0], panels[1], *panels[3:]), methods.items(), strict=True):
        part = edges[(edges["figure"] == panel) & (edges["method"] == method)]
        draw_graph(axes, places, [line for row in part.itertuples() for line in _lines(row)], half=(0.68, 0.25), size=8)
        right = int(part["agrees"].sum())
        axes.set_title(f"Figure {panel}: {PANELS[panel].title}\n{right} of {len(part)} edges agree", fontsize=9)
    key = panels[2]
    key.axis("off")
    handles = [
        Line2D([], [], color=INK, lw=1.8, label="in the paper and here"),
        Line2D([], [], color=ALARM, lw=1.8, ls=HERE, label="only here"),
        Line2D([], [], color=PALE, lw=2.4, ls=PAPER, label="only in the paper"),
    ]
    key.legend(handles=handles, loc="center", frameon=False, fontsize=9.5, handlelength=3.4, labelspacing=1.1)
    return figure


def _lines(row: Any) -> list[Line]:
    """One line where the paper and we agree, else one for each that joins the two."""
    if row.agrees:
        return _line(row.first, row.second, row.here, INK, "solid", 1.8, 0.0)
    aside = 0.16 if "no edge" not in (row.paper, row.here) else 0.0
    return [
        *_line(row.first, row.second, row.here, ALARM, HERE, 1.8, aside),
        *_line(row.first, row.second, row.paper, PALE, PAPER, 2.2, aside),
    ]


def _line(first: str, second: str, mark: str, colour: str, style: Any, width: float, aside: float) -> list[Line]:
    """An edge as a line that bends as the paper's does, and aside from one in the other direction."""
    if mark == "no edge":
        return []
    source, target = (second, first) if mark == "←" else (first, second)
    bend = BENDS.get(frozenset({first, second}), 0.0)
    (x, _), (X, _) = PLACES[source], PLACES[target]
    outwards = bend * (-1 if (source == "algebra") == (max(x, X) > 2) else 1)
    return [Line(source, target, mark != "—", colour, style, width, outwards + aside)]
