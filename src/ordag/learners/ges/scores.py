"""Moments in, local scores out: what a variable's parents are worth, and what one more or one fewer would be."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ordag.data.moments import Moments
from ordag.learners.regressions import Regressions

MEMORY = 2**27
"""Bytes of differences that are kept, the least recently used given up first."""


class Scores:
    r"""The Gaussian BIC of node j with parents P, up to a constant that is the same for every graph:

    $$s(j, P) = -\frac n2 \Bigl(1 + \log\frac{\mathrm{RSS}_j(P)}{n}\Bigr) - \lambda (1 + |P|), \qquad
    \lambda = \text{penalty} \cdot \frac{\log n}2 ,$$

    larger is better. The 1 beside |P| is the error variance. All DAGs of a class have the same sum over j.
    `evaluated` counts the local scores computed so far.
    """

    def __init__(self, moments: Moments, penalty: float = 1.0) -> None:
        self.p = moments.p
        self.n = moments.n
        self.unit = penalty * math.log(moments.n) / 2
        self.evaluated = 0
        self.regressions = Regressions(moments.R, moments.n)
        size = MEMORY // (32 * self.p + 256)
        self.adding = lru_cache(size)(self._adding)
        self.dropping = lru_cache(size)(self._dropping)

    def local(self, node: int, parents: int) -> float:
        """s(node, parents)."""
        self.evaluated += 1
        rss = self.regressions.rss(node, parents)
        return -self.n / 2 * (1 + math.log(rss / self.n)) - self.unit * (1 + parents.bit_count())

    def _adding(self, node: int, parents: int) -> list[float]:
        """s(node, parents ∪ {k}) − s(node, parents) at every k outside."""
        self.evaluated += self.p - parents.bit_count()
        now = self.regressions.rss(node, parents)
        then = self.regressions.rss_adding(node, parents)
        gains: list[float] = (self.n / 2 * np.log(now / then) - self.unit).tolist()
        return gains

    def _dropping(self, node: int, parents: int) -> list[float]:
        r"""s(node, parents \ {k}) − s(node, parents) at every k among the parents; nan elsewhere."""
        self.evaluated += parents.bit_count() + 1
        now = self.regressions.rss(node, parents)
        then = self.regressions.rss_dropping(node, parents)
        gains: list[float] = (self.n / 2 * np.log(now / then) + self.unit).tolist()
        return gains
