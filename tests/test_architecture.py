"""Imports point one way, and `import ordag` is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import ordag

ROOT = Path(ordag.__file__).parent
ROOMS = ["data", "order", "parents", "graph", "model", "learners", "trust", "paper", "show", "cli"]
MAY_USE = {
    "data": set(),
    "order": {"data"},
    "parents": {"order", "data"},
    "graph": set(),
    "model": {"graph", "data"},
    "learners": {"data", "order", "parents", "graph", "model"},
    "trust": {"data", "order", "parents", "graph", "model", "learners"},
    "paper": {"data", "order", "parents", "graph", "model", "learners", "trust", "show"},
    "show": {"data", "order", "parents", "graph", "model", "learners", "trust"},
    "cli": {"data", "order", "parents", "graph", "model", "learners", "trust", "paper", "show"},
}


def imported(path):
    """Modules imported at the top of a file, outside `if TYPE_CHECKING` and functions."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_imports_point_one_way():
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            for module in imported(path):
                parts = module.split(".")
                if parts[0] == "ordag" and len(parts) > 1 and parts[1] in ROOMS and parts[1] != room:
                    assert parts[1] in MAY_USE[room], f"{path.relative_to(ROOT)} imports {module}"


def test_import_brings_no_heavy_library():
    code = (
        "import sys, ordag; print([m for m in ('scipy', 'sklearn', 'pandas', 'pyarrow', 'rich') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "[]"
    code = "import sys, ordag; ordag.learn('marks').to_json(); print([m for m in ('sklearn', 'pandas', 'networkx') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "[]"
