"""Every import points one way, `import ordag` is light, and a public name is where the stub says."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ordag

ROOT = Path(ordag.__file__).parent

ROOMS = """
    errors common
    picture
    data
    order
    parents
    graph
    model
    knowledge
    learners
    keywords
    resampling
    assess
    fit
    bootstrapping
    learning total_effects estimators
    handover
    checking comparison
    saved
    decisions
    show
    workbench
    exploring
    paper
    cli
"""
"""From the first to the last: a room knows those above its line, and the files of the base and of a line know each other."""

EXCEPTIONS = {
    ("fit", "show"),
    ("checking", "show"),
    ("fit", "checking"),
    ("fit", "total_effects"),
    ("fit", "bootstrapping"),
    ("fit", "handover"),
    ("fit", "decisions"),
    ("decisions", "show"),
}
"""A fit shows, checks, resamples, tests, explains and hands itself over, and gives its effects; diagnoses and decisions show themselves."""

GPU = ("ordag.order.triton_steps",)
"""Kernels, which bring PyTorch with them."""

PLACE = {room: place for place, line in enumerate(ROOMS.strip().splitlines()) for room in line.split()}


def name_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def modules():
    return {name_of(path): path for path in ROOT.rglob("*.py")}


@cache
def imported(path):
    """The modules of Ordag that a file imports, wherever in it: at the top, in functions, and for types."""
    found = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] == "ordag"]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ordag":
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [name if name in modules() else node.module for name in inner]
    return found


def room_of(module):
    return module.split(".")[1] if "." in module else ""


@pytest.mark.slow
def test_every_import_points_to_an_earlier_room():
    wrong = []
    for name, path in modules().items():
        for target in imported(path):
            here, there = room_of(name), room_of(target)
            if here in ("", "__main__") or there in ("", here) or (here, there) in EXCEPTIONS:
                continue
            if PLACE[there] > PLACE[here]:
                wrong.append(f"{name} imports {target}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_no_module_imports_itself_by_way_of_others():
    graph = {
        name: {target for target in imported(path) if (room_of(name), room_of(target)) not in EXCEPTIONS} - {name}
        for name, path in modules().items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


@pytest.mark.slow
def test_imports_inside_functions_are_those_of_what_shows_itself():
    """Others would hide what depends on what."""
    hidden = set()
    for name, path in modules().items():
        tree = tree_of(path)
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ordag"):
                        if node.module in GPU:
                            continue
                        hidden.add((room_of(name), room_of(node.module)))
    assert hidden <= EXCEPTIONS | {("exploring", "workbench")}, (
        hidden
    )  # the packages of the workbench are not always there


@pytest.mark.slow
def test_every_room_says_what_it_is_for():
    for name, path in modules().items():
        assert ast.get_docstring(tree_of(path)), f"{name} has no docstring"


def loaded_after(code, *libraries):
    code = f"import sys; {code}; print([name for name in {libraries!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    return result.stdout.strip()


@pytest.mark.system
def test_import_brings_no_heavy_library():
    assert loaded_after("import ordag", "numpy", "scipy", "sklearn", "pandas", "pyarrow", "rich", "dask") == "[]"
    assert loaded_after("import ordag.cli", "scipy", "sklearn", "pandas", "pyarrow", "rich", "dask") == "[]"
    assert (
        loaded_after(
            "import ordag; ordag.learn('marks').to_json()",
            "sklearn",
            "pandas",
            "networkx",
            "matplotlib",
            "dask",
            "distributed",
        )
        == "[]"
    )


def test_the_public_names_are_all_there_is_to_see():
    assert dir(ordag) == sorted(ordag.__all__)
    assert all(getattr(ordag, name) is not None for name in ordag.__all__)
