"""Figures as PNG and SVG: panels of lines with error bands, and graphs of boxes and arrows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ordag.paper.experiment import means, where
from ordag.show.plots import LOOK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PALE, ALARM = "#1a1a1a", "#8a8a8a", "#c0392b"

STYLES = (
    ("#0072B2", "o", "-"),
    ("#E69F00", "s", "--"),
    ("#009E73", "^", "-."),
    ("#D55E00", "D", ":"),
    ("#8C4B86", "v", (0, (5, 1, 1, 1, 1, 1))),
    ("#000000", "P", (0, (8, 2))),
)
"""Colour, marker and line style. The colours are those of Okabe and Ito, distinct with any kind of colour vision; in
grey, markers and line styles differ."""

METHOD_STYLES = {"cvs": 0, "pc": 1, "ges": 2, "gds": 3, "gds-kicks": 4}
"""Indices in STYLES of methods that look the same in every figure. Others get the next free style."""


@dataclass(frozen=True)
class Panel:
    """One set of axes: its title, its rows, the column on the vertical axis, and that axis's label.

    The axis starts at zero unless there are `limits` or it is `logarithmic`; `reference` is a value to mark, with a label.
    """

    title: str
    rows: pd.DataFrame
    value: str
    label: str
    limits: tuple[float, float] | None = None
    reference: tuple[float, str] | None = None
    logarithmic: bool = False


def lines(
    panels: Sequence[Panel], series: dict[str, str], name: str, *, columns: int, title: str, by: str = "method"
) -> dict[str, bytes]:
    """Draw the mean of each panel's value along n, one line for every value of `by` that `series` labels.

    Bands are two standard errors to either side.
    """
    from matplotlib.figure import Figure

    def draw() -> Figure:
        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(0.4 + 3.3 * columns, 0.9 + 2.6 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        known: dict[str, Any] = {}
        for axes, panel in zip(grid.flat, panels, strict=False):
            known |= _draw_lines(axes, panel, series, by)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes in grid[-1]:
            axes.set_xlabel("sample size n")
        figure.suptitle(title, fontsize=11)
        shown = [label for label in series.values() if label in known]
        figure.legend(
            [known[label] for label in shown],
            shown,
            loc="outside lower center",
            ncols=min(len(shown), 3 if columns < 3 else 6),
            frameon=False,
            handlelength=3.6,
            title="means, with bands of two standard errors to either side",
            title_fontsize=7.5,
        )
        return figure

    return rendered({name: draw})


def _draw_lines(axes: Axes, panel: Panel, series: dict[str, str], by: str) -> dict[str, Any]:
    handles: dict[str, Any] = {}
    for (name, label), (colour, marker, dash) in zip(series.items(), _styles(series), strict=True):
        points = means(where(panel.rows, **{by: name}), ["n"], panel.value)
        if points.empty:
            continue
        x, y, error = (points[column].to_numpy(float) for column in ("n", "mean", "error"))
        axes.fill_between(x, y - 2 * error, y + 2 * error, color=colour, alpha=0.18, linewidth=0)
        (handles[label],) = axes.plot(
            x, y, color=colour, marker=marker, linestyle=dash, markersize=4.2, linewidth=1.4, markeredgewidth=0
        )
    axes.set_title(panel.title, loc="left")
    axes.set_ylabel(panel.label)
    if panel.logarithmic:
        axes.set_yscale("log")
    if panel.limits is not None or not panel.logarithmic:
        axes.set_ylim(*(panel.limits or (0, None)))
    if panel.reference is not None:
        value, word = panel.reference
        axes.axhline(value, color="#777777", linewidth=0.8, linestyle=(0, (1, 2)))
        look: dict[str, Any] = {"color": "#555555", "fontsize": 7.5, "ha": "right", "va": "bottom"}
        axes.annotate(word, (0.99, value), xycoords=("axes fraction", "data"), **look)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return handles


def _styles(series: Iterable[str]) -> list[Any]:
    """Return a style for every line: that of its method, or a free one."""
    free = iter([k for k in range(len(STYLES)) if k not in {METHOD_STYLES.get(name) for name in series}])
    return [STYLES[METHOD_STYLES[name] if name in METHOD_STYLES else next(free)] for name in series]


def rendered(figures: Mapping[str, Callable[[], Figure]]) -> dict[str, bytes]:
    """Draw figures; return the contents of NAME.png and NAME.svg for each."""
    from matplotlib import rc_context

    files = {}
    with rc_context(LOOK):
        for name, draw in figures.items():
            figure = draw()
            for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
                content = io.BytesIO()
                figure.savefig(content, format=ending, dpi=160, metadata=metadata)
                files[f"{name}.{ending}"] = content.getvalue()
    return files


@dataclass(frozen=True)
class Line:
    """An edge to draw: its ends, its look, and its bend (to the right, as a share of its length)."""

    source: str
    target: str
    arrow: bool = True
    colour: str = INK
    style: Any = "solid"
    width: float = 1.6
    bend: float = 0.0


def draw_graph(
    axes: Axes,
    positions: Mapping[str, tuple[float, float]],
    lines: Iterable[Line],
    half: tuple[float, float],
    size: float,
) -> None:
    """Draw named boxes of this half width and height at the positions, and lines between them, without axes."""
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    axes.set_aspect("equal")
    axes.axis("off")
    boxes = {}
    width, height = half
    box: dict[str, Any] = {
        "boxstyle": "round,pad=0,rounding_size=0.1",
        "fc": "white",
        "ec": INK,
        "lw": 0.9,
        "zorder": 3,
    }
    for name, (x, y) in positions.items():
        boxes[name] = FancyBboxPatch((x - width, y - height), 2 * width, 2 * height, **box)
        axes.add_patch(boxes[name])
        axes.text(x, y, name, ha="center", va="center_baseline", fontsize=size, zorder=4)
    for line in lines:
        both: dict[str, Any] = {
            "posA": positions[line.source],
            "posB": positions[line.target],
            "patchA": boxes[line.source],
            "patchB": boxes[line.target],
            "connectionstyle": f"arc3,rad={line.bend}",
            "shrinkA": 1.5,
            "color": line.colour,
            "zorder": 2,
        }
        shaft: dict[str, Any] = {"arrowstyle": "-", "linestyle": line.style, "linewidth": line.width}
        axes.add_patch(FancyArrowPatch(**both, **shaft, shrinkB=6.0 if line.arrow else 1.5))
        if line.arrow:  # a head of its own, so that a dashed line has a whole one
            head = "-|>,head_length=0.55,head_width=0.26"
            axes.add_patch(FancyArrowPatch(**both, arrowstyle=head, mutation_scale=13, linewidth=0.0, shrinkB=1.5))
    xs, ys = zip(*positions.values(), strict=True)
    axes.set_xlim(min(xs) - width - 0.1, max(xs) + width + 0.1)
    axes.set_ylim(min(ys) - height - 0.1, max(ys) + height + 0.1)
