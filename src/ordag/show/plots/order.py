"""The order: every variable's variance given the earlier ones, how near the runner-up came, and which could have come instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.errors import SettingError
from ordag.picture.scene import BLUE, GREY, INK, VERMILION, label
from ordag.show.plots.painter import PLAIN
from ordag.show.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.24
"""Inches of a variable's line."""

LEGEND = 4
"""Lines of the legend, at most."""

MOST_LANES = 12
"""Groups of ties that are drawn beside each other; further ones would be a thicket."""


def chart(view: View, axes: Callable[..., Axes], *, ties: bool = True) -> Axes:
    """ties: whether to draw, right of the variances, the variables that could as well have come at a step."""
    fit = view.fit
    if fit.ordering is None and fit.sem is None:
        raise SettingError(
            f"kind='order': {fit.method} finds a class of graphs, which has no order; learn with orient_by_order='class', or with "
            "another method."
        )
    names = [label(fit.names[j]) for j in view.order]
    p = len(names)
    rows = np.arange(p)
    columns: dict[str, Any] = fit.step_columns
    lanes = _lanes(columns) if ties and "tied" in columns else []
    ax = axes(6.4 + 0.2 * max((lane for lane, *_ in lanes), default=-1), 0.85 + 0.2 * LEGEND + ROW * p)
    if fit.ordering is not None:
        variances = np.asarray(columns["variance"], dtype=float)
        runner_up = variances * (1.0 + np.asarray(columns["margin"], dtype=float))
        ax.hlines(rows, variances, runner_up, color=GREY, linewidth=1.0, zorder=1)
        ax.plot(runner_up, rows, "o", mfc="white", mec=GREY, ms=5, label="runner-up at this step")
        ax.plot(variances, rows, "o", color=BLUE, ms=6, label="chosen: variance given all earlier ones")
        ax.set_xlabel("variance given the earlier variables", **PLAIN)
    else:
        assert fit.sem is not None
        variances = np.asarray(fit.sem.omega)[view.order]
        runner_up = variances
        ax.plot(variances, rows, "o", color=BLUE, ms=6, label="variance given its parents")
        ax.axvline(float(variances.mean()), color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), label="mean")
        ax.set_xlabel("error variance", **PLAIN)
    finite = np.concatenate([variances, runner_up[np.isfinite(runner_up)]])
    if finite.max() > 20.0 * finite.min() > 0.0:
        ax.set_xscale("log")
    else:
        ax.set_xlim(0.0, 1.12 * float(finite.max()))
    _label_rows(ax, names, runner_up, columns.get("runner_up", ()))
    for lane, step, members, matters in lanes:
        x = 1.03 + 0.035 * lane
        colour = VERMILION if matters else GREY
        beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "clip_on": False, "color": colour}
        ax.plot([x, x], [step, members[-1]], "-" if matters else ":", linewidth=1.4, **beside)
        ax.plot([x] * len(members), members, "o", ms=3.6, mfc=colour if matters else "white", **beside)
    for matters, words in (
        (True, "could as well come here, and an arrow hangs on it"),
        (False, "could as well come here"),
    ):
        if any(lane[3] is matters for lane in lanes):
            look = {
                "color": VERMILION if matters else GREY,
                "linestyle": "-" if matters else ":",
                "marker": "o",
                "ms": 3.6,
            }
            ax.plot([], [], mfc=look["color"] if matters else "white", linewidth=1.4, label=words, **look)  # type: ignore[arg-type]
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.5 / (ROW * p)), frameon=False, fontsize=9, borderpad=0.0)
    ax.set_title("order, causes first", loc="left", color=INK, **PLAIN)
    return ax


def _label_rows(ax: Axes, names: list[str], right: np.ndarray, runners: Any) -> None:
    """Names at the left, the names of the runners-up behind their marks."""
    ax.set_yticks(range(len(names)), names, **PLAIN)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="#e3e8ed", linewidth=0.6)
    ax.set_axisbelow(True)
    for row, name in enumerate(runners):
        if name is not None and np.isfinite(right[row]):
            near: dict[str, Any] = {
                "xytext": (6, 0),
                "textcoords": "offset points",
                "va": "center",
                "fontsize": 9,
                "color": GREY,
            }
            ax.annotate(label(name), (float(right[row]), row), **near, **PLAIN)


def _lanes(columns: dict[str, Any]) -> list[tuple[int, int, list[int], bool]]:
    """(lane, step, rows of the group, whether an edge hangs on it): groups one beside the other where they would overlap."""
    place = {name: k for k, name in enumerate(columns["node"])}
    free: list[int] = []
    found = []
    for step, (group, matters) in enumerate(zip(columns["tied"], columns["tie_matters"], strict=True)):
        members = sorted(place[name] for name in group)
        if len(members) > 1:
            lane = next((k for k, end in enumerate(free) if end < members[0]), len(free))
            if lane >= MOST_LANES:
                continue
            free[lane : lane + 1] = [members[-1]]
            found.append((lane, step, members, bool(matters)))
    return found
