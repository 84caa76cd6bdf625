"""The Gaussian of incomplete rows with other weights, such as those of a bootstrap sample: some steps of EM from that of all rows."""

from __future__ import annotations

import numpy as np

from ordag.common.arrays import Array
from ordag.data.em import Block, Em, Gaussian, Sums, Totals

ENOUGH = 0.05
"""A step that changes no mean and no correlation by more than this share of its standard error is the last."""

MOST_STEPS = 24


class Reweighted:
    """Rows, NaN where values are missing, the Gaussian to begin with, and the share of the rows by which it is drawn (see `Holes`)."""

    def __init__(self, rows: Array, mean: Array, S: Array, prior: float = 0.0) -> None:
        self.scale = np.sqrt(S.diagonal())
        self._start = Gaussian(np.zeros(len(mean)), S / np.outer(self.scale, self.scale))
        self._missing = np.isnan(rows).any(axis=1)
        self._complete = (rows[~self._missing] - mean) / self.scale
        self._block = Block.of(rows[self._missing], mean, self.scale)
        self._holes = np.diff(self._block.starts).astype(np.float64)
        self.mean, self.prior = mean, prior

    def gaussian(self, weights: Array) -> Gaussian:
        """Return mean and covariance (of divisor Σw) of the rows with these weights."""
        own, partial = weights[~self._missing], weights[self._missing]
        ordered = partial[self._block.order]
        X, Z = self._block.X, self._complete
        totals = Totals(
            float(weights.sum()),
            own @ Z + ordered @ X,
            (Z * own[:, None]).T @ Z + (X * ordered[:, None]).T @ X,
            float(ordered @ self._holes),
        )
        p = len(self.mean)
        em = Em(totals, lambda K, h: self._block.add_to(Sums.zero(p), K, h, partial), self.prior * totals.n)
        found = em.run(self._start, settled=ENOUGH / np.sqrt(len(weights)), most=MOST_STEPS)
        mean, S = self._start if found is None else found.gaussian
        return Gaussian(self.mean + mean * self.scale, S * np.outer(self.scale, self.scale))
