"""Draw the pictures of docs/method.md: `python -m tools.pictures`, or `python -m tools.pictures steps units` for some of them.

All numbers in them are computed here, with fixed seeds; `spread` takes ten minutes, the others a second. The pictures stand on a
white ground of their own, so that they can be read on a dark page, and signs and words say what colours say.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt

import ordag
from ordag.model.sem import LinearSEM

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#9a9a9a"  # told apart by readers who do not see all colours, and in print
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "figure.facecolor": "white",
    "svg.hashsalt": "ordag",
}
WEIGHT = 1.0
METHODS = {
    "cvs": ("published order (cvs)", ORANGE, "s", "--"),
    "pooled": ("pooled", BLUE, "o", "-"),
    "ges": ("class only (ges)", GREY, "^", ":"),
}
REASONS = {
    "variance": ("said to rest on variances", BLUE, "o", "-"),
    "class": ("said to be of the class", ORANGE, "s", "--"),
    "open": ("said to be open", GREY, "^", ":"),
}
TABLES = 200
SPREADS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)


def two_orders() -> Any:
    """x → y with weight 1 and error variances 1: what is left of each variable along the right and the wrong order."""
    moments = LinearSEM([[0.0, WEIGHT], [0.0, 0.0]]).covariance()
    variances = [moments[0, 0], moments[1, 1] - moments[0, 1] ** 2 / moments[0, 0]]
    wrong = [moments[1, 1], moments[0, 0] - moments[0, 1] ** 2 / moments[1, 1]]
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.7), sharey=True, layout="constrained")
    for ax, title, labels, values, hatch in (
        (axes[0], "x first: two equal variances", ["x", "y, given x"], variances, ""),
        (axes[1], "y first: one too large, one too small", ["y", "x, given y"], wrong, "//"),
    ):
        bars = ax.bar(labels, values, color=ORANGE if hatch else BLUE, hatch=hatch, edgecolor="white", width=0.55)
        ax.bar_label(bars, [f"{value:.3g}" for value in values], padding=2)
        ax.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
        ax.set_title(title)
        ax.set_ylim(0, 2.4)
    axes[0].set_ylabel("variance left")
    return figure


def steps() -> Any:
    """The order found step by step in 500 rows of a chain of four: at each step the smallest variance left is taken."""
    names = ("rain", "river", "soil", "crop")
    truth = LinearSEM.from_edges(
        names, {("rain", "river"): 0.9, ("river", "soil"): 0.8, ("rain", "soil"): 0.6, ("soil", "crop"): 1.0}
    )
    X = truth.sample(500, seed=2)
    S = np.cov(X.T)
    chosen: list[int] = []
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.7), sharey=True, layout="constrained")
    for step, ax in enumerate(axes):
        waiting = [j for j in range(4) if j not in chosen]
        left = {}
        for j in waiting:
            given = S[np.ix_(chosen, chosen)]
            left[j] = S[j, j] - (S[j, chosen] @ np.linalg.solve(given, S[chosen, j]) if chosen else 0.0)
        best = min(left, key=lambda j: left[j])
        colours = [BLUE if j == best else GREY for j in waiting]
        labels = [f"{names[j]}\n(taken)" if j == best else names[j] for j in waiting]
        bars = ax.bar(labels, list(left.values()), color=colours, width=0.6)
        ax.bar_label(bars, [f"{value:.2f}" for value in left.values()], padding=2)
        given_names = ", ".join(names[j] for j in chosen)
        ax.set_title(f"step {step + 1}" + (f": given {given_names}" if chosen else ": nothing given"))
        chosen.append(best)
    axes[0].set_ylabel("variance left")
    assert [names[j] for j in chosen] == list(ordag.learn({n: X[:, j] for j, n in enumerate(names)}, "cvs").order)[:3]
    return figure


def region() -> Any:
    """For x → y: which weights and error variances let the cause have the smaller variance."""
    b = np.linspace(0.0, 1.6, 400)
    figure, ax = plt.subplots(figsize=(5.2, 3.3), layout="constrained")
    edge = np.maximum(1.0 - b**2, 0.0)
    ax.fill_between(b, edge, 2.0, color=BLUE, alpha=0.18)
    ax.fill_between(b, 0.0, edge, color=ORANGE, alpha=0.28, hatch="//", edgecolor=ORANGE, linewidth=0.0)
    ax.plot(b, edge, color="black", linewidth=1.2)
    ax.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    ax.text(1.58, 1.03, "equal error variances", ha="right", va="bottom", fontsize=9)
    ax.text(1.05, 1.5, "x comes first: right", ha="center")
    ax.text(0.32, 0.38, "y comes first:\nwrong", ha="center", va="center")
    ax.set(xlim=(0, 1.6), ylim=(0, 2), xlabel="weight of x → y", ylabel="error variance of y\nover that of x")
    return figure


def units() -> Any:
    """The same rows with y in three units: the variances that decide are those of the units."""
    sem = LinearSEM([[0.0, 0.8], [0.0, 0.0]], names=["x", "y"])
    X = sem.sample(1000, seed=2)
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.7), layout="constrained")
    for ax, factor, title in (
        (axes[0], 1.0, "y in metres"),
        (axes[1], 0.1, "y in tens of metres"),
        (axes[2], None, "both standardised"),
    ):
        Y = X / X.std(axis=0) if factor is None else X * [1.0, factor]
        values = Y.var(axis=0, ddof=1)
        first = int(np.argmin(values))
        tie = np.isclose(values[0], values[1])
        colours = (
            [GREY, GREY]
            if tie
            else [BLUE if first == 0 and j == 0 else ORANGE if j == first else GREY for j in range(2)]
        )
        bars = ax.bar(["x", "y"], values, color=colours, width=0.5)
        ax.bar_label(bars, [f"{value:.3g}" for value in values], padding=2)
        said = "no order: the same" if tie else "x first: right" if first == 0 else "y first: wrong"
        ax.set_title(f"{title}\n{said}")
        ax.set_ylim(0, 1.25 * values.max())
    axes[0].set_ylabel("variance")
    return figure


def spread() -> Any:
    """Six variables, 500 rows, error variances less and less alike: how many arrows are right, and what pooled says of its own."""
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    right: dict[str, list[float]] = {reason: [] for reason in REASONS}
    for factor in SPREADS:
        hits = dict.fromkeys(METHODS, 0)
        said = {reason: [0, 0] for reason in REASONS}
        present = 0
        for table in range(TABLES):
            drawn = ordag.simulate("erdos-renyi", 6, 500, seed=1000 + table, degree=2.5, weights=(0.3, 1.0))
            omega = np.exp(np.random.default_rng(2000 + table).uniform(-0.5, 0.5, 6) * np.log(factor))
            X = LinearSEM(drawn.sem.B, omega).sample(500, seed=3000 + table)
            truth = set(drawn.dag.directed)
            present += len(truth)
            for method in METHODS:
                fit = ordag.learn({name: X[:, j] for j, name in enumerate(drawn.names)}, method)
                hits[method] += len(truth & set(fit.graph.directed))
                if method == "pooled":
                    for source, target, reason in fit.edges[["source", "target", "reason"]].itertuples(index=False):
                        said[reason][0] += (source, target) in truth
                        said[reason][1] += 1
        for method in METHODS:
            found[method].append(100 * hits[method] / present)
        for reason in REASONS:
            right[reason].append(100 * said[reason][0] / said[reason][1])
        print(factor, hits, present, said, flush=True)
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.3), sharey=True, layout="constrained")
    for ax, lines, styles, title in (
        (axes[0], found, METHODS, "true arrows that were found, %"),
        (axes[1], right, REASONS, "arrows of pooled that are true, %"),
    ):
        for name, (label, colour, marker, line) in styles.items():
            ax.plot(SPREADS, lines[name], line, marker=marker, color=colour, label=label)
        ax.set_xscale("log")
        ax.set_xticks(SPREADS, [f"{factor:g}" for factor in SPREADS])
        ax.minorticks_off()
        ax.set(xlabel="range of the error variances, as a factor", ylim=(0, 102), title=title)
        ax.legend(frameon=False, loc="lower left")
    return figure


PICTURES = {"two_orders": two_orders, "steps": steps, "region": region, "units": units, "spread": spread}


def main() -> None:
    matplotlib.use("agg")
    with plt.rc_context(STYLE):
        for name in sys.argv[1:] or PICTURES:
            PICTURES[name]().savefig(FIGURES / f"method_{name}.svg", metadata={"Date": None, "Creator": None})
            plt.close("all")


if __name__ == "__main__":
    main()
