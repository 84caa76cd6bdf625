"""Find the best of all graphs over few variables, where the score is a sum over variables and a price of the number of edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ordag.arrays import Array


def best_graph(costs: Array, prices: Array, first: Sequence[int]) -> tuple[int, ...]:
    r"""Return the parents of every variable, as bitmasks, in the DAG of the lowest $\sum_j$ costs[j, parents] + prices[edges].

    The lowest sum over every set of variables is found for every number of edges, smaller sets first: one variable of the set comes
    last, and has parents among the others (Silander & Myllymäki 2006).

    costs: of every variable with every set of parents, as a bitmask; infinite for sets that it cannot have. prices: of every number
    of edges. first: the variables that must come before each.
    """
    p, sets = costs.shape
    size = np.array([mask.bit_count() for mask in range(sets)])
    nodes = np.arange(sets)
    # own[j, before, m]: the lowest cost of j with m parents within a set
    own = np.full((p, sets, p + 1), np.inf)
    own[:, nodes, size] = costs
    for k in range(p):
        having = nodes[nodes >> k & 1 == 1]
        own[:, having] = np.minimum(own[:, having], own[:, having ^ 1 << k])
    for j, needed in enumerate(first):
        own[j, nodes & needed != needed] = np.inf
    # sums[nodes, k]: the lowest sum over a set of variables with k edges among them
    sums = np.full((sets, len(prices)), np.inf)
    sums[0, 0] = 0.0
    for of_size in range(1, p + 1):
        for j in range(p):
            having = nodes[(size == of_size) & (nodes >> j & 1 == 1)]
            before, best = having ^ 1 << j, sums[having]
            for m in range(of_size):
                rest = sums[before, : len(prices) - m] + own[j, before, m, None]
                best[:, m:] = np.minimum(best[:, m:], rest)
            sums[having] = best
    parents = [0] * p
    left, edges = sets - 1, int((sums[-1] + prices).argmin())
    while left:  # back from the last variable: which one, with how many parents, and which
        others = [left ^ 1 << j for j in range(p) if left >> j & 1]
        last = [
            (sums[before, edges - m] + own[(left ^ before).bit_length() - 1, before, m], before, m)
            for before in others
            for m in range(min(len(others) - 1, edges) + 1)
        ]
        _, before, m = min(last)
        j = (left ^ before).bit_length() - 1
        left, edges = before, edges - m
        possible = nodes[(nodes & ~left == 0) & (size == m)]
        parents[j] = int(possible[costs[j, possible].argmin()])
    return tuple(parents)
