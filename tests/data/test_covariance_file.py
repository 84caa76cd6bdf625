"""Covariance matrices in text files of Tetrad."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ordag
from ordag.data.sources import Upload
from ordag.data.table import Table
from ordag.errors import CovarianceError, OrdagError

TEXT = "/Covariance\n100\nX1\tX2\tX3\t\n4.0\t\n1.0\t3.0\t\n-0.5\t0.25\t2.0\t\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cov.txt"


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.partition("\n")[2],
        "// by hand\n" + TEXT,
        TEXT.replace("\t", ", "),
        TEXT + "/knowledge\naddtemporal\n1 X1\n",
    ],
)
def test_the_matrix_its_names_and_rows(path: Path, text: str) -> None:
    path.write_text(text)
    moments = Table(path).moments
    np.testing.assert_allclose(moments.covariance(), [[4, 1, -0.5], [1, 3, 0.25], [-0.5, 0.25, 2]], rtol=1e-14)
    assert (moments.n, moments.names) == (100, ("X1", "X2", "X3"))
    assert Table(Upload("cov.txt", text.encode())).n == 100


def test_it_is_learned_like_the_rows_behind_it(path: Path) -> None:
    marks = Table("marks").moments
    rows = ["\t".join(map(repr, row[: j + 1].tolist())) for j, row in enumerate(marks.covariance())]
    path.write_text("\n".join(["/covariance", str(marks.n), " ".join(marks.names), *rows]))
    assert ordag.learn(path, "cvs").graph == ordag.learn(marks, "cvs").graph
    assert Table(path, columns=["vectors", "algebra"]).names == ("vectors", "algebra")


@pytest.mark.parametrize("text", ["100\na,b\n1,2\n3,4\n", "5\n6\n7\n", "n\nX1 X2\n1\n2 3\n", "a,b\n1,2\n"])
def test_tables_are_not_taken_for_a_matrix(path: Path, text: str) -> None:
    path.write_text(text)
    try:
        assert Table(path).source is not None
    except CovarianceError:
        pytest.fail("taken for a covariance matrix")
    except OrdagError:
        pass


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/covariance\n", "begins with its number of rows"),
        ("/covariance\nmany\nX1 X2\n1\n1 2\n", "begins with its number of rows"),
        ("/covariance\n100\nX1 X2 X3\n1\n1 2\n", "is cut off: it has 3 names and 2 rows"),
        ("/covariance\n100\nX1 X2\n1\n1 *\n", "row 2 of the matrix holds '\\*'"),
        ("/covariance\n100\nX1 X2\n1 1\n1 2\n", "row 1 of the lower triangle has 2 numbers"),
        ("/covariance\n1\nX1 X2\n1\n0 2\n", "n=1"),
        ("/covariance\n100\nX1 X2\n1\n2 1\n", "X2"),
    ],
)
def test_matrices_that_are_none(path: Path, text: str, said: str) -> None:
    path.write_text(text)
    with pytest.raises(OrdagError, match=said):
        Table(path).moments  # noqa: B018
