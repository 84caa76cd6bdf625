"""A plugin of pytest that records which lines of the source each test executes: `pytest -p tools.line_recorder`.

`sys.monitoring` (Python 3.12) calls back once per line and test, because each event is switched off where it was seen and all are
switched on again before the next test. What a fixture executes counts for every test of its file: a later one may use the same
fixture. How long a test takes is its processor time, so that other work on the machine does not count; where other processes do the
work (system tests), it is the time that passes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = str(ROOT / "src" / "ordag") + os.sep
TOOL = 3


class Recorder:
    def __init__(self) -> None:
        self.current: dict[str, int] = {}
        self.lines: dict[str, dict[str, int]] = {}
        self.fixtures: dict[str, dict[str, int]] = defaultdict(dict)
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    def seen(self, code, line: int):
        if code.co_filename.startswith(SOURCE):
            file = code.co_filename.removeprefix(SOURCE)
            self.current[file] = self.current.get(file, 0) | 1 << line
        return sys.monitoring.DISABLE

    def afresh(self) -> None:
        self.current = {}
        sys.monitoring.restart_events()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item):
        self.afresh()
        began = time.process_time()
        yield
        self.seconds[item.nodeid] += time.process_time() - began
        merge(self.fixtures[item.nodeid.split("::")[0]], self.current)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        self.afresh()
        began = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] += time.process_time() - began
            self.lines[item.nodeid] = self.current

    def pytest_runtest_logreport(self, report):
        if "system" in report.keywords:
            self.seconds[report.nodeid] = max(report.duration, self.seconds[report.nodeid])
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self):
        sys.monitoring.set_events(TOOL, 0)
        if not self.lines:
            return  # the process that only hands out tests
        for test in self.failed:  # it would notice every change
            self.lines.pop(test, None)
        for test, files in self.lines.items():
            merge(files, self.fixtures[test.split("::")[0]])
        part = {
            "seconds": {test: self.seconds[test] for test in self.lines},
            "text": {
                file: (Path(SOURCE) / file).read_text(encoding="utf-8") for file in set().union(*self.lines.values())
            },
            "lines": {test: {file: f"{mask:x}" for file, mask in files.items()} for test, files in self.lines.items()},
        }
        folder = ROOT / ".mutants"
        folder.mkdir(exist_ok=True)
        (folder / f"lines-{os.getpid()}.json").write_text(json.dumps(part), encoding="utf-8")


def merge(into: dict[str, int], more: dict[str, int]) -> None:
    for file, mask in more.items():
        into[file] = into.get(file, 0) | mask


def pytest_configure(config):
    recorder = Recorder()
    config.pluginmanager.register(recorder)
    sys.monitoring.use_tool_id(TOOL, "ordag")
    sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, recorder.seen)
    sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)
