"""Run the notebooks in examples/ and keep what they show: `make examples`, or python -m tools.notebooks NAME…"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of a fresh run."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, kernel_name="python3").execute(cwd=str(EXAMPLES))
    for cell in book.cells:
        cell.metadata.pop("execution", None)  # times of day
        cell.pop("execution_count", None)
        for output in cell.get("outputs", []):
            output.pop("execution_count", None)
    return nbformat.from_dict(_numbered(book))


def _numbered(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    for count, cell in enumerate((cell for cell in book.cells if cell.cell_type == "code"), start=1):
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    return book


def printed(book: nbformat.NotebookNode) -> list[str]:
    """What the cells say in words: the text of their outputs, pictures left out."""
    texts = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" not in data and "image/svg+xml" not in data:
                texts.append(output.get("text") or data.get("text/plain", ""))
    return texts


if __name__ == "__main__":
    chosen = [
        path
        for path in sorted(EXAMPLES.glob("*.ipynb"))
        if not sys.argv[1:] or any(n in path.name for n in sys.argv[1:])
    ]
    for path in chosen:
        nbformat.write(run(path), path)
        print(path.name)
