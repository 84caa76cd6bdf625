"""Greedy equivalence search by brute force: slow, literal, and without a line of code in common with it.

A DAG is a frozenset of (cause, effect) pairs over the nodes 0, …, p − 1. A class is known by its skeleton and its
colliders (Verma & Pearl 1990), and a step from class to class is a change of one edge in any of its DAGs.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, permutations

import numpy as np


def is_acyclic(dag, p):
    left = set(range(p))
    while left:
        sinks = {i for i in left if not any((i, j) in dag for j in left)}
        if not sinks:
            return False
        left -= sinks
    return True


def all_dags(p):
    """Every DAG on p nodes."""
    found = [frozenset()]
    for i, j in combinations(range(p), 2):
        found = [dag | edge for dag in found for edge in (set(), {(i, j)}, {(j, i)})]
    return [dag for dag in found if is_acyclic(dag, p)]


def class_key(dag):
    skeleton = frozenset(frozenset(edge) for edge in dag)
    colliders = frozenset(
        (frozenset((a, b)), c)
        for a, c in dag
        for b, d in dag
        if c == d and a != b and frozenset((a, b)) not in skeleton
    )
    return skeleton, colliders


@cache
def members(dag, p):
    """All DAGs of the class: the skeleton directed along every order, as far as the colliders stay the same."""
    found = set()
    for order in permutations(range(p)):
        place = {node: k for k, node in enumerate(order)}
        found.add(frozenset((i, j) if place[i] < place[j] else (j, i) for i, j in dag))
    return frozenset(other for other in found if class_key(other) == class_key(dag))


def cpdag(dag, p):
    """Adjacency of the class: entry [i, j] if some DAG of it has i → j."""
    adjacency = np.zeros((p, p), dtype=bool)
    for other in members(dag, p):
        for i, j in other:
            adjacency[i, j] = True
    return adjacency


def one_edge_away(dag, p, phase):
    """{class key: one of its DAGs} for all classes that one edge more, fewer or reversed leads to."""
    found = {}
    for member in members(dag, p):
        for i, j in permutations(range(p), 2):
            if phase == "forward" and (i, j) not in member and (j, i) not in member:
                other = member | {(i, j)}
            elif phase == "backward" and (i, j) in member:
                other = member - {(i, j)}
            elif phase == "turning" and (i, j) in member:
                other = (member - {(i, j)}) | {(j, i)}
            else:
                continue
            if is_acyclic(other, p) and class_key(other) != class_key(dag):
                found[class_key(other)] = frozenset(other)
    return found


def score(X, dag, penalty=1.0):
    """Gaussian BIC: every column regressed on its parents and an intercept, from the rows."""
    return sum(local_score(X, j, [i for i, k in dag if k == j], penalty) for j in range(X.shape[1]))


def local_score(X, j, parents, penalty=1.0):
    n = len(X)
    design = np.column_stack([np.ones(n), X[:, sorted(parents)]])
    Q, _ = np.linalg.qr(design)
    residuals = X[:, j] - Q @ (Q.T @ X[:, j])
    residuals -= Q @ (Q.T @ residuals)
    return -n / 2 * (1 + math.log(residuals @ residuals / n)) - penalty * math.log(n) / 2 * (1 + len(parents))


def search(X, phases=("forward", "backward", "turning"), iterate=True, penalty=1.0):
    """Always to the best class that one edge leads to; returns a DAG of the last one, and the scores on the way."""
    p = X.shape[1]
    dag = frozenset()
    scores = [score(X, dag, penalty)]
    while True:
        start = len(scores)
        for phase in phases:
            while True:
                reached = [(score(X, other, penalty), sorted(other)) for other in one_edge_away(dag, p, phase).values()]
                if not reached or max(reached)[0] <= scores[-1] + 1e-9:
                    break
                best, edges = max(reached)
                dag = frozenset(edges)
                scores.append(best)
        if not iterate or len(scores) == start:
            return dag, scores
