"""A Fit in, an SVG picture of its graph out.

Names are text and nothing else: they are `shown`, which leaves no character that XML forbids, and then escaped.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from ordag.graph.graph import Graph
from ordag.show.layout import Point, layered
from ordag.words import counted, shown

if TYPE_CHECKING:
    from ordag.fit import Fit

MOST_NODES = 60
"""Larger graphs make no readable picture."""

HALF_HEIGHT = 16.0


def draw(fit: Fit) -> str | None:
    """The graph of a fit with its weights: thicker arrows are larger effects in standard units of the target."""
    if len(fit.names) > MOST_NODES:
        return None
    if fit.sem is None:
        return svg(fit.graph, fit.order)
    labels = {}
    widths = {}
    spread = fit.sem.covariance().diagonal() ** 0.5
    for i, j in zip(*fit.graph.adjacency.nonzero(), strict=True):
        weight = float(fit.sem.B[i, j])
        labels[int(i), int(j)] = f"{shown(fit.names[i])} → {shown(fit.names[j])}: {weight:.3g}"
        widths[int(i), int(j)] = 1.0 + 2.5 * min(1.0, abs(weight) * float(spread[i] / spread[j]))
    return svg(fit.graph, fit.order, labels, widths)


def svg(
    graph: Graph,
    order: tuple[str, ...] | None = None,
    labels: dict[tuple[int, int], str] | None = None,
    widths: dict[tuple[int, int], float] | None = None,
) -> str:
    """Boxes and arrows, causes above effects; a label shows when the pointer rests on its arrow."""
    half = [max(24.0, 4.2 * len(_short(name)) + 10.0) for name in graph.nodes]
    layout = layered(graph, order, across=max(2 * max(half, default=24.0) + 24.0, 90.0))
    undirected = {frozenset((graph.index(a), graph.index(b))) for a, b in graph.undirected}
    variables = counted(len(graph.nodes), "variable")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {layout.width:.0f} {layout.height:.0f}" '
        f'width="{layout.width:.0f}" height="{layout.height:.0f}" style="max-width:100%;height:auto" role="img" '
        f'aria-label="Causal graph of {variables}" font-family="sans-serif" font-size="13">',
        '<g fill="none" stroke="#4a6a8a">',
    ]
    for (a, b), points in layout.routes.items():
        route = [
            _edge_of_box(points[0], points[1], half[a]),
            *points[1:-1],
            _edge_of_box(points[-1], points[-2], half[b]),
        ]
        thickness = (widths or {}).get((a, b), 1.5)
        title = f"<title>{escape((labels or {}).get((a, b), ''))}</title>" if labels else ""
        parts.append(f'<path d="{_curve(route)}" stroke-width="{thickness:.2f}">{title}</path>')
        if frozenset((a, b)) not in undirected:
            parts.append(_head(route[-2], route[-1], thickness))
    parts.append("</g>")
    for name, (x, y), w in zip(graph.nodes, layout.places, half, strict=True):
        parts.append(
            f'<g><title>{escape(shown(name))}</title><rect x="{x - w:.1f}" y="{y - HALF_HEIGHT:.1f}" width="{2 * w:.1f}" '
            f'height="{2 * HALF_HEIGHT:.1f}" rx="8" fill="#f4f7fb" stroke="#2c4a68"/>'
            f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle" fill="#16283c">{escape(_short(name))}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def _short(name: str) -> str:
    line = shown(name)
    return line if len(line) <= 18 else f"{line[:17]}…"


def _edge_of_box(centre: Point, towards: Point, half_width: float) -> Point:
    """Where the line from the centre of a box leaves it."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    scale = min(
        half_width / abs(dx) if dx else math.inf,
        HALF_HEIGHT / abs(dy) if dy else math.inf,
    )
    return centre[0] + scale * dx, centre[1] + scale * dy


def _curve(points: list[Point]) -> str:
    """A line through two points; through more, a smooth one (Catmull–Rom as cubic Bézier pieces)."""
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    if len(points) == 2:
        return f"{path}L{points[1][0]:.1f},{points[1][1]:.1f}"
    padded = [points[0], *points, points[-1]]
    for before, start, end, after in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        first = (start[0] + (end[0] - before[0]) / 6, start[1] + (end[1] - before[1]) / 6)
        second = (end[0] - (after[0] - start[0]) / 6, end[1] - (after[1] - start[1]) / 6)
        path += "C" + " ".join(f"{x:.1f},{y:.1f}" for x, y in (first, second, end))
    return path


def _head(before: Point, tip: Point, thickness: float) -> str:
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    size = 7.0 + 1.5 * thickness
    corners = [tip] + [
        (tip[0] - size * math.cos(angle + turn), tip[1] - size * math.sin(angle + turn)) for turn in (0.4, -0.4)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon points="{points}" fill="#4a6a8a" stroke="none"/>'
