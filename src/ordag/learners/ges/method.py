"""GES as a method."""

from __future__ import annotations

from ordag.data.table import Table
from ordag.knowledge.masks import Constraints
from ordag.learners.directed import directed
from ordag.learners.found import Found
from ordag.learners.ges.settings import GesSettings
from ordag.learners.prices import Priced, priced_ges


def ges(table: Table, settings: GesSettings, known: Constraints | None = None) -> Found:
    """The class that GES finds, directed along an order if that is asked for."""
    result, price = priced_ges(
        table.moments,
        settings,
        progress=lambda step: table.tell(f"GES: {step.phase} phase, score {step.score:.6g}"),
        known=known,
    )
    found = Found(
        recipe=settings,
        moments=table.moments,
        graph=result.graph,
        score=result.score,
        result=Priced(result, price),
    )
    return directed(found, table, settings.orient_by_order, known)
