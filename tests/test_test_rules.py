"""What `conftest.py` asks of every test, tried on tests that break it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
        timeout=60,
        env={**kept, "PYTHONPATH": os.pathsep.join([*sys.path, str(folder)]), **environment},
    ).stdout


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import os; os.environ['LEFT'] = '1'", "environment: LEFT"),
        ("import os; os.chdir('/')", "working folder: /"),
        ("import tempfile; tempfile.mkdtemp(prefix='left')", "file: left"),
        ("import subprocess; subprocess.run(['true'])", "mark this test as system"),
    ],
)
def test_what_a_test_leaves_behind_is_an_error(tmp_path, body, said):
    assert said in outcome(tmp_path, f"def test_it():\n    {body}\n")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_a_process_that_is_left_behind_is_an_error(tmp_path):
    text = (
        "import subprocess, pytest\n"
        "@pytest.fixture(scope='session', autouse=True)\n"
        "def ended():\n    yield\n    started.kill()\n    started.wait()\n"
        "@pytest.mark.system\n"
        "def test_it():\n    global started\n    started = subprocess.Popen(['sleep', '60'])\n"
    )
    assert "process: " in outcome(tmp_path, text, "-o", "markers=system")


def test_a_test_that_hangs_ends_with_its_name_and_stack(tmp_path):
    said = outcome(
        tmp_path, "import time\ndef test_it():\n    time.sleep(50)\n", "--timeout=0.2", "-o", "timeout_func_only=true"
    )
    assert "test_it.py" in said
    assert "time.sleep(50)" in said
    assert "Timeout" in said


@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, "1 skipped"), ({"ORDAG_BROWSER": "required"}, "1 error"), ({"CI": "true"}, "1 error")],
)
def test_without_a_browser_pages_are_skipped_and_in_ci_fail(tmp_path, environment, said):
    text = "from chromium import browser\ndef test_it(browser):\n    pass\n"
    answer = outcome(tmp_path, text, "-rs", PATH=str(tmp_path), **environment)
    assert said in answer
    assert "There is no Chromium on this machine" in answer
