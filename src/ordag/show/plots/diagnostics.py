"""The findings of a check, one small chart each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.checking import Diagnosis, check_fit
from ordag.common.checks import short
from ordag.common.words import shortened
from ordag.errors import SettingError
from ordag.picture.scene import BLUE, GREY, INK, VERMILION
from ordag.show.charts import Chart, charts
from ordag.show.plots.axes import PLAIN
from ordag.show.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 3
"""Charts in a row."""

WIDTH, HEIGHT = 3.2, 2.8
"""Size of a chart, in inches."""

MAX_LABEL_LETTERS = 12

UPRIGHT_LABEL_LETTERS = 24
"""Letters of all labels together up to which they are written level."""


def diagnostics(view: View, axes: Callable[..., Axes], *, diagnosis: Diagnosis | None = None) -> Axes:
    """Draw a chart for each finding that has one.

    diagnosis: what `ordag.check` gave for the same data; by default the fit is checked now.
    """
    if diagnosis is None:
        diagnosis = check_fit(view.fit)
    if not isinstance(diagnosis, Diagnosis):
        raise SettingError(f"diagnosis={short(diagnosis)}: pass what ordag.check(data) returns, or leave it out.")
    found = charts(view.fit, diagnosis)
    down = -(-len(found) // ACROSS)
    ax = axes(0.4 + WIDTH * ACROSS, 0.3 + HEIGHT * max(down, 1))
    ax.axis("off")
    for k, (key, one) in enumerate(found.items()):
        row, column = divmod(k, ACROSS)
        left, bottom = (column + 0.2) / ACROSS, (down - 1 - row + 0.24) / down
        panel = ax.inset_axes((left, bottom, 0.72 / ACROSS, 0.56 / down))
        draw(one, panel)
        level = diagnosis[key].level
        mark = {"warning": ": warning", "look": ": worth a look"}.get(level, "")
        head = f"{diagnosis[key].title}{mark}\n{one.title}"
        panel.set_title(head, loc="left", fontsize=9, color=VERMILION if level == "warning" else INK, **PLAIN)
    return ax


def draw(one: Chart, ax: Axes) -> None:
    """Draw a chart on axes."""
    y = np.asarray(one.y, dtype=float)
    marked = np.isin(np.arange(len(y)), one.marked)
    if one.kind == "points":
        x = np.asarray(one.x, dtype=float)
        ax.plot(x[~marked], y[~marked], "o", ms=2.6, color=BLUE, alpha=0.55, mew=0)
        ax.plot(x[marked], y[marked], "D", ms=4, color=VERMILION, mew=0)
        if one.slope is not None:
            ax.axline((0.0, one.intercept or 0.0), slope=one.slope, color=GREY, linewidth=1.0)
            ax.set_ylim(*_padded(y))
            ax.set_xlim(*_padded(x))
        if one.guide is not None:
            ax.axhline(one.guide, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)))
    elif one.kind == "histogram":
        ax.stairs(y, one.x, fill=True, color=BLUE)
    look: dict[str, Any] = {"fontsize": 9, "color": GREY, **PLAIN}
    ax.set_xlabel(one.x_label, **look)
    ax.set_ylabel(one.y_label, **look)
    ax.tick_params(labelsize=9)
    if one.kind in ("bars", "shares"):
        _bars(one, y, marked, ax)


def _bars(one: Chart, y: np.ndarray, marked: np.ndarray, ax: Axes) -> None:
    """Draw upright bars with labels where there is room, or shares one below the other."""
    place = np.arange(len(y))
    labels = [shortened(text, MAX_LABEL_LETTERS) for text in one.labels]
    if one.kind == "shares":
        ax.barh(place, y, color=[BLUE, VERMILION, "#b7c1cb"][: len(y)] if len(y) <= 3 else BLUE, height=0.6)
        ax.set_yticks(place, labels, **PLAIN)
        ax.set_ylim(len(y) - 0.5, -0.5)
        ax.set_xlim(0.0, 1.0)
        return
    ax.bar(place, y, color=np.where(marked, VERMILION, BLUE), width=0.7)
    if one.guide is not None:
        ax.axhline(one.guide, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    if len(y) > 12:
        ax.set_xticks([])
        return
    flat = sum(map(len, labels)) <= UPRIGHT_LABEL_LETTERS
    turned: dict[str, Any] = {} if flat else {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(place, labels, **turned, **PLAIN)
    if not flat:
        ax.set_xlabel("")  # there is no room for it


def _padded(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    space = 0.05 * (high - low or 1.0)
    return low - space, high + space
