"""A fitted model in the words of other programs: networkx, pgmpy, DoWhy, statsmodels, lavaan and semopy."""

from __future__ import annotations

import keyword
import math
from typing import TYPE_CHECKING, Any

from ordag.common.words import listed
from ordag.errors import GraphFormatError, SettingError
from ordag.fit import Fit
from ordag.graph.formats import edge_list
from ordag.graph.formats.edge_list import Attributes
from ordag.graph.formats.gml import to_networkx as as_networkx
from ordag.graph.formats.lavaan import is_lavaan_name, regressions
from ordag.model.sem import LinearSEM
from ordag.total_effects import directed

if TYPE_CHECKING:
    import networkx

EDGE_NUMBERS = ("std_error", "p_value", "direction_p_value", "probability", "edge_probability", "support")
"""The columns of `Fit.edges` that files of graphs and networkx get beside the weight."""


def edge_attributes(fit: Fit) -> Attributes:
    """Return what is known of every arrow beside its weight: numbers by name, and the reason for its direction."""
    columns = fit.edge_columns
    names = [name for name in EDGE_NUMBERS if name in columns]
    found: dict[tuple[str, str], dict[str, float | str]] = {}
    for k, edge in enumerate(zip(columns["source"], columns["target"], strict=True)):
        numbers = {name: float(columns[name][k]) for name in names}
        found[edge] = {name: value for name, value in numbers.items() if not math.isnan(value)}
        found[edge]["reason"] = str(columns["reason"][k])
    return found


def to_networkx(fit: Fit) -> networkx.DiGraph:
    """Return the graph with all that is known of arrows and variables as attributes."""
    graph = as_networkx(edge_list(fit.graph, fit.edge_weights, edge_attributes(fit)), both_ways=True)
    if fit.sem is not None:
        for name, intercept, variance in zip(fit.names, fit.sem.intercept, fit.sem.omega, strict=True):
            graph.nodes[name].update(intercept=float(intercept), error_variance=float(variance))
    return graph


def to_pgmpy(fit: Fit) -> Any:
    """Return a `LinearGaussianBayesianNetwork` with the weights, intercepts and error variances of the fit."""
    sem = directed(fit)
    try:
        from pgmpy.factors.continuous import LinearGaussianCPD
        from pgmpy.models import LinearGaussianBayesianNetwork
    except ImportError as error:
        raise SettingError(
            "to_pgmpy makes a model of pgmpy, which is not installed: python -m pip install pgmpy."
        ) from error
    model = LinearGaussianBayesianNetwork(sem.dag.directed)
    model.add_nodes_from(fit.names)
    for j, name in enumerate(fit.names):
        parents, weights = _equation(sem, j)
        beta = [float(sem.intercept[j]), *weights]
        model.add_cpds(LinearGaussianCPD(name, beta, math.sqrt(sem.omega[j]), parents))
    return model


def to_dowhy(fit: Fit) -> Any:
    """Return an `InvertibleStructuralCausalModel` of `dowhy.gcm` with the weights, intercepts and error variances of the fit."""
    sem = directed(fit)
    try:
        from dowhy import gcm
        from dowhy.gcm.causal_mechanisms import AdditiveNoiseModel
        from dowhy.graph import get_ordered_predecessors
    except ImportError as error:
        raise SettingError(
            "to_dowhy makes a model of DoWhy, which is not installed: python -m pip install dowhy."
        ) from error
    import numpy as np
    from scipy.stats import norm

    graph = to_networkx(fit)
    model = gcm.InvertibleStructuralCausalModel(graph)
    for j, name in enumerate(fit.names):
        weights = dict(zip(*_equation(sem, j), strict=True))
        parents = get_ordered_predecessors(graph, name)
        spread, intercept = math.sqrt(sem.omega[j]), float(sem.intercept[j])
        if parents:
            regression = gcm.ml.create_linear_regressor()
            inner = regression.sklearn_model
            inner.coef_, inner.intercept_ = np.array([weights[parent] for parent in parents]), intercept
            inner.n_features_in_ = len(parents)
            noise = gcm.ScipyDistribution(norm, loc=0.0, scale=spread)
            model.set_causal_mechanism(name, AdditiveNoiseModel(regression, noise))
        else:
            model.set_causal_mechanism(name, gcm.ScipyDistribution(norm, loc=intercept, scale=spread))
        graph.nodes[name]["parents_during_fit"] = parents
    return model


def formulas(fit: Fit) -> dict[str, str]:
    """Return the equation of every variable as a formula for statsmodels, such as "y ~ a + b"; "y ~ 1" without parents.

    Names that are not names of Python are quoted, Q("..."); what was done to a column (`transform`) and what was held fixed (`adjust`)
    is in the formula, so that it is for the table as it was given.
    """
    sem = directed(fit)
    known = [
        f"C({_quoted(one.name)})" if one.levels is not None else _quoted(one.name) for one in fit.moments.adjusted_for
    ]
    terms = {name: _term(name, fit.transform.get(name)) for name in fit.names}
    return {
        name: f"{terms[name]} ~ {' + '.join([terms[parent] for parent in _equation(sem, j)[0]] + known) or '1'}"
        for j, name in enumerate(fit.names)
    }


def _term(name: str, change: float | str | None) -> str:
    if change is None:
        return _quoted(name)
    if change == "log":
        return f"np.log({_quoted(name)})"
    if change == "standardise":
        return f"standardize({_quoted(name)}, ddof=1)"
    return f"I({_quoted(name)} * {change!r})"


def _quoted(name: str) -> str:
    plain = name.isidentifier() and not keyword.iskeyword(name)
    return name if plain else f"Q({name!r})"


def to_lavaan(fit: Fit) -> str:
    """Return a model for lavaan with the fitted weights and error variances as starting values."""
    sem = directed(fit)
    return regressions(edge_list(fit.graph, fit.edge_weights), dict(zip(fit.names, sem.omega.tolist(), strict=True)))


def to_semopy(fit: Fit, *, starts: bool = True) -> str:
    """Return a model for semopy with the fitted weights and error variances as starting values, which it takes by labels.

    starts=False leaves them out: `semopy.calc_stats` refuses models that have them (version 2.3).
    """
    sem = directed(fit)
    impossible = [name for name in fit.names if not is_lavaan_name(name) or not name.replace(".", "_").isidentifier()]
    if impossible:
        raise GraphFormatError(
            f"semopy takes only names made of letters, digits, . and _ that begin with a letter; rename {listed(impossible)}."
        )
    lines, given = [], []
    for j, name in enumerate(fit.names):
        parents, weights = _equation(sem, j)
        labels = [f"ordag_b{j}_{k}" for k in range(len(parents))]
        if parents:
            lines.append(
                f"{name} ~ {' + '.join(f'{one}*{parent}' for one, parent in zip(labels, parents, strict=True))}"
            )
        lines.append(f"{name} ~~ ordag_v{j}*{name}")
        given += [f"START({weight!r}) {label}" for label, weight in zip(labels, weights, strict=True)]
        given.append(f"START({float(sem.omega[j])!r}) ordag_v{j}")
    return "\n".join(lines + (given if starts else [])) + "\n"


def _equation(sem: LinearSEM, j: int) -> tuple[list[str], list[float]]:
    """Return the parents of a variable and their weights."""
    parents = list(sem.dag.parents(sem.names[j]))
    return parents, [float(sem.B[sem.dag.index(parent), j]) for parent in parents]
