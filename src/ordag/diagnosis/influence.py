"""Do a few rows decide the graph?"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import qr
from scipy.special import betainc

from ordag.arrays import Array
from ordag.diagnosis.baseline import Baseline
from ordag.evidence.finding import Finding, Level
from ordag.words import chance, counted, share


def distances(X: Array) -> Array:
    r"""Squared Mahalanobis distance of every row from the mean, $(x - \bar x)^\top S^{-1} (x - \bar x)$, S of divisor n − 1."""
    Q = qr(X - X.mean(axis=0), mode="economic", check_finite=False)[0]
    return np.asarray(np.square(Q).sum(axis=1) * (len(X) - 1.0))


def tail(d2: Array, n: int, p: int) -> Array:
    r"""The chance of a larger distance for one row of n Gaussian ones: $\frac{n}{(n-1)^2} d^2$ is Beta(p/2, (n − p − 1)/2).

    The exact distribution (Gnanadesikan & Kettenring 1972); for many rows d² is chi-square with p degrees of freedom.
    """
    x = np.minimum(np.asarray(d2) * n / (n - 1.0) ** 2, 1.0)
    return np.asarray(betainc((n - p - 1) / 2.0, p / 2.0, 1.0 - x))


def influence_finding(baseline: Baseline, rows: Array, alpha: float) -> Finding:
    """Rows too far out for Gaussian data (Bonferroni over rows), and what is learned without the farthest 1 %."""
    n, p = rows.shape
    d2 = distances(rows)
    outside = int((tail(d2, n, p) * n < alpha).sum())
    p_value = min(1.0, float(tail(d2.max(), n, p)) * n)
    left_out = math.ceil(n / 100)
    stay = np.sort(np.argsort(d2, kind="stable")[: n - left_out])
    kept = baseline.compare(baseline.again(baseline.table_of(rows[stay])).graph.adjacency)
    total = float(d2[d2 >= np.partition(d2, n - left_out)[n - left_out]].sum() / d2.sum())
    numbers = {
        "outside": outside,
        "largest": float(d2.max()),
        "p_value": p_value,
        "left_out": left_out,
        "weight": total,
        **kept._asdict(),
    }
    rest = f"without the {counted(left_out, 'row')} farthest out {share(kept.kept)} of the arrows stay"
    if not outside:
        return Finding("influence", "fine", f"No row lies too far out ({chance(p_value)}); {rest}.", numbers)
    level: Level = "warning" if kept.kept < 0.9 else "look"
    which = f"{counted(outside, 'row')} {'lies' if outside == 1 else 'lie'}"
    return Finding("influence", level, f"{which} farther out than Gaussian rows would; {rest}.", numbers)
