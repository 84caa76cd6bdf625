r"""Test whether experiments leave the equations of variables unchanged that they do not act on.

The equation of j, with the weights b of all rows that count, is held against each of these conditions: the weights b_c fitted there
explain the share $1 - \mathrm{RSS}(b_c) / \mathrm{RSS}(b)$ of what b leaves, tested by F. An experiment with side effects, or one that did
something other than was said, shows there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from ordag.assess.finding import Caution, Finding
from ordag.common.words import share, shown
from ordag.data.equations import Equations, of_conditions
from ordag.graph.dag import Dag
from ordag.learners.found import Found

LEVEL = 0.001
"""Level of the tests, with Bonferroni's correction over equations and conditions."""

STRONG = 0.05
"""Share of the residual variance that the weights of one condition have to explain to matter."""

ACTIONS = "The experiments have side effects, or their targets are not as declared."
DIRECTIONS = "Arrows point the wrong way, or the experiments have side effects."


class Differs(NamedTuple):
    """An equation whose weights are others under one condition: variable, label, the share that these explain, the p-value."""

    variable: int
    label: str
    explained: float
    p_value: float


def differing_equations(found: Found) -> list[Differs]:
    """Return the equations that differ under a condition that does not act on them, those that differ most first."""
    equations, moments = found.equations, found.moments
    if equations is None or equations.reason != "experiment" or not isinstance(found.graph, Dag):
        return []
    tested = [
        one
        for c, condition in enumerate(moments.conditions)
        if condition.root.n > 2
        for one in _under(found, equations, c)
    ]
    level = LEVEL / max(len(tested), 1)
    return sorted((one for one in tested if one.p_value < level), key=lambda one: -one.explained)


def _under(found: Found, equations: Equations, c: int) -> list[Differs]:
    moments, B, tested = of_conditions(found.moments, [c]), found.weights, []
    assert B is not None
    for j in range(len(found.names)):
        parents = np.flatnonzero(found.graph.adjacency[:, j])
        k = len(parents)
        df = moments.n - 1 - k
        if not k or df < 1 or j in equations.targets[c]:
            continue
        left = moments.R[:, j] - moments.R[:, parents] @ B[parents, j]
        own = left - moments.R[:, parents] @ np.linalg.lstsq(moments.R[:, parents], left, rcond=None)[0]
        whole, rest = float(left @ left), float(own @ own)
        if rest <= 1e-12 * float(moments.R[:, j] @ moments.R[:, j]):
            continue
        F = (whole - rest) / k / (rest / df)
        tested.append(Differs(j, equations.labels[c], 1.0 - rest / whole, float(fdtrc(k, df, F))))
    return tested


def conditions_caution(found: Found) -> Caution | None:
    """Return a caution about experiments that change equations which they should leave alone."""
    strong = [one for one in differing_equations(found) if one.explained > STRONG]
    if not strong:
        return None
    worst = strong[0]
    where = f"where {shown(worst.label)} was acted on" if worst.label else "where nothing was acted on"
    more = f" ({len(strong)} such cases)" if len(strong) > 1 else ""
    blame, advice = (
        ACTIONS,
        "Give the column as environment (--environment) instead: the equations that change are then found from the rows.",
    )
    if found.method_settings.rests_on_condition:
        blame, advice = DIRECTIONS, "Let the experiments direct arrows too: method='pooled' (--method pooled)."
    return Caution(
        "conditions",
        f"The equation of {shown(found.names[worst.variable])} changes {where}: other weights explain {share(worst.explained)} of the "
        f"residual variance there{more}. {blame}",
        advice,
        "experiments change other equations",
    )


def conditions_finding(found: Found) -> Finding:
    """Test whether experiments leave the equations of variables unchanged that they do not act on."""
    caution, differ = conditions_caution(found), differing_equations(found)
    numbers = {"differ": len(differ), "explained": max((one.explained for one in differ), default=0.0)}
    if caution is not None:
        return Finding("conditions", "warning", f"{caution.sentence} {caution.advice}", numbers)
    return Finding("conditions", "fine", "Experiments leave the equations alone that they do not act on.", numbers)
