"""A Scene in, the same on a matplotlib Axes out; and axes of a size. Text is text: no name is read as a formula."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ordag.picture.scene import INK, PAPER, Curve, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCH, POINT = 96.0, 0.75
"""CSS pixels in an inch, and points in a pixel."""

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""How every text is drawn: `$` and `_` are letters."""


def pyplot() -> Any:
    """The module, where it is in use already or somebody types, so that figures are shown; else None."""
    shell = sys.modules.get("IPython")
    typing = hasattr(sys, "ps1") or (shell is not None and shell.get_ipython() is not None)
    if typing or "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot

        pyplot.draw_if_interactive()  # type: ignore[no-untyped-call]  # loads the backend, which turns on settings that are to last
        return pyplot
    return None


def new_axes(width: float, height: float, *, whole: bool = False) -> Axes:
    """Axes of a new figure of so many inches; `whole` ones reach to its edges. Without pyplot nobody keeps it but the caller."""
    from matplotlib.figure import Figure

    kept = pyplot()
    figure: Figure = (kept.figure if kept else Figure)(figsize=(width, height), layout=None if whole else "constrained")
    return figure.add_axes((0.0, 0.0, 1.0, 1.0)) if whole else figure.add_subplot()


def paint(scene: Scene, ax: Axes | None = None) -> Axes:
    """The scene on these axes, as large as they are; without any on axes of its own size, where letters have theirs."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import FancyBboxPatch, Polygon

    if ax is None:
        ax = new_axes(scene.width / INCH, scene.height / INCH, whole=True)
    ax.set_xlim(0.0, scene.width)
    ax.set_ylim(scene.height, 0.0)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.figure.set_facecolor(PAPER)
    room, dpi = ax.get_window_extent(), ax.figure.dpi
    scale = min(room.width / scene.width, room.height / scene.height) * 72.0 / dpi  # points for a pixel of the scene
    for area in scene.areas:
        ax.add_patch(Polygon(list(area.points), facecolor=area.fill, edgecolor="none", zorder=1))
    for curve in scene.curves:
        _paint_curve(curve, ax, scale)
    cells = [box for box in scene.boxes if not box.radius]
    if cells:
        corners = [
            [(b.x, b.y), (b.x + b.width, b.y), (b.x + b.width, b.y + b.height), (b.x, b.y + b.height)] for b in cells
        ]
        look: dict[str, Any] = {
            "facecolors": [box.fill for box in cells],
            "edgecolors": [box.rim if box.thickness else box.fill for box in cells],
            "linewidths": [scale * box.thickness for box in cells],
        }
        ax.add_collection(PolyCollection(corners, zorder=3, antialiased=False, **look), autolim=False)
    for box in scene.boxes:
        if box.radius:
            style = f"round,pad=0,rounding_size={box.radius}"
            ax.add_patch(
                FancyBboxPatch(
                    (box.x, box.y),
                    box.width,
                    box.height,
                    boxstyle=style,
                    facecolor=box.fill,
                    edgecolor=box.rim,
                    linewidth=scale * box.thickness,
                    alpha=box.opacity,
                    zorder=3,
                )
            )
    for word in scene.words:
        ax.text(
            word.x, word.y, word.text, fontsize=scale * word.size, color=word.colour, zorder=4, rotation=90.0 if word.turned else 0.0,
            rotation_mode="anchor", ha={"start": "left", "middle": "center", "end": "right"}[word.anchor], va="center_baseline",
            fontweight="bold" if word.bold else "normal", **PLAIN,
        )  # fmt: skip
    return ax


def legend_above(ax: Axes, title: str, handles: Sequence[Any] | None = None, across: int = 1) -> None:
    """A title and what the marks mean, so many in a line, above the axes."""
    known = ax.get_legend_handles_labels()[0] if handles is None else list(handles)
    legend = ax.legend(
        handles=known,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=across,
        frameon=False,
        fontsize=9,
        title=title,
        title_fontsize=10,
        alignment="left",
        borderaxespad=0.2,
        borderpad=0.0,
    )
    legend.get_title().set(color=INK, **PLAIN)


def _paint_curve(curve: Curve, ax: Axes, scale: float) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    if curve.thickness:
        path = Path(list(curve.points), [Path.MOVETO] + [Path.CURVE4] * (len(curve.points) - 1))
        thick = curve.thickness
        dashes: Any = (0.0, ((6.0 + thick) / thick, (3.0 + thick) / thick)) if curve.dashed else "solid"
        line: dict[str, Any] = {"edgecolor": curve.colour, "linestyle": dashes, "capstyle": "butt"}
        ax.add_patch(PathPatch(path, facecolor="none", linewidth=scale * thick, alpha=curve.opacity, zorder=2, **line))
    if curve.head:
        ax.add_patch(
            Polygon(
                list(curve.head),
                facecolor=PAPER if curve.hollow else curve.colour,
                edgecolor=curve.colour,
                linewidth=scale * 1.2,
                joinstyle="round",
                alpha=curve.opacity,
                zorder=2.1,
            )
        )
