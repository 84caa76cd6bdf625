"""What the tests of greedy equivalence search share: data with some correlation, and graphs in three notations."""

from __future__ import annotations

import numpy as np

from ordag.data.moments import Moments
from ordag.graph import Dag, to_cpdag
from ordag.learners.ges.essential import Essential, essential


def random_dag(p, density, rng):
    """Edges as (cause, effect) pairs."""
    order = rng.permutation(p)
    return frozenset(
        (int(order[i]), int(order[j])) for i in range(p) for j in range(i + 1, p) if rng.random() < density
    )


def rows(p, n, rng, density=0.6):
    """Rows of a random linear model."""
    B = np.zeros((p, p))
    for i, j in random_dag(p, density, rng):
        B[i, j] = rng.uniform(0.4, 1.2) * rng.choice([-1, 1])
    return rng.normal(size=(n, p)) * rng.uniform(0.7, 1.5, p) @ np.linalg.inv(np.eye(p) - B)


def moments(X):
    return Moments.from_rows(X)


def as_essential(dag, p) -> Essential:
    return essential([sum(1 << i for i, k in dag if k == j) for j in range(p)])


def as_pairs(parents):
    """Bit sets of parents as (cause, effect) pairs."""
    return frozenset((i, j) for j, bits in enumerate(parents) for i in range(len(parents)) if bits >> i & 1)


def as_cpdag(dag, names):
    """The class of a DAG given as pairs of indices."""
    return to_cpdag(Dag.from_edges(names, [(names[i], names[j]) for i, j in dag]))
