"""`View`: the part of a fit that every drawing is made from, in plain columns.

Its pairs of variables are those that the graph joins and the likeliest of the others, with their evidence, so that a page can move the
level of the tests without learning again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.common.words import shown
from ordag.evidence.arrows import arrow_reasons, edge_p_values
from ordag.evidence.hidden_causes import may_be_hidden
from ordag.graph.links import Links
from ordag.learners.sparse_parents import SparseParents, discovery_rates
from ordag.parents.selection import Selection
from ordag.picture.layout import Layout, sequence
from ordag.picture.scene import place

if TYPE_CHECKING:
    from ordag.fit import Fit

MOST_PAIRS = 5000
"""Most pairs to keep that the graph does not join."""

MAX_PLACED_VARIABLES = 300
"""Variables up to which the whole graph is laid out."""

NEAR_TIE = 0.05
"""The p-value above which a direction rests on a near-tie."""

LEAST_EDGE_PROBABILITY = 0.01
"""The probability of an edge below which a pair that the graph does not join is left out."""

Look = Literal["graph", "matrix", "neighbourhood"]
Kind = Literal["arrow", "line", "absent"]
Evidence = Literal["p_value", "q_value", "edge_probability"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """One entry per pair of variables, which are column numbers; nan where a value is unknown.

    kind: "arrow" or "line" of the graph; "absent" pairs are not in it, and have the direction that they would have.
    weight, std_error: of the fitted model; for an absent pair, of the regression on all earlier variables.
    robustness: what a hidden common cause would have to explain to reduce the weight to zero (`ordag.model.refit.robustness_value`).
    standardised: the weight in standard deviations of both ends.
    p_value, q_value, edge_probability: the evidence for the edge. direction_p_value, probability: the evidence for the arrow.
    support, direction_support: shares of the resamples. low, high: the interval of the weight, at the level of the resamples or 95 %.
    reason: what directs the arrow (`Fit.edges`), or "hidden" where a hidden common cause could explain it.
    tied: whether the direction rests on a near-tie or is open.
    strength: how sure the edge is, from 0 to 1; drawings use it as opacity.
    """

    source: NDArray[np.intp]
    target: NDArray[np.intp]
    kind: list[Kind]
    weight: Array
    std_error: Array
    robustness: Array
    standardised: Array
    p_value: Array
    q_value: Array
    direction_p_value: Array
    edge_probability: Array
    probability: Array
    support: Array
    direction_support: Array
    low: Array
    high: Array
    reason: list[str]
    tied: Mask
    strength: Array

    def __len__(self) -> int:
        return len(self.source)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain values of four digits, without columns that are all unknown."""
        columns: dict[str, Any] = {}
        for name, values in vars(self).items():
            if isinstance(values, np.ndarray) and values.dtype.kind == "f":
                if not np.isnan(values).all():
                    columns[name] = [None if math.isnan(value) else float(f"{value:.4g}") for value in values.tolist()]
            else:
                columns[name] = values.tolist() if isinstance(values, np.ndarray) else list(values)
        return columns


@dataclass(frozen=True)
class Level:
    """The threshold that decides which pairs are joined, and that a page can move.

    evidence: the column of `Pairs` that is compared with it. value: its present value, None where the graph was found another way.
    correction: how p-values are corrected for the number of `pairs` tested. complete: every pair with a p-value up to this, or a
    probability from this on, is in the document. learned_only: only pairs of the graph have evidence.
    """

    evidence: Evidence
    value: float | None
    correction: str
    pairs: int
    complete: float
    learned_only: bool


@dataclass(frozen=True)
class View:
    """A fit, ready to be drawn, with at most `most_pairs` pairs that the graph does not join."""

    fit: Fit
    most_pairs: int = MOST_PAIRS

    @cached_property
    def names(self) -> list[str]:
        """The names as text that is safe to show."""
        return [shown(name) for name in self.fit.names]

    @cached_property
    def order(self) -> list[int]:
        """Column numbers, causes first; for a class of graphs along its arrows."""
        if self.fit.places is not None:
            return list(self.fit.places)
        return sequence(self.fit.graph.adjacency)

    @cached_property
    def layout(self) -> Layout | None:
        """Positions in layers, causes above effects, and the points that edges pass; None beyond `MAX_PLACED_VARIABLES`."""
        if len(self.names) > MAX_PLACED_VARIABLES:
            return None
        return place(self.fit.names, self.fit.graph.adjacency, self.fit.places)

    @property
    def first_look(self) -> Look:
        """The kind of picture that suits the graph: layers, a matrix if it is dense, one variable at a time if it is large."""
        p = len(self.names)
        return "neighbourhood" if p > 60 else "matrix" if self.fit.graph.edge_count > max(2.5 * p, 12) else "graph"

    @cached_property
    def pairs(self) -> Pairs:
        return _pairs(self.fit, self.most_pairs)

    @cached_property
    def level(self) -> Level | None:
        return _level(self.fit, self.pairs, self.most_pairs)


def _ends(fit: Fit, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp], list[Kind]]:
    """Return the arrows of the graph along the order, then its lines, then the likeliest absent pairs."""
    place = np.argsort(fit.places or range(len(fit.names)))
    lines = fit.graph.lines
    parts: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    for links in (fit.graph.arrows, lines.where(lines.source < lines.target)):
        by_place = np.lexsort((place[links.target], place[links.source]))
        parts.append((links.source[by_place], links.target[by_place]))
    parts.append(_absent(fit, most))
    source, target = (np.concatenate([part[end] for part in parts]) for end in (0, 1))
    looks: tuple[Kind, ...] = ("arrow", "line", "absent")
    kinds = [kind for kind, part in zip(looks, parts, strict=True) for _ in part[0]]
    return source, target, kinds


def _absent(fit: Fit, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the likeliest pairs that the graph does not join, as arrows: by probability, or by p-value along the order."""
    if fit.probabilities is not None:
        free = ~fit.graph.skeleton
        likely = np.where(free & (fit.probabilities.joined >= LEAST_EDGE_PROBABILITY), fit.probabilities.arrows, -1.0)
        i, j = np.nonzero(
            (likely > likely.T) | ((likely == likely.T) & (likely >= 0) & np.tri(len(likely), dtype=bool).T)
        )
        best = np.argsort(-likely[i, j], kind="stable")[:most]
        return i[best], j[best]
    if fit.selection is None or fit.ordering is None or fit.ordering.parent_sets is not None:
        none = np.empty(0, dtype=np.intp)
        return none, none
    order = fit.ordering.order
    later, earlier = _least_p_values(fit.selection, fit.graph.links.renamed(np.argsort(order)), most)
    return order[earlier], order[later]


def _least_p_values(selection: Selection, joined: Links, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
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


def _pairs(fit: Fit, most: int) -> Pairs:
    source, target, kinds = _ends(fit, most)
    count = len(source)
    place = np.argsort(fit.places or range(len(fit.names)))
    ends = place[source], place[target]
    earlier, later = np.minimum(*ends), np.maximum(*ends)
    present = np.array([kind != "absent" for kind in kinds], dtype=bool)
    unknown = np.full(count, math.nan)
    weight, std_error, robustness = unknown.copy(), unknown.copy(), unknown.copy()
    p_value, q_value, direction = unknown.copy(), unknown.copy(), unknown.copy()
    if fit.refit is not None:
        weight[present], std_error[present] = fit.refit.weights_of(source[present], target[present])
        robustness[present] = fit.refit.robustness_of(source[present], target[present])
    known = np.ones(count, dtype=bool) if fit.selection is not None else present
    tested = edge_p_values(fit, source[known], target[known])
    if tested is not None:
        p_value[known] = tested
    if isinstance(fit.result, SparseParents):
        q_value[present] = discovery_rates(p_value[present], fit.result.pairs)
    factor = None if fit.ordering is None else fit.ordering.factor
    if fit.ordering is not None and factor is not None:
        direction = fit.ordering.direction_p_values(earlier, later)
        if fit.selection is not None:
            with np.errstate(invalid="ignore", divide="ignore"):
                given_all = -factor.W_at(later, earlier) / factor.W_diagonal[later]
            weight = np.where(present, weight, given_all)
    edge_probability, probability = unknown, unknown
    if fit.probabilities is not None:
        edge_probability, probability = (
            fit.probabilities.joined[source, target],
            fit.probabilities.arrows[source, target],
        )
    support, turned, low, high = unknown, unknown, weight - 1.96 * std_error, weight + 1.96 * std_error
    if fit.support is not None:
        columns = fit.support.arrow_columns(source, target)
        support, turned = columns["support"], columns["direction_support"]
        low, high = columns.get("weight_low", low), columns.get("weight_high", high)
        lines = np.array([kind == "line" for kind in kinds], dtype=bool)
        support = np.where(lines, columns["adjacency_support"], support)
    reason = arrow_reasons(fit, source, target)
    if fit.probabilities is not None:
        hidden = may_be_hidden(fit)[source, target]
        reason = ["hidden" if by_hidden else one for one, by_hidden in zip(reason, hidden, strict=True)]
    tied = np.where(np.isnan(direction), np.isin(np.array(reason), ["open", "hidden"]), direction > NEAR_TIE)
    tied &= ~np.isin(np.array(reason), ["knowledge", "class"])
    spread = fit.moments.spread
    return Pairs(
        source, target, kinds, weight, std_error, robustness, weight * spread[source] / spread[target], p_value, q_value,
        direction, edge_probability, probability, support, turned, low, high, reason, np.asarray(tied, dtype=bool),
        _strength(support, edge_probability, p_value),
    )  # fmt: skip


def _strength(support: Array, probability: Array, p_value: Array) -> Array:
    """Return the support of an edge, or its probability, or else 1 up to p = 1e-6, falling with log p to 0.3 at 0.05 and 0 at 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        by_test = np.interp(np.log10(np.maximum(p_value, 1e-300)), [-6.0, math.log10(0.05), 0.0], [1.0, 0.3, 0.0])
    known = np.where(np.isnan(p_value), 1.0, by_test)
    return np.where(np.isnan(support), np.where(np.isnan(probability), known, probability), support)


def _level(fit: Fit, pairs: Pairs, most_pairs: int) -> Level | None:
    total = math.comb(len(fit.names), 2)
    absent = np.array([kind == "absent" for kind in pairs.kind], dtype=bool)
    cut = int(absent.sum()) >= most_pairs
    if fit.probabilities is not None:
        least = float(pairs.edge_probability[absent].min()) if cut else LEAST_EDGE_PROBABILITY
        return Level("edge_probability", None, "none", total, least, False)
    alpha = fit.settings.get("alpha")
    if isinstance(fit.result, SparseParents):
        return Level("q_value", alpha, "bh", total, float(alpha or 0.0), True)
    if fit.selection is not None:
        most = float(pairs.p_value[absent].max()) if cut else 1.0
        by_test = fit.settings.get("parents") == "test"
        return Level("p_value", alpha if by_test else None, str(fit.settings.get("correction", "none")) if by_test else "none",
                     fit.selection.pairs, most, False)  # fmt: skip
    if len(pairs) and not np.isnan(pairs.p_value).all():
        return Level(
            "p_value", alpha if fit.pair_p_values is not None else None, "none", total, float(alpha or 1.0), True
        )
    return None
