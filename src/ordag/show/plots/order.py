"""The order: every variable's variance given the earlier ones, how near the runner-up came, and which could have come instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtri

from ordag.arrays import Array
from ordag.checks import is_whole, short
from ordag.errors import SettingError
from ordag.picture.scene import BLUE, GREY, SMALL, VERMILION, labels, text_width
from ordag.show.plots.painter import INCH, PLAIN, legend_above
from ordag.show.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.24
"""Inches of a variable's line."""

WIDE = 4.4
"""Inches of the axis, about."""

LEGEND = 4
"""Lines of the legend with its title, about."""

MOST_LANES = 12
"""Groups of ties that are drawn beside each other; further ones would be a thicket."""


def chart(view: View, axes: Callable[..., Axes], *, ties: bool = True, most: int = 60) -> Axes:
    """ties: whether to draw, right of the variances, the variables that could as well have come at a step.

    most: how many variables to draw, the first of the order.
    """
    if not is_whole(most, 1):
        raise SettingError(f"most={short(most)}: the number of variables to draw is a whole number from 1 on.")
    fit = view.fit
    if fit.ordering is None and fit.sem is None:
        raise SettingError(
            f"kind='order': {fit.method} finds a class of graphs, which has no order; learn with orient_by_order='class', or with "
            "another method."
        )
    short_names = labels(fit.names)
    names = [short_names[fit.names[j]] for j in view.order[:most]]
    p = len(names)
    rows = np.arange(p)
    columns: dict[str, Any] = {name: values[:most] for name, values in fit.step_columns.items()}
    lanes, left_out = _lanes(columns) if ties and "tied" in columns else ([], 0)
    ax = axes(WIDE + 2.0 + 0.2 * max((lane for lane, *_ in lanes), default=-1), 0.7 + 0.2 * LEGEND + ROW * p)
    if fit.ordering is not None:
        start = np.asarray(columns["variance"], dtype=float)
        end = start * (1.0 + np.asarray(columns["margin"], dtype=float))
        ax.hlines(rows, start, end, color=GREY, linewidth=1.0, zorder=1)
        ax.plot(end, rows, "o", mfc="white", mec=GREY, ms=5, label="runner-up at this step")
        ax.plot(start, rows, "o", color=BLUE, ms=6, label="chosen: variance given all earlier ones")
        ax.set_xlabel("variance given the earlier variables", **PLAIN)
    else:
        assert fit.refit is not None
        variances = np.asarray(fit.refit.sem.omega)[view.order[:most]]
        df = fit.refit.residual_df[view.order[:most]].astype(float)
        start, end = (variances * df / chdtri(df, tail) for tail in (0.025, 0.975))
        ax.plot(variances, rows, "o", color=BLUE, ms=6, label="variance given its parents")
        ax.hlines(rows, start, end, color=BLUE, linewidth=1.4, label="its 95 % interval, if errors are Gaussian")
        ax.axvline(float(variances.mean()), color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), label="mean")
        ax.set_xlabel("error variance", **PLAIN)
    runners = [short_names.get(name) for name in columns.get("runner_up", ())]
    ax.set_xlim(*_reach(ax, start, end, runners))
    _label_rows(ax, names, end, runners)
    for lane, step, members, matters in lanes:
        x = 1.03 + 0.035 * lane
        colour = VERMILION if matters else GREY
        beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "clip_on": False, "color": colour}
        ax.plot([x, x], [step, members[-1]], "-" if matters else ":", linewidth=1.4, **beside)
        ax.plot([x] * len(members), members, "o", ms=3.6, mfc=colour if matters else "white", **beside)
    for matters, words in (
        (True, "could as well come here, and an arrow hangs on it"),
        (False, f"could as well come here{f' ({left_out} more groups)' if left_out else ''}"),
    ):
        if any(lane[3] is matters for lane in lanes):
            look = {
                "color": VERMILION if matters else GREY,
                "linestyle": "-" if matters else ":",
                "marker": "o",
                "ms": 3.6,
            }
            ax.plot([], [], mfc=look["color"] if matters else "white", linewidth=1.4, label=words, **look)  # type: ignore[arg-type]
    some = f" ({p} of {len(view.order)} variables)" if p < len(view.order) else ""
    legend_above(ax, f"order, causes first{some}")
    return ax


def _reach(ax: Axes, left: Array, right: Array, runners: Sequence[str | None]) -> tuple[float, float]:
    """The ends of the axis, with room for names behind the marks; it is logarithmic where variances lie far apart."""
    right = np.fmax(left, right)
    least, greatest = float(np.nanmin(left)), float(np.nanmax(right))
    far = greatest > 20.0 * least > 0.0
    if far:
        ax.set_xscale("log")
    scaled: Callable[[float], float] = math.log if far else float
    start = scaled(least / 1.5) if far else 0.0
    end = start + 1.05 * (scaled(greatest) - start)
    for value, name in zip(right.tolist(), runners, strict=False):
        taken = 0.0 if name is None else min(0.6, (text_width(name, SMALL) + 12.0) / (INCH * WIDE))
        end = max(end, start + (scaled(value) - start) / (1.0 - taken))
    return (math.exp(start), math.exp(end)) if far else (start, end)


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
            ax.annotate(name, (float(right[row]), row), **near, **PLAIN)


def _lanes(columns: dict[str, Any]) -> tuple[list[tuple[int, int, list[int], bool]], int]:
    """(lane, step, rows of the group, whether an edge hangs on it), those with an edge first, and how many found no lane.

    Groups stand one beside the other where they would overlap.
    """
    place = {name: k for k, name in enumerate(columns["node"])}
    groups = [
        (step, sorted(place[name] for name in group if name in place), bool(matters))
        for step, (group, matters) in enumerate(zip(columns["tied"], columns["tie_matters"], strict=True))
        if sum(name in place for name in group) > 1
    ]
    taken: list[set[int]] = [set() for _ in range(MOST_LANES)]
    found = []
    for step, members, matters in sorted(groups, key=lambda group: not group[2]):
        rows = set(range(members[0], members[-1] + 1))
        lane = next((k for k, used in enumerate(taken) if not used & rows), None)
        if lane is not None:
            taken[lane] |= rows
            found.append((lane, step, members, matters))
    return found, len(groups) - len(found)
