"""Which columns are used: by name, in the order asked for, and only if they hold numbers."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ordag.checks import as_list, check_text, short
from ordag.data.remedies import without
from ordag.errors import ColumnError, PrecisionError, Remedy, SettingError
from ordag.words import cut, did_you_mean, quoted

LARGEST_EXACT = 2**53  # from here on float64 skips integers


@dataclass(frozen=True)
class Kind:
    """What a column holds instead of numbers, and what can be done about it; `way` is a way to read it all the same."""

    holds: str
    remedy: str = ""
    way: Remedy | None = field(default=None, compare=False)


TEXT = Kind("text")
DATES = Kind("dates")
TIMES = Kind("times")
NESTED = Kind("lists or records")
BYTES = Kind("bytes")
COMPLEX = Kind("complex numbers", "Take the real part, the size or the angle first.")
BOOLEANS = Kind("true/false values", "Convert true/false to 1/0 first if they are meant as numbers.")


def select(
    names: Sequence[str], kinds: Sequence[Kind | None], wanted: Sequence[str] | None, describe: str
) -> tuple[int, ...]:
    """The positions of the wanted columns (all if None); `kinds` has None for a column of numbers."""
    if not names:
        raise ColumnError(f"{describe} has no columns: expected one for each variable.")
    check_text(names, describe)
    if wanted is None:
        _refuse_unnamed(names, describe)
        positions = tuple(range(len(names)))
    else:
        positions = _positions(names, _request(wanted), describe)
    _refuse_duplicates(names, positions, describe)
    refused = [j for j in positions if kinds[j] is not None]
    if refused:
        usable = [name for name, kind in zip(names, kinds, strict=True) if kind is None and name]
        kept = [names[j] for j in positions if names[j]]
        ways = [kinds[j].way for j in refused]  # type: ignore[union-attr]
        same = [ways[0]] if ways[0] is not None and all(way == ways[0] for way in ways) else []
        raise ColumnError(
            _not_numbers(names, kinds, refused, usable, describe),
            remedies=[*same, *without({names[j] for j in refused}, kept)],
        )
    return positions


def beyond_exact(describe: str, name: str, value: int | str, row: int | None = None) -> PrecisionError:
    """The error for an integer that float64 may have to round."""
    place = "" if row is None else f" in data row {row}"
    return PrecisionError(
        f"{describe}: column {name!r} holds the integer {cut(str(value))}{place}, but float64 is exact only up to "
        "±2^53 = 9007199254740992. Leave the column out if it numbers things; if it measures something, "
        "subtract an offset, or store it as floating-point numbers."
    )


def _request(wanted: Sequence[str]) -> tuple[str, ...]:
    if isinstance(wanted, str):
        raise SettingError(f"columns={wanted!r} is a single text: give a list of names, columns=[{wanted!r}].")
    request = tuple(str(name) for name in as_list(wanted, f"columns={short(wanted)}: give a list of names."))
    if not request:
        raise SettingError("columns=… is empty: name at least one column, or leave it out to use all.")
    twice = [name for name, count in Counter(request).items() if count > 1]
    if twice:
        raise ColumnError(f"columns=… asks for {quoted(twice)} more than once: name each column once.")
    return request


def _positions(names: Sequence[str], request: Sequence[str], describe: str) -> tuple[int, ...]:
    where = {name: j for j, name in reversed(list(enumerate(names)))}
    unknown = [name for name in request if name not in where]
    if unknown:
        hint = did_you_mean(unknown, names, each=2)
        noun = "column" if len(unknown) == 1 else "columns"
        raise ColumnError(f"{describe} has no {noun} {quoted(unknown)}.{hint} Its columns are {quoted(names)}.")
    return tuple(where[name] for name in request)


def _refuse_unnamed(names: Sequence[str], describe: str) -> None:
    unnamed = [j for j, name in enumerate(names) if not name.strip()]
    if unnamed:
        named = [name for name in names if name.strip()]
        raise ColumnError(
            f"{describe}: column {unnamed[0] + 1} of {len(names)} has no name; it may hold row names, or "
            f"come from a separator at the end of each line. Give it a name, or {_choice(named)}.",
            remedies=without({names[unnamed[0]]}, names) if len(unnamed) == 1 else (),
        )


def _refuse_duplicates(names: Sequence[str], positions: Sequence[int], describe: str) -> None:
    counts = Counter(names)
    twice = list(dict.fromkeys(names[j] for j in positions if counts[names[j]] > 1))
    if twice:
        times = f" ({counts[twice[0]]} times)" if len(twice) == 1 else ""
        raise ColumnError(
            f"{describe} has several columns named {quoted(twice)}{times}: rename them, so that every name stands once."
        )


def _not_numbers(
    names: Sequence[str],
    kinds: Sequence[Kind | None],
    refused: Sequence[int],
    usable: Sequence[str],
    describe: str,
) -> str:
    groups: dict[Kind, list[str]] = {}
    for j in refused:
        kind = kinds[j]
        if kind is not None:
            groups.setdefault(kind, []).append(names[j])
    phrases = [
        f"column {quoted(group)} holds {kind.holds}"
        if len(group) == 1
        else f"columns {quoted(group)} hold {kind.holds}"
        for kind, group in groups.items()
    ]
    remedies = list(dict.fromkeys(kind.remedy for kind in groups if kind.remedy))
    choice = f"To go on without, {_choice(usable)}." if usable else "No column holds numbers."
    if len(phrases) > 4:
        phrases = [*phrases[:3], f"{len(phrases) - 3} more columns hold other than numbers"]
    return " ".join([f"{describe}: {'; '.join(phrases)}: only numbers can be used.", *remedies[:2], choice])


def _choice(usable: Sequence[str], limit: int = 6) -> str:
    if not usable:
        return "remove it"
    more = "" if len(usable) <= limit else ", …"
    listing = ", ".join(repr(name) for name in usable[:limit])
    typed = shlex.quote(",".join(usable[:limit])) + (",…" if more else "")
    return f"use columns=[{listing}{more}] (--columns {typed} on the command line)"
