"""The rows of a table in memory, all of them or an even sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ordag.arrays import Array
from ordag.data.gate import RowCheck
from ordag.data.moments import Moments
from ordag.data.profile import Sampler
from ordag.data.sources import open_source
from ordag.data.sources.source import rows_at_once

MOST = 20_000_000
"""Numbers to hold at once, about 160 MB; of larger tables every second, fourth, … row is looked at."""


class Rows(NamedTuple):
    """Complete rows, `stride` apart in the table; 1 means all."""

    values: Array
    stride: int


def read_rows(data: Any, *, columns: Sequence[str] | None = None, most: int = MOST, **reading: Any) -> Rows | None:
    """The rows of anything that `learn` takes, those with missing values left out. None for moments, which have no rows."""
    if isinstance(data, Moments):
        return None
    source = open_source(data, columns=columns, **reading)
    check = RowCheck(source.names, "drop")
    sampler = Sampler(len(source.names), max(most // len(source.names), 1000))
    for block in source.batches(rows_at_once(len(source.names))):
        sampler.add(check.admit(block))
    profile = sampler.profile
    return Rows(profile.rows, profile.stride)
