"""What is asked of every test, and what tests of several rooms use.

A test is a *unit* test unless it, or its file, is marked: `system` needs a browser, server, cluster, child process or notebook and
runs with one Python; `thorough` takes long and runs with `make thorough`, system tests among them in CI too. `slow` marks the unit
tests that `make check` leaves out.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing.util import Finalize
from pathlib import Path

import compiling
import pytest
from chromium import browser, watched  # noqa: F401
from hanging import pytest_timeout_set_timer  # noqa: F401
from hypothesis import settings
from joblib.externals.loky.backend.process import LokyProcess
from threadpoolctl import threadpool_limits

from ordag.cli import main

os.environ.setdefault("OMP_NUM_THREADS", "1")
threadpool_limits(int(os.environ["OMP_NUM_THREADS"]))
"""One thread of BLAS, here and in what tests start: two of them wait for each other in the many small products of oracles."""

settings.register_profile("new", max_examples=10, deadline=None)
settings.register_profile("same", settings.get_profile("new"), derandomize=True)
settings.register_profile("quick", settings.get_profile("new"), max_examples=5)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "new"))
"""How many random cases a property gets: `new` looks for new ones every time, `same` (CI) takes the same ones,
`quick` (`make check`) few, `thorough` many."""

if (
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN
):  # as in the background of a shell: what the tests start would never hear of Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parent.parent
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # where pytest keeps the folders of its last runs
TEMPORARY = tempfile.mkdtemp(prefix="ordag-tests-")
os.environ["TMPDIR"] = tempfile.tempdir = TEMPORARY
"""Temporary files of this process have a folder of their own, so that one left behind is seen."""


Finalize(None, shutil.rmtree, args=(TEMPORARY, True), exitpriority=-1000)
"""At the end of this process, and only after multiprocessing has removed its own folder in there."""


compiling.share()


def pytest_configure(config):
    """Where several processes run tests, machine code is made meanwhile."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        process = compiling.begin()
        if process is not None:
            config.add_cleanup(process.wait)


def pytest_ignore_collect(collection_path, config):
    """Import no file of system tests where they are left out: browsers, clusters and notebooks take long to import."""
    if config.option.markexpr.startswith("not system and") and collection_path.match("test_*.py"):
        text = collection_path.read_text(encoding="utf-8")
        return re.search(r"^pytestmark = .*mark\.system", text, re.MULTILINE) is not None or None
    return None


def pytest_collection_modifyitems(items):
    """Long tests first, so that no process waits for another at the end; with ORDAG_SHUFFLE=seed in random order."""
    for item in items:
        if item.get_closest_marker("thorough") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(1800))
    if seed := os.environ.get("ORDAG_SHUFFLE"):
        random.Random(seed).shuffle(items)
    else:
        items.sort(
            key=lambda item: 0 if item.get_closest_marker("system") else 1 if item.get_closest_marker("slow") else 2
        )


KEPT_PROCESSES = ("loky", "resource_tracker", "forkserver", "spawn_main", "playwright")
"""Processes that libraries keep for the next call, or start again when one is lost (Dask)."""

STARTED: list[str] = []
"""What the running test has started: names of audit events."""


def _noticed(event: str, words) -> None:
    starts = event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.bind")
    if starts and "lscpu" not in str(words):  # by which joblib counts cores
        STARTED.append(event)


sys.addaudithook(_noticed)


def _command(process: str) -> str:
    """The command line of a process; nothing for one that has ended.

    One that has just been started has none yet: that comes a moment after its parent may go on.
    """
    place = Path("/proc", process)
    with suppress(OSError):  # it has ended meanwhile
        while (place / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
            if words := (place / "cmdline").read_bytes():
                return words.replace(b"\0", b" ").decode(errors="replace")
            time.sleep(0.001)
    return ""


def _processes() -> set[str]:
    """The children of this process that run, with their command lines; none where there is no /proc."""
    found = set()
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # of a thread that has ended meanwhile
            for child in children.read_text().split():
                words = _command(child)
                if words and not any(name in words for name in KEPT_PROCESSES):
                    found.add(f"{child} {words[:200]}")
    return found


def _files() -> set[str]:
    return {name for name in os.listdir(ROOT) if not name.startswith(".")} | {
        name
        for name in os.listdir(TEMPORARY)
        if not name.startswith(("pytest-", "pymp-", "joblib_", "playwright", "sklearn_testing_", "dask-scratch"))
    }


def _stored() -> dict[bytes | str, bytes | str]:
    """The environment as Python keeps it: what it shows is decoded, which takes ten times as long."""
    return dict(os.environ._data)


SET_BY_LIBRARIES = ("PYTEST_", "KMP_", "_RJEM_")  # the last by Polars, when it is imported


def _changed(before: dict[bytes | str, bytes | str]) -> list[str]:
    now = _stored()
    keys = [os.fsdecode(key) for key in before.keys() | now.keys() if before.get(key) != now.get(key)]
    return [key for key in keys if not key.startswith(SET_BY_LIBRARIES)]


@pytest.fixture(autouse=True)
def one_core(request):
    """A unit test sees one core, so that nothing asks joblib for workers, which would be slower for a small table."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.get_closest_marker("system"):
            patch.setenv("LOKY_MAX_CPU_COUNT", "1")
            patch.setattr(LokyProcess, "start", lambda _: pytest.fail("mark this test as system"))
        yield


@pytest.fixture(autouse=True)
def leaves_nothing_behind(request, one_core):
    """Fail a test that leaves a process, a file outside its folder, another working folder or a changed environment behind.

    A unit test starts no process at all.
    """
    system = request.node.get_closest_marker("system")
    environment, folder, files, processes = _stored(), os.getcwd(), _files(), _processes() if system else set()
    STARTED.clear()
    yield
    if not system:
        assert STARTED == [], "mark this test as system"
    problems = [
        *(f"environment: {key}" for key in _changed(environment)),
        *([f"working folder: {os.getcwd()}"] if os.getcwd() != folder else []),
        *(f"file: {name}" for name in _files() - files),
        *(f"process: {words}" for words in (_processes() - processes if system else ())),
    ]
    assert problems == []


@pytest.fixture(autouse=True, scope="session")
def short_forecasts():
    """Every answer has a verdict, and every verdict a forecast: from fewer tables than a user's, where nobody says how many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordag.assess.forecast.MOST_TABLES", 4)
        yield


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run `ordag` with these words in an empty folder; gives status, output, messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # set where tests run in several processes: a pipe has no width

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["ordag", *map(str, words)])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = stop.code or 0
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call
