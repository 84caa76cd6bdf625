"""Sets of variables as whole numbers, and masks as one such number per column."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ordag.common.bits import members, packed, packed_columns, unpacked_columns, unpacked_rows


@given(st.sets(st.integers(0, 200)))
def test_members_are_those_that_were_packed(nodes):
    assert members(packed(nodes)) == sorted(nodes)
    assert packed(np.array(sorted(nodes), dtype=np.int64)) == packed(nodes)


@given(st.integers(0, 20), st.integers(1, 80), st.integers(0, 2**32))
def test_columns_come_back(columns, p, seed):
    mask = np.random.default_rng(seed).random((p, columns)) < 0.3
    sets = packed_columns(mask)
    assert sets == [packed(np.flatnonzero(column)) for column in mask.T]
    assert (unpacked_columns(sets, p) == mask).all()
    assert unpacked_rows(sets, p).dtype == bool
    assert (unpacked_rows(sets, p) == mask.T).all()
    assert (unpacked_columns([nodes | 1 << p for nodes in sets], p) == mask).all()
