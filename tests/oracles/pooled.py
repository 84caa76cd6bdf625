"""Slow and literal transcriptions for the tests of the pooled score, its search and its posterior; they share no code with
the package.

A graph is a tuple of frozensets: the parents of every variable.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import mpmath
import numpy as np
from scipy.integrate import quad


class Rows:
    """v of any variable on any others, by least squares on the rows with an intercept."""

    def __init__(self, X):
        self.X = np.asarray(X, dtype=float)
        self.n, self.p = self.X.shape
        self.known = {}

    def v(self, j, parents):
        key = j, frozenset(parents)
        if key not in self.known:
            design = np.column_stack([np.ones(self.n), self.X[:, sorted(key[1])]])
            solution = np.linalg.lstsq(design, self.X[:, j], rcond=None)[0]
            residual = self.X[:, j] - design @ solution
            self.known[key] = math.log(residual @ residual / self.n)
        return self.known[key]

    def of(self, graph):
        return np.array([self.v(j, parents) for j, parents in enumerate(graph)])


def exact_v(X, j, parents, digits=50):
    """The same by the normal equations in many digits, for columns that are nearly collinear."""
    with mpmath.workdps(digits):
        columns = {k: [mpmath.mpf(float(value)) for value in X[:, k]] for k in [*parents, j]}
        for k, column in columns.items():
            mean = mpmath.fsum(column) / len(column)
            columns[k] = [value - mean for value in column]
        G = mpmath.matrix([[mpmath.fdot(columns[a], columns[b]) for b in parents] for a in parents])
        c = mpmath.matrix([mpmath.fdot(columns[a], columns[j]) for a in parents])
        left = mpmath.fdot(columns[j], columns[j]) - (c.T * mpmath.lu_solve(G, c))[0]
        return float(mpmath.log(left / len(X)))


def pooling(n, size, squares, spread):
    """M(SS) = −log ∫ ω^−(q−1) exp(−SS / 2ω²) p(τ) dτ with ω² = τ² + 2/n, by quadrature over log τ."""

    def log_integrand(u):
        tau = math.exp(u)
        omega2 = tau**2 + 2.0 / n
        density = 2.0 / (math.pi * spread * (1.0 + (tau / spread) ** 2))
        return -(size - 1) / 2.0 * math.log(omega2) - squares / (2.0 * omega2) + math.log(density) + u

    low, high = math.log(spread * 1e-9), math.log(spread * 60.0)
    grid = np.linspace(low, high, 4001)
    values = np.array([log_integrand(u) for u in grid])
    peak = grid[values.argmax()]
    top = values.max()
    near = [x for d in (0.02, 0.1, 0.5, 2.0) for x in (peak - d, peak + d) if low < x < high]
    area, _ = quad(lambda u: math.exp(log_integrand(u) - top), low, high, points=sorted([peak, *near]), limit=500)
    return -(top + math.log(area))


def poolings(n, size, squares, spread):
    """The same for many values of SS, by Gauss–Legendre over log τ."""
    at, weight = np.polynomial.legendre.leggauss(900)
    low, high = math.log(spread * 1e-9), math.log(spread * 60.0)
    u = (low + high) / 2.0 + (high - low) / 2.0 * at
    tau = np.exp(u)
    omega2 = tau**2 + 2.0 / n
    log_weight = np.log(weight * (high - low) / 2.0) + u - np.log(math.pi / 2.0 * spread * (1.0 + (tau / spread) ** 2))
    logs = log_weight - (size - 1) / 2.0 * np.log(omega2) - np.asarray(squares)[:, None] / (2.0 * omega2)
    top = logs.max(axis=1)
    return -(top + np.log(np.exp(logs - top[:, None]).sum(axis=1)))


def edge_prior(n, p, k):
    """k (log n) / 2 + log C(N, k) + k (1 − k / 2N), where the last term makes up for the search."""
    pairs = p * (p - 1) // 2
    chance = k * (1.0 - k / (2.0 * pairs)) if pairs > 0 else 0.0
    return k * math.log(n) / 2.0 + math.log(math.comb(pairs, k)) + chance


def score(n, v, k, groups=None, spread=1.0):
    """The integrated score from the log variances and the number of edges."""
    v = np.asarray(v)
    total = n / 2.0 * v.sum() + edge_prior(n, len(v), k)
    for group in [range(len(v))] if groups is None else groups:
        if len(group) > 1:
            inside = v[list(group)]
            total += pooling(n, len(inside), ((inside - inside.mean()) ** 2).sum(), spread)
    return total


def plug_in_score(n, v, k):
    """The score with the spread put in place of its integral, ω² = max(var(v), 2/n), and nothing to make up for a search."""
    v = np.asarray(v)
    p = len(v)
    omega2 = max(v.var(ddof=1), 2.0 / n)
    fit = n / 2.0 * v.sum() + p / 2.0 * math.log(omega2) + ((v - v.mean()) ** 2).sum() / (2.0 * omega2)
    return fit + k * math.log(n) / 2.0 + math.log(math.comb(p * (p - 1) // 2, k))


def score_of(X, graph, groups=None, spread=1.0):
    return score(len(X), Rows(X).of(graph), sum(len(parents) for parents in graph), groups, spread)


def scores_of(X, graphs, groups=None, spread=1.0):
    """The integrated score of many graphs."""
    rows = Rows(X)
    n, p = rows.n, rows.p
    v = np.array([rows.of(graph) for graph in graphs])
    edges = np.array([sum(len(parents) for parents in graph) for graph in graphs])
    totals = n / 2.0 * v.sum(axis=1) + np.array([edge_prior(n, p, k) for k in range(p * (p - 1) // 2 + 1)])[edges]
    for group in [range(p)] if groups is None else groups:
        if len(group) > 1:
            inside = v[:, list(group)]
            squares = ((inside - inside.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            totals += poolings(n, len(group), squares, spread)
    return totals


def is_acyclic(graph):
    left = set(range(len(graph)))
    while left:
        sources = {j for j in left if not graph[j] & left}
        if not sources:
            return False
        left -= sources
    return True


def subsets(items):
    items = list(items)
    for size in range(len(items) + 1):
        for chosen in combinations(items, size):
            yield frozenset(chosen)


def all_dags_by_force(p):
    choices = [list(subsets(k for k in range(p) if k != j)) for j in range(p)]
    return [graph for graph in product(*choices) if is_acyclic(graph)]


def all_dags(p):
    """By recursion: every DAG has a set S of sinks that is not empty; the rest is a DAG, each of the sinks has any parents among the
    rest, and every variable of the rest that has no child there has one in S."""
    known = {frozenset(): [{}]}

    def over(nodes):
        if nodes not in known:
            found = []
            for sinks in subsets(nodes):
                if not sinks:
                    continue
                rest = nodes - sinks
                for graph in over(rest):
                    childless = {k for k in rest if not any(k in parents for parents in graph.values())}
                    for choice in product(*[list(subsets(rest)) for _ in sinks]):
                        if childless <= frozenset().union(*choice):
                            found.append(graph | dict(zip(sorted(sinks), choice, strict=True)))
            known[nodes] = found
        return known[nodes]

    return [tuple(graph[j] for j in range(p)) for graph in over(frozenset(range(p)))]


def probabilities(totals, graphs):
    """exp(−score), normalised, summed over the graphs that have an arrow: i → j at [i, j]."""
    weight = np.exp(-(totals - totals.min()))
    weight /= weight.sum()
    p = len(graphs[0])
    found = np.zeros((p, p))
    for share, graph in zip(weight, graphs, strict=True):
        for j, parents in enumerate(graph):
            for i in parents:
                found[i, j] += share
    return found


def term(v, half, mean, weight):
    """half · v + weight · (v − mean)², level to the left of its lowest point."""
    if weight > 0.0:
        v = max(v, mean - half / (2.0 * weight))
    return half * v + weight * (v - mean) ** 2


def grow_shrink(j, before, cost, v, allowed=None, required=frozenset(), start=frozenset()):
    """Add the best as long as the cost falls, then drop the best as long as it falls: (parents, all that were ever added).

    `cost(j, parents)` is what is to be low; of those that cost the same the best has the lowest `v(j, parents)`. Only those
    `allowed` may be added, the `needed` are there from the start and stay, those of `start` are there and may go.
    """

    def rank(parents):
        return cost(j, parents), v(j, parents)

    parents = frozenset(required) | start
    while True:
        able = [k for k in before if k not in parents and (allowed is None or k in allowed)]
        best = min(able, key=lambda k: rank(parents | {k}), default=None)
        if best is None or cost(j, parents | {best}) >= cost(j, parents):
            break
        parents |= {best}
    grown = parents
    while parents - required:
        worst = min(parents - required, key=lambda k: rank(parents - {k}))
        if cost(j, parents - {worst}) >= cost(j, parents):
            break
        parents -= {worst}
    return parents, grown


def order_cost(order, cost, v):
    """The sum over variables of the cost of what grow–shrink finds along an order."""
    return sum(cost(j, grow_shrink(j, order[:place], cost, v)[0]) for place, j in enumerate(order))


def places_of(order, x, first=(), last=()):
    """Every order that x at another or the same place gives, with `first` before it and `last` after it."""
    rest = [j for j in order if j != x]
    for place in range(len(order)):
        if not set(first) & set(rest[place:]) and not set(last) & set(rest[:place]):
            yield [*rest[:place], x, *rest[place:]]


def best_over_orders(p, cost):
    """The lowest sum of costs over all DAGs: the best subset of predecessors for each variable, by every order of them."""
    best_parents = {}

    def best(j, before):
        key = j, before
        if key not in best_parents:
            best_parents[key] = min(cost(j, parents) for parents in subsets(before))
        return best_parents[key]

    return min(
        sum(best(j, frozenset(order[:place])) for place, j in enumerate(order)) for order in permutations(range(p))
    )


def best_over_sets(p, cost):
    """The same set by set: the last of a set has the others before it."""
    own = {(j, parents): cost(j, parents) for j in range(p) for parents in subsets(k for k in range(p) if k != j)}
    lowest = {}
    for j in range(p):
        for before in subsets(k for k in range(p) if k != j):
            smaller = [lowest[j, before - {k}] for k in before]
            lowest[j, before] = min([own[j, before], *smaller])
    total = {frozenset(): 0.0}
    for nodes in subsets(range(p)):
        if nodes:
            total[nodes] = min(total[nodes - {j}] + lowest[j, nodes - {j}] for j in nodes)
    return total[frozenset(range(p))]


def best_by_edges(p, v):
    """The lowest sum of v over all DAGs with k edges, for every k: set by set, where the last of a set has parents among the others."""
    own = {}
    for j in range(p):
        for before in subsets(k for k in range(p) if k != j):
            for size in range(len(before) + 1):
                smaller = [own[j, before - {k}, size] for k in before if size < len(before)]
                own[j, before, size] = min(smaller) if smaller else v(j, before)
    total = {(frozenset(), 0): 0.0}
    for nodes in subsets(range(p)):
        for j in nodes:
            for size, edges in product(range(len(nodes)), range(p * (p - 1) // 2 + 1)):
                if (nodes - {j}, edges) in total:
                    sum_ = total[nodes - {j}, edges] + own[j, nodes - {j}, size]
                    total[nodes, edges + size] = min(sum_, total.get((nodes, edges + size), math.inf))
    return [total[frozenset(range(p)), k] for k in range(p * (p - 1) // 2 + 1)]


def one_arrow_away(graph):
    """All DAGs that an arrow added, dropped or turned makes of a graph."""
    for i, j in permutations(range(len(graph)), 2):
        changes = [{j: graph[j] ^ {i}}, {j: graph[j] - {i}, i: graph[i] | {j}} if i in graph[j] else {}]
        for change in changes:
            other = tuple(change.get(k, parents) for k, parents in enumerate(graph))
            if change and is_acyclic(other):
                yield other


def masks(sets):
    """Sets of variables as Python ints."""
    return [sum(1 << k for k in members) for members in sets]


STRENGTH = 0.9
"""How far resamples go from the table to rows drawn with replacement."""


def resample(X, seed, strength=STRENGTH):
    """Rows whose covariance is so far from that of the rows, in terms of rows drawn with replacement; in steps below that of one draw."""
    random, steps = np.random.default_rng(seed), math.ceil(strength**2)
    centred = X - X.mean(axis=0)
    root = np.linalg.cholesky(np.cov(X.T, bias=True)).T
    white = centred @ np.linalg.inv(root)
    for _ in range(steps):
        drawn = white[random.integers(len(X), size=len(X))]
        change = np.cov(drawn.T, bias=True) - np.eye(X.shape[1])
        root = np.linalg.cholesky(np.eye(X.shape[1]) + strength / math.sqrt(steps) * change).T @ root
    return white @ root


def strength_for(edges, p, n):
    """0.9 with up to five variables or three tenths of the pairs joined, 1.3 with four tenths, never more than 1.8.

    Beyond 0.9 at least six rows for each variable would vary as much.
    """
    share = 0.0 if p <= 5 else edges / math.comb(p, 2)
    by_density = float(np.interp(share, [0.3, 0.525, 1.0], [STRENGTH, 1.8, 1.8]))
    return max(min(by_density, (n / 6 / p) ** 0.5), STRENGTH)


def bagged(X, graphs, seeds, groups=None, spread=1.0):
    """The probabilities in the mean over resamples, written down one by one."""
    found = [probabilities(scores_of(resample(X, seed), graphs, groups, spread), graphs) for seed in seeds]
    return np.mean(found, axis=0)


def random_rows(p, n, rng, density=0.5, spread=0.0, size=1.0):
    """Rows of a random linear model in random order; the log error variances have the standard deviation `spread`."""
    B = np.triu(rng.uniform(0.3, 1.0, (p, p)) * rng.choice([-1, 1], (p, p)) * (rng.random((p, p)) < density), 1) * size
    X = rng.standard_normal((n, p)) * np.exp(spread / 2.0 * rng.standard_normal(p))
    for j in range(p):
        X[:, j] += X[:, :j] @ B[:j, j]
    shuffle = rng.permutation(p)
    return X[:, shuffle]
