"""How close to the time that LAPACK and BLAS need for the unavoidable work alone?"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import best, duration, table

SIZES = [(50, 100), (50, 1000), (500, 1000), (3000, 6000)]


def floor(X: np.ndarray, seconds: float) -> float:
    """syrk, potrf and trtri on these rows."""
    gram = blas.dsyrk(1.0, X.T, lower=1)
    factor, _ = lapack.dpotrf(gram, lower=1)
    return (
        best(lambda: blas.dsyrk(1.0, X.T, lower=1), seconds)
        + best(lambda: lapack.dpotrf(gram, lower=1, clean=0), seconds)
        + best(lambda: lapack.dtrtri(factor, lower=1), seconds)
    )


def run() -> str:
    rows = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            for p, n in SIZES:
                X = np.random.default_rng(0).standard_normal((n, p))
                seconds = 8.0 if p > 1000 else 1.0
                least = floor(X, seconds)
                ours = best(lambda X=X: ordag.learn(X), seconds)
                rows.append([threads, p, n, duration(least), duration(ours), f"{ours / least:.2f}"])
    return f"""## Against the floor

The floor is the time of LAPACK and BLAS doing only what cannot be avoided for the same rows: the Gram matrix (syrk), its
Cholesky factor (potrf) and the inverse of that (trtri). `ordag.learn` does the whole of it: opening and checking the table,
centring, the guarded pivoted factorisation, the bound on its rounding errors, all tests, and the graph. Well-conditioned rows.

{table(["threads", "p", "n", "floor", "ordag.learn", "ratio"], rows)}

At p = 50 what is left over the floor is Python's own time, about ten calls of NumPy for each of the 50 steps; it does not
depend on n, so the ratio does."""
