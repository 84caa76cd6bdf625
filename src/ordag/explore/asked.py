"""`Asked`: a state with the table that it speaks of. `Search`: how to learn from that, and whether it takes long."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ordag.data.table import Table
from ordag.evidence.forecast import BY_TESTS
from ordag.explore.state import State
from ordag.explore.tables import Held
from ordag.fit import Fit
from ordag.learners.cvs import CvsSettings
from ordag.learners.found import Found
from ordag.learners.methods import with_quick_warnings
from ordag.learners.settings import MethodSettings
from ordag.show.provenance import Origin

QUICK = 0.3
"""Seconds up to which a thread learns; what takes longer must be there to be stopped."""

FEW = 8
"""Variables up to which no search takes long."""


@dataclass(frozen=True)
class Asked:
    """A state with the table that it speaks of."""

    held: Held
    state: State

    @property
    def key(self) -> tuple[str, str]:
        return self.held.id, self.state.key

    @property
    def origin(self) -> Origin:
        held = self.held
        reading = {**held.reading, **self._changes}
        return Origin(held.origin, reading, digest=(held.digest, held.digest_of))

    @property
    def call(self) -> dict[str, Any]:
        """The call of `learn` that gives this answer."""
        return {
            "data": self.held.data,
            "method": self.state.method,
            **self.held.reading,
            **self._changes,
            **self.state.asked,
        }

    @property
    def _changes(self) -> dict[str, Any]:
        state = self.state
        columns = {} if state.columns is None else {"columns": list(state.columns)}
        return columns | ({"transform": dict(state.transform)} if state.transform else {})


@dataclass(frozen=True)
class Search:
    """A table and how to learn from it."""

    table: Table
    recipe: MethodSettings

    @property
    def is_quick(self) -> bool:
        """Whether a thread may learn, which nobody can stop: what has no bounds on its time is for a process."""
        recipe, p = self.recipe, len(self.table.names)
        if recipe.needs_rows:
            return False
        if not isinstance(recipe, CvsSettings):
            return p <= FEW and not recipe.has_probabilities
        if recipe.variance not in (None, "least-squares"):
            return False
        return (BY_TESTS if recipe.parents == "test" else recipe.seconds) * (p + 10.0) ** 2 <= QUICK

    def fit(self, found: Found) -> Fit:
        """What was found in the moments of the table."""
        said = replace(found, profile=self.table.profile, transform=self.table.transform)
        return Fit.of(with_quick_warnings(said))
