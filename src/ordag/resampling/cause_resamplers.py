"""Resamples of tables with categories as causes: the rows of [Z | X] are drawn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ordag.common.arrays import Array
from ordag.common.linalg import triangle
from ordag.data.covariates import Root
from ordag.data.moments import Moments
from ordag.data.profile import Rows
from ordag.resampling.resamplers import Resampler


@dataclass(frozen=True, eq=False)
class CauseResampler:
    """The samples of another resampler, of the columns [Z | X], as moments of X with their causes."""

    base: Moments
    inner: Resampler
    same_rows: ClassVar[bool] = False

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        drawn, causes = self.inner.moments(replicate, seed), self.base.causes
        assert causes is not None
        q = causes.width
        root = Root(drawn.n, drawn.mean, drawn.R, causes.covariates)
        R = triangle(drawn.R[:, q:])
        return Moments(drawn.n, drawn.mean[q:], self.base.names, R=R, causes=root, held=self.base.held)


def joint_moments(base: Moments) -> Moments:
    """Return the moments of the columns [Z | X] of a table with causes."""
    causes = base.causes
    assert causes is not None
    names = [f"{k}" for k in range(len(causes.mean))]
    return Moments(base.n, causes.mean, names, R=causes.R, rows=base.rows, held=base.held)


def joint_rows(rows: Rows | None, base: Moments) -> Array | None:
    """Return the rows of [Z | X] of a table with causes, of X of another; None without rows."""
    if rows is None or base.causes is None:
        return None if rows is None else rows.values
    if rows.labels is None or rows.labels.causes is None:
        return None
    return np.concatenate([rows.labels.causes, rows.values], axis=1)
