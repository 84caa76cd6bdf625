"""`Found`: what a method has found in a table. `Fit` is the same with its tables, its verdict and its pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ordag.common.arrays import Array
from ordag.data.equations import Equations
from ordag.data.holding import Adjustment
from ordag.data.moments import Moments
from ordag.data.profile import Profile
from ordag.data.roles import ColumnRole
from ordag.data.series import Series
from ordag.errors import SettingError
from ordag.graph.cpdag import Cpdag, extend
from ordag.graph.dag import Dag
from ordag.graph.links import NO_LINKS, Links
from ordag.knowledge.masks import Constraints, decided
from ordag.learners.causes import FoundCauses, within_all, without_names
from ordag.learners.orient import Oriented
from ordag.learners.pooled.posterior import Posterior, Probabilities
from ordag.learners.result import GRAPH_ALONE, Result
from ordag.learners.settings import MethodSettings
from ordag.model.refit import Refit, refit
from ordag.model.sem import LinearSEM
from ordag.order.factor import Factor
from ordag.order.ordering import Ordering
from ordag.parents.selection import Selection

AnyFound = TypeVar("AnyFound", bound="Found")

RENAMED = {"recipe": "method_settings", "places": "column_order"}
"""Attributes that fits had, and what they are called now."""


@dataclass(frozen=True)
class LeftOut:
    """The edges that were left out for a standardised effect below `below`: (source, target, effect).

    fault: what keeps the graph from being a class of DAGs without them, None if nothing does.
    """

    below: float
    edges: tuple[tuple[str, str, float], ...]
    fault: str | None

    def plain(self) -> dict[str, Any]:
        return {"below": self.below, "count": len(self.edges), "edges": [list(edge) for edge in self.edges]}


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """A learned graph, and what the method has beside it.

    method_settings: the settings of the method, as an object; `learn_from` learns with them in the same way from another table.
    result: what the method knows beside the graph.
    ordering: an ordering. plain_order: the column numbers of an order without variances.
    score: that of the graph, where a search had one. posterior: where probabilities of arrows come from.
    oriented: how an order has directed the class that was found. left_out: edges of small effect. known: what knowledge allows.
    profile: what is known of the rows beside their moments. transform: what was done to columns before, by name.
    inputs: the files and folders that the table was read from, which no output may replace.
    columns: the roles of all columns of the table, in its order.
    equations: the moments that each variable's equation is fitted to, where they are not `moments`.
    causes: the arrows from categories to variables, where there are categories that may be causes.
    series: what the columns are, where rows have the values of earlier times.
    between: what is learned from the means of clusters, if both levels were asked for (clusters="both").
    optimum: the graph of the best score, where the graph is the one that the probabilities of arrows speak for.
    """

    method_settings: MethodSettings
    moments: Moments
    graph: Dag | Cpdag
    result: Result = GRAPH_ALONE
    warnings: tuple[str, ...] = ()
    ordering: Ordering | None = None
    plain_order: tuple[int, ...] | None = None
    score: float | None = None
    posterior: Posterior | None = None
    oriented: Oriented | None = None
    left_out: LeftOut | None = None
    known: Constraints | None = None
    profile: Profile | None = None
    transform: Mapping[str, float | str] = field(default_factory=dict)
    inputs: tuple[Path, ...] = ()
    optimum: Dag | None = None
    columns: tuple[ColumnRole, ...] = ()
    equations: Equations | None = None
    series: Series | None = None
    causes: FoundCauses | None = None
    between: Found | None = None

    if not TYPE_CHECKING:  # it would hide misspelled names

        def __getattr__(self, name: str) -> Any:
            if name in RENAMED:
                raise AttributeError(f"fit.{name} is now fit.{RENAMED[name]}.")
            return super().__getattribute__(name)

    @cached_property
    def fitted_equations(self) -> Equations | None:
        """The moments that each variable's equation is fitted to, where they are not `moments`."""
        return self.equations if self.causes is None else self.causes.equations(self.names)

    @cached_property
    def within_causes(self) -> Self:
        """The same graph over the variables, of the rows within all categories that may be causes: what checks of them look at."""
        if self.causes is None:
            return self
        _ = self.probabilities  # from the rows themselves, before others are here
        categories = self.causes.categories
        settings = replace(
            self.method_settings, knowledge=without_names(self.method_settings.knowledge, self.causes.names)
        )
        known: dict[str, Any] = {
            "moments": within_all(self.moments, categories),
            "profile": None,
            "method_settings": settings,
        }
        if self.profile is not None and self.profile.labels is not None and self.profile.labels.causes is not None:
            explained = Adjustment.of(categories.root)
            rows = self.profile.rows - (self.profile.labels.causes - explained.centre) @ explained.B
            known["profile"] = self.profile._replace(rows=rows, labels=None)
        return replace(self, **known, causes=None, equations=None)

    @property
    def whole_graph(self) -> Dag | Cpdag:
        """The graph with the categories that may be causes as further nodes."""
        return self.graph if self.causes is None else self.causes.whole_graph(self.graph)

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.method_settings.name

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """All settings of the method, in plain values."""
        return self.method_settings.plain()

    @property
    def names(self) -> tuple[str, ...]:
        return self.moments.names

    @property
    def has_earlier(self) -> bool:
        """Whether some of the columns are values of earlier times."""
        return self.series is not None and self.series.lags > 0

    def at_one_time(self, what: str) -> None:
        """Refuse what does not know that earlier values are connected."""
        if self.has_earlier:
            raise SettingError(
                f"{what} takes a graph of variables at one time, and this one has values of earlier times: learn without lags for that, or "
                "ask for what follows from a change with fit.response (ordag effect … --steps 12).",
                ["lags"],
            )

    @property
    def n(self) -> int:
        """What the rows count for: their number, less one for every column of covariates that is held fixed."""
        return self.moments.n

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.moments.rows

    @property
    def order(self) -> tuple[str, ...] | None:
        """The variables, causes first; None for methods without an order."""
        return None if self.column_order is None else tuple(self.names[j] for j in self.column_order)

    @property
    def column_order(self) -> tuple[int, ...] | None:
        """The column numbers of the variables, causes first; None for methods without an order."""
        return self.plain_order if self.ordering is None else tuple(self.ordering.order.tolist())

    @property
    def known_ordering(self) -> Ordering:
        """The ordering, for results that have one."""
        assert self.ordering is not None
        return self.ordering

    @property
    def factor(self) -> Factor | None:
        """The factor of the ordering; None without one."""
        return None if self.ordering is None else self.ordering.factor

    @property
    def selection(self) -> Selection | None:
        """The choice of parents along the ordering, for methods that make one."""
        return getattr(self.result, "selection", None)

    @property
    def best_graph(self) -> Dag | Cpdag:
        """The graph of the best score, which the one shown need not be."""
        return self.optimum or self.graph

    @property
    def probabilities(self) -> Probabilities | None:
        """The probability of every arrow, for methods that have a posterior distribution; worked out when first asked for."""
        return None if self.posterior is None else self.posterior.probabilities(self.sample)

    @property
    def sample(self) -> Array | None:
        """An even share of the rows, all of a short table; NaN where values are missing."""
        return None if self.profile is None or not len(self.profile.rows) else self.profile.rows

    @property
    def expected_false_edges(self) -> float | None:
        """How many edges chance alone would give: level times pairs tested (see `Selection`)."""
        return None if self.selection is None else self.selection.expected_false

    @cached_property
    def refit(self) -> Refit | None:
        """The least-squares model of the graph, with standard errors; None for a Cpdag."""
        return refit(self.moments, self.graph, self.fitted_equations) if isinstance(self.graph, Dag) else None

    @property
    def sem(self) -> LinearSEM | None:
        """The structural equation model fitted to the rows along the graph; None for a Cpdag, which has many."""
        return None if self.refit is None else self.refit.sem

    @property
    def any_sem(self) -> LinearSEM:
        """The fitted model or, for a Cpdag, that of any DAG of the class: they have the same likelihood."""
        return self.sem or refit(self.moments, extend(self.graph), self.fitted_equations).sem  # type: ignore[arg-type]

    @property
    def weights(self) -> Array | None:
        """B of the fitted model: the weight of i → j at [i, j]. None for a Cpdag."""
        return None if self.sem is None else self.sem.B

    @property
    def edge_weights(self) -> dict[tuple[str, str], float] | None:
        """The weight of every (source, target) in the fitted model. None for a Cpdag."""
        if self.refit is None:
            return None
        return dict(zip(self.graph.directed, self.refit.weights.tolist(), strict=True))

    @cached_property
    def compelled(self) -> Links:
        """The arrows that an equivalence class has which was found without a look at variances.

        Those of a Cpdag; of the class that an order has directed; for pooled error variances, of the classes of sampled graphs.
        """
        return self.result.compelled(self)

    @cached_property
    def by_conditions(self) -> Links:
        """The arrows that experiments direct, or environments."""
        return self.result.by_conditions(self)

    @cached_property
    def by_knowledge(self) -> Links:
        """The arrows that owe their direction to knowledge."""
        return NO_LINKS if self.known is None else Links.of(decided(self.graph, self.known))

    @cached_property
    def details(self) -> Mapping[str, Any]:
        """What else there is to tell, in plain values: that of the search, and of whatever was done to its graph."""
        details = self.result.details()
        if self.ordering is not None and self.ordering.parent_sets is not None:
            details["variance"] = self.ordering.rule
        if self.oriented is not None:
            details |= self.oriented.details()
        if self.known is not None:
            arrows = zip(self.by_knowledge.source.tolist(), self.by_knowledge.target.tolist(), strict=True)
            details["knowledge_arrows"] = [[self.names[i], self.names[j]] for i, j in arrows]
            if isinstance(self.graph, Cpdag):
                details["restricted_by_knowledge"] = bool(details["knowledge_arrows"])
        if self.left_out is not None:
            details["left_out"] = self.left_out.plain()
            if self.left_out.fault is not None:
                details["valid"] = False
        return details
