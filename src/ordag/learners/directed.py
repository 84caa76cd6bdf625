"""A found class in, the same directed along the order of cvs out."""

from __future__ import annotations

from dataclasses import replace

from ordag.data.table import Table
from ordag.graph.cpdag import Cpdag
from ordag.knowledge.masks import Constraints
from ordag.learners.found import Found
from ordag.learners.orient import order_for_skeleton, orient_by_order
from ordag.order import find_order
from ordag.words import joined


def directed(found: Found, table: Table, way: str | None, known: Constraints | None) -> Found:
    """The same with its edges directed along the forward order, and a warning on what the class says otherwise.

    The order keeps to what is known, and along the skeleton also to the directions that are left to its edges.
    """
    if way is None or not isinstance(found.graph, Cpdag):
        return found
    before = None if known is None else known.before
    if known is not None and way == "skeleton":
        before = order_for_skeleton(found.graph, known)
    ordering = find_order(table, before=before)
    result = orient_by_order(found.graph, [found.names[j] for j in ordering.order], way, known=known)
    sentences = list(found.warnings)
    if result.conflicts:
        arrows = joined([f"{a} → {b}" for a, b in result.conflicts])
        kept = "were kept" if way == "class" else "were turned round"
        sentences.append(f"The order contradicts arrows of the equivalence class: {arrows}. They {kept}.")
    return replace(found, graph=result.graph, ordering=ordering, oriented=result, warnings=tuple(sentences))
