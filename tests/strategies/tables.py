"""Random tables for the property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def tables(draw, min_p=2, max_p=7, max_rows=60):
    """Rows of a random linear model: (n, p) with n ≥ p + 3, well enough conditioned for plain regressions."""
    p = draw(st.integers(min_p, max_p))
    n = draw(st.integers(p + 3, max_rows))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    B = np.triu(rng.uniform(-1.5, 1.5, (p, p)) * (rng.random((p, p)) < 0.6), 1)
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 2.0, p)
    for j in range(p):
        X[:, j] += X[:, :j] @ B[:j, j]
    return X[:, rng.permutation(p)] + rng.uniform(-3, 3, p)


def permutations(p):
    return st.permutations(range(p))
