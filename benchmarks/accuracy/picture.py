"""A summary in, one picture of all cells out: how many times as far from the truth as the best method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.accuracy.cells import Cell
from benchmarks.accuracy.methods import KNOWS_TRUTH, OWN
from benchmarks.accuracy.summary import Summary

# The colours of Okabe and Ito, told apart with any kind of colour vision; in grey, the markers do.
OWN_STYLES = [("#000000", "*"), ("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D")]
PEER_STYLES = [
    ("#56B4E9", "v"),
    ("#E69F00", "P"),
    ("#009E73", "<"),
    ("#CC79A7", ">"),
    ("#0072B2", "h"),
    ("#D55E00", "X"),
    ("#777777", "p"),
    ("#000000", "d"),
]


def draw(summary: Summary, halves: Mapping[str, Sequence[Cell]], path: Path) -> None:
    """One panel per half, one row per cell: (1 + mean distance) / (1 + that of the best method), on a log scale."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    styles = _styles(summary)
    rows = max(len(cells) for cells in halves.values())
    figure, panels = plt.subplots(1, len(halves), figsize=(13, 1.6 + 0.27 * rows), sharex=True, squeeze=False)
    for axes, (title, cells) in zip(panels[0], halves.items(), strict=True):
        for row, cell in enumerate(cells):
            means = {
                name: summary[cell, name].estimate("hamming").mean for name in styles if not summary[cell, name].late
            }
            means = {name: mean for name, mean in means.items() if math.isfinite(mean)}
            least = min(means.values(), default=0.0)
            for name, mean in means.items():
                colour, marker, filled = styles[name]
                face = colour if filled else "none"
                axes.scatter((1 + mean) / (1 + least), row, marker=marker, s=38, facecolor=face, edgecolor=colour)
        axes.set_yticks(range(len(cells)), [cell.name for cell in cells], fontsize=8)
        axes.set_ylim(rows - 0.5, -0.5)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_title(title, fontsize=10)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("(1 + distance) / (1 + distance of the best method)", fontsize=9)
    handles = [
        Line2D([], [], linestyle="", marker=marker, color=colour, markerfacecolor=colour if filled else "none", label=n)
        for n, (colour, marker, filled) in styles.items()
    ]
    figure.legend(handles=handles, loc="lower center", ncols=5, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.9 / figure.get_figheight(), 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _styles(summary: Summary) -> dict[str, tuple[str, str, bool]]:
    """Colour, marker, and whether it is filled (Ordag's are). A method that uses the truth is not shown."""
    own = [name for method in OWN for name in method.readings]
    peers = [name for name in summary.methods if name not in own and name != KNOWS_TRUTH]
    found = {name: (*style, True) for name, style in zip(own, OWN_STYLES, strict=True) if name in summary.methods}
    return found | {name: (*style, False) for name, style in zip(peers, PEER_STYLES, strict=False)}
