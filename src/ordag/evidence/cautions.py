"""What speaks against any graph of a table, whatever its method: hidden common causes, and rows that are not independent."""

from __future__ import annotations

from ordag.evidence.common_factor import common_factor
from ordag.evidence.finding import Caution
from ordag.evidence.rows import row_cautions
from ordag.learners.found import Found


def cautions(found: Found) -> list[Caution]:
    """What a reader of the graph should know beside what its directions rest on."""
    beware = []
    factor = common_factor(found) if found.graph.edge_count and found.recipe.linear else None
    if factor is not None and factor.explains:
        beware.append(
            Caution(
                "hidden_causes",
                factor.sentence,
                "Look for what they have in common, and measure it.",
                "hidden common causes explain the table better than the arrows do",
            )
        )
    elif factor is not None and factor.nearly:
        beware.append(Caution("hidden_causes", factor.sentence, "Look for what they have in common, and measure it."))
    beware += row_cautions(found)
    return beware
