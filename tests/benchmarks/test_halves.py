"""Halves of a table are compared column by column, and a program that was stopped goes on."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import halves
from benchmarks.halves import Compared, Half, compared, measured, numbers


def rows(n=160, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    X[:, 1] += X[:, 0]
    return X


def written(X, path):
    heads = ",".join(f"c{j}" for j in range(X.shape[1]))
    np.savetxt(path, X, delimiter=",", header=heads, comments="")


@pytest.mark.filterwarnings("ignore::ordag.errors.ColumnWarning")
def test_a_column_that_is_constant_in_one_half_is_left_out():
    X = rows()
    whole = compared(X, 0)
    assert len(whole.said) == 2 * 3 * 2
    first = np.random.default_rng(0).permutation(len(X))[: len(X) // 2]
    rare = np.zeros(len(X))
    rare[first[:5]] = 1.0
    both = compared(np.column_stack([X[:, :1], rare, X[:, 1:]]), 0)
    np.testing.assert_allclose(both.said[6:], whole.said[6:])  # the half without it


def test_what_one_half_says_is_held_against_the_other():
    one = Half(("a", "b"), np.array([[0.0, 0.9], [0.1, 0.0]]), np.array([[False, True], [False, False]]))
    two = Half(("a", "b"), np.array([[0.0, 0.3], [0.6, 0.0]]), np.array([[False, False], [True, False]]))
    both = Compared.together([Compared.of(one, two), Compared.of(two, one)])
    assert both.said.tolist() == [0.9, 0.1, 0.3, 0.6]
    assert both.other.tolist() == [0.3, 0.6, 0.9, 0.1]
    assert both.drawn.tolist() == [True, False, False, True]
    assert both.found.tolist() == [False, True, True, False]


def test_only_tables_of_some_size_are_taken_without_counters(tmp_path):
    X = rows()
    written(np.column_stack([X, np.arange(len(X))]), tmp_path / "a.csv")
    np.testing.assert_allclose(numbers(tmp_path / "a.csv"), X)
    written(X[:, :2], tmp_path / "b.csv")
    assert numbers(tmp_path / "b.csv") is None
    written(X[:100], tmp_path / "c.csv")
    assert numbers(tmp_path / "c.csv") is None


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch):
    written(rows(), tmp_path / "a.csv")
    kept = tmp_path / "kept"
    kept.mkdir()
    page = measured(tmp_path, 1, kept)
    assert page.startswith("1 tables, 1 splits each.")
    assert page.count("\n|") == page.count(" %") // 3 + 2
    monkeypatch.setattr(halves, "compared", None)
    assert measured(tmp_path, 1, kept) == page
    with pytest.raises(TypeError):
        measured(tmp_path, 2, kept)
