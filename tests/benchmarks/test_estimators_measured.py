"""The designs and pages of the benchmark of estimators."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.curved import Curved
from benchmarks.estimators import DESIGNS, LINEAR, PAGES, PARTS, curved_scores, f1, write


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sine", "quadratic", "Gaussian process", "interaction"])
@pytest.mark.parametrize("graph", ["chain", "sparse"])
def test_variances_tell_parents_apart_from_nobody(kind, graph):
    X, truth = Curved(kind, graph, 8, 4000).draw(np.random.default_rng(3))
    child = truth.any(axis=0)
    np.testing.assert_allclose(X.var(axis=0), np.where(child, 2.0, 1.0), rtol=0.2)
    if graph == "chain":
        assert child.sum() == 7
        assert np.linalg.matrix_power(truth.astype(int) + np.eye(8, dtype=int), 7).astype(bool).sum() == 36


@pytest.mark.thorough
def test_a_straight_line_sees_little_where_splines_see_all():
    scores = curved_scores(Curved("sine", "chain", 4, 400), 1)
    assert scores[0] == 1.0
    assert scores[3] < 1.0


def test_f1():
    truth = np.array([[0, 1], [0, 0]], dtype=bool)
    assert f1(truth, truth) == 1.0
    assert f1(truth.T, truth) == 0.0


def test_pages_have_a_place_for_their_tables(tmp_path):
    for name, (_, page) in PARTS.items():
        text = (PAGES / page).read_text(encoding="utf-8")
        assert text.count(f"<!-- {name} -->") == text.count(f"<!-- end of {name} -->") == 1
    assert all(f"| {design} 60/60 |" in (PAGES / "lasso.md").read_text(encoding="utf-8") for design in LINEAR)
    measured = (PAGES / "regression.md").read_text(encoding="utf-8")
    assert all(f"| {one.kind}, {one.graph} {one.p}/{one.n} |" in measured for one in DESIGNS)
    page = tmp_path / "x.md"
    page.write_text("a\n<!-- t -->\nold\n<!-- end of t -->\nb\n", encoding="utf-8")
    write(page, "t", "new")
    assert page.read_text(encoding="utf-8") == "a\n<!-- t -->\n\nnew\n\n<!-- end of t -->\nb\n"
    with pytest.raises(AssertionError, match="no place"):
        write(page, "u", "new")
