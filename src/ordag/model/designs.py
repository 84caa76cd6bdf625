"""The random models of `simulate`: one function and one entry of `DESIGNS` each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import NamedTuple, TypeAlias

import numpy as np

from ordag.common.arrays import Array, Indices
from ordag.common.checks import as_number, as_numbers, short
from ordag.common.words import counted
from ordag.errors import SettingError

Range: TypeAlias = tuple[float, float]
Variances: TypeAlias = str | float | Range
"""The error variances of a design: "equal", one number for all, or a range to draw from."""


class Streams(NamedTuple):
    """Independent generators, so that drawing more of one thing does not change the others."""

    labels: np.random.Generator
    graph: np.random.Generator
    weights: np.random.Generator
    variances: np.random.Generator
    rows: np.random.Generator
    experiments: np.random.Generator


class DrawnModel(NamedTuple):
    """A model whose variables are numbered causes first: causes[i] → effects[i] has the weight weights[i]."""

    causes: Indices
    effects: Indices
    weights: Array
    omega: Array


@dataclass(frozen=True)
class Design:
    """A way to draw a model: a function of p and the streams, whose keyword-only arguments are its options.

    A design with a fixed p is one given model, whose columns stay in their order.
    """

    draw: Callable[..., DrawnModel]
    aliases: tuple[str, ...] = ()
    fixed_p: int | None = None

    @property
    def options(self) -> frozenset[str]:
        parameters = signature(self.draw).parameters.values()
        return frozenset(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)


def homogeneous(p: int, streams: Streams) -> DrawnModel:
    """Park & Kim, Section 4.1: error variances 1, weights at least 0.25 in size."""
    return _all_pairs(p, streams, smallest=0.25, omega=np.ones(p))


def heterogeneous(p: int, streams: Streams) -> DrawnModel:
    """Park & Kim, Section 4.2: error variances uniform on [1, 3], weights at least 1 in size."""
    return _all_pairs(p, streams, smallest=1.0, omega=streams.variances.uniform(1.0, 3.0, p))


def nonfaithful(p: int, streams: Streams) -> DrawnModel:
    """Park & Kim, Section 4.3: X₁ and X₂ are adjacent, and independent given X₃."""
    return DrawnModel(np.array([0, 0, 1]), np.array([1, 2, 2]), np.ones(3), np.array([2.25, 1.5, 1.5]))


def erdos_renyi(
    p: int, streams: Streams, *, degree: float = 2.0, weights: Range = (0.5, 2.0), variances: Variances = "equal"
) -> DrawnModel:
    """Every pair is joined with probability degree/(p − 1), independently of the others."""
    _check_degree(degree, p)
    pairs = p * (p - 1) // 2
    edges = streams.graph.binomial(pairs, degree / max(p - 1, 1))
    # the pair i → j has the number i + j(j − 1)/2
    number = np.sort(streams.graph.choice(pairs, edges, replace=False, shuffle=False)) if edges else np.arange(0)
    effects = ((1.0 + np.sqrt(8.0 * number + 1.0)) / 2.0).astype(np.intp)
    causes = number - effects * (effects - 1) // 2
    return DrawnModel(causes, effects, _signed(edges, streams, weights), _variances(p, streams, variances))


def scale_free(
    p: int, streams: Streams, *, degree: float = 2.0, weights: Range = (0.5, 2.0), variances: Variances = "equal"
) -> DrawnModel:
    """Each variable takes about degree/2 parents among the earlier ones, by preferential attachment.

    A parent is chosen with a chance proportional to one plus the number of arrows it has.
    """
    _check_degree(degree, p)
    wanted = np.floor(degree / 2.0 + streams.graph.random(p)).astype(np.intp)
    tickets: list[int] = []  # a variable has one ticket, and one more per arrow
    parents: list[list[int]] = []
    for j in range(p):
        chosen = set(range(j)) if wanted[j] >= j else set()
        while len(chosen) < min(wanted[j], j):
            chosen.add(tickets[streams.graph.integers(len(tickets))])
        parents.append(sorted(chosen))
        tickets += [*parents[j], *[j] * (1 + len(chosen))]
    return _from_parents(parents, streams, weights, variances)


def chain(p: int, streams: Streams, *, weights: Range = (0.7, 1.0), variances: Variances = "equal") -> DrawnModel:
    """Each variable has its predecessor as a parent, and two earlier ones that have fewer than four children.

    The predecessor may be one of the two. Chen, Drton & Wang (2019) have this design, `hub` and `rs40`.
    """
    children = np.zeros(p, dtype=np.intp)
    parents: list[list[int]] = [[] for _ in range(p)]
    for j in range(1, p):
        able = np.flatnonzero(children[:j] < 4) if j > 1 else np.arange(0)
        drawn = streams.graph.choice(able, min(len(able), 2), replace=False)
        parents[j] = sorted({j - 1, *drawn.tolist()})
        children[parents[j]] += 1
    return _from_parents(parents, streams, weights, variances)


def hub(p: int, streams: Streams, *, weights: Range = (0.7, 1.0), variances: Variances = "equal") -> DrawnModel:
    """Each variable has its predecessor as a parent, and two of the first ten."""
    parents: list[list[int]] = [[] for _ in range(p)]
    for j in range(1, p):
        drawn = streams.graph.choice(min(j, 10), 2, replace=False) if j > 1 else np.arange(0)
        parents[j] = sorted({j - 1, *drawn.tolist()})
    return _from_parents(parents, streams, weights, variances)


def hub5(p: int, streams: Streams, *, weights: Range = (0.5, 1.0), variances: Variances = "equal") -> DrawnModel:
    """`hub` with weights from 0.5 on."""
    return hub(p, streams, weights=weights, variances=variances)


def er2(p: int, streams: Streams, *, weights: Range = (0.5, 1.0), variances: Variances = "equal") -> DrawnModel:
    """`erdos_renyi` of degree 2, or complete where there are fewer than three variables; weights from 0.5 to 1."""
    return erdos_renyi(p, streams, degree=min(2.0, p - 1.0), weights=weights, variances=variances)


def er4(p: int, streams: Streams, *, weights: Range = (0.5, 1.0), variances: Variances = "equal") -> DrawnModel:
    """`er2` with degree 4."""
    return erdos_renyi(p, streams, degree=min(4.0, p - 1.0), weights=weights, variances=variances)


def er2w3(p: int, streams: Streams, *, weights: Range = (0.3, 1.0), variances: Variances = "equal") -> DrawnModel:
    """`er2` with weights from 0.3 on."""
    return er2(p, streams, weights=weights, variances=variances)


def rs40(p: int, streams: Streams, *, weights: Range = (0.3, 1.0), variances: Variances = "equal") -> DrawnModel:
    """Each variable has its predecessor as a parent, and Binomial(#earlier, 3/(2p − 2)) of the earlier ones."""
    parents: list[list[int]] = [[] for _ in range(p)]
    for j in range(1, p):
        count = streams.graph.binomial(j, 3 / (2 * p - 2)) if j > 1 else 0
        drawn = streams.graph.choice(j, count, replace=False)
        parents[j] = sorted({j - 1, *drawn.tolist()})
    return _from_parents(parents, streams, weights, variances)


DESIGNS: dict[str, Design] = {
    "homogeneous": Design(homogeneous, aliases=("hom", "4.1")),
    "heterogeneous": Design(heterogeneous, aliases=("het", "4.2")),
    "nonfaithful": Design(nonfaithful, aliases=("4.3",), fixed_p=3),
    "erdos-renyi": Design(erdos_renyi),
    "scale-free": Design(scale_free),
    "chain": Design(chain),
    "hub": Design(hub),
    "hub5": Design(hub5),
    "er2": Design(er2),
    "er4": Design(er4),
    "er2w3": Design(er2w3),
    "rs40": Design(rs40),
}


def _all_pairs(p: int, streams: Streams, smallest: float, omega: Array) -> DrawnModel:
    """Weights uniform on [−2, 2]; a pair whose weight falls within (−smallest, smallest) is not joined."""
    causes, effects = np.triu_indices(p, 1)
    weights = streams.weights.uniform(-2.0, 2.0, len(causes))
    kept = np.abs(weights) >= smallest
    return DrawnModel(causes[kept], effects[kept], weights[kept], omega)


def _from_parents(parents: list[list[int]], streams: Streams, weights: Range, variances: Variances) -> DrawnModel:
    causes = np.array([i for ones in parents for i in ones], dtype=np.intp)
    effects = np.repeat(np.arange(len(parents)), [len(ones) for ones in parents])
    return DrawnModel(
        causes, effects, _signed(len(causes), streams, weights), _variances(len(parents), streams, variances)
    )


def _signed(edges: int, streams: Streams, weights: Range) -> Array:
    low, high = _limits(weights, "weights")
    magnitudes = streams.weights.uniform(low, high, edges)
    return np.where(streams.weights.random(edges) < 0.5, -magnitudes, magnitudes)


def _variances(p: int, streams: Streams, variances: Variances) -> Array:
    if isinstance(variances, str):
        if variances != "equal":
            raise SettingError(f'variances={variances!r}: give "equal", a number, or a range (low, high).')
        variances = 1.0
    low, high = _limits(variances, "variances")
    return streams.variances.uniform(low, high, p)


def _limits(given: float | Range, what: str) -> Range:
    """(low, high) of a range; a single number is both."""
    limits = as_numbers(given, what, SettingError)
    if limits.shape not in ((), (2,)):
        raise SettingError(f"{what}={short(given)}: give two numbers, (low, high).")
    low, high = np.broadcast_to(limits, 2).tolist()
    if not 0 < low <= high < np.inf:
        raise SettingError(f"{what}=({low:g}, {high:g}): both must be positive, the smaller one first.")
    return low, high


def _check_degree(degree: float, p: int) -> None:
    number = as_number(degree)
    if not 0 <= number <= p - 1:
        written = f"{number:g}" if math.isfinite(number) else short(degree)
        raise SettingError(f"degree={written}: among {counted(p, 'variable')} it must be between 0 and {p - 1}.")
