"""The rule "test": parents by tests at a level, with or without a correction for many pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ordag.arrays import Array
from ordag.parents.selection import ParentRule, Question, Selection
from ordag.parents.tests import p_values, rejected
from ordag.words import counted


@dataclass(frozen=True)
class Correction:
    """From alpha, the number of pairs and (if it is a `rate`) their p-values, least first, to the largest p-value that counts.

    A level lets alpha through for every pair tested, a rate that share of the pairs found. `grounds` says so of a `level` and `pairs`.
    """

    help: str
    grounds: str
    threshold: Callable[[float, int, Array], float]
    rate: bool = False


def false_discovery_threshold(rate: float, pairs: int, ranked: Array) -> float:
    """Benjamini & Hochberg (1995): the largest p₍ᵢ₎ of m with p₍ᵢ₎ ≤ rate · i / m, or less than any if there is none."""
    below = np.flatnonzero(ranked <= rate * np.arange(1, pairs + 1) / pairs)
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
    """Every predecessor whose test given all others is significant (Park & Kim, Algorithm 1, Step 2)."""
    n, test, alpha, pairs = question.ordering.n, question.test, question.alpha, question.pairs
    correction = CORRECTIONS[question.correction]
    if correction.rate or question.row_p_values is not None:
        values = p_values(question.r, n, test) if question.row_p_values is None else question.row_p_values
        tested = np.tri(len(values), k=-1, dtype=bool) if question.open is None else question.open
        threshold = correction.threshold(alpha, pairs, np.sort(values[tested]))
        found = values <= threshold
        expected = alpha * int((found & tested).sum()) if correction.rate else threshold * pairs
    else:
        threshold = correction.threshold(alpha, pairs, np.empty(0))
        found = rejected(question.r, n, test, threshold)
        expected = threshold * pairs
    if question.allowed is not None and question.required is not None:
        found = found & question.allowed | question.required
    grounds = correction.grounds.format(level=f"{alpha:g}", pairs=counted(pairs, "pair"))
    return question.answer(found, expected, grounds, threshold=threshold)


TEST = ParentRule(
    "test", "Tests", "those whose partial correlation given all other predecessors is significant", choose
)
