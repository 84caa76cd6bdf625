"""The rows of Section 2 in, its figures out: the bivariate models, the regions, the shares of random models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.model.identifiability import loh_buhlmann_bound, park_kim_bound
from ordag.paper.boxes import ALARM, INK, PALE, Line, draw_graph
from ordag.paper.panels import FONT, STYLES, save
from ordag.paper.section2_claims import QUESTIONS, SECTIONS, interval
from ordag.paper.tikz_graphs import BIVARIATE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE = STYLES[0][0], STYLES[1][0]
HIGHEST = 3.0
"""The largest weight in the plot of the regions."""


def present(rows: Any, folder: Path) -> list[Path]:
    from matplotlib import rc_context

    with rc_context(FONT):
        return [
            *save(model_figure(rows), folder / "section2_models"),
            *save(region_figure(rows), folder / "section2_regions"),
            *save(share_figure(rows), folder / "section2_shares"),
        ]


def model_figure(rows: Any) -> Figure:
    """Figure 1 with numbers: weights and error variances, the variances they give, and the order read off them."""
    from matplotlib.figure import Figure

    part = rows[rows["part"] == "figure 1"]
    figure = Figure(figsize=(8.2, 1.75), layout="constrained")
    for axes, row in zip(figure.subplots(1, len(part)), part.itertuples(), strict=True):
        arrow = BIVARIATE[row.model]
        colour = INK if row.algorithm else ALARM
        lines = [Line(*arrow, colour=colour, width=2.0)] if arrow else []
        draw_graph(axes, {"X₁": (0.0, 0.0), "X₂": (2.6, 0.0)}, lines, half=(0.5, 0.34), size=10)
        if arrow:
            axes.text(1.3, 0.16, f"β = {row.weight:g}", ha="center", fontsize=8.5)
        for x, error, total in (
            (0.0, row.error_variance_1, row.variance_1),
            (2.6, row.error_variance_2, row.variance_2),
        ):
            axes.text(
                x, -0.5, f"σ² = {error:g}\nVar = {total:.2f}", ha="center", va="top", fontsize=8.5, linespacing=1.4
            )
        verdict = "right" if row.algorithm else "wrong"
        verdict = "right: no arrow to miss" if not arrow else verdict
        axes.text(1.3, -1.5, f"order {row.order}\n{verdict}", ha="center", va="top", color=colour, linespacing=1.4)
        axes.set_xlim(-0.9, 3.5)
        axes.set_ylim(-2.35, 0.5)
        axes.set_title(row.model, fontsize=10.5)
    return figure


def region_figure(rows: Any) -> Figure:
    """Where X₁ → X₂ is identifiable, over r = σ₂²/σ₁² and β: with the bounds corrected, and as printed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.2, 3.7), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    r = np.linspace(0.001, 2.0, 800)
    _regions(panels[0], r, r, "Corrected", "β² > 1 − r", "Lemma 2.3 with r for r²")
    _regions(panels[1], r, r * r, "As printed", "β² ≥ 1 − r²", "Lemma 2.3, with r²")
    truth = np.sqrt(park_kim_bound(r))
    panels[1].plot(r, truth, color=ALARM, lw=2.0, ls=(0, (5, 2)), label="where the algorithm begins to be right")
    panels[1].legend(loc="upper left", fontsize=7.5, framealpha=1.0)
    panels[0].set_ylabel("weight |β|")
    return figure


def _regions(axes: Axes, r: Any, argument: Any, title: str, corollary: str, lemma: str) -> None:
    weaker, stronger = np.sqrt(park_kim_bound(argument)), np.sqrt(loh_buhlmann_bound(argument))
    axes.fill_between(r, 0, weaker, facecolor="#bdbdbd", edgecolor="none")
    axes.fill_between(r, weaker, np.minimum(stronger, HIGHEST), facecolor="#e3edf6", edgecolor=BLUE, hatch="//", lw=0)
    axes.plot(r, weaker, color=INK, lw=2.0, label=f"Corollary 2.4: {corollary}")
    axes.plot(r, stronger, color=BLUE, lw=2.0, ls=(0, (1, 1.2)), label=f"Loh & Bühlmann: {lemma}")
    boxed: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "fontsize": 8,
        "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 2},
    }
    axes.text(0.27, 0.36, "neither", **boxed)
    axes.text(1.45, 0.75, "Corollary 2.4 only", **boxed)
    axes.text(0.5, 2.02, "both", **boxed)
    axes.set(xlim=(0, 2), ylim=(0, HIGHEST), xlabel="ratio of error variances r = σ₂²/σ₁²", title=title)
    axes.set_xticks([0.0, 0.5, 1.0, 1.5, 2.0])
    axes.legend(loc="upper left", fontsize=7.5, framealpha=1.0)


def share_figure(rows: Any) -> Figure:
    """The share of random models that fail, with 95% limits, by design and number of variables."""
    from matplotlib.figure import Figure

    models = rows[rows["part"] == "random models"]
    figure = Figure(figsize=(7.4, 3.0), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    looks = {"algorithm": ("o", INK), "drawn_order": ("s", BLUE), "every_order": ("^", ORANGE)}
    for axes, (design, section) in zip(panels, SECTIONS.items(), strict=True):
        part = models[models["design"] == design]
        sizes = sorted(part["p"].unique())
        for shift, (question, (marker, colour)) in enumerate(looks.items()):
            for place, p in enumerate(sizes):
                column = part[part["p"] == p][question]
                failing, count = int((column == 0).sum()), len(column)
                low, high = interval(failing, count)
                x = place + 0.16 * (shift - 1)
                axes.plot([x, x], [100 * low, 100 * high], color=colour, lw=1.4, clip_on=False)
                label = f"{QUESTIONS[question].replace(' right', '')} fails" if place == 0 else None
                look: dict[str, Any] = {
                    "color": colour,
                    "ms": 7,
                    "mec": "white",
                    "mew": 0.6,
                    "clip_on": False,
                    "zorder": 3,
                }
                axes.plot(x, 100 * failing / count, marker, label=label, **look)
        axes.set_xticks(range(len(sizes)), [f"p = {p}" for p in sizes])
        axes.set_title(f"Section {section}: {design} error variances")
        axes.grid(axis="y", color=PALE, lw=0.4, alpha=0.6)
    panels[0].set_ylabel("% of random models")
    panels[0].set_ylim(bottom=0)
    panels[0].legend(loc="upper left", fontsize=8.5, frameon=False)
    return figure
