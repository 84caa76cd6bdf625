"""The report on the marks: the graphs that the paper prints, how ours differ, sentences, and Figures 5 to 7.

Park & Kim's source draws Figure 6 (undirected graph, and the DAG of their algorithm) and Figure 7 (PC, GES, GDS) with one
`\\path (A) edge [...] (B);` per edge. The edges of `PANELS` are these lines in their order, A → B, or A — B where the
options hold a dash for the arrow. The middle panel of Figure 7 has five nodes and no `\\path` at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ordag.graph.cpdag import Cpdag
from ordag.paper.drawing import ALARM, INK, PALE, Line, draw_graph, rendered
from ordag.paper.experiment import records, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NODES = {"MECH": "mechanics", "VEC": "vectors", "ALG": "algebra", "ANA": "analysis", "STAT": "statistics"}
"""TikZ's names of the nodes, in the order of the file's columns."""

SUBJECTS = tuple(NODES.values())

POSITIONS = {
    "algebra": (2.0, 2.0),
    "analysis": (3.5, 1.0),
    "statistics": (3.0, 0.0),
    "vectors": (0.5, 1.0),
    "mechanics": (1.0, 0.0),
}
"""Coordinates in Figure 7; those of Figure 6 differ by a tenth at top and bottom."""


@dataclass(frozen=True)
class PrintedGraph:
    """One panel of a figure: its title, and its edges as drawn."""

    title: str
    edges: tuple[str, ...]

    @property
    def graph(self) -> Cpdag:
        """The graph on the subjects, with arrows and undirected edges as drawn."""
        named = [(NODES[a], mark, NODES[b]) for a, mark, b in map(str.split, self.edges)]
        arrows, lines = ([(a, b) for a, mark, b in named if mark == kind] for kind in "→—")
        return Cpdag.from_edges(SUBJECTS, arrows, lines)


PANELS = {
    "6 left": PrintedGraph(
        "Undirected graph", ("ALG — ANA", "ALG — STAT", "ANA — STAT", "ALG — VEC", "ALG — MECH", "VEC — MECH")
    ),
    "6 right": PrintedGraph(
        "Algorithm 1 (CVS)", ("ALG → ANA", "ALG → STAT", "ANA → STAT", "ALG → VEC", "ALG → MECH", "MECH → VEC")
    ),
    "7 left": PrintedGraph("PC", ("ANA → ALG", "STAT → ALG", "MECH → ALG", "MECH → VEC", "ALG → VEC")),
    "7 middle": PrintedGraph("GES", ()),
    "7 right": PrintedGraph("GDS", ("ANA → ALG", "STAT → ALG", "STAT → ANA", "VEC → ALG", "MECH → ALG", "MECH → VEC")),
}
"""Figures 6 and 7 by panel, in the paper's order."""

BENDS = {
    frozenset({"algebra", "analysis"}): 0.1,
    frozenset({"algebra", "vectors"}): 0.1,
    frozenset({"algebra", "statistics"}): 0.04,
    frozenset({"algebra", "mechanics"}): 0.04,
}
"""The bends of the paper's curved edges, outwards at the sides."""

HERE, PAPER = (0, (4.5, 2)), (0, (1, 1.6))
"""Dashes for edges found only here, dots for edges only in the paper."""


def differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the edges on which the paper's figure and the graph found here differ, with the reason."""
    edges = where(rows, quantity="edge", agrees=0)
    columns = ["figure", "method", "first", "second", "paper", "here", "why"]
    return edges[columns].sort_values(["figure", "method"], kind="stable").reset_index(drop=True)


def claims(rows: pd.DataFrame) -> list[str]:
    return [_correlations(rows), _normality(rows), _undirected(rows), _ours(rows), _pc(rows), _ges(rows), _gds(rows)]


def _correlations(rows: pd.DataFrame) -> str:
    plain, partial = where(rows, quantity="correlation"), where(rows, quantity="partial correlation")
    small = partial[partial["p_value"] >= 0.05]
    pairs = ", ".join(f"{row.first} and {row.second} {_signed(row.value, 3)}" for row in records(small))
    return (
        "Figure 5: the paper says that all correlations are positive and that three partial correlations are very close "
        f"to 0; here correlations lie between {plain['value'].min():.2f} and {plain['value'].max():.2f}, and "
        f"{len(small)} partial ones are not significant at 5%: {pairs}."
    )


def _normality(rows: pd.DataFrame) -> str:
    names = ("kurtosis test", "kurtosis test, simulated")
    test, simulated = (where(rows, quantity=name).iloc[0] for name in names)
    return (
        "Normality: the paper has a kurtosis test with p = 0.798; here that of Kankainen, Taskinen and Oja gives "
        f"W = {test['value']:.3f} and p = {test['p_value']:.4f} by its limiting distribution, "
        f"{simulated['p_value']:.2f} against {simulated['of']:,.0f} Gaussian tables of the same size."
    )


def _undirected(rows: pd.DataFrame) -> str:
    fit = where(rows, quantity="deviance").iloc[0]
    return (
        f"Figure 6, left: {_agreement(rows, 'undirected')}. The pairs left out cost a deviance of {fit['value']:.2f} on "
        f"{fit['of']:.0f} degrees of freedom (p = {fit['p_value']:.2f})."
    )


def _ours(rows: pd.DataFrame) -> str:
    least = where(rows, quantity="conditional variance", first="mechanics")["value"].min()
    most = where(rows, quantity="conditional variance", first="vectors")["value"].max()
    pair = where(rows, quantity="bootstrap", first="vectors", second="mechanics")
    return (
        f"Figure 6, right: {_agreement(rows, 'cvs')}. The paper has mechanics → vectors and calls it reversed; here it is "
        f"vectors → mechanics. Over all sets of other subjects the least variance of mechanics is {least:.1f} and the "
        f"largest of vectors {most:.1f}, so no order by least variance can have mechanics first. In "
        f"{pair['value'].sum():,.0f} of {pair['of'].sum():,.0f} bootstrap samples vectors comes first."
    )


def _pc(rows: pd.DataFrame) -> str:
    graphs = {rule: len(where(rows, quantity="column order", figure=rule)) for rule in ("first", "largest")}
    return (
        f"Figure 7, left: {_agreement(rows, 'pc')} if colliders follow the first separating set; the edge between analysis "
        f"and statistics is not missed but undirected. Over the 120 orders of the columns this rule gives "
        f"{graphs['first']} different graphs; taking the set with the largest p-value gives {graphs['largest']}, without "
        "arrows."
    )


def _ges(rows: pd.DataFrame) -> str:
    return (
        f"Figure 7, middle: {_agreement(rows, 'ges')}. The paper says that GES recovers no directed edges and draws none; "
        "here it joins the same six pairs as Figure 6, all of them undirected."
    )


def _gds(rows: pd.DataFrame) -> str:
    score = where(rows, quantity="score").set_index("here")["value"]
    ours, theirs = (
        {(row.first, row.second, row.here) for row in records(rows, quantity="edge", method=method)}
        for method in ("cvs", "gds")
    )
    same = "the same graph as" if ours == theirs else "another graph than"
    return (
        f"Figure 7, right: {_agreement(rows, 'gds')}; the figure is the transpose. GDS's score is "
        f"{score['as GDS returns it']:.3f} for the graph it returns and {score['as Figure 7 draws it']:.3f} for the one "
        f"drawn (lower is better). What it returns is {same} Algorithm 1 finds."
    )


def _agreement(rows: pd.DataFrame, method: str) -> str:
    part = where(rows, quantity="edge", method=method)
    return f"{int(part['agrees'].sum())} of {len(part)} edges are as in the paper"


def _signed(value: float, digits: int) -> str:
    """Format with a true minus sign, and none before zero."""
    return f"{value:z.{digits}f}".replace("-", "−")


def figures(rows: pd.DataFrame) -> dict[str, bytes]:
    return rendered(
        {"marks_correlations": lambda: correlation_figure(rows), "marks_graphs": lambda: graph_figure(rows)}
    )


def correlation_figure(rows: pd.DataFrame) -> Figure:
    """Draw Figure 5: correlations at the left, partial correlations given the other three at the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 3.7), layout="constrained")
    panels = figure.subplots(1, 2)
    titles = {"correlation": "Correlation", "partial correlation": "Partial correlation given the other three"}
    for axes, (quantity, title) in zip(panels, titles.items(), strict=True):
        matrix, p_values = np.full((5, 5), np.nan), np.ones((5, 5))
        for row in records(rows, quantity=quantity):
            i, j = SUBJECTS.index(row.first), SUBJECTS.index(row.second)
            matrix[i, j] = matrix[j, i] = row.value
            p_values[i, j] = p_values[j, i] = row.p_value
        image = axes.imshow(matrix, cmap="PuOr_r", vmin=-1, vmax=1)
        for i, j in np.argwhere(np.isfinite(matrix)).tolist():
            certain = p_values[i, j] < 0.05
            axes.text(
                j,
                i,
                _signed(matrix[i, j], 2),
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


def graph_figure(rows: pd.DataFrame) -> Figure:
    """Draw Figures 6 and 7 in the paper's layout: edges that agree, edges only here, edges only in the paper."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(8.4, 4.8), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.1)  # type: ignore[union-attr, call-arg]
    panels = figure.subplots(2, 3).ravel()
    methods = {"6 left": "undirected", "6 right": "cvs", "7 left": "pc", "7 middle": "ges", "7 right": "gds"}
    positions = {name: (1.35 * x, 1.5 * y) for name, (x, y) in POSITIONS.items()}
    for axes, (panel, method) in zip((panels[0], panels[1], *panels[3:]), methods.items(), strict=True):
        part = where(rows, quantity="edge", figure=panel, method=method)
        draw_graph(axes, positions, [line for row in records(part) for line in _lines(row)], half=(0.68, 0.25), size=8)
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
    """Return one line where both graphs agree, else one for each that joins the two."""
    if row.agrees:
        return _line(row.first, row.second, row.here, INK, "solid", 1.8, 0.0)
    aside = 0.16 if "no edge" not in (row.paper, row.here) else 0.0
    return [
        *_line(row.first, row.second, row.here, ALARM, HERE, 1.8, aside),
        *_line(row.first, row.second, row.paper, PALE, PAPER, 2.2, aside),
    ]


def _line(first: str, second: str, mark: str, colour: str, style: Any, width: float, aside: float) -> list[Line]:
    """Return an edge as a line that bends as the paper's does, shifted from one in the other direction."""
    if mark == "no edge":
        return []
    source, target = (second, first) if mark == "←" else (first, second)
    bend = BENDS.get(frozenset({first, second}), 0.0)
    (x, _), (X, _) = POSITIONS[source], POSITIONS[target]
    outwards = bend * (-1 if (source == "algebra") == (max(x, X) > 2) else 1)
    return [Line(source, target, mark != "—", colour, style, width, outwards + aside)]
