"""Does the bound on rounding errors tell right orders from wrong ones?"""

from __future__ import annotations

import numpy as np

import ordag
from benchmarks.timing import table
from ordag.errors import PrecisionError
from ordag.order.least_squares import forward


def stepwise_order(X: np.ndarray) -> list[int]:
    """Regressions on the rows: a QR factorisation that grows by one column per step, projections done twice."""
    Z = X - X.mean(axis=0)
    Z = Z - Z.mean(axis=0)
    order: list[int] = []
    rest = list(range(X.shape[1]))
    Q = np.empty((len(X), 0))
    while rest:
        V = Z[:, rest]
        for _ in range(2):
            V = V - Q @ (Q.T @ V)
        k = int(np.argmin(np.sum(V**2, axis=0)))
        Q = np.column_stack([Q, V[:, k] / np.linalg.norm(V[:, k])])
        order.append(rest.pop(k))
    return order


def run() -> str:
    rows = []
    for p in (20, 50, 80, 90, 100, 120):
        counts = {"plain": [0, 0], "warned": [0, 0], "refused": [0, 0]}
        for seed in range(40):
            X = ordag.simulate("homogeneous", p, 1000, seed=seed).X
            try:
                ordering = forward(ordag.Moments.from_rows(X))
            except PrecisionError:
                counts["refused"][1] += 1
                continue
            kind = "warned" if ordering.undecided else "plain"
            counts[kind][1] += 1
            counts[kind][0] += ordering.order.tolist() == stepwise_order(X)
        plain, warned = (f"{right} of {total}" for right, total in (counts["plain"], counts["warned"]))
        rows.append([p, plain, warned, counts["refused"][1]])
    return f"""## Digits

Dense design with equal variances, n = 1000, 40 data sets for each p: how often the order equals that of regressions on the rows,
among data sets without a warning and among those with a `PrecisionWarning`; and how many were refused with a
`PrecisionError`, because float64 holds no digit of some step.

{table(["p", "equal, no warning", "equal, with warning", "refused"], rows)}"""
