"""PC as a method."""

from __future__ import annotations

from ordag.data.table import Table
from ordag.knowledge.masks import Constraints
from ordag.learners.directed import directed
from ordag.learners.found import Found
from ordag.learners.pc.search import pc_search
from ordag.learners.pc.settings import PcSettings


def pc(table: Table, settings: PcSettings, known: Constraints | None = None) -> Found:
    """The class that PC finds, directed along an order if that is asked for."""
    result = pc_search(
        table.moments,
        settings,
        progress=lambda done, planned: table.tell(f"PC: {done:,} of {planned:,} sets so far"),
        known=known,
    )
    found = Found(
        recipe=settings,
        moments=table.moments,
        graph=result.graph,
        warnings=result.warnings,
        pair_p_values=result.p_values,
        separating_sets=result.separating_sets,
        result=result,
    )
    return directed(found, table, settings.orient_by_order, known)
