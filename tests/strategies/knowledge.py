"""Knowledge without contradictions for hypothesis, and the literal check that a graph keeps to it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ordag.knowledge.knowledge import Knowledge


def random_entries(names, rng, order=None, arrows=0.12, bans=0.2, ends=0.15):
    """Entries that some graph keeps to: everything goes along one order of the names."""
    p = len(names)
    order = rng.permutation(p) if order is None else order
    required = {(int(i), int(j)) for k, i in enumerate(order) for j in order[k + 1 :] if rng.random() < arrows}
    forbidden = {(i, j) for i in range(p) for j in range(p) if i != j and rng.random() < bans} - required
    tiers = np.split(np.asarray(order), np.sort(rng.choice(p + 1, rng.integers(0, 3))))
    named = [[names[i] for i in tier if rng.random() < 0.8] for tier in tiers]
    return {
        "tiers": [tier for tier in named if tier],
        "required": [(names[i], names[j]) for i, j in sorted(required)],
        "forbidden": [(names[i], names[j]) for i, j in sorted(forbidden)],
        "roots": [names[j] for j in range(p) if rng.random() < ends and not any(b == j for _, b in required)],
        "sinks": [names[i] for i in range(p) if rng.random() < ends and not any(a == i for a, _ in required)],
    }


def knowledge_of(names):
    return st.integers(0, 2**32 - 1).map(lambda seed: Knowledge(**random_entries(names, np.random.default_rng(seed))))


def keeps(knowledge, nodes, adjacency):
    """Entry by entry, for a graph in which an undirected edge has both entries."""
    at = {name: k for k, name in enumerate(nodes)}
    joined = {(a, b) for a in nodes for b in nodes if adjacency[at[a]][at[b]]}
    return (
        all((a, b) in joined and (b, a) not in joined for a, b in knowledge.required)
        and not any(edge in joined for edge in knowledge.forbidden)
        and not any(b in knowledge.roots or a in knowledge.sinks for a, b in joined)
        and not any(
            (late, early) in joined
            for k, tier in enumerate(knowledge.tiers)
            for early in tier
            for later in knowledge.tiers[k + 1 :]
            for late in later
        )
    )
