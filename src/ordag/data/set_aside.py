"""What is said of the columns that are no variables, and of variables with few values: why, and which settings use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ordag.common.words import joined, shown
from ordag.data.roles import ID_NAMES, PART_OF_DATE, REPEATED_CODES, ROW_NAMES_REASON, ColumnRole

MOST_LEVELS = 500
"""Values of a category up to which an answer offers to hold it fixed."""

MOST_NAMED = 12
"""Columns that the sentence on what was set aside names."""


def set_aside_sentence(columns: Iterable[ColumnRole], *, hints: bool = True) -> str:
    """Say which columns were set aside and why, and with `hints` what uses them; "" if none was."""
    columns = list(columns)
    aside = [one for one in columns if one.is_set_aside]
    subject, acted = RowColumns.among(aside).subject, _experiment(columns)
    able = [
        one.name
        for one in aside
        if one.role == "category"
        and one.values is not None
        and one.values <= MOST_LEVELS
        and one.name not in (subject, acted)
    ]
    it, them = ("it", "it") if len(able) == 1 else ("one", "them")
    hint = f"adjust={able!r} holds {them} fixed, cause={able[:1]!r} puts {it} into the graph" if hints and able else ""
    parts = []
    for one in aside[:MOST_NAMED]:
        reason = f"{one.reason}; {hint}" if hint and able == [one.name] else one.reason
        is_row_names = one.reason == ROW_NAMES_REASON
        parts.append(ROW_NAMES_REASON if is_row_names else f"{shown(one.name)}{f' ({reason})' if reason else ''}")
    if len(aside) > MOST_NAMED:
        parts.append(f"{len(aside) - MOST_NAMED} more columns")
    more = f". {hint}" if len(able) > 1 and hint else ""
    cluster = next((one.name for one in columns if one.role == "cluster"), None)
    more += _row_hints(aside, cluster) if hints else ""
    if hints and acted is not None:
        more += f". experiment={acted!r} takes its labels for the variables that were acted on"
    return f"Set aside: {'; '.join(parts)}{more}" if aside else ""


def _experiment(columns: Sequence[ColumnRole]) -> str | None:
    """Return the column set aside whose labels are names of variables, as where experiments acted on them; None without one."""
    names = {one.name for one in columns if one.is_variable}
    for one in columns:
        levels = one.glance.levels if one.is_set_aside and one.glance is not None else ()
        labels = {part.strip() for text, _ in levels for part in text.split(";")} - {"", "observational"}
        if labels and labels <= names:
            return one.name
    return None


MANY_SUBJECTS = 30
"""Values of a category from which on they are more likely subjects than kinds."""


class RowColumns(NamedTuple):
    """Columns set aside that may say what rows are: whose they are, and when they were measured; whether times repeat."""

    subject: str | None = None
    time: str | None = None
    repeats: bool = False

    @classmethod
    def among(cls, columns: Iterable[ColumnRole]) -> RowColumns:
        """Find them: codes that repeat name subjects, and so does the category with most values, if these are many, if its name says so,
        or if times repeat."""
        aside = [one for one in columns if one.is_set_aside]
        time = next((one for one in aside if one.role == "time" and one.reason != PART_OF_DATE), None)
        repeats = time is not None and time.values is not None
        subject = next((one.name for one in aside if one.role == "id" and one.reason == REPEATED_CODES), None)
        if subject is None:
            labels = [
                one
                for one in aside
                if one.role == "category"
                and one.values is not None
                and (_is_panel(one, time) or one.values >= MANY_SUBJECTS or ID_NAMES.fullmatch(one.name.strip()))
            ]
            most = max(labels, key=lambda one: one.values or 0) if labels else None
            subject = None if most is None else most.name
            if most is not None and repeats and not _is_panel(most, time):
                time = None  # a time would occur twice in one of these groups
        return cls(subject, None if time is None else time.name, repeats)


def _is_panel(subject: ColumnRole, time: ColumnRole | None) -> bool:
    """Return whether the times that repeat may each occur once in every category: there are no more rows than pairs of both."""
    if time is None or time.values is None or subject.values is None:
        return False
    return subject.glance is None or subject.glance.rows <= subject.values * time.values


def _row_hints(aside: Sequence[ColumnRole], cluster: str | None) -> str:
    """Offer what uses a column that names subjects or times, and a column of numbers of which nothing else is said.

    cluster: the column that was given for subjects.
    """
    subject, time, repeats = RowColumns.among(aside)
    others = [
        one.name
        for one in aside
        if one.is_number
        and one.name.strip()
        and one.name not in (subject, time)
        and (one.role in ("id", "time") or (one.role == "category" and one.values is None))
        and one.reason != ROW_NAMES_REASON
    ]
    said = []
    if subject is not None:
        said.append(f"cluster={subject!r} learns within its values")
    if time is not None and subject is not None and repeats:
        said.append(f"with time={time!r} and lags=1 beside it, what follows what in each")
    elif time is not None:
        apart = (
            f" in each {shown(cluster)}" if cluster else ", if cluster=… names the column that tells the series apart"
        )
        apart = apart if repeats else ""
        said.append(f"time={time!r} with lags=1 learns what follows what{apart}")
    if others:
        said.append(f"role={ {others[0]: 'variable'}!r} uses {shown(others[0])} all the same")
    return f". {'; '.join(said)}" if said else ""


def few_values_sentence(columns: Iterable[ColumnRole], category: str = "category=[…] (--category)") -> str:
    """Name the variables with two or few values, and say what their arrows mean; "" if there are none."""
    columns = [one for one in columns if one.is_variable and one.values is not None]
    two = [shown(one.name) for one in columns if one.values == 2]
    few = [shown(one.name) for one in columns if one.values != 2]
    sentences = []
    if two:
        one = len(two) == 1
        sentences.append(
            f"{joined(two, 6)} {'has' if one else 'have'} two values: an arrow into {'it' if one else 'such a column'} changes how "
            "often its second value occurs"
        )
    if few:
        sentences.append(
            f"{joined(few, 6)} {'has' if len(few) == 1 else 'have'} few values: declare codes without an order with {category}"
        )
    return "; ".join(sentences)
