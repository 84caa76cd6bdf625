"""Work shared among processes: how many, in which order, and in which state."""

import os
import select
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import joblib
import pytest
from joblib.parallel import ThreadingBackend
from threadpoolctl import threadpool_info

from ordag.common import workers
from ordag.common.workers import BATCHES_PER_WORKER, as_worker, in_parallel, stopped_after, worker_count
from ordag.errors import OrdagWarning, SettingError


class AllTogether(ThreadingBackend):
    """A backend without generators, such as Ray's."""

    supports_return_generator = False


def square(x):
    return x * x


def test_how_many():
    assert worker_count(2) == 2
    assert worker_count(None) == joblib.cpu_count()
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert worker_count(None) == 3
    for wrong in (0, -1, 1.5, True, "two"):
        with pytest.raises(SettingError, match="give a whole number, at least one"):
            worker_count(wrong)


@pytest.mark.parametrize("ordered", [True, False])
def test_every_batch_comes_back(ordered):
    joblib.register_parallel_backend("together", AllTogether)
    for backend in ("threading", "together"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            found = list(in_parallel(square, range(4 * BATCHES_PER_WORKER), 2, ordered=ordered))
            assert (
                found == [x * x for x in range(4 * BATCHES_PER_WORKER)]
                if ordered
                else len(found) == 4 * BATCHES_PER_WORKER
            )
            assert list(in_parallel(square, [], 2, ordered=ordered)) == []


def test_the_rest_is_not_run_after_a_stop():
    with stopped_after(square(x) for x in range(10)) as results:
        assert next(results) == 0
    assert list(results) == []


def test_one_thread_and_no_warnings():
    with as_worker():
        warnings.warn("not to be seen", OrdagWarning, stacklevel=1)
        assert {library["num_threads"] for library in threadpool_info()} <= {1}


@pytest.mark.parametrize(("ended", "watched"), [(False, True), (True, True), (False, False)])
def test_a_worker_looks_for_its_parent(monkeypatch, ended, watched):
    """Its own parent, one that was gone before the first look, and one that is not its own."""
    parents = iter([41 if watched and not ended else 7, 41, 41, 7] if not ended else [7, 7])
    threads, slept, status = [], [], []
    monkeypatch.setattr(workers, "parent_process", lambda: SimpleNamespace(pid=41))
    monkeypatch.setattr(workers, "_is_there", lambda pid: not ended)
    monkeypatch.setattr(workers, "_watching", threading.Event())
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr(workers.time, "sleep", slept.append)
    monkeypatch.setattr(os, "_exit", status.append)
    monkeypatch.setattr(
        workers.threading,
        "Thread",
        lambda target, args, **_: SimpleNamespace(start=lambda: threads.append((target, args))),
    )
    workers.end_with_parent()
    assert len(threads) == watched
    for target, args in threads:
        target(*args)
        workers.end_with_parent()  # once is enough
    assert len(threads) == watched
    assert status == [1] * watched
    assert len(slept) == (2 if watched and not ended else 0)


KILLED = """
import os, sys
import numpy as np
from ordag.common.workers import as_worker, in_parallel

class Work:
    rows = np.zeros(2**20)  # which joblib keeps in shared memory

    def __call__(self, k):
        with as_worker():
            os.write(1, f"{os.getpid()}\\n".encode())  # whole, whoever else writes
            return self.rows.sum() if k < 100 else 0.0

if __name__ == "__main__":
    work = Work()
    work.rows = Work.rows
    for _ in in_parallel(work, range(10**6), 2, ordered=True):
        pass
"""


@pytest.mark.thorough
@pytest.mark.system
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for processes that are not its own")
def test_workers_of_a_killed_process_end_and_leave_no_memory_behind(tmp_path):
    script, memory = tmp_path / "killed.py", tmp_path / "memory"
    script.write_text(KILLED)
    memory.mkdir()
    kept = {**os.environ, "JOBLIB_TEMP_FOLDER": str(memory)}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=kept
    ) as parent:
        pids = set()
        while len(pids) < 2:
            pids.add(int(parent.stdout.readline()))
        others = [os.pidfd_open(pid) for pid in pids | children(parent.pid)]  # workers, and who cleans up after them
        assert list(memory.iterdir())
        os.kill(parent.pid, signal.SIGKILL)
        parent.stdout.read()  # until nobody can write to it any more
    for other in others:
        assert select.select([other], [], [], 50)[0]
        os.close(other)
    assert not list(memory.iterdir())


def children(pid):
    """The processes that this one has started."""
    return {int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split()}
