"""The choice of columns at the gate: every column gets a role, by what the user said of it, by its values and by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import counted
from ordag.data.covariates import Covariate
from ordag.data.reading import Reading
from ordag.data.relations import Relation, follows_clock, relations
from ordag.data.roles import (
    MOST_GLANCED,
    ORDERS_ROWS,
    REGULAR,
    ColumnRole,
    Glance,
    Suspect,
    glance_at_numbers,
    role_of_numbers,
    role_of_text,
)
from ordag.data.sentinels import among_columns, sentinels, without_codes
from ordag.data.sources.columns import LONG, Kind, Look, check_columns, refuse_duplicates, refuse_kinds, select
from ordag.errors import ColumnError, CovarianceError

FEWEST_CORRELATED = 3
"""Columns from which on a symmetric table with 1 on its diagonal is a matrix of correlations."""


@dataclass(frozen=True)
class Chosen:
    """The positions of the variables and of the covariates, the covariates, the roles of all columns, and what later rows have to show."""

    names: tuple[str, ...]
    positions: tuple[int, ...]
    covariates: tuple[Covariate, ...]
    covariate_positions: tuple[int, ...]
    columns: tuple[ColumnRole, ...]
    suspects: tuple[Suspect, ...]

    @property
    def known(self) -> dict[str, Any]:
        """What a `Source` keeps of this beside the names."""
        return {"covariates": self.covariates, "columns": self.columns, "suspects": self.suspects}

    @property
    def read(self) -> tuple[int, ...]:
        """The positions of the columns of a block: variables, then covariates."""
        return (*self.positions, *self.covariate_positions)

    @property
    def read_names(self) -> tuple[str, ...]:
        """The names of these."""
        return (*self.names, *(one.name for one in self.covariates))


def choose(look: Look, reading: Reading, describe: str, known: Sequence[Covariate] | None = None) -> Chosen:
    """Choose the variables and the covariates of a table. `known` are the covariates of an earlier part of it, whose levels go on."""
    look = _recoded(look, reading)
    names, kinds = look.names, look.kinds
    check_columns(names, reading, describe)
    beside = [*reading.adjust, *reading.cause, *reading.row_columns.values()]
    out = {*reading.drop, *beside}
    left = [j for j, name in enumerate(names) if name not in out]
    declared = {name for name, role in reading.role.items() if role == "variable"}
    if reading.columns is not None or reading.strict:
        short_kinds = [None if kinds[j] is LONG else kinds[j] for j in left]  # those too long are named with their rows
        chosen = select([names[j] for j in left], short_kinds, reading.columns, describe)
        positions = [left[k] for k in chosen]
        roles = [ColumnRole(name, "variable" if j in positions else "dropped") for j, name in enumerate(names)]
        suspects: list[Suspect] = []
    else:
        refuse_duplicates(names, left, describe)
        refuse_kinds(names, kinds, [j for j in left if _is_refused(names[j], kinds[j], reading)], describe)
        _refuse_correlations(look, [j for j in left if kinds[j] is None and names[j].strip()], describe)
        found = [_role(look, j, reading) for j in range(len(names))]
        roles, suspects = _without_useless(look, found, left, declared, reading)
        positions = [j for j in left if roles[j].is_variable]
        roles = _with_sentinels(look, roles, positions, declared)
    for name in reading.adjust:
        refuse_duplicates(names, [names.index(name)], describe)
        roles[names.index(name)] = ColumnRole(name, "covariate", is_number=kinds[names.index(name)] is None)
    for name in reading.cause:
        refuse_duplicates(names, [names.index(name)], describe)
        roles[names.index(name)] = ColumnRole(name, "cause", is_number=kinds[names.index(name)] is None)
    for use, name in reading.row_columns.items():
        refuse_duplicates(names, [names.index(name)], describe)
        roles[names.index(name)] = ColumnRole(name, use, ORDERS_ROWS if use == "time" else "")
    for name in reading.drop:
        roles[names.index(name)] = ColumnRole(name, "dropped", is_number=kinds[names.index(name)] is None)
    roles = _glanced(look, roles)
    covariates = known
    if covariates is None:
        covariates = [_covariate(look, names.index(name), reading) for name in reading.adjust]
        covariates += [Covariate(name, [], "cause") for name in reading.cause]
        covariates += [
            _row_column(look, names.index(name), use, reading, describe) for use, name in reading.row_columns.items()
        ]
    return Chosen(
        tuple(names[j] for j in positions),
        tuple(positions),
        tuple(covariates),
        tuple(names.index(name) for name in beside),
        tuple(roles),
        tuple(suspects),
    )


def same_columns(reading: Reading, names: tuple[str, ...]) -> Reading:
    """Return the settings that read the same variables and covariates of another part of a table."""
    category = [one for one in reading.category if one in reading.adjust]
    rows: dict[str, Any] = {**reading.row_columns, "experiment_kind": reading.experiment_kind}
    return Reading(columns=names, adjust=reading.adjust, cause=reading.cause, category=category, **rows)


def _is_refused(name: str, kind: Kind | None, reading: Reading) -> bool:
    """Return whether a column can be neither used nor set aside unasked: bad cells, or text requested as a variable."""
    said = "category" if name in reading.category else reading.role.get(name)
    return kind is not None and (said == "variable" or (kind.role == "refused" and said is None))


def _refuse_correlations(look: Look, numbers: Sequence[int], describe: str) -> None:
    """Refuse a matrix of correlations, which is no table of rows; `numbers` are the positions of columns of numbers with a name."""
    p = len(numbers)
    if look.numbers is None or not look.whole or p < FEWEST_CORRELATED or len(look.numbers(numbers[0])) != p:
        return
    S = np.column_stack([look.numbers(j) for j in numbers])
    if (S == S.T).all() and (np.diagonal(S) == 1.0).all() and (np.abs(S) <= 1.0).all():
        raise CovarianceError(
            f"{describe} is a matrix of correlations, not a table of rows: say how many rows it comes from. In Python "
            "Moments.from_covariance(matrix, n) takes it; as text, a file with the number of rows, the names and the lower triangle."
        )


def _covariate(look: Look, j: int, reading: Reading) -> Covariate:
    name = look.names[j]
    return Covariate(name, None if look.kinds[j] is None and name not in reading.category else [])


def _row_column(look: Look, j: int, use: str, reading: Reading, describe: str) -> Covariate:
    """Return a column that says what rows are: times and weights as numbers if they hold some, else categories."""
    name = look.names[j]
    if use == "weights" and look.kinds[j] is not None:
        raise ColumnError(f"{describe}: the weights in column {name!r} are not numbers.", ["weights"])
    if use in ("weights", "time") and look.kinds[j] is None:
        return Covariate(name, None, use)
    if use in ("experiment", "environment"):
        return Covariate(name, [""], reading.experiment_kind if use == "experiment" else use)
    return Covariate(name, [], use)


def _role(look: Look, j: int, reading: Reading) -> ColumnRole:
    """Return the declared role of a column, else the one that its values suggest."""
    name, kind = look.names[j], look.kinds[j]
    said = "category" if name in reading.category else reading.role.get(name)
    found = replace(_looked(look, j), is_number=kind is None)
    if said is None:
        return found
    if said == "category":
        values = found.values if kind is not None or look.numbers is None else len(_distinct(look.numbers(j)))
        return ColumnRole(name, said, "" if values is None else counted(values, "value"), values, kind is None)
    reason, values = found.reason if said == found.role else "", found.values if said == "variable" else None
    return ColumnRole(name, said, reason, values, kind is None)


def _looked(look: Look, j: int) -> ColumnRole:
    name, kind = look.names[j], look.kinds[j]
    if kind is not None and kind.role in ("id", "time", "unusable"):
        return ColumnRole(name, kind.role, kind.holds)
    if kind is None:
        numbers = np.empty(0) if look.numbers is None else look.numbers(j)
        role = role_of_numbers(name, numbers, named=look.named)
    elif look.levels is None:
        role = ColumnRole(name, "category", kind.holds)
    else:
        role = role_of_text(name, look.levels(j), kind.holds, whole=look.whole)
    if not name.strip() and role.role != "constant" and (j or not all(one.strip() for one in look.names[1:])):
        return ColumnRole(name, "unusable", "it has no name")
    return role


def _distinct(values: Array) -> Array:
    return np.unique(values[~np.isnan(values)])


def _without_useless(
    look: Look, found: list[ColumnRole], left: Sequence[int], declared: set[str], reading: Reading
) -> tuple[list[ColumnRole], list[Suspect]]:
    """Set aside constants and columns that others make up; where later rows have to show it, or in one part of a table, suspect them."""
    roles, suspects = list(found), []
    sure = look.whole and not reading.part
    constant = [j for j in left if found[j].role == "constant" and look.kinds[j] is None]
    for j in () if sure else constant:
        roles[j] = ColumnRole(found[j].name, "variable")
        suspects.append(Suspect(found[j]))
    variables = _without_clocks(look, roles, [j for j in left if found[j].is_variable], declared)
    for one in _relations(look, variables, declared):
        j = variables[one.column]
        role = ColumnRole(look.names[j], "derived", one.words)
        if sure:
            roles[j] = role
        else:
            suspects.append(Suspect(role, {look.names[variables[k]]: c for k, c in one.terms.items()}))
    return roles, [] if reading.part else suspects


def _without_clocks(look: Look, roles: list[ColumnRole], variables: list[int], declared: set[str]) -> list[int]:
    """Set aside variables that count the time as a column does that is set aside, such as year − 1931; return the others."""
    if look.numbers is None or not look.whole:
        return variables
    read = look.numbers
    for j, one in enumerate(roles):
        if one.role != "time" or one.reason != REGULAR or look.kinds[j] is not None:
            continue
        some = [k for k in variables if look.names[k] not in declared]
        names = [look.names[k] for k in some]
        clock = look.names[j], read(j)
        for k, words in follows_clock(names, lambda i, some=some: read(some[i]), clock).items():  # type: ignore[misc]
            roles[some[k]] = ColumnRole(look.names[some[k]], "derived", words)
    return [j for j in variables if roles[j].is_variable]


def _recoded(look: Look, reading: Reading) -> Look:
    """Return the look with declared codes as missing values."""
    read, absent = look.numbers, reading.absent
    if read is None or not absent:
        return look
    return replace(look, numbers=lambda j: without_codes(read(j), absent))


def _glanced(look: Look, roles: Sequence[ColumnRole]) -> list[ColumnRole]:
    """Return the roles with glances at the first columns that are no variables, where rows are at hand."""
    found, left = list(roles), MOST_GLANCED
    for j, one in enumerate(roles):
        is_number = look.kinds[j] is None
        if one.is_variable or not left or (look.numbers if is_number else look.levels) is None:
            continue
        left -= 1
        if is_number:
            assert look.numbers is not None
            found[j] = replace(one, glance=glance_at_numbers(look.numbers(j)))
        elif look.levels is not None and one.role != "unusable":
            levels = look.levels(j)
            found[j] = replace(
                one, glance=Glance(levels.rows, levels.rows - levels.present, levels=tuple(levels.common))
            )
    return found


def _with_sentinels(
    look: Look, roles: Sequence[ColumnRole], positions: Sequence[int], declared: set[str]
) -> list[ColumnRole]:
    """Return the roles with possible codes for missing values, for variables not requested by name."""
    if look.numbers is None:
        return list(roles)
    read, place = look.numbers, {look.names[j]: j for j in positions}
    found = {name: some for name, j in place.items() if name not in declared and (some := sentinels(read(j)))}
    told = among_columns(found, place, lambda name: read(place[name]))
    return [replace(one, sentinels=told[one.name]) if one.name in told else one for one in roles]


def _relations(look: Look, variables: Sequence[int], declared: set[str]) -> list[Relation]:
    if look.numbers is None or not variables:
        return []
    names = [look.names[j] for j in variables]
    read = look.numbers
    return relations(names, lambda k: read(variables[k]), [name in declared for name in names])
