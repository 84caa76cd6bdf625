"""Sets of variables as Python ints, with bit k set for variable k, and masks as one such set per column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ordag.common.arrays import Mask


def members(nodes: int) -> list[int]:
    """Return the variables in a set, in increasing order."""
    found = []
    while nodes:
        lowest = nodes & -nodes
        found.append(lowest.bit_length() - 1)
        nodes ^= lowest
    return found


def packed(nodes: Iterable[int]) -> int:
    """Return the set of these variables."""
    bits = 0
    for node in nodes:
        bits |= 1 << int(node)
    return bits


def packed_columns(mask: Mask) -> list[int]:
    """Return the set of rows of every column of a mask: the parents of every node of an adjacency."""
    return [int.from_bytes(column.tobytes(), "little") for column in np.packbits(mask, axis=0, bitorder="little").T]


def unpacked_rows(rows: Sequence[int], p: int) -> Mask:
    """Return the mask with one row of p entries for each set; members from p on are left out."""
    size = p // 8 + 1
    below = (1 << p) - 1
    bits = np.frombuffer(b"".join([(nodes & below).to_bytes(size, "little") for nodes in rows]), np.uint8)
    return np.unpackbits(bits.reshape(len(rows), size), axis=1, bitorder="little", count=p).view(np.bool_)


def unpacked_columns(columns: Sequence[int], p: int) -> Mask:
    """Return the inverse of `packed_columns`, with p rows; members from p on are left out."""
    return np.ascontiguousarray(unpacked_rows(columns, p).T)


def union(sets: Sequence[int], nodes: int) -> int:
    """Return the union of the sets of these variables."""
    found = 0
    while nodes:  # as in `members`, without a list: GES calls this hundreds of thousands of times
        lowest = nodes & -nodes
        found |= sets[lowest.bit_length() - 1]
        nodes ^= lowest
    return found
