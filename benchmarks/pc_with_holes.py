"""The PC algorithm for tables with holes: tests on the rows that have a test's columns, or on imputed tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import t as student

import ordag
from ordag.learners.pc.independence import Indices, PartialCorrelations
from ordag.learners.pc.orientation import by_vote, orient
from ordag.learners.pc.skeleton import find_skeleton
from ordag.parents.tests import fisher_z

ALPHA = 0.05
FEWEST = 5
"""Rows beyond the columns of a test, below which nothing is tested: the pair counts as independent."""


class Testing:
    """What PC asks: p-values of the independence of i[b] and j[b] given S[b, c], by a function of i, j and S row by row."""

    def __init__(self, p_values: Callable[[Indices, Indices, Indices], np.ndarray]) -> None:
        self.alpha = ALPHA
        self._p_values = p_values

    def plan(self, sets: int) -> None:
        """Take no notice."""

    def __call__(self, i: Indices, j: Indices, S: Indices, skip: np.ndarray | None = None) -> np.ndarray:
        found = np.full(S.shape[:2], -1.0)
        wanted = np.ones(S.shape[:2], dtype=bool) if skip is None else ~skip
        row = np.nonzero(wanted)[0]
        if len(row):
            found[wanted] = self._p_values(i[row], j[row], S[wanted])
        return found


def on_complete_rows(H: np.ndarray) -> Testing:
    """Test on the rows that have all columns of a test."""
    gone, known = np.isnan(H), {}
    holed = gone.any(axis=0)

    def p_values(i: Indices, j: Indices, S: Indices) -> np.ndarray:
        found = np.ones(len(i))
        nodes = np.column_stack([i, j, S])
        keys, which = np.unique(np.where(holed[nodes], nodes, -1), axis=0, return_inverse=True)
        for k, key in enumerate(keys):
            columns = tuple(np.unique(key[key >= 0]).tolist())
            complete = ~gone[:, columns].any(axis=1)
            n, tests = int(complete.sum()), np.flatnonzero(which.reshape(-1) == k)
            if n - S.shape[1] < FEWEST:
                continue
            if columns not in known:
                known[columns] = _correlations(H[complete], columns, holed)
            correlations, place = known[columns]
            r = correlations(place[i[tests]], place[j[tests]], place[S[tests]])
            found[tests] = fisher_z(r, n, np.array(float(S.shape[1])))
        return found

    return Testing(p_values)


def _correlations(X: np.ndarray, columns: Sequence[int], holed: np.ndarray) -> tuple[PartialCorrelations, np.ndarray]:
    """Return correlations of the columns without holes and those named, and the place of each column among them."""
    usable = ~holed
    usable[list(columns)] = True
    return PartialCorrelations(ordag.Moments.from_rows(X[:, usable])), np.cumsum(usable) - 1


def on_imputed(tables: Sequence[np.ndarray]) -> Testing:
    """Test on all imputed tables together, by the rules of Rubin (Foraita et al. 2020)."""
    correlations = [PartialCorrelations(ordag.Moments.from_rows(X)) for X in tables]
    m, n = len(tables), len(tables[0])

    def p_values(i: Indices, j: Indices, S: Indices) -> np.ndarray:
        z = np.arctanh([one(i, j, S) for one in correlations])
        within, between = 1.0 / (n - S.shape[1] - 3.0), z.var(axis=0, ddof=1)
        between = np.maximum(between, 1e-9 * within)
        statistic = np.abs(z.mean(axis=0)) / np.sqrt(within + (1.0 + 1.0 / m) * between)
        freedom = (m - 1.0) * (1.0 + within / between * m / (m + 1.0)) ** 2
        return np.asarray(2.0 * student.sf(statistic, freedom))

    return Testing(p_values)


def by_pc(testing: Testing, names: Sequence[str]) -> ordag.Cpdag:
    """Run the PC algorithm as they do: colliders by majority."""
    skeleton = find_skeleton(testing, len(names), first=False, limit=len(names))
    triples = by_vote(skeleton, testing, unanimous=False, limit=len(names))
    return ordag.Cpdag(tuple(names), orient(skeleton.adjacency, triples, overwrite=False).adjacency)
