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

from ordag.assess.arrows import arrow_reasons, deciding_conditions, pair_evidence
from ordag.assess.hidden_causes import may_be_hidden
from ordag.common.arrays import Array, Mask
from ordag.common.words import shown
from ordag.learners.result import Level, Unjoined
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

Look = Literal["graph", "matrix", "neighbourhood"]
Kind = Literal["arrow", "line", "absent"]


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
    conditions: the experiments or environments that act on one end of an arrow alone, where these direct it.
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
    conditions: list[list[str]]
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
class View:
    """A fit, ready to be drawn, with at most `most_pairs` pairs that the graph does not join."""

    fit: Fit
    most_pairs: int = MOST_PAIRS

    @cached_property
    def names(self) -> list[str]:
        """The names as text that is safe to show: of the variables, then of the categories that may be causes."""
        return [shown(name) for name in self.nodes]

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the variables, then of the categories that may be causes."""
        return self.fit.whole_graph.nodes

    @property
    def categories(self) -> range:
        """The numbers of the categories among the nodes."""
        return range(len(self.fit.names), len(self.nodes))

    @cached_property
    def order(self) -> list[int]:
        """Numbers of the nodes, causes first and categories before all; for a class of graphs along its arrows."""
        order = sequence(self.fit.graph.adjacency) if self.fit.column_order is None else self.fit.column_order
        return [*self.categories, *order]

    @cached_property
    def layout(self) -> Layout | None:
        """Positions in layers, causes above effects, and the points that edges pass; None beyond `MAX_PLACED_VARIABLES`."""
        if len(self.names) > MAX_PLACED_VARIABLES:
            return None
        order = None if self.fit.column_order is None else self.order
        return place(self.nodes, self.fit.whole_graph.adjacency, order)

    @property
    def first_look(self) -> Look:
        """The kind of picture that suits the graph: layers, a matrix if it is dense, one variable at a time if it is large."""
        p = len(self.names)
        return (
            "neighbourhood" if p > 60 else "matrix" if self.fit.whole_graph.edge_count > max(2.5 * p, 12) else "graph"
        )

    @cached_property
    def pairs(self) -> Pairs:
        return _with_categories(self.fit, _pairs(self.fit, self.most_pairs))

    @cached_property
    def level(self) -> Level | None:
        return _level(self.fit, self.pairs, self.most_pairs)


def _ends(fit: Fit, absent: Unjoined) -> tuple[NDArray[np.intp], NDArray[np.intp], list[Kind]]:
    """Return the arrows of the graph along the order, then its lines, then absent pairs."""
    place = np.argsort(fit.column_order or range(len(fit.names)))
    lines = fit.graph.lines
    parts: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    for links in (fit.graph.arrows, lines.where(lines.source < lines.target)):
        by_place = np.lexsort((place[links.target], place[links.source]))
        parts.append((links.source[by_place], links.target[by_place]))
    parts.append(absent[:2])
    source, target = (np.concatenate([part[end] for part in parts]) for end in (0, 1))
    looks: tuple[Kind, ...] = ("arrow", "line", "absent")
    kinds = [kind for kind, part in zip(looks, parts, strict=True) for _ in part[0]]
    return source, target, kinds


def _pairs(fit: Fit, most: int) -> Pairs:
    absent = fit.result.unjoined(fit, most)
    source, target, kinds = _ends(fit, absent)
    count = len(source)
    present = np.array([kind != "absent" for kind in kinds], dtype=bool)
    unknown = np.full(count, math.nan)
    weight, std_error, robustness = unknown.copy(), unknown.copy(), unknown.copy()
    if fit.refit is not None:
        weight[present], std_error[present] = fit.refit.weights_of(source[present], target[present])
        robustness[present] = fit.refit.robustness_of(source[present], target[present])
    weight[~present] = absent.weight
    evidence = pair_evidence(fit, source, target)
    p_value, q_value, direction, edge_probability, probability = (
        evidence.get(name, unknown)
        for name in ("p_value", "q_value", "direction_p_value", "edge_probability", "probability")
    )
    support, turned, low, high = unknown, unknown, weight - 1.96 * std_error, weight + 1.96 * std_error
    if fit.support is not None:
        columns = fit.support.arrow_columns(source, target)
        support, turned = columns["support"], columns["direction_support"]
        low, high = columns.get("weight_low", low), columns.get("weight_high", high)
        lines = np.array([kind == "line" for kind in kinds], dtype=bool)
        support = np.where(lines, columns["adjacency_support"], support)
    reason = arrow_reasons(fit, source, target)
    if "probability" in evidence:
        hidden = may_be_hidden(fit)[source, target]
        reason = ["hidden" if by_hidden else one for one, by_hidden in zip(reason, hidden, strict=True)]
    tied = np.where(np.isnan(direction), np.isin(np.array(reason), ["open", "hidden"]), direction > NEAR_TIE)
    tied &= ~np.isin(np.array(reason), ["knowledge", "class", "experiment", "environment"])
    conditions = [[shown(one) for one in some] for some in deciding_conditions(fit, source, target, reason)]
    spread = fit.moments.spread
    return Pairs(
        source, target, kinds, weight, std_error, robustness, weight * spread[source] / spread[target], p_value, q_value,
        direction, edge_probability, probability, support, turned, low, high, reason, conditions, np.asarray(tied, dtype=bool),
        _strength(support, edge_probability, p_value),
    )  # fmt: skip


def _with_categories(fit: Fit, pairs: Pairs) -> Pairs:
    """Return the pairs with the arrows from categories before them."""
    if fit.causes is None:
        return pairs
    arrows, p = fit.cause_arrows, len(fit.names)
    ends = [(p + fit.causes.names.index(one.source), fit.names.index(one.target)) for one in arrows]
    unknown = np.full(len(arrows), math.nan)
    known: dict[str, Any] = dict.fromkeys(vars(pairs), unknown)
    known["source"], known["target"] = np.array(ends, np.intp).reshape(-1, 2).T
    known["p_value"] = np.array([one.test.p_value for one in arrows], dtype=float)
    chances = np.array([one.probability for one in arrows], dtype=float)
    known |= {"edge_probability": chances, "probability": chances, "tied": np.zeros(len(arrows), dtype=bool)}
    if fit.support is not None and fit.support.cause_support is not None:
        known["support"] = np.array([fit.support.cause_support[a - p, b] for a, b in ends], dtype=float)
    known["strength"] = _strength(known["support"], chances, known["p_value"])
    known |= {"kind": ["arrow"] * len(arrows), "reason": ["knowledge"] * len(arrows)}
    known["conditions"] = [[] for _ in arrows]
    whole: dict[str, Any] = {
        name: known[name] + values if isinstance(values, list) else np.concatenate([known[name], values])
        for name, values in vars(pairs).items()
    }
    return Pairs(**whole)


def _strength(support: Array, probability: Array, p_value: Array) -> Array:
    """Return the support of an edge, or its probability, or else 1 up to p = 1e-6, falling with log p to 0.3 at 0.05 and 0 at 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        by_test = np.interp(np.log10(np.maximum(p_value, 1e-300)), [-6.0, math.log10(0.05), 0.0], [1.0, 0.3, 0.0])
    known = np.where(np.isnan(p_value), 1.0, by_test)
    return np.where(np.isnan(support), np.where(np.isnan(probability), known, probability), support)


def _level(fit: Fit, pairs: Pairs, most_pairs: int) -> Level | None:
    level = fit.result.level(fit)
    absent = np.array([kind == "absent" for kind in pairs.kind], dtype=bool)
    if level is None or level.learned_only or absent.sum() < most_pairs:
        return level
    values = getattr(pairs, level.evidence)[absent]
    return level._replace(complete=float(values.max() if level.evidence == "p_value" else values.min()))
