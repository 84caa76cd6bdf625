"""Local scores of GES: the Gaussian BIC of a variable with its parents, one more or one fewer, and its rounding error."""

from __future__ import annotations

import math
import warnings
from functools import lru_cache

import numpy as np
from scipy.linalg import lapack

from ordag.common.bits import members
from ordag.common.linalg import lengths, triangle
from ordag.common.words import counted, listed, shown
from ordag.data.moments import Moments
from ordag.errors import CollinearError, PrecisionError, PrecisionWarning, TooFewRowsError
from ordag.learners.ges.essential import Essential
from ordag.learners.regressions import COLLINEAR, Regressions
from ordag.order.rounding import HOPELESS, noise

MOST_CACHE_BYTES = 2**27
"""Bytes of score differences that are cached; the least recently used are dropped first."""

DOUBTFUL = 1.0
"""Rounding of the score from which on a step of the search may be spurious."""


class Scores:
    r"""The Gaussian BIC of node j with parents P, up to a constant that is the same for every graph:

    $$s(j, P) = -\frac n2 \Bigl(1 + \log\frac{\mathrm{RSS}_j(P)}{n}\Bigr) - \lambda (1 + |P|), \qquad
    \lambda = \text{penalty} \cdot \frac{\log n}2 ,$$

    larger is better. The 1 beside |P| is the error variance. All DAGs of a class have the same sum over j.
    `evaluated` counts the local scores computed so far.
    """

    def __init__(self, moments: Moments, penalty: float = 1.0) -> None:
        self.moments = moments
        self.p = moments.p
        self.n = moments.n
        self.unit = penalty * math.log(moments.n) / 2
        self.evaluated = 0
        self.regressions = Regressions(moments.R, moments.n)
        size = MOST_CACHE_BYTES // (32 * self.p + 256)
        self.adding = lru_cache(size)(self._adding)
        self.dropping = lru_cache(size)(self._dropping)

    def total(self, graph: Essential) -> float:
        """Return the score of a class."""
        return math.fsum(self.local(node, parents) for node, parents in enumerate(graph.dag))

    def local(self, node: int, parents: int) -> float:
        """Return s(node, parents)."""
        self.evaluated += 1
        rss = self.regressions.rss(node, parents)
        return -self.n / 2 * (1 + math.log(rss / self.n)) - self.unit * (1 + parents.bit_count())

    def _adding(self, node: int, parents: int) -> list[float]:
        """Return s(node, parents ∪ {k}) − s(node, parents) at every k outside."""
        self.evaluated += self.p - parents.bit_count()
        now = self.regressions.rss(node, parents)
        then = self.regressions.rss_adding(node, parents)
        gains: list[float] = (self.n / 2 * np.log(now / then) - self.unit).tolist()
        return gains

    def _dropping(self, node: int, parents: int) -> list[float]:
        r"""Return s(node, parents \ {k}) − s(node, parents) at every k among the parents; nan elsewhere."""
        self.evaluated += parents.bit_count() + 1
        now = self.regressions.rss(node, parents)
        then = self.regressions.rss_dropping(node, parents)
        gains: list[float] = (self.n / 2 * np.log(now / then) + self.unit).tolist()
        return gains

    def check_resolved(self, graph: Essential, node: int) -> None:
        """Refuse a graph in which a node is known from its parents up to rounding."""
        column = self.moments.R[:, node]
        if self.regressions.rss(node, graph.dag[node]) <= COLLINEAR**2 * float(column @ column):
            self._refuse(node, graph.dag[node])

    def uncertainty(self, graph: Essential) -> float:
        r"""Return how far rounding may have moved the score of the graph: $\frac n2 \sum_j u_j$.

        $u_j$ is the relative uncertainty of $\mathrm{RSS}_j$. With residual $e_j = x_j - \sum_k b_k x_k$ on the parents,
        columns known to a relative precision ε leave it $2 \varepsilon c_j$, where
        $c_j = (\lVert x_j \rVert + \sum_k |b_k| \lVert x_k \rVert) / \lVert e_j \rVert$, and $\varepsilon c_j^2$ if they
        come from a covariance matrix. Raise where no digit is left, warn where few are.
        """
        moments = self.moments
        scale = lengths(moments.R)
        condition = np.empty(moments.p)
        for node, parents in enumerate(graph.dag):
            columns = members(parents)
            k = len(columns)
            Q = triangle(moments.R[:, [*columns, node]])
            weights = lapack.dtrtrs(Q[:k, :k], Q[:k, k])[0] if k else np.zeros(0)
            total = scale[node] + float(np.abs(weights) @ scale[columns])
            condition[node] = total / np.sqrt(self.regressions.rss(node, parents))
        doubt = noise(condition, squared=moments.squared)
        worst = int(doubt.argmax())
        if doubt[worst] >= HOPELESS:
            self._refuse(worst, graph.dag[worst])
        uncertainty = float(moments.n / 2 * doubt.sum())
        if uncertainty > DOUBTFUL:
            warnings.warn(
                f"The data are so close to collinear that rounding may have moved the score by {uncertainty:.2g}: do not "
                "rely on edges that improve it by less.",
                PrecisionWarning,
                stacklevel=3,
            )
        return uncertainty

    def _refuse(self, node: int, parents: int) -> None:
        """Raise for too few rows, a collinear column, or too little precision of float64."""
        moments = self.moments
        name, names = moments.names[node], [moments.names[parent] for parent in members(parents)]
        if len(names) + 2 > moments.n:
            raise TooFewRowsError(
                f"{counted(moments.n, 'row')} are too few: {shown(name)} is fitted exactly by "
                f"{counted(len(names), 'other')}. Use more rows or fewer columns, or allow fewer edges with max_degree."
            )
        if len(names) <= 8:
            raise CollinearError(
                f"Column {shown(name)} is a linear combination of {listed(names)}, to the last digit that float64 holds: "
                "leave one of these columns out."
            )
        source = (
            " A covariance matrix keeps half the digits of its rows: give the rows instead." if moments.squared else ""
        )
        raise PrecisionError(
            f"Beside the {counted(len(names), 'parent')} found for {shown(name)}, float64 holds no digit of its variance: no graph can be "
            f"read off these numbers.{source} Use fewer columns, or allow fewer edges with max_degree."
        )
