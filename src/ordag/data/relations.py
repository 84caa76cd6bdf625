"""Exact linear relations between columns: one that others make up is set aside, and so is a copy or a sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import number, shown
from ordag.data.roles import COUNTED_ROWS, JUDGED_ROWS, ColumnRole, Suspect

ROUNDING = 16 * float(np.finfo(float).eps)
"""Share of the terms of a linear relation that may be left of it where it is exact."""

MOST_TERMS = 8
"""Columns that may make up another: relations of more are those of simulated and ill-conditioned tables."""

WIDEST_RELATION = 400
"""Columns up to which linear relations are searched."""


class Relation(NamedTuple):
    """An exact linear relation: a column that others make up, by their positions, with coefficients, the constant, and words for it."""

    column: int
    terms: dict[int, float]
    constant: float
    words: str

    def holds(self, column: Callable[[int], Array]) -> bool:
        """Return whether the relation holds in all rows up to rounding, ignoring rows with missing values."""
        parts = [c * column(j) for j, c in self.terms.items()]
        value = column(self.column)
        with np.errstate(invalid="ignore"):
            left = np.abs(value - sum(parts) - self.constant)
            size = np.abs(value) + sum(np.abs(part) for part in parts) + abs(self.constant)
            return not bool((left > len(parts) * ROUNDING * size).any())


def relations(names: Sequence[str], column: Callable[[int], Array], fixed: Sequence[bool]) -> list[Relation]:
    """Return the columns that up to `MOST_TERMS` others make up exactly; `fixed` ones are kept where another can go.

    `column` returns the rows of the column at a position.

    A relation is found in a few hundred rows, and holds in all of them. Any column is a combination of nearly as many as there are rows, so
    in fewer rows only copies are found.
    """
    p = len(names)
    if not 2 <= p <= WIDEST_RELATION:
        return []
    step = max(1, len(column(0)) // max(500, 3 * p))
    rows = np.column_stack([column(j)[::step] for j in range(p)])
    rows = rows[np.isfinite(rows).all(axis=1), :]
    if len(rows) < JUDGED_ROWS:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        mean = rows.mean(axis=0)
        centred = rows - mean
        length = np.sqrt((centred**2).sum(axis=0))
    left = [j for j in range(p) if np.isfinite(length[j]) and length[j] > 0.0]
    first = _first_made_up if len(rows) >= p + 2 else _first_copy
    found: list[Relation] = []
    while len(left) > 1:
        b = first(centred[:, left] / length[left])
        if b is None:
            break
        k = len(b)
        terms = {left[i]: float(b[i] / length[left[i]] * length[left[k]]) for i in range(k) if abs(b[i]) > 1e-7}
        out = left[k]
        if terms:
            one = _made_up(names, {**terms, left[k]: -1.0}, mean, fixed)
            is_sum = all(c == 1.0 for c in one.terms.values())
            if (len(terms) <= MOST_TERMS or is_sum) and one.holds(column):
                found.append(one)
                out = one.column
        left.remove(out)  # also one of which hardly anything is left, so that the search goes on behind it
    return found


def _first_made_up(rows: Array) -> Array | None:
    """Return the weights of the columns before the first that they make up; None if there is none. The columns have length 1."""
    R = np.asarray(np.linalg.qr(rows, mode="r"))
    small = np.flatnonzero(np.abs(np.diagonal(R)) < 1e-9)
    if not len(small):
        return None
    k = int(small[0])
    return np.asarray(np.linalg.lstsq(R[:k, :k], R[:k, k], rcond=None)[0])


def _first_copy(rows: Array) -> Array | None:
    """Return the same for the first column that is another, up to its sign."""
    R = rows.T @ rows
    pairs = np.argwhere(np.triu(np.abs(R) > 1.0 - 1e-12, 1).T)
    if not len(pairs):
        return None
    k, i = pairs[0].tolist()
    return np.asarray(np.where(np.arange(k) == i, R[k, i], 0.0))


def follows_clock(names: Sequence[str], column: Callable[[int], Array], clock: tuple[str, Array]) -> dict[int, str]:
    """Return the columns that are an exact linear function of a time, which counts regularly, with words for each."""
    name, time = clock
    found: dict[int, str] = {}
    if len(time) < COUNTED_ROWS or not np.isfinite(time).all() or time[0] == time[-1]:
        return found
    for j in range(len(names)):
        values = column(j)
        slope = (values[-1] - values[0]) / (time[-1] - time[0])
        if not slope or not np.isfinite(slope):
            continue
        slope = _rounded(float(slope))
        constant = _rounded(float(values[0] - slope * time[0]))
        if Relation(1, {0: slope}, constant, "").holds(lambda k, values=values: (time, values)[k]):  # type: ignore[misc]
            found[j] = _relation([name], {0: slope}, constant)
    return found


def _made_up(names: Sequence[str], weights: dict[int, float], mean: Array, fixed: Sequence[bool]) -> Relation:
    """Choose the column of a relation Σ w x = 0 that the others make up: their sum, else the last."""
    choices = []
    for k, one in enumerate(weights):
        terms = {j: _rounded(-w / weights[one]) for j, w in weights.items() if j != one}
        is_sum = len(terms) > 1 and all(c == 1.0 for c in terms.values())
        choices.append((not fixed[one], is_sum, k, one, terms))
    *_, out, terms = max(choices, key=lambda choice: choice[:3])
    constant = float(mean[out] - sum(c * mean[j] for j, c in terms.items()))
    size = max(abs(float(mean[out])), max(abs(c * float(mean[j])) for j, c in terms.items()))
    constant = 0.0 if abs(constant) <= 1e-12 * size else _rounded(constant)
    return Relation(out, terms, constant, _relation(names, terms, constant))


def _rounded(value: float) -> float:
    """Return the short number that this one is up to rounding, if there is one."""
    near = float(f"{value:.9g}")
    return near if abs(near - value) <= 1e-11 * abs(value) else value


def _relation(names: Sequence[str], terms: dict[int, float], constant: float) -> str:
    if len(terms) > 4:
        some = ", ".join(shown(names[j]) for j in list(terms)[:3])
        what = "the sum" if all(c == 1.0 for c in terms.values()) and not constant else "a linear combination"
        return f"{what} of {some} and {len(terms) - 3} more"
    if list(terms.values()) == [1.0] and not constant:
        return f"a copy of {shown(names[next(iter(terms))])}"
    parts = [
        *((c, _term(abs(c), names[j])) for j, c in terms.items()),
        *([(constant, number(abs(constant)))] if constant else []),
    ]
    parts.sort(key=lambda part: part[0] < 0.0)  # "1 − a", not "−a + 1"
    text = "".join(f" {'+' if c > 0 else '−'} {words}" for c, words in parts)
    return f"= {text[3:] if parts[0][0] > 0 else text[1:].replace(' ', '', 1)}"


def _term(c: float, name: str) -> str:
    return shown(name) if c == 1.0 else f"{number(c)} × {shown(name)}"


def confirmed(suspects: Iterable[Suspect], names: Sequence[str], whole: Array, R: Array) -> list[ColumnRole]:
    """Return the suspected columns that all rows show to be constant, or made up by others.

    R is the root of the centred scatter of the columns called `names`; `whole` are the lengths of these, with their means.
    """
    place = {name: j for j, name in enumerate(names)}
    found = []
    for one in suspects:
        j = place[one.role.name]
        terms = {place[name]: c for name, c in one.terms.items()}
        left = R[:, j] - sum(c * R[:, k] for k, c in terms.items())
        size = whole[j] + sum(abs(c) * whole[k] for k, c in terms.items())
        if np.linalg.norm(left) <= max(len(terms), 1) * ROUNDING * size:
            found.append(one.role)
    return found
