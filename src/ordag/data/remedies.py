"""Ways to read a table that was refused, for who can offer them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ordag.errors import Remedy
from ordag.words import listed, shown

FEWEST = 2
"""Columns that a graph needs."""

DECIMAL_COMMA = Remedy("take , for the decimal mark", {"decimal": ","})
NO_HEADER = Remedy("take the first line for data", {"header": False})
LATIN = Remedy("read it in the encoding latin-1", {"encoding": "latin-1"})


def without(unwanted: Collection[str], names: Sequence[str]) -> list[Remedy]:
    """To leave columns out, where enough others stay."""
    kept = [name for name in names if name not in unwanted]
    if len(kept) < FEWEST:
        return []
    out = [name for name in names if name in unwanted]
    what = listed(out) if all(map(str.strip, out)) else "the column that has no name"
    return [Remedy(f"go on without {what}", {"columns": kept})]


def split_at(separator: str) -> Remedy:
    """To take another character for the one between the fields."""
    return Remedy(f"split at {'tabs' if separator == chr(9) else shown(separator)}", {"separator": separator})
