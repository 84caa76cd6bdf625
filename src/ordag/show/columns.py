"""The columns of a table as a document: what each is and why, how its values are distributed, holes, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ordag.common.words import counted, harmless, joined, number, shell_word, shown
from ordag.data.holes import Holes
from ordag.data.moments import Moments
from ordag.data.profile import Profile
from ordag.data.roles import ColumnRole, Glance, counts_between, glance_at_numbers
from ordag.data.set_aside import MOST_LEVELS

MOST_DRAWN = 400
"""Columns up to which there are histograms."""

SKEWED = 2.0
"""Skewness of positive values from which a logarithm is offered."""

FEWEST_ROWS = 20
"""For a word on skewness."""

MOST_PATTERNS, MOST_HOLED = 12, 40
"""Patterns of holes, and columns with holes, in the map."""

ROLES = {
    "variable": "in the graph",
    "covariate": "held fixed",
    "cause": "category in the graph",
    "category": "category",
    "time": "time",
    "id": "names the rows",
    "dropped": "left out",
}
"""What a column can be made by hand, in words. "covariate" is the setting `adjust`, "dropped" the setting `drop`."""

FOUND = {"constant": "constant", "derived": "follows from others", "unusable": "cannot be used"}


def columns_of(columns: Sequence[ColumnRole], moments: Moments, profile: Profile | None) -> list[dict[str, Any]]:
    """Return one entry for every column of a table, in its order; of moments without roles, for every variable.

    An entry has name and shown (the name that is safe to show), role and its word, reason, counts between least and most, levels,
    missing with the rows that were looked at, remark, typed (what to type about it), and actions (see `Said`).
    """
    place = {name: j for j, name in enumerate(moments.variables)}
    roles = columns or [ColumnRole(name, "variable") for name in moments.variables]
    few = len(place) <= MOST_DRAWN
    return [
        _entry(one, place.get(one.name) if one.is_variable else None, moments, profile if few else None)
        for one in roles
    ]


def _entry(one: ColumnRole, j: int | None, moments: Moments, profile: Profile | None) -> dict[str, Any]:
    glance = one.glance if j is None else _of_variable(j, moments, profile)
    said = _said(one, j, profile)
    return {
        "name": one.name,
        "shown": shown(one.name) if one.name.strip() else "(no name)",
        "role": one.role,
        "word": ROLES.get(one.role) or FOUND.get(one.role) or one.role,
        "number": one.is_number,
        "reason": harmless(one.reason),
        "least": None if glance is None else _plain(glance.least),
        "most": None if glance is None else _plain(glance.most),
        "counts": [] if glance is None else list(glance.counts),
        "levels": [] if glance is None else [[harmless(text), rows] for text, rows in glance.levels],
        "missing": None
        if glance is None
        else 0
        if one.role == "experiment"
        else glance.missing,  # empty: nothing was acted on
        "rows": None if glance is None else glance.rows,
        "remark": harmless("; ".join(part.remark for part in said)),
        "typed": [harmless(part.typed) for part in said if part.typed],
        "actions": [{**part.action, "words": harmless(part.action["words"])} for part in said if part.action],
    }


def _of_variable(j: int, moments: Moments, profile: Profile | None) -> Glance | None:
    """Return the glance at a variable: its histogram is that of the sample of rows, its holes are counted in all rows."""
    holes = {} if moments.holes is None else dict(moments.holes.columns)
    missing = holes.get(moments.variables[j], 0)
    if profile is None or not len(profile.rows):
        return Glance(moments.rows, missing)
    found = glance_at_numbers(profile.rows[:, j])
    ends = float(profile.least[j]), float(profile.most[j])
    if not moments.covariates and all(map(math.isfinite, ends)) and ends[0] < ends[1] and found.counts:
        column = profile.rows[:, j]
        counts = counts_between(column[np.isfinite(column)], *ends)
        found = found._replace(least=ends[0], most=ends[1], counts=counts)
    return found._replace(rows=moments.rows + moments.dropped, missing=missing)


class Said(NamedTuple):
    """What there is to say of a column, what to type for it, and what a page can do about it: words with a change of role, `na` or unit."""

    remark: str
    typed: str = ""
    action: Mapping[str, str] = {}


def _said(one: ColumnRole, j: int | None, profile: Profile | None) -> list[Said]:
    """Return what there is to say of a column; `j` is its place among the variables."""
    name = shell_word(one.name)
    if j is None:
        return [_said_of_others(one, name)] if one.is_set_aside else []
    found = []
    for sentinel in one.sentinels:
        value = number(sentinel.value)
        also = f" (then also in {joined([shown(name) for name in sentinel.also], 2)})" if sentinel.also else ""
        found.append(
            Said(
                f"{value} in {counted(sentinel.rows, 'row')}: a missing value?",
                f"--na {sentinel.cell} reads it as missing{also}",
                {"words": f"read {value} as missing{also}", "na": sentinel.cell},
            )
        )
    if one.values == 2:
        found.append(Said("two values"))
    elif one.values is not None:
        action = {"words": "treat it as a category", "role": "category"}
        found.append(Said(f"{one.values} values: codes without an order?", f"--category {name}", action))
    elif profile is not None and _is_skewed(profile, j):
        action = {"words": "take its logarithm", "unit": "log"}
        found.append(Said("skewed: try its logarithm", f"--transform {shell_word(f'{one.name}=log')}", action))
    return found


def _said_of_others(one: ColumnRole, name: str) -> Said:
    if one.role == "category" and one.values is not None and one.values <= MOST_LEVELS:
        typed = f"--adjust {name} holds it fixed, --cause {name} puts it into the graph"
        return Said("set aside", typed, {"words": "hold it fixed", "role": "covariate"})
    if one.is_number and one.role in ("id", "time", "derived") and one.name.strip():
        typed = f"--role {shell_word(f'{one.name}=variable')} uses it anyway"
        return Said("set aside", typed, {"words": "use it anyway", "role": "variable"})
    return Said("set aside")


def _is_skewed(profile: Profile, j: int) -> bool:
    if not float(profile.least[j]) > 0.0:
        return False
    column = profile.rows[:, j]
    present = column[np.isfinite(column)]
    if len(present) < FEWEST_ROWS:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        centred = (present - present.mean()) / (present.std() or 1.0)
        return bool((centred**3).mean() > SKEWED)


def holes_map(holes: Holes | None) -> dict[str, Any] | None:
    """Return where values are missing: the columns with holes, most first, and which are missing together in how many rows."""
    if holes is None or not holes.incomplete:
        return None
    counts: Mapping[str, int] = {name: missing for name, missing in holes.columns if missing}
    names = sorted(counts, key=lambda name: -counts[name])[:MOST_HOLED]
    at = {name: k for k, name in enumerate(names)}
    patterns = holes.patterns[:MOST_PATTERNS]
    return {
        "names": [shown(name) for name in names],
        "missing": [counts[name] for name in names],
        "more_names": len(counts) - len(names),
        "complete": holes.complete,
        "patterns": [[[at[name] for name in absent if name in at], rows] for absent, rows in patterns],
        "more_rows": holes.incomplete - sum(rows for _, rows in patterns),
        "empty": holes.empty,
    }


def _plain(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.4g}")
