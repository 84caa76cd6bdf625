"""Places and edges in, a graph drawn on matplotlib's axes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import FancyBboxPatch

INK, PALE, ALARM = "#1a1a1a", "#8a8a8a", "#c0392b"


@dataclass(frozen=True)
class Line:
    """An edge to draw: its ends, how it is drawn, and how far it bends (to the right, in shares of its length)."""

    source: str
    target: str
    arrow: bool = True
    colour: str = INK
    style: Any = "solid"
    width: float = 1.6
    bend: float = 0.0


def draw_graph(
    axes: Axes,
    places: Mapping[str, tuple[float, float]],
    lines: Iterable[Line],
    *,
    half: tuple[float, float] = (0.52, 0.2),
    size: float = 9.0,
) -> None:
    """Boxes with their names at the places, and the lines between them; the axes show nothing else."""
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    axes.set_aspect("equal")
    axes.axis("off")
    boxes: dict[str, FancyBboxPatch] = {}
    width, height = half
    for name, (x, y) in places.items():
        boxes[name] = FancyBboxPatch(
            (x - width, y - height),
            2 * width,
            2 * height,
            boxstyle="round,pad=0,rounding_size=0.1",
            facecolor="white",
            edgecolor=INK,
            linewidth=0.9,
            zorder=3,
        )
        axes.add_patch(boxes[name])
        axes.text(x, y, name, ha="center", va="center_baseline", fontsize=size, zorder=4)
    for line in lines:
        common: dict[str, Any] = {
            "posA": places[line.source],
            "posB": places[line.target],
            "patchA": boxes[line.source],
            "patchB": boxes[line.target],
            "connectionstyle": f"arc3,rad={line.bend}",
            "shrinkA": 1.5,
            "color": line.colour,
            "zorder": 2,
        }
        shaft: dict[str, Any] = {"arrowstyle": "-", "linestyle": line.style, "linewidth": line.width}
        axes.add_patch(FancyArrowPatch(**common, **shaft, shrinkB=6.0 if line.arrow else 1.5))
        if line.arrow:  # a head of its own, so that a dashed line has a whole one
            head: dict[str, Any] = {
                "arrowstyle": "-|>,head_length=0.55,head_width=0.26",
                "mutation_scale": 13,
                "linewidth": 0.0,
            }
            axes.add_patch(FancyArrowPatch(**common, **head, shrinkB=1.5))
    xs, ys = zip(*places.values(), strict=True)
    axes.set_xlim(min(xs) - width - 0.1, max(xs) + width + 0.1)
    axes.set_ylim(min(ys) - height - 0.1, max(ys) + height + 0.1)
