"""The rule "sparse": the order by least conditional variance, each variable given a small parent set among the chosen ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.data.table import Table
from ordag.data.table_checks import FEW_ROWS
from ordag.order.cholesky import TIE
from ordag.order.ordering import Ordering, Queue, Rule, Steps, progress_of
from ordag.order.parent_sets import (
    ALONE,
    LEAST_VARIANCE,
    Correlations,
    Regression,
    Score,
    best_triples,
    exchanged,
    partial_table,
    regression,
)

MOST_PARENTS, ROWS_PER_PARENT = 10, 4
"""Variables in a parent set at most, and rows that each of them needs at least."""

MOST_COLUMNS = 20_000
"""More columns than these take more than a dozen gigabytes."""

CACHE_NUMBERS = 1 << 17
"""Numbers worked on at once, so that they stay in the cache."""


def sparse_forward(
    S: Array,
    n: int,
    before: Mask | None = None,
    *,
    most: int = 10,
    width: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Steps:
    r"""Order variables by least conditional variance given small parent sets A_j among those chosen before.

    S is the covariance matrix with divisor N = n − 1, or that times a constant, which multiplies all variances of the answer.
    With RSS_j = S_jj − S_jA S_AA⁻¹ S_Aj the next variable is the one with the fitest

        criterion_j = RSS_j · N/(N − |A_j|) · exp(|A_j| log p / n),

    and A_j is kept where score_j = n log RSS_j + (log n + 2 log p)|A_j| is low. When m has been chosen, every waiting j
    (1) adds m to A_j or swaps it for one member, (2) tries {m, a} and {m, a, b} with all chosen a and b, and (3) where
    A_j changed, adds, drops and swaps to a local optimum. |A_j| ≤ most, and at most n − 2.

    before: a partial order to keep to, [i, j] for column i before j. width: a is one of so many variables with the largest
    partial correlation with j given m; None takes all (exact best triples), 0 tries no triples (see `usual_width`).
    progress: called with the number of variables chosen.
    """
    return _Search(np.asarray(S, dtype=float), n, before, most, width).run(progress)


def few_rows(p: int) -> int:
    """Return the least rows that p columns need; as many as for least squares where there are very few columns, or too many."""
    return p + 2 if p > MOST_COLUMNS else min(p + 2, FEW_ROWS)


def usual_width(p: int) -> int | None:
    """Return the width that p variables can afford: all triples up to 1000, then as many as cost the same, or none where that is under 4.

    All triples cost p⁴/24 evaluations in all, those of width q about q·p³/6.
    """
    if p <= 1000:
        return None
    width = 1000**4 // (4 * p**3)
    return width if width >= 4 else 0


class _Search:
    """The state of the search. Members are positions in the order, so that nothing depends on the order of the columns."""

    def __init__(self, S: Array, n: int, before: Mask | None, most: int, width: int | None) -> None:
        p = len(S)
        self.n, self.p, self.width = n, p, width
        self.variances = np.diag(S).copy()
        root = np.sqrt(self.variances)
        self.R = S / root
        self.R /= root[:, None]
        self.queue = Queue(before, p)
        self.scored = Score(n, math.log(n) + 2.0 * math.log(p), max(min(most, n - 2), 0))
        self.order = np.empty(p, dtype=np.intp)
        self.K = np.empty((p, p))  # correlations of all columns with the chosen ones, in their order
        self.A = np.zeros((p, self.scored.most), dtype=np.intp)
        self.M = np.zeros((p, self.scored.most, self.scored.most))
        self.v = np.zeros((p, self.scored.most))
        self.size = np.zeros(p, dtype=np.intp)
        self.rest = np.ones(p)
        self.score = np.zeros(p)
        self.closest = np.zeros(p)  # the largest |correlation| with a chosen variable

    def run(self, progress: Callable[[int], None]) -> Steps:
        p, N = self.p, self.n - 1
        waiting = np.arange(p)
        variances, chosen, runner_up = np.empty((3, p))
        for t in range(p):
            with_divisor = self.variances[waiting] * self.rest[waiting] * N / np.maximum(N - self.size[waiting], 1)
            criterion = with_divisor * np.exp(self.size[waiting] * (math.log(p) / self.n))
            rivals = self.queue.rivals(criterion, waiting)
            i = int((rivals <= rivals.min() * (1 + TIE)).argmax())
            m = int(waiting[i])
            self.order[t], variances[t], chosen[t] = m, with_divisor[i], rivals[i]
            rivals[i] = np.inf
            runner_up[t] = rivals.min()
            waiting = np.delete(waiting, i)
            self.queue.release(m)
            self.K[:, t] = self.R[:, m]
            if len(waiting) and self.scored.most:
                self._offer(t, m, waiting)
            progress(t + 1)
        parent_sets = tuple(np.sort(self.order[self.A[j, : self.size[j]]]) for j in self.order)
        return Steps(self.order, variances, chosen, runner_up, parent_sets)

    def _offer(self, t: int, m: int, waiting: Indices) -> None:
        """Let every waiting variable take m, the t-th chosen one, into its parent set."""
        x = self.R[m, waiting]
        changed = self._with_one(t, m, waiting, x)
        if t and self.scored.most > 1:
            changed |= self._with_pairs_and_triples(t, m, waiting, x)
        self.closest[waiting] = np.maximum(self.closest[waiting], np.abs(x))
        chosen = Correlations(self.K, self.order[: t + 1])
        for j in waiting[changed]:
            k = self.size[j]
            fit = Regression(float(self.rest[j]), self.v[j, :k].copy(), self.M[j, :k, :k].copy())
            self._keep(j, *exchanged(chosen, self.K[j, : t + 1], self.A[j, :k].copy(), fit, self.scored))

    def _keep(self, j: int, A: Indices, fit: Regression) -> None:
        k = len(A)
        self.A[j, :k], self.size[j] = A, k
        self.M[j] = 0.0
        self.v[j] = 0.0
        self.M[j, :k, :k], self.v[j, :k], self.rest[j] = fit.M, fit.v, fit.rest
        self.score[j] = self.scored.of(fit.rest, k)

    def _try(self, j: int, A: Indices) -> bool:
        """Take the parent set A for j if its score is lower."""
        made = regression(Correlations(self.K, self.order).block(A), self.K[j, A])
        if made is None or not self.scored.of(made.rest, len(A)) < self.score[j] - self.scored.tolerance:
            return False
        self._keep(j, A, made)
        return True

    def _with_one(self, t: int, m: int, waiting: Indices, x: Array) -> Mask:
        """Add m, or swap it for one member, where that lowers the score most."""
        k = max(int(self.size[waiting].max()), 1)
        size, M, v = self.size[waiting], self.M[waiting, :k, :k], self.v[waiting, :k]
        member = np.arange(k) < size[:, None]
        u = np.einsum("wij,wj->wi", M, self.R[m, self.order[self.A[waiting, :k]]])
        c = np.einsum("wji,wj->wi", M, u)
        beta = np.einsum("wji,wj->wi", M, v)
        Q = np.where(member, np.einsum("wji,wji->wi", M, M), 1.0)
        d = np.maximum(1.0 - (u * u).sum(axis=1), LEAST_VARIANCE)
        e = x - (v * u).sum(axis=1)
        rest = self.rest[waiting]
        rests = np.empty((len(waiting), k + 1))
        rests[:, 0] = np.where(size < self.scored.most, rest - e * e / d, np.inf)
        swapped = rest[:, None] + beta**2 / Q - (e[:, None] + c * beta / Q) ** 2 / (d[:, None] + c * c / Q)
        rests[:, 1:] = np.where(member, swapped, np.inf)
        sizes = np.column_stack([size + 1, np.repeat(size[:, None], k, axis=1)])
        scores = self.n * np.log(np.maximum(rests, LEAST_VARIANCE)) + self.scored.penalty * sizes
        changed = np.zeros(len(waiting), dtype=bool)
        # where members are nearly collinear these scores have fewer digits: those that may be lower are computed again
        limit = self.score[waiting] + 1e3 * self.scored.tolerance
        for i in np.flatnonzero((scores < limit[:, None]).any(axis=1)):
            A = self.A[waiting[i], : size[i]].copy()
            while not changed[i] and scores[i].min() < limit[i]:
                out = int((scores[i] <= scores[i].min() + self.scored.tolerance).argmax())
                scores[i, out] = np.inf
                changed[i] = self._try(int(waiting[i]), np.append(np.delete(A, out - 1) if out else A, t))
        return changed

    def _with_pairs_and_triples(self, t: int, m: int, waiting: Indices, x: Array) -> Mask:
        """Return the best {m, a}, then the best {m, a, b}, where its score is lower; r are the correlations given m."""
        changed = np.zeros(len(waiting), dtype=bool)
        z = self.K[m, :t]
        alone = 1.0 - z * z
        w = np.where(alone >= ALONE, 1.0 / np.sqrt(np.maximum(alone, ALONE)), 0.0)
        triples = self.width != 0 and t > 1 and self.scored.most > 2
        if triples:
            rows = np.arange(len(waiting))
            table = partial_table(self.K[self.order[:t], :t], z, w)
        else:
            rows = np.flatnonzero(self._may_gain(waiting, x, z[w > 0]))
        step = max(CACHE_NUMBERS // t, 1)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            js = waiting[part]
            r = self.K[js, :t]
            r -= x[part, None] * z
            r *= w
            base = 1.0 - x[part] ** 2
            largest = np.maximum(r.max(axis=1), -r.min(axis=1))
            for i in np.flatnonzero(base - largest**2 < self.scored.rest_below(self.score[js], 2)):
                a = int((np.abs(r[i]) >= largest[i] * (1.0 - TIE)).argmax())
                changed[part[i]] |= self._try(int(js[i]), np.array([a, t]))
            if triples:
                needed = base - self.scored.rest_below(self.score[js], 3)
                for row, *pair in best_triples(r, table, needed, self.width):
                    changed[part[row]] |= self._try(int(js[row]), np.array([*pair, t]))
        return changed

    def _may_gain(self, waiting: Indices, x: Array, z: Array) -> Mask:
        """Where a pair with m can lower the score at all.

        {m, a} explains (x² + y² − 2xyz)/(1 − z²) with x, y, z the correlations of (j, m), (j, a), (m, a): at most what it
        would with the largest |y| and |z| there are, and signs that suit.
        """
        if not len(z):
            return np.zeros(len(waiting), dtype=bool)
        z_most = float(np.abs(z).max())
        y_most = self.closest[waiting]
        bound = (x * x + y_most**2 + 2.0 * np.abs(x) * y_most * z_most) / (1.0 - z_most**2)
        return 1.0 - bound < self.scored.rest_below(self.score[waiting], 2) + 1e-9


def parent_sets_along(S: Array, n: int, order: Indices, progress: Callable[[int], None] = lambda done: None) -> Steps:
    """Find parent sets by the same search along a given order."""
    position = np.argsort(order)
    return sparse_forward(S, n, position[:, None] < position[None, :], width=usual_width(len(S)), progress=progress)


def joint_score(S: Array, n: int, steps: Steps) -> float:
    r"""$n p \log \bar v + (\log n + 2 \log p)\,k$, with $\bar v$ the mean residual variance of all variables given their parent sets,
    and k the number of arrows: lower is better, however the order was found."""
    p = len(S)
    left = []
    for j, A in zip(steps.order, steps.parent_sets, strict=True):
        explained = S[j, A] @ np.linalg.lstsq(S[np.ix_(A, A)], S[A, j], rcond=None)[0] if len(A) else 0.0
        left.append(S[j, j] - explained)
    arrows = sum(map(len, steps.parent_sets))
    return float(n * p * np.log(np.mean(left)) + (np.log(n) + 2.0 * np.log(p)) * arrows)


def _find(table: Table, before: Mask | None) -> Ordering:
    moments = table.moments
    most = min(MOST_PARENTS, moments.n // ROWS_PER_PARENT)
    width, progress = usual_width(moments.p), progress_of(table)
    steps = sparse_forward(moments.covariance(), moments.n, before, most=most, width=width, progress=progress)
    return Ordering.by_steps(steps, moments, "sparse")


SPARSE = Rule("sparse", "each given few of those before, chosen by an extended BIC", _find, least_rows=few_rows)
