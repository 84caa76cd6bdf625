"""`Chart`: one small picture of numbers, whatever it is painted with: a page, a plot, a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ChartKind = Literal["points", "bars", "shares", "histogram"]


@dataclass(frozen=True)
class Chart:
    """What to draw, in plain values.

    kind: "points" at (x, y); "bars" of height y with a label each; "shares" of a whole, y with a label each; "histogram" with counts y
        between edges x (one more than y).
    slope, intercept: of a line to compare points with, None for none. guide: a height to compare bars or points with.
    marked: the numbers of the points or bars to point out.
    """

    kind: ChartKind
    title: str
    x_label: str
    y_label: str
    y: Sequence[float]
    x: Sequence[float] = ()
    labels: Sequence[str] = ()
    slope: float | None = None
    intercept: float | None = None
    guide: float | None = None
    marked: Sequence[int] = ()
