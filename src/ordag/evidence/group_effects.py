"""`group_effect`: the total effect of a category on a variable in a learned graph."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from ordag.common.words import did_you_mean, listed
from ordag.errors import ColumnError, SettingError
from ordag.evidence.causes import differences_between, level_ranks
from ordag.graph.acyclic import reachable
from ordag.learners.found import Found
from ordag.model.effects import check_pair
from ordag.model.group_effects import GroupEffect
from ordag.resampling.intervals import check_interval_level


def group_effect(
    fit: Found, source: str, target: str, level: float = 0.95, *, reference: str | None = None
) -> GroupEffect:
    """Return the differences of a variable between the groups of a category that may be a cause, by all ways together.

    reference: the group that the others are compared with; the first, sorted, if not given.
    """
    check_interval_level(level)
    causes = fit.causes
    if causes is None or source not in causes.names:
        able = "this fit has none: name some with cause=[…] (--cause)" if causes is None else listed(causes.names)
        raise SettingError(f"source={source!r} is no category that may be a cause; {able}.", ["source", "cause"])
    if target in causes.names:
        raise SettingError(f"target={target!r} is a category, which has no causes in the graph: name a variable.")
    if target not in fit.names:
        check_pair(target, target, fit.names)
    categories, c, j = causes.categories, causes.names.index(source), fit.names.index(target)
    levels = categories.root.covariates[c].levels or ()
    if reference is not None and reference not in levels:
        hint = did_you_mean(reference, levels)
        raise ColumnError(f"{source!r} has no value {reference!r}.{hint} Its values are {listed(levels)}.")
    every = list(range(len(causes.names)))
    rank = level_ranks(levels)
    differences, errors = differences_between(categories, c, j, [], every, reference)
    test = categories.test(c, j, [], every)
    means = categories.means(c, j)
    margin = float(stdtrit(max(test.rows, 1), 0.5 + level / 2.0)) * np.nan_to_num(errors)
    return GroupEffect(
        source,
        target,
        level,
        levels[rank[0]] if reference is None else reference,
        tuple(levels[k] for k in rank),
        tuple(round(float(means.shares[k]) * fit.rows) for k in rank),
        tuple(float(means.means[k]) for k in rank),
        tuple(differences[rank].tolist()),
        tuple((differences - margin)[rank].tolist()),
        tuple((differences + margin)[rank].tolist()),
        test.statistic,
        test.columns,
        test.rows,
        test.p_value,
        tuple(name for name in causes.names if name != source),
        bool(reachable(fit.whole_graph.links, len(fit.names) + c)[j]),
        _share_of_paths(fit, c, j),
    )


def _share_of_paths(fit: Found, c: int, j: int) -> float:
    """Return the share of the graphs drawn for the resamples that have a path from the category."""
    if fit.posterior is None or fit.probabilities is None:
        return math.nan
    found = []
    graphs = zip(fit.posterior.graphs(fit.sample), fit.posterior.causes(fit.sample), strict=True)
    for graph, arrows in graphs:
        reached, new = arrows[c].copy(), arrows[c]
        while new.any():
            new = graph[new].any(axis=0) & ~reached
            reached |= new
        found.append(bool(reached[j]))
    return float(np.mean(found)) if found else math.nan
