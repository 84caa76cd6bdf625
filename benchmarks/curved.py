"""Random tables of nonlinear equations, in which variances give no order away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array, Mask


def unit(x: Array) -> Array:
    """Mean 0, variance 1."""
    return np.asarray((x - x.mean()) / x.std())


def gaussian_process(z: Array, random: np.random.Generator) -> Array:
    """Smooth, with the kernel exp(−(z − z')²/2), from 200 random waves."""
    waves, phases, heights = (
        random.standard_normal(200),
        random.uniform(0.0, 2.0 * np.pi, 200),
        random.standard_normal(200),
    )
    return np.asarray(np.cos(np.outer(z, waves) + phases) @ heights)


CURVES: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "sine": lambda z, random: np.sin(2.0 * z),
    "quadratic": lambda z, random: z**2,
    "Gaussian process": gaussian_process,
    "interaction": lambda z, random: np.sin(2.0 * z),
}


class Curved(NamedTuple):
    """A design of nonlinear equations with errors N(0, 1), in which what the parents do has variance 1 for every variable that has any.

    So variances tell variables with parents from those without, and nothing else. The effect is the sum of `CURVES[kind]` of the
    standardised parents, each brought to variance 1; in "interaction" the product of the parents goes in. graph: "chain", each
    variable has its predecessor and, with a chance of one half (in "interaction" always), one earlier; "sparse", every pair is joined
    with the probability 2/(p − 1).
    """

    kind: str
    graph: str
    p: int
    n: int
    regressor: Any = None

    def parents(self, j: int, random: np.random.Generator) -> list[int]:
        if self.graph == "sparse":
            return [int(i) for i in np.flatnonzero(random.random(j) < 2.0 / (self.p - 1))]
        two = j > 1 and (self.kind == "interaction" or random.random() < 0.5)
        return [*([int(random.integers(j - 1))] if two else []), j - 1] if j else []

    def draw(self, random: np.random.Generator) -> tuple[Array, Mask]:
        A = np.zeros((self.p, self.p), dtype=bool)
        X = random.standard_normal((self.n, self.p))
        f = CURVES[self.kind]
        for j in range(self.p):
            parents = self.parents(j, random)
            A[parents, j] = True
            inputs = [unit(X[:, i]) for i in parents]
            if self.kind == "interaction" and inputs:
                inputs = [np.prod(inputs, axis=0)]
            if inputs:
                X[:, j] += unit(np.sum([unit(f(z, random)) for z in inputs], axis=0))
        mixed = random.permutation(self.p)
        return X[:, mixed], A[np.ix_(mixed, mixed)]
