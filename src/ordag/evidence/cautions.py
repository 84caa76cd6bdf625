"""What speaks against any graph of a table, whatever its method: hidden common causes, and rows that are not independent."""

from __future__ import annotations

import numpy as np

from ordag.errors import OrdagError
from ordag.evidence.finding import Caution
from ordag.evidence.hidden_causes import hidden_caution
from ordag.learners.found import Found

CORRELATED = 0.3
"""Correlation of neighbouring rows from which they count for clearly fewer than they are: at 0.3 covariances vary by a fifth more
than those of independent rows, at 0.8 by a factor of 4.6."""

FEWEST_ROWS = 20


def cautions(found: Found) -> list[Caution]:
    """What a reader of the graph should know beside what its directions rest on."""
    beware = []
    hidden = hidden_caution(found) if found.graph.edge_count and found.recipe.linear else None
    if hidden is not None:
        beware.append(hidden)
    memory = row_memory(found)
    if memory is not None and memory > CORRELATED:
        sentence = (
            f"Neighbouring rows are correlated ({memory:.2f} in the middle of the variables): rows in time order or in "
            "clusters count for fewer than they are, and more arrows are wrong than is said here."
        )
        beware.append(
            Caution("dependent_rows", sentence, "Learn from rows that are independent.", "the rows are not independent")
        )
    return beware


def row_memory(found: Found) -> float | None:
    """The correlation of residuals with those of the row before, in the median over the variables.

    The median, because in a table that was sorted by one column that column alone has such a memory. None without rows, where
    only every second, fourth, … was kept, and for a graph that no model has.
    """
    if found.profile is None or found.profile.stride > 1 or len(found.profile.rows) < FEWEST_ROWS:
        return None
    try:
        sem = found.any_sem
    except OrdagError:
        return None
    centred = found.profile.rows - found.profile.rows.mean(axis=0)
    E = centred - sem.by_parents(centred)
    E = E / np.abs(E).max(axis=0)
    return float(np.median(np.einsum("ij,ij->j", E[1:], E[:-1]) / np.einsum("ij,ij->j", E, E)))
