"""`View`: what a picture, a page or a workbench shows of a fit, in plain columns. Every drawing is made from it, whatever it is drawn with.

Pairs of variables are those that the graph joins, and those that another level would join: their evidence is there too, so that a
page can move the level without learning again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.evidence.arrows import arrow_reasons, edge_p_values
from ordag.evidence.hidden_causes import may_be_hidden
from ordag.graph.links import Links
from ordag.learners.sparse_parents import SparseParents, discovery_rates
from ordag.parents.selection import Selection
from ordag.picture.layout import Layout, sequence
from ordag.picture.scene import place
from ordag.words import shown

if TYPE_CHECKING:
    from ordag.fit import Fit

MOST_PAIRS = 5000
"""Pairs that no graph joins to hold beside those of the graph: the likeliest."""

MOST_PLACED = 300
"""Variables up to which a picture of the whole graph has places for them."""

NEAR_TIE = 0.05
"""The p-value of a direction above which it rests on a near-tie."""

IMPROBABLE = 0.01
"""The probability of an edge below which a pair is not worth a place in a document."""

Look = Literal["graph", "matrix", "neighbourhood"]
Kind = Literal["arrow", "line", "absent"]
Evidence = Literal["p_value", "q_value", "edge_probability"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """One entry per pair of variables, by column numbers; nan where something is not known.

    kind: "arrow" or "line" of the graph; "absent" pairs are not joined by it, and have the direction that they would have.
    weight, std_error: those of the fitted model; of an absent pair, of the regression on all earlier variables.
    robustness: what a hidden common cause would have to explain to bring the weight of an arrow to zero (`ordag.model.robustness`).
    standardised: the weight in standard deviations of both ends.
    p_value, q_value, edge_probability: the evidence for an edge. direction_p_value, probability: that for the arrow.
    support, direction_support, low, high: what resamples say, and the interval of the weight (of the level of the resamples, or 95 %).
    reason: what directs an arrow (`Fit.edges`), or "hidden" where a hidden common cause could explain it.
    tied: whether its direction rests on a near-tie, or is open.
    strength: from 0 to 1, how sure the edge is: what a drawing makes its opacity of.
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
        """The columns in plain values of four digits; those without any value are left out."""
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
    """What decides which pairs are joined, for somebody who would like to move it.

    evidence: the column of `Pairs` that it is compared with. value: where it stands, None where the graph was found otherwise.
    correction: how p-values are corrected for the number of `pairs` tested. complete: every pair whose p-value is no larger, or
    whose probability is no smaller, is in the document. learned_only: only pairs of the graph have evidence.
    """

    evidence: Evidence
    value: float | None
    correction: str
    pairs: int
    complete: float
    learned_only: bool


@dataclass(frozen=True)
class View:
    """A fit, ready to be drawn.

    most_pairs: how many pairs to hold, at most, that the graph does not join: the likeliest.
    """

    fit: Fit
    most_pairs: int = MOST_PAIRS

    @cached_property
    def names(self) -> list[str]:
        """As a reader may see them."""
        return [shown(name) for name in self.fit.names]

    @cached_property
    def order(self) -> list[int]:
        """Column numbers, causes first; those of a class along its arrows, else as they stand."""
        if self.fit.places is not None:
            return list(self.fit.places)
        return sequence(self.fit.graph.adjacency)

    @cached_property
    def layout(self) -> Layout | None:
        """Places in layers, causes above effects, and the points that each edge passes; None beyond `MOST_PLACED` variables."""
        if len(self.names) > MOST_PLACED:
            return None
        return place(self.fit.names, self.fit.graph.adjacency, self.fit.places)

    @property
    def first_look(self) -> Look:
        """The view that shows this graph best: layers, the matrix of a dense one, one variable at a time of a large one."""
        p = len(self.names)
        return "neighbourhood" if p > 60 else "matrix" if self.fit.graph.edge_count > max(2.5 * p, 12) else "graph"

    @cached_property
    def pairs(self) -> Pairs:
        return _pairs(self.fit, self.most_pairs)

    @cached_property
    def level(self) -> Level | None:
        return _level(self.fit, self.pairs, self.most_pairs)


def view(fit: Fit) -> View:
    """What there is to draw of a fit."""
    return View(fit)


def _ends(fit: Fit, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp], list[Kind]]:
    """The pairs of the graph, arrows by their places in the order and then lines; after them the likeliest of the others."""
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
    """The ends of the likeliest pairs that the graph does not join, as arrows: by p-values along the order, or by probabilities."""
    if fit.probabilities is not None:
        free = ~fit.graph.skeleton
        likely = np.where(free & (fit.probabilities.joined >= IMPROBABLE), fit.probabilities.arrows, -1.0)
        i, j = np.nonzero(
            (likely > likely.T) | ((likely == likely.T) & (likely >= 0) & np.tri(len(likely), dtype=bool).T)
        )
        best = np.argsort(-likely[i, j], kind="stable")[:most]
        return i[best], j[best]
    if fit.selection is None or fit.ordering is None or fit.ordering.support is not None:
        none = np.empty(0, dtype=np.intp)
        return none, none
    order = fit.ordering.order
    later, earlier = _least_p_values(fit.selection, fit.graph.links.renamed(np.argsort(order)), most)
    return order[earlier], order[later]


def _least_p_values(selection: Selection, joined: Links, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The positions, later and earlier, of the pairs of least p-values that are not joined; few of all pairs are held at a time."""
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
                given_all = -factor.triangles.W_at(later, earlier) / factor.triangles.W_diagonal[later]
            weight = np.where(present, weight, given_all)
    edge_probability, probability = unknown, unknown
    if fit.probabilities is not None:
        edge_probability, probability = (
            fit.probabilities.joined[source, target],
            fit.probabilities.arrows[source, target],
        )
    support, turned, low, high = unknown, unknown, weight - 1.96 * std_error, weight + 1.96 * std_error
    if fit.bootstrap is not None:
        columns = fit.bootstrap.arrow_columns(source, target)
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
    """The support of an edge, else its probability; else 1 up to p = 1e-6, falling with log p to 0.3 at 0.05 and 0 at 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        by_test = np.interp(np.log10(np.maximum(p_value, 1e-300)), [-6.0, math.log10(0.05), 0.0], [1.0, 0.3, 0.0])
    known = np.where(np.isnan(p_value), 1.0, by_test)
    return np.where(np.isnan(support), np.where(np.isnan(probability), known, probability), support)


def _level(fit: Fit, pairs: Pairs, most_pairs: int) -> Level | None:
    total = math.comb(len(fit.names), 2)
    absent = np.array([kind == "absent" for kind in pairs.kind], dtype=bool)
    cut = int(absent.sum()) >= most_pairs
    if fit.probabilities is not None:
        least = float(pairs.edge_probability[absent].min()) if cut else IMPROBABLE
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
