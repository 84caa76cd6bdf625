"""The rule "test": parents by tests at a level, with or without a correction for multiple testing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import counted
from ordag.parents.selection import Edges, ParentRule, Question, Selection, edges_of
from ordag.parents.tests import Pairs, conditioned_on, significant

MANY_PAIRS = 2**21
"""The number of p-values above which they are counted before they are held in memory."""


@dataclass(frozen=True)
class Correction:
    """A correction: `threshold` returns the largest significant p-value from alpha, the number of pairs and, for a `rate`, the least
    p-values in order.

    A level expects alpha false edges for every pair tested, a rate that share of the pairs found. `grounds` says so in words, with a
    `level` and `pairs`.
    """

    help: str
    grounds: str
    threshold: Callable[[float, int, Array], float]
    rate: bool = False


def false_discovery_threshold(rate: float, pairs: int, ranked: Array) -> float:
    """Benjamini & Hochberg (1995): the largest p₍ᵢ₎ of m with p₍ᵢ₎ ≤ rate · i / m, or −1 if there is none.

    `ranked` are the least of the p-values, sorted, with all that can be significant among them.
    """
    below = np.flatnonzero(ranked <= rate * np.arange(1, len(ranked) + 1) / pairs)
    return float(ranked[below[-1]]) if len(below) else -1.0


CORRECTIONS = {
    "none": Correction(
        "alpha is the level of every test", "by chance alone (level {level} × {pairs} tested)", lambda alpha, *_: alpha
    ),
    "bh": Correction(
        "alpha is the false-discovery rate of edges, not of directions (Benjamini–Hochberg)",
        "(a false-discovery rate of edges of {level} over {pairs}; wrong directions come on top)",
        false_discovery_threshold,
        rate=True,
    ),
    "bonferroni": Correction(
        "alpha is the probability of any false edge",
        "(Bonferroni at {level} over {pairs})",
        lambda alpha, pairs, _: alpha / max(pairs, 1),
    ),
}


def choose(question: Question) -> Selection:
    """Choose every predecessor whose test given all others is significant (Park & Kim, Algorithm 1, Step 2)."""
    alpha, pairs = question.alpha, question.pairs
    correction = CORRECTIONS[question.correction]
    if correction.rate or question.row_p_values is not None:
        values, (later, earlier) = _candidates(question, alpha if correction.rate else 1.0)
        threshold = correction.threshold(alpha, pairs, np.sort(values))
        found = values <= threshold
        edges = later[found], earlier[found]
        expected = alpha * len(edges[0]) if correction.rate else threshold * pairs
    else:
        threshold = correction.threshold(alpha, pairs, np.empty(0))
        edges, _ = _joined(question, threshold)
        expected = threshold * pairs
    if question.required is not None:
        joined = question.required.copy()
        joined[edges] = True
        edges = edges_of(joined)
    grounds = correction.grounds.format(level=f"{alpha:g}", pairs=counted(pairs, "pair"))
    return question.answer(edges, expected, grounds, threshold=threshold)


def _candidates(question: Question, rate: float) -> tuple[Array, Edges]:
    """Return the p-values of open pairs, and the pairs: all that a false-discovery rate could join.

    Where k of m p-values are at or below a bound on its threshold, rate · k / m is a bound too. So the p-values of very many pairs
    are counted until few are left to hold and to sort.
    """
    if question.row_p_values is not None:
        values = question.row_p_values
        edges = edges_of(np.tri(len(values), k=-1, dtype=bool) if question.open is None else question.open)
        return values[edges], edges
    bound, settled = rate, question.pairs <= MANY_PAIRS
    while not settled:
        count = sum(len(r) for _, _, r in _significant(question, _just_above(bound)))
        tighter = rate * count / question.pairs
        settled = count <= MANY_PAIRS or tighter > bound / 2
        bound = min(tighter, bound)
    edges, r = _joined(question, _just_above(bound))
    return question.test(r, question.ordering.n, conditioned_on(edges[0])), edges


def _just_above(level: float) -> float:
    """Return a level that no p-value up to the given one exceeds by rounding, its own or that of the critical value."""
    return min(level * (1.0 + 1e-6), 1.0)


def _significant(question: Question, level: float) -> Iterator[Pairs]:
    """Yield the open pairs whose p-value is at most a level, some at a time."""
    factor, open_ = question.ordering.known_factor, question.open
    for later, earlier, r in significant(factor, question.ordering.n, question.test, level):
        there = slice(None) if open_ is None else open_[later, earlier]
        yield later[there], earlier[there], r[there]


def _joined(question: Question, level: float) -> tuple[Edges, Array]:
    """Return the open pairs whose p-value is at most a level, sorted, and their partial correlations."""
    parts = zip(*_significant(question, level), strict=True)
    later, earlier, r = (np.concatenate(values) for values in parts)
    return (later, earlier), r


TEST = ParentRule(
    "test", "Tests", "those whose partial correlation given all other predecessors is significant", choose
)
