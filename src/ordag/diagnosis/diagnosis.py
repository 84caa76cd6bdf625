"""`diagnose`: a table in, how far its learned arrows can be trusted out."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordag.checks import check_choice, check_function, checked_seed, is_flag, is_whole, short
from ordag.data.gate import Missing
from ordag.data.table import Table, split_reading
from ordag.diagnosis.condition import condition_finding
from ordag.diagnosis.equations import independence_finding, linearity_finding, row_order_finding, spread_finding
from ordag.diagnosis.gaussian import columns_finding, kurtosis_finding, mardia_finding
from ordag.diagnosis.influence import influence_finding
from ordag.diagnosis.relearning import Learned
from ordag.diagnosis.rows import Rows, read_rows
from ordag.diagnosis.sorting import sorting_finding
from ordag.diagnosis.survival import (
    backward_finding,
    logarithms_finding,
    standardising_finding,
    units_finding,
)
from ordag.errors import OrdagError, PrecisionWarning, SettingError
from ordag.evidence.common_factor import common_factor_finding
from ordag.evidence.equal_variances import equality_finding
from ordag.evidence.finding import LEVELS, Finding, unchecked
from ordag.evidence.scale import scale_finding, scale_of
from ordag.evidence.verdict import Verdict, full_verdict, quick_verdict
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag
from ordag.learners.methods import check_settings, recipe_for
from ordag.learners.pooled.method import PooledSettings, placed_groups
from ordag.settings import level

LEVEL = 0.01
"""Of a finding, where nobody says otherwise."""

LEAST_ROWS = 20
"""Below this the tests on rows have no meaning."""


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """The verdict, what it and everything else rests on, and the fit that it is about."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    fit: Fit

    def __getitem__(self, key: str) -> Finding:
        """The finding of this key."""
        for finding in self.findings:
            if finding.key == key:
                return finding
        raise KeyError(key)

    def by_level(self) -> dict[str, tuple[Finding, ...]]:
        """The findings by urgency, warnings first; levels without findings are left out."""
        groups = {level: tuple(f for f in self.findings if f.level == level) for level in LEVELS}
        return {level: group for level, group in groups.items() if group}

    def to_dict(self) -> dict[str, Any]:
        """Verdict, findings and fit in plain Python values."""
        fit = self.fit.to_dict()
        fit.pop("verdict", None)  # the one above says more
        return {
            "version": fit.pop("version"),
            "verdict": self.verdict.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "fit": fit,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The document that `ordag check --json` prints."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        from ordag.show.diagnosis import plain

        return plain(self)


def diagnose(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    missing: Missing = "error",
    method: str = "auto",
    alpha: float | None = None,
    seed: int = 0,
    same_units: bool = False,
    units: str | None = None,
    groups: Sequence[Sequence[str]] | None = None,
    draws: int = 20,
    progress: Callable[[str], None] | None = None,
    **settings: Any,
) -> Diagnosis:
    """Learn a graph and check what its directions rest on.

    data, method, columns, missing, progress: as for `ordag.learn`; a class of graphs has no equations to check.
    alpha: level of each finding (with Bonferroni's correction within it), 1% if not given, and of the method's own tests if it
        has any: like other settings of cvs it makes "auto" take that.
    seed, draws: of the random unit changes.
    same_units: you state that all columns are in comparable units; what depends on units becomes a note.
    units: "commensurable" says the same in a word.
    groups: lists of columns that share a unit; random unit changes treat each list as one.
    settings: those of the method (test, parents, knowledge, …), and of reading text files.

    The findings, by key: scale, equal_variances, condition, sorting, standardising, units, backward, common_factor, logarithms,
    kurtosis, mardia, columns, linearity, residual_spread, residual_pairs, row_order, influence. docs/trust.md explains each. Given
    Moments, those that need rows are "unchecked".
    """
    check_choice("units", units, (None, "commensurable"), "'commensurable' if all columns are in comparable units")
    if not is_flag(same_units):
        raise SettingError(f"same_units={short(same_units)}: say True or False.")
    same_units = bool(same_units) or units == "commensurable"
    checked_seed(seed)
    check_function("progress", progress)
    if not is_whole(draws, 1):
        raise SettingError(f"draws={short(draws)}: the number of random unit changes is a whole number from 1 on.")
    tell = progress or (lambda _: None)
    reading, settings = split_reading(settings)
    if alpha is not None:
        settings["alpha"] = level("alpha", alpha)
    check_settings(method, settings)
    table = Table(data, columns=columns, missing=missing, progress=progress, **reading)
    recipe = recipe_for(method, len(table.names), settings)
    if isinstance(recipe, PooledSettings):
        recipe = replace(recipe, units="commensurable" if same_units else None, groups=None if same_units else groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)  # the fit's own warnings say it
        fit = Fit.learned(table, recipe)
    if isinstance(fit.graph, Cpdag):
        raise SettingError(
            f"method={fit.method!r} gives a class of graphs, which has no equations to check: add orient_by_order='class' "
            "(--orient-by-order), or choose another method."
        )
    if groups is not None:
        groups = [[fit.names[j] for j in group] for group in placed_groups(groups, fit.names)]
    rows = read_rows(data, columns=columns, **reading)
    verdict = quick_verdict(fit, same_units=same_units)
    learned = Learned.of(fit)
    tested = verdict.tier == "tested"
    findings: list[Finding] = []
    checks = {
        "scale": lambda: scale_finding(fit.moments, scale_of(fit.moments, fit.profile, same_units=same_units)),
        "equal_variances": lambda: equality_finding(fit),
        "condition": lambda: condition_finding(fit),
        "sorting": lambda: sorting_finding(learned),
        "standardising": lambda: standardising_finding(learned, same_units=same_units, tested=tested),
        "units": lambda: units_finding(
            learned, seed=seed, draws=draws, groups=groups, same_units=same_units, tested=tested
        ),
        "backward": lambda: backward_finding(learned),
        "common_factor": lambda: common_factor_finding(fit),
    }
    for key, check in checks.items():
        tell(f"checking {key.replace('_', ' ')}")
        findings.append(_guarded(key, check))
    findings += _row_findings(learned, rows, settings.get("alpha", LEVEL), tested, tell)
    return Diagnosis(full_verdict(verdict, findings), tuple(findings), fit)


def _row_findings(
    learned: Learned, rows: Rows | None, alpha: float, tested: bool, tell: Callable[[str], None]
) -> Iterator[Finding]:
    """What takes the rows themselves, in the learned order of columns."""
    X = np.empty((0, 0)) if rows is None else rows.values[:, learned.order]
    names, arrows = learned.moments.names, learned.arrows
    checks: dict[str, Callable[[], Finding]] = {
        "logarithms": lambda: logarithms_finding(learned, X, tested=tested),
        "kurtosis": lambda: kurtosis_finding(X, alpha),
        "mardia": lambda: mardia_finding(X, alpha),
        "columns": lambda: columns_finding(X, names, alpha),
        "linearity": lambda: linearity_finding(X, arrows, names, alpha),
        "residual_spread": lambda: spread_finding(X, arrows, names, alpha),
        "residual_pairs": lambda: independence_finding(X, arrows, names, alpha),
        "row_order": lambda: row_order_finding(X, arrows, names, alpha),
        "influence": lambda: influence_finding(learned, X, alpha),
    }
    for key, check in checks.items():
        tell(f"checking {key.replace('_', ' ')}")
        if rows is None:
            yield unchecked(key, "needs the rows.")
        elif len(X) < LEAST_ROWS:
            yield unchecked(key, f"needs at least {LEAST_ROWS} rows, and there are {len(X)}.")
        else:
            finding = _guarded(key, check)
            if rows.stride > 1:
                sampled = f"{finding.sentence} (From every {rows.stride}th row.)"
                finding = Finding(key, finding.level, sampled, {**finding.numbers, "stride": rows.stride})
            yield finding


def _guarded(key: str, check: Callable[[], Finding]) -> Finding:
    """A check that the data do not allow is a finding too: the rest of the answer stands."""
    try:
        return check()
    except OrdagError as error:
        return unchecked(key, str(error))
