"""`Finding`: one thing that was looked at, how it came out, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["fine", "look", "warning", "unchecked"]
LEVELS: tuple[Level, ...] = ("warning", "look", "fine", "unchecked")
"""By urgency. "unchecked" is for what could not be looked at, with the reason in the sentence."""


@dataclass(frozen=True)
class Finding:
    """`sentence` is for a person, `numbers` are plain values: numbers, names, lists of them, or None."""

    key: str
    level: Level
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"key": self.key, "level": self.level, "sentence": self.sentence, "numbers": dict(self.numbers)}


def unchecked(key: str, reason: str) -> Finding:
    """A finding that was not made."""
    return Finding(key, "unchecked", f"not checked: {reason}")


def lenient(level: Level, tolerated: bool) -> Level:
    """At most "look" where something else makes a warning too strong."""
    return "look" if tolerated and level == "warning" else level


def chance(p_value: float) -> str:
    """A p-value as part of a sentence: "p = 0.03"."""
    return "p < 1e-16" if p_value < 1e-16 else f"p = {p_value:.2g}"


def share(value: float) -> str:
    """A share in percent; only all is 100 % and only none is 0 %."""
    percent = f"{100 * value:.0f}"
    if percent == "100" and value < 1:
        return "more than 99 %"
    return "less than 1 %" if percent == "0" and value > 0 else f"{percent} %"


def amount(value: float) -> str:
    """A number of any size as a person would write it."""
    return f"{value:,.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"
