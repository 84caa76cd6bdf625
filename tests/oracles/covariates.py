"""Covariates held fixed, literally: one regression of every column on indicators."""

from __future__ import annotations

import numpy as np


def design(covariates):
    """A constant, numbers as they are, and one indicator for every value of a category but one."""
    n = len(covariates[0])
    columns = [np.ones(n)]
    for values in covariates:
        if isinstance(values[0], str):
            columns += [np.array([value == level for value in values], float) for level in sorted(set(values))[1:]]
        elif np.ptp(values) > 0:
            columns.append(np.asarray(values, float) - np.mean(values))
    return np.column_stack(columns)


def residuals(X, covariates):
    """What least squares leaves of the columns, and how many of the columns of the design matter beside the constant."""
    Z = design(covariates)
    Z = Z / np.sqrt((Z**2).sum(axis=0))
    U, size, _ = np.linalg.svd(Z, full_matrices=False)
    U = U[:, size > 1e-9 * size[0]]
    rest = np.asarray(X, float) - np.mean(X, axis=0)
    for _ in range(3):
        rest = rest - U @ (U.T @ rest)
    return rest, U.shape[1] - 1
