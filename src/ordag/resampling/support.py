"""`Support`: the bootstrap support of every arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.common.markup import arrow, card, table
from ordag.common.plain import frame, records
from ordag.common.words import counted, number, percent
from ordag.errors import ColumnError
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.resampling.intervals import Intervals

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Support:
    """Shares are of the replicates that the learner did not refuse; matrices have i → j at [i, j].

    graph: what was learned from the data themselves.
    kind: "rows", "wishart" or "poisson".
    edge_support: the share of replicates with the arrow i → j.
    adjacency_support: the share in which i and j are joined, in either direction or without one.
    direction_support: of the replicates in which they are joined, the share with i → j (nan where they never are).
    precedes: the share in which i comes before j in the order (None for methods without an order).
    positions: the position of every variable in every replicate's order, counted from 0 (None likewise).
    weight_intervals, effect_intervals: intervals and medians of weights and total effects, zero being counted where a replicate has no
        arrow or path (None where graphs have undirected edges; effects also None where they would not fit in memory).
    path_intervals: those of the total effects over the replicates that have a path (None likewise).
    failed: how many replicates were refused, by reason, each in the words of its first case.
    mean_edges: the edges of a replicate's graph, on average. It exceeds that of the data's own graph: see docs/bootstrap.md.
    cause_support: the share of replicates with an arrow from each category that may be a cause, [c, j]; None without such categories.
    undecided: how many replicates have steps that float64 does not decide.
    entropy: what to give as `seed` to have the same samples again.
    """

    graph: Dag | Cpdag
    kind: str
    replicates: int
    level: float
    entropy: int | Sequence[int] | None
    edge_support: Array
    adjacency_support: Array
    direction_support: Array
    precedes: Array | None
    positions: NDArray[np.int32] | None
    weight_intervals: Intervals | None
    effect_intervals: Intervals | None
    path_intervals: Intervals | None
    failed: Mapping[str, int]
    undecided: int
    mean_edges: float
    cause_support: Array | None

    @property
    def names(self) -> tuple[str, ...]:
        return self.graph.nodes

    @property
    def completed(self) -> int:
        """The number of replicates behind the shares."""
        return self.replicates - sum(self.failed.values())

    def index(self, name: str) -> int:
        """Return the position of a variable in the matrices."""
        if name not in self.names:
            raise ColumnError(f"There is no variable {name!r}.")
        return self.names.index(name)

    def arrow_columns(self, source: NDArray[np.intp], target: NDArray[np.intp]) -> dict[str, Array]:
        """Return the columns of the bootstrap for a table of these arrows."""
        columns = {
            "support": self.edge_support[source, target],
            "adjacency_support": self.adjacency_support[source, target],
            "direction_support": self.direction_support[source, target],
        }
        for name, found in (("weight", self.weight_intervals), ("effect", self.effect_intervals)):
            if found is not None:
                columns[f"{name}_low"] = found.low[source, target]
                columns[f"{name}_median"] = found.median[source, target]
                columns[f"{name}_high"] = found.high[source, target]
        return columns

    @cached_property
    def edges(self) -> pd.DataFrame:
        """One row per arrow that any replicate has, the best supported first; `learned` if the data's own graph has it."""
        return self.edges_above(0.0)

    def edges_above(self, least: float) -> pd.DataFrame:
        """Return the arrows with at least this support, and those of the graph of the data."""
        return frame(self._columns(least))

    @cached_property
    def order_summary(self) -> pd.DataFrame | None:
        """One row per variable, by mean position (from 1): mean, low, median, high at `level`. None without an order."""
        columns = self._order_columns
        return None if columns is None else frame(columns)

    def to_dict(self, least: float = 0.05) -> dict[str, Any]:
        """Return plain values. Arrows with less support than `least` are left out unless the graph of the data has them."""
        order = self._order_columns
        return {
            "kind": self.kind,
            "replicates": self.replicates,
            "completed": self.completed,
            "failed": [{"reason": reason, "replicates": count} for reason, count in self.failed.items()],
            "undecided": self.undecided,
            "mean_edges": self.mean_edges,
            "learned_edges": self.graph.edge_count,
            "level": self.level,
            "seed": self.entropy,
            "edges": records(self._columns(least)),
            "order": None if order is None else records(order),
            "precedes": None if self.precedes is None else self.precedes.tolist(),
        }

    def _columns(self, least: float) -> dict[str, Any]:
        adjacency = self.graph.adjacency
        learned: Mask = adjacency & ~adjacency.T
        source, target = np.nonzero(learned | ((self.edge_support > 0) & (self.edge_support >= least)))
        best = np.argsort(-self.edge_support[source, target], kind="stable")
        source, target = source[best], target[best]
        return {
            "source": [self.names[i] for i in source],
            "target": [self.names[j] for j in target],
            "learned": learned[source, target].tolist(),
            **self.arrow_columns(source, target),
        }

    @cached_property
    def _order_columns(self) -> dict[str, Any] | None:
        if self.positions is None:
            return None
        positions = self.positions + 1.0
        tail = (1.0 - self.level) / 2.0
        mean = positions.mean(axis=0)
        low, median, high = np.quantile(positions, [tail, 0.5, 1.0 - tail], axis=0)
        first = np.argsort(mean, kind="stable")
        return {
            "node": [self.names[j] for j in first],
            "mean": mean[first],
            "low": low[first],
            "median": median[first],
            "high": high[first],
        }

    def _repr_html_(self) -> str:
        columns = self._columns(0.05)
        known = {"support": "support", "adjacency_support": "joined", "direction_support": "this way if joined"}
        shares = {title: [percent(value) for value in columns[key]] for key, title in known.items()}
        if "weight_low" in columns:
            ends = zip(columns["weight_low"], columns["weight_high"], strict=True)
            shares[f"weight, {self.level:.0%}"] = [f"{number(low, 2)} to {number(high, 2)}" for low, high in ends]
        shares["learned"] = ["yes" if one else "no" for one in columns["learned"]]
        arrows = (arrow(a, b) for a, b in zip(columns["source"], columns["target"], strict=True))
        rows = [list(row) for row in zip(arrows, *shares.values(), strict=True)]
        return card(repr(self), table(["arrow", *shares], rows, where=": see .edges"))

    def __repr__(self) -> str:
        failed = f", {self.replicates - self.completed} refused" if self.failed else ""
        adjacency = self.graph.adjacency
        learned: Mask = adjacency & ~adjacency.T
        sure = int((self.edge_support[learned] >= 0.9).sum())
        return (
            f"{type(self).__name__}({self.kind}, {counted(self.replicates, 'replicate')}{failed}: {sure} of "
            f"{counted(int(learned.sum()), 'arrow')} with support of at least 0.9; {self.mean_edges:.1f} edges on average, "
            f"{self.graph.edge_count} learned)"
        )
