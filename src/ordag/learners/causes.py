"""Arrows from categories to variables, beside the graph over the variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Mask
from ordag.common.bits import members, packed_columns
from ordag.common.words import listed
from ordag.data.causes import BlockTest, Categories
from ordag.data.equations import Equations
from ordag.data.moments import Moments
from ordag.errors import SettingError
from ordag.graph.dag import Dag
from ordag.graph.graph import Graph
from ordag.knowledge.knowledge import Knowledge
from ordag.knowledge.masks import Constraints


class CauseRules(NamedTuple):
    """The arrows from categories to variables, [c, j], that knowledge allows, and those that it requires."""

    allowed: Mask
    required: Mask

    def ordered(self, order: Sequence[int]) -> CauseRules:
        """Return the same with the variables in another order."""
        return CauseRules(self.allowed[:, order], self.required[:, order])


@dataclass(frozen=True, eq=False)
class FoundCauses:
    """The arrows from categories that were found, [c, j], over the columns of a table.

    all_earlier: they were tested given all earlier variables and all other categories, else given the parents and categories of each.
    """

    categories: Categories
    arrows: Mask
    all_earlier: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the categories."""
        return self.categories.names

    @property
    def ends(self) -> list[tuple[int, int]]:
        """The category and the variable of every arrow."""
        return [(int(c), int(j)) for c, j in np.argwhere(self.arrows)]

    def sets(self) -> list[int]:
        """Return the categories of every variable, as bitmasks."""
        return packed_columns(self.arrows)

    def equations(self, names: Sequence[str]) -> Equations:
        """Return the moments that the equations of the variables are fitted to, within their categories."""
        return equations_within(self.categories, names, self.sets(), counted=True)

    def test(self, category: int, j: int, graph: Graph, order: Sequence[int] | None) -> BlockTest:
        """Test one arrow: whether the category explains anything beyond the variable's parents and its other categories."""
        if self.all_earlier and order is not None:
            earlier = list(order[: list(order).index(j)])
            return self.categories.test(category, j, earlier, range(len(self.names)))
        parents = np.flatnonzero(graph.adjacency[:, j]).tolist()
        return self.categories.test(category, j, parents, np.flatnonzero(self.arrows[:, j]).tolist())

    def bic(self, graph: Graph) -> float:
        """Return the Gaussian BIC of a graph with these arrows, whose price goes by the columns of their categories."""
        categories, n, total, columns = self.categories, self.categories.n, 0.0, graph.edge_count
        for j, parents in enumerate(packed_columns(graph.adjacency)):
            chosen = np.flatnonzero(self.arrows[:, j]).tolist()
            total += n * math.log(categories.rss(j, members(parents), chosen) / n)
            columns += len(categories.columns(chosen))
        return total + math.log(n) * columns

    def whole_graph(self, graph: Graph) -> Dag:
        """Return the graph with the categories as further nodes, behind the variables."""
        p, count = len(graph.nodes), len(self.names)
        adjacency = np.zeros((p + count, p + count), dtype=bool)
        adjacency[:p, :p] = graph.adjacency
        adjacency[p:, :p] = self.arrows
        return Dag.known_acyclic((*graph.nodes, *self.names), adjacency)


def equations_within(
    categories: Categories, names: Sequence[str], sets: Sequence[int], *, counted: bool = False
) -> Equations:
    """Return the moments that each equation is fitted to: what its categories, given as bitmasks, leave of the rows.

    counted: take a row for each of their columns from n, as tests do; the price of an arrow counts them in a search.
    """
    every = list(dict.fromkeys(sets))
    mean = categories.root.mean[categories.width :]
    distinct = []
    for one in every:
        chosen = members(one)
        n = categories.n - (len(categories.columns(chosen)) if counted else 0)
        distinct.append(Moments(n, mean, names, R=categories.left(chosen)))
    which = tuple(every.index(one) for one in sets)
    return Equations(tuple(distinct), which, np.zeros((len(every), 1), np.intp))


def causes_mask(sets: Sequence[int], count: int) -> Mask:
    """Return sets of categories as a mask, [c, j]."""
    return np.array([[bool(one >> c & 1) for one in sets] for c in range(count)]).reshape(count, len(sets))


def within_all(moments: Moments, categories: Categories) -> Moments:
    """Return the moments of the variables within all categories."""
    every = range(len(categories.names))
    n = categories.n - len(categories.columns(every))
    adjusted_for = (*moments.adjusted_for, *categories.root.covariates)
    return Moments(
        n, moments.mean, moments.names, R=categories.left(every), rows=moments.rows, adjusted_for=adjusted_for
    )


def free_rules(categories: Categories) -> CauseRules:
    """Return rules that leave every arrow open."""
    return _free(len(categories.names), categories.p)


def _free(count: int, p: int) -> CauseRules:
    return CauseRules(np.ones((count, p), dtype=bool), np.zeros((count, p), dtype=bool))


def rules_of(
    knowledge: Knowledge | None, names: Sequence[str], causes: Sequence[str]
) -> tuple[Constraints | None, CauseRules]:
    """Return the constraints over the variables, and those on arrows from categories, which have no causes."""
    p, count = len(names), len(causes)
    if knowledge is None:
        return None, _free(count, p)
    whole = knowledge.over((*names, *causes))
    wrong = [name for c, name in enumerate(causes) if whole.required[:, p + c].any()]
    if wrong:
        raise SettingError(
            f"The knowledge requires an arrow into {listed(wrong)}, which is a category and has no causes in the graph: leave that "
            "out, or leave it out of cause.",
            ["knowledge", "cause"],
        )
    own = Constraints(
        tuple(names), whole.allowed[:p, :p], whole.required[:p, :p], whole.before[:p, :p], knowledge.to_dict()
    )
    return own, CauseRules(whole.allowed[p:, :p], whole.required[p:, :p])


def without_names(knowledge: object, names: Sequence[str]) -> Knowledge | None:
    """Return knowledge without what it says of these names."""
    if not isinstance(knowledge, Knowledge):
        return None
    said: dict[str, Any] = {"tiers": [[one for one in tier if one not in names] for tier in knowledge.tiers]}
    said["tiers"] = [tier for tier in said["tiers"] if tier]
    for key in ("required", "forbidden"):
        said[key] = [edge for edge in getattr(knowledge, key) if not set(edge) & set(names)]
    for key in ("roots", "sinks"):
        said[key] = [name for name in getattr(knowledge, key) if name not in names]
    return Knowledge(**said)


def by_tests(
    categories: Categories, graph: Graph, order: Sequence[int], rules: CauseRules, *, alpha: float | None
) -> Mask:
    """Return the arrows from categories along an order: tests given all earlier variables and the other categories at this level.

    Without a level a category enters where that lowers BIC.
    """
    count, every = len(categories.names), range(len(categories.names))
    arrows = rules.required.copy()
    for place, j in enumerate(order):
        earlier = list(order[:place])
        if alpha is None:
            earlier = np.flatnonzero(graph.adjacency[:, j]).tolist()
        for c in range(count):
            if arrows[c, j] or not rules.allowed[c, j]:
                continue
            if alpha is not None:
                arrows[c, j] = categories.test(c, j, earlier, every).p_value <= alpha
            else:
                others = set(every) - {c}
                gain = math.log(categories.rss(j, earlier, others) / categories.rss(j, earlier, every))
                arrows[c, j] = categories.n * gain > categories.sizes[c] * math.log(categories.n)
    return arrows
