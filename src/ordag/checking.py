"""`check`: test the assumptions that the learned arrows rest on."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.assess.clusters import clusters_finding
from ordag.assess.conditions import conditions_finding
from ordag.assess.equal_variances import equality_finding
from ordag.assess.equations import (
    condition_finding,
    dependence_finding,
    equations,
    independence_finding,
    linearity_finding,
    spread_finding,
)
from ordag.assess.finding import LEVELS, Finding, unchecked
from ordag.assess.hidden_causes import hidden_causes_finding
from ordag.assess.in_time import time_findings
from ordag.assess.missing_values import missing_finding
from ordag.assess.normality import columns_finding, kurtosis_finding, mardia_finding
from ordag.assess.relations import relation_caution
from ordag.assess.rows import FINE, row_finding
from ordag.assess.scale import scale_finding, scale_of
from ordag.assess.sorting import sorting_finding
from ordag.assess.stability import (
    STARTS,
    Baseline,
    backward_finding,
    influence_finding,
    logarithms_finding,
    standardising_finding,
    units_finding,
)
from ordag.assess.verdict import TIERS, Verdict, quick_verdict
from ordag.common.arrays import Array
from ordag.common.checks import check_choice, check_function, checked_seed, is_flag, is_whole, short
from ordag.common.files import write_whole
from ordag.common.markup import card, sentence, table
from ordag.common.plain import Document
from ordag.common.settings import level
from ordag.common.words import counted, share
from ordag.data.profile import Rows
from ordag.data.reading import Missing, split_reading
from ordag.data.table import Table
from ordag.data.table_checks import least_squares_rows
from ordag.data.way_through import way_shown
from ordag.errors import OrdagError, PrecisionWarning, SettingError
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag
from ordag.learners.found import Found
from ordag.learners.methods import check_settings, settings_for
from ordag.learners.pooled.method import placed_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.01
"""The default level of the tests."""

NUMBERS = 2_000_000
"""Rows times columns to look at; of larger tables every second, fourth, … row. Of 50 columns that is 20,000 rows or more, in which
a curve or a changing spread of 0.2 % of a residual variance is noticed nine times in ten; it matters from 2 % on (`equations.STRONG`)."""

TITLES = {"warning": "Warnings", "look": "Worth a look", "fine": "Fine", "unchecked": "Not checked"}

JOINT = ("kurtosis", "mardia", "influence")
"""Findings that need the inverse covariance matrix of all columns."""

LINEAR = ("condition", "hidden_causes", "linearity", "residual_spread", "residual_pairs")
"""Findings that assume linear equations."""

LEAST_ROWS = 20
"""Fewer rows than this are not tested."""


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Document):
    """The verdict, the findings behind it, and the fit that they are about."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    fit: Fit

    def __getitem__(self, key: str) -> Finding:
        """Return the finding with this key."""
        for finding in self.findings:
            if finding.key == key:
                return finding
        raise KeyError(key)

    def by_level(self) -> dict[str, tuple[Finding, ...]]:
        """Return the findings by level, warnings first, and within a level by the share of arrows lost; empty levels are left out."""
        ordered = sorted(self.findings, key=lambda finding: float(finding.numbers.get("kept", 1.0)))
        groups = {level: tuple(f for f in ordered if f.level == level) for level in LEVELS}
        return {level: group for level, group in groups.items() if group}

    def to_dict(self) -> dict[str, Any]:
        """Return verdict, findings and fit as plain Python values."""
        fit = self.fit.to_dict()
        fit.pop("verdict", None)  # the one above says more
        return {
            "version": fit.pop("version"),
            "verdict": self.verdict.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "fit": fit,
        }

    def report(
        self, path: str | PathLike[str], *, compare: Sequence[str] = (), data: str | PathLike[str] | None = None
    ) -> None:
        """Write a page for a browser, with these findings: see `Fit.report`."""
        from ordag.show.files import check_output
        from ordag.show.report import report

        check_output(path, self.fit.inputs)
        write_whole(path, report(self.fit, diagnosis=self, compare=compare, data=data))

    @property
    def heading(self) -> str:
        fit, arrows = self.fit, self.fit.graph.edge_count
        variables = len(fit.names) if fit.series is None else fit.series.p
        return f"check · {counted(fit.rows, 'row')} · {counted(variables, 'variable')} · {counted(arrows, 'arrow')}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Return a small chart for each finding, on these axes or on new ones: see `ordag.Fit.plot`."""
        return self.fit.plot("diagnostics", ax, diagnosis=self)

    def _repr_html_(self) -> str:
        tier = self.verdict.tier
        parts = [sentence(f"{f'{TIERS[tier]}. ' if tier else ''}{self.verdict.sentence} {self.verdict.help}")]
        for urgency, findings in self.by_level().items():
            rows = ([escape(finding.title), finding.sentence] for finding in findings)
            parts.append(table([TITLES[urgency], ""], rows, prose=True))
        return card(f"Diagnosis: {self.heading}", *parts)

    def __repr__(self) -> str:
        tier = self.verdict.tier
        lines = [f"Diagnosis: {self.heading}", f"Verdict ({TIERS[tier]})" if tier else "Verdict"]
        lines += textwrap.wrap(self.verdict.sentence, 98, initial_indent="  ", subsequent_indent="  ")
        width = max(len(finding.key) for finding in self.findings)
        for urgency, findings in self.by_level().items():
            lines.append(TITLES[urgency])
            if urgency == "unchecked":
                lines.append(f"  {', '.join(finding.title for finding in findings)}")
                continue
            for finding in findings:
                start = f"  {finding.title:<{width}}  "
                lines += textwrap.wrap(
                    finding.sentence,
                    98,
                    initial_indent=start,
                    subsequent_indent=" " * len(start),
                    break_long_words=False,
                )
        return "\n".join(lines)


def check(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    missing: Missing = "auto",
    method: str = "auto",
    alpha: float | None = None,
    seed: int = 0,
    same_units: bool = False,
    units: str | None = None,
    groups: Sequence[Sequence[str]] | None = None,
    draws: int | None = None,
    progress: Callable[[str], None] | None = None,
    **settings: Any,
) -> Diagnosis:
    """Learn a graph and check what its directions rest on.

    data: as for `ordag.learn`, or a fit, whose own sample of rows is then looked at.
    method, columns, missing, progress: as for `ordag.learn`; a class of graphs has no equations to check.
    alpha: level of each finding (with Bonferroni's correction within it), 1% if not given, and of the method's own tests if it
        has any: like other settings of cvs it makes "auto" take that.
    seed, draws: of the random unit changes; 20 draws, or fewer (3 at least) where learning takes long, if not given.
    same_units: you state that all columns are in comparable units; what depends on units becomes a note.
    units: "commensurable" says the same in a word.
    groups: lists of columns that share a unit; random unit changes treat each list as one.
    settings: those of the method (test, parents, knowledge, …), and of reading text files.

    The findings, by key: scale, equal_variances, condition, sorting, standardising, units, backward, hidden_causes, logarithms,
    kurtosis, mardia, columns, linearity, residual_spread, residual_pairs, dependent_rows, groups_of_rows, duplicate_rows,
    filled_cells, influence; relations, missing_values, conditions and clusters where there are any. docs/trust.md explains each. Given
    Moments, those that need rows are "unchecked".
    """
    check_choice("units", units, (None, "commensurable"), "'commensurable' if all columns are in comparable units")
    if not is_flag(same_units):
        raise SettingError(f"same_units={short(same_units)}: say True or False.")
    same_units = bool(same_units) or units == "commensurable"
    checked_seed(seed)
    check_function("progress", progress)
    if draws is not None and not is_whole(draws, 1):
        raise SettingError(f"draws={short(draws)}: the number of random unit changes is a whole number from 1 on.")
    if isinstance(data, Fit):
        learned = {"columns": columns, "units": units, "method": None if method == "auto" else method, **settings}
        given = [name for name, value in learned.items() if value is not None]
        if given:
            raise SettingError(
                f"{', '.join(given)}: this graph is learned already; give settings to ordag.learn.", given
            )
        alpha, said = None if alpha is None else level("alpha", alpha), same_units or None
        return check_fit(data, alpha=alpha, seed=seed, same_units=said, groups=groups, draws=draws, progress=progress)
    reading, settings = split_reading(settings)
    if alpha is not None:
        settings["alpha"] = level("alpha", alpha)
    check_settings(method, settings)
    reading = {"columns": columns, "missing": missing, **reading}
    with warnings.catch_warnings(), way_shown(data, reading):
        table = Table(data, progress=progress, keep=NUMBERS, **reading).warn()
        method_settings = settings_for(table, method, settings).declared(same_units, groups)
        warnings.simplefilter("ignore", PrecisionWarning)  # the fit's own warnings say it
        fit = Fit.learned(table, method_settings)
    kept = table.rows
    rows = None if kept is None else kept.thinned(max(NUMBERS // len(table.names), 1000))
    alpha = settings.get("alpha")
    return check_fit(
        fit, rows, alpha=alpha, seed=seed, same_units=same_units, groups=groups, draws=draws, progress=progress
    )


def check_fit(
    fit: Fit,
    rows: Rows | None = None,
    *,
    alpha: float | None = None,
    seed: int = 0,
    same_units: bool | None = None,
    groups: Sequence[Sequence[str]] | None = None,
    draws: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Diagnosis:
    """Check what the directions of a fit rest on.

    rows: what it was learned from; the sample of them that the fit keeps if not given.
    draws: random unit changes, and columns to go first after standardising; as many as take a few seconds if not given.
    same_units, groups: those of the fit by default. alpha, seed, progress: as for `check`.
    """
    if isinstance(fit.graph, Cpdag):
        raise SettingError(
            f"method={fit.method!r} gives a class of graphs, which has no equations to check: add orient_by_order='class' "
            "(--orient-by-order), or choose another method."
        )
    declared, declared_groups = fit.method_settings.declared_units
    same_units = declared if same_units is None else same_units
    groups = declared_groups if groups is None else groups
    same_units, announce = bool(same_units), progress or (lambda _: None)
    if groups is not None:
        groups = [[fit.names[j] for j in group] for group in placed_groups(groups, fit.names)]
    whole = fit
    fit = fit.within_causes
    if whole.causes is not None:
        rows = None  # those within the categories
    if rows is None and fit.profile is not None:
        kept = fit.profile.complete
        rows = Rows(kept.rows, kept.stride, kept.labels)
    count = usual_draws(fit) if draws is None else draws
    verdict = quick_verdict(whole, same_units=True, tables=fit.forecast_tables) if same_units else whole.verdict
    baseline = Baseline.of(fit, *((None,) if rows is None else (rows.values, rows.labels)))
    tested = verdict.tier == "tested"
    findings: list[Finding] = []
    checks = {
        "scale": lambda: scale_finding(fit.moments, scale_of(fit.moments, fit.profile, same_units=same_units)),
        "equal_variances": lambda: equality_finding(fit),
        "condition": lambda: condition_finding(fit),
        "sorting": lambda: sorting_finding(baseline),
        "standardising": lambda: standardising_finding(
            baseline, starts=STARTS if draws is not None else count, same_units=same_units, tested=tested
        ),
        "units": lambda: units_finding(
            baseline, seed=seed, draws=count, groups=groups, same_units=same_units, tested=tested
        ),
        "backward": lambda: backward_finding(baseline),
        "hidden_causes": lambda: hidden_causes_finding(fit),
    }
    if fit.has_earlier:  # orders and units are not asked for again
        checks = {}
    for key, find in checks.items():
        announce(f"checking {key.replace('_', ' ')}")
        findings.append(_guarded(key, find, fit))
    if fit.moments.holes is not None:
        level = LEVEL if alpha is None else alpha
        findings.append(_guarded("missing_values", lambda: missing_finding(fit, level), fit))
    if fit.series is not None:
        findings += time_findings(fit)
    if fit.equations is not None and fit.equations.reason == "experiment":
        findings.append(_guarded("conditions", lambda: conditions_finding(fit), fit))
    if fit.moments.clusters is not None and len(fit.moments.clusters.numbers) > 1 and not fit.has_earlier:
        level = LEVEL if alpha is None else alpha
        findings.append(_guarded("clusters", lambda: clusters_finding(fit, level), fit))
    findings += _row_findings(baseline, rows, LEVEL if alpha is None else alpha, tested, announce)
    return Diagnosis(full_verdict(verdict, findings), tuple(findings), whole)


def usual_draws(fit: Fit) -> int:
    """Return how many graphs can be learned again in a second or two, from 3 to 20; a search takes longer on changed data."""
    each = 3.0 * fit.method_settings.seconds * (len(fit.names) + 10.0) ** 2
    return max(3, min(STARTS, int(1.5 / each)))


def full_verdict(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    """Add the warnings about units and transformations to the grounds of a verdict."""
    said = {"units": "a random change of units", "standardising": "standardising", "logarithms": "taking logarithms"}
    kept = {f.key: f.numbers["kept"] for f in findings if f.key in said and f.level == "warning"}
    if verdict.tier == "uninformative" or not kept:
        return verdict
    on = [word for word, keys in DEPENDS.items() if keys & kept.keys()]
    parts = [f"{share(kept[key])} {words}" for key, words in said.items() if key in kept]
    parts[0] = parts[0].replace("%", "% of them survive", 1)
    grounds = f"{verdict.grounds} The arrows depend on {' and '.join(on)}: {', '.join(parts)}."
    return replace(verdict, grounds=grounds, numbers={**verdict.numbers, "kept": kept})


DEPENDS = {"the units": {"units", "standardising"}, "the transformation of the columns": {"logarithms"}}


def _row_findings(
    baseline: Baseline, rows: Rows | None, alpha: float, tested: bool, announce: Callable[[str], None]
) -> Iterator[Finding]:
    """Yield the findings that need the rows, with columns in the learned order."""
    X = np.empty((0, 0)) if rows is None else rows.values[:, baseline.order]
    names, arrows = baseline.moments.names, baseline.arrows
    checks: dict[str, Callable[[], Finding]] = {
        "logarithms": lambda: logarithms_finding(baseline, X, tested=tested),
        "kurtosis": lambda: kurtosis_finding(X, alpha),
        "mardia": lambda: mardia_finding(X, alpha),
        "columns": lambda: columns_finding(X, names, alpha),
        "linearity": lambda: linearity_finding(X, arrows, names, alpha),
        "residual_spread": lambda: spread_finding(X, arrows, names, alpha),
        "residual_pairs": lambda: independence_finding(X, arrows, names, alpha),
        "dependent_rows": lambda: dependence_finding(X, arrows, baseline.moments, alpha, baseline.fit.columns),
        **{key: partial(row_finding, key, X, baseline.moments) for key in FINE},
        "influence": lambda: influence_finding(baseline, X, alpha),
    }
    if len(X) >= LEAST_ROWS and relation_caution(X, names) is not None:
        checks["relations"] = lambda: row_finding("relations", X, baseline.moments)
    if baseline.fit.has_earlier:
        checks = _of_present(baseline, X, alpha) if rows is not None else {}
    for key, find in checks.items():
        announce(f"checking {key.replace('_', ' ')}")
        if rows is None:
            yield unchecked(key, "needs the rows.")
        elif len(X) < LEAST_ROWS:
            yield unchecked(key, f"needs at least {LEAST_ROWS} rows, and there are {len(X)}.")
        elif key == "logarithms" and (baseline.fit.moments.adjusted_for or rows.labels is not None):
            yield unchecked(
                key, "takes the columns themselves, and here rows are what covariates, conditions or clusters leave."
            )
        elif key in JOINT and len(X) < least_squares_rows(X.shape[1]):
            yield unchecked(key, "takes more rows than variables.")
        else:
            finding = _guarded(key, find, baseline.fit)
            if baseline.fit.moments.missing == "em":
                complete = f"{finding.sentence} (From {len(X):,} complete rows.)"
                finding = Finding(key, finding.level, complete, finding.numbers)
            if rows.stride > 1:
                sampled = f"{finding.sentence} (From every {rows.stride}th row.)"
                finding = Finding(key, finding.level, sampled, {**finding.numbers, "stride": rows.stride})
            yield finding


def _of_present(baseline: Baseline, X: Array, alpha: float) -> dict[str, Callable[[], Finding]]:
    """Return the checks of rows with earlier values: of the present ones, whose equations have earlier values among the causes."""
    assert baseline.fit.series is not None
    now = np.flatnonzero(baseline.order < baseline.fit.series.p)
    names, present, arrows = tuple(baseline.moments.names[j] for j in now), X[:, now], baseline.arrows
    errors = present - present.mean(axis=0)
    for equation in equations(X, arrows):
        errors[:, np.flatnonzero(now == equation.child)] = equation.residual[:, None]
    moments = baseline.moments.select(names)
    return {
        "kurtosis": lambda: kurtosis_finding(errors, alpha),
        "mardia": lambda: mardia_finding(errors, alpha),
        "columns": lambda: columns_finding(errors, names, alpha),
        "linearity": lambda: linearity_finding(X, arrows, baseline.moments.names, alpha),
        "residual_spread": lambda: spread_finding(X, arrows, baseline.moments.names, alpha),
        "residual_pairs": lambda: independence_finding(errors, np.zeros((len(now),) * 2, dtype=bool), names, alpha),
        **{key: partial(row_finding, key, present, moments) for key in FINE},
    }


def _guarded(key: str, find: Callable[[], Finding], fit: Found) -> Finding:
    """Run a check; if the data do not allow it, return an unchecked finding with the reason."""
    if key in LINEAR and not fit.method_settings.linear:
        return unchecked(
            key, f"not available with variance={fit.settings['variance']!r}, whose equations need not be linear."
        )
    try:
        return find()
    except OrdagError as error:
        return unchecked(key, str(error))
