"""`Constraints`: knowledge as masks over pairs of columns, and how a graph relates to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ordag.common.arrays import Indices, Mask
from ordag.common.words import shown
from ordag.graph.cpdag import Cpdag
from ordag.graph.graph import Graph, arrow, line
from ordag.graph.partly_directed import completed, extension, meek


class BrokenKnowledgeError(AssertionError):
    """A learner's graph violates its knowledge: a bug in Ordag, not an error of the user."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on a graph. All masks are at [i, j] for i → j, or for i before j, in the order of the columns.

    allowed: arrows that a graph may have; none would close a cycle with required ones.
    required: arrows that it must have; they are acyclic, and allowed.
    before: the partial order of every ordering: required arrows and tiers, then roots as early and sinks as late as
        these permit.
    record: the knowledge in plain values.
    """

    names: tuple[str, ...]
    allowed: Mask
    required: Mask
    before: Mask
    record: Mapping[str, Any]

    @cached_property
    def barred(self) -> Mask:
        """Pairs that may not be adjacent; symmetric, the diagonal included."""
        return ~(self.allowed | self.allowed.T)

    @cached_property
    def against(self) -> Mask:
        """Directions that an edge cannot have."""
        return ~self.allowed | self.required.T | self.before.T

    def ordered(self, order: Indices) -> Constraints:
        """Return the same for the columns in another order."""
        at, names = np.ix_(order, order), tuple(self.names[j] for j in order.tolist())
        return Constraints(names, self.allowed[at], self.required[at], self.before[at], self.record)

    @cached_property
    def fixed(self) -> Mask:
        """Arrows whose pair, if adjacent, can have no other direction."""
        return self.allowed & ~self.allowed.T


def without_causes(names: Sequence[str], variables: Sequence[int], known: Constraints | None) -> Constraints:
    """Return the constraints, if there are any, with no arrow into these variables but those that are required."""
    if known is None:
        none = np.zeros((len(names), len(names)), dtype=bool)
        known = Constraints(tuple(names), ~np.eye(len(names), dtype=bool), none, none, {})
    allowed = known.allowed.copy()
    allowed[:, list(variables)] &= known.required[:, list(variables)]
    return replace(known, allowed=allowed)


def violations(graph: Graph, known: Constraints) -> list[str]:
    """Return a sentence for every edge that is not allowed, and for every required one that is missing. An undirected edge
    violates constraints on either of its directions."""
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
    """Raise `BrokenKnowledgeError` if the graph violates the constraints."""
    found = violations(graph, known)
    if found:
        raise BrokenKnowledgeError(f"This is a bug in Ordag, please report it: {'; '.join(found[:5])}.")


def decided(graph: Graph, known: Constraints) -> Mask:
    """Return the arrows of a graph whose direction follows from knowledge.

    These are the arrows whose opposite is ruled out, and those that follow from them within the equivalence class
    (Meek's rules) but are undirected in the class itself.
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
    """Return the CPDAG of a class with the known directions, and those that follow (Meek's rules R1 to R4)."""
    return meek(adjacency & ~(adjacency.T & ~known.allowed))


def class_fault(graph: Cpdag, known: Constraints | None) -> str | None:
    """Say why a graph is not a class of DAGs or, where knowledge directs some edges, not a restricted class; None if it is."""
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
