"""The rows of a table in memory, all of them or an even sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ordag.arrays import Array
from ordag.data.gate import RowCheck
from ordag.data.moments import Moments
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
    limit = max(most // len(source.names), 1000)
    held: list[Array] = []
    stride, count, position = 1, 0, 0
    for block in source.batches(rows_at_once(len(source.names))):
        clean = check.admit(block)
        kept = clean[(-position) % stride :: stride]
        position += len(clean)
        held.append(np.array(kept))
        count += len(kept)
        while count > limit:
            held = [np.concatenate(held)[::2]]
            stride, count = 2 * stride, len(held[0])
    return Rows(np.concatenate(held) if held else np.empty((0, len(source.names))), stride)
