"""`learn`: a fit from data; and `refit`, for a known graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from ordag.bootstrapping import bootstrap as resample
from ordag.common.checks import is_whole, short
from ordag.common.cluster import connected
from ordag.data.reading import Missing, split_reading
from ordag.data.table import Table
from ordag.data.way_through import way_shown
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.keywords import Keywords
from ordag.learners.methods import check_settings, settings_for
from ordag.model.refit import Refit
from ordag.model.refit import refit as model_refit


def learn(
    data: Any,
    method: str = "auto",
    *,
    columns: Sequence[str] | None = None,
    transform: Mapping[str, float | str] | None = None,
    missing: Missing = "auto",
    progress: Callable[[str], None] | None = None,
    bootstrap: int | None = None,
    forecast: int | None = None,
    client: Any = None,
    **settings: Unpack[Keywords],
) -> Fit:
    """Learn the causal graph behind a table of continuous measurements.

    data: a file (CSV, Parquet) or a folder of such files, a data frame, an array, `Moments`, or the name of a
        built-in data set ("marks", "sachs"); docs/scale.md has rows on a cluster.
    method: "pooled" (pooled error variances, searched over orders), "cvs" (conditional variance scoring, Park & Kim), "pc",
        "ges" or "gds". "auto" takes pooled up to 10,000 variables (200 with fewer rows than variables) and cvs with
        parents="adaptive" beyond, unless a setting says otherwise: alpha, test, parents, correction and direction are those of cvs.
    columns: names of the columns to use, all by default.
    transform: columns in other units, such as {"height": 100, "income": "log", "score": "standardise"}: a factor, the natural
        logarithm, or the standard deviation as the unit.
    missing: "em" estimates the moments from all rows, with what the incomplete ones hold; "drop" leaves these out; "refuse" refuses the
        table. "auto" leaves out up to 2 % of the rows and uses them beyond (docs/guides/missing_values.md).
    progress: called now and then with a few words on how far things are.
    bootstrap: learn again from this many resamples, for the support of every arrow; settings may then be those of
        `ordag.bootstrap` too. The seed is 0 unless given.
    forecast: simulated tables for what the verdict expects to be wrong; as many as take about a second if not given.
    client: a client of Dask, or the address of its scheduler, for data on its cluster and for resamples; the current one if not given.
    settings: those of the method and of reading text files: docs/settings.md has them all.

    >>> import ordag
    >>> fit = ordag.learn("marks")
    >>> fit.order
    ('algebra', 'vectors', 'analysis', 'statistics', 'mechanics')
    """
    if not is_whole(1 if forecast is None else forecast, 1):
        raise SettingError(f"forecast={short(forecast)}: the number of simulated tables is a whole number from 1 on.")
    if bootstrap is not None:
        settings.setdefault("seed", 0)
        result = resample(
            data,
            bootstrap,
            method=method,
            columns=columns,
            transform=transform,
            missing=missing,
            progress=progress,
            client=client,
            **settings,
        )
        return replace(result.fit, support=result, forecast_tables=forecast)
    reading, chosen = split_reading(settings)
    check_settings(method, chosen)
    reading = {"columns": columns, "transform": transform, "missing": missing, **reading}
    with connected(client), way_shown(data, reading):
        table = Table(data, progress=progress, **reading).warn()
        return Fit.learned(table, settings_for(table, method, chosen), forecast_tables=forecast)


def refit(
    data: Any, graph: Dag, *, columns: Sequence[str] | None = None, missing: Missing = "auto", **reading: Any
) -> Refit:
    """Return the least-squares model of a given graph on the same kinds of data: `.sem` and the `.std_error` of its weights.

    >>> import ordag
    >>> graph = ordag.Dag.from_edges(["algebra", "vectors"], [("algebra", "vectors")])
    >>> ordag.refit("marks", graph, columns=["algebra", "vectors"]).sem.B.round(3).tolist()
    [[0.0, 0.754], [0.0, 0.0]]
    """
    return model_refit(Table(data, columns=columns, missing=missing, **reading).warn().moments, graph)
