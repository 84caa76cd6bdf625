"""Warn where rounding leaves few digits of the regressions of a fitted graph."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import joined, shown
from ordag.errors import PrecisionWarning
from ordag.graph.cpdag import Cpdag
from ordag.learners.found import AnyFound, Found
from ordag.order.ordering import Ordering
from ordag.order.rounding import NEGLIGIBLE, column_lengths, noise
from ordag.parents.selection import Selection
from ordag.parents.tests import in_doubt

UNCERTAIN = 0.01
"""The relative uncertainty of an error variance from which its weights and tests are unreliable."""

LOG_LIKELIHOOD = 0.1
"""How far rounding may move the log-likelihood of one variable; a search decides by differences of a few units."""


def with_digits_checked(found: AnyFound) -> AnyFound:
    """Compute the regressions now, so that what cannot be computed is refused here, and warn where few digits are left.

    If every variance given all predecessors is precise, so is every one given fewer, and no check is needed.
    """
    uncertainty = None if found.ordering is None else found.ordering.uncertainty
    if uncertainty is not None and uncertainty.max() <= NEGLIGIBLE:
        return found
    if isinstance(found.graph, Cpdag):
        return found  # PC refuses imprecise tests, GES warns of a rounded score
    sentences = [*_few_digits(found)]
    if found.ordering is not None and found.selection is not None and found.selection.row_p_values is None:
        sentences += _doubtful_pairs(found.ordering, found.selection)
    for sentence in sentences:
        warnings.warn(sentence, PrecisionWarning, stacklevel=4)
    return replace(found, warnings=(*found.warnings, *sentences)) if sentences else found


def _few_digits(found: Found) -> Iterator[str]:
    """Yield a sentence on the variables whose error variances have too few digits."""
    uncertainty = regression_noise(found)
    limit = UNCERTAIN if found.score is None else min(UNCERTAIN, 2.0 * LOG_LIKELIHOOD / found.n)
    few = np.flatnonzero(uncertainty >= limit)
    if not len(few):
        return
    worst = few[np.argsort(-uncertainty[few], kind="stable")]
    names = [f"{shown(found.names[j])} ({max(0.0, -math.log10(uncertainty[j])):.1f} digits)" for j in worst]
    yield (
        f"The data are so close to collinear, or so far from zero, that few digits are left of the error variances of "
        f"{joined(names)}: arrows at these variables may be due to rounding. Subtract a constant from columns far from zero "
        "before they are stored, or leave out columns that others explain."
    )


def _doubtful_pairs(ordering: Ordering, selection: Selection) -> Iterator[str]:
    """Yield a sentence on the pairs whose test could be decided by the rounding of their partial correlation."""
    factor, squared = ordering.known_factor, ordering.moments.squared
    c = factor.condition(column_lengths(ordering.moments)[ordering.order])
    doubtful: list[tuple[float, int, int]] = []
    pairs_in_doubt = in_doubt(factor, selection.n, selection.test, selection.level, c, squared=squared)
    for later, earlier, rounding in pairs_in_doubt:
        doubtful += zip((-rounding).tolist(), later.tolist(), earlier.tolist(), strict=True)
    if not doubtful:
        return
    names = [shown(ordering.moments.names[j]) for j in ordering.order]
    pairs = [f"{names[a]} and {names[m]} (± {min(-moved, 1.0):.1g})" for moved, m, a in sorted(doubtful)]
    yield (
        f"The data are so close to collinear that rounding could have decided whether {joined(pairs, 4)} are joined: in brackets "
        "how far it may have moved their partial correlation. Do not rely on these edges."
    )


def regression_noise(found: Found) -> Array:
    r"""Return the relative uncertainty of every error variance in the fitted model (see `ordag.order.rounding`).

    The residual of j is $x_j - \sum_i B_{ij} x_i$, so its condition is $(\|x_j\| + \sum_i |B_{ij}| \|x_i\|) / \|e_j\|$.
    """
    sem = found.any_sem
    scale = column_lengths(found.moments)
    links = sem.dag.links
    residual = np.sqrt(sem.omega * (found.n - 1 - links.in_columns))
    summed = np.bincount(links.target, scale[links.source] * np.abs(sem.weights), minlength=len(scale))
    return noise((scale + summed) / residual, squared=found.moments.squared)
