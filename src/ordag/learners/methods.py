"""Every method by its name, and the one that "auto" stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ordag.common.checks import check_choice
from ordag.common.words import did_you_mean, listed
from ordag.data.series import Series
from ordag.data.table import Table
from ordag.data.table_checks import least_squares_rows
from ordag.errors import DataError, SettingError
from ordag.knowledge.knowledge import Knowledge
from ordag.knowledge.masks import Constraints, verify
from ordag.learners.causes import rules_of
from ordag.learners.cvs import CvsSettings, cvs
from ordag.learners.found import AnyFound, Found
from ordag.learners.gds.search import GdsSettings, gds
from ordag.learners.ges.search import GesSettings, ges
from ordag.learners.pc.search import PcSettings, pc
from ordag.learners.pooled.method import PooledSettings, is_standardised, pooled, pooled_rows
from ordag.learners.precision import with_digits_checked
from ordag.learners.settings import MethodSettings
from ordag.learners.small_effects import with_notice, without_small_effects
from ordag.order.sparse import few_rows

ABLE = ("pooled", "ges", "pc")
"""Methods that take earlier values: the others compare the variances of all columns."""


def within_time(series: Series, known: Constraints | None, names: Sequence[str]) -> Constraints:
    """Return knowledge with that of time: nothing acts on an earlier value, and earlier values come before all present ones."""
    earlier = series.earlier
    p = len(names)
    allowed = ~np.eye(p, dtype=bool) if known is None else known.allowed.copy()
    required = np.zeros((p, p), dtype=bool) if known is None else known.required
    before = np.outer(earlier, ~earlier)
    if known is not None:
        wrong = np.argwhere(required & earlier)
        if len(wrong):
            i, j = wrong[0].tolist()
            raise SettingError(
                f"knowledge requires {names[i]} → {names[j]}, but no cause of an earlier value is looked for: require the arrow between "
                "the present values.",
                ["knowledge"],
            )
        before |= known.before & ~earlier
        before &= ~np.outer(~earlier, earlier)
    allowed[:, earlier] = False
    return Constraints(tuple(names), allowed, required, before, {} if known is None else known.record)


def check_method(method: str, orient: str | None = None) -> None:
    """Refuse earlier values for methods that compare the variances of all columns, and `orient` along such an order."""
    if orient is not None:
        raise SettingError(
            "orient_by_order directs edges along an order of all columns by their variances, and earlier values have none: leave it out, "
            "or take method='pooled' (--method pooled).",
            ["orient_by_order", "lags"],
        )
    if method not in ABLE:
        raise DataError(
            f"method={method!r} (--method {method}) takes an order of all columns by their variances, and earlier values have none: take "
            f"{', '.join(ABLE[:-1])} or {ABLE[-1]} with lags, or fewer lags if no method was asked for.",
            ["lags"],
        )


class Method(NamedTuple):
    """The settings class of a method, and its search: a function of a table, settings and constraints."""

    settings: type[MethodSettings]
    search: Callable[..., Found]


METHODS = {
    method.settings.name: method
    for method in (
        Method(PooledSettings, pooled),
        Method(CvsSettings, cvs),
        Method(PcSettings, pc),
        Method(GesSettings, ges),
        Method(GdsSettings, gds),
    )
}

AUTO = ("auto", *METHODS)

WITH_CAUSES = ("pooled", "cvs")
"""Methods that take categories as causes."""

POOLED_UP_TO, POOLED_WITH_FEW_ROWS = 10_000, 200
"""Variables up to which `auto` takes the pooled search, which then takes minutes and 7 GB, and with too few rows for regressions on
all of them."""


@cache
def settings_of(method: str) -> tuple[str, ...]:
    """Return the names of the settings of a method; for "auto" those of all methods."""
    if method == "auto":
        return tuple(dict.fromkeys(name for one in METHODS for name in settings_of(one)))
    every = [field.name for field in fields(MethodSettings)]
    own = [field.name for field in fields(METHODS[method].settings) if field.name not in every]
    return (*own, *every)


SCIKIT_LEARNS = {"random_state": "seed", "n_jobs": "workers"}
"""What settings of functions are called in scikit-learn's estimators, and here."""


def check_settings(method: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown method, and settings that it does not have or, for "auto", that no method has together."""
    check_choice("method", method, AUTO)
    known = settings_of(method)
    unknown = [name for name in settings if name not in known]
    for name in [one for one in unknown if one in SCIKIT_LEARNS]:
        raise SettingError(f"{name} is the name in estimators; functions call it {SCIKIT_LEARNS[name]}.")
    if unknown and method == "auto":
        which = "is a setting" if len(unknown) == 1 else "are settings"
        hint = did_you_mean(unknown, known)
        raise SettingError(f"{', '.join(unknown)} {which} of no method.{hint}", unknown)
    if unknown:
        which = "is not a setting" if len(unknown) == 1 else "are not settings"
        sentence = f"{', '.join(unknown)} {which} of {method!r}: it takes {', '.join(known)}."
        raise SettingError(sentence, (*unknown, *known))
    _settled(method, 0, pooled_rows(0), settings)


def settings_for(table: Table, method: str, settings: Mapping[str, Any]) -> MethodSettings:
    """Return the settings of the named method, or of the one that "auto" chooses for this table and these settings."""
    n = table.needing(few_rows).n if method == "auto" else 0
    name, given = _settled(method, len(table.names), n, settings)
    if method == "auto" and name == "cvs" and set(settings) <= set(settings_of("pooled")):
        _refuse_standardised(table)
        if n >= pooled_rows(len(table.names)):
            table.choice = _why_cvs(n >= least_squares_rows(len(table.names)))
    return METHODS[name].settings(**given)


def _why_cvs(enough: bool) -> str:
    """Return why `auto` takes cvs for a table that pooled could take. enough: there are enough rows for regressions on all columns."""
    most, rows = (
        (POOLED_UP_TO, "") if enough else (POOLED_WITH_FEW_ROWS, " and too few rows for regressions on all of them")
    )
    return (
        f"With more than {most:,} variables{rows} method='auto' (--method auto) takes cvs, which orders variables by their variances: "
        f"method='pooled' (--method pooled) assumes less, and takes {'minutes and more than 7 GB' if enough else 'longer'}."
    )


def _refuse_standardised(table: Table) -> None:
    """Refuse a table of standardised columns where `auto` would choose a method that orders by variance."""
    moments = table.moments
    if moments.n < pooled_rows(moments.p) or not is_standardised(moments):
        return
    enough = moments.n >= least_squares_rows(moments.p)
    raise DataError(
        f"The {moments.p:,} columns have been standardised, so their variances say nothing about an order, and with "
        f"{'so many columns' if enough else 'fewer rows than that'} method='auto' (--method auto) goes by variances alone: give the "
        "columns as they were measured, or fewer of them, or name method='pooled' (--method pooled), which takes longer."
    )


def _settled(method: str, p: int, n: int, given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    if method != "auto":
        return method, given
    able = [name for name in METHODS if set(given) <= set(settings_of(name))]
    if not able:
        raise SettingError(
            f"No method has all of {', '.join(given)}: name the method and leave out what it does not have.", given
        )
    if able[0] == "pooled" and "cvs" in able:
        if n >= pooled_rows(p) and p <= (POOLED_UP_TO if n >= least_squares_rows(p) else POOLED_WITH_FEW_ROWS):
            return "pooled", given
        enough = n >= least_squares_rows(p)
        return "cvs", {"parents": "adaptive", "variance": "auto", **given} if enough else given
    if able[0] in ("pooled", "cvs") or len(able) == 1:
        return able[0], given
    raise SettingError(
        f"{', '.join(given)}: {' and '.join(able)} have this; say which with method=… (--method).", given
    )


def learn_from(table: Table, settings: MethodSettings) -> Found:
    """Learn by a method, leave out edges of small effect, and verify the constraints."""
    knowledge = settings.knowledge if isinstance(settings.knowledge, Knowledge) else None
    causes = table.cause_names
    if causes and settings.name not in WITH_CAUSES:
        raise DataError(
            f"method={settings.name!r} takes no categories as causes: hold {listed(causes)} fixed instead (adjust, --adjust), or take "
            f"{' or '.join(f'method={name!r}' for name in WITH_CAUSES)}.",
            ["cause"],
        )
    known, rules = rules_of(knowledge, table.names, causes)
    if settings.least_rows is not None:
        table.needing(settings.least_rows)
    if not settings.takes_experiments and table.has_experiments:
        able = [name for name, method in METHODS.items() if method.settings.takes_experiments]
        raise DataError(
            f"{settings.name} takes all rows for every variable, also those in which it was acted on: learn from experiments with "
            f"{' or '.join(f'method={name!r} (--method {name})' for name in able)}.",
            ["experiment"],
        )
    allowed = known
    if table.series is not None and table.series.lags:
        check_method(settings.name, getattr(settings, "orient_by_order", None))
        allowed = within_time(table.series, known, table.names)
    found = METHODS[settings.name].search(table, settings, allowed, *([rules] if causes else []))
    made: dict[str, Any] = {
        "profile": table.profile,
        "transform": table.transform,
        "inputs": table.inputs,
        "columns": table.columns,
    }
    found = replace(found, known=known, series=table.series, **made)
    found = replace(found, warnings=(*table.remarks, *_left_out(table, settings), *found.warnings))
    found = settings.finished(found)
    if settings.min_effect:
        found = without_small_effects(found, settings.min_effect)
    if known is not None:
        verify(found.graph, known)
    return found


def _left_out(table: Table, settings: MethodSettings) -> list[str]:
    """Warn that a method on rows uses the complete ones only, while other parts use all."""
    rows = table.rows if settings.needs_rows and table.missing in ("auto", "em") else None
    if rows is None or table.source is None:
        return []
    X = table.source.array
    incomplete = table.is_estimated if X is None else len(rows.values) < len(X)
    return [f"This method takes complete rows: {len(rows.values):,} of them."] if incomplete else []


def with_warnings(found: AnyFound) -> AnyFound:
    """Add what a reader of the graph should be warned of."""
    return _with_remarks(_with_others(found))


def with_quick_warnings(found: AnyFound) -> AnyFound:
    """Add the warnings that take no time; `with_slow_warnings` adds the others."""
    return with_warnings(found) if found.result.is_complete(found) else _with_others(found)


def with_slow_warnings(found: AnyFound) -> AnyFound:
    """Add what `with_quick_warnings` has left out."""
    if found.result.is_complete(found):
        return found
    found.result.note(found)  # counts what takes time, for all who ask later
    return _with_remarks(found)


def _with_remarks(found: AnyFound) -> AnyFound:
    return replace(found, warnings=(*found.warnings, *found.result.remarks(found)))


def _with_others(found: AnyFound) -> AnyFound:
    return with_notice(with_digits_checked(found))
