"""A table in, a method's matrix out, or word that it took too long: a worker process that is killed and started anew."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordag.arrays import Array

PEERS_PYTHON = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"  # that of `make peers`
LIMIT = 60  # seconds of CPU time per table
PATIENCE = 4  # times that on the wall, at most
LOADING = 300.0  # seconds that a package may take to load, which no call is charged for
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class Answer(NamedTuple):
    """The matrix, if the status is "ok"; else the status is "timeout" or says what went wrong."""

    matrix: Array | None
    status: str
    seconds: float
    cpu_seconds: float | None


class Worker:
    """One call with one Python, for as many tables as are sent. Use it as a context."""

    def __init__(self, python: str, call: str, settings: dict[str, Any], limit: int = LIMIT) -> None:
        script = str(Path(__file__).with_name("worker.py"))
        # -P: the files beside the script are not for its packages to import
        self._command = [python, "-P", script, call, json.dumps(settings), str(limit)]
        self._limit = limit
        self._folder = tempfile.TemporaryDirectory()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._folder.cleanup()

    def __call__(self, X: Array) -> Answer:
        table, answer = (str(Path(self._folder.name) / name) for name in ("table.npy", "answer.npy"))
        np.save(table, X, allow_pickle=False)
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"table": table, "answer": answer}) + "\n")
        process.stdin.flush()
        reply = self._line(PATIENCE * self._limit)
        if not reply:
            late = self._stop() == -signal.SIGXCPU or reply is None
            return Answer(None, "timeout" if late else "the process ended", float(self._limit), None)
        said = json.loads(reply)
        matrix = np.load(answer, allow_pickle=False) if said["status"] == "ok" else None
        return Answer(matrix, said["status"], said["seconds"], said["cpu_seconds"])

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                env={**os.environ, **SINGLE},
            )
            if self._line(LOADING) != "ready\n":
                self._stop()
                raise RuntimeError(f"This did not start: {' '.join(self._command)}. Is the package installed there?")
        return self._process

    def _line(self, seconds: float) -> str | None:
        """The next line of the worker, an empty one if it ended, None if none came in time."""
        assert self._process is not None
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            return self._process.stdout.readline() if selector.select(seconds) else None

    def _stop(self) -> int | None:
        """The exit status of the process, if there was one."""
        process, self._process = self._process, None
        if process is None:
            return None
        if process.poll() is None and not _ended(process):
            process.kill()
        process.communicate()
        return process.returncode


def _ended(process: subprocess.Popen[str]) -> bool:
    """Whether a process that closed its output is gone within a moment."""
    try:
        process.wait(0.5)
    except subprocess.TimeoutExpired:
        return False
    return True
