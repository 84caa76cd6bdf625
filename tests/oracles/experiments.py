"""Slow and literal versions of what experiments do to equations: regressions on the rows that count, with a mean for every condition.

Rows are X, the condition of each is in `labels`, and `targets[label]` are the variables that it acts on.
"""

from __future__ import annotations

import itertools
import math

import numpy as np


class Rows:
    """v, weights and standard errors of any variable on any others, by least squares on the rows in which nobody acted on it."""

    def __init__(self, X, labels, targets):
        self.X, self.labels, self.targets = np.asarray(X, float), np.asarray(labels), targets
        self.p = self.X.shape[1]

    def counting(self, j):
        return np.array([j not in self.targets[label] for label in self.labels])

    def count(self, j):
        """Rows, less one for every condition but the first."""
        counts = self.counting(j)
        return int(counts.sum()) - len(set(self.labels[counts].tolist())) + 1

    def regression(self, j, parents):
        """(weights, standard errors, RSS) on sorted parents."""
        counts = self.counting(j)
        labels, X = self.labels[counts], self.X[counts]
        means = np.array([[float(label == one) for one in sorted(set(labels.tolist()))] for label in labels])
        design = np.column_stack([X[:, sorted(parents)], means])
        solution = np.linalg.lstsq(design, X[:, j], rcond=None)[0]
        residual = X[:, j] - design @ solution
        rss = float(residual @ residual)
        k = len(parents)
        variance = rss / (self.count(j) - 1 - k)
        errors = np.sqrt(variance * np.linalg.inv(design.T @ design).diagonal()[:k])
        return solution[:k], errors, rss

    def v(self, j, parents):
        return math.log(self.regression(j, frozenset(parents))[2] / self.count(j))

    def cvs(self):
        """(order, {(later, earlier): p-value}): the least RSS over its degrees of freedom next, Fisher's z given all others before."""
        order, values, waiting = [], {}, list(range(self.p))
        while waiting:
            each = [self.regression(j, order)[2] / (self.count(j) - 1 - len(order)) for j in waiting]
            j = waiting.pop(int(np.argmin(each)))
            whole = self.regression(j, order)[2]
            for i in order:
                r = math.sqrt(1.0 - whole / self.regression(j, [k for k in order if k != i])[2])
                z = math.sqrt(self.count(j) - (len(order) - 1) - 3) * math.atanh(r)
                values[j, i] = math.erfc(z / math.sqrt(2.0))
            order.append(j)
        return order, values


def all_dags(p):
    """Return all DAGs of p nodes as masks."""
    pairs = list(itertools.combinations(range(p), 2))
    found = []
    for ways in itertools.product((0, 1, 2), repeat=len(pairs)):
        dag = np.zeros((p, p), bool)
        for (i, j), way in zip(pairs, ways, strict=True):
            dag[i, j], dag[j, i] = way == 1, way == 2
        power = dag.copy()
        for _ in range(p):
            power = dag | (power.astype(int) @ dag.astype(int) > 0)
        if not power.diagonal().any():
            found.append(dag)
    return found


def same_under(one, other, targets):
    """Return whether no experiment tells two DAGs apart: without the arrows into its targets, they have the same skeleton and colliders."""
    return all(_shape(_cut(one, own)) == _shape(_cut(other, own)) for own in [frozenset(), *targets])


def _cut(dag, own):
    left = dag.copy()
    left[:, list(own)] = False
    return left


def _shape(dag):
    p = len(dag)
    joined = dag | dag.T
    colliders = {
        (i, k, j)
        for i, j in itertools.combinations(range(p), 2)
        for k in range(p)
        if dag[i, k] and dag[j, k] and not joined[i, j]
    }
    return joined.tobytes(), colliders
