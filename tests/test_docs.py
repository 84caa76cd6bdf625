"""What the README and the documentation show is what happens: commands and Python sessions run as written."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
SESSION = re.compile(r"^```python\n(>>> .*?)^```", re.DOTALL | re.MULTILINE)


def exchanges(page):
    """Pairs of a command and the output shown under it."""
    for block in CONSOLE.findall(page.read_text(encoding="utf-8")):
        for exchange in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = exchange.partition("\n")
            yield command, output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_is_shown(page, tmp_path):
    shown = list(exchanges(page))
    assert shown or page.name != "README.md"
    for command, output in shown:
        words = shlex.split(command)
        assert words[0] == "ordag", f"{page.name}: {command}"
        result = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
            env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        )
        printed = [line.rstrip() for line in (result.stdout + result.stderr).splitlines()]
        expected = [line.rstrip() for line in output.splitlines()]
        assert printed == expected, f"{page.name}: {command}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_sessions_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser, globals_ = doctest.DocTestParser(), {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for number, session in enumerate(SESSION.findall(page.read_text(encoding="utf-8"))):
        test = parser.get_doctest(session, globals_, f"{page.name}:{number}", str(page), 0)
        runner.run(test, clear_globs=False)
        globals_.update(test.globs)
    assert runner.failures == 0


def test_docstrings_print_what_they_show():
    import ordag
    import ordag.learning

    for module in (ordag, ordag.learning):
        assert doctest.testmod(module).failed == 0
