"""Rows in, a figure of panels with lines and error bands out, as PNG and SVG."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordag.show.files import write_whole

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = (
    ("#0072B2", "o", "-"),
    ("#E69F00", "s", "--"),
    ("#009E73", "^", "-."),
    ("#D55E00", "D", ":"),
    ("#8C4B86", "v", (0, (5, 1, 1, 1, 1, 1))),
    ("#000000", "P", (0, (8, 2))),
)
"""Colour, marker and line. The colours are those of Okabe and Ito, told apart with any kind of colour vision; in grey,
markers and lines do."""

OWN = {"cvs": 0, "pc": 1, "ges": 2, "gds": 3, "gds-kicks": 4}
"""Methods that look the same in every figure. Others have the next style that is free."""

FONT: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "ordag",  # the same file for the same numbers
    "svg.fonttype": "none",
}


@dataclass(frozen=True)
class Panel:
    """One set of axes: the rows it shows, the column on its vertical axis, and what stands above it and beside it.

    The axis starts at zero unless there are `limits` or it is `logarithmic`; `level` is a value to mark, with a word.
    """

    title: str
    rows: pd.DataFrame
    value: str
    label: str
    limits: tuple[float, float] | None = None
    level: tuple[float, str] | None = None
    logarithmic: bool = False


def means(rows: pd.DataFrame, by: Sequence[str], value: str) -> pd.DataFrame:
    """Mean, standard error of the mean, and count of a column, for every combination of others; gaps left out."""
    known = rows.dropna(subset=[value])
    found = known.groupby(list(by), sort=True)[value].agg(["mean", "sem", "count"]).reset_index()
    return found.rename(columns={"sem": "error"}).fillna({"error": 0.0})


def lines(
    panels: Sequence[Panel],
    series: dict[str, str],
    path: Path,
    *,
    columns: int,
    by: str = "method",
    along: str = "n",
    axis: str = "sample size n",
    title: str = "",
) -> list[Path]:
    """Draw the mean of each panel's value along a column, one line for every value of `by` that `series` labels.

    Bands are two standard errors to either side. Gives the files written: `path` with .png and with .svg.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(FONT):
        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(0.4 + 3.3 * columns, 0.9 + 2.6 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        known: dict[str, Any] = {}
        for axes, panel in zip(grid.flat, panels, strict=False):
            known |= _draw(axes, panel, series, by, along)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes in grid[-1]:
            axes.set_xlabel(axis)
        if title:
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
        return save(figure, path)


def _draw(axes: Axes, panel: Panel, series: dict[str, str], by: str, along: str) -> dict[str, Any]:
    handles: dict[str, Any] = {}
    for (name, label), (colour, marker, dash) in zip(series.items(), _styles(series), strict=True):
        points = means(panel.rows[panel.rows[by] == name], [along], panel.value)
        if points.empty:
            continue
        x, y, error = (points[column].to_numpy(float) for column in (along, "mean", "error"))
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
    if panel.level is not None:
        axes.axhline(panel.level[0], color="#777777", linewidth=0.8, linestyle=(0, (1, 2)))
        axes.annotate(
            panel.level[1],
            (0.99, panel.level[0]),
            xycoords=("axes fraction", "data"),
            color="#555555",
            fontsize=7.5,
            ha="right",
            va="bottom",
        )
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return handles


def _styles(series: Iterable[str]) -> list[Any]:
    """A style for every line, its own or one that no other has."""
    names = list(series)
    free = iter([k for k in range(len(STYLES)) if k not in {OWN.get(name) for name in names}])
    return [STYLES[OWN[name] if name in OWN else next(free)] for name in names]


def save(figure: Figure, path: Path) -> list[Path]:
    """Write the figure as PNG and SVG, each whole or not at all."""
    written = []
    for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        content = io.BytesIO()
        figure.savefig(content, format=ending, dpi=160, metadata=metadata)
        written.append(write_whole(path.with_suffix(f".{ending}"), content.getvalue()))
    return written
