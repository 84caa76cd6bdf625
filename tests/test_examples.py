"""The notebooks in examples/ run from the first cell to the last, and say what they are stored with."""

from __future__ import annotations

import re

import nbformat
import pytest
from budgets import thorough

from tools.notebooks import EXAMPLES, printed, run

pytestmark = pytest.mark.system

NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [path if path.name.startswith("4") else thorough(path) for path in sorted(EXAMPLES.glob("*.ipynb"))],
    ids=lambda path: path.stem,
)
def test_a_notebook_says_what_it_is_stored_with(path, monkeypatch):
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    stored, fresh = printed(nbformat.read(path, as_version=4)), printed(run(path))
    assert len(stored) == len(fresh)
    for before, after in zip(stored, fresh, strict=True):
        assert NUMBER.sub("#", before).split() == NUMBER.sub("#", after).split()
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (before, after)]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=0.011)


def test_there_are_several_and_none_shows_an_error():
    books = [nbformat.read(path, as_version=4) for path in sorted(EXAMPLES.glob("*.ipynb"))]
    assert len(books) >= 7
    for book in books:
        nbformat.validate(book)
        code = [cell for cell in book.cells if cell.cell_type == "code"]
        assert all(output.output_type != "error" for cell in code for output in cell.outputs)
        assert sum(bool(cell.outputs) for cell in code) >= len(code) - 3
