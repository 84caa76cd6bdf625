"""What the README, the documentation and the docstrings show is what happens: all of it runs as written."""

from __future__ import annotations

import doctest
import importlib
import io
import re
import shlex
import sys
from pathlib import Path
from textwrap import dedent

import click
import pytest
from budgets import thorough

import ordag
from ordag.assess.forecast import MOST_TABLES as USUAL_FORECASTS
from ordag.cli import cli

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[1]
SOURCE = Path(ordag.__file__).parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCED = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
LANGUAGES = ("python", "console", "sh", "text")
"""Python and console blocks run, the commands of sh blocks must exist with their options; text is for everything else."""

MODULES = [
    ".".join(["ordag", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
    for path in sorted(SOURCE.rglob("*.py"))
    if re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

LONG = (
    *(
        f"{page}.md"
        for page in ("missing_values", "many_variables", "first_graph", "effects", "ten_minutes", "experiments")
    ),
    *(f"{page}.md" for page in ("pictures", "units", "trust", "decisions", "environments", "scale")),
    "ordag.paper.reproduction",
)
"""Pages and modules whose blocks take seconds: they run with `make thorough`."""


def blocks(page, *languages):
    """The fenced blocks in these languages, with their numbers on the page and their languages."""
    found = FENCED.findall(page.read_text(encoding="utf-8"))
    return [(k, language, dedent(text)) for k, (_, language, text) in enumerate(found) if language in languages]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_its_language(page):
    text = page.read_text(encoding="utf-8")
    found = FENCED.findall(text)
    assert {language for _, language, _ in found} <= set(LANGUAGES)
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) == 2 * len(found)


@pytest.mark.parametrize(
    "page",
    [thorough(page) if page.name in LONG else page for page in PAGES if blocks(page, "python", "console")],
    ids=lambda page: page.name,
)
def test_blocks_do_what_they_show(page, run, monkeypatch):
    """All blocks of a page run in their sequence and in one folder: later ones know the names and files of earlier ones."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    names = {}
    for number, language, block in blocks(page, "python", "console"):
        if language == "console":
            run_commands(block, page, run)
        elif block.startswith(">>> "):
            names = run_session(block, names, f"{page.name}:{number}", page)
        else:
            exec(compile(block, f"{page.name}:{number}", "exec"), names)


def run_commands(block, page, run):
    before, *exchanges = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert exchanges
    assert not before
    for exchange in exchanges:
        command, _, output = exchange.partition("\n")
        program, *words = shlex.split(command)
        assert program == "ordag", f"{page.name}: {command}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ordag.assess.forecast.MOST_TABLES", USUAL_FORECASTS)
            _, printed, told = run(*words)
        lines = [line.rstrip() for line in (printed + told).splitlines()]
        assert lines == [line.rstrip() for line in output.splitlines()], f"{page.name}: {command}"


def run_session(block, names, name, page):
    test = doctest.DocTestParser().get_doctest(block, names, name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, clear_globs=False)
    assert runner.failures == 0
    return test.globs


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=lambda page: page.name)
def test_commands_to_copy_are_understood(page, monkeypatch):
    """They name data that the reader has, so their options are read and no more."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    for _, _, block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            program, *options = shlex.split(re.sub(r" [<>] \S+$", "", line.rpartition("| ")[2]), comments=True) or [""]
            if program.rpartition("/")[2] == "ordag":
                command = cli.get_command(click.Context(cli), options[0])
                assert command is not None or options == ["--version"]
                if command is not None:
                    command.make_context(options[0], options[1:], help_option_names=["-h", "--help"])
            else:
                assert program.rpartition("/")[2] in ("", "make", "pip", "python"), f"{page.name}: {line}"


@pytest.mark.parametrize("module", [thorough(module) if module in LONG else module for module in MODULES])
def test_docstrings_print_what_they_show(module):
    result = doctest.testmod(importlib.import_module(module), optionflags=FLAGS)
    assert result.attempted > 0
    assert result.failed == 0
