"""SVG of a scene. `shown` removes the characters that XML forbids from names, and all text is escaped here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from ordag.common.arrays import Mask
from ordag.picture.layout import Point
from ordag.picture.scene import PAPER, Area, Box, Curve, Scene, Stroke, Word, graph_scene, place

MOST_DRAWN = 60
"""Boxes up to which a graph is drawn in a notebook."""


def graph_svg(
    names: Sequence[str], matrix: Callable[[], Mask], strokes: Callable[[], Sequence[Stroke]] | None = None
) -> str | None:
    """Return the SVG of a graph with these strokes or plain ones; None for a graph too large for a notebook.

    matrix: returns the adjacency; called only if the graph is drawn.
    """
    if len(names) > MOST_DRAWN:
        return None
    adjacency = matrix()
    ends = [(int(i), int(j)) for i, j in zip(*adjacency.nonzero(), strict=True)]
    plain = [Stroke(i, j, not adjacency[j, i]) for i, j in ends if i < j or not adjacency[j, i]]
    return svg(graph_scene(names, place(names, adjacency), plain if strokes is None else strokes()))


def svg(scene: Scene) -> str:
    """Return a picture for a file or a page: white background, the reader's sans-serif font, no script."""
    width, height = round(scene.width), round(scene.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(scene.about)}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        *map(_area, scene.areas),
        *map(_curve, scene.curves),
        *map(_box, scene.boxes),
        *map(_word, scene.words),
        "</svg>",
    ]
    return "\n".join(parts)


def _area(area: Area) -> str:
    return f'<polygon points="{_points(area.points)}" fill="{area.fill}"/>'


def _curve(curve: Curve) -> str:
    first, *rest = curve.points
    pieces = "".join(f"C{_points(rest[k : k + 3])}" for k in range(0, len(rest), 3))
    dash = f' stroke-dasharray="{curve.dashes[0]:.1f} {curve.dashes[1]:.1f}"' if curve.dashes else ""
    line = (
        f'<path d="M{_points([first])}{pieces}" fill="none" stroke="{curve.colour}" stroke-width="{curve.thickness:.2f}"{dash}/>'
        if curve.thickness
        else ""
    )
    head = ""
    if curve.head:
        inside = PAPER if curve.hollow else curve.colour
        head = (
            f'<polygon points="{_points(curve.head)}" fill="{inside}" stroke="{curve.colour}" stroke-width="1.2" '
            'stroke-linejoin="round"/>'
        )
    opacity = f' opacity="{curve.opacity:.2f}"' if curve.opacity < 1 else ""
    return f"<g{opacity}>{_title(curve.title)}{line}{head}</g>"


def _box(box: Box) -> str:
    radius = f' rx="{box.radius:g}"' if box.radius else ""
    rim = f' stroke="{box.rim}" stroke-width="{box.thickness:g}"' if box.thickness else ""
    rim += ' stroke-dasharray="5 3"' if box.dashed else ""
    opacity = f' opacity="{box.opacity:.2f}"' if box.opacity < 1 else ""
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"{radius} fill="{box.fill}"{rim}'
        f"{opacity}>{_title(box.title)}</rect>"
    )


def _word(word: Word) -> str:
    turn = f' transform="rotate(-90 {word.x:.1f} {word.y:.1f})"' if word.turned else ""
    bold = ' font-weight="bold"' if word.bold else ""
    return (
        f'<text x="{word.x:.1f}" y="{word.y:.1f}" dy="0.35em" text-anchor="{word.anchor}" font-size="{word.size:g}"{bold} '
        f'fill="{word.colour}"{turn}>{_title(word.title)}{escape(word.text)}</text>'
    )


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
