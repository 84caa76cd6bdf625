"""Placeholder."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.data.table import Table
from ordag.order.ordering import Ordering, Rule
from ordag.order.supported import Supported

MOST, ROWS_EACH = 10, 4
"""Variables in a support at most, and rows that each of them takes at least."""

LEAST_ROWS = 5
"""With fewer rows a regression on one variable leaves next to nothing."""


def sparse_forward(
    S: Array, n: int, before: Mask | None = None, *, most: int = 10, width: int | None = None
) -> Supported:
    p = len(S)
    pen = math.log(n) + 2 * math.log(p)
    chosen: list[int] = []
    out = []
    left = list(range(p))
    while left:
        best = []
        for j in left:
            if before is not None and any(before[i, j] for i in left if i != j):
                continue
            A: list[int] = []
            rss = S[j, j]
            while len(A) < most:
                trials = []
                for a in chosen:
                    if a not in A:
                        B = [*A, a]
                        r = S[j, j] - S[j, B] @ np.linalg.pinv(S[np.ix_(B, B)]) @ S[B, j]
                        trials.append((max(r, 1e-300), a))
                if not trials or n * math.log(min(trials)[0]) + pen >= n * math.log(rss):
                    break
                rss, a = min(trials)
                A.append(a)
            k = len(A)
            best.append(
                (rss * (n - 1) / (n - 1 - k) * math.exp(k * math.log(p) / n), rss * (n - 1) / (n - 1 - k), j, A)
            )
        best.sort(key=lambda one: (one[0], one[2]))
        out.append((best[0], best[1][0] if len(best) > 1 else np.inf))
        chosen.append(best[0][2])
        left.remove(best[0][2])
    return Supported(
        np.array(chosen),
        np.array([one[1] for one, _ in out]),
        np.array([one[0] for one, _ in out]),
        np.array([second for _, second in out]),
        tuple(np.array(sorted(one[3]), dtype=np.intp) for one, _ in out),
    )


def usual_width(p: int) -> int | None:
    return None


def supports_along(S: Array, n: int, order: NDArray[np.intp]) -> Supported:
    """The supports that the same search finds along an order that is given."""
    place = np.argsort(order)
    return sparse_forward(S, n, place[:, None] < place[None, :], width=usual_width(len(S)))


def joint_score(S: Array, n: int, found: Supported) -> float:
    r"""$n p \log \bar v + (\log n + 2 \log p)\,k$, with $\bar v$ the mean residual variance of all variables given their supports, and
    k the number of arrows: lower is better, whatever the order came from."""
    p = len(S)
    left = []
    for j, A in zip(found.order, found.support, strict=True):
        explained = S[j, A] @ np.linalg.lstsq(S[np.ix_(A, A)], S[A, j], rcond=None)[0] if len(A) else 0.0
        left.append(S[j, j] - explained)
    arrows = sum(map(len, found.support))
    return float(n * p * np.log(np.mean(left)) + (np.log(n) + 2.0 * np.log(p)) * arrows)


def _find(table: Table, before: Mask | None) -> Ordering:
    moments = table.moments
    most = min(MOST, moments.n // ROWS_EACH)
    found = sparse_forward(moments.covariance(), moments.n, before, most=most, width=usual_width(moments.p))
    return Ordering.supported(found, moments, "sparse")


SPARSE = Rule(
    "sparse", "each given few of those before, chosen by an extended BIC", _find, least_rows=lambda p: LEAST_ROWS
)
