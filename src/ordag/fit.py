"""`Fit`: the one answer that every method gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from ordag import __version__
from ordag.assess.arrows import arrow_columns
from ordag.assess.causes import CauseArrow, GroupEffect, cause_arrows, group_effect, level_ranks
from ordag.assess.forecast import Expected, forecast
from ordag.assess.steps import step_columns
from ordag.assess.verdict import Verdict, quick_verdict
from ordag.common.files import write_whole
from ordag.common.plain import Document, frame, plain, records
from ordag.data.table import Table
from ordag.errors import DataError, SettingError
from ordag.learners.found import Found
from ordag.learners.methods import learn_from, with_warnings
from ordag.learners.settings import MethodSettings
from ordag.model.in_time import SummaryGraph, summary_of
from ordag.resampling.support import Support

if TYPE_CHECKING:
    import networkx
    import pandas as pd
    from matplotlib.axes import Axes

    from ordag.bootstrapping import Bootstrap
    from ordag.checking import Diagnosis
    from ordag.decisions.adjusting import AdjustmentAnswer
    from ordag.decisions.environment_changes import EnvironmentChanges
    from ordag.decisions.explaining import Explanation
    from ordag.decisions.in_time import Ahead, Response
    from ordag.decisions.intervening import Intervention
    from ordag.decisions.joint_effects import JointEffect
    from ordag.decisions.possible_effects import PossibleEffects
    from ordag.decisions.tested_graph import GraphTest
    from ordag.model.effects import Effect, Effects


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Found, Document):
    """A learned graph with the evidence for it. Weights and tables are computed when first asked for.

    support: the bootstrap support of every arrow, if `learn` was given `bootstrap`.
    forecast_tables: the number of simulated tables that the verdict forecasts from, if given.
    """

    support: Support | None = None
    forecast_tables: int | None = None
    between: Fit | None = None

    @classmethod
    def of(cls, found: Found, **more: Any) -> Self:
        """Make a fit of what was found."""
        return cls(**{one.name: getattr(found, one.name) for one in fields(Found)} | more)

    @classmethod
    def learned(cls, table: Table, settings: MethodSettings, **more: Any) -> Self:
        """Learn by a method, and add warnings for the reader."""
        found = with_warnings(learn_from(table, settings))
        if table.both_levels:
            try:
                means = learn_from(Table(table.moments.between(), progress=table.announce), settings)
            except DataError as error:
                raise DataError(
                    f"Between the means of the clusters: {error} clusters='within' learns without them.", ["clusters"]
                ) from error
            more["between"] = Fit.of(with_warnings(replace(means, columns=found.columns)))
        return cls.of(found, **more)

    @cached_property
    def verdict(self) -> Verdict:
        """What the directions rest on and how many of them to expect wrong, in a few sentences; takes a second at most."""
        return quick_verdict(self, tables=self.forecast_tables)

    def forecast(self, replicates: int | None = None, *, seed: int = 0) -> Expected | None:
        """What would be wrong in tables of this size if this graph were the truth: see `ordag.assess.forecast`."""
        return forecast(self, replicates, seed=seed)

    @cached_property
    def edges(self) -> pd.DataFrame:
        """One row per arrow, by the order of source and target: weight, standard error, robustness, and two p-values.

        `weight` and `std_error` are those of the fitted model: the target regressed on its parents in the graph. `robustness` is the
        share of the residual variance of both ends that a hidden common cause would have to explain to reduce the weight to zero. `p_value`
        is that of the test for the edge, which for cvs is another regression, on all earlier variables (for pc the
        largest p-value of the pair, for methods without tests that of the weight itself). `direction_p_value` is that of
        equal variances of the two ends given everything before the source: small means that the direction does not rest on
        a near-tie. `reason` is "class" where an equivalence class that was found without variances has the arrow,
        "variance" where the variances speak for it, "experiment" or "environment" where it follows from what they change, "open" where
        the direction is in doubt, and "knowledge" where the user's knowledge decides. In time `lag` is how many steps earlier the
        source is. `hidden_cause` is True where a hidden common cause could explain the arrow (`hidden?` in the terminal).
        """
        return frame(self.edge_columns)

    @cached_property
    def changes(self) -> EnvironmentChanges | None:
        """Which equations of the graph differ between environments, and in what; None for tables without environments.

        `changes.table` has a row for each variable and environment. P-values are those of equal weights, level (the expected value with the
        parents at their mean) and error variance, there and where the equation is shared; corrected for the number of all (Holm).
        """
        from ordag.decisions.environment_changes import environment_changes

        return environment_changes(self)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """One row per step of the ordering: the variable, its variance given the earlier ones, the margin of the choice.

        `tied` are the variables not distinguishable from the chosen one at 5%, and `tie_matters` whether the graph has
        an edge among them. Of more than 300 variables `tied` lists at most 20, and `tied_more` counts the others.
        """
        return frame(self.step_columns)

    @cached_property
    def edge_columns(self) -> dict[str, Any]:
        """The columns of `edges`."""
        return arrow_columns(self, self.support)

    @cached_property
    def cause_arrows(self) -> list[CauseArrow]:
        """The arrows from categories, each with its F test and the means of its groups."""
        return cause_arrows(self)

    @property
    def cause_levels(self) -> dict[str, tuple[str, ...]]:
        """The categories that may be causes, each with its values, sorted."""
        every = () if self.causes is None else self.causes.categories.root.covariates
        return {one.name: tuple((one.levels or ())[k] for k in level_ranks(one.levels or ())) for one in every}

    @cached_property
    def step_columns(self) -> dict[str, Any]:
        """The columns of `steps`."""
        return step_columns(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole answer in plain Python values."""
        document: dict[str, Any] = {
            "version": __version__,
            "settings": {"method": self.method, **self.settings},
            "rows": self.rows,
            "rows_dropped": self.moments.dropped,
            "columns": [one.to_dict() for one in self.columns],
            "nodes": list(self.whole_graph.nodes),
            "order": None if self.order is None else list(self.order),
            "steps": records(self.step_columns),
            "edges": records(self.edge_columns),
            "undirected": [list(pair) for pair in self.graph.undirected],
            "warnings": list(self.warnings),
            "verdict": self.verdict.to_dict(),
        }
        if self.n != self.rows:
            document["rows_count_for"] = self.n
        if self.moments.holes is not None:
            document["missing"] = self.moments.holes.to_dict()
        if self.equations is not None:
            document["conditions"] = self.equations.to_dict(self.moments)
        if self.changes is not None:
            document["changes"] = self.changes.to_dict()
        if self.moments.clusters is not None:
            document["clusters"] = len(self.moments.clusters.numbers)
        if self.between is not None:
            document["between"] = self.between.to_dict()
        if self.moments.adjusted_for:
            document["adjust"] = [one.to_dict() for one in self.moments.adjusted_for]
        if self.causes is not None:
            document["causes"] = self._cause_records()
        if self.series is not None:
            document["series"] = self.series.to_dict()
            document["summary_graph"] = self.summary_graph.to_dict()
        if self.transform:
            document["transform"] = dict(self.transform)
        if self.sem is not None:
            document["error_variances"] = dict(zip(self.names, plain(self.sem.omega), strict=True))
            document["intercepts"] = dict(zip(self.names, plain(self.sem.intercept), strict=True))
        if self.score is not None:
            document["score"] = self.score
        document |= self.result.entries(self)
        if self.support is not None:
            document["bootstrap"] = self.support.to_dict()
        if self.details:
            document["details"] = dict(self.details)
        return document

    def _cause_records(self) -> list[dict[str, Any]]:
        """Return the categories that may be causes, with the variables that each has an effect on."""
        effects = {
            name: [one.to_dict() for one in self.cause_arrows if one.source == name] for name in self.cause_levels
        }
        return [
            {"name": name, "levels": list(levels), "effects": effects[name]}
            for name, levels in self.cause_levels.items()
        ]

    def plot(self, kind: str | None = None, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the answer on these axes of matplotlib, or on new ones of a fitting size, and give the axes back.

        kind: "graph" is boxes and arrows, causes above effects; "matrix" a cell for every pair, for dense graphs; "neighbourhood" one
            variable with what acts on it and what it acts on; "order" the variances that the order rests on, with runners-up and ties;
            "support" the bootstrap support of every arrow; "diagnostics" a chart for each finding of a check; "robustness" an effect under
            hidden common causes of any strength. In time "unrolled" has a column of variables for every time, and "summary" every
            variable once, with lags on the arrows. Without a kind, that of the first three which shows this graph best; in time one of
            the last two.
        options: legend= (graph, neighbourhood), numbers= (graph), show="weight", "p_value", "support" or "probability" (matrix),
            variable= (neighbourhood), ties= (order), most= (order, support), diagnosis= (diagnostics), source= and target= (robustness).

        `ax.figure.savefig` writes it; so does `save`, which takes the kind by itself.
        """
        from ordag.show.plots import plot

        return plot(self, kind, ax, **options)

    def check(self, **options: Any) -> Diagnosis:
        """Check the assumptions behind the directions of this fit, on the sample of rows that it keeps: see `ordag.check`."""
        from ordag.checking import check_fit

        return check_fit(self, **options)

    def effect(self, source: str, target: str, level: float = 0.95, **options: Any) -> Effect:
        """Return the total causal effect of one variable on another: see `ordag.effect`."""
        from ordag.total_effects import effect

        return effect(self, source, target, level, **options)

    def joint_effect(self, sources: Sequence[str], target: str, level: float = 0.95, **options: Any) -> JointEffect:
        """Return the effect of each of several variables on another, the others being set as well. options: interval."""
        from ordag.decisions.joint_effects import joint_effect

        return joint_effect(self, sources, target, level, **options)

    def possible_effects(self, sources: str | Sequence[str], target: str, level: float = 0.95) -> PossibleEffects:
        """Return the effects of one variable or several in all graphs of the class, averaged over resamples (IDA)."""
        from ordag.decisions.possible_effects import possible_effects

        return possible_effects(self, sources, target, level)

    def group_effect(self, source: str, target: str, level: float = 0.95, **options: Any) -> GroupEffect:
        """Return the differences of a variable between the groups of a category that may be a cause: see `ordag.assess.causes`."""
        return group_effect(self, source, target, level, **options)

    def effects(self, level: float = 0.95, **options: Any) -> Effects:
        """Return the total effect of every variable on every other: see `ordag.effects`."""
        from ordag.total_effects import effects

        return effects(self, level, **options)

    def test(self, data: Any = None, **options: Any) -> GraphTest:
        """Test the graph on a table, or with split=True on half of the rows, the graph being learned from the other: see `ordag.test`."""
        from ordag.decisions.testing import test

        return test(self, data, **options)

    def adjust(self, source: str, target: str) -> AdjustmentAnswer:
        """Say which variables to hold fixed to estimate the effect of one variable on another: see `ordag.adjust`."""
        from ordag.decisions.adjusting import adjust

        return adjust(self, source, target)

    def intervene(self, **what: Any) -> Intervention:
        """Say what happens if variables are set, shifted, or follow a rule: see `ordag.intervene`."""
        from ordag.decisions.intervening import intervene

        return intervene(self, **what)

    def explain(self, rows: Any = None, **options: Any) -> Explanation:
        """Say where odd rows come from: see `ordag.explain`."""
        from ordag.decisions.explaining import explain

        return explain(self, rows, **options)

    def ahead(self, steps: int = 12, **options: Any) -> Ahead:
        """Say how a series goes on after its last time, with intervals: see docs/guides/time.md. options: series, level, seed."""
        from ordag.decisions.in_time import ahead

        return ahead(self, steps, **options)

    def response(self, source: str, target: str, steps: int = 12, **options: Any) -> Response:
        """Say what one unit more of a variable changes in another at the same time and later. options: level."""
        from ordag.decisions.in_time import response

        return response(self, source, target, steps, **options)

    @cached_property
    def summary_graph(self) -> SummaryGraph:
        """Which variable acts on which over time, and after how many steps; `graph` is unrolled in time."""
        if self.series is None:
            raise SettingError("This fit is not of rows in time: its graph is `graph`.")
        return summary_of(self.series.names, self.graph.adjacency)

    def bootstrap(self, replicates: int = 500, **options: Any) -> Bootstrap:
        """Learn again from resamples, for the support of every arrow: of the rows where the fit keeps all of them, else of its moments.

        options: seed, level and workers, as for `ordag.bootstrap`.
        """
        from ordag.bootstrapping import bootstrap_kept_rows

        return bootstrap_kept_rows(self, replicates, **options)

    def summary(self, *, width: int = 100, verbose: bool = False) -> str:
        """Return the text that `ordag learn` prints on a terminal of this width; `verbose` adds what the verdict rests on."""
        from ordag.show.terminal import fit_text

        return fit_text(self, width, verbose=verbose)

    def to_networkx(self) -> networkx.DiGraph:
        """Return the graph for networkx: arrows with weight, standard error, p-values and probability, variables with their equations."""
        from ordag.handover import to_networkx

        return to_networkx(self)

    def to_pgmpy(self) -> Any:
        """Return the fitted model as a `LinearGaussianBayesianNetwork` of pgmpy."""
        from ordag.handover import to_pgmpy

        return to_pgmpy(self)

    def to_dowhy(self) -> Any:
        """Return the fitted model for `dowhy.gcm`, ready to draw from: an `InvertibleStructuralCausalModel`."""
        from ordag.handover import to_dowhy

        return to_dowhy(self)

    def to_lavaan(self) -> str:
        """Return a model for lavaan, which starts from the fitted weights and variances."""
        from ordag.handover import to_lavaan

        return to_lavaan(self)

    def to_semopy(self, *, starts: bool = True) -> str:
        """Return a model for semopy, which starts from the fitted weights and variances unless starts=False."""
        from ordag.handover import to_semopy

        return to_semopy(self, starts=starts)

    def formulas(self) -> dict[str, str]:
        """Return the equation of every variable as a formula for statsmodels, such as "y ~ a + b"."""
        from ordag.handover import formulas

        return formulas(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fit to a file, in the form that the ending of its name stands for.

        ".ordag" keeps everything, and `ordag.load` gives the fit back; ".json" is the whole answer as a document; others are tables,
        pictures, pages and formats of graphs.
        """
        from ordag.show.export import save

        save(self, path)

    def report(
        self,
        path: str | PathLike[str],
        *,
        check: bool | None = None,
        compare: Sequence[str] = (),
        data: str | PathLike[str] | None = None,
    ) -> None:
        """Write a page for a browser that answers the next question: graph, evidence, checks, how to make it again.

        It is one file, and needs no network to read.

        check: whether to look at the assumptions as `ordag.check` does; up to 150 variables if not said.
        compare: methods to show beside this one.
        data: the file that the fit was learned from, for its name and its hash; without one the hash is that of the moments.
        """
        from ordag.show.files import check_output
        from ordag.show.report import report

        check_output(path, self.inputs)
        write_whole(path, report(self, check=check, compare=compare, data=data))

    def _repr_html_(self) -> str:
        from ordag.show.report import fragment

        return fragment(self)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        from ordag.show.text import summary

        return summary(self)
