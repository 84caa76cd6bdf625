"""`SelectedParents`: the result of a method that chooses parents among all earlier variables of an order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.common.arrays import Array, Indices
from ordag.graph.links import Links
from ordag.learners.result import Learned, Level, Result, Unjoined
from ordag.parents import PARENT_RULES
from ordag.parents.selection import Selection

if TYPE_CHECKING:
    from ordag.learners.found import Found


@dataclass(frozen=True, eq=False)
class SelectedParents(Result):
    """The choice of parents along the order of a fit, with the evidence for all pairs."""

    selection: Selection
    p_value_of = "given all earlier variables"

    def details(self) -> dict[str, Any]:
        return self.selection.details()

    def entries(self, found: Found) -> dict[str, Any]:
        return {"pairs_tested": self.selection.pairs, "expected_false_edges": self.selection.expected_false}

    def evidence(self, found: Found, source: Indices, target: Indices) -> dict[str, Array]:
        ends = np.argsort(found.column_order)[np.stack([source, target])]  # type: ignore[arg-type]
        return {"p_value": self.selection.p_values_of(ends.max(axis=0), ends.min(axis=0))}

    def unjoined(self, found: Found, most: int) -> Unjoined:
        if found.ordering is not None and found.ordering.parent_sets is not None:
            return super().unjoined(found, most)
        order = np.array(found.column_order)
        later, earlier = least_p_values(self.selection, found.graph.links.renamed(np.argsort(order)), most)
        weight = np.full(len(later), math.nan)
        if found.factor is not None:
            with np.errstate(invalid="ignore", divide="ignore"):
                weight = -found.factor.W_at(later, earlier) / found.factor.W_diagonal[later]
        return Unjoined(order[earlier], order[later], weight)

    def level(self, found: Found) -> Level:
        rule = found.method_settings.edge_rule
        tested = rule["rule"] == "test"
        alpha = rule["alpha"] if tested else None
        known = math.nan if alpha is not None else self.selection.level
        return Level(
            "p_value",
            alpha,
            self.selection.pairs,
            1.0,
            correction=rule["correction"] if tested else "none",
            learned_only=False,
            stands_for=alpha if math.isnan(known) else known,
            expected=self.selection.expected_false,
        )

    def remarks(self, found: Found) -> Iterator[str]:
        """Yield a warning where many of the edges are expected to be false."""
        selection, rule = self.selection, found.method_settings.edge_rule
        count = selection.edge_count
        if rule.get("correction", "none") != "none" or not selection.expected_false > 0.1 * max(count, 1):
            return
        were = f"{count} {'edge was' if count == 1 else 'edges were'} found"
        if rule["rule"] == "test":
            yield (
                f"At this level about {selection.expected_in_words} false edges are expected among {selection.pairs:,} pairs "
                f"tested, and {were}: control the false-discovery rate of edges with correction='bh' (--correction bh)."
            )
        else:
            yield (
                f"{PARENT_RULES[rule['rule']].title} lets about {selection.expected_in_words} false edges through among "
                f"{selection.pairs:,} pairs, and {were}: use tests with correction='bh' (--correction bh) instead."
            )

    def note(self, found: Found) -> str:
        if math.isnan(self.selection.expected_false):
            return ""
        noun = "edge" if self.selection.expected_false == 1 else "edges"
        return f"about {self.selection.expected_in_words} false {noun} expected {self.selection.grounds}"

    def is_complete(self, found: Found) -> bool:
        return self.selection.is_counted

    def without_slow_parts(self, found: Learned) -> Learned:
        return replace(found, result=SelectedParents(replace(self.selection, expected=math.nan)))


def least_p_values(selection: Selection, joined: Links, most: int) -> tuple[Indices, Indices]:
    """Return the positions, later and earlier, of the absent pairs with the least p-values, holding few pairs at a time."""
    high, low = np.maximum(joined.source, joined.target), np.minimum(joined.source, joined.target)
    taken = np.append(np.sort(high * joined.p + low), -1)
    ends, values, worst = np.empty((2, 0), dtype=np.intp), np.empty(0), [1.0]
    for later, earlier, p_values in selection.up_to(worst):
        pairs = later * joined.p + earlier
        free = taken[np.searchsorted(taken[:-1], pairs)] != pairs
        ends = np.concatenate([ends, np.stack([later[free], earlier[free]])], axis=1)
        values = np.concatenate([values, p_values[free]])
        if len(values) > 2 * most:
            best = np.lexsort((*ends[::-1], values))[:most]
            ends, values = ends[:, best], values[best]
            worst[:] = [float(values[-1])]
    best = np.lexsort((*ends[::-1], values))[:most]
    return ends[0, best], ends[1, best]
