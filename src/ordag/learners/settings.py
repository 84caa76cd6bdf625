"""`MethodSettings`: what the settings of all methods have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ordag.checks import as_number, short
from ordag.errors import SettingError
from ordag.knowledge.knowledge import Knowledge
from ordag.settings import Settings, setting, whole


def _min_effect(name: str, value: Any) -> float | None:
    if value is None:
        return None
    number = as_number(value)
    if not 0.0 <= number < 1.0:
        raise SettingError(
            f"{name}={short(value)}: the standardised effect below which edges are left out is a number from 0 on "
            "and below 1; 0.1 is a usual one, 0 leaves none out."
        )
    return number


@dataclass(frozen=True, kw_only=True)
class MethodSettings(Settings):
    """The settings that every method has.

    name: what the method is called. about: a phrase on it, for help texts. seconds: what it takes for a table of p columns, over
    (p + 10)², roughly: forecasts and intervals stay near a second by it.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    seconds: ClassVar[float]

    knowledge: Knowledge | Mapping[str, Any] | str | PathLike[str] | None = setting(
        None,
        lambda _, value: None if value is None else Knowledge.of(value),
        "a file of what is known beforehand: tiers, required and forbidden arrows, roots, sinks",
        typed=Path,
        plain=lambda value: None if value is None else value.to_dict(),
    )
    min_effect: float | None = setting(
        None,
        _min_effect,
        "leave out edges whose standardised effect, |weight| · sd(source)/sd(target), is smaller: 0.1, say",
        typed=float,
    )

    def plain(self) -> dict[str, Any]:
        said = super().plain()
        for name in ("knowledge", "min_effect"):
            value = said.pop(name)
            if value is not None and value != 0.0:
                said[name] = value
        return said

    def reseeded(self, random: np.random.Generator) -> Self:
        """The same settings with other random numbers, where there are any."""
        changed: dict[str, Any] = {"seed": random} if hasattr(self, "seed") else {}
        return replace(self, **changed)

    def hurried(self) -> Self:
        """The same settings with less search, for learning again and again."""
        return self


def kicks(help: str) -> Any:
    """Restarts from disturbed graphs; chosen by the search if not given."""
    return whole(0, "how many fruitless kicks end the search is a whole number, 0 for no kick", help)
