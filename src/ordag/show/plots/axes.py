"""Plots of numbers along an axis: the variances behind the order, and the bootstrap support of arrows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtri

from ordag.common.arrays import Array
from ordag.common.checks import is_whole, short
from ordag.common.words import LEFT_TO_RIGHT, counted
from ordag.errors import SettingError
from ordag.picture.scene import BLUE, GREY, INK, SMALL, VERMILION, labels, text_width
from ordag.show.text import order_title
from ordag.show.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIXELS_PER_INCH = 96.0

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options of every text: `$` and `_` are letters."""

GRID: dict[str, Any] = {"axis": "x", "color": "#e3e8ed", "linewidth": 0.6}

ORDER_ROW, SUPPORT_ROW = 0.24, 0.26
"""Height of a row, in inches."""

ORDER_WIDTH = 4.4
"""Approximate width of the axis of variances, in inches."""

LEGEND_LINES = 4
"""Approximate number of lines of the legend of the order, with its title."""

MOST_LANES = 12
"""Groups of ties that are drawn side by side."""


def order(view: View, axes: Callable[..., Axes], *, ties: bool = True, most: int = 60) -> Axes:
    """Draw every variable's variance given the earlier ones, how near the runner-up came, and ties.

    ties: whether to mark, right of the variances, the variables tied at a step. most: how many variables to draw, from the first on.
    """
    _check_most(most, "variables")
    fit = view.fit
    if fit.ordering is None and fit.sem is None:
        raise SettingError(
            f"kind='order': {fit.method} finds a class of graphs, which has no order; learn with orient_by_order='class', or with "
            "another method."
        )
    short_names, order = labels(fit.names), [j for j in view.order if j < len(fit.names)]
    names = [short_names[fit.names[j]] for j in order[:most]]
    p = len(names)
    rows = np.arange(p)
    columns: dict[str, Any] = {name: values[:most] for name, values in fit.step_columns.items()}
    lanes, left_out = _lanes(columns) if ties and "tied" in columns else ([], 0)
    width = ORDER_WIDTH + 2.0 + 0.2 * max((lane for lane, *_ in lanes), default=-1)
    ax = axes(width, 0.7 + 0.2 * LEGEND_LINES + ORDER_ROW * p)
    if fit.ordering is not None:
        start = np.asarray(columns["variance"], dtype=float)
        end = start * (1.0 + np.asarray(columns["margin"], dtype=float))
        ax.hlines(rows, start, end, color=GREY, linewidth=1.0, zorder=1)
        ax.plot(end, rows, "o", mfc="white", mec=GREY, ms=5, label="runner-up at this step")
        ax.plot(start, rows, "o", color=BLUE, ms=6, label="chosen: variance given all earlier variables")
        ax.set_xlabel("variance given the earlier variables", **PLAIN)
    else:
        assert fit.refit is not None
        variances = np.asarray(fit.refit.sem.omega)[order[:most]]
        df = fit.refit.residual_df[order[:most]].astype(float)
        start, end = (variances * df / chdtri(df, tail) for tail in (0.025, 0.975))
        ax.plot(variances, rows, "o", color=BLUE, ms=6, label="variance given its parents")
        ax.hlines(rows, start, end, color=BLUE, linewidth=1.4, label="its 95 % interval, for Gaussian errors")
        ax.axvline(float(variances.mean()), color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), label="mean")
        ax.set_xlabel("error variance", **PLAIN)
    runners = [short_names.get(name) for name in columns.get("runner_up", ())]
    ax.set_xlim(*_limits(ax, start, end, runners))
    _label_rows(ax, names, end, runners)
    _draw_ties(ax, lanes, left_out)
    some = f" ({p} of {len(view.order)} variables)" if p < len(view.order) else ""
    _legend_above(ax, f"{order_title(view.fit).lower()}{some}")
    return ax


def support(view: View, axes: Callable[..., Axes], *, most: int = 40) -> Axes:
    """Draw for every arrow the share of resamples that have it, and the interval of its weight.

    most: how many arrows to draw, learned ones first, the best supported first among them.
    """
    _check_most(most, "arrows")
    found = view.fit.support
    if found is None:
        raise SettingError(
            "kind='support' needs resamples: learn with bootstrap=200, say (--bootstrap 200), which also gives intervals."
        )
    columns = {str(name): list(values) for name, values in found.edges_above(0.1).items()}
    total = len(columns["source"])
    rows = sorted(range(total), key=lambda k: (not columns["learned"][k], -columns["support"][k]))[:most]
    short_names = labels(view.fit.names)
    names = [_arrow(*(short_names[columns[end][k]] for end in ("source", "target"))) for k in rows]
    wide = max((text_width(name, SMALL) / PIXELS_PER_INCH for name in names), default=0.0) + 0.15
    total_wide = wide + 6.0
    ax = axes(total_wide, 1.2 + SUPPORT_ROW * max(len(rows), 1))
    ax.axis("off")
    some = f" ({len(rows)} of {total})" if total > len(rows) else ""
    title = f"{counted(found.completed, 'resample')}: support of every arrow, and its weight{some}"
    if not rows:
        ax.text(0.0, 0.5, "no resample has an arrow", transform=ax.transAxes, color=GREY, **PLAIN)
        return ax
    weights = "weight_low" in columns
    left = wide / total_wide
    bars = ax.inset_axes((left, 0.0, (1.0 - left) * (0.47 if weights else 0.97), 1.0))
    place = np.arange(len(rows))
    picked = {name: np.array([values[k] for k in rows]) for name, values in columns.items()}
    learned = picked["learned"].astype(bool)
    bars.barh(place, picked["adjacency_support"], height=0.62, color="#d5dce4", label="adjacent, in any direction")
    bars.barh(place[learned], picked["support"][learned], height=0.62, color=BLUE, label="with this arrow, learned")
    bars.barh(
        place[~learned], picked["support"][~learned], height=0.62, facecolor="white", edgecolor=BLUE, hatch="////", linewidth=0.8,
        label="with this arrow, not learned",
    )  # fmt: skip
    bars.set_xlim(0.0, 1.0)
    bars.set_xlabel("share of resamples", **PLAIN)
    bars.set_yticks(place, names, **PLAIN)
    panels = [bars]
    if weights:
        panels.append(ax.inset_axes((left + 0.53 * (1.0 - left), 0.0, 0.46 * (1.0 - left), 1.0)))
        _draw_intervals(panels[1], place, picked)
        panels[1].set_xlabel(f"weight, with {found.level:.0%} interval", **PLAIN)
    for panel in panels:
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.tick_params(axis="y", length=0)
        panel.grid(**GRID)
        panel.set_axisbelow(True)
    _legend_above(ax, title, [one for one in bars.containers if len(one)], across=3)
    return ax


def _check_most(most: Any, what: str) -> None:
    if not is_whole(most, 1):
        raise SettingError(f"most={short(most)}: the number of {what} to draw is a whole number from 1 on.")


def _legend_above(ax: Axes, title: str, handles: Sequence[Any] | None = None, across: int = 1) -> None:
    """Put a title and a legend above the axes, with `across` entries in a line."""
    known = ax.get_legend_handles_labels()[0] if handles is None else list(handles)
    legend = ax.legend(
        handles=known, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=across, frameon=False, fontsize=9, title=title,
        title_fontsize=10, alignment="left", borderaxespad=0.2, borderpad=0.0,
    )  # fmt: skip
    legend.get_title().set(color=INK, **PLAIN)


def _limits(ax: Axes, left: Array, right: Array, runners: Sequence[str | None]) -> tuple[float, float]:
    """Return the ends of the axis, with room for the runners-up's names; make it logarithmic where variances differ widely."""
    right = np.fmax(left, right)
    least, greatest = float(np.nanmin(left)), float(np.nanmax(right))
    far = greatest > 20.0 * least > 0.0
    if far:
        ax.set_xscale("log")
    scaled: Callable[[float], float] = math.log if far else float
    start = scaled(least / 1.5) if far else 0.0
    end = start + 1.05 * (scaled(greatest) - start)
    for value, name in zip(right.tolist(), runners, strict=False):
        width = 0.0 if name is None else (text_width(name, SMALL) + 12.0) / (PIXELS_PER_INCH * ORDER_WIDTH)
        end = max(end, start + (scaled(value) - start) / (1.0 - min(0.6, width)))
    return (math.exp(start), math.exp(end)) if far else (start, end)


def _label_rows(ax: Axes, names: list[str], right: np.ndarray, runners: Sequence[str | None]) -> None:
    """Write the names at the left, and the names of the runners-up behind their marks."""
    ax.set_yticks(range(len(names)), names, **PLAIN)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(**GRID)
    ax.set_axisbelow(True)
    near: dict[str, Any] = {
        "xytext": (6, 0),
        "textcoords": "offset points",
        "va": "center",
        "fontsize": 9,
        "color": GREY,
    }
    for row, name in enumerate(runners):
        if name is not None and np.isfinite(right[row]):
            ax.annotate(name, (float(right[row]), row), **near, **PLAIN)


def _lanes(columns: dict[str, Any]) -> tuple[list[tuple[int, int, list[int], bool]], int]:
    """Return (lane, step, rows of the group, whether the graph has an edge in it) of every tie, and how many found no lane.

    Groups that overlap get different lanes; those with an edge come first.
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


def _draw_ties(ax: Axes, lanes: list[tuple[int, int, list[int], bool]], left_out: int) -> None:
    for lane, step, members, matters in lanes:
        x = 1.03 + 0.035 * lane
        colour = VERMILION if matters else GREY
        beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "clip_on": False, "color": colour}
        ax.plot([x, x], [step, members[-1]], "-" if matters else ":", linewidth=1.4, **beside)
        ax.plot([x] * len(members), members, "o", ms=3.6, mfc=colour if matters else "white", **beside)
    more = f" ({left_out} more groups)" if left_out else ""
    if any(matters for *_, matters in lanes):
        look: dict[str, Any] = {"marker": "o", "ms": 3.6, "linewidth": 1.4, "color": VERMILION, "linestyle": "-"}
        ax.plot([], [], mfc=VERMILION, label="tied at this step, with an edge among them", **look)
    if any(not matters for *_, matters in lanes):
        look = {"marker": "o", "ms": 3.6, "linewidth": 1.4, "color": GREY, "linestyle": ":"}
        ax.plot([], [], mfc="white", label=f"tied at this step{more}", **look)


def _arrow(source: str, target: str) -> str:
    """Join two names by an arrow that reads from left to right in any script."""
    text = f"{source} → {target}"
    return LEFT_TO_RIGHT + text if LEFT_TO_RIGHT in text else text


def _draw_intervals(panel: Axes, place: np.ndarray, picked: dict[str, Any]) -> None:
    """Draw low, median and high of every weight: blue if positive, vermilion with an open mark if negative."""
    for row, low, middle, high in zip(
        place, picked["weight_low"], picked["weight_median"], picked["weight_high"], strict=True
    ):
        colour = VERMILION if middle < 0 else BLUE
        panel.hlines(row, low, high, color=colour, linewidth=1.6)
        panel.plot([middle], [row], "o", ms=5.5, color=colour, mfc="white" if middle < 0 else colour)
    panel.axvline(0.0, color=GREY, linewidth=0.8)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
