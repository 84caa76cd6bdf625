"""Share work among processes: how many to use, what each may do, and how their results come back."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import parent_process
from typing import Any, TypeVar

from ordag.common.checks import is_whole, short
from ordag.errors import OrdagWarning, SettingError, WorkerError

Batch = TypeVar("Batch")
Found = TypeVar("Found")

BATCHES_PER_WORKER = 4
"""Batches per worker that are handed out at once where a backend returns all results together."""

SECONDS_BETWEEN_LOOKS = 0.5
"""At whether the parent of a worker is still there."""

_watching = threading.Event()


def worker_count(workers: int | None) -> int:
    """Return how many workers to use: the given number, that of a surrounding `joblib.parallel_config`, or one for every core."""
    if workers is not None and not is_whole(workers, 1):
        raise SettingError(f"workers={short(workers)}: give a whole number, at least one.")
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    configured = get_active_backend()[1]
    default = -1 if configured in (None, 1) else configured
    count = int(effective_n_jobs(default if workers is None else workers))
    return count if workers is None else min(count, workers)


@contextmanager
def as_worker() -> Iterator[None]:
    """Run work that may be in another process.

    Linear algebra has one thread, so that digits are the same everywhere; warnings of Ordag are off; and Ctrl-C, which reaches all
    processes of a terminal, is left to the parent.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    end_with_parent()
    if parent_process() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdagWarning)
        yield


def end_with_parent() -> None:
    """Let a worker end soon after its parent, even one that was killed.

    Else the worker would wait for its next task for ever, and what joblib has in shared memory would stay: it is removed after the last
    worker.
    """
    parent = parent_process()
    if parent is None or parent.pid is None or sys.platform == "win32" or _watching.is_set():
        return
    if os.getppid() == parent.pid or not _is_there(parent.pid):  # else something stands between the two
        _watching.set()
        threading.Thread(target=_watch, args=[parent.pid], daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # a process of another user
        return True
    return True


def in_parallel(
    work: Callable[[Batch], Found], batches: Sequence[Batch], workers: int, *, ordered: bool
) -> Generator[Found, None, None]:
    """Yield what `work` makes of each batch, by any backend of joblib: in order, or else as the results come."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    backend = get_active_backend()[0]
    streams = getattr(backend, "supports_return_generator", False)
    wave, at_once = (len(batches), "2 * n_jobs") if streams else (BATCHES_PER_WORKER * workers, workers)
    kind: Any = "list" if not streams else "generator" if ordered else "generator_unordered"
    with getattr(backend, "carrying", nullcontext)(work) as carried:
        calls = [delayed(_called)(carried, batch) for batch in batches]
        for start in range(0, len(calls), wave or 1):
            parallel = Parallel(n_jobs=workers, batch_size=1, pre_dispatch=at_once, return_as=kind)
            try:
                yield from parallel(calls[start : start + wave])
            except BrokenExecutor as error:
                raise WorkerError(
                    "A worker process was killed, most often because memory ran out: use fewer workers (workers=1), which need less."
                ) from error


def _called(work: Callable[[Batch], Found], batch: Batch) -> Found:
    end_with_parent()
    return work(batch)


@contextmanager
def stopped_after(results: Generator[Found, None, None]) -> Iterator[Iterator[Found]]:
    """Stop the workers when the block ends, however it ends, without joblib's warning about cancelled tasks."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()
