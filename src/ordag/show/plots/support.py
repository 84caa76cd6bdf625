"""Support: for every arrow the share of resamples that have it, and the interval of its weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.checks import is_whole, short
from ordag.errors import SettingError
from ordag.picture.scene import BLUE, GREY, SMALL, VERMILION, labels, text_width
from ordag.show.plots.painter import INCH, PLAIN, legend_above
from ordag.show.view import View
from ordag.words import LEFT_TO_RIGHT, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.26
"""Inches of an arrow's line."""


def chart(view: View, axes: Callable[..., Axes], *, most: int = 40) -> Axes:
    """most: how many arrows to draw, the best supported first; those that were learned, then those that were not."""
    if not is_whole(most, 1):
        raise SettingError(f"most={short(most)}: the number of arrows to draw is a whole number from 1 on.")
    found = view.fit.bootstrap
    if found is None:
        raise SettingError(
            "kind='support' needs resamples: learn with bootstrap=200, say (--bootstrap 200), which also gives intervals."
        )
    columns = {str(name): list(values) for name, values in found.edges_above(0.1).items()}
    total = len(columns["source"])
    rows = sorted(range(total), key=lambda k: (not columns["learned"][k], -columns["support"][k]))[:most]
    short_names = labels(view.fit.names)
    names = [_arrow(*(short_names[columns[end][k]] for end in ("source", "target"))) for k in rows]
    wide = max((text_width(name, SMALL) / INCH for name in names), default=0.0) + 0.15
    total_wide = wide + 6.0
    ax = axes(total_wide, 1.2 + ROW * max(len(rows), 1))
    ax.axis("off")
    some = f" ({len(rows)} of {total})" if total > len(rows) else ""
    title = f"{counted(found.completed, 'resample')}: how often every arrow is found, and its weight{some}"
    if not rows:
        ax.text(0.0, 0.5, "no resample has an arrow", transform=ax.transAxes, color=GREY, **PLAIN)
        return ax
    weights = "weight_low" in columns
    left = wide / total_wide
    bars = ax.inset_axes((left, 0.0, (1.0 - left) * (0.47 if weights else 0.97), 1.0))
    place = np.arange(len(rows))
    picked = {name: np.array([values[k] for k in rows]) for name, values in columns.items()}
    learned = picked["learned"].astype(bool)
    bars.barh(place, picked["adjacency_support"], height=0.62, color="#d5dce4", label="joined in any way")
    bars.barh(
        place[learned], picked["support"][learned], height=0.62, color=BLUE, label="with this arrow, which was learned"
    )
    bars.barh(
        place[~learned], picked["support"][~learned], height=0.62, facecolor="white", edgecolor=BLUE, hatch="////", linewidth=0.8,
        label="with this arrow, which was not",
    )  # fmt: skip
    bars.set_xlim(0.0, 1.0)
    bars.set_xlabel("share of resamples", **PLAIN)
    bars.set_yticks(place, names, **PLAIN)
    panels = [bars]
    if weights:
        panels.append(ax.inset_axes((left + 0.53 * (1.0 - left), 0.0, 0.46 * (1.0 - left), 1.0)))
        _intervals(panels[1], place, picked)
        panels[1].set_xlabel(f"weight, with {found.level:.0%} interval", **PLAIN)
    for panel in panels:
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.tick_params(axis="y", length=0)
        panel.grid(axis="x", color="#e3e8ed", linewidth=0.6)
        panel.set_axisbelow(True)
    legend_above(ax, title, [one for one in bars.containers if len(one)], across=3)
    return ax


def _arrow(source: str, target: str) -> str:
    """Two names and an arrow, from left to right whatever the names are written in."""
    text = f"{source} → {target}"
    return LEFT_TO_RIGHT + text if LEFT_TO_RIGHT in text else text


def _intervals(panel: Axes, place: np.ndarray, picked: dict[str, Any]) -> None:
    """Low, median and high of every weight; blue where it raises, vermilion with an open mark where it lowers."""
    for row, low, middle, high in zip(
        place, picked["weight_low"], picked["weight_median"], picked["weight_high"], strict=True
    ):
        colour = VERMILION if middle < 0 else BLUE
        panel.hlines(row, low, high, color=colour, linewidth=1.6)
        panel.plot([middle], [row], "o", ms=5.5, color=colour, mfc="white" if middle < 0 else colour)
    panel.axvline(0.0, color=GREY, linewidth=0.8)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
