"""`learn`: data in, Fit out. And `refit`, for a graph that is known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ordag.checks import check_choice, is_whole, short
from ordag.data.reading import Missing, split_reading
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.fit import Fit, Recipe
from ordag.graph.dag import Dag
from ordag.learners.cvs import cvs, with_false_edges_said
from ordag.learners.methods import gds, ges, pc
from ordag.learners.pooled.method import pooled
from ordag.learners.precision import with_digits_checked
from ordag.learners.small_effects import check_min_effect, with_notice, without_small_effects
from ordag.model.refit import Refit
from ordag.model.refit import refit as model_refit

METHODS: dict[str, Callable[..., Fit]] = {"pooled": pooled, "cvs": cvs, "pc": pc, "ges": ges, "gds": gds}
"""Every method by name: a function of a Table and its own settings."""

EVERY = ("min_effect",)
"""Settings that every method has, whatever its own."""

AUTO = ("auto", *METHODS)

POOLED_UP_TO = 100
"""Variables up to which `auto` takes the pooled search: a second or two where the graph is sparse."""


def learn(
    data: Any,
    method: str = "auto",
    *,
    columns: Sequence[str] | None = None,
    missing: Missing = "error",
    progress: Callable[[str], None] | None = None,
    bootstrap: int | None = None,
    forecast: int | None = None,
    **settings: Any,
) -> Fit:
    """Learn the causal graph behind a table of continuous measurements.

    data: a file (CSV, Parquet) or a folder of Parquet files, a data frame, an array, `Moments`, or the name of a
        built-in data set ("marks", "sachs").
    method: "pooled" (pooled error variances, searched over orders), "cvs" (conditional variance scoring, Park & Kim), "pc",
        "ges" or "gds". "auto" takes pooled up to 100 variables and cvs with parents="adaptive" beyond, unless a setting says
        otherwise: alpha, test, parents, correction and direction are those of cvs.
    columns: names of the columns to use, all by default.
    missing: "error" refuses rows with missing values, "drop" leaves them out.
    progress: called now and then with a few words on how far things are.
    bootstrap: learn again from this many resamples, for the support of every arrow (see `ordag.bootstrap`).
    forecast: simulated tables for what the verdict expects to be wrong; as many as take about a second if not given.
    settings: those of the method (see `ordag.learners.pooled.method`, `ordag.learners.cvs` and `ordag.learners.methods`),
        of every method (min_effect: leave out edges with a smaller standardised effect, |weight| · sd(source)/sd(target))
        and of reading text files (separator, encoding, header, decimal).

    >>> import ordag
    >>> fit = ordag.learn("marks")
    >>> fit.order
    ('algebra', 'vectors', 'analysis', 'statistics', 'mechanics')
    """
    check_method(method)
    if not is_whole(1 if forecast is None else forecast, 1):
        raise SettingError(f"forecast={short(forecast)}: the number of simulated tables is a whole number from 1 on.")
    if bootstrap is not None:
        asked = {"columns": columns, "missing": missing, "progress": progress, **settings}
        return replace(_bootstrapped(data, bootstrap, method, **asked), forecast_tables=forecast)
    reading, settings = split_reading(settings)
    check_settings(method, settings)
    table = Table(data, columns=columns, missing=missing, progress=progress, **reading)
    method, settings = settled(method, len(table.names), settings)
    return replace(with_warnings(run_method(method, table, **settings)), forecast_tables=forecast)


def check_method(method: str) -> None:
    check_choice("method", method, AUTO)


def check_settings(method: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that the method does not have, or for "auto" that no method has together."""
    known = method_settings(method)
    unknown = [name for name in settings if name not in known]
    if unknown and method == "auto":
        which = "is a setting" if len(unknown) == 1 else "are settings"
        raise SettingError(f"{', '.join(unknown)} {which} of no method.", unknown)
    if unknown:
        which = "is not a setting" if len(unknown) == 1 else "are not settings"
        sentence = f"{', '.join(unknown)} {which} of {method!r}: it takes {', '.join(known)}."
        raise SettingError(sentence, (*unknown, *known))
    if method == "auto":
        settled(method, 0, settings)


def settled(method: str, p: int, settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The method that "auto" stands for with p variables and these settings, and its settings."""
    given = dict(settings)
    if method != "auto":
        return method, given
    able = [name for name in METHODS if set(given) <= set(method_settings(name))]
    if not able:
        raise SettingError(
            f"No method has all of {', '.join(given)}: name the method and leave out what it does not have.", given
        )
    if able[0] == "pooled" and p <= POOLED_UP_TO:
        return "pooled", given
    if able[0] == "pooled" and "cvs" in able:
        return "cvs", {"parents": "adaptive", **given}
    if able[0] in ("pooled", "cvs") or len(able) == 1:
        return able[0], given
    raise SettingError(
        f"{', '.join(given)}: {' and '.join(able)} have this; say which with method=… (--method).", given
    )


def run_method(method: str, table: Table, *, min_effect: float | None = None, **settings: Any) -> Fit:
    """A method on a table, with the settings that every method has."""
    least = check_min_effect(min_effect)
    fit = without_small_effects(METHODS[method](table, **settings), least)
    given = settings if min_effect is None else {**settings, "min_effect": min_effect}
    return replace(fit, profile=table.profile, recipe=Recipe(method, given))


def with_warnings(fit: Fit) -> Fit:
    """The fit with everything that somebody who reads it should be warned of."""
    return with_notice(with_digits_checked(with_false_edges_said(fit)))


def _bootstrapped(data: Any, replicates: int, method: str, **settings: Any) -> Fit:
    from ordag.bootstrapping import bootstrap

    result = bootstrap(data, replicates, method=method, **settings)
    return replace(result.fit, bootstrap=result)


def refit(
    data: Any, graph: Dag, *, columns: Sequence[str] | None = None, missing: Missing = "error", **reading: Any
) -> Refit:
    """The least-squares model of a given graph on the same kinds of data: `.sem` and the `.std_error` of its weights.

    >>> import ordag
    >>> graph = ordag.Dag.from_edges(["algebra", "vectors"], [("algebra", "vectors")])
    >>> ordag.refit("marks", graph, columns=["algebra", "vectors"]).sem.B.round(3).tolist()
    [[0.0, 0.754], [0.0, 0.0]]
    """
    return model_refit(Table(data, columns=columns, missing=missing, **reading).moments, graph)


@cache
def method_settings(method: str) -> tuple[str, ...]:
    """What a method takes besides the table; for "auto" what any method takes."""
    if method == "auto":
        return tuple(dict.fromkeys(name for one in METHODS for name in method_settings(one)))
    return (*tuple(inspect.signature(METHODS[method]).parameters)[1:], *EVERY)
