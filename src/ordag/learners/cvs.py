"""Conditional variance scoring (Park & Kim, Algorithm 1): order by least conditional variance, then choose parents."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.checks import check_choice, short
from ordag.common.settings import choice, flag, setting
from ordag.common.words import counted
from ordag.data.causes import Categories
from ordag.data.equations import Equations
from ordag.data.moments import Moments
from ordag.data.sources import TensorSource
from ordag.data.table import Table
from ordag.data.table_checks import least_squares_rows
from ordag.errors import SettingError
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Constraints, without_causes
from ordag.learners.along_order import SelectedParents
from ordag.learners.causes import CauseRules, FoundCauses, by_tests, free_rules, within_all
from ordag.learners.experiment_order import experiment_order
from ordag.learners.found import Found
from ordag.learners.settings import SECONDS_SPARSE, MethodSettings, edge_test, level_of_tests
from ordag.learners.sparse_parents import ArrowTest, SparseParents, few_rows_sentence, sparse_graph
from ordag.order import (
    ESTIMATORS,
    MOST_VARIABLES_COMPARED,
    ROWS_PER_VARIABLE,
    RULES,
    VarianceEstimator,
    find_order,
    rule_of,
)
from ordag.order.least_squares import with_factor
from ordag.order.on_device import forward_on, torch_device
from ordag.order.ordering import Ordering, Rule, Steps
from ordag.order.sparse import few_rows
from ordag.parents import CORRECTIONS, PARENT_RULES, row_test, select
from ordag.parents.row_tests import RowTest
from ordag.parents.tests import Test, fisher_z, named_test


def _variance(name: str, value: Any) -> Any:
    words = ("auto", *ESTIMATORS)
    if value is None:
        return None
    regressor = callable(getattr(value, "fit", None)) and callable(getattr(value, "predict", None))
    if not isinstance(value, str | type) and (regressor or isinstance(value, VarianceEstimator)):
        return value
    check_choice(
        name,
        value,
        (None, *words),
        f"{', '.join(words)}, a scikit-learn regressor, or an object with conditional_variance(x, Z)",
    )
    return value


def _device(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SettingError(f"{name}={short(value)}: name a device, such as 'cpu' or 'cuda'.")
    return value


SECONDS_BY_TESTS = 3e-7
"""Seconds over (p + 10)² to learn from p columns with parents by tests: many tables are learned from in step."""

SECONDS_BY_LASSO = 5e-4
"""Seconds over p² for an order by the lasso."""

SECONDS_BY_ROWS = {"shrinkage": 2e-3, "robust": 0.05}
"""Seconds for a small table, of the estimators that take rows and are quick; the others take too long to learn again unasked."""


@dataclass(frozen=True)
class CvsSettings(MethodSettings):
    """Conditional variance scoring (Park & Kim): the variables ordered by conditional variance, and parents along the order.

    With correction="bh" alpha is the false-discovery rate of edges, not of their directions.
    """

    name: ClassVar = "cvs"
    about: ClassVar = (
        "orders the variables by conditional variance and chooses parents along the order (Park & Kim; as published with "
        "--method cvs --alpha 0.01)"
    )
    seconds: ClassVar = 8e-6
    takes_experiments: ClassVar = True

    alpha: float = level_of_tests()
    _: KW_ONLY
    test: str | Test | RowTest | None = edge_test(rows=True)
    parents: str = choice(
        "test",
        PARENT_RULES,
        "choose parents by tests, or by backward elimination with BIC or an edge prior (no level to set)",
    )
    correction: str = choice(
        "none",
        CORRECTIONS,
        "correction for many tests: bh keeps the false-discovery rate of edges (not of directions) at alpha, bonferroni the chance of "
        "any false edge",
    )
    direction: str = choice("forward", RULES, "find causes first, or effects first")
    variance: Any = choice(
        None,
        ("auto", *ESTIMATORS),
        "estimator of conditional variances; default least-squares, or sparse if there are too few rows for that; auto "
        "compares the two",
        check=_variance,
        plain=lambda value: value if value is None or isinstance(value, str) else type(value).__name__,
    )
    device: str = setting(
        "cpu",
        _device,
        "device that computes the order: cpu, or a PyTorch device such as cuda; the answer is the same",
        typed=str,
    )
    split: bool = flag(False, "learn from one half of the rows and test the arrows on the other", typed=True)

    @property
    def least_rows(self) -> None:
        return None

    @property
    def edge_rule(self) -> dict[str, Any]:  # type: ignore[override]
        test = None if row_test(self.test) is not None else self.test
        return {"rule": self.parents, "alpha": self.alpha, "test": test, "correction": self.correction}

    def cost(self, p: int, *, sparse: bool = False) -> float:
        if self.needs_rows:
            quick = isinstance(self.variance, str) and row_test(self.test) is None
            return SECONDS_BY_ROWS.get(self.variance, math.inf) * max(1.0, p / 30.0) ** 2 if quick else math.inf
        if self.variance == "lasso":
            return SECONDS_BY_LASSO * p**2
        if self.variance == "auto":
            return 3.0 * SECONDS_SPARSE * p**2  # a sparse order, and sparse parents along the other one
        if sparse or self.parents != "test":
            return super().cost(p, sparse=sparse)
        return SECONDS_BY_TESTS * (p + 10.0) ** 2

    @property
    def is_bounded(self) -> bool:
        return self.variance in (None, "least-squares")

    def reversed(self) -> Self | str:
        if self.variance not in (None, "auto", "least-squares"):
            return f"not available with variance={self.plain()['variance']!r}, which chooses causes first only."
        return replace(self, direction="backward" if self.direction == "forward" else "forward")

    @property
    def needs_rows(self) -> bool:
        of_rows = self._rule is not None and self._rule.needs == "rows"
        return of_rows or row_test(self.test) is not None

    @property
    def linear(self) -> bool:
        return self._rule is None or not self._rule.tests

    @property
    def _rule(self) -> Rule | None:
        """The rule of the estimator, if it does not depend on the table."""
        return None if self.variance in (None, "auto") else rule_of(self.variance, self.direction)

    def reseeded(self, random: np.random.Generator) -> Self:
        return replace(self, split=False, device="cpu")  # resampled moments have no rows, and many at once no device

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.correction != "none" and self.parents != "test":
            raise SettingError(
                f"correction={self.correction!r} corrects tests, and parents={self.parents!r} makes none: leave one out."
            )
        if self.device != "cpu" and (self.variance not in (None, "least-squares") or self.direction != "forward"):
            raise SettingError(
                f"device={self.device!r} goes with variance='least-squares' and direction='forward' only: leave one out."
            )
        if self.split and self.test is None and self._rule is not None and self._rule.tests:
            raise SettingError(
                f"split=True tests weights on the other rows, and arrows found by variance={short(self.variance)} have no weights: "
                "give a test of rows as well, such as test='distance-correlation'."
            )


def cvs(
    table: Table,
    settings: CvsSettings,
    known: Constraints | None = None,
    rules: CauseRules | None = None,
    *,
    whole: bool = True,
) -> Found:
    """Learn a Dag: an order, and parents chosen along it or found with it. Categories that may be causes come first in the order.

    whole: whether the rows are all there are, and are to be split where the settings say so.
    """
    if table.cause_names:
        return _with_causes(table, settings, known, rules)
    if table.has_experiments:
        return _with_experiments(table, settings, known)
    if settings.split and whole:
        return _split(table, settings, known)
    before = None if known is None else known.before
    device = _device_for(table, settings, before)
    ordering = None if device == "cpu" else _on_device(table, device, before)
    if ordering is None:
        ordering = find_order(table, settings.direction, before, settings.variance)
    rows = _rows_to_test(table, settings)
    if ordering.factor is None and ordering.p_values is None and settings.parents == "test":
        return _sparse(ordering, settings, known, rows)
    if ordering.factor is None and (settings.parents != "test" or (settings.test is not None and rows is None)):
        ordering = _with_all_regressions(ordering, settings)
    table.announce("choosing parents")
    warnings = (*ordering.warnings, *_not_compared(ordering, settings))
    return _along(ordering, settings, known, rows=rows, test=settings.test, ordering=ordering, warnings=warnings)


def _along(
    order: Ordering,
    settings: CvsSettings,
    known: Constraints | None,
    *,
    rows: Array | None = None,
    test: str | Test | RowTest | None = None,
    **found: Any,
) -> Found:
    """Choose the parents of every variable along an order; `found` is what else is known of the graph."""
    allowed, required = (None, None) if known is None else (known.allowed, known.required)
    rule: dict[str, Any] = {"rule": settings.parents, "alpha": settings.alpha, "correction": settings.correction}
    selection = select(order, rows=rows, test=test, allowed=allowed, required=required, **rule)
    later, earlier = selection.edges
    graph = Dag.known_acyclic_edges(order.moments.names, order.order[earlier], order.order[later])
    result = SelectedParents(selection)
    return Found(method_settings=settings, moments=order.moments, graph=graph, result=result, **found)


def _with_causes(table: Table, settings: CvsSettings, known: Constraints | None, rules: CauseRules | None) -> Found:
    """Learn the graph within all categories, and test each category in every equation."""
    moments = table.moments
    assert moments.causes is not None
    if settings.needs_rows or settings.split or settings.device != "cpu":
        raise SettingError(
            "Categories as causes go with moments alone: leave out cause, or split, device, and estimators and tests that take rows.",
            ["cause"],
        )
    categories = Categories(moments.causes)
    found = cvs(Table(within_all(moments, categories), progress=table.announce), settings, known)
    order = found.column_order or range(moments.p)
    alpha = settings.alpha if settings.parents == "test" else None
    arrows = by_tests(categories, found.graph, list(order), rules or free_rules(categories), alpha=alpha)
    return replace(found, moments=moments, causes=FoundCauses(categories, arrows, all_earlier=alpha is not None))


def _with_experiments(table: Table, settings: CvsSettings, known: Constraints | None) -> Found:
    """Order the variables, and test their parents, each on the rows in which it was not acted on."""
    usual = replace(settings, alpha=0.01, correction="none", test=None, variance=None, knowledge=None, min_effect=None)
    if settings.needs_rows or settings.variance not in (None, "auto", "least-squares") or usual != CvsSettings():
        raise SettingError(
            "With experiments each variable is compared and tested on rows of its own, by least squares and tests of partial correlations: "
            "leave out experiment, or variance, split, device, parents, direction and tests that take rows. method='pooled' (--method "
            "pooled) has an edge prior.",
            ["experiment"],
        )
    moments = table.moments
    equations = Equations.of(moments)
    assert equations is not None, "experiments come as conditions"
    if equations.external:
        known = without_causes(moments.names, equations.external, known)
    table.announce(f"ordering {counted(moments.p, 'variable')}")
    test = fisher_z if settings.test is None else named_test(settings.test)
    order, p_values = experiment_order(equations, test, None if known is None else known.before)
    unknown = np.full(moments.p, math.nan)
    tested = Ordering.by_steps(Steps(order, unknown, unknown, unknown, (), p_values), moments, "forward")
    column_order, remarks = tuple(order.tolist()), tuple(equations.remarks)
    return _along(tested, settings, known, plain_order=column_order, equations=equations, warnings=remarks)


def _not_compared(ordering: Ordering, settings: CvsSettings) -> list[str]:
    """Return a warning if "auto" has not compared the order with a sparse one because there are many variables."""
    n, p = ordering.n, ordering.moments.p
    many = n >= ROWS_PER_VARIABLE * p or p <= MOST_VARIABLES_COMPARED
    if settings.variance != "auto" or settings.direction != "forward" or many:
        return []
    return [
        f"With {counted(n, 'row')} for {p} variables an order by few parents each may be better than this one by least squares on all "
        f"earlier variables. It was not searched for, because that takes minutes beyond {MOST_VARIABLES_COMPARED} variables: "
        "variance='sparse' (--variance sparse) does it."
    ]


def _device_for(table: Table, settings: CvsSettings, before: Mask | None) -> str:
    """Return the chosen device, or that of the rows if the order can be found there."""
    source = table.source
    plain = settings.variance in (None, "least-squares") and settings.direction == "forward" and before is None
    if settings.device == "cpu" and plain and isinstance(source, TensorSource):
        return source.device if table.n >= least_squares_rows(len(table.names)) else "cpu"
    return settings.device


def _on_device(table: Table, device: str, before: Mask | None) -> Ordering | None:
    """Find the order by least squares on a device; None where a Gram matrix has too few digits."""
    if before is not None:
        raise SettingError(f"device={device!r} has no partial order: leave out device, or knowledge.")
    torch_device(device)
    table.needing(least_squares_rows)
    moments = table.gram_moments or table.moments
    source = table.source
    formed = source.take_scatter() if isinstance(source, TensorSource) and source.device == device else None
    return forward_on(moments, device, formed)


def _rows_to_test(table: Table, settings: CvsSettings) -> Array | None:
    """Return the rows for a test of rows; None for other tests."""
    if row_test(settings.test) is None:
        return None
    rows = table.rows
    if rows is None or settings.parents != "test":
        raise SettingError(
            f"test={short(settings.test)} takes the rows of a table, and parents='test': give both, or another test."
        )
    return rows.values


def _with_all_regressions(ordering: Ordering, settings: CvsSettings) -> Ordering:
    """Add regressions on all earlier variables to an order, for choices of parents that take them."""
    n, least = ordering.n, least_squares_rows(ordering.moments.p)
    if n < least:
        what = f"parents={settings.parents!r}" if settings.parents != "test" else f"test={short(settings.test)}"
        raise SettingError(
            f"{what} takes regressions on all earlier variables, which variance={ordering.rule!r} does not make, and {least} rows "
            f"for them; there are {n}: leave it out."
        )
    return with_factor(ordering)


def _sparse(ordering: Ordering, settings: CvsSettings, known: Constraints | None, rows: Array | None) -> Found:
    """Choose the parents by tests of the few earlier variables that each variable was regressed on."""
    if settings.correction == "bonferroni":
        raise SettingError(
            f"correction='bonferroni' is for tests of all pairs, and variance={ordering.rule!r} tests those that it was found with, at a "
            "false-discovery rate over all pairs: leave it out."
        )
    moments = ordering.moments
    few = moments.n < least_squares_rows(moments.p)
    tests = "their p-values come after the choice, and are too small: split=True (--split) tests them on other rows"
    if settings.split:
        tests = "their p-values are those of the other half of the rows"
    sentence = (
        f"{counted(moments.n, 'row')} are too few for regressions on all of {moments.p} variables, so each was regressed on few "
        f"of those before it (variance={ordering.rule!r}, --variance {ordering.rule}). Arrows are kept at a false-discovery rate of "
        f"{settings.alpha:g} over all pairs (alpha); {tests}."
    )
    warnings = [*ordering.warnings]
    if few and settings.variance is None:
        warnings.append(sentence)
    if few and ordering.rule == "sparse":
        warnings.append(few_rows_sentence(moments.n, moments.p, settings.alpha))
    test = ArrowTest(settings.test, rows)
    return Found(
        method_settings=settings,
        moments=moments,
        graph=sparse_graph(ordering, settings.alpha, known, test),
        ordering=ordering,
        warnings=tuple(warnings),
        result=SparseParents(math.comb(moments.p, 2), test),
    )


def _split(table: Table, settings: CvsSettings, known: Constraints | None) -> Found:
    """Learn from one half of the rows and test on the other: every second row, in a fixed random order."""
    rows = table.needing(few_rows).rows
    if rows is None or rows.stride > 1:
        raise SettingError(
            "split=True takes all rows in memory: give a table, not moments, and not a file of this size."
        )
    mixed = rows.values[np.random.default_rng(0).permutation(len(rows.values))]
    half, other = mixed[::2], mixed[1::2]
    found = cvs(Table.of_rows(table.names, half, table.moments), settings, known, whole=False)
    test = ArrowTest(settings.test, other if row_test(settings.test) is not None else None)
    moments = Moments.from_rows(other, table.names).counted_like(table.moments)
    tested = SparseParents(math.comb(len(table.names), 2), test, moments)
    return replace(found, result=tested)
