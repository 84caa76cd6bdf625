"""Do the three tiers of the verdict sort random tables as they should, and how often are arrows wrong in each?

The shares at the end are those in `ordag.trust.verdict.MEASURED`; `python -m benchmarks.verdicts` prints this section alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.arrays import Array
from ordag.model.simulate import Simulation
from ordag.trust.verdict import MEASURED, RANDOM_UNITS, Tier, Wrong, quick_verdict

RUNS = 500
TIERS: tuple[Tier, ...] = ("tested", "assumed", "uninformative")
SPREAD = 20.0


class Run(NamedTuple):
    """One table: where it landed, and its arrows: all, between truly adjacent pairs, turned round, not in the truth."""

    tier: Tier
    arrows: int
    adjacent: int
    turned: int
    wrong: int


def equal(p: int, n: int, seed: int) -> Simulation:
    """Error variances 1."""
    return ordag.simulate("erdos-renyi", p, n, seed=np.random.SeedSequence([1, p, seed]), degree=3)


def spread(p: int, n: int, seed: int) -> Simulation:
    """Error variances uniform on (0.1, 4), drawn until the largest is at least 20 times the smallest."""
    for attempt in range(10_000):
        sequence = np.random.SeedSequence([2, p, seed, attempt])
        drawn = ordag.simulate("erdos-renyi", p, n, seed=sequence, degree=3, variances=(0.1, 4.0))
        if drawn.sem.omega.max() >= SPREAD * drawn.sem.omega.min():
            return drawn
    raise AssertionError("no such variances")


def mild(p: int, n: int, seed: int) -> Simulation:
    """Error variances uniform on (1, 2): nearly equal, and the condition holds for most weights."""
    sequence = np.random.SeedSequence([3, p, seed])
    return ordag.simulate("erdos-renyi", p, n, seed=sequence, degree=3, variances=(1.0, 2.0))


def as_drawn(X: Array, seed: int) -> Array:
    return X


def standardised(X: Array, seed: int) -> Array:
    """With divisor n or n − 1, in turn."""
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=seed % 2)


def random_units(X: Array, seed: int) -> Array:
    """Every column times a factor that is log-uniform on [0.1, 10]."""
    return X * 10.0 ** np.random.default_rng([4, X.shape[1], seed]).uniform(-1.0, 1.0, X.shape[1])


Draw = Callable[[int, int, int], Simulation]
Change = Callable[[Array, int], Array]

MILD, UNITS = "error variances from 1 to 2", "equal, then random units"
DESIGNS: dict[str, tuple[Draw, Change]] = {
    "equal error variances": (equal, as_drawn),
    MILD: (mild, as_drawn),
    "spread over a factor of 20 or more": (spread, as_drawn),
    UNITS: (equal, random_units),
    "equal, then standardised": (equal, standardised),
    "spread, then standardised": (spread, standardised),
}


def runs(design: str, p: int, n: int, count: int) -> Iterator[Run]:
    draw, change = DESIGNS[design]
    for seed in range(count):
        simulation = draw(p, n, seed)
        fit = ordag.learn(change(simulation.X, seed))
        verdict = quick_verdict(fit)
        assert verdict is not None
        found, truth = fit.graph.adjacency, simulation.dag.adjacency
        turned = int((found & truth.T).sum())
        right = int((found & truth).sum())
        yield Run(verdict.tier, int(found.sum()), right + turned, turned, int(found.sum()) - right)


def run(count: int = RUNS) -> str:
    """Measure, and say where the stored shares are from."""
    results: dict[tuple[str, int, int], list[Run]] = {}
    with threadpool_limits(1):  # tables this small are no work for two
        for design in DESIGNS:
            for p in (10, 20):
                for n in (200, 1000):
                    results[design, p, n] = list(runs(design, p, n, count))
    landed = []
    for (design, p, n), found in results.items():
        shares = [sum(one.tier == tier for one in found) / len(found) for tier in TIERS]
        landed.append(
            [design, p, n, *(f"{share:.1%}" for share in shares), _share(found, "turned"), _share(found, "wrong")]
        )
    main = [one for (design, _, _), found in results.items() if design not in (MILD, UNITS) for one in found]
    chosen = [one for (design, _, _), found in results.items() if design == UNITS for one in found]
    by_tier = [
        _line(f"{number}, {tier}", [one for one in main if one.tier == tier], MEASURED[tier])
        for number, tier in enumerate(TIERS, start=1)
    ]
    by_tier.append(_line("2, assumed, units at random", [one for one in chosen if one.tier == "assumed"], RANDOM_UNITS))
    head = ["tables", "p", "n", *TIERS, "turned", "wrong"]
    return f"""## The three tiers of the verdict

Random sparse models (Erdős–Rényi, degree 3, weights 0.5 to 2 in size), {count} for each line: the share of tables in each tier,
the arrows that point the wrong way among those between truly adjacent pairs, and the wrong ones among all arrows.

{table(head, landed)}

By tier, over the tables with equal and with spread error variances, standardised or not, and those with random units by themselves;
the last column is what the verdict's help text quotes.

{table(["tier", "tables", "turned", "wrong", "stored"], by_tier)}"""


def _line(title: str, found: list[Run], stored: Wrong) -> list[object]:
    return [
        title,
        len(found),
        _share(found, "turned"),
        _share(found, "wrong"),
        f"{stored.turned:.2%}, {stored.wrong:.2%}",
    ]


def _share(found: list[Run], what: str) -> str:
    total = sum(one.adjacent if what == "turned" else one.arrows for one in found)
    return f"{sum(getattr(one, what) for one in found) / total:.2%}" if total else "–"


if __name__ == "__main__":
    print(run())
