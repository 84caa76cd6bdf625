"""The cells of the tables of a fit, and the legends of their columns, that terminal, page and notebook share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.common.words import mean_digits, number, percent, probability, shown
from ordag.data.series import lagged_name
from ordag.learners.pooled.posterior import SETTLED

if TYPE_CHECKING:
    from ordag.assess.causes import CauseArrow
    from ordag.decisions.environment_changes import EnvironmentChanges
    from ordag.fit import Fit

ROBUST = (
    "robust: the share of the residual variance of both variables that a hidden common cause would have to explain "
    "to reduce the weight to zero"
)

DIRECTIONS = {
    "class": "all graphs with the same independences agree on it",
    "variance": "error variances of similar size",
    "knowledge": "you gave it",
    "time": "causes come first",
    "experiment": "experiments on one of the two",
    "environment": "differences between environments",
    "open": "nothing in these data",
    "hidden?": "a hidden common cause could explain the arrow",
}
"""What decides a direction, by the word in the table of arrows."""


def margin(value: float) -> str:
    """Write by how much the runner-up is larger: in percent, and from twice as large as a multiple."""
    if value != value:
        return ""
    return f"{100 * value:.1f} %" if value < 1 else f"{value + 1:.3g} ×"


def arrows(fit: Fit) -> list[tuple[str, str]]:
    """Return every variable in order, with its children and its undirected neighbours as text."""
    order = {node: place for place, node in enumerate(fit.order or fit.names)}
    lines = []
    for name in () if fit.causes is None else fit.causes.names:
        effects = sorted((one.target for one in fit.cause_arrows if one.source == name), key=order.__getitem__)
        lines.append((shown(name), f"→ {', '.join(map(shown, effects))}" if effects else ""))
    earlier = set() if fit.series is None else set(fit.series.columns[fit.series.p :])
    for name in order:
        children = sorted(fit.graph.children(name), key=order.__getitem__)
        line = f"→ {', '.join(map(shown, children))}" if children else ""
        neighbours = [b if a == name else a for a, b in fit.graph.undirected if name in (a, b)]
        if neighbours:
            line += f"{'   ' if line else ''}— {', '.join(map(shown, neighbours))}"
        if line or name not in earlier:
            lines.append((shown(name), line))
    return lines


def present(fit: Fit) -> list[str]:
    """Return the order, causes first, without earlier values, which come before all others."""
    return [name for name in fit.order or () if fit.series is None or name in fit.series.names]


def sources(fit: Fit, most: int) -> list[str]:
    """Return the sources of the first `most` arrows, with how many steps earlier they are."""
    columns = fit.edge_columns
    lags = columns.get("lag", [0] * len(columns["source"]))
    return [lagged_name(name, lag) for name, lag in zip(columns["source"][:most], lags[:most], strict=True)]


def edge_cells(fit: Fit, most: int) -> dict[str, list[str]]:
    """Return the columns of the table of arrows by title, as text, for its first `most` rows."""
    columns = fit.edge_columns
    known: dict[str, tuple[str, Callable[[Any], str]]] = {
        "weight": ("weight", number),
        "std_error": ("s.e.", lambda value: number(value, 2)),
        "edge_probability": ("edge", percent),
        "probability": ("arrow", percent),
        "p_value": ("p edge", probability),
        "direction_p_value": ("p direction", probability),
        "robustness": ("robust", percent),
        "reason": ("direction", str),
        "support": ("support", percent),
    }
    cells = {
        title: ["" if value != value else write(value) for value in columns[key][:most]]
        for key, (title, write) in known.items()
        if key in columns and not (key == "p_value" and "probability" in columns)
    }
    for k, hidden in enumerate(columns.get("hidden_cause", ())[:most]):
        if hidden:
            cells["direction"][k] = "hidden?"
    for k, error in enumerate(columns.get("probability_error", ())[:most]):
        if error > SETTLED:
            cells["arrow"][k] = cells["edge"][k] = "not settled"
    return cells


def group_cells(fit: Fit, most: int) -> dict[str, list[str]]:
    """Return the columns of the table of arrows from categories, as text: F test and group means."""
    every = fit.cause_arrows[:most]
    return {
        "category": [shown(one.source) for one in every],
        "": ["→"] * len(every),
        "variable": [shown(one.target) for one in every],
        "F test": [f"F({one.test.columns}, {one.test.rows}) = {number(one.test.statistic, 3)}" for one in every],
        "p": [probability(one.test.p_value) for one in every],
        "mean of each group": [_means(one) for one in every],
    }


def _means(one: CauseArrow, most: int = 6) -> str:
    digits = mean_digits(one.means)
    groups = [f"{shown(level)} {number(mean, digits)}" for level, mean in zip(one.levels, one.means, strict=True)]
    more = f", and {len(groups) - most} more" if len(groups) > most else ""
    return f"{', '.join(groups[:most])}{more}"


def legend(fit: Fit, left_out: Collection[str] = ()) -> list[str]:
    """Explain the columns of the table of arrows but those left out, one sentence each."""
    columns = fit.edge_columns
    if not columns["source"]:
        return []
    sentences = []
    if "probability" in columns:
        meanings = {
            "edge": "the probability that the two are joined",
            "arrow": "that they are joined in this direction",
        }
        sentences.append("; ".join(f"{title}: {words}" for title, words in meanings.items() if title not in left_out))
    if "weight" in columns:
        tests, said = fit.result.p_value_of, []
        if tests:
            said.append(f"weight{'' if 's.e.' in left_out else ' and s.e.'}: given the target's other parents")
            said += [] if "p edge" in left_out else [f"p edge: {tests}"]
        sentences += ["; ".join(said), "" if "robust" in left_out else ROBUST]
    hidden = columns.get("hidden_cause", [False] * len(columns["reason"]))
    words = {"hidden?" if one else reason for reason, one in zip(columns["reason"], hidden, strict=True)}
    decides = [f"{word}: {meaning}" for word, meaning in DIRECTIONS.items() if word in words]
    if decides and "direction" not in left_out:
        sentences.append(f"direction: what decides it ({'; '.join(decides)})")
    return [sentence for sentence in sentences if sentence]


def lines_without_direction(fit: Fit) -> list[tuple[tuple[str, str], str]]:
    """Return the undirected edges with their p-values, empty where the method has no tests."""
    lines = fit.graph.undirected
    ends = np.array([[fit.names.index(name) for name in line] for line in lines], dtype=np.intp).reshape(-1, 2)
    p_values = fit.result.evidence(fit, *ends.T).get("p_value")
    written = [""] * len(lines) if p_values is None else map(probability, p_values.tolist())
    return list(zip(lines, written, strict=True))


def tied_with(fit: Fit, most: int = 3) -> list[str]:
    """Return for every step the variables tied with the chosen one, with a ! where the graph has an edge among them."""
    columns = fit.step_columns
    if "tied" not in columns:
        return []
    cells = []
    unlisted = columns.get("tied_more", [0] * len(columns["node"]))
    for node, group, hidden, matters in zip(
        columns["node"], columns["tied"], unlisted, columns["tie_matters"], strict=True
    ):
        others = [name for name in group if name != node]
        rest = len(others) - most + hidden
        more = f" and {rest} more" if rest > 0 else ""
        cells.append(f"{', '.join(map(shown, others[:most]))}{more}{' !' if matters and others else ''}")
    return cells


def differences(changes: EnvironmentChanges) -> list[tuple[str, str, str, str]]:
    """Return the rows of the table of equations that differ: variable, environment, what differs and by how much, the least p-value."""
    rows = []
    for one in changes.found:
        shift = number(one["level_shift"], 3)
        said = {
            "weights": "weights",
            "level": f"level {'' if shift.startswith('-') else '+'}{shift}",
            "variance": f"error variance × {number(one['variance_ratio'], 2)}",
        }
        least = min(one[f"corrected_{part}"] for part in one["changed"])
        where = shown(one["environment"]) if one["environment"] else "(empty)"
        rows.append(
            (shown(one["variable"]), where, ", ".join(said[part] for part in one["changed"]), probability(least))
        )
    return rows
