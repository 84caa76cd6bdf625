"""`MethodSettings`: the settings that all methods have, and those that several have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from ordag.common.checks import as_number, short
from ordag.common.settings import Settings, choice, level, setting, whole
from ordag.data.table_checks import LeastRows, least_squares_rows
from ordag.errors import SettingError
from ordag.knowledge.knowledge import Knowledge, KnowledgeLike
from ordag.learners.orient import WAYS
from ordag.learners.result import Learned
from ordag.parents import ROW_TESTS, TESTS, row_test
from ordag.parents.tests import named_test


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


SECONDS_SPARSE = 4e-5
"""Seconds over p² for an order with few parents."""


@dataclass(frozen=True, kw_only=True)
class MethodSettings(Settings):
    """The settings that every method has.

    name: what the method is called. about: a phrase on it, for help texts. seconds: what it takes for a table of p columns, over
    (p + 10)², roughly: forecasts and intervals stay near a second by it.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    seconds: ClassVar[float]

    knowledge: KnowledgeLike | None = setting(
        None,
        lambda _, value: None if value is None else Knowledge.of(value),
        "a file with background knowledge: tiers, required and forbidden arrows, roots, sinks",
        typed=Path,
        plain=lambda value: None if value is None else value.to_dict(),
    )
    min_effect: float | None = setting(
        None,
        _min_effect,
        "leave out edges whose standardised effect, |weight| · sd(source)/sd(target), is smaller than this, such as 0.1",
        typed=float,
        least=0.0,
        most=1.0,
    )

    def plain(self) -> dict[str, Any]:
        said = super().plain()
        for name in ("knowledge", "min_effect"):
            value = said.pop(name)
            if value is not None and value != 0.0:
                said[name] = value
        return said

    is_slow: ClassVar[bool] = False
    """Whether a search takes so long that it is repeated less often."""

    rests_on_condition: ClassVar[bool] = True
    """Whether its directions rest on the condition of Park & Kim's Theorem 2.2."""

    takes_experiments: ClassVar[bool] = False
    """Whether rows in which a variable was acted on are left out of its equation."""

    rests_on: ClassVar[str] = (
        "This method takes the variable with the least variance, given those before it, to come next, and variances are in squared "
        "units of their columns: a column in smaller units has larger numbers, and goes towards the end."
    )
    """What a change of units can do to its graph, in a sentence."""

    edge_rule: ClassVar[Mapping[str, Any]] = {"rule": "adaptive"}
    """How it chooses parents along a given order: keywords of `parents.select`."""

    @property
    def least_rows(self) -> LeastRows | None:
        """From the number of columns to the rows that they need; None where the search itself refuses too few."""
        return least_squares_rows

    def cost(self, p: int, *, sparse: bool = False) -> float:
        """Return about how many seconds it takes to learn from p columns once more; `sparse`: along an order with few parents."""
        return SECONDS_SPARSE * p**2 if sparse else self.seconds * (p + 10.0) ** 2

    @property
    def is_bounded(self) -> bool | None:
        """Whether `cost` bounds the time of a search; None for searches that are quick for few columns only."""
        return None

    def usual_replicates(self, p: int) -> int:
        """Return how many resamples take a second or two."""
        return 200 if not self.is_slow else 100 if p <= 10 else 40

    def declared(self, same_units: bool, groups: Sequence[Sequence[str]] | None) -> Self:
        """Return the same settings with what is known of the units of columns, where the method uses it."""
        return self

    @property
    def declared_units(self) -> tuple[bool | None, Sequence[Sequence[str]] | None]:
        """Whether all columns share a unit, and the groups that do, as far as the settings declare them."""
        return None, None

    def reversed(self) -> Self | str:
        """Return the settings that choose the order from the other end, or why there are none."""
        return f"{self.name} does not choose an order step by step."

    @property
    def needs_rows(self) -> bool:
        """Whether moments alone will not do."""
        return False

    @property
    def linear(self) -> bool:
        """Whether the equations are linear, so that moments tell all there is."""
        return True

    def reseeded(self, random: np.random.Generator) -> Self:
        """Return the same settings for the moments of another sample, with other random numbers where there are any."""
        changed: dict[str, Any] = {"seed": random} if hasattr(self, "seed") else {}
        return replace(self.alone(), **changed)

    def finished(self, found: Learned) -> Learned:
        """Return what was found with what takes the sample of its rows as well."""
        return found

    def alone(self) -> Self:
        """Return the same settings without the steps that `learn` adds after the search."""
        return self

    def hurried(self) -> Self:
        """Return the same settings with a shorter search, for repeated learning."""
        return self

    @property
    def has_probabilities(self) -> bool:
        """Whether `learn` goes on from the graph to the probabilities of arrows, which take a second or two."""
        return False


Penalty: TypeAlias = float | str
"""A factor of BIC's penalty, or one of `PENALTIES`."""

PENALTIES = ("bic", "ebic", "adaptive")


def level_of_tests() -> Any:
    """Return the setting `alpha`."""
    return setting(0.01, level, "level of the tests, between 0 and 1", typed=float, least=0.0, most=1.0)


def edge_test(*, rows: bool = False) -> Any:
    """Return the setting `test`: a name, or a function (r, n, k) → p-values; with `rows` also one (x, y, Z) → p-value, or None."""

    def check(_: str, value: Any) -> Any:
        if rows and (value is None or row_test(value) is not None):
            return value
        named_test(value)
        return value

    return choice(
        None if rows else "fisher-z",
        (*TESTS, *ROW_TESTS) if rows else TESTS,
        "test of zero partial correlation"
        + (
            ", or of independence computed from the rows; default fisher-z, or the test of the estimator"
            if rows
            else ""
        ),
        check=check,
        plain=lambda value: value if value is None or isinstance(value, str) else getattr(value, "__name__", "custom"),
    )


def penalty_of_edges(wanted: str, *, none: bool) -> Any:
    """Return the setting `penalty`; `none` allows 0, and `wanted` describes the numbers allowed."""

    def check(name: str, value: Any) -> Penalty:
        if isinstance(value, str) and value in PENALTIES:
            return value
        number = as_number(value)
        if math.isnan(number):
            raise SettingError(
                f"{name}={short(value)} is not known: use 'bic', 'ebic', 'adaptive', or a factor of BIC's penalty."
            )
        if not 0.0 <= number < math.inf or (number == 0.0 and not none):
            raise SettingError(f"{name}={short(value)}: {wanted}.")
        return number

    help = "bic, ebic, adaptive (an edge prior), or a factor of BIC's penalty"
    return setting(1.0, check, help, typed=penalty_from_text)


def penalty_from_text(text: str) -> Penalty:
    """Parse the name of a penalty, or a number."""
    if text in PENALTIES:
        return text
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"{text!r} is neither bic, ebic, adaptive nor a number.") from None


def way_to_direct() -> Any:
    """Return the setting `orient_by_order`."""
    help = "direct the edges along the order of cvs: only those that the class leaves open (class), or all of them (skeleton)"
    return choice(None, WAYS, help, bare="class")


def kicks(help: str) -> Any:
    """Restarts from disturbed graphs; chosen by the search if not given."""
    return whole(
        0, "the number of kicks without improvement that end the search is a whole number, 0 for no kick", help
    )
