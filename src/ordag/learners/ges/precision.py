"""Regressions in, how many digits of the score are real out."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import lapack

from ordag.bits import members
from ordag.data.moments import Moments
from ordag.errors import CollinearError, PrecisionError, PrecisionWarning, TooFewRowsError
from ordag.learners.ges.essential import Essential
from ordag.learners.ges.scores import Scores
from ordag.learners.regressions import COLLINEAR
from ordag.linalg import lengths, triangle
from ordag.order.digits import HOPELESS, noise
from ordag.words import counted, listed, shown

DOUBTFUL = 1.0
"""A score that rounding can move by this much can have taken a step that is none."""


def check_resolved(moments: Moments, scores: Scores, graph: Essential, node: int) -> None:
    """Refuse a graph in which nothing but rounding is left of the node beside its parents."""
    column = moments.R[:, node]
    if scores.regressions.rss(node, graph.dag[node]) <= COLLINEAR**2 * float(column @ column):
        _refuse(moments, node, members(graph.dag[node]))


def score_uncertainty(moments: Moments, scores: Scores, graph: Essential) -> float:
    r"""By how much rounding may have moved the score of the graph: $\frac n2 \sum_j u_j$.

    $u_j$ is the relative uncertainty of $\mathrm{RSS}_j$. With residual $e_j = x_j - \sum_k b_k x_k$ on the parents,
    columns known to a relative precision ε leave it $2 \varepsilon c_j$, where
    $c_j = (\lVert x_j \rVert + \sum_k |b_k| \lVert x_k \rVert) / \lVert e_j \rVert$, and $\varepsilon c_j^2$ if they
    come from a covariance matrix. Where none of the digits is left this raises, where few are it warns.
    """
    scale = lengths(moments.R)
    condition = np.empty(moments.p)
    for node, parents in enumerate(graph.dag):
        columns = members(parents)
        k = len(columns)
        Q = triangle(moments.R[:, [*columns, node]])
        weights = lapack.dtrtrs(Q[:k, :k], Q[:k, k])[0] if k else np.zeros(0)
        total = scale[node] + float(np.abs(weights) @ scale[columns])
        condition[node] = total / np.sqrt(scores.regressions.rss(node, parents))
    doubt = noise(condition, squared=moments.squared)
    worst = int(doubt.argmax())
    if doubt[worst] >= HOPELESS:
        _refuse(moments, worst, members(graph.dag[worst]))
    uncertainty = float(moments.n / 2 * doubt.sum())
    if uncertainty > DOUBTFUL:
        warnings.warn(
            f"The data are so close to collinear that rounding may have moved the score by {uncertainty:.2g}: do not "
            "rely on edges that improve it by less.",
            PrecisionWarning,
            stacklevel=3,
        )
    return uncertainty


def _refuse(moments: Moments, node: int, parents: list[int]) -> None:
    """Say which of the three things it is: too few rows, a column too many, or digits that float64 does not have."""
    name, names = moments.names[node], [moments.names[parent] for parent in parents]
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
    source = " A covariance matrix keeps half the digits of its rows: give the rows instead." if moments.squared else ""
    raise PrecisionError(
        f"Beside the {counted(len(names), 'parent')} found for {shown(name)}, float64 holds no digit of its variance: no graph can be "
        f"read off these numbers.{source} Use fewer columns, or allow fewer edges with max_degree."
    )
