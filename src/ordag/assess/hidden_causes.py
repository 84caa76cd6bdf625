"""Decide whether hidden common causes could explain some or all of the arrows, in numbers and in words.

The pooled search is asked where a hidden cause stands (`ordag.learners.pooled.hidden_search`): it puts one in front of variables that
are nearly all joined, and keeps it where that has the better score. For other methods, and where that finds nothing, models of hidden
causes of all columns without arrows are held against the graph (`ordag.assess.common_factor`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ordag.assess.common_factor import LEAST_VARIABLES, MOST_VARIABLES, common_factor
from ordag.assess.finding import Caution, Finding, Level, unchecked
from ordag.common.arrays import Array, Mask
from ordag.common.words import amount, counted, listed
from ordag.learners.found import Found
from ordag.learners.pooled.hidden_search import WORTHWHILE

NAMED, TOLD = 4, 3
"""The most variables that a sentence names for a hidden cause, and the most hidden causes that it lists."""

ADVICE = "Measure what these columns have in common, or do not read the arrows among them as causes."


FEW_VARIABLES = 10
"""Variables up to which any gain counts."""

NEARLY = 2.0
"""The shortfall of a gain at which an arrow that a hidden cause could explain is doubted 1/e as much as at none."""

LOOK = 3.0
"""The shortfall within which a hidden cause explains the table nearly as well: 6 in units of BIC."""


@dataclass(frozen=True, eq=False)
class HiddenCauses:
    """Hidden causes, each with the variables that it acts on.

    behind: for each the numbers of the columns that it acts on. gains: by how much each lowers the score, the others before it given.
    arrows: those of the graph that may come from them: both ends are behind the same hidden cause, and the model with the hidden causes
    joins them by no arrow. names: of the columns. edges: of the graph. short: by how much the gains fall short of what is asked for.
    """

    behind: tuple[tuple[int, ...], ...]
    gains: tuple[float, ...]
    arrows: Mask
    names: tuple[str, ...]
    edges: int
    short: float = 0.0

    @property
    def explain(self) -> bool:
        """Whether they explain the table better than arrows do."""
        return bool(self.behind) and self.short <= 0.0

    @property
    def nearly(self) -> bool:
        """Whether they explain some arrows, and the table nearly as well as these do."""
        return 0.0 < self.short <= LOOK and bool(self.arrows.any())

    @property
    def doubts(self) -> Array:
        """How much an arrow is doubted for them, at [i, j]: fully where they explain the table better, less the more they fall short."""
        return np.asarray(self.arrows * math.exp(-max(self.short, 0.0) / NEARLY))

    @property
    def sentence(self) -> str:
        """State which variables they act on, and how many arrows they could explain."""
        count = len(self.behind)
        if not count:
            return "A hidden common cause of some variables explains the table no better than the arrows among them."
        every = f"all {len(self.names)} variables"
        sets = [
            listed([self.names[j] for j in one], NAMED) if len(one) < len(self.names) else every for one in self.behind
        ]
        rest = f"; and {count - TOLD} more" if count > TOLD else ""
        which = f"of {sets[0]}" if count == 1 else f"({'; '.join(sets[:TOLD])}{rest})"
        causes = "A hidden common cause" if count == 1 else f"{count} hidden common causes"
        return f"{causes} {which} could explain {int(self.arrows.sum())} of the {counted(self.edges, 'arrow')}."

    @property
    def numbers(self) -> dict[str, Any]:
        return {
            "behind": [[self.names[j] for j in one] for one in self.behind],
            "gains": list(self.gains),
            "explained": [[self.names[i], self.names[j]] for i, j in np.argwhere(self.arrows)],
        }


def likeliest_hidden_causes(found: Found) -> HiddenCauses | None:
    """Return the hidden causes of some of the variables that explain the table best, from its moments alone.

    They are looked for once for each search. None for other methods than the pooled one, with fewer than 4 or more than 60 variables, with
    too few rows for regressions on all variables, and where columns nearly determine each other.
    """
    models, number = found.result.with_hidden, {name: j for j, name in enumerate(found.names)}
    if models is None:
        return None
    place = [number[name] for name in found.result.hidden_names]
    p, last = len(place), models[-1].adjacency
    left = np.zeros((p, p), dtype=bool)
    left[np.ix_(place, place)] = last[:p, :p]
    behind = tuple(tuple(sorted(place[j] for j in row.nonzero()[0])) for row in last[p:, :p])
    together = np.zeros((p, p), dtype=bool)
    for one in behind:
        together[np.ix_(one, one)] = True
    gains = tuple(before.score - after.score for before, after in pairwise(models))
    arrows = found.graph.adjacency & together & ~(left | left.T)
    short = max(least_gain(len(found.names)), WORTHWHILE) - sum(gains) if gains else 0.0
    return HiddenCauses(behind, gains, arrows, found.names, found.graph.edge_count, short)


def hidden_causes(found: Found) -> HiddenCauses | None:
    """Return the hidden causes of some of the variables that explain the table better than arrows; as `likeliest_hidden_causes`."""
    causes = likeliest_hidden_causes(found)
    if causes is None or causes.explain:
        return causes
    return HiddenCauses((), (), np.zeros_like(causes.arrows), causes.names, causes.edges)


def least_gain(p: int) -> float:
    """Return how much hidden causes must lower the score of p variables: the more variables, the more sets of them are tried."""
    return 3.0 * math.log(max(p, FEW_VARIABLES) / FEW_VARIABLES)


def may_be_hidden(found: Found) -> Mask:
    """Mark the arrows of the graph that a hidden cause could explain."""
    causes = _by_place(found)
    return np.zeros((len(found.names),) * 2, dtype=bool) if causes is None else causes.arrows


def hidden_doubts(found: Found) -> Array:
    """Return how much every arrow of the graph is doubted because a hidden cause could explain it, between 0 and 1."""
    causes = likeliest_hidden_causes(found) if found.graph.edge_count else None
    return np.zeros((len(found.names),) * 2) if causes is None else causes.doubts


def _by_place(found: Found) -> HiddenCauses | None:
    """Return the hidden causes that could explain arrows of the graph, None if there are none."""
    causes = hidden_causes(found) if found.graph.edge_count else None
    return causes if causes is not None and causes.arrows.any() else None


def hidden_caution(found: Found) -> Caution | None:
    """Return the caution about hidden common causes, None without evidence for them."""
    causes = _by_place(found)
    if causes is not None:
        doubt = f"hidden common causes could explain {int(causes.arrows.sum())} of the arrows"
        return Caution("hidden_causes", causes.sentence, ADVICE, doubt, causes.arrows.sum() / causes.edges)
    factor = None if found.has_earlier else common_factor(found)
    if factor is None or not (factor.explains or factor.nearly):
        return None
    doubt = "hidden common causes explain the table better than the arrows do" if factor.explains else ""
    return Caution("hidden_causes", factor.short, ADVICE, doubt)


def hidden_causes_finding(found: Found) -> Finding:
    """Report whether hidden common causes explain the table as well as the graph does."""
    causes = likeliest_hidden_causes(found) if found.graph.edge_count else None
    if causes is not None and not (causes.arrows.any() and (causes.explain or causes.nearly)):
        causes = None
    factor = None if found.has_earlier else common_factor(found)
    if factor is None and causes is None:
        return unchecked(
            "hidden_causes",
            f"takes {LEAST_VARIABLES} to {MOST_VARIABLES} variables, more rows than variables, and a graph that a model has.",
        )
    numbers = {} if factor is None else factor.numbers
    if causes is not None and (causes.explain or factor is None or not (factor.explains or factor.nearly)):
        gain = sum(causes.gains)
        nearly = "" if causes.explain else " nearly as well"
        sentence = f"{causes.sentence[:-1]}{nearly} (score {amount(abs(gain))} {'better' if gain >= 0.0 else 'worse'})."
        return Finding(
            "hidden_causes", "warning" if causes.explain else "look", sentence, {**numbers, **causes.numbers}
        )
    assert factor is not None
    level: Level = "warning" if factor.explains else "look" if factor.nearly else "fine"
    return Finding("hidden_causes", level, factor.sentence, numbers)
