"""Total causal effects in a learned model, with intervals.

The standard errors of `ordag.model.effects` take the graph as given. Where it was learned from the same rows, intervals made of
them are too short: at a nominal 95 % they hold the truth in 50 to 60 % of cases where arrows are weak (docs/bootstrap.md). So the
intervals of a learned graph are, unless asked for otherwise, percentiles over resamples from each of which the graph was learned
again.
"""

from __future__ import annotations

from typing import Any

from ordag.bootstrapping import Bootstrap, bootstrap_fit
from ordag.checks import Seed, short
from ordag.errors import GraphError, SettingError
from ordag.fit import Fit
from ordag.model.effects import KINDS, Effect, Effects, check_pair, effects_given_graph
from ordag.model.sem import LinearSEM
from ordag.resampling.intervals import check_interval_level

REPLICATES = 200
"""Resamples for an interval, where learning takes a few milliseconds."""


def total_effects(
    fit: Fit | LinearSEM | Bootstrap,
    level: float = 0.95,
    *,
    interval: str | None = None,
    replicates: int | None = None,
    seed: Seed = 0,
    workers: int | None = None,
) -> Effects:
    """The total effect of every variable on every other.

    fit: a learned graph, its bootstrap, or a bare model, which has no standard errors (nan).
    level: that of the intervals.
    interval: "bootstrap" (default) learns the graph again from resamples: those of the bootstrap if there is one, else
        Gaussian samples with the fit's moments. "given-graph" is quick and takes the graph for granted.
    replicates: the number of resamples; chosen by the method and the number of variables if not given.
    seed, workers: of the resamples, as for `ordag.bootstrap`.
    """
    check_interval_level(level)
    _check_model(fit)
    if interval not in (None, *KINDS):
        raise SettingError(f"interval={interval!r} is not known: use {' or '.join(KINDS)}.")
    if isinstance(fit, LinearSEM):
        return effects_given_graph(fit, None, level)
    learned, resampled = (fit.fit, fit) if isinstance(fit, Bootstrap) else (fit, fit.bootstrap)
    sem = directed(learned)
    if interval == "given-graph":
        return effects_given_graph(sem, learned.moments.R, level)
    if resampled is None or resampled.level != level or replicates not in (None, resampled.replicates):
        count = usual_replicates(learned) if replicates is None else replicates
        recipe = learned.recipe.hurried()
        resampled = bootstrap_fit(learned, count, seed=seed, level=level, workers=workers, recipe=recipe)
    found = resampled.effect_intervals
    if found is None:
        raise SettingError(
            f"The effects among {len(learned.names)} variables in {resampled.replicates} resamples do not fit in memory: ask for "
            "fewer replicates, or for interval='given-graph' (--interval given-graph)."
        )
    effects = sem.total_effects()
    return Effects(
        learned.names,
        effects,
        found.std_error,
        found.low,
        found.high,
        level,
        "bootstrap",
        effects != 0,
        found.share,
        resampled.completed,
    )


def total_effect(
    fit: Fit | LinearSEM | Bootstrap, source: str, target: str, level: float = 0.95, **options: Any
) -> Effect:
    """The total causal effect of one variable on another in a learned model; options as for `total_effects`.

    >>> import ordag
    >>> effect = total_effect(ordag.learn("marks", alpha=0.05), "algebra", "mechanics", interval="given-graph")
    >>> round(effect.estimate, 3), round(effect.std_error, 3)
    (0.9, 0.149)
    """
    _check_model(fit)
    check_pair(source, target, fit.names)
    return total_effects(fit, level, **options).of(source, target)


def usual_replicates(fit: Fit) -> int:
    """Resamples that take a second or two: fewer where learning itself takes long."""
    if fit.method not in ("pooled", "gds"):
        return REPLICATES
    return 100 if len(fit.names) <= 10 else 40


def directed(fit: Fit) -> LinearSEM:
    """The model of a graph all of whose edges are arrows."""
    if fit.sem is None:
        raise GraphError(
            f"The graph of this fit ({fit.method}) has edges without a direction, and effects differ between the DAGs of its "
            "class: learn with orient_by_order='class' (--orient-by-order), or with method='pooled', 'cvs' or 'gds'."
        )
    return fit.sem


def _check_model(fit: object) -> None:
    if not isinstance(fit, Fit | LinearSEM | Bootstrap):
        raise SettingError(f"fit={short(fit)}: give what ordag.learn or ordag.bootstrap gave, or a LinearSEM.")
