"""Machine code is made once, whichever process of the tests asks for it first: the others wait, and read it from the cache.

The processes that run tests would each compile the same search as soon as a test calls it, which takes as long as a third of `make
check`. `begin` has a process of its own compile it while they still import the tests.
"""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from ordag.common.compiling import will_compile
from ordag.learners.order_search import kernel

LOCK = Path(kernel.__file__).with_name("__pycache__") / "compiling.lock"


def share() -> None:
    """Let one process at a time compile. One that has waited finds the machine code in the cache."""
    try:
        import fcntl

        from numba.core.compiler_lock import global_compiler_lock
        from numba.core.dispatcher import Dispatcher
    except ImportError:  # Windows, or nothing is compiled
        return
    usual = Dispatcher.compile
    held = False

    @contextmanager
    def alone():
        nonlocal held
        with global_compiler_lock:  # one thread at a time, and the same again for a function that another one calls
            if held:
                yield
                return
            LOCK.parent.mkdir(exist_ok=True)
            with LOCK.open("w") as file:
                left, _ = signal.setitimer(signal.ITIMER_REAL, 0)  # to wait for another process is not to hang
                fcntl.flock(file, fcntl.LOCK_EX)
                signal.setitimer(signal.ITIMER_REAL, left)
                held = True
                try:
                    yield
                finally:
                    held = False

    def compile(self, signature):
        with alone():
            return usual(self, signature)

    Dispatcher.compile = compile


def begin() -> subprocess.Popen[bytes] | None:
    """Compile in the background what most tests need, unless an earlier run has."""
    if not will_compile(kernel.search):
        return None
    return subprocess.Popen([sys.executable, __file__], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    share()
    import ordag

    ordag.learn("sachs")


def as_it_stands(module):
    """Return the module once more, with its functions as they stand, not compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORDAG_COMPILED", "0")
        spec = importlib.util.spec_from_file_location("plain", module.__file__)
        plain = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(plain)
    return plain
