"""`Crew`: processes that do what takes long, one task at a time each. Whoever no longer wants an answer has its process killed.

A task is a function and its arguments, and is called with `tell`, to which it says how far it is. Workers wait for the next task, so a
task costs no start of a process; they end by themselves when the server is gone, however it went.
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

from ordag.errors import OrdagError
from ordag.words import News
from ordag.workers import as_worker

Tell = Callable[[str], None]
Hear = Callable[[str], Awaitable[None]]

OFTEN = 0.1
"""Seconds between two pieces of news, at least."""

WAITING = "waiting for other work to end"


class WorkError(OrdagError):
    """A process that ended, or failed, in the middle of its work."""


class TaskError(OrdagError):
    """What a task refused, in its own words; `kind` is the class of the error that it raised."""

    def __init__(self, sentence: str, kind: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class Crew:
    """As many processes as there are tasks at a time, `most` of them at the most; they are started when first needed.

    For one that is killed another is started at once, so that the next task need not wait for it.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._context = _context()
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._lock, self._closed = threading.Lock(), False
        self._places: CapacityLimiter | None = None
        self._threads: CapacityLimiter | None = None

    async def run(self, function: Callable[..., Any], *given: Any, hear: Hear | None = None) -> Any:
        """What `function(*given, tell=…)` gives in another process, which is killed if nobody waits for it any more."""
        if self._places is None or self._threads is None:
            self._places, self._threads = CapacityLimiter(self.most), CapacityLimiter(4 * self.most)
        if hear is not None and not self._places.available_tokens:
            await hear(WAITING)
        async with self._places:
            worker = await self._ready((function, given))
            done = False
            try:
                while True:
                    kind, value = await to_thread.run_sync(worker.heard, limiter=self._threads, abandon_on_cancel=True)
                    if kind != "news":
                        done = kind != "gone"
                        break
                    if hear is not None:
                        await hear(News(*value))
            finally:
                if done:
                    self._idle.append(worker)
                else:
                    self._dismiss(worker)
                    threading.Thread(target=self._replace, daemon=True).start()
        if kind == "result":
            return value
        if kind == "refused":
            raise TaskError(*value)
        raise WorkError(value)

    async def _ready(self, task: Any) -> _Worker:
        """A worker that has been given the task. One that has died while it was idle is replaced."""
        while self._idle:
            worker = self._idle.pop()
            if await self._given(worker, task):
                return worker
        worker = await to_thread.run_sync(_Worker, self._context, limiter=self._threads)
        self._workers.add(worker)
        if not await self._given(worker, task):
            raise WorkError("The process that was to do this could not be started.")
        return worker

    async def _given(self, worker: _Worker, task: Any) -> bool:
        given = False
        try:
            given = await to_thread.run_sync(worker.give, task, limiter=self._threads, abandon_on_cancel=True)
        finally:
            if not given:
                self._dismiss(worker)
        return given

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        worker.kill()

    def _replace(self) -> None:
        """One more idle process, unless there is one."""
        with self._lock:
            if not (self._closed or self._idle):
                worker = _Worker(self._context)
                self._workers.add(worker)
                self._idle.append(worker)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._closed = True
        self._idle.clear()
        for worker in [*self._workers]:
            self._dismiss(worker)
            worker.process.join(5.0)


class _Worker:
    """A process, and the pipe to it."""

    def __init__(self, context: Any) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=[theirs], daemon=True)
        self.process.start()
        theirs.close()

    def give(self, task: Any) -> bool:
        """Whether the process is there to take it."""
        try:
            self.pipe.send(task)
        except (OSError, ValueError):
            return False
        return True

    def heard(self) -> tuple[str, Any]:
        try:
            return self.pipe.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            self.process.join(5.0)
            status = self.process.exitcode
            return (
                "gone",
                f"The process that worked on this ended before it was done (status {status}): perhaps it took too much memory.",
            )

    def kill(self) -> None:
        with suppress(OSError, ValueError):
            self.process.kill()


def _context() -> Any:
    """Processes that come from a small server which has imported what they need, where the system has that."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["ordag.explore.without_interrupts", "ordag.explore.tasks", "joblib", "threadpoolctl"]
    )
    return context


def _work(pipe: Connection) -> None:
    """A worker's life: tasks, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks: queue.Queue[Any] = queue.Queue()

    def listen() -> None:
        try:
            while True:
                tasks.put(pipe.recv())
        except BaseException:  # whatever it is, there is nobody to work for
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    with as_worker():
        while True:
            function, given = tasks.get()
            pipe.send(_done(function, given, _teller(pipe)))


def _teller(pipe: Connection) -> Tell:
    last = 0.0

    def tell(news: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= OFTEN:
            last = now
            pipe.send(("news", (str(news), getattr(news, "share", None))))

    return tell


def _done(function: Callable[..., Any], given: tuple[Any, ...], tell: Tell) -> tuple[str, Any]:
    try:
        return "result", function(*given, tell=tell)
    except (OrdagError, MemoryError) as error:
        return "refused", (sentence_of(error), type(error).__name__)
    except Exception as error:
        return "failed", sentence_of(error)


def sentence_of(error: Exception) -> str:
    """What a person is told of an error: of those that Ordag does not raise itself, no more than that."""
    if isinstance(error, OrdagError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this: use fewer columns or a larger machine."
    return f"This failed because of a fault in Ordag ({type(error).__name__}). Another setting may do."
