"""`Fit`: the one answer that every learner gives."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.data.profile import Profile
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.graph.equivalence import extend
from ordag.model.refit import Refit, refit
from ordag.model.sem import LinearSEM
from ordag.order.ordering import Ordering
from ordag.parents.selection import Selection

if TYPE_CHECKING:
    import pandas as pd

    from ordag.evidence.forecast import Expected
    from ordag.evidence.verdict import Verdict
    from ordag.learners.pooled.posterior import Posterior, Probabilities
    from ordag.resampling.support import Bootstrap


class Recipe(NamedTuple):
    """How a fit was made: the method and the settings that were given, to make it again from other data."""

    method: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A learned graph with the evidence for it. Weights and tables are computed when first asked for.

    What a method has beside its graph: an `ordering` and the `selection` of parents along it, or the column numbers of an
    order alone (`sequence`); a `score`; the `posterior` from which probabilities come; the `pair_p_values` of its tests for
    joined and separated pairs with their `separating_sets`; and `details` in plain values. `profile` is what is known of the
    rows beside their moments, `recipe` how to learn in the same way again, and `forecast_tables` how many simulated tables the
    verdict is to forecast from, if somebody has said so.
    """

    method: str
    settings: Mapping[str, Any]
    moments: Moments
    graph: Dag | Cpdag
    ordering: Ordering | None = None
    selection: Selection | None = None
    warnings: tuple[str, ...] = ()
    score: float | None = None
    pair_p_values: Array | None = None
    separating_sets: Mapping[frozenset[str], tuple[str, ...]] | None = None
    sequence: tuple[int, ...] | None = None
    posterior: Posterior | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    bootstrap: Bootstrap | None = None
    profile: Profile | None = None
    recipe: Recipe | None = None
    forecast_tables: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.moments.names

    @property
    def n(self) -> int:
        return self.moments.n

    @property
    def order(self) -> tuple[str, ...] | None:
        """The variables, causes first; None for methods without an order."""
        return None if self.places is None else tuple(self.names[j] for j in self.places)

    @property
    def places(self) -> tuple[int, ...] | None:
        """The column numbers of the variables, causes first; None for methods without an order."""
        return self.sequence if self.ordering is None else tuple(self.ordering.order.tolist())

    @property
    def probabilities(self) -> Probabilities | None:
        """The probability of every arrow, for methods that have a posterior distribution; worked out when first asked for."""
        return None if self.posterior is None else self.posterior.probabilities

    @property
    def expected_false_edges(self) -> float | None:
        """How many edges chance alone would give: level times pairs tested (see `Selection`)."""
        return None if self.selection is None else self.selection.expected_false

    @cached_property
    def _refit(self) -> Refit | None:
        return refit(self.moments, self.graph) if isinstance(self.graph, Dag) else None

    @property
    def sem(self) -> LinearSEM | None:
        """The structural equation model fitted to the rows along the graph; None for a Cpdag, which has many."""
        return None if self._refit is None else self._refit.sem

    @property
    def any_sem(self) -> LinearSEM:
        """The fitted model or, for a Cpdag, that of any DAG of the class: they have the same likelihood."""
        return self.sem or refit(self.moments, extend(self.graph)).sem  # type: ignore[arg-type]

    @cached_property
    def verdict(self) -> Verdict:
        """What the directions rest on and how many of them to expect wrong, in a few sentences; takes a second at most."""
        from ordag.evidence.verdict import quick_verdict

        return quick_verdict(self)

    @property
    def weights(self) -> Array | None:
        """B of the fitted model: the weight of i → j at [i, j]. None for a Cpdag."""
        return None if self.sem is None else self.sem.B

    @cached_property
    def edges(self) -> pd.DataFrame:
        """One row an arrow, by the order of source and target: weight, standard error, and two p-values.

        `weight` and `std_error` are those of the fitted model: the target regressed on its parents in the graph. `p_value`
        is that of the test for the edge, which for cvs is another regression, on all earlier variables (for pc the
        largest p-value of the pair, for methods without tests that of the weight itself). `direction_p_value` is that of
        equal variances of the two ends given everything before the source: small means that the direction does not rest on
        a near-tie. `reason` is "class" where an equivalence class that was found without variances has the arrow,
        "variance" where the variances speak for it, "open" where they leave it in doubt, and "knowledge" where the user's
        knowledge decides.
        """
        import pandas as pd

        return pd.DataFrame(self._edge_columns)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """One row a step of the ordering: the variable, its variance given the earlier ones, the margin of the choice.

        `tied` are the variables not distinguishable from the chosen one at 5%, and `tie_matters` whether the graph has
        an edge among them.
        """
        import pandas as pd

        return pd.DataFrame(self._step_columns)

    @cached_property
    def _edge_columns(self) -> dict[str, Any]:
        from ordag.evidence.steps import arrow_reasons

        source, target = np.nonzero(self.graph.adjacency & ~self.graph.adjacency.T)
        if self.places is not None:
            place = np.argsort(self.places)
            by_place = np.lexsort((place[target], place[source]))
            source, target = source[by_place], target[by_place]
        columns: dict[str, Any] = {
            "source": [self.names[i] for i in source],
            "target": [self.names[j] for j in target],
        }
        if self._refit is not None:
            columns["weight"] = self._refit.sem.B[source, target]
            columns["std_error"] = self._refit.std_error[source, target]
        if self.selection is not None and self.ordering is not None:
            columns["p_value"] = self.selection.p_values_of(place[target], place[source])
        elif self.pair_p_values is not None:
            columns["p_value"] = self.pair_p_values[source, target]
        elif self._refit is not None:
            t = np.abs(columns["weight"] / columns["std_error"])
            columns["p_value"] = 2.0 * stdtr(self._refit.residual_df[target].astype(float), -t)
        if self.ordering is not None:
            earlier = np.minimum(place[source], place[target])
            later = np.maximum(place[source], place[target])
            columns["direction_p_value"] = self.ordering.direction_p_values(earlier, later)
        if self.probabilities is not None:
            columns["probability"] = self.probabilities.arrows[source, target]
            columns["edge_probability"] = self.probabilities.joined[source, target]
        columns["reason"] = list(arrow_reasons(self, source, target, self._known_arrows))
        if self.bootstrap is not None:
            columns |= self.bootstrap.arrow_columns(source, target)
        return columns

    @cached_property
    def compelled(self) -> Mask:
        """The arrows, at [i, j] for i → j, that an equivalence class has which was found without a look at variances.

        Those of a Cpdag; of the class that an order has directed; for pooled error variances, of the class that GES finds.
        """
        if isinstance(self.graph, Cpdag):
            return self.graph.adjacency & ~self.graph.adjacency.T
        if self.posterior is not None:
            return self.posterior.compelled
        mask = np.zeros(self.graph.adjacency.shape, dtype=bool)
        for a, b in self.details.get("class", {}).get("directed", ()):
            mask[self.names.index(a), self.names.index(b)] = True
        return mask

    def forecast(self, replicates: int | None = None, *, seed: int = 0) -> Expected | None:
        """What would be wrong in tables of this size if this graph were the truth: see `ordag.evidence.forecast`."""
        from ordag.evidence.forecast import forecast

        return forecast(self, replicates, seed=seed)

    @property
    def _known_arrows(self) -> list[tuple[str, str]]:
        """The arrows whose direction the user's knowledge decided."""
        return [(a, b) for a, b in self.details.get("knowledge_arrows", ())]

    @cached_property
    def _step_columns(self) -> dict[str, Any]:
        if self.ordering is None:
            return {"node": [], "variance": [], "margin": []}
        from ordag.evidence.steps import evidence

        steps = evidence(self).steps
        columns = {"node": list(self.order or ()), "variance": self.ordering.variances, "margin": self.ordering.margins}
        return columns if steps is None else columns | steps.columns

    def to_dict(self) -> dict[str, Any]:
        """The whole answer in plain Python values."""
        from ordag import __version__

        document: dict[str, Any] = {
            "version": __version__,
            "settings": {"method": self.method, **self.settings},
            "rows": self.n,
            "rows_dropped": self.moments.dropped,
            "nodes": list(self.names),
            "order": None if self.order is None else list(self.order),
            "steps": _records(self._step_columns),
            "edges": _records(self._edge_columns),
            "undirected": [list(pair) for pair in self.graph.undirected],
            "warnings": list(self.warnings),
            "verdict": self.verdict.to_dict(),
        }
        if self.sem is not None:
            document["error_variances"] = dict(zip(self.names, _plain(self.sem.omega), strict=True))
            document["intercepts"] = dict(zip(self.names, _plain(self.sem.intercept), strict=True))
        if self.score is not None:
            document["score"] = self.score
        if self.separating_sets is not None and self.pair_p_values is not None:
            document["separated"] = self._separated(self.pair_p_values, self.separating_sets)
        if self.probabilities is not None:
            document["probabilities"] = self.probabilities.to_dict()
        if self.bootstrap is not None:
            document["bootstrap"] = self.bootstrap.to_dict()
        if self.details:
            document["details"] = dict(self.details)
        if self.selection is not None:
            document["pairs_tested"] = self.selection.pairs
            document["expected_false_edges"] = self.selection.expected_false
        return document

    def _separated(self, p_values: Array, sets: Mapping[frozenset[str], tuple[str, ...]]) -> list[dict[str, Any]]:
        place = {name: index for index, name in enumerate(self.names)}
        pairs = {tuple(sorted(place[name] for name in pair)): given for pair, given in sets.items()}
        return [
            {"pair": [self.names[i] for i in pair], "given": list(pairs[pair]), "p_value": float(p_values[pair])}
            for pair in sorted(pairs)
        ]

    def to_json(self, indent: int | None = 2) -> str:
        """The document that the command line prints with --json."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def report(self, path: str | PathLike[str]) -> None:
        """Write a page for a browser: the graph, the tables, what to be careful about. Needs no network to read."""
        from ordag.show.files import write_whole
        from ordag.show.page import page

        write_whole(path, page(self))

    def _repr_html_(self) -> str:
        from ordag.show.page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from ordag.show.text import summary

        return summary(self)


def _plain(values: Array) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in np.asarray(values, dtype=float).tolist()]


def _records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    plain = {name: list(values) if isinstance(values, list) else _plain(values) for name, values in columns.items()}
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]
