"""Tables with holes for `benchmarks.missing`, and what can be done with their incomplete rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

import ordag
from ordag.model.refit import refit

SEED = 1906
"""Of all tables here. The rule for what rows count for was chosen on tables of other seeds."""

KINDS = ("equal", "×20", "standardised")
MECHANISMS = {"completely at random": "mcar", "by an observed column": "mar", "by the value itself": "mnar"}
IMPUTATIONS = 5
LINGAM_LEAST = 0.05
"""Weights up to which lingam's are taken for zero."""
STRUCTURAL_ROUNDS, STRUCTURAL_STEPS = 3, 15


def drawn(kind: str, p: int, n: int, table: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table of a random graph with three neighbours on average, and its adjacency; columns in random order."""
    random = np.random.default_rng([SEED, KINDS.index(kind), p, n, table])
    A = np.triu(random.random((p, p)) < 3.0 / (p - 1), 1)
    B = np.where(A, random.uniform(0.4, 1.2, (p, p)) * random.choice([-1.0, 1.0], (p, p)), 0.0)
    omega = np.exp(random.uniform(0.0, np.log(20.0), p)) if kind == "×20" else np.ones(p)
    X = random.normal(size=(n, p)) * np.sqrt(omega) @ np.linalg.inv(np.eye(p) - B)
    order = random.permutation(p)
    X, A = X[:, order], A[np.ix_(order, order)]
    return (X - X.mean(axis=0)) / X.std(axis=0) if kind == "standardised" else X, A


def with_holes(X: np.ndarray, share: float, mechanism: str, seed: int) -> np.ndarray:
    """Return a copy without some values; rows without any value are left out."""
    random = np.random.default_rng([SEED, 1, seed])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    chance = np.full(X.shape, share)
    if mechanism != "mcar":
        chance = np.minimum(
            2.0 * share / (1.0 + np.exp(-2.0 * (Z[:, [0]] + 0.0 * Z if mechanism == "mar" else Z))), 0.95
        )
    gone = random.random(X.shape) < chance
    if mechanism == "mar":
        gone[:, 0] = False
    H = np.where(gone, np.nan, X)
    return H[~gone.all(axis=1)]


Graphs = Callable[[], list[np.ndarray]]


def ways(H: np.ndarray, *, peers: bool = False) -> Iterator[tuple[str, Graphs]]:
    """Yield what is done with a table, and a function that learns from it: one adjacency, or one for each imputed table.

    peers: also by lingam, where it is installed.
    """
    gone = np.isnan(H)
    moments = ordag.Moments.from_rows(H, missing="em")
    S, n, p = moments.covariance(), len(H), H.shape[1]
    present = (~gone).astype(float)
    pairs = (present.T @ present)[~np.eye(p, dtype=bool)].mean()

    def counting(worth: float) -> Graphs:
        return lambda: [learned(ordag.Moments.from_covariance(S, max(int(worth), p + 3)))]

    yield "EM, triples (Ordag)", lambda: [learned(moments)]
    yield "EM, pairs", counting(pairs)
    yield "EM, as complete", counting(n)
    yield "structural EM, triples", lambda: [learned(structural(H, moments))]
    yield "rows dropped", lambda: [learned(H[~gone.any(axis=1)])]
    yield "means", lambda: [learned(np.where(gone, np.nanmean(H, axis=0), H))]
    yield "IterativeImputer", lambda: [learned(imputed(H, draw=False, seed=0))]
    yield (
        f"{IMPUTATIONS} imputations, majority",
        lambda: [learned(imputed(H, draw=True, seed=k)) for k in range(IMPUTATIONS)],
    )
    if peers and find_spec("lingam") is not None:
        yield "lingam", lambda: by_lingam(H)


def learned(data: Any) -> np.ndarray:
    """Return the adjacency of the graph of the best score."""
    found: np.ndarray = ordag.learn(data, method="pooled", graph="best", draws=0).graph.adjacency
    return found


def majority(graphs: list[np.ndarray]) -> np.ndarray:
    """Return the arrows that more than half of the graphs have."""
    return np.asarray(np.mean(graphs, axis=0) > 0.5)


def imputed(H: np.ndarray, *, draw: bool, seed: int) -> np.ndarray:
    """Fill the holes by scikit-learn's `IterativeImputer`: with expectations, or as `lingam` does, with draws from the posterior."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled: np.ndarray = IterativeImputer(
            max_iter=5, sample_posterior=draw, skip_complete=True, random_state=seed
        ).fit_transform(H)
    return filled


def by_lingam(H: np.ndarray) -> list[np.ndarray]:
    """Return the graphs of lingam's `bootstrap_with_imputation`, which needs errors that are not Gaussian for its directions."""
    from lingam.tools import bootstrap_with_imputation

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bootstrap_with_imputation(H, n_sampling=1, n_repeats=IMPUTATIONS, random_state=0)[1]
    return [np.abs(one.T) > LINGAM_LEAST for one in found[0]]


def structural(H: np.ndarray, moments: ordag.Moments) -> ordag.Moments:
    """Estimate the moments again under the graph that they give, and learn again, a few times."""
    worth = moments.n
    mean, S = moments.mean, moments.covariance()
    for _ in range(STRUCTURAL_ROUNDS):
        graph = ordag.learn(
            ordag.Moments.from_covariance(S, worth, mean=mean), method="pooled", graph="best", draws=0
        ).graph
        for _ in range(STRUCTURAL_STEPS):
            model = refit(ordag.Moments.from_covariance(S, worth, mean=mean), graph).sem
            mean, S = expected(H, mean, model.covariance())
    return ordag.Moments.from_covariance(S, worth, mean=mean)


def expected(H: np.ndarray, mean: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of rows whose holes have their distribution given what the row holds, in N(mean, S)."""
    gone = np.isnan(H)
    filled, left = np.where(gone, 0.0, H), np.zeros_like(S)
    patterns, which = np.unique(gone, axis=0, return_inverse=True)
    for k, absent in enumerate(patterns):
        rows = np.flatnonzero(which.reshape(-1) == k)
        if absent.any():
            M, O = np.flatnonzero(absent), np.flatnonzero(~absent)
            b = np.linalg.solve(S[np.ix_(O, O)], S[np.ix_(O, M)])
            filled[np.ix_(rows, M)] = mean[M] + (H[np.ix_(rows, O)] - mean[O]) @ b
            left[np.ix_(M, M)] += len(rows) * (S[np.ix_(M, M)] - S[np.ix_(M, O)] @ b)
    centre = filled.mean(axis=0)
    about = filled - centre
    return centre, (about.T @ about + left) / (len(H) - 1.0)
