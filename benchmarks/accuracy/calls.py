"""A table in, a method's matrix out, or word that it took too long: a worker process that is killed and started anew."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array

PEERS_PYTHON = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"  # that of `make peers`
LIMIT = 10  # seconds of CPU time per table
LOADING = 3600.0  # seconds on the wall that a package may take to load, which no call is charged for
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class Answer(NamedTuple):
    """The matrix, if the status is "ok"; else the status is "timeout" (of CPU time) or says what went wrong."""

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
        self._patience = 3600 + 10 * limit  # seconds on the wall, of which a busy machine may give it a few only
        self._folder = tempfile.TemporaryDirectory()
        self._table, self._answer = (Path(self._folder.name) / name for name in ("table.npy", "answer.npy"))
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._folder.cleanup()

    def __call__(self, X: Array) -> Answer:
        self.send(X)
        return self.receive()

    def send(self, X: Array) -> None:
        """Have it work on a table; `receive` waits for the answer, so that several workers can be at work."""
        np.save(self._table, X, allow_pickle=False)
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"table": str(self._table), "answer": str(self._answer)}) + "\n")
        process.stdin.flush()

    def receive(self) -> Answer:
        reply = self._line(self._patience)
        if not reply:
            status = "the process ended" if reply == "" else f"no answer in {self._patience} s on the wall"
            late = self._stop() == -signal.SIGXCPU
            return Answer(None, "timeout" if late else status, float(self._limit), None)
        said = json.loads(reply)
        matrix = np.load(self._answer, allow_pickle=False) if said["status"] == "ok" else None
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
                start_new_session=True,  # so that whatever it starts can be ended with it
            )
            if self._line(LOADING) != "ready\n":
                self._stop()
                raise RuntimeError(f"This did not start: {' '.join(self._command)}. Is the package installed there?")
        return self._process

    def _line(self, seconds: float) -> str | None:
        """The next line of the worker, an empty one if it ended, None if none came in time."""
        assert self._process is not None
        assert self._process.stdout is not None
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not selector.select(max(min(1.0, end - time.monotonic()), 0.0)):
                if self._process.poll() is not None:
                    return ""  # something that it started holds its output open
                if time.monotonic() >= end:
                    return None
            return self._process.stdout.readline()

    def _stop(self) -> int | None:
        """The exit status of the process, if there was one. What it started ends with it."""
        process, self._process = self._process, None
        if process is None:
            return None
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.5)  # it ends where it has no more to read, or ran out of time
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        return process.wait()
