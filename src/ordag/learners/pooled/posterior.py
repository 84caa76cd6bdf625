"""`Posterior`: how probable every arrow is under the pooled score, worked out when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.learners.order_search.engine import OrderSearch
from ordag.learners.pooled.all_graphs import MOST_VARIABLES, exact_probabilities
from ordag.learners.pooled.sampler import Chain, Sampler
from ordag.learners.pooled.search import PooledResult

Arrows = TypeVar("Arrows", Array, Mask)

SAMPLED, STEPS, DEARER = 200, 1_000_000, 50
"""Variables up to which graphs are sampled without being asked for, steps of the chains, a second or two, and variables from which on they
are fewer, because each takes longer."""

CLOSE = 3.0
"""A second chain starts from another optimum whose score is not higher by more than this."""

SETTLED = 0.05
"""Two chains agree on an arrow if they differ by no more than this."""

OPEN = 0.05
"""An arrow whose probability is nearer to 0 or 1 than this tells nothing of how well the chain moves."""


@dataclass(frozen=True)
class Probabilities:
    """The probability of i → j at [i, j], in the columns' own order.

    kind: "exact" over all graphs, or "sampled".
    draws: graphs sampled, in two chains together. effective: how many independent ones the uncertain arrows are worth, in the
        median. disagreement: the largest difference between the two chains in the probability of an arrow.
    """

    arrows: Array
    kind: str
    draws: int | None = None
    effective: float | None = None
    disagreement: float | None = None

    @property
    def joined(self) -> Array:
        """The probability of an edge between i and j, whichever way."""
        return self.arrows + self.arrows.T

    @property
    def sentence(self) -> str:
        """Where the probabilities come from."""
        if self.kind == "exact":
            return "Probabilities are sums over all graphs."
        more = "" if self.settled else "; they have not settled: ask for more draws (draws=…, --draws)"
        return (
            f"Probabilities are shares of {self.draws:,} sampled graphs, worth about {self.effective:.0f} independent ones; two "
            f"chains differ by up to {self.disagreement:.2f}{more}."
        )

    @property
    def settled(self) -> bool:
        """Whether two chains agree on every arrow."""
        return self.disagreement is None or self.disagreement <= SETTLED

    def to_dict(self) -> dict[str, object]:
        found: dict[str, object] = {"kind": self.kind}
        if self.kind == "sampled":
            found |= {"draws": self.draws, "effective": self.effective, "disagreement": self.disagreement}
            found["settled"] = self.settled
        return found


class Posterior:
    """Where the probabilities of a fit come from."""

    def __init__(
        self, found: PooledResult, order: NDArray[np.intp], draws: int | None, seed: np.random.SeedSequence
    ) -> None:
        self._found, self._order, self._draws, self._seed = found, order, draws, seed

    @property
    def quick(self) -> bool:
        """Whether the probabilities are there already, or take no sampling."""
        return "probabilities" in vars(self) or (self._draws is None and self._found.score.p <= MOST_VARIABLES)

    def unweighed(self) -> Posterior:
        """The same without what takes time: no probabilities, and nothing from the class."""
        twin = Posterior(self._found, self._order, 0, self._seed)
        vars(twin)["compelled"] = np.zeros((len(self._order),) * 2, dtype=bool)
        return twin

    @cached_property
    def probabilities(self) -> Probabilities | None:
        """None where there are too many variables to sample graphs unasked, or none were asked for."""
        p = self._found.score.p
        if self._draws is None and p <= MOST_VARIABLES:
            known = self._found.known
            masks = (None, None) if known is None else (known.allowed, known.required)
            by_position = exact_probabilities(self._found.score, self._found.variances, *masks)
            return Probabilities(self._by_column(by_position), "exact")
        draws = usual_draws(p) if self._draws is None else int(self._draws)
        return None if not draws else self._sampled(draws)

    @cached_property
    def compelled(self) -> Mask:
        """The arrows of the best equivalence class, to which error variances say nothing."""
        return self._by_column(self._found.compelled)

    def _by_column(self, by_position: Arrows) -> Arrows:
        """Arrows between positions of the order as arrows between columns."""
        arrows = np.zeros_like(by_position)
        arrows[np.ix_(self._order, self._order)] = by_position
        return arrows

    def _sampled(self, draws: int) -> Probabilities:
        """Two chains; between two draws there is one step for every variable."""
        found = self._found
        best, p = found.best, found.score.p
        search = OrderSearch.of(found.variances, found.known)
        sampler = Sampler(search, found.score, found.score.local(best.v, best.edges))
        other = next((one for one in found.optima[1:] if one.score < best.score + CLOSE), best)
        steps = max(10, (draws + 1) // 2 * p)
        chains = sampler.run([best.parents, other.parents], steps, self._seed.spawn(2))
        mean = (chains[0].arrows + chains[1].arrows) / 2.0
        return Probabilities(
            self._by_column(mean),
            "sampled",
            draws,
            effective_size(chains, draws),
            float(np.abs(chains[0].arrows - chains[1].arrows).max()),
        )


def usual_draws(p: int) -> int:
    """So many that sampling takes a second or two."""
    return STEPS * min(p, DEARER) // p**2 if p <= SAMPLED else 0


def effective_size(chains: list[Chain], draws: int) -> float:
    """Independent draws that would leave uncertain arrows as uncertain as the chains do, in the median; by batch means.

    The means over tenths of a chain vary with q(1 − q)/(size/20) where the tenths are worth size/20 independent draws each.
    """
    tenths = np.concatenate([chain.tenths for chain in chains])
    mean = tenths.mean(axis=0)
    uncertain = (mean > OPEN) & (mean < 1.0 - OPEN)
    if not uncertain.any():
        return float(draws)
    spread = tenths.var(axis=0, ddof=1)[uncertain]
    size = len(tenths) * mean[uncertain] * (1.0 - mean[uncertain]) / np.maximum(spread, 1e-12)
    return float(min(np.median(size), draws))
