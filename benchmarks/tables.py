"""`python -m benchmarks tables FOLDER`: what the first command says of every CSV file below a folder.

Every table is learned from as it is, with method cvs (no search, no probabilities), so that a table takes a second or so; how columns
and rows are read does not depend on the method. A table is usable if it has two columns of numbers that vary, are no counter, are
not called id, year or the like, and have ten rows together.
"""

from __future__ import annotations

import argparse
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import ordag

SECONDS = 60
"""Time for one table."""

SUSPICIOUS = (
    "id",
    "obs",
    "index",
    "row",
    "no",
    "nr",
    "number",
    "year",
    "date",
    "mon",
    "time",
    "subject",
    "patient",
    "unnamed: 0",
)
"""Names that a node should not have, unless its values say otherwise."""


class Outcome(NamedTuple):
    """What became of one table: "answered", "refused" (with a sentence), "raised" (an exception of another kind) or "slow"."""

    name: str
    kind: str
    words: str
    usable: bool
    doubtful: list[str]


class TooSlow(Exception):
    """A table took longer than `SECONDS`."""


def outcome(path: Path) -> Outcome:
    """Learn from a table at the first command."""
    usable = is_usable(path)
    try:
        with warnings.catch_warnings(), limited(SECONDS):
            warnings.simplefilter("ignore")
            fit = ordag.learn(path, "cvs")
    except ordag.OrdagError as error:
        return Outcome(path.name, "refused", str(error), usable, [])
    except TooSlow:
        return Outcome(path.name, "slow", f"no answer in {SECONDS} seconds", usable, [])
    except Exception as error:  # which should not happen
        return Outcome(path.name, "raised", f"{type(error).__name__}: {error}", usable, [])
    aside = "; ".join(f"{one.name or 'row names'} ({one.role})" for one in fit.columns if one.is_set_aside)
    return Outcome(path.name, "answered", aside, usable, doubtful(path, fit.names))


def is_usable(path: Path) -> bool:
    """Return whether two columns of numbers vary, are no counters, and have ten rows together."""
    try:
        table = pd.read_csv(path, low_memory=False)
    except (ValueError, UnicodeDecodeError):
        return True
    named = {name: column for name, column in table.items() if str(name).lower().strip(". ") not in SUSPICIOUS}
    numbers = [column for column in named.values() if column.dtype.kind in "iuf" and not is_counter(column)]
    numbers = [column for column in numbers if column.nunique() > 1 and column.notna().sum() >= 10]
    pairs = ((a, b) for k, a in enumerate(numbers) for b in numbers[:k])
    return any((a.notna() & b.notna()).sum() >= 10 for a, b in pairs)


def is_counter(column: pd.Series) -> bool:
    """Return whether a column rises by the same from row to row."""
    steps = np.diff(column.to_numpy(dtype=float))
    return bool(len(steps) > 1 and steps[0] > 0.0 and np.ptp(steps) <= 0.02 * steps[0])


def doubtful(path: Path, names: tuple[str, ...]) -> list[str]:
    """Return the nodes that look like a counter, an id, a row name or a date."""
    table = pd.read_csv(path, low_memory=False)
    table.columns = [str(name).strip() for name in table.columns]
    return [
        name
        for name in names
        if name.lower().strip(".") in SUSPICIOUS or (name in table and is_counter(table[name].dropna()))
    ]


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `TooSlow` after so many seconds."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def page(outcomes: list[Outcome]) -> str:
    """Write the counts, and a line for every table that was refused or has a node in doubt."""
    counts = Counter((one.kind, one.usable) for one in outcomes)
    usable = sum(one.usable for one in outcomes)
    lines = ["| outcome | usable tables | others |", "|---|---|---|"]
    for kind in ("answered", "refused", "raised", "slow"):
        lines.append(f"| {kind} | {counts[kind, True]} | {counts[kind, False]} |")
    lines.append(f"| all | {usable} | {len(outcomes) - usable} |")
    refused = [f"- `{one.name}`: {one.words}" for one in outcomes if one.kind != "answered"]
    nodes = [f"- `{one.name}`: {', '.join(one.doubtful)}" for one in outcomes if one.doubtful]
    parts = ["\n".join(lines), "Not answered:\n\n" + "\n".join(refused), "Nodes in doubt:\n\n" + "\n".join(nodes)]
    return "\n\n".join(parts)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks tables", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--verbose", action="store_true", help="also print what was set aside of every table")
    chosen = parser.parse_args(arguments)
    outcomes = []
    for path in sorted(chosen.folder.rglob("*.csv")):
        outcomes.append(outcome(path))
        if chosen.verbose:
            print(f"{path.name}: {outcomes[-1].kind}: {outcomes[-1].words}", file=sys.stderr, flush=True)
    print(page(outcomes))
