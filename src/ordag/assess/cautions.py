"""Reasons to doubt any graph of a table, whatever the method: few rows, hidden common causes, and what rows have in common."""

from __future__ import annotations

from ordag.assess.conditions import conditions_caution
from ordag.assess.few_rows import few_rows_caution
from ordag.assess.finding import Caution
from ordag.assess.hidden_causes import hidden_caution
from ordag.assess.in_time import time_cautions
from ordag.assess.rows import row_cautions
from ordag.learners.found import Found

MOST = 0.5
"""The share of the arrows that do not count as right for one reason, from which on this reason comes first."""


def cautions(found: Found, *, hasty: bool = False) -> list[Caution]:
    """List the cautions about a graph, worst first; `hasty` leaves out those that take another search."""
    if not found.graph.edge_count:
        return []
    hidden = hidden_caution(found) if found.method_settings.linear else None
    in_time = time_cautions(found) if found.series is not None else []
    others = [few_rows_caution(found), conditions_caution(found), hidden]
    beware = [*in_time, *row_cautions(found, hasty=hasty), *(one for one in others if one is not None)]
    return sorted(beware, key=lambda caution: (not caution.doubt, caution.discounted < MOST))
