"""`Result`: what a method knows beside its graph, and all that the rest of the package asks of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from ordag.common.arrays import Array, Indices
from ordag.graph.cpdag import Cpdag
from ordag.graph.graph import Graph
from ordag.graph.links import NO_LINKS, Links
from ordag.model.refit import Refit

Learned: TypeAlias = Any
"""The `Found` that a result belongs to, whose file imports this one."""


class Level(NamedTuple):
    """The threshold that decides which pairs are joined, and that a page can move.

    evidence: the kind of evidence that is compared with it. value: its present value, None where the graph was found another way.
    correction: how p-values are corrected for the number of `pairs` tested. complete: every pair with a p-value up to this, or a
    probability from this on, is known. learned_only: only pairs of the graph have evidence. stands_for: the level of the graph, or
    the one equivalent to its penalty. expected: the false edges to expect.
    """

    evidence: Literal["p_value", "q_value", "edge_probability"]
    value: float | None
    pairs: int
    complete: float
    correction: str = "none"
    learned_only: bool = True
    stands_for: float | None = None
    expected: float | None = None


class Unjoined(NamedTuple):
    """Pairs that a graph does not join, the likeliest first, in the direction and with the weight that they would have (nan if unknown)."""

    source: Indices
    target: Indices
    weight: Array


class Result:
    """What a method knows beside its graph. The defaults are those of a method that has a graph and nothing else.

    p_value_of: which tests the p-values of edges are from, where they are not t tests of the weights. by_probabilities: whether the
    arrows have probabilities, which then decide what is expected wrong; other methods forecast it.
    """

    p_value_of: ClassVar[str] = ""
    by_probabilities: ClassVar[bool] = False

    @property
    def spread(self) -> float:
        """The factor by which the error variances differ, by a score that compares them."""
        return math.nan

    @property
    def compares_variances(self) -> bool:
        """Whether the score compares error variances of different variables."""
        return False

    @property
    def with_hidden(self) -> Sequence[Any] | None:
        """The graph of the best score, and its changes by one hidden cause after the other; None where none are searched for."""
        return None

    @property
    def hidden_names(self) -> tuple[str, ...]:
        """The variables in the order in which `with_hidden` numbers them."""
        return ()

    def details(self) -> dict[str, Any]:
        """Return what else there is to know, in plain values, for `Fit.details`."""
        return {}

    def entries(self, found: Learned) -> dict[str, Any]:
        """Return the method's own entries of the JSON document."""
        return {}

    def evidence(self, found: Learned, source: Indices, target: Indices) -> dict[str, Array]:
        """Return the evidence for pairs of columns by its name, nan where a pair has none: p-values, q-values or probabilities."""
        fitted: Refit | None = found.refit
        return {} if fitted is None else {"p_value": fitted.p_values_of(source, target)}

    def unjoined(self, found: Learned, most: int) -> Unjoined:
        """Return the likeliest pairs that the graph does not join, where the method has evidence for such pairs."""
        none = np.empty(0, dtype=np.intp)
        return Unjoined(none, none, np.empty(0))

    def level(self, found: Learned) -> Level | None:
        """Return the threshold that decides which pairs are joined, None where there is none."""
        if found.refit is None or not found.graph.edge_count:
            return None
        return Level("p_value", None, math.comb(found.moments.p, 2), 1.0)

    def compelled(self, found: Learned) -> Links:
        """Return the arrows of an equivalence class that was found without using variances."""
        graph: Graph = found.graph if found.oriented is None else found.oriented.before
        return graph.arrows if isinstance(graph, Cpdag) else NO_LINKS

    def by_conditions(self, found: Learned) -> Links:
        """Return the arrows that experiments direct, or environments, and no class without them."""
        return NO_LINKS

    def remarks(self, found: Learned) -> Iterator[str]:
        """Yield warnings for readers of the graph that may take time to work out."""
        yield from ()

    def note(self, found: Learned) -> str:
        """Return a phrase on the false edges to expect, for the foot of an answer."""
        return ""

    def is_complete(self, found: Learned) -> bool:
        """Return whether nothing is left to work out that takes time."""
        return True

    def without_slow_parts(self, found: Learned) -> Learned:
        """Return the same without what takes time to work out."""
        return found

    def effects(self, found: Learned) -> Iterator[Array]:
        """Yield the total effects in every resample that the probabilities of arrows come from, of i on j at [i, j]."""
        yield from ()


GRAPH_ALONE = Result()
"""The result of a method that has a graph and nothing else."""
