"""Knowledge about a table's columns as masks over pairs, the check that a graph keeps to it, and what it decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ordag.arrays import Mask
from ordag.graph.base import Graph, arrow, line
from ordag.graph.cpdag import Cpdag
from ordag.graph.extension import extension
from ordag.graph.meek import completed, meek
from ordag.words import shown


class BrokenKnowledgeError(AssertionError):
    """A learner's graph goes against the knowledge it was given: a bug in Ordag, never the user's fault."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """What may be joined to what. All masks are at [i, j] for i → j, or for i before j, in the columns' own order.

    allowed: arrows that a graph may have. Every arrow that would close a cycle with required ones is out.
    required: arrows that it must have; they are acyclic, and allowed.
    before: the partial order that an ordering keeps to: required arrows and tiers, then roots as early and sinks as
        late as these let them.
    record: the knowledge in plain values.
    """

    names: tuple[str, ...]
    allowed: Mask
    required: Mask
    before: Mask
    record: Mapping[str, Any]

    @cached_property
    def barred(self) -> Mask:
        """Pairs that may not be joined at all; symmetric, the diagonal included."""
        return ~(self.allowed | self.allowed.T)

    @cached_property
    def fixed(self) -> Mask:
        """Arrows whose pair, if it is joined, can have no other direction."""
        return self.allowed & ~self.allowed.T


def violations(graph: Graph, known: Constraints) -> list[str]:
    """One sentence for every edge that should not be there, or that should and is not. An edge without direction
    breaks what is known of either of its directions."""
    adjacency = graph.adjacency
    names = known.names
    found = []
    for i, j in np.argwhere(adjacency & ~known.allowed).tolist():
        if not adjacency[j, i]:
            found.append(f"{arrow((names[i], names[j]))} is ruled out")
        elif known.allowed[j, i] or i < j:
            found.append(f"{line((names[i], names[j]))} could be {arrow((names[i], names[j]))}, which is ruled out")
    for i, j in np.argwhere(known.required & ~adjacency).tolist():
        found.append(f"{arrow((names[i], names[j]))} is required, and missing")
    return found


def verify(graph: Graph, known: Constraints) -> None:
    """Raise `BrokenKnowledgeError` unless the graph keeps to what is known."""
    found = violations(graph, known)
    if found:
        raise BrokenKnowledgeError(f"This is a bug in Ordag, please report it: {'; '.join(found[:5])}.")


def decided(graph: Graph, known: Constraints) -> Mask:
    """The arrows of a graph that owe their direction to knowledge.

    These are the arrows whose opposite is ruled out, and those that follow from them within the equivalence class
    (Meek's rules) and that the class alone leaves undirected.
    """
    adjacency = graph.adjacency
    arrows: Mask = adjacency & ~adjacency.T
    stated = arrows & known.fixed
    dag, left = extension(adjacency)
    if left.any():
        return stated
    alone = completed(dag)
    compelled = meek(alone & ~stated.T)
    return stated | (arrows & compelled & ~compelled.T & alone.T)


def restricted(adjacency: Mask, known: Constraints) -> Mask:
    """The CPDAG of a class with the directions that are known, and those that follow (Meek's rules R1 to R4)."""
    return meek(adjacency & ~(adjacency.T & ~known.allowed))


def class_fault(graph: Cpdag, known: Constraints | None) -> str | None:
    """What keeps a graph from being a class of DAGs or, where knowledge directs some of its edges, what is left of one;
    None if nothing does."""
    if known is None or graph.valid or not (graph.skeleton & known.fixed).any():
        return graph.why_invalid()
    reason = graph.why_not_extendable()
    if reason is not None:
        return f"no DAG agrees with it: {reason}"
    right = restricted(completed(extension(graph.adjacency)[0]), known)
    differs = np.argwhere(graph.adjacency != right).tolist()
    if not differs:
        return None
    ends = [graph.nodes[node] for node in differs[0]]
    return f"the edge between {shown(ends[0])} and {shown(ends[1])} is not directed as the class and knowledge would have it"
