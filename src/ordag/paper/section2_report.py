"""The report on Section 2: shares of random models, sentences, and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from ordag.model.identifiability import loh_buhlmann_bound, park_kim_bound
from ordag.paper.drawing import ALARM, INK, PALE, STYLES, Line, draw_graph, rendered
from ordag.paper.experiment import records, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SECTIONS = {"homogeneous": "4.1", "heterogeneous": "4.2"}
BLUE, ORANGE = STYLES[0][0], STYLES[1][0]

QUESTIONS = {
    "algorithm": ("algorithm", "o", INK),
    "drawn_order": ("condition in the order drawn", "s", BLUE),
    "every_order": ("condition in every order", "^", ORANGE),
}
"""The questions about a random model, with name, marker and colour in the figure."""

LARGEST_WEIGHT = 3.0
"""The largest weight in the plot of the regions."""


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the models of each design and size, and how many of them fail each question."""
    models = where(rows, part="random models")
    table = models.groupby(["design", "p"], sort=False).agg(
        models=("model", "size"), **{key: (key, _failing) for key in QUESTIONS}, margin=("margin", "min")
    )
    names = {key: f"{key.replace('_', ' ')} fails" for key in QUESTIONS} | {"margin": "smallest margin"}
    return table.rename(columns=names).loc[list(SECTIONS)].round(3).reset_index()


def _failing(column: Any) -> int:
    return int((column == 0).sum())


def interval(failing: int, models: int) -> tuple[float, float]:
    """Return the exact 95% limits of a share (Clopper & Pearson)."""
    low = float(betaincinv(failing, models - failing + 1, 0.025)) if failing else 0.0
    high = float(betaincinv(failing + 1, models - failing, 0.975)) if failing < models else 1.0
    return low, high


def claims(rows: pd.DataFrame) -> list[str]:
    return [_bivariate(rows), *_bounds(rows), _counterexample(rows), *_random_models(rows)]


def _bivariate(rows: pd.DataFrame) -> str:
    sentences = [
        f"{row.model} ({row.arrow}{f', weight {row.weight:g}' if row.weight else ''}; error variances "
        f"{row.error_variance_1:g}, {row.error_variance_2:g}) has Var(X₁) = {row.variance_1:.2f} and Var(X₂) = "
        f"{row.variance_2:.2f}: the order found is {row.order}, {'right' if row.algorithm else 'wrong'}"
        for row in records(rows, part="figure 1")
    ]
    return (
        "Figure 1: the paper says that the variances tell G₁, G₂ and G₃ apart if the ratio of error variances, effect to "
        f"cause, exceeds 1 − β²; here {'; '.join(sentences)}."
    )


def _bounds(rows: pd.DataFrame) -> list[str]:
    part = where(rows, part="regions")
    models, wrong = int(part["models"].sum()), int(part["right_against_printed"].sum())
    half = part[np.isclose(part["r"], 0.5)].iloc[0]
    return [
        "Corollary 2.4: the paper says that X₁ → X₂ is identifiable if β² ≥ 1 − r², with r the ratio of variances; here, "
        f"on {models:,} models, the algorithm is right exactly if β² > 1 − r ({int(part['right_against_bound'].sum())} "
        f"exceptions), and in {wrong:,} of them the printed bound says otherwise. At r = ½ the bound is "
        f"{half['park_kim']:.2f}, printed {half['park_kim_printed']:.2f}.",
        "Lemma 2.3: the paper says that Loh & Bühlmann need more than Corollary 2.4; here too, as printed and with r for "
        f"r²: at r = ½ they need β² ≥ {half['loh_buhlmann']:.2f} (printed: {half['loh_buhlmann_printed']:.2f}).",
    ]


def _counterexample(rows: pd.DataFrame) -> str:
    part = where(rows, part="counterexample")
    first, twin = part.iloc[0], part.iloc[-1]
    return (
        "Theorem 2.2: the paper says that a model is identifiable if its condition holds in a true order; here "
        f"{first['model']} satisfies it in the order {first['order']} (smallest margin {first['margin']:.2f}), but the "
        f"algorithm takes {first['taken']}, and {twin['model']} satisfies it as well with the same distribution "
        f"(largest difference between the covariances: {first['covariance_gap']:.1g})."
    )


def _random_models(rows: pd.DataFrame) -> list[str]:
    says = {
        "homogeneous": "the condition holds because all error variances are equal",
        "heterogeneous": "the condition is satisfied with any values of error variances",
    }
    sentences = []
    for design, section in SECTIONS.items():
        part = where(shares(rows), design=design)
        counts = ", ".join(
            f"{row['algorithm fails']} of {row['models']:,} at p = {row['p']}" for _, row in part.iterrows()
        )
        sentences.append(
            f"Section {section}: the paper says that {says[design]}; here the algorithm is wrong on the true distribution for "
            f"{counts} (smallest margin {part['smallest margin'].min():.3f})."
        )
    return sentences


def figures(rows: pd.DataFrame) -> dict[str, bytes]:
    return rendered(
        {
            "section2_models": lambda: model_figure(rows),
            "section2_regions": region_figure,
            "section2_shares": lambda: share_figure(rows),
        }
    )


def model_figure(rows: pd.DataFrame) -> Figure:
    """Draw Figure 1 with numbers: weights and error variances, the resulting variances, and the order found."""
    from matplotlib.figure import Figure

    models = records(rows, part="figure 1")
    figure = Figure(figsize=(8.2, 1.75), layout="constrained")
    for axes, row in zip(figure.subplots(1, len(models)), models, strict=True):
        cause, _, effect = row.arrow.partition(" → ")
        colour = INK if row.algorithm else ALARM
        lines = [Line(cause, effect, colour=colour, width=2.0)] if effect else []
        draw_graph(axes, {"X₁": (0.0, 0.0), "X₂": (2.6, 0.0)}, lines, half=(0.5, 0.34), size=10)
        if effect:
            axes.text(1.3, 0.16, f"β = {row.weight:g}", ha="center", fontsize=8.5)
        below: dict[str, Any] = {"ha": "center", "va": "top", "linespacing": 1.4}
        variances = (row.error_variance_1, row.variance_1), (row.error_variance_2, row.variance_2)
        for x, (error, total) in zip((0.0, 2.6), variances, strict=True):
            axes.text(x, -0.5, f"σ² = {error:g}\nVar = {total:.2f}", fontsize=8.5, **below)
        verdict = "right: no arrow to miss" if not effect else "right" if row.algorithm else "wrong"
        axes.text(1.3, -1.5, f"order {row.order}\n{verdict}", color=colour, **below)
        axes.set(xlim=(-0.9, 3.5), ylim=(-2.35, 0.5))
        axes.set_title(row.model, fontsize=10.5)
    return figure


def region_figure() -> Figure:
    """Draw where X₁ → X₂ is identifiable, over r = σ₂²/σ₁² and β: with the bounds corrected, and as printed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.2, 3.7), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    r = np.linspace(0.001, 2.0, 800)
    _draw_regions(panels[0], r, r, "Corrected", "β² > 1 − r", "Lemma 2.3 with r for r²")
    _draw_regions(panels[1], r, r * r, "As printed", "β² ≥ 1 − r²", "Lemma 2.3, with r²")
    truth = np.sqrt(park_kim_bound(r))
    panels[1].plot(r, truth, color=ALARM, lw=2.0, ls=(0, (5, 2)), label="where the algorithm begins to be right")
    panels[1].legend(loc="upper left", fontsize=7.5, framealpha=1.0)
    panels[0].set_ylabel("weight |β|")
    return figure


def _draw_regions(axes: Axes, r: Any, argument: Any, title: str, corollary: str, lemma: str) -> None:
    weaker, stronger = np.sqrt(park_kim_bound(argument)), np.sqrt(loh_buhlmann_bound(argument))
    axes.fill_between(r, 0, weaker, facecolor="#bdbdbd", edgecolor="none")
    axes.fill_between(
        r, weaker, np.minimum(stronger, LARGEST_WEIGHT), facecolor="#e3edf6", edgecolor=BLUE, hatch="//", lw=0
    )
    axes.plot(r, weaker, color=INK, lw=2.0, label=f"Corollary 2.4: {corollary}")
    axes.plot(r, stronger, color=BLUE, lw=2.0, ls=(0, (1, 1.2)), label=f"Loh & Bühlmann: {lemma}")
    white = {"facecolor": "white", "edgecolor": "none", "pad": 2}
    boxed: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "bbox": white}
    axes.text(0.27, 0.36, "neither", **boxed)
    axes.text(1.45, 0.75, "Corollary 2.4 only", **boxed)
    axes.text(0.5, 2.02, "both", **boxed)
    axes.set(xlim=(0, 2), ylim=(0, LARGEST_WEIGHT), xlabel="ratio of error variances r = σ₂²/σ₁²", title=title)
    axes.set_xticks([0.0, 0.5, 1.0, 1.5, 2.0])
    axes.legend(loc="upper left", fontsize=7.5, framealpha=1.0)


def share_figure(rows: pd.DataFrame) -> Figure:
    """Draw the share of random models that fail, with 95% limits, by design and number of variables."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.4, 3.0), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (design, section) in zip(panels, SECTIONS.items(), strict=True):
        part = where(rows, part="random models", design=design)
        sizes = sorted(part["p"].unique())
        for shift, (question, (name, marker, colour)) in enumerate(QUESTIONS.items()):
            for k, p in enumerate(sizes):
                column = where(part, p=p)[question]
                failing, count = _failing(column), len(column)
                low, high = interval(failing, count)
                x = k + 0.16 * (shift - 1)
                axes.plot([x, x], [100 * low, 100 * high], color=colour, lw=1.4, clip_on=False)
                label = f"{name} fails" if k == 0 else None
                look: dict[str, Any] = {"color": colour, "ms": 7, "mec": "white", "mew": 0.6, "zorder": 3}
                axes.plot(x, 100 * failing / count, marker, label=label, clip_on=False, **look)
        axes.set_xticks(range(len(sizes)), [f"p = {p}" for p in sizes])
        axes.set_title(f"Section {section}: {design} error variances")
        axes.grid(axis="y", color=PALE, lw=0.4, alpha=0.6)
    panels[0].set_ylabel("% of random models")
    panels[0].set_ylim(bottom=0)
    panels[0].legend(loc="upper left", fontsize=8.5, frameon=False)
    return figure
