"""Boxes stand apart, causes above effects, and an edge meets no box but its own two."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from curves import along, apart, inside, rectangles
from hypothesis import given
from hypothesis import strategies as st

from ordag import Cpdag, Dag
from ordag.graph import to_cpdag
from ordag.picture.layout import APART, HEIGHT, _pull, _shelves, layered, sequence


def random_arrows(p, seed, density=0.3):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((p, p)) < density, 1)
    relabel = rng.permutation(p)
    return upper[np.ix_(relabel, relabel)]


def check(adjacency, layout):
    boxes = rectangles(layout)
    for k, one in enumerate(boxes):
        assert min(one) >= 0
        assert one[2] <= layout.width
        assert one[3] <= layout.height
        assert all(apart(one, other) for other in boxes[:k])
    pairs = {(i, j) for i, j in np.argwhere(adjacency).tolist()}
    assert {frozenset(pair) for pair in layout.curves} == {frozenset(pair) for pair in pairs}
    assert set(layout.curves) == set(layout.routes) <= pairs
    for (a, b), curve in layout.curves.items():
        assert (layout.routes[a, b][0], layout.routes[a, b][-1]) == (layout.centres[a], layout.centres[b])
        for node, end in ((a, curve[0]), (b, curve[-1])):
            left, top, right, bottom = boxes[node]
            assert left < end[0] < right
            assert min(abs(end[1] - top), abs(end[1] - bottom)) < 1e-9
        for point in along(curve):
            assert 0 <= point[0] <= layout.width
            assert not [k for k, box in enumerate(boxes) if inside(point, box, 1e-6)]


@pytest.mark.slow
@given(st.integers(1, 14), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.3, 0.8]))
def test_any_graph(p, seed, density):
    arrows = random_arrows(p, seed, density)
    widths = np.random.default_rng(seed).uniform(40, 180, p).tolist()
    layout = layered(arrows, None, widths)
    check(arrows, layout)
    assert all(layout.centres[a][1] + HEIGHT <= layout.centres[b][1] for a, b in layout.curves)
    assert layout == layered(arrows, None, widths)


@pytest.mark.slow
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_a_class_has_its_lines_along_the_order(p, seed):
    cpdag = to_cpdag(Dag([f"v{k}" for k in range(p)], random_arrows(p, seed)))
    order = sequence(cpdag.adjacency, np.random.default_rng(seed).permutation(p).tolist())
    layout = layered(cpdag.adjacency, order)
    check(cpdag.adjacency, layout)
    place = np.argsort(order)
    for a, b in layout.curves:
        first, second = (a, b) if place[a] < place[b] else (b, a)
        assert layout.centres[first][1] < layout.centres[second][1]


def test_arrows_in_a_circle_are_drawn_all_the_same():
    circle = Cpdag(["a", "b", "c"], np.roll(np.eye(3, dtype=bool), 1, axis=1))
    layout = layered(circle.adjacency)
    check(circle.adjacency, layout)
    upwards = [(a, b) for a, b in layout.curves if layout.centres[a][1] > layout.centres[b][1]]
    assert len(upwards) == 1


def test_the_order_is_kept_where_the_arrows_allow_it():
    arrows = np.zeros((4, 4), dtype=bool)
    arrows[3, 0] = True
    assert sequence(arrows) == [1, 2, 3, 0]
    assert sequence(arrows, [2, 3, 1, 0]) == [2, 3, 1, 0]
    assert sequence(arrows, [0, 2, 1, 3]) == [2, 1, 3, 0]


def test_edges_do_not_cross_where_they_need_not():
    arrows = np.zeros((6, 6), dtype=bool)
    arrows[0, 5] = arrows[1, 4] = arrows[2, 3] = True
    arrows[0, 4] = arrows[1, 3] = True  # a zigzag: 5 0 4 1 3 2
    layout = layered(arrows)
    ends = sorted((layout.centres[a][0], layout.centres[b][0]) for a, b in layout.curves)
    assert [b for _, b in ends] == sorted(b for _, b in ends)


def test_a_long_edge_runs_straight_where_nothing_is_in_its_way():
    arrows = np.eye(6, k=1, dtype=bool)
    arrows[0, 5] = True
    layout = layered(arrows)
    passing = [x for x, _ in layout.routes[0, 5][1:-1]]
    assert len(passing) == 4
    assert max(passing) - min(passing) < 1e-9


def test_variables_without_edges_stand_in_rows_below_the_others():
    arrows = np.zeros((30, 30), dtype=bool)
    arrows[3, 4] = True
    layout = layered(arrows)
    check(arrows, layout)
    lowest = layout.centres[4][1]
    lone = [place for k, place in enumerate(layout.centres) if k not in (3, 4)]
    assert all(y > lowest for _, y in lone)
    assert 2 <= len({y for _, y in lone}) <= 10
    assert layout.width < 1100


def test_a_wide_layer_goes_on_in_the_next():
    star = np.zeros((41, 41), dtype=bool)
    star[0, 1:] = True
    layout = layered(star)
    check(star, layout)
    rows = {}
    for _, y in layout.centres[1:]:
        rows[y] = rows.get(y, 0) + 1
    assert max(rows.values()) <= 11
    assert len(rows) >= 4


@pytest.mark.parametrize("p", [1, 2, 3])
def test_few_boxes_stand_in_one_row(p):
    layout = layered(np.zeros((p, p), dtype=bool))
    assert len({y for _, y in layout.centres}) == 1
    check(np.zeros((p, p), dtype=bool), layout)


@pytest.mark.thorough
def test_a_dense_graph_can_be_drawn():
    arrows = np.triu(np.random.default_rng(0).random((20, 20)) < 0.8, 1)
    check(arrows, layered(arrows))


def test_a_shelf_is_filled_to_the_last_pixel_and_no_further():
    part = SimpleNamespace(width=100.0)
    assert [len(shelf) for shelf in _shelves([part] * 5, 200.0 + APART)] == [2, 2, 1]
    assert [len(shelf) for shelf in _shelves([part] * 5, 199.9 + APART)] == [1, 1, 1, 1, 1]


def test_a_cause_moves_down_towards_its_effects_unless_that_layer_is_full():
    def layout(beside):
        """One box above others, of which two have an effect each; the last box causes both of these."""
        arrows = np.zeros((beside + 4, beside + 4), dtype=bool)
        arrows[0, 1 : beside + 1] = True
        arrows[1, beside + 1] = arrows[2, beside + 2] = True
        arrows[beside + 3, [beside + 1, beside + 2]] = True
        return layered(arrows).centres

    free, full = layout(4), layout(5)  # a layer of so few boxes holds five
    assert free[7][1] == free[1][1] > free[0][1]
    assert full[8][1] == full[0][1] < full[1][1]


def test_long_edges_are_pulled_straight_first():
    assert _pull(-1, -2) > _pull(-1, 3) == _pull(3, -1) > _pull(3, 4)
