"""Random models of series, and rows of them."""

from __future__ import annotations

import numpy as np


def random_model(random, p, lags, *, scale=0.5):
    """Return the weights [l, i, j] of a stable model, and an order of its variables at the same time."""
    order = random.permutation(p)
    while True:
        B = random.uniform(0.3, 0.9, (lags + 1, p, p)) * random.choice([-1.0, 1.0], (lags + 1, p, p))
        B *= random.random(B.shape) < np.array([0.6] + [0.35] * lags)[:, None, None]
        B[1:] *= scale
        place = np.argsort(order)
        B[0] *= place[:, None] < place[None, :]
        if root(B) < 0.9:
            return B, order


def root(B):
    lags = len(B) - 1
    return np.abs(np.linalg.eigvals(companion(B))).max() if lags else 0.0


def companion(B):
    """Return C with s_t = s_{t-1} C for the state of the last L times."""
    lags, p = len(B) - 1, B.shape[1]
    T = np.linalg.inv(np.eye(p) - B[0])
    C = np.zeros((lags * p, lags * p))
    for lag in range(lags):
        C[lag * p : (lag + 1) * p, :p] = B[lag + 1] @ T
        if lag + 1 < lags:
            C[lag * p : (lag + 1) * p, (lag + 1) * p : (lag + 2) * p] = np.eye(p)
    return C


def rows_of(B, times, random, sd=None, burn=100):
    """Draw a series of this many times."""
    lags, p = len(B) - 1, B.shape[1]
    T = np.linalg.inv(np.eye(p) - B[0])
    X = np.zeros((times + burn, p))
    for t in range(times + burn):
        e = random.standard_normal(p) * (1.0 if sd is None else sd)
        X[t] = (e + sum((X[t - lag] @ B[lag] for lag in range(1, min(lags, t) + 1)), np.zeros(p))) @ T
    return X[burn:]


def window_covariance(B, omega):
    """Return the covariance of x_t, x_{t-1}, …, x_{t-L} in a model that has run for ever."""
    p = B.shape[1]
    T = np.linalg.inv(np.eye(p) - B[0])
    U = T.T @ np.diag(omega) @ T
    # the state has one time more than the model needs, for the window
    wide = np.concatenate([B, np.zeros((1, p, p))])
    C = companion(wide)
    noise = np.zeros_like(C)
    noise[:p, :p] = U
    S, power = noise.copy(), C.copy()
    for _ in range(60):  # doubling: S ← S + power' S power
        S, power = S + power.T @ S @ power, power @ power
        if np.abs(power).max() < 1e-30:
            break
    return (S + S.T) / 2.0
