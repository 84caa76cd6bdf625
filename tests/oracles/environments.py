"""Slow and literal versions of equations that may differ between environments: every choice of states, least squares on rows.

A variable's equation is shared by some environments, has an error variance of its own in some, and is another in some. Rows are X, the
environment of each is in `labels`.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

SHARED, VARIANCE, OWN = 0, 1, 2
SPARE = 5


class Rows:
    """The least sum of any variable on any others: minus the log-likelihood and the prices of what differs."""

    def __init__(self, X, labels):
        self.labels = np.asarray(labels)
        self.names = sorted(set(self.labels.tolist()))
        X = np.asarray(X, float)
        self.parts = [X[self.labels == one] - X[self.labels == one].mean(axis=0) for one in self.names]
        self.p, self.E = X.shape[1], len(self.parts)
        self.d = np.array([len(one) - 1.0 for one in self.parts])
        self.n = int(self.d.sum()) + 1
        self.degrees = self.d * self.n / self.d.sum()
        self.price = math.log(self.n) / 2.0
        self.change = math.log(max(self.p * (self.E - 1), 1))

    def rss(self, e, j, parents, b):
        left = self.parts[e][:, j] - self.parts[e][:, parents] @ b
        return float(left @ left)

    def solved(self, weights, j, parents):
        """Weighted least squares over environments of positive weight."""
        used = [e for e in range(self.E) if weights[e] > 0.0]
        A = np.concatenate([math.sqrt(weights[e]) * self.parts[e][:, parents] for e in used])
        y = np.concatenate([math.sqrt(weights[e]) * self.parts[e][:, j] for e in used])
        return np.linalg.lstsq(A, y, rcond=None)[0]

    def sum_for(self, j, parents, states):
        """The least sum with these states, alternating between weights and variances."""
        parents, d, k = sorted(parents), self.degrees, len(parents)
        together = [e for e in range(self.E) if states[e] != OWN]
        sharing = [e for e in together if states[e] == SHARED]
        total = 0.0
        for e in set(range(self.E)) - set(together):
            b = self.solved(np.eye(self.E)[e], j, parents)
            total += d[e] / 2 * (math.log(self.rss(e, j, parents, b) / d[e]) + 1) + (k + 1) * self.price + self.change
        total += sum(self.price + self.change for e in together if states[e] == VARIANCE)
        variance, before = np.ones(self.E), math.inf
        for _ in range(500):
            b = self.solved([1 / variance[e] if e in together else 0.0 for e in range(self.E)], j, parents)
            rss = {e: self.rss(e, j, parents, b) for e in together}
            common = sum(rss[e] for e in sharing) / d[sharing].sum()
            for e in together:
                variance[e] = common if states[e] == SHARED else rss[e] / d[e]
            now = sum(d[e] / 2 * (math.log(variance[e]) + rss[e] / (d[e] * variance[e])) for e in together)
            if before - now < 1e-11 * self.n:
                break
            before = now
        return total + now

    def states(self, k):
        """Every choice of states, one environment at least sharing."""
        for states in itertools.product((SHARED, VARIANCE, OWN), repeat=self.E):
            sharing = sum(d for one, d in zip(states, self.degrees, strict=True) if one == SHARED)
            if (sharing < k + SPARE and set(states) != {SHARED}) or (k == 0 and OWN in states):
                continue
            room = all(
                one == SHARED or d >= SPARE + (k if one == OWN else 0)
                for one, d in zip(states, self.degrees, strict=True)
            )
            if room:
                yield states

    def v(self, j, parents):
        """(v, states) of the least sum over all choices."""
        total, states = min((self.sum_for(j, parents, one), one) for one in self.states(len(parents)))
        return 2.0 * total / self.n - 1.0, states
