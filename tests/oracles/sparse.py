"""The order with sparse supports, literally: every residual variance from the normal equations, every pair and triple tried."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def sparse_order(S, n, before=None, most=10, width=None):
    """Order, criteria, variances and supports. Scores that differ by 1e-9 per row are equal, and the first tried counts."""
    S = np.asarray(S, dtype=float)
    p = len(S)
    most = max(min(most, n - 2), 0)
    price = math.log(n) + 2 * math.log(p)
    same = 1e-9 * n
    order, criteria, variances = [], [], []
    A = {j: [] for j in range(p)}

    def left(j, members):
        """RSS of j on the members; None if one of them keeps less than 1e-10 of its variance given the others."""
        for i in members:
            others = [l for l in members if l != i]
            if residual(i, others) < 1e-10 * S[i, i]:
                return None
        return max(residual(j, members), 1e-14 * S[j, j])

    def residual(j, members):
        if not members:
            return S[j, j]
        block = S[np.ix_(members, members)]
        try:
            return S[j, j] - S[j, members] @ np.linalg.solve(block, S[members, j])
        except np.linalg.LinAlgError:
            return 0.0

    def score(j, members):
        rss = left(j, members)
        return math.inf if rss is None else n * math.log(rss / S[j, j]) + price * len(members)

    def lowest(j, tries):
        """The first of the lowest, if it is lower than that of j's own support."""
        scores = [score(j, one) for one in tries]
        if scores and min(scores) < score(j, A[j]) - same:
            return next(one for one, s in zip(tries, scores, strict=True) if s <= min(scores) + same)
        return None

    def in_order(members):
        return sorted(members, key=order.index)

    def triples(j, m):
        earlier = order[:-1]

        def r(a):
            partial = S[j, a] - S[j, m] * S[m, a] / S[m, m]
            alone = S[a, a] - S[m, a] ** 2 / S[m, m]
            return abs(partial) / math.sqrt(alone) if alone >= 1e-10 * S[a, a] else 0.0

        wide = earlier if width is None else sorted(earlier, key=r, reverse=True)[:width]
        return [in_order([a, b, m]) for a, b in combinations(earlier, 2) if a in wide or b in wide]

    def exchanges(j):
        members = A[j]
        outside = [a for a in order if a not in members]
        tries = [in_order([*members, a]) for a in outside] if len(members) < most else []
        for i in members:
            rest = [l for l in members if l != i]
            tries += [in_order([*rest, a]) for a in outside]
        return tries + [[l for l in members if l != i] for i in members]

    while len(order) < p:
        waiting = [j for j in range(p) if j not in order]
        free = [j for j in waiting if before is None or all(i in order for i in range(p) if before[i, j])]
        variance = {j: left(j, A[j]) * (n - 1) / max(n - 1 - len(A[j]), 1) for j in free}
        criterion = {j: variance[j] * math.exp(len(A[j]) * math.log(p) / n) for j in free}
        m = next(j for j in free if criterion[j] <= min(criterion.values()) * (1 + 1e-10))
        order.append(m)
        criteria.append(criterion[m])
        variances.append(variance[m])
        for j in waiting:
            if j == m or not most:
                continue
            start = A[j]
            tries = [[*A[j], m]] if len(A[j]) < most else []
            tries += [[l for l in A[j] if l != i] + [m] for i in A[j]]
            A[j] = lowest(j, tries) or A[j]
            if most > 1:
                A[j] = lowest(j, [[a, m] for a in order[:-1]]) or A[j]
            if most > 2 and width != 0:
                A[j] = lowest(j, triples(j, m)) or A[j]
            if A[j] != start:
                while (better := lowest(j, exchanges(j))) is not None:
                    A[j] = better
    return order, np.array(criteria), np.array(variances), [sorted(A[j]) for j in order]
