"""Models and moments for the tests of this folder."""

import numpy as np
from hypothesis import strategies as st

from ordag.data.moments import Moments
from ordag.model import LinearSEM


@st.composite
def sems(draw, min_p=1, max_p=7):
    """A random model: any graph, weights of every size, labels in random order."""
    p = draw(st.integers(min_p, max_p))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.2, 0.5, 1.0]))
    B = np.triu(rng.uniform(-2, 2, (p, p)) * (rng.random((p, p)) < density), 1)
    labels = rng.permutation(p)
    return LinearSEM(B[np.ix_(labels, labels)], rng.uniform(0.2, 3, p), rng.uniform(-5, 5, p))


def table(X, names=None):
    mean = X.mean(axis=0)
    p = X.shape[1]
    R = np.zeros((p, p))
    root = np.linalg.qr(X - mean, mode="r")
    R[: len(root)] = root
    return Moments(len(X), mean, tuple(names or (f"X{i + 1}" for i in range(p))), R=R)


def relabelled(sem, labels):
    """The same model with its columns taken in the order of the labels; each keeps its name."""
    return LinearSEM(
        sem.B[np.ix_(labels, labels)],
        sem.omega[labels],
        sem.intercept[labels],
        [sem.names[i] for i in labels],
    )
