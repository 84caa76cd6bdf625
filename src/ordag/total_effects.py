"""Total causal effects in a learned model, with intervals.

The standard errors of `ordag.model.effects` take the graph as given. Where it was learned from the same rows, intervals made of
them are too short: at a nominal 95 % they hold the truth in 50 to 60 % of cases where arrows are weak (docs/bootstrap.md). So the
effects of a learned graph come, unless asked for otherwise, from many graphs: those drawn for the resamples that the probabilities of
arrows are averaged over or, for methods without probabilities, those learned again from resamples. The share of them that have a directed
path is one answer, and the interval of the effect in those that have one is another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ordag.bootstrapping import EFFECTS, IN_MEMORY, Bootstrap, bootstrap_fit, bootstrap_table
from ordag.common.arrays import Mask
from ordag.common.checks import Seed, short
from ordag.data.reading import split_reading
from ordag.data.table import Table
from ordag.data.way_through import way_shown
from ordag.errors import DataError, GraphError, SettingError
from ordag.fit import Fit
from ordag.learners.methods import check_settings, settings_for
from ordag.model.effects import (
    FEWEST_PATHS,
    KINDS,
    Effect,
    Effects,
    Kind,
    check_pair,
    effect_robustness,
    effects_given_graph,
)
from ordag.model.sem import LinearSEM
from ordag.resampling.intervals import Intervals, check_interval_level, intervals


class How(NamedTuple):
    """How intervals are made: as for `effects`."""

    level: float
    interval: str | None = None
    replicates: int | None = None
    seed: Seed = 0
    workers: int | None = None


def effects(
    fit: Fit | LinearSEM | Bootstrap,
    level: float = 0.95,
    *,
    interval: str | None = None,
    replicates: int | None = None,
    seed: Seed = 0,
    workers: int | None = None,
) -> Effects:
    """Return the total effect of every variable on every other.

    fit: a learned graph, its bootstrap, or a bare model, which has no standard errors (nan).
    level: that of the intervals.
    interval: "posterior" takes the resamples of the probabilities of arrows, and a graph drawn for each; the default where there
        are probabilities. "bootstrap" learns the graph again from resamples: those of the bootstrap if there is one, else Gaussian samples
        with the fit's moments; the default else, and where `replicates` are given. "given-graph" is quick and takes the graph for granted.
    replicates: the number of resamples of the bootstrap; chosen by the method and the number of variables if not given.
    seed, workers: of these resamples, as for `ordag.bootstrap`.
    """
    _check_model(fit)
    if isinstance(fit, Fit):
        fit.at_one_time("A table of all effects")
    return _effects(fit, None, How(level, interval, replicates, seed, workers))


def effect(
    data: Any,
    source: str,
    target: str,
    level: float = 0.95,
    *,
    interval: str | None = None,
    replicates: int | None = None,
    seed: Seed = None,
    workers: int | None = None,
    method: str = "auto",
    progress: Callable[[str], None] | None = None,
    **settings: Any,
) -> Effect:
    """Return the total causal effect of one variable on another, with what speaks against the graph: `wrong` and `cautions`.

    data: a learned graph, its bootstrap, a bare model, or anything that `ordag.learn` takes, which is then learned from with `method` and
        `settings`; resamples are then of its rows.
    level, interval, replicates, workers: as for `effects`. seed: of the resamples, 0 if not given, and of the method if it has one.

    >>> import ordag
    >>> effect = ordag.effect("marks", "algebra", "mechanics", alpha=0.05, interval="given-graph")
    >>> round(effect.estimate, 3), round(effect.std_error, 3), round(effect.robustness, 2)
    (0.9, 0.149, 0.47)
    """
    fit, how = data, How(level, interval, replicates, seed, workers)
    if not isinstance(data, Fit | LinearSEM | Bootstrap):
        fit = learned_for_effect(data, (source, target), how, method, settings, progress)
    elif settings or method != "auto" or progress is not None:
        given = [*settings, *(["method"] if method != "auto" else []), *(["progress"] if progress else [])]
        raise SettingError(f"{', '.join(given)}: this graph is learned already; give settings to ordag.learn.", given)
    found = pair_effect(fit, source, target, how._replace(seed=0 if seed is None else seed))
    if isinstance(fit, LinearSEM):
        return replace(found, last_steps=fit.last_steps(source, target))
    learned = fit.fit if isinstance(fit, Bootstrap) else fit
    expected = learned.verdict.expected
    return replace(
        found,
        last_steps=directed(learned).last_steps(source, target),
        wrong=math.nan if expected is None else expected.wrong,
        cautions=tuple(f"{one.sentence} {one.advice}" for one in learned.verdict.cautions),
    )


def learned_for_effect(
    data: Any,
    pair: tuple[str, str],
    how: How,
    method: str,
    settings: Mapping[str, Any],
    progress: Callable[[str], None] | None,
) -> Fit | Bootstrap:
    """Learn from data and, where the interval takes them, from resamples of its rows."""
    check_interval_level(how.level)
    reading, given = split_reading(settings)
    check_settings(method, given)
    with way_shown(data, reading):
        table = Table(data, progress=progress, keep=0 if how.interval == "given-graph" else IN_MEMORY, **reading).warn()
        method_settings = settings_for(table, method, given)
        if how.seed is not None and hasattr(method_settings, "seed"):
            own: dict[str, Any] = {"seed": how.seed}
            method_settings = replace(method_settings, **own)
        fit = Fit.learned(table, method_settings)
    _refuse_categories(fit, *pair)
    check_pair(*pair, fit.names)
    directed(fit)
    by_default = how.interval is None and how.replicates is None and fit.probabilities is not None
    if how.interval not in (None, "bootstrap") or by_default:
        return fit
    count = fit.method_settings.usual_replicates(len(fit.names)) if how.replicates is None else how.replicates
    method_settings = fit.method_settings if "kicks" in given else fit.method_settings.hurried()
    seed = 0 if how.seed is None else how.seed
    return bootstrap_table(table, fit, count, settings=method_settings, seed=seed, level=how.level, workers=how.workers)


def pair_effect(fit: Fit | LinearSEM | Bootstrap, source: str, target: str, how: How) -> Effect:
    """Return what `effect` does, without what speaks against the graph."""
    if not isinstance(fit, LinearSEM):
        _refuse_categories(fit.fit if isinstance(fit, Bootstrap) else fit, source, target)
    series = getattr(fit.fit if isinstance(fit, Bootstrap) else fit, "series", None)
    if series is not None and {source, target} & set(series.columns[series.p :]):
        raise SettingError(
            "Effects are those at the same time: for what an earlier value does, ask for the effect of the variable itself over several "
            "steps, with fit.response (ordag effect … --steps 12).",
            ["steps"],
        )
    pair = np.zeros((len(fit.names),) * 2, dtype=bool)
    pair[check_pair(source, target, fit.names)] = True
    return _effects(fit, pair, how).of(source, target)


def _refuse_categories(fit: Fit, source: str, target: str) -> None:
    """Refuse categories: they have an effect for each of their groups, and no causes."""
    names = () if fit.causes is None else fit.causes.names
    if target in names:
        raise SettingError(f"target={target!r} is a category, which has no causes in the graph: name a variable.")
    if source in names:
        raise SettingError(
            f"source={source!r} is a category, and has an effect for each of its groups: fit.group_effect({source!r}, {target!r}) has "
            "them (ordag effect prints them)."
        )


def _effects(fit: Fit | LinearSEM | Bootstrap, wanted: Mask | None, how: How) -> Effects:
    """Return the effects of the pairs that are `wanted`, all unless given; other entries need not hold anything."""
    level, interval = how.level, how.interval
    check_interval_level(level)
    if interval not in (None, *KINDS):
        raise SettingError(f"interval={interval!r} is not known: use {', '.join(KINDS[:-1])} or {KINDS[-1]}.")
    if isinstance(fit, LinearSEM):
        return effects_given_graph(fit, None, level)
    learned = fit.fit if isinstance(fit, Bootstrap) else fit
    sem = directed(learned)
    if interval == "given-graph":
        return effects_given_graph(sem, learned.moments.R, level)
    unasked = interval is None and how.replicates is None and not isinstance(fit, Bootstrap)
    if interval == "posterior" or (unasked and learned.probabilities is not None):
        kind: Kind = "posterior"
        found, count = _from_posterior(learned, level, wanted)
    else:
        kind = "bootstrap"
        found, count = _from_bootstrap(fit, how)
    bare = effects_given_graph(sem, None, level)
    total, path = bare.estimate, bare.path_found
    enough = found.share * count >= FEWEST_PATHS - 0.5
    std_error, low, high = (np.where(enough, one, np.nan) for one in (found.std_error, found.low, found.high))
    known: dict[str, Any] = {"std_error": std_error, "low": low, "high": high, "median": found.median}
    known["mean"] = np.where(found.share > 0, found.share * found.mean, 0.0)
    if kind == "posterior":
        assert learned.posterior is not None
        known["probability"] = learned.posterior.paths(learned.sample)
    else:
        known["path_support"] = found.share
    wanted = path if wanted is None else path & wanted
    known["robustness"] = effect_robustness(learned.moments.R, sem.dag.links, total, wanted)
    return replace(bare, interval=kind, replicates=count, **known)


def _from_posterior(fit: Fit, level: float, wanted: Mask | None) -> tuple[Intervals, int]:
    """Intervals over the graphs drawn from the posterior that have a path, and the number of graphs."""
    if fit.probabilities is None:
        raise SettingError(
            "interval='posterior' takes the resamples of the probabilities of arrows, and this fit has none: learn with method='pooled' "
            "and draws=200 (--draws 200), say, or use interval='bootstrap'."
        )
    p = len(fit.names)
    if wanted is None and 12 * fit.probabilities.draws * p * (p - 1) // 2 > EFFECTS:
        raise SettingError(
            f"The effects among {p} variables in {fit.probabilities.draws} resamples do not fit in memory: learn with fewer draws, or "
            "ask for single effects with ordag.effect."
        )
    numbers, values = [], []
    for effects in fit.result.effects(fit):
        there = effects != 0 if wanted is None else wanted & (effects != 0)
        numbers.append(np.flatnonzero(there).astype(np.int32))
        values.append(effects[there])
    if not numbers:
        raise DataError(
            f"To none of {fit.probabilities.draws} resamples can the graph that was drawn for it be fitted: use more rows, or "
            "interval='given-graph' (--interval given-graph)."
        )
    return intervals(numbers, values, p, len(numbers), level, zeros=False), len(numbers)


def _from_bootstrap(fit: Fit | Bootstrap, how: How) -> tuple[Intervals, int]:
    """Intervals over the resamples in whose learned graph there is a path, and the number of resamples."""
    learned, resampled = (fit.fit, fit) if isinstance(fit, Bootstrap) else (fit, fit.support)
    if resampled is None or resampled.level != how.level or how.replicates not in (None, resampled.replicates):
        count = (
            learned.method_settings.usual_replicates(len(learned.names)) if how.replicates is None else how.replicates
        )
        method_settings = learned.method_settings.hurried()
        resampled = bootstrap_fit(
            learned, count, seed=how.seed, level=how.level, workers=how.workers, settings=method_settings
        )
    if resampled.path_intervals is None:
        raise SettingError(
            f"The effects among {len(learned.names)} variables in {resampled.replicates} resamples do not fit in memory: ask for "
            "fewer replicates, or for interval='given-graph' (--interval given-graph)."
        )
    return resampled.path_intervals, resampled.completed


def directed(fit: Fit) -> LinearSEM:
    """Return the model of a graph all of whose edges are arrows."""
    if fit.sem is None:
        raise GraphError(
            f"The graph of this fit ({fit.method}) has edges without a direction, and effects differ between the DAGs of its "
            "class: learn with orient_by_order='class' (--orient-by-order), or with method='pooled', 'cvs' or 'gds'."
        )
    return fit.sem


def _check_model(fit: object) -> None:
    if not isinstance(fit, Fit | LinearSEM | Bootstrap):
        raise SettingError(f"fit={short(fit)}: give what ordag.learn or ordag.bootstrap gave, or a LinearSEM.")
