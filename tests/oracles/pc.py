"""The PC algorithm written out literally, and slowly, for the tests of `ordag.learners.pc`; shares no code with it.

Nodes are numbers. `p_value(i, j, S)` is any function that tells how much i and j look independent given S.
"""

from __future__ import annotations

from itertools import combinations, permutations

import mpmath
import numpy as np
from scipy import stats

DIGITS = 80


# Partial correlations and tests, from the rows


def residual_correlation(X, i, j, S):
    """The correlation of what two regressions on S leave of columns i and j."""
    design = np.column_stack([np.ones(len(X)), X[:, list(S)] / np.abs(X[:, list(S)]).max(axis=0)])
    Q, _ = np.linalg.qr(design)
    left = X[:, [i, j]]
    for _ in range(3):
        left = left - Q @ (Q.T @ left)
    return float(left[:, 0] @ left[:, 1] / np.linalg.norm(left[:, 0]) / np.linalg.norm(left[:, 1]))


def exact_correlation(X, i, j, S):
    """The same in 80 digits, and how short the shortest column becomes on the way, relative to its first length."""
    with mpmath.workdps(DIGITS):
        columns = [[mpmath.mpf(float(value)) for value in X[:, k]] for k in (*S, i, j)]
        centred = [[value - mpmath.fsum(column) / len(column) for value in column] for column in columns]
        G = mpmath.matrix([[mpmath.fdot(a, b) for b in centred] for a in centred])
        first = [G[m, m] for m in range(len(centred))]
        for t in range(len(S)):
            for a in range(t + 1, len(centred)):
                share = G[a, t] / G[t, t]
                for b in range(t + 1, len(centred)):
                    G[a, b] -= share * G[t, b]
        k = len(S)
        shortest = min(mpmath.sqrt(G[m, m] / first[m]) for m in range(len(centred)))
        return float(G[k, k + 1] / mpmath.sqrt(G[k, k] * G[k + 1, k + 1])), float(shortest)


def fisher_z(X):
    def p_value(i, j, S):
        z = np.arctanh(residual_correlation(X, i, j, S)) * np.sqrt(len(X) - len(S) - 3)
        return 2 * stats.norm.sf(abs(z))

    return p_value


def exact_t(X):
    def p_value(i, j, S):
        r = residual_correlation(X, i, j, S)
        d = len(X) - len(S) - 2
        return 2 * stats.t.sf(abs(r) * np.sqrt(d / (1 - r * r)), d)

    return p_value


def separation(adjacency):
    """One where a DAG separates i and j by S, zero where it does not: in the moral graph of the ancestors, no path."""
    p = len(adjacency)

    def p_value(i, j, S):
        keep = {i, j, *S}
        while True:
            more = {a for a in range(p) for b in keep if adjacency[a][b]} - keep
            if not more:
                break
            keep |= more
        joined = {frozenset((a, b)) for a in keep for b in keep if adjacency[a][b]}
        joined |= {
            frozenset((a, b)) for c in keep for a, b in combinations(keep, 2) if adjacency[a][c] and adjacency[b][c]
        }
        reached, ahead = {i}, [i]
        while ahead:
            node = ahead.pop()
            for other in keep - reached - set(S):
                if frozenset((node, other)) in joined:
                    reached.add(other)
                    ahead.append(other)
        return 0.0 if j in reached else 1.0

    return p_value


# The skeleton


def skeleton(p, p_value, alpha, largest=False):
    """Neighbours of every node, the separating sets of pairs i < j, and the p-values that decided."""
    around = {i: {j for j in range(p) if j != i} for i in range(p)}
    separating, values = {}, {}
    k = 0
    while any(len(around[i] - {j}) >= k for i in range(p) for j in around[i]):
        frozen = {i: sorted(around[i]) for i in range(p)}
        for i, j in combinations(range(p), 2):
            if j not in frozen[i]:
                continue
            met = []
            for near, far in ((i, j), (j, i)):
                for S in combinations([node for node in frozen[near] if node != far], k):
                    met.append((p_value(i, j, S), S))
            found = [(value, S) for value, S in met if value > alpha]
            if found:
                values[i, j], separating[i, j] = max(found, key=lambda one: one[0]) if largest else found[0]
                around[i].discard(j)
                around[j].discard(i)
            else:
                values[i, j] = max([values.get((i, j), 0.0), *(value for value, _ in met)])
        k += 1
    return around, separating, values


def unshielded(around):
    return [(a, b, c) for b in sorted(around) for a, c in combinations(sorted(around[b]), 2) if c not in around[a]]


# Which triples are colliders


def by_set(around, separating):
    """Colliders, and no ambiguous triples."""
    return {(a, b, c) for a, b, c in unshielded(around) if b not in separating[a, c]}, set()


def by_vote(around, p_value, alpha, conservative, twice=False):
    """Colliders and ambiguous triples; with `twice`, a set of common neighbours counts for either end, as in pcalg."""
    colliders, ambiguous = set(), set()
    for a, b, c in unshielded(around):
        sets = []
        for end in (a, c):
            for size in range(len(around[end]) + 1):
                for S in combinations(sorted(around[end]), size):
                    if p_value(a, c, S) > alpha:
                        sets.append(S)
        if not twice:
            sets = sorted(set(sets))
        share = sum(b in S for S in sets) / len(sets) if sets else 0.5
        if share == 0.5 or (conservative and 0 < share < 1):
            ambiguous.add((a, b, c))
        elif share < 0.5:
            colliders.add((a, b, c))
    return colliders, ambiguous


# Directions: G[i, j] = G[j, i] = 1 is i — j, G[i, j] = 1 alone is i → j


def undirected(around):
    G = np.zeros((len(around), len(around)), dtype=int)
    for i, neighbours in around.items():
        G[i, list(neighbours)] = 1
    return G


def later_overwrites(around, colliders, ambiguous=frozenset()):
    """One collider after the other by its middle node, later ones over earlier ones, then the rules one by one."""
    G = undirected(around)
    for a, b, c in sorted(colliders, key=lambda triple: triple[1]):
        G[a, b] = G[c, b] = 1
        G[b, a] = G[b, c] = 0
    return rules_one_by_one(G, ambiguous)


def rules_one_by_one(G, ambiguous=frozenset()):
    p = len(G)
    silent = ambiguous | {triple[::-1] for triple in ambiguous}

    def arrow(x, y):
        return G[x, y] and not G[y, x]

    def line(x, y):
        return G[x, y] and G[y, x]

    def apart(x, y):
        return not G[x, y] and not G[y, x]

    while True:
        before = G.copy()
        for b, a, c in permutations(range(p), 3):
            if arrow(a, b) and line(b, c) and apart(a, c) and (a, b, c) not in silent:
                G[c, b] = 0
        for a, b, c in permutations(range(p), 3):
            if line(a, b) and arrow(a, c) and arrow(c, b):
                G[b, a] = 0
        for a, b in permutations(range(p), 2):
            for c, d in combinations(range(p), 2):
                undecided = line(a, b) and line(a, c) and line(a, d) and (c, a, d) not in silent
                if undecided and arrow(c, b) and arrow(d, b) and apart(c, d):
                    G[b, a] = 0
        if np.array_equal(G, before):
            return G.astype(bool)


def strongest_first(around, colliders, values):
    """bnlearn's way: colliders by the p-value of their separating set, smallest first; those that contradict an earlier
    one, or close a cycle, are left out."""
    G = undirected(around)
    for a, b, c in sorted(colliders, key=lambda triple: values[triple[0], triple[2]]):
        if not (G[a, b] and G[c, b]):
            continue
        H = G.copy()
        H[b, a] = H[b, c] = 0
        arrows = (H == 1) & (H.T == 0)
        if not np.trace(np.linalg.matrix_power(np.eye(len(H)) + arrows, len(H)) - np.eye(len(H))) > 0:
            G = H
    return rules_one_by_one(G)


def contested_stay_open(around, colliders, ambiguous=frozenset()):
    """An edge that colliders direct both ways stays undirected and out of all rules; the rules work in rounds.

    Gives the graph and the edges in conflict.
    """
    nodes = range(len(around))
    claims = {(a, b) for a, b, _ in colliders} | {(c, b) for _, b, c in colliders}
    conflict = {frozenset(edge) for edge in claims if edge[::-1] in claims}
    arrows = {edge for edge in claims if frozenset(edge) not in conflict}
    lines = {frozenset((i, j)) for i in nodes for j in around[i]} - {frozenset(edge) for edge in claims}
    chains = [triple for triple in unshielded(around) if triple not in colliders and triple not in ambiguous]
    chains += [triple[::-1] for triple in chains]
    open_ = {frozenset((i, j)) for i in nodes for j in around[i]} & conflict
    while True:
        asked = {(b, c) for a, b, c in chains if (a, b) in arrows and frozenset((b, c)) in lines}
        asked |= {(x, z) for x, y in arrows for w, z in arrows if y == w and frozenset((x, z)) in lines}
        asked |= {
            (b, x)
            for a, b, c in chains
            for x in nodes
            if {frozenset((b, a)), frozenset((b, c)), frozenset((b, x))} <= lines and {(a, x), (c, x)} <= arrows
        }
        torn = {frozenset(edge) for edge in asked if edge[::-1] in asked}
        conflict |= torn
        open_ |= torn
        lines -= torn
        asked = {edge for edge in asked if frozenset(edge) not in torn}
        if not asked and not torn:
            break
        arrows |= asked
        lines -= {frozenset(edge) for edge in asked}
    G = np.zeros((len(around), len(around)), dtype=bool)
    for i, j in arrows:
        G[i, j] = True
    for i, j in map(tuple, lines | open_):
        G[i, j] = G[j, i] = True
    return G, conflict
