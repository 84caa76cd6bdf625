"""What `conftest.py` asks of every test, tried on tests that break it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from budgets import thorough

pytestmark = pytest.mark.system
HERE = Path(__file__).parent


def outcome(folder, text, *options, **environment):
    """What pytest says of a file of tests beside a copy of our conftest."""
    for name in ("conftest.py", "chromium.py"):
        shutil.copy(HERE / name, folder / name)
    (folder / "test_it.py").write_text(text)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "ORDAG_", "CI"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_it.py", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**kept, "PYTHONPATH": os.pathsep.join([*sys.path, str(folder)]), **environment},
    ).stdout


BROKEN = """
import os, subprocess, tempfile, time
import joblib
import pytest

@pytest.fixture(scope="session", autouse=True)
def ended():
    yield
    started.kill()
    started.wait()

def test_environment():
    os.environ["LEFT"] = "1"

def test_folder():
    os.chdir("/")

def test_file():
    tempfile.mkdtemp(prefix="left")

def test_unit():
    subprocess.run(["true"])

def test_workers():
    joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(number) for number in (1, 2))

def test_cores():
    assert joblib.cpu_count() == 1

@pytest.mark.thorough
def test_long(request):
    assert request.node.get_closest_marker("timeout").args == (1800,)

@pytest.mark.system
def test_process():
    global started
    started = subprocess.Popen(["sleep", "60"])

@pytest.mark.timeout(0.2, func_only=True)
def test_hangs():
    time.sleep(50)

@pytest.mark.timeout(0.4, func_only=True)
def test_works_without_end():
    while True:
        pass

@pytest.mark.timeout(0.2, func_only=True)
def test_works_beside_others():
    end = time.process_time() + 0.1
    while time.process_time() < end:
        time.sleep(0.01)  # what a busy machine does to it
        sum(range(300_000))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_what_a_test_leaves_behind_is_an_error_and_one_that_hangs_ends(tmp_path):
    said = outcome(tmp_path, BROKEN, "-o", "markers=system\nthorough")
    assert "3 failed, 8 passed, 5 errors" in said
    assert "FAILED test_it.py::test_workers - Failed: mark this test as system" in said
    for words in ("environment: LEFT", "working folder: /", "file: left", "mark this test as system"):
        assert words in said
    assert re.search(r"process: \d+ sleep 60", said)
    assert "time.sleep(50)" in said  # where it was, and why it ended
    assert "Timeout" in said
    assert "FAILED test_it.py::test_hangs" in said
    assert "FAILED test_it.py::test_works_without_end" in said


def test_a_minute_is_the_limit_where_tests_are_run_by_our_settings(pytestconfig):
    assert float(pytestconfig.getini("timeout")) == 60.0
    assert pytestconfig.pluginmanager.hasplugin("timeout")


MARKED = """
import pytest

@pytest.mark.parametrize("number", range(20))
def test_unit(number): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.system
def test_system(): pass
"""


@pytest.mark.thorough
def test_long_tests_come_first_and_with_a_seed_any(tmp_path):
    def order(**environment):
        words = ["--collect-only", "-o", "markers=system\nslow"]
        return [line for line in outcome(tmp_path, MARKED, *words, **environment).splitlines() if "::" in line]

    usual, shuffled = order(), order(ORDAG_SHUFFLE="1")
    assert [name.rpartition("::")[2] for name in usual[:3]] == ["test_system", "test_slow", "test_unit[0]"]
    assert sorted(shuffled) == sorted(usual)
    assert [name for name in shuffled if "unit" in name] != [name for name in usual if "unit" in name]
    assert order(ORDAG_SHUFFLE="1") == shuffled


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, "1 skipped"), thorough({"ORDAG_BROWSER": "required"}, "1 error"), ({"CI": "true"}, "1 error")],
)
def test_without_a_browser_pages_are_skipped_and_in_ci_fail(tmp_path, environment, said):
    text = "from chromium import browser\ndef test_it(browser):\n    pass\n"
    answer = outcome(tmp_path, text, "-rs", PATH=str(tmp_path), **environment)
    assert said in answer
    assert "There is no Chromium on this machine" in answer
