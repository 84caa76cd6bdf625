"""GDS as a method."""

from __future__ import annotations

from ordag.data.table import Table
from ordag.knowledge.masks import Constraints
from ordag.learners.found import Found
from ordag.learners.gds.settings import GdsSettings
from ordag.learners.prices import Priced, priced_gds


def gds(table: Table, settings: GdsSettings, known: Constraints | None = None) -> Found:
    """The Dag that GDS finds."""
    result, price = priced_gds(
        table.moments,
        settings,
        progress=lambda moves, score: table.tell(f"GDS: {moves:,} moves, score {score:.6g}"),
        known=known,
    )
    return Found(
        recipe=settings,
        moments=table.moments,
        graph=result.graph,
        score=result.score,
        result=Priced(result, price),
    )
