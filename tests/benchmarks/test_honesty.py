"""The tables of `python -m benchmarks honesty` are what their names say, and its shares are counted right."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.honesty.kinds import KINDS
from benchmarks.honesty.run import Table, measured, shares, summary

NAMED = {kind.name: kind for kind in KINDS}
DRAWN = [kind for kind in KINDS if not kind.network]


@pytest.mark.parametrize("kind", [kind for kind in DRAWN if kind.n * kind.p <= 20_000], ids=lambda kind: kind.name)
def test_a_table_is_drawn_from_its_name_and_number(kind):
    one, again, other = kind.draw(1), kind.draw(1), kind.draw(2)
    rows = kind.n // 2 if "other rows" in kind.name else kind.n
    assert one.X.shape == (rows, kind.p)
    assert np.array_equal(one.X, again.X)
    assert not np.array_equal(one.X, other.X)
    assert not np.diagonal(one.truth).any()


def test_there_are_kinds_enough_and_none_twice():
    assert len(NAMED) == len(KINDS) >= 12
    assert sum(bool(kind.network) for kind in KINDS) == 4


def test_a_common_factor_has_no_arrow():
    assert not NAMED["one common factor, no arrow: p 6, n 300"].draw(3).truth.any()


def test_shares_are_those_of_a_person_who_counts():
    truth = np.zeros((4, 4), dtype=bool)
    truth[0, 1] = truth[1, 2] = truth[2, 3] = True
    found = np.zeros((4, 4), dtype=bool)
    found[0, 1] = found[2, 1] = found[0, 3] = True
    assert shares(found, truth) == (pytest.approx(2 / 3), pytest.approx(1 / 2))


def test_a_line_has_said_and_was():
    kind = NAMED["p 10, n 200, weights .5–2"]
    tables = [Table("tested", (0.1, 0.0), (0.2, 0.0), 5, ()), Table("assumed", (0.3, 0.1), (0.6, 0.4), 5, ())]
    assert summary(kind, "cvs", tables) == [kind.name, "1", "0", "1", "0", "10 / 20", "0 / 0", "20 / 40", "5 / 20"]
    open_table = Table("None", (np.nan, np.nan), (0.5, 0.5), 5, ("filled_cells",))
    assert summary(kind, "pooled", [open_table]) == [kind.name, "– / 50", "– / 50", "100: filled cells"]


def test_a_table_is_measured():
    found = measured(NAMED["p 10, n 200, weights .5–2"], "cvs", 0, None)
    assert found.tier == "tested"
    assert 0 <= found.said[0] < 0.3
