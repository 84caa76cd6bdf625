"""What speaks against any graph of a table, whatever its method: hidden common causes, and what the rows say."""

from __future__ import annotations

from ordag.evidence.finding import Caution
from ordag.evidence.hidden_causes import hidden_caution
from ordag.evidence.rows import row_cautions
from ordag.learners.found import Found


def cautions(found: Found, *, hasty: bool = False) -> list[Caution]:
    """List what a reader of the graph should know beside what its directions rest on, the worst first; hasty: what takes no search."""
    if not found.graph.edge_count:
        return []
    hidden = hidden_caution(found) if found.recipe.linear else None
    beware = [*row_cautions(found, hasty=hasty), *([] if hidden is None else [hidden])]
    return sorted(beware, key=lambda caution: not caution.doubt)
