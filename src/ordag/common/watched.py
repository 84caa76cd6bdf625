"""Work in a process of its own, watched: a crash, too much memory or too much time of it is an error here, not the end of this process.

The process is a plain Python that gets the work through its standard input and writes the result to a file. So a script that has no
`if __name__ == "__main__"` is not run again, as multiprocessing would do.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")

PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); from ordag.common.watched import child; child()"
)

MOST_SECONDS = 300.0
MOST_BYTES = 1 << 33
"""Of memory that can be asked for, more than libraries reserve by themselves."""

OUT_OF_MEMORY = 77
"""Exit status."""


class WatchedError(Exception):
    """The process did not come to an end; the message says what happened, in words that follow the name of the work."""


def watched(
    work: Callable[..., Result], *given: Any, seconds: float = MOST_SECONDS, memory: int = MOST_BYTES
) -> Result:
    """Return what `work(*given)` returns or raise what it raises, in another process; `work` is a function of a module."""
    if not sys.executable:  # Python within another program
        return work(*given)
    with tempfile.TemporaryDirectory(prefix="ordag-") as folder:
        path = Path(folder) / "result"
        message = pickle.dumps(sys.path) + pickle.dumps((work, given, str(path), memory))
        environment = {**os.environ, "PYTHONFAULTHANDLER": ""}
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        try:
            process.communicate(message, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise WatchedError(f"took more than {seconds:,.0f} seconds") from error
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        if process.returncode == OUT_OF_MEMORY:
            raise WatchedError(f"took more than {memory / 1e9:.0f} GB of memory")
        if process.returncode or not path.exists():
            raise WatchedError(_ended(process.returncode))
        kind, value = pickle.loads(path.read_bytes())
    if kind == "raised":
        raise value
    found: Result = value
    return found


def _ended(status: int) -> str:
    """Say how a process ended."""
    name = ""
    if status < 0:
        with suppress(ValueError):
            name = f", {signal.Signals(-status).name}"
    return f"ended the process that ran it (status {status}{name})"


def child() -> None:
    """Do the work that comes through standard input."""
    work, given, path, memory = pickle.load(sys.stdin.buffer)
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    try:
        outcome = "result", work(*given)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except Exception as error:
        outcome = "raised", error
    written = Path(f"{path}.part")
    written.write_bytes(pickle.dumps(outcome))
    written.replace(path)
    os._exit(0)
