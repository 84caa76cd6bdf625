"""The default method: pooled error variances, searched over orders (docs/pooled.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array
from ordag.common.checks import Seed, as_list
from ordag.common.linalg import inverse, lengths
from ordag.common.settings import choice, seed, setting, whole
from ordag.common.words import counted, joined, listed
from ordag.data.causes import Categories
from ordag.data.environments import Environments
from ordag.data.equations import Equations
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.data.table_checks import LeastRows, least_squares_rows
from ordag.errors import SettingError, TooFewRowsError
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Constraints, without_causes
from ordag.learners.causes import CauseRules, free_rules, within_all
from ordag.learners.found import Found
from ordag.learners.order_search.engine import Optimum
from ordag.learners.pooled.cause_resampling import CausedPosterior
from ordag.learners.pooled.cause_search import search_with_causes
from ordag.learners.pooled.posterior import LIKELY, Posterior, usual_draws
from ordag.learners.pooled.result import PooledResult
from ordag.learners.pooled.score import COMMENSURABLE, UNITS_UNKNOWN
from ordag.learners.pooled.search import pooled_search
from ordag.learners.pooled.variances import ROWS_PER_PARENT
from ordag.learners.result import Learned
from ordag.learners.settings import MethodSettings, kicks
from ordag.order import find_order

UNITS = {None: UNITS_UNKNOWN, "commensurable": COMMENSURABLE}
"""Scale of the prior on the spread of the log error variances, by the setting `units`."""

CORRELATED = 3.0
"""Standard errors beyond which two columns are correlated."""

LEAST_ROWS = 30
"""Rows at least of a table with too few for regressions on all of its columns."""

Groups = Sequence[Sequence[str]]


def groups_from_text(text: str) -> list[list[str]]:
    """Read `a,b;c,d`: groups between semicolons, names between commas."""
    groups = [[name.strip() for name in group.split(",") if name.strip()] for group in text.split(";")]
    if not any(groups):
        raise SettingError(f'groups="{text}" names no column: write "a,b;c,d" for two groups of two.')
    return [group for group in groups if group]


def _groups(_: str, value: Any) -> Any:
    wanted = "groups=…: give lists of column names, such as [['height', 'width'], ['mass']]."
    return None if value is None else [as_list(group, wanted) for group in as_list(value, wanted)]


@dataclass(frozen=True)
class PooledSettings(MethodSettings):
    """Pooled error variances, searched over orders: a Dag; lower scores are better."""

    name: ClassVar = "pooled"
    about: ClassVar = (
        "searches variable orders with a score that estimates from the data how similar the error variances are"
    )
    seconds: ClassVar = 2e-5

    _: KW_ONLY
    units: str | None = choice(None, ("commensurable",), "all columns have units that can be compared")
    groups: Groups | None = setting(
        None,
        _groups,
        'columns that share a unit: "a,b;c,d" says that a and b have one unit, and c and d another',
        typed=groups_from_text,
    )
    kicks: int | None = kicks(
        "stop after this many restarts in a row without improvement; default 20 plus one per variable, at most 100"
    )
    draws: int | None = whole(
        0, "how many resamples is a whole number, 0 for none", "resamples for the probabilities of arrows; 0 for none"
    )
    seed: Seed = seed("seed of the random numbers; default 0")
    graph: str = choice(
        "consensus",
        ("consensus", "best"),
        "the graph that the arrow probabilities support, or the one with the best score",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.units is not None and self.groups is not None:
            raise SettingError(
                "units='commensurable' says that all columns share a unit: leave groups out.", ["groups"]
            )

    is_slow: ClassVar = True
    rests_on_condition: ClassVar = False
    takes_experiments: ClassVar = True
    rests_on: ClassVar = (
        "This method compares error variances, which are in squared units of their columns, but allows them to differ: "
        "units can open a direction or close it."
    )

    @property
    def least_rows(self) -> LeastRows:
        return pooled_rows

    def declared(self, same_units: bool, groups: Groups | None) -> Self:
        return replace(self, units="commensurable" if same_units else None, groups=None if same_units else groups)

    @property
    def declared_units(self) -> tuple[bool, Groups | None]:
        return self.units == "commensurable", self.groups

    def hurried(self) -> Self:
        return replace(self, kicks=0)

    def finished(self, found: Learned) -> Learned:
        """Replace the graph of the best score by the consensus of the probabilities of arrows."""
        posterior = found.posterior
        agreed = None if posterior is None or self.graph == "best" else posterior.consensus(found.sample)
        if posterior is None or agreed is None:
            return found
        equations = found.equations
        if found.result.environments is not None:
            equations = found.result.equations_in(agreed).ordered(np.argsort(posterior.order))
        shown = _shown(found.names, posterior.order, agreed)
        probabilities = posterior.probabilities(found.sample)
        if found.causes is not None and probabilities is not None and probabilities.causes is not None:
            shown |= {"causes": replace(found.causes, arrows=probabilities.causes > LIKELY), "score": found.score}
        return replace(found, **shown, optimum=found.graph, equations=equations)

    def alone(self) -> Self:
        return replace(self, graph="best", draws=0)

    @property
    def has_probabilities(self) -> bool:
        return self.draws != 0


def pooled(
    table: Table, settings: PooledSettings, known: Constraints | None = None, rules: CauseRules | None = None
) -> Found:
    """Learn the Dag of the lowest pooled score. `PooledSettings.finished` goes on from there."""
    moments = table.moments
    categories = None if moments.causes is None else Categories(moments.causes)
    equations, environments = Equations.of(moments), Environments.of(moments)
    if equations is not None and equations.external:
        known = without_causes(moments.names, equations.external, known)
    series = table.series
    present = moments if series is None else moments.select(series.names)
    grouped = None if settings.groups is None else placed_groups(settings.groups, present.names)
    if grouped is None and settings.units is None and (present.p == 2 or is_standardised(present)):
        grouped = []
    spread = UNITS[settings.units] if grouped is None else COMMENSURABLE
    pairs = None
    if series is not None:  # error variances are those of the present alone
        grouped = [list(range(series.p))] if grouped is None else grouped
        pairs = series.p * (series.p - 1) // 2 + series.lags * series.p**2
    pooled_moments = moments.pooled() if categories is None else within_all(moments, categories)
    few = pooled_moments.n < least_squares_rows(moments.p)
    if few and categories is not None:
        raise TooFewRowsError(
            f"{counted(moments.n, 'row')} are too few for regressions on all of {moments.p} variables beside the values of "
            f"{joined(list(categories.names))}: hold the categories fixed (adjust, --adjust), or use fewer variables.",
            ["cause"],
        )
    before = None if known is None else known.before
    factors = None if settings.groups is None else without_units(pooled_moments, grouped or [])
    ordering = find_order(
        Table(pooled_moments if factors is None else pooled_moments.scaled(factors), progress=table.announce),
        before=before,
        variance="sparse" if few else "least-squares",
    )
    if factors is not None:
        ordering = ordering.of_units(pooled_moments, factors)
    assert isinstance(settings.seed, int), "the settings make a number of any seed"
    search_seed, draw_seed = np.random.SeedSequence(settings.seed).spawn(2)
    given: dict[str, Any] = {
        "groups": grouped,
        "spread": spread,
        "kicks": settings.kicks,
        "seed": search_seed,
        "known": known,
        "labels": None if table.profile is None else table.profile.labels,
        "progress": table.announce,
    }
    result: PooledResult
    if categories is None:
        several = settings.has_probabilities and (settings.draws is not None or usual_draws(len(moments.names)) > 0)
        result = pooled_search(
            ordering, pairs=pairs, several=several, equations=equations, environments=environments, **given
        )
    else:
        result = search_with_causes(ordering, categories, rules or free_rules(categories), **given)
    remarks = () if equations is None else tuple(equations.remarks)
    if environments is not None and result.equations is not None:
        equations = result.equations.ordered(np.argsort(ordering.order))
    kind = Posterior if categories is None else CausedPosterior
    posterior = kind(result, ordering.order, settings.draws, draw_seed)
    return Found(
        method_settings=settings,
        moments=moments,
        result=result,
        equations=equations,
        **_shown(moments.names, ordering.order, result.best) | {"score": result.total},
        posterior=posterior,
        causes=result.found_causes(categories, ordering.order),
        warnings=(
            *ordering.warnings,
            *([_few_rows_sentence(moments)] if few else []),
            *filter(None, [result.warning]),
            *remarks,
        ),
    )


def _shown(names: tuple[str, ...], order: NDArray[np.intp], optimum: Optimum) -> dict[str, Any]:
    """Return the fields of `Found` for a graph over the positions of an order."""
    adjacency = np.zeros((len(names), len(names)), dtype=bool)
    adjacency[np.ix_(order, order)] = optimum.adjacency()
    plain_order = tuple(int(order[j]) for j in optimum.order)
    return {"graph": Dag.known_acyclic(names, adjacency), "plain_order": plain_order, "score": optimum.score}


def without_units(moments: Moments, groups: Sequence[Sequence[int]]) -> Array:
    r"""Return a factor for every column that takes the unit of its group out of it; a column in no group is one by itself.

    It is the inverse of the geometric mean over the group of the columns' deviations given all other columns, $(S^{-1})_{jj}^{-1/2}$ but
    for a constant, or of the columns' own deviations where there are too few rows for that. So the order that a search begins with, and
    all that follows from it, is the same in any units of the groups.
    """
    size = lengths(moments.R)
    if moments.n >= least_squares_rows(moments.p) and moments.R.diagonal().all():
        size = 1.0 / lengths(inverse(np.asfortranarray(moments.R.T)))
    logs = np.log(np.where(np.isfinite(size) & (size > 0.0), size, 1.0))
    factors = np.exp(-logs)
    for group in groups:
        factors[group] = np.exp(-logs[group].mean())
    return np.asarray(factors)


def is_standardised(moments: Moments) -> bool:
    r"""Return whether the columns have been standardised, so that error variances carry no information.

    Their variances differ by no more than chance, though some of them are correlated: with l the logarithms of the variances,
    $\tfrac n2 \sum_j (l_j - \bar l)^2$ lies below its mean plus two standard deviations, p − 1 + 2√(2(p − 1)).
    """
    n, p = moments.n, moments.p
    size = lengths(moments.R)
    logs = 2.0 * np.log(size)
    if n / 2.0 * ((logs - logs.mean()) ** 2).sum() > p - 1.0 + 2.0 * np.sqrt(2.0 * (p - 1.0)):
        return False
    unit = moments.R / size
    return bool(np.abs(np.triu(unit.T @ unit, 1)).max(initial=0.0) > CORRELATED / np.sqrt(n))


def pooled_rows(p: int) -> int:
    """Return the least number of rows for p columns: with fewer than 30, and too few for regressions on all, the score is too rough."""
    return min(least_squares_rows(p), LEAST_ROWS)


def _few_rows_sentence(moments: Moments) -> str:
    return (
        f"{counted(moments.n, 'row')} are too few for regressions on all of {moments.p} variables, so each has few parents, "
        f"{max(moments.n // ROWS_PER_PARENT, 1)} at the most, and arrows cost more (method='pooled', --method pooled). For arrows by tests "
        "at a false-discovery rate take method='cvs' (--method cvs)."
    )


def placed_groups(groups: Groups, names: Sequence[str]) -> list[list[int]]:
    """Return the groups as column numbers; a column in no group shares its unit with no other."""
    groups = _groups("groups", groups)
    flat = [name for group in groups for name in group]
    place = {name: j for j, name in enumerate(names)}
    unknown = [str(name) for name in flat if not isinstance(name, str) or name not in place]
    if unknown:
        raise SettingError(f"groups=…: there is no column {listed(unknown)}; the columns are {listed(names)}.")
    twice = sorted({name for name in flat if flat.count(name) > 1})
    if twice:
        raise SettingError(f"groups=…: {listed(twice)} is named more than once; a column has one unit.")
    return [[place[name] for name in group] for group in groups]
