"""The pooled search as a method: a Table and settings in, a Fit out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ordag.checks import Seed, as_list, check_choice, checked_seed
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Given, constraints, informed
from ordag.learners.pooled.posterior import Posterior, check_draws
from ordag.learners.pooled.score import COMMENSURABLE, UNITS_UNKNOWN
from ordag.learners.pooled.search import check_kicks, pooled_search
from ordag.order import find_order
from ordag.words import listed

UNITS = {None: UNITS_UNKNOWN, "commensurable": COMMENSURABLE}
"""Scale of the prior on the spread of the log error variances, by what the user says of the units."""


def pooled(
    table: Table,
    *,
    units: str | None = None,
    groups: Sequence[Sequence[str]] | None = None,
    kicks: int | None = None,
    draws: int | None = None,
    seed: Seed = 0,
    knowledge: Given = None,
) -> Fit:
    """Pooled error variances, searched over orders: see docs/pooled.md. Gives a Dag; lower scores are better.

    units: "commensurable" says that all columns have units that can be compared.
    groups: lists of columns that share a unit; error variances are pooled within a group only.
    kicks: fruitless restarts from disturbed orders that end the search; chosen by itself if not given.
    draws: graphs to sample for the probabilities of arrows; chosen by the number of variables if not given, 0 for none.
    seed: of kicks and draws.
    knowledge: what is known beforehand (`ordag.knowledge.knowledge.Knowledge`, a mapping, or the path of a file).
    """
    check_choice("units", units, UNITS, "'commensurable', or None where nothing is known")
    if units is not None and groups is not None:
        raise SettingError("units='commensurable' says that all columns share a unit: leave groups out.", ["groups"])
    check_kicks(kicks)
    check_draws(draws)
    seed = checked_seed(seed)
    moments = table.moments
    grouped = None if groups is None else checked_groups(groups, moments.names)
    known = None if knowledge is None else constraints(knowledge, moments.names)
    ordering = find_order(Table(moments), before=None if known is None else known.before)
    search_seed, draw_seed = np.random.SeedSequence(_entropy(seed)).spawn(2)
    found = pooled_search(
        ordering,
        groups=grouped,
        spread=UNITS[units] if groups is None else COMMENSURABLE,
        kicks=kicks,
        seed=search_seed,
        known=known,
        progress=lambda start, score: table.tell(f"pooled: from {start}, score {score:.6g}"),
    )
    best, order = found.best, ordering.order
    adjacency = np.zeros((moments.p, moments.p), dtype=bool)
    adjacency[np.ix_(order, order)] = best.adjacency()
    fit = Fit(
        method="pooled",
        settings={
            "units": units,
            "groups": None if grouped is None else [[moments.names[j] for j in group] for group in grouped],
            "kicks": None if kicks is None else int(kicks),
            "draws": None if draws is None else int(draws),
            "seed": seed if isinstance(seed, int) else None,
        },
        moments=moments,
        graph=Dag.known_acyclic(moments.names, adjacency),
        sequence=tuple(int(order[j]) for j in best.order),
        score=best.score,
        posterior=Posterior(found, order, draws, draw_seed),
        warnings=ordering.warnings,
        details={
            "start": found.start,
            "start_scores": found.starts,
            "kicks": found.kicks,
            "spread": found.score.ratio(best.v),
            "edge_price": found.score.local(best.v, best.edges).price,
        },
    )
    return informed(fit, known)


def checked_groups(groups: Sequence[Sequence[str]], names: Sequence[str]) -> list[list[int]]:
    """The groups as column numbers; columns in no group share their unit with nobody."""
    wanted = "groups=…: give lists of column names, such as [['height', 'width'], ['mass']]."
    lists = [as_list(group, wanted) for group in as_list(groups, wanted)]
    flat = [name for group in lists for name in group]
    place = {name: j for j, name in enumerate(names)}
    unknown = [str(name) for name in flat if not isinstance(name, str) or name not in place]
    if unknown:
        raise SettingError(f"groups=…: there is no column {listed(unknown)}; the columns are {listed(names)}.")
    twice = sorted({name for name in flat if flat.count(name) > 1})
    if twice:
        raise SettingError(f"groups=…: {listed(twice)} is named more than once; a column has one unit.")
    return [[place[name] for name in group] for group in lists]


def _entropy(seed: Seed) -> int | None:
    """One number from whatever was given as a seed."""
    if seed is None or isinstance(seed, int):
        return seed
    return int(np.random.default_rng(seed).integers(2**63))
