"""Categories as causes, literally: regressions on rows with indicators of the levels, and all graphs with all sets of categories.

Shares no code with the package. A graph is a tuple of frozensets, the parents of every variable; sets of categories likewise.
"""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
from scipy.stats import f as f_distribution

from oracles.pooled import all_dags, score


def design(X, parents, categories):
    """A constant, the parents, and one indicator for every level but the first of each category."""
    columns = [np.ones(len(X)), *(X[:, i] for i in sorted(parents))]
    for values in categories:
        columns += [(values == level).astype(float) for level in np.unique(values)[1:]]
    return np.column_stack(columns)


def rss(X, j, parents, categories):
    A = design(X, parents, categories)
    left = X[:, j] - A @ np.linalg.lstsq(A, X[:, j], rcond=None)[0]
    return float(left @ left), np.linalg.matrix_rank(A)


def f_test(X, j, parents, category, others):
    """The statistic, its degrees of freedom and the p-value of a category beyond the parents and the other categories."""
    less, small = rss(X, j, parents, others)
    whole, large = rss(X, j, parents, [*others, category])
    q, df = large - small, len(X) - large
    statistic = (less - whole) / q / (whole / df)
    return statistic, q, df, f_distribution.sf(statistic, q, df)


def block_price(n, sizes, counts, p):
    """What so many arrows from each category cost."""
    m, pairs = sum(counts), len(sizes) * p
    chance = m * (1.0 - m / (2.0 * pairs))
    return (
        sum(q * k for q, k in zip(sizes, counts, strict=True)) * math.log(n) / 2.0
        + math.log(math.comb(pairs, m))
        + chance
    )


def best(X, categories, groups=None, spread=1.0):
    """The lowest score over all graphs with all sets of categories, with the graph and the sets."""
    n, p = X.shape
    sizes = [len(np.unique(values)) - 1 for values in categories]
    every = [frozenset(some) for k in range(len(sizes) + 1) for some in combinations(range(len(sizes)), k)]
    known = {}

    def v(j, parents, chosen):
        key = j, parents, chosen
        if key not in known:
            known[key] = math.log(rss(X, j, parents, [categories[c] for c in sorted(chosen)])[0] / n)
        return known[key]

    found = (math.inf, None, None)
    for graph in all_dags(p):
        edges = sum(map(len, graph))
        for sets in product(every, repeat=p):
            values = np.array([v(j, graph[j], sets[j]) for j in range(p)])
            counts = [sum(c in one for one in sets) for c in range(len(sizes))]
            total = score(n, values, edges, groups, spread) + block_price(n, sizes, counts, p)
            if total < found[0]:
                found = total, graph, sets
    return found
