r"""Resamplers: the moments of one bootstrap sample after another.

Every way of resampling here rests on one identity. Let (μ, R) be any mean and nonsingular triangular matrix, best those of
the data, and $y = (x - \mu) R^{-1}$ the *whitened* rows. For rows with weights w (how often each was drawn) and
$N = \sum w$, $h = \sum w y$, the weighted mean is $\mu + hR/N$ and the weighted centred scatter is

    $R^\top \Bigl(\sum w\, y^\top y - h^\top h / N\Bigr) R$.

The bracket is near a multiple of the identity whatever the conditioning of the data, so its Cholesky factor U keeps its
digits, and the root of the bootstrap scatter is UR. Where the guard of `data/scatter.py` says that it does not (few rows),
U comes from a QR factorisation of the weighted rows. No row is ever copied more than once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from ordag.common.arrays import Array
from ordag.common.checks import Seed, checked_seed
from ordag.common.linalg import triangle, wishart_root
from ordag.common.words import counted
from ordag.data.covariates import Root
from ordag.data.em import Reweighted
from ordag.data.moments import Moments
from ordag.data.profile import Rows
from ordag.data.scatter import WELL_CONDITIONED, root_of_scatter
from ordag.errors import CollinearError, TooFewRowsError
from ordag.resampling.labelled import ConditionsResampler


class Resampler(Protocol):
    """What a replicate needs: the moments of the bootstrap sample with this number, drawn with this seed."""

    @property
    def base(self) -> Moments: ...

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments: ...


@dataclass(frozen=True, eq=False)
class RowResampler:
    """Rows drawn with replacement (Efron 1979): those numbered `default_rng(seed).integers(n, size=n)`."""

    base: Moments
    whitened: Array
    count: int

    @classmethod
    def of(cls, X: Array, base: Moments, count: int | None = None) -> RowResampler:
        return cls(base, whiten(X, base.mean, base.R), len(X) if count is None else count)

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        p, n = self.base.p, self.count
        counts = np.bincount(_drawn(seed, len(self.whitened), n), minlength=len(self.whitened))
        drawn = np.flatnonzero(counts)
        if len(drawn) <= p:
            raise TooFewRowsError(
                f"The sample has {counted(len(drawn), 'different row')}, and {p} variables need {p + 1}."
            )
        weights = counts[drawn].astype(np.float64)
        rows = self.whitened[drawn]
        mean = weights @ rows / n
        rows -= mean
        rows *= np.sqrt(weights)[:, None]
        root = root_of_scatter(blas.dsyrk(1.0, rows.T, lower=1))
        U = root[0] if root is not None and root[1] >= WELL_CONDITIONED else triangle(rows)
        return _moments(n, mean, U, self.base)


@dataclass(frozen=True, eq=False)
class PlainRowResampler:
    """Rows drawn with replacement, for methods that need rows and for tables with too few rows to whiten."""

    base: Moments
    X: Array
    count: int

    def rows(self, seed: np.random.SeedSequence) -> Array:
        return self.X[_drawn(seed, len(self.X), self.count)]

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        return Moments.from_rows(self.rows(seed), self.base.names)


@dataclass(frozen=True, eq=False)
class HalfResampler(PlainRowResampler):
    """Half of the rows, drawn without replacement (Meinshausen & Bühlmann 2010): no row counts twice, which matters where they are few."""

    def rows(self, seed: np.random.SeedSequence) -> Array:
        return self.X[np.random.default_rng(seed).permutation(len(self.X))[: self.count // 2]]


@dataclass(frozen=True, eq=False)
class HoledRowResampler:
    """The same for rows with missing values, NaN: the moments of every sample are estimated anew. `halves` as in `HalfResampler`."""

    base: Moments
    X: Array
    halves: bool = False

    @cached_property
    def _rows(self) -> Reweighted:
        return Reweighted(
            self.X, self.base.mean, self.base.covariance(), 0.0 if self.base.holes is None else self.base.holes.prior
        )

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        random, count, n = np.random.default_rng(seed), len(self.X), self.base.n
        if self.halves:
            weights, n = np.zeros(count), n // 2
            weights[random.permutation(count)[: count // 2]] = 1.0
        else:
            weights = np.bincount(random.integers(count, size=count), minlength=count).astype(np.float64)
        mean, S = self._rows.gaussian(weights)
        root = root_of_scatter(np.asfortranarray(S * n))
        if root is None:
            raise CollinearError("The columns of the sample are collinear.")
        return Moments(n, mean, self.base.names, R=root[0], squared=True)


@dataclass(frozen=True, eq=False)
class GaussianRowResampler:
    """Rows from the Gaussian distribution with the moments of the data, for methods that take the rows themselves."""

    base: Moments

    def rows(self, seed: np.random.SeedSequence) -> Array:
        n, R = self.base.n, self.base.R
        errors = np.random.default_rng(seed).standard_normal((n, len(R)))
        return np.asarray(self.base.mean + errors @ (R / np.sqrt(n - 1.0)))

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        return Moments.from_rows(self.rows(seed), self.base.names)


@dataclass(frozen=True, eq=False)
class WishartResampler:
    r"""Samples from the Gaussian distribution with the moments of the data, for when there are no rows.

    With A upper triangular, $A_{ii}^2 \sim \chi^2_{n-i}$ for i = 1, 2, … and standard normal entries above the diagonal,
    $A^\top A$ has the Wishart distribution $W(n - 1, I)$ (Bartlett 1933). So $R^* = AR/\sqrt{n-1}$ is a root of the scatter
    of n rows of covariance $R^\top R/(n - 1)$: p²/2 random numbers, however many rows. The scatter has the mean $R^\top R$.
    """

    base: Moments

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        random = np.random.default_rng(seed)
        n, p = self.base.n, self.base.p
        A = wishart_root(n, p, random)
        mean = random.standard_normal(p) / np.sqrt(n * (n - 1.0))
        return _moments(n, mean, A / np.sqrt(n - 1.0), self.base, squared=self.base.squared)


@dataclass(frozen=True, eq=False)
class GramResampler:
    """Weighted sums of whitened rows that have been formed already: see `ordag.resampling.streaming`.

    Row b − `first` of `sums` holds, for replicate b, the upper triangle of Σ w (1, y)ᵀ(1, y), row by row.
    """

    base: Moments
    sums: Array
    first: int = 0

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        p = self.base.p
        whole = np.zeros((p + 1, p + 1))
        whole[np.triu_indices(p + 1)] = self.sums[replicate - self.first]
        n = round(whole[0, 0] * (self.base.n / self.base.rows))
        if n <= p + 1:
            raise TooFewRowsError(f"The sample has {counted(n, 'row')}, and {p} variables need {p + 2}.")
        mean = whole[0, 1:] / whole[0, 0]
        root = root_of_scatter(np.asfortranarray(whole[1:, 1:].T - whole[0, 0] * np.outer(mean, mean)))
        if root is None:
            raise CollinearError("The columns of the sample are collinear.")
        return _moments(n, mean, root[0], self.base, squared=root[1] < WELL_CONDITIONED)


@dataclass(frozen=True, eq=False)
class CauseResampler:
    """The samples of another resampler, of the columns [Z | X] of categories and variables, as moments of X with their causes."""

    base: Moments
    inner: Resampler

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        drawn, causes = self.inner.moments(replicate, seed), self.base.causes
        assert causes is not None
        q = causes.width
        root = Root(drawn.n, drawn.mean, drawn.R, causes.covariates)
        R = triangle(drawn.R[:, q:])
        return Moments(drawn.n, drawn.mean[q:], self.base.names, R=R, causes=root, adjusted_for=self.base.adjusted_for)


def joint_moments(base: Moments) -> Moments:
    """Return the moments of the columns [Z | X] of a table with causes."""
    causes = base.causes
    assert causes is not None
    names = [f"{k}" for k in range(len(causes.mean))]
    return Moments(base.n, causes.mean, names, R=causes.R, rows=base.rows, adjusted_for=base.adjusted_for)


def joint_rows(rows: Rows | None, base: Moments) -> Array | None:
    """Return the rows of [Z | X] of a table with causes, of X of another; None without rows."""
    if rows is None or base.causes is None:
        return None if rows is None else rows.values
    if rows.labels is None or rows.labels.causes is None:
        return None
    return np.concatenate([rows.labels.causes, rows.values], axis=1)


def gaussian_resampler(base: Moments, *, rows: bool) -> Resampler:
    """Return a resampler of the Gaussian distribution with these moments; with `rows` for methods that need rows."""
    if base.conditions:
        return ConditionsResampler(base)
    return GaussianRowResampler(base) if rows else WishartResampler(base)


def to_draw(X: Array, base: Moments) -> tuple[Array, int]:
    r"""Return rows to draw from, and how many of them a sample has.

    With covariates held fixed the rows are residuals, k of them with the scatter S. n are drawn, the number that they count for, each
    $\sqrt{k/n}$ times as long: their scatter is S on average, and varies as that of n independent rows does.
    """
    if not base.adjusted_for:
        return X, len(X)
    return base.mean + (X - base.mean) * np.sqrt(len(X) / base.n), base.n


def _drawn(seed: np.random.SeedSequence, rows: int, count: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(rows, size=count)


def whiten(X: Array, mean: Array, R: Array) -> Array:
    """Return (X − mean) R⁻¹ as a new array."""
    centred = X - mean
    white: Array = blas.dtrsm(1.0, R, centred.T, trans_a=1, overwrite_b=1)
    return np.ascontiguousarray(white.T)


def seed_root(seed: Seed) -> np.random.SeedSequence:
    """Return the root of the seeds of all replicates. A SeedSequence is not changed; a generator spawns once."""
    seed = checked_seed(seed)
    if isinstance(seed, np.random.Generator):
        spawned = seed.bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
        assert isinstance(spawned, np.random.SeedSequence)
        return spawned
    return seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)


def child(root: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return the seed of a task by its number: that of `root.spawn` for a fresh root, without changing the root."""
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *key), pool_size=root.pool_size)


def _moments(n: int, mean: Array, U: Array, base: Moments, *, squared: bool = False) -> Moments:
    """Convert a whitened mean and root to the units of the data."""
    return Moments(n, base.mean + mean @ base.R, base.names, R=np.triu(U @ base.R), squared=squared)
