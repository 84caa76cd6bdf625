"""`Finding`: the result of one check with its numbers. `Caution`: a result that speaks against the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Level = Literal["fine", "look", "warning", "unchecked"]
LEVELS: tuple[Level, ...] = ("warning", "look", "fine", "unchecked")
"""By urgency; "unchecked" findings give the reason in their sentence."""


@dataclass(frozen=True)
class Finding:
    """`sentence` is for a person, `numbers` are plain values: numbers, names, lists of them, or None."""

    key: str
    level: Level
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.key.replace("_", " ")

    def to_dict(self) -> dict[str, Any]:
        return {"key": self.key, "level": self.level, "sentence": self.sentence, "numbers": dict(self.numbers)}


def unchecked(key: str, reason: str) -> Finding:
    """Return the finding of a check that could not be made."""
    return Finding(key, "unchecked", f"not checked: {reason}")


def at_most_look(level: Level, tolerated: bool) -> Level:
    """Return the level, lowered from "warning" to "look" if `tolerated`."""
    return "look" if tolerated and level == "warning" else level


class Caution(NamedTuple):
    """A reason to expect more wrong arrows than chance alone would give.

    key: that of the finding it comes from. sentence: what is the case, for a person. advice: what to do about it.
    doubt: the same in a few words, where it takes the ground from under a tested verdict. discounted: the share of the arrows that do not
    count as right for this reason.
    """

    key: str
    sentence: str
    advice: str
    doubt: str = ""
    discounted: float = 0.0
