"""`ProcessPool`: processes that run tasks, one at a time each. A task that is no longer awaited has its process killed.

A task is a function with its arguments, and is called with `progress=…`. Processes stay for the next task, so that a task costs no
start; they end by themselves when the server is gone, however it ended.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from anyio import CapacityLimiter, to_thread

from ordag.common.words import News
from ordag.common.workers import as_worker
from ordag.errors import OrdagError

Progress = Callable[[str], None]
AsyncProgress = Callable[[str], Awaitable[None]]

SECONDS_BETWEEN_NEWS = 0.1

SECONDS_TO_END = 5.0
"""To wait for a process that was killed."""

WAITING = "waiting for other work to end"


class WorkError(OrdagError):
    """A process that ended, or failed, in the middle of its work."""


class TaskError(OrdagError):
    """A refusal by a task, in its own words; `kind` is the class of the error that it raised."""

    def __init__(self, sentence: str, kind: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class ProcessPool:
    """Up to `most` processes, started when first needed."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._context = _context()
        self._processes: set[_Process] = set()
        self._idle: list[_Process] = []
        self._places: CapacityLimiter | None = None
        self._threads: CapacityLimiter | None = None

    async def run(self, task: Callable[..., Any], *given: Any, progress: AsyncProgress | None = None) -> Any:
        """Return what `task(*given, progress=…)` returns in another process, which a cancellation kills."""
        if self._places is None or self._threads is None:
            self._places, self._threads = CapacityLimiter(self.most), CapacityLimiter(4 * self.most)
        if progress is not None and not self._places.available_tokens:
            await progress(WAITING)
        async with self._places:
            process = await self._started((task, given))
            done = False
            try:
                while True:
                    kind, value = await to_thread.run_sync(
                        process.receive, limiter=self._threads, abandon_on_cancel=True
                    )
                    if kind != "news":
                        done = kind != "gone"
                        break
                    if progress is not None:
                        await progress(News(*value))
            finally:
                if done:
                    self._idle.append(process)
                else:
                    self._kill(process)
        if kind == "result":
            return value
        if kind == "refused":
            raise TaskError(*value)
        raise WorkError(value)

    async def _started(self, call: Any) -> _Process:
        """Send a call to an idle process, or to a new one. An idle process that has died is dropped."""
        while self._idle:
            process = self._idle.pop()
            if await self._sent(process, call):
                return process
        process = await to_thread.run_sync(_Process, self._context, limiter=self._threads)
        self._processes.add(process)
        if not await self._sent(process, call):
            raise WorkError("The worker process could not be started.")
        return process

    async def _sent(self, process: _Process, call: Any) -> bool:
        sent = False
        try:
            sent = await to_thread.run_sync(process.send, call, limiter=self._threads, abandon_on_cancel=True)
        finally:
            if not sent:
                self._kill(process)
        return sent

    def _kill(self, process: _Process) -> None:
        self._processes.discard(process)
        process.kill()

    def close(self) -> None:
        """End all processes."""
        self._idle.clear()
        for process in [*self._processes]:
            self._kill(process)
            process.process.join(SECONDS_TO_END)


class _Process:
    """A process, and the pipe to it."""

    def __init__(self, context: Any) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=[theirs], daemon=True)
        self.process.start()
        theirs.close()

    def send(self, call: Any) -> bool:
        """Send a call; return whether the process is there to take it."""
        try:
            self.pipe.send(call)
        except (OSError, ValueError):
            return False
        return True

    def receive(self) -> tuple[str, Any]:
        try:
            return self.pipe.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            self.process.join(SECONDS_TO_END)
            status = self.process.exitcode
            return ("gone", f"The worker process ended too early (status {status}): perhaps it took too much memory.")

    def kill(self) -> None:
        with suppress(OSError, ValueError):
            self.process.kill()


def _context() -> Any:
    """Return a way to start processes: where the system has it, from a small server that has imported what they need."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["ordag.workbench.ignore_interrupts", "ordag.workbench.tasks", "joblib", "threadpoolctl"]
    )
    return context


def _work(pipe: Connection) -> None:
    """Run the calls that come through a pipe, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls: queue.Queue[Any] = queue.Queue()

    def listen() -> None:
        try:
            while True:
                calls.put(pipe.recv())
        except BaseException:  # whatever it is, there is no server to work for
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    with as_worker():
        while True:
            task, given = calls.get()
            pipe.send(_outcome(task, given, _progress_through(pipe)))


def _progress_through(pipe: Connection) -> Progress:
    last = 0.0

    def progress(news: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_NEWS:
            last = now
            pipe.send(("news", (str(news), getattr(news, "share", None))))

    return progress


def _outcome(task: Callable[..., Any], given: tuple[Any, ...], progress: Progress) -> tuple[str, Any]:
    try:
        return "result", task(*given, progress=progress)
    except (OrdagError, MemoryError) as error:
        return "refused", (sentence_of(error), type(error).__name__)
    except Exception as error:
        return "failed", sentence_of(error)


def sentence_of(error: Exception) -> str:
    """Return an error as a sentence for the user: of errors that Ordag does not raise itself, only their class."""
    if isinstance(error, OrdagError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this: use fewer columns or a larger machine."
    return f"This failed because of a fault in Ordag ({type(error).__name__}). Another setting may do."
