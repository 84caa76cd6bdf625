"""The command line as a process among others: full disks, signals, and what it leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from budgets import thorough

pytestmark = pytest.mark.system

SIGNALLED = """
import os, signal, sys, threading, time
import ordag.resampling.replicates as replicates
from joblib.externals.loky import reusable_executor
import joblib.externals.loky.backend.synchronize as synchronize
from joblib.executor import MemmappingExecutor
from joblib.externals.loky.backend import queues
from ordag.cli import main
from ordag.cli.progress import Progress

replicates.PATIENCE = replicates.BATCH_SECONDS = 0.001

# The thread that feeds the workers is the last to hold semaphores, and slow to give them back.
feed, terminate, unlink, gone = queues.Queue._feed, MemmappingExecutor.terminate, synchronize.sem_unlink, threading.Event()

def slow_to_end(*given):
    feed(*given)
    gone.wait(5)

def terminated(self, *given, **more):
    terminate(self, *given, **more)
    gone.set()
    time.sleep(0.05)

def slow_to_give_back(name):
    unlink(name)
    time.sleep(0.1 if threading.current_thread().daemon else 0)

queues.Queue._feed, MemmappingExecutor.terminate, synchronize.sem_unlink = staticmethod(slow_to_end), terminated, slow_to_give_back

def stop_when_workers_are_there(self, news):
    executor = reusable_executor._executor
    if executor is not None and executor._processes:
        print(*executor._processes, flush=True)
        os.killpg(os.getpgid(0), signal.SIGINT) if "int" in sys.argv else os.kill(os.getpid(), signal.SIGTERM)

Progress.__call__ = stop_when_workers_are_there
sys.argv[1:] = ["learn", "marks", "--method", "gds", "--bootstrap", "3000", "--workers", "2", *sys.argv[2:]]
main()
"""


INTERRUPTED = """
import os, signal, sys
import numpy as np, pandas as pd
from ordag.common import linalg
from ordag.cli import main
from ordag.cli.progress import Progress

linalg.LAPACK_COLUMNS = 0  # the inverse in blocks, as of many more columns
stage, path = sys.argv[1:3]
heard = []

def stop(self, news):
    if heard and heard[0] == "stop":
        print("went on")
    if stage in news and not heard:
        heard.append("stop")
        os.kill(os.getpid(), signal.SIGINT)

Progress.__call__ = stop
pd.DataFrame(np.random.default_rng(0).standard_normal((2500, 1100)).astype("float32")).rename(columns=str).to_parquet(path)
sys.argv[1:] = ["learn", path, "--method", "cvs"]
main()
print("to its end")
"""


@pytest.mark.thorough
@pytest.mark.parametrize("stage", [thorough("read"), thorough("ordered"), "regressed"])
def test_a_large_table_can_be_interrupted_at_every_stage(tmp_path, stage):
    """While the file is read, while variables are ordered, and while their regressions are made: nothing follows the signal."""
    result = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, stage, str(tmp_path / "wide.parquet")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 130, result.stderr
    assert result.stderr.splitlines()[-1] == "ordag: stopped"
    assert result.stdout == ""


DEEP_IN_A_LIBRARY = """
import ctypes, os, sys
from ordag.cli import main

libc = ctypes.CDLL(None)
libc.popen.restype = ctypes.c_void_p
signal = sys.argv[1]

def never_done(descriptor):
    # pclose closes the pipe and then waits; the shell sends the signal when the pipe is closed, so Python is in C by then
    script = f"exec > /dev/null 2>&1; read word; kill -{signal} $PPID; while kill -0 $PPID; do sleep 0.1; done"
    shell = libc.popen(script.encode(), b"w")
    print(*os.listdir("."), flush=True)
    libc.pclose(ctypes.c_void_p(shell))

os.fsync = never_done
sys.argv[1:] = sys.argv[2:]
main()
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that sends signals")
@pytest.mark.parametrize(("which", "status"), [thorough("INT", 130), ("TERM", 143)])
def test_a_signal_ends_even_a_library_that_does_not_come_back(tmp_path, which, status):
    """Here it is the disk that takes for ever, when the whole file has been written beside its place."""
    words = ["learn", "-", "--method", "cvs", "--out", "edges.csv"]
    result = subprocess.run(
        [sys.executable, "-c", DEEP_IN_A_LIBRARY, which, *words],
        input="a,b\n1,2\n2,1\n3,5\n4,4\n7,3\n6,1\n",
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert result.returncode == status, result.stderr
    assert result.stderr.splitlines()[-1] == "ordag: stopped"
    there = result.stdout.splitlines()[-1].split()
    assert len(there) == 2  # the file of the answer and the folder of standard input
    assert not list(tmp_path.iterdir())


def running(pid):
    """Whether there is a process of this number that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(("which", "status"), [thorough("term", 143), ("int", 130)])
def test_a_signal_leaves_no_worker_and_no_memory_behind(tmp_path, which, status):
    code = SIGNALLED.replace('"int" in sys.argv', repr(which == "int"))
    result = subprocess.run(
        [sys.executable, "-c", code, which],
        capture_output=True,
        text=True,
        timeout=600,
        start_new_session=True,
        env={**os.environ, "JOBLIB_TEMP_FOLDER": str(tmp_path)},
    )
    assert result.returncode == status
    assert result.stderr.splitlines()[-1] == "ordag: stopped"
    workers = [int(word) for word in result.stdout.split()]
    assert workers
    assert not [pid for pid in workers if running(pid)]
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "words",
    [
        ["learn", "marks", "--method", "cvs"],
        thorough(["learn", "marks", "--json"]),
        thorough(["simulate", "-n", "5000"]),
    ],
)
def test_a_full_disk_is_one_sentence(words):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "ordag", *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=600
        )
    assert result.returncode == 2
    assert result.stderr.startswith("Error: The answer could not be written: ")
    assert result.stderr.count("\n") == 1


def test_ctrl_c_while_libraries_are_loaded_is_one_line(tmp_path):
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "ordag", "--version"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ordag: stopped\n")
