"""The graphs that the paper draws, arrow by arrow, as its TikZ code has them.

Park & Kim's source draws Figure 1 (three models of two variables), Figure 6 (the marks: undirected graph, and the DAG of
their algorithm) and Figure 7 (the marks: PC, GES, GDS) with one `\\path (A) edge [...] (B);` an edge. The lists below are
these lines in their order, A → B, or A — B where the options hold a dash for the arrow. The middle panel of Figure 7 has
five nodes and no `\\path` at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from ordag.graph.cpdag import Cpdag

SUBJECTS = ("mechanics", "vectors", "algebra", "analysis", "statistics")
"""The columns of the marks, as the file has them."""

NODES = {"MECH": "mechanics", "VEC": "vectors", "ALG": "algebra", "ANA": "analysis", "STAT": "statistics"}
"""TikZ's names of the nodes."""

PLACES = {
    "algebra": (2.0, 2.0),
    "analysis": (3.5, 1.0),
    "statistics": (3.0, 0.0),
    "vectors": (0.5, 1.0),
    "mechanics": (1.0, 0.0),
}
"""Coordinates in Figure 7; Figure 6 has the same but for a tenth at top and bottom."""


@dataclass(frozen=True)
class DrawnGraph:
    """One panel of a figure: where it stands, whose graph it is, and its edges as drawn."""

    panel: str
    title: str
    edges: tuple[str, ...]

    @property
    def graph(self) -> Cpdag:
        """The edges as a graph on the subjects, with arrows and undirected edges as drawn."""
        parts = [edge.split() for edge in self.edges]
        named = [(NODES[a], mark, NODES[b]) for a, mark, b in parts]
        return Cpdag.from_edges(
            SUBJECTS,
            [(a, b) for a, mark, b in named if mark == "→"],
            [(a, b) for a, mark, b in named if mark == "—"],
        )


UNDIRECTED = DrawnGraph(
    "6 left",
    "Undirected graph",
    ("ALG — ANA", "ALG — STAT", "ANA — STAT", "ALG — VEC", "ALG — MECH", "VEC — MECH"),
)
OUR = DrawnGraph(
    "6 right",
    "Algorithm 1 (CVS)",
    ("ALG → ANA", "ALG → STAT", "ANA → STAT", "ALG → VEC", "ALG → MECH", "MECH → VEC"),
)
PC = DrawnGraph("7 left", "PC", ("ANA → ALG", "STAT → ALG", "MECH → ALG", "MECH → VEC", "ALG → VEC"))
GES = DrawnGraph("7 middle", "GES", ())
GDS = DrawnGraph(
    "7 right",
    "GDS",
    ("ANA → ALG", "STAT → ALG", "STAT → ANA", "VEC → ALG", "MECH → ALG", "MECH → VEC"),
)

PANELS = {drawn.panel: drawn for drawn in (UNDIRECTED, OUR, PC, GES, GDS)}
"""Figures 6 and 7 by panel, in the paper's order."""

BIVARIATE = {"G₁": ("X₁", "X₂"), "G₂": ("X₂", "X₁"), "G₃": None}
"""Figure 1: the one arrow of each model, or none."""
