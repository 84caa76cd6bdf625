"""Pictures of decisions: an effect under hidden common causes of any strength, and what changed between two tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.common.words import joined, number
from ordag.decisions.changing import PARTS, Changes
from ordag.errors import SettingError
from ordag.model.effects import check_pair
from ordag.model.sensitivity import Benchmark, Sensitivity
from ordag.picture.scene import BLUE, GREY, INK, VERMILION, labels
from ordag.show.plots.axes import GRID, PLAIN
from ordag.show.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NewAxes = Callable[..., Any]

MOST_BENCHMARKS = 6
"""Variables that hidden causes are compared with, those that would move the estimate most."""

LEAST_MOVE = 0.05
"""The share of the estimate that a hidden cause has to move to be drawn."""

CLOSE_HEIGHTS = 0.1
"""Marks whose heights differ by less than this share would cover each other's names."""

LONGEST_AXIS, SHORTEST_AXIS = 0.95, 0.1
"""Shares at which the axes of the contours end, at most and at least."""

STEPS = 80
"""Points along each axis that contours are drawn from."""

ROW = 0.3
"""Height of a row of changes, in inches."""

MOST_ROWS = 30


def robustness(view: View, axes: NewAxes, *, source: str | None = None, target: str | None = None) -> Axes:
    """Draw the effect of source on target in the learned graph, under hidden common causes of any strength.

    They move it by what they move the regression on source and its parents. Without both ends, it is that of the arrow that is surest to
    be more than chance.
    """
    fit = view.fit
    if fit.refit is None:
        raise SettingError(
            f"kind='robustness': {fit.method} finds a class of graphs, whose effects differ; learn with orient_by_order='class', or with "
            "another method."
        )
    if (source is None) != (target is None):
        raise SettingError("kind='robustness' takes both ends of an effect: give source=… and target=….")
    if source is None or target is None:
        sizes = np.abs(fit.refit.weights) / fit.refit.std_errors
        if not len(sizes):
            return _only_words("the graph has no arrow", axes)
        source, target = fit.graph.directed[int(np.argmax(sizes))]
    effect = float(fit.refit.sem.total_effects()[check_pair(source, target, fit.names)])
    if not effect:
        names = labels([source, target])
        return _only_words(f"the learned graph has no path from {names[source]} to {names[target]}", axes)
    found = Sensitivity.of(fit.moments, source, target, fit.graph.parents(source))
    return contours(replace(found, estimate=effect), axes)


def _only_words(words: str, axes: NewAxes) -> Axes:
    ax: Axes = axes(6.0, 1.0)
    ax.axis("off")
    ax.text(0.0, 0.5, words, transform=ax.transAxes, color=GREY, **PLAIN)
    return ax


def _benchmarks(found: Sensitivity) -> list[Benchmark]:
    """Return hidden causes as strong as variables that are held fixed: those that would move the estimate, one at a place."""
    known = [one for one in map(found.benchmark, found.given) if one is not None]
    moving = [one for one in known if abs(found.estimate - one.estimate) > LEAST_MOVE * abs(found.estimate)]
    kept: list[Benchmark] = []
    for one in sorted(moving, key=lambda one: -abs(found.estimate - one.estimate)):
        near = (
            abs(one.share_of_target - other.share_of_target) < CLOSE_HEIGHTS * other.share_of_target for other in kept
        )
        if not any(near) and len(kept) < MOST_BENCHMARKS:
            kept.append(one)
    return kept


def contours(found: Sensitivity, axes: NewAxes) -> Axes:
    """Draw contours of the estimate over the shares of cause and target that a hidden common cause explains."""
    from matplotlib.ticker import MaxNLocator

    names = labels([found.source, found.target, *found.given])
    every = _benchmarks(found)
    marks = [one for one in every if max(one.share_of_cause, one.share_of_target) <= LONGEST_AXIS]
    ends = [
        float(np.clip(1.25 * max([found.robustness, *shares], default=0.0), SHORTEST_AXIS, LONGEST_AXIS))
        for shares in ([one.share_of_cause for one in marks], [one.share_of_target for one in marks])
    ]
    ax: Axes = axes(6.4, 4.8)
    across, up = np.linspace(0.0, ends[0], STEPS), np.linspace(0.0, ends[1], STEPS)
    height = found.adjusted(across[None, :], up[:, None])
    levels = [
        one for one in MaxNLocator(10).tick_values(height.min(), height.max()) if abs(one) > 1e-9 * np.ptp(height)
    ]
    lines = ax.contour(across, up, height, levels=levels, colors=GREY, linewidths=0.7, linestyles="solid")
    ax.clabel(lines, fontsize=9, fmt=lambda value: number(value, 6).replace("-", "−"))
    if height.min() < 0.0 < height.max() or height.max() > 0.0 > height.min():
        ax.contour(across, up, height, levels=[0.0], colors=VERMILION, linewidths=1.6)
        ax.plot([], [], color=VERMILION, linewidth=1.6, label="effect of zero")
    ax.plot([0.0], [0.0], "^", color=INK, ms=8, clip_on=False, label=f"as estimated: {number(found.estimate, 3)}")
    if marks:
        ax.plot(
            [one.share_of_cause for one in marks],
            [one.share_of_target for one in marks],
            "D",
            color=BLUE,
            ms=5.5,
            clip_on=False,
            label="a hidden cause as strong as",
        )
    off = {one.name for one in every if one not in marks}
    beyond = [names[name] for name in found.given if name in off or found.benchmark(name) is None]
    if beyond:
        ax.plot([], [], " ", label=f"beyond the picture: as strong as {joined(beyond, 3)}")
    for one in marks:
        place = (one.share_of_cause, one.share_of_target)
        left, below = place[0] > 0.7 * ends[0], place[1] > 0.93 * ends[1]
        ax.annotate(
            f"{names[one.name]} ({number(one.estimate, 3)})", place, xytext=(-7 if left else 7, -10 if below else 3), color=BLUE,
            fontsize=9, textcoords="offset points", ha="right" if left else "left", **PLAIN,
        )  # fmt: skip
    ax.set_xlim(0.0, ends[0])
    ax.set_ylim(0.0, ends[1])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100.0 * value:.3g} %")
    ax.set_xlabel(f"share of {names[found.source]} that a hidden cause explains", **PLAIN)
    ax.set_ylabel(f"share of {names[found.target]} that a hidden cause explains", **PLAIN)
    title = f"effect of {names[found.source]} on {names[found.target]}\nwith a hidden common cause of any strength"
    if found.given:
        title += f"\nheld fixed: {joined([names[name] for name in found.given], 3)}"
    ax.set_title(title, loc="left", **PLAIN)
    legend = ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2 if beyond else 3, frameon=False, fontsize=9
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax


def changes(found: Changes, axes: NewAxes) -> Axes:
    """Draw what every equation adds to the change of the target; without a target, which parts of every equation differ."""
    return _shares(found, axes) if found.explained else _parts(found, axes)


def _shares(found: Changes, axes: NewAxes) -> Axes:
    from matplotlib.ticker import MaxNLocator

    assert found.explained is not None
    assert found.target is not None
    panels = list(found.explained.items())
    order = sorted(
        range(len(panels[0][1]["variable"])),
        key=lambda k: -max(abs(one["values"][k] / _size(one)) for _, one in panels),
    )[:MOST_ROWS]
    names = labels(found.graph.nodes)
    rows = [names[panels[0][1]["variable"][k]] for k in order]
    ax: Axes = axes(8.2, 1.3 + ROW * len(rows))
    ax.axis("off")
    left, wide = 0.16, 0.38
    for place, (what, one) in enumerate(panels):
        panel = ax.inset_axes((left + place * (wide + 0.08), 0.0, wide, 1.0))
        values, low, high = (np.array([one[key][k] for k in order]) for key in ("values", "low", "high"))
        sure = (low > 0.0) | (high < 0.0)
        y = np.arange(len(rows))
        colours = [
            (VERMILION if value < 0 else BLUE) if known else GREY for value, known in zip(values, sure, strict=True)
        ]
        panel.barh(y, values, color=colours, alpha=0.8, height=0.62)
        panel.hlines(y, low, high, color=INK, linewidth=1.0)
        panel.axvline(0.0, color=INK, linewidth=0.8)
        panel.set_ylim(len(rows) - 0.4, -0.6)
        panel.set_yticks(y, rows if not place else [""] * len(rows), **PLAIN)
        panel.tick_params(axis="y", length=0)
        panel.grid(**GRID)
        panel.xaxis.set_major_locator(MaxNLocator(5))
        panel.xaxis.set_major_formatter(lambda value, _: number(value, 3))
        panel.set_axisbelow(True)
        panel.set_title(
            f"{what} of {names[found.target]}: {number(one['before'])} → {number(one['after'])}",
            loc="left",
            fontsize=9,
            **PLAIN,
        )
    ax.set_title(
        f"what each equation adds, from {found.names[0]} to {found.names[1]} (grey bars: the interval contains 0)",
        loc="left",
        pad=22,
        **PLAIN,
    )
    return ax


def _size(one: dict[str, Any]) -> float:
    return max(map(abs, one["values"]), default=0.0) or 1.0


def _parts(found: Changes, axes: NewAxes) -> Axes:
    columns, names = found.columns, labels(found.graph.nodes)
    count = min(len(columns["variable"]), MOST_ROWS)
    ax: Axes = axes(5.4, 1.1 + ROW * count)
    for k in range(count):
        for place, part in enumerate(PARTS):
            p_value = columns[f"corrected_{part}"][k]
            known = p_value is not None
            changed = part in columns["changed"][k]
            if known:
                size = float(np.clip(-np.log10(max(p_value, 1e-16)), 0.3, 10.0))
                ax.plot(
                    [place],
                    [k],
                    "o",
                    ms=4.0 + 1.1 * size,
                    color=VERMILION if changed else GREY,
                    alpha=1.0 if changed else 0.35,
                )
            ax.text(
                place + 0.16,
                k,
                "" if not known else f"p = {p_value:.2g}" if p_value > 1e-16 else "p < 1e-16",
                va="center",
                fontsize=9,
                color=INK if changed else GREY,
                **PLAIN,
            )
    ax.set_xlim(-0.4, len(PARTS) - 0.35)
    ax.set_ylim(count - 0.5, -0.5)
    ax.set_xticks(range(len(PARTS)), PARTS)
    ax.xaxis.tick_top()
    ax.set_yticks(range(count), [names[name] for name in columns["variable"][:count]], **PLAIN)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    title = f"equations that differ\nbetween {found.names[0]} and {found.names[1]}"
    ax.set_title(title, loc="left", pad=14, **PLAIN)
    return ax
