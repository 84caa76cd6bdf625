"""The graphs of the marks that the paper prints, edge by edge, as its TikZ code has them.

Park & Kim's source draws Figure 6 (undirected graph, and the DAG of their algorithm) and Figure 7 (PC, GES, GDS) with one
`\\path (A) edge [...] (B);` per edge. The lists below are these lines in their order, A → B, or A — B where the options
hold a dash for the arrow. The middle panel of Figure 7 has five nodes and no `\\path` at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from ordag.graph.cpdag import Cpdag

NODES = {"MECH": "mechanics", "VEC": "vectors", "ALG": "algebra", "ANA": "analysis", "STAT": "statistics"}
"""TikZ's names of the nodes, in the order of the file's columns."""

SUBJECTS = tuple(NODES.values())

PLACES = {
    "algebra": (2.0, 2.0),
    "analysis": (3.5, 1.0),
    "statistics": (3.0, 0.0),
    "vectors": (0.5, 1.0),
    "mechanics": (1.0, 0.0),
}
"""Coordinates in Figure 7; Figure 6 has the same but for a tenth at top and bottom."""


@dataclass(frozen=True)
class PrintedGraph:
    """One panel of a figure: whose graph it is, and its edges as drawn."""

    title: str
    edges: tuple[str, ...]

    @property
    def graph(self) -> Cpdag:
        """The edges as a graph on the subjects, with arrows and undirected edges as drawn."""
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
