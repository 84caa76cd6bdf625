"""Parents where regressions on all earlier variables are out of reach: the few that the order itself was found with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ordag.arrays import Mask
from ordag.knowledge.masks import Constraints
from ordag.model.refit import Refit
from ordag.order.ordering import Ordering


@dataclass(frozen=True, eq=False)
class SupportResult:
    """What there is to tell of a graph whose parents are the supports of its order.

    pairs: how many pairs of variables there are. split: the model of the graph fitted to rows that it
    was not learned from, where that was asked for: its tests are honest, those of the learned rows come after selection.
    """

    pairs: int
    split: Refit | None = None

    def details(self) -> dict[str, Any]:
        tests = "of other rows than the graph" if self.split is not None else "after selection"
        return {"p_values": tests}


def supported_graph(ordering: Ordering, known: Constraints | None) -> Mask:
    """The arrows from the support of every variable, within what is known."""
    assert ordering.support is not None
    p = len(ordering.order)
    adjacency = np.zeros((p, p), dtype=bool)
    for j, support in zip(ordering.order, ordering.support, strict=True):
        adjacency[support, j] = True
    return adjacency if known is None else adjacency & known.allowed | known.required
