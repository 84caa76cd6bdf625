"""Total causal effects in a learned model, with intervals.

The standard errors of `ordag.model.effects` take the graph as given. Where it was learned from the same rows, intervals made of
them are too short: at a nominal 95 % they hold the truth in 50 to 60 % of cases where arrows are weak (docs/bootstrap.md). So the
effects of a learned graph come, unless asked for otherwise, from many graphs: those drawn for the resamples that the probabilities of
arrows are averaged over or, for methods without probabilities, those learned again from resamples. The share of them that have a directed
path is one answer, and the interval of the effect in those that have one is another.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ordag.arrays import Mask
from ordag.bootstrapping import EFFECTS, Bootstrap, bootstrap_fit
from ordag.checks import Seed, short
from ordag.errors import DataError, GraphError, SettingError
from ordag.fit import Fit
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
    interval: "posterior" takes the resamples of the probabilities of arrows, and a graph drawn for each; the default where there
        are probabilities. "bootstrap" learns the graph again from resamples: those of the bootstrap if there is one, else Gaussian samples
        with the fit's moments; the default else, and where `replicates` are given. "given-graph" is quick and takes the graph for granted.
    replicates: the number of resamples of the bootstrap; chosen by the method and the number of variables if not given.
    seed, workers: of these resamples, as for `ordag.bootstrap`.
    """
    _check_model(fit)
    return _total_effects(fit, level, None, interval, replicates, seed, workers)


def total_effect(
    fit: Fit | LinearSEM | Bootstrap,
    source: str,
    target: str,
    level: float = 0.95,
    *,
    interval: str | None = None,
    replicates: int | None = None,
    seed: Seed = 0,
    workers: int | None = None,
) -> Effect:
    """The total causal effect of one variable on another in a learned model; options as for `total_effects`.

    With it comes what speaks against the graph as a whole: `wrong` and `cautions`.

    >>> import ordag
    >>> effect = total_effect(ordag.learn("marks", alpha=0.05), "algebra", "mechanics", interval="given-graph")
    >>> round(effect.estimate, 3), round(effect.std_error, 3), round(effect.robustness, 2)
    (0.9, 0.149, 0.47)
    """
    _check_model(fit)
    effect = pair_effect(fit, source, target, level, interval, replicates, seed, workers)
    if isinstance(fit, LinearSEM):
        return effect
    learned = fit.fit if isinstance(fit, Bootstrap) else fit
    expected = learned.verdict.expected
    return replace(
        effect,
        wrong=math.nan if expected is None else expected.wrong,
        cautions=tuple(f"{one.sentence} {one.advice}" for one in learned.verdict.cautions),
    )


def pair_effect(
    fit: Fit | LinearSEM | Bootstrap,
    source: str,
    target: str,
    level: float,
    interval: str | None = None,
    replicates: int | None = None,
    seed: Seed = 0,
    workers: int | None = None,
) -> Effect:
    """What `total_effect` gives, without what speaks against the graph."""
    pair = np.zeros((len(fit.names),) * 2, dtype=bool)
    pair[check_pair(source, target, fit.names)] = True
    return _total_effects(fit, level, pair, interval, replicates, seed, workers).of(source, target)


def _total_effects(
    fit: Fit | LinearSEM | Bootstrap,
    level: float,
    wanted: Mask | None,
    interval: str | None,
    replicates: int | None,
    seed: Seed,
    workers: int | None,
) -> Effects:
    """The effects of the pairs that are `wanted`, all unless given; other entries need not hold anything."""
    check_interval_level(level)
    if interval not in (None, *KINDS):
        raise SettingError(f"interval={interval!r} is not known: use {', '.join(KINDS[:-1])} or {KINDS[-1]}.")
    if isinstance(fit, LinearSEM):
        return effects_given_graph(fit, None, level)
    learned = fit.fit if isinstance(fit, Bootstrap) else fit
    sem = directed(learned)
    if interval == "given-graph":
        return effects_given_graph(sem, learned.moments.R, level)
    unasked = interval is None and replicates is None and not isinstance(fit, Bootstrap)
    if interval == "posterior" or (unasked and learned.probabilities is not None):
        kind: Kind = "posterior"
        found, count = _from_posterior(learned, level, wanted)
    else:
        kind = "bootstrap"
        found, count = _from_bootstrap(fit, level, replicates, seed, workers)
    effects = sem.total_effects()
    path, unknown = effects != 0, np.full(effects.shape, np.nan)
    enough = found.share * count >= FEWEST_PATHS - 0.5
    std_error, low, high = (np.where(enough, one, np.nan) for one in (found.std_error, found.low, found.high))
    return Effects(
        names=learned.names,
        estimate=effects,
        std_error=std_error,
        low=low,
        high=high,
        level=level,
        interval=kind,
        median=found.median,
        mean=np.where(found.share > 0, found.share * found.mean, 0.0),
        path_found=path,
        probability=found.share if kind == "posterior" else unknown,
        path_support=found.share if kind == "bootstrap" else unknown,
        robustness=effect_robustness(learned.moments.R, sem.dag.links, path if wanted is None else path & wanted),
        replicates=count,
    )


def _from_posterior(fit: Fit, level: float, wanted: Mask | None) -> tuple[Intervals, int]:
    """Intervals over the graphs drawn from the posterior that have a path, and the number of graphs."""
    if fit.posterior is None or fit.probabilities is None:
        raise SettingError(
            "interval='posterior' takes the resamples of the probabilities of arrows, and this fit has none: learn with method='pooled' "
            "and draws=200 (--draws 200), say, or use interval='bootstrap'."
        )
    p = len(fit.names)
    if wanted is None and 12 * fit.probabilities.draws * p * (p - 1) // 2 > EFFECTS:
        raise SettingError(
            f"The effects among {p} variables in {fit.probabilities.draws} resamples do not fit in memory: learn with fewer draws, or "
            "ask for single effects with ordag.total_effect."
        )
    numbers, values = [], []
    for effects in fit.posterior.effects(fit.sample):
        there = effects != 0 if wanted is None else wanted & (effects != 0)
        numbers.append(np.flatnonzero(there).astype(np.int32))
        values.append(effects[there])
    if not numbers:
        raise DataError(
            f"To none of {fit.probabilities.draws} resamples can the graph that was drawn for it be fitted: use more rows, or "
            "interval='given-graph' (--interval given-graph)."
        )
    return intervals(numbers, values, p, len(numbers), level, zeros=False), len(numbers)


def _from_bootstrap(
    fit: Fit | Bootstrap, level: float, replicates: int | None, seed: Seed, workers: int | None
) -> tuple[Intervals, int]:
    """Intervals over the resamples in whose learned graph there is a path, and the number of resamples."""
    learned, resampled = (fit.fit, fit) if isinstance(fit, Bootstrap) else (fit, fit.bootstrap)
    if resampled is None or resampled.level != level or replicates not in (None, resampled.replicates):
        count = usual_replicates(learned) if replicates is None else replicates
        recipe = learned.recipe.hurried()
        resampled = bootstrap_fit(learned, count, seed=seed, level=level, workers=workers, recipe=recipe)
    if resampled.path_intervals is None:
        raise SettingError(
            f"The effects among {len(learned.names)} variables in {resampled.replicates} resamples do not fit in memory: ask for "
            "fewer replicates, or for interval='given-graph' (--interval given-graph)."
        )
    return resampled.path_intervals, resampled.completed


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
