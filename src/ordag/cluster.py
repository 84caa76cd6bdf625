"""A Dask cluster: who speaks for it, waiting for its answers in bounded time, and what can go wrong with it, in one sentence."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from ordag.checks import short
from ordag.errors import ClusterError, OrdagError, SettingError
from ordag.words import cut, harmless

CONNECT = 10.0
"""Seconds in which a scheduler must answer at first."""

CLOSE = 2.0
"""Seconds that a scheduler has to answer when a client takes its leave."""

LOOK = 2.0
"""Seconds between two looks at the cluster while work is under way."""

SILENCE, NO_WORKERS = 30.0, 300.0
"""Seconds after which a scheduler that does not answer is given up, and a cluster to which no worker comes."""

HELP = "pip install 'ordag[dask]'"


def current_client() -> Any | None:
    """The client that Dask itself would use, if it would use one: that of a `with` block, or the last one made."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    import dask

    if dask.config.get("scheduler", None) not in (None, "distributed", "dask.distributed"):
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None


@contextmanager
def connected(client: Any | None) -> Iterator[Any | None]:
    """This client, or one for the scheduler at this address, as the one that Dask uses; None stays None."""
    if client is None:
        yield None
        return
    try:
        import distributed
    except ImportError as error:
        raise SettingError(f"Dask, which speaks to clusters, is not installed: {HELP}.") from error
    if isinstance(client, str):
        with _opened(distributed, client) as made, made.as_current():
            yield made
        return
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise SettingError(
            f"client={short(client)}: give a Dask client that is not asynchronous, or the address of a scheduler."
        )
    Watch(client).look()
    with client.as_current():
        yield client


@contextmanager
def _opened(distributed: Any, address: str) -> Iterator[Any]:
    """A client of its own for the scheduler at this address, closed at the end."""
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # what goes wrong is said in one sentence, not in pages
    try:
        _greet(distributed, address)
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except Exception as error:  # whoever listens there may answer with anything
        raise ClusterError(
            f"The scheduler at {harmless(address)} cannot be reached, or is no Dask scheduler ({_unreached(error)}): is it running, and "
            "is its address written like tcp://host:8786?"
        ) from error
    else:
        try:
            yield client
        finally:
            with suppress(TimeoutError, OSError):
                client.close(timeout=CLOSE)
    finally:
        log.setLevel(level)


def _unreached(error: Exception) -> str:
    """Why; what Dask makes of the words of another service is of no use to a reader."""
    return _reason(error) if isinstance(error, OSError | ValueError | ImportError) else "another service answers there"


def _greet(distributed: Any, address: str) -> None:
    """Make sure that a scheduler answers at this address, in bounded time.

    A client waits without end for somebody who takes its call and says nothing, and cannot be stopped meanwhile. So a thread asks first,
    which is left to itself when the time is up.
    """
    answers: list[Any] = []

    async def ask() -> Any:
        known = distributed.Security().get_connection_args("client")
        async with distributed.rpc(address, connection_args=known, timeout=CONNECT) as scheduler:
            return await scheduler.identity()

    def asking() -> None:
        try:
            answers.append(asyncio.run(ask()))
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=asking, name="ordag-greeting", daemon=True)
    thread.start()
    thread.join(CONNECT)
    answer = answers[0] if answers else TimeoutError(f"no answer within {CONNECT:g} seconds")
    if isinstance(answer, Exception):
        raise answer
    if answer.get("type") != "Scheduler":
        raise ValueError(f"a {answer.get('type')} answers there")


@contextmanager
def on_cluster(client: Any | None) -> Iterator[None]:
    """Within it, work that is shared out by joblib goes to the cluster of this client; with None it stays where it is."""
    if client is None:
        yield
        return
    from joblib import parallel_config, register_parallel_backend

    register_parallel_backend("ordag-dask", _backend())
    with parallel_config(backend="ordag-dask", client=client, wait_for_workers_timeout=NO_WORKERS):
        yield


def _backend() -> type[Any]:
    """joblib's backend for Dask; one that loses a task for good raises, where joblib's own would wait for ever."""
    from joblib._dask import DaskDistributedBackend

    submit = vars(DaskDistributedBackend).get("submit") or DaskDistributedBackend.apply_async

    class ClusterBackend(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            with faults_said("The workers of the cluster"):
                return super().effective_n_jobs(n_jobs)  # type: ignore[no-any-return]

        def configure(self, *arguments: Any, **more: Any) -> int:
            # With one, joblib would do the work in this process.
            return max(2, int(super().configure(*arguments, **more)))

        async def _to_func_args(self, func: Any) -> tuple[Any, Any]:
            return Calls(), (await super()._to_func_args(func))[1]

        def submit(self, func: Any, callback: Any = None) -> Any:
            future = submit(self, func, callback)
            future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
            return future

        apply_async = submit  # what joblib before 1.6 calls it

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, BaseException):
                raise out
            return super().retrieve_result_callback(out)

        @contextmanager
        def carrying(self, work: Any) -> Iterator[Any]:
            """Around calls of this work: it is sent once, and a cluster that is lost is an error.

            It goes as the result of a task, which the cluster makes again if the worker that holds it is lost.
            """
            with faults_said("The work on the cluster"), Watch(self.client).over(self.give_up):
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "Sending large graph")
                    self.data_futures[id(work)] = self.client.submit(_as_it_is, work, pure=False)
                try:
                    yield work
                finally:
                    self.data_futures.pop(id(work), None)

        def give_up(self, error: BaseException) -> None:
            for callback in list(self._callbacks.values()):
                callback(error)

    return ClusterBackend


class Calls:
    """Tasks of joblib, one after the other. joblib's own class makes a client in every worker, which hinders its end."""

    def __call__(self, tasks: Sequence[tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]]) -> list[Any]:
        return [function(*arguments, **named) for function, arguments, named in tasks]

    def __repr__(self) -> str:
        return "ordag"


def _as_it_is(work: Any) -> Any:
    return work


def computed(tasks: Sequence[Any], describe: str, parts: Sequence[Any] = ()) -> list[Any]:
    """What these Delayed objects are, in order: by the current client, or else by Dask in this process.

    `parts` are those that the tasks begin with: one of them that fails is named, where the cluster knows.
    """
    import dask

    client = current_client()
    with faults_said(describe) as place:
        if client is None:
            return list(dask.compute(*tasks))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # a p × p matrix, once
            futures = client.compute(list(tasks))
        try:
            _wait(client, futures)
            failed = next((future.key for future in futures if future.status == "error"), None)
            if failed is not None:
                blamed = _blamed(client, failed)
                place += [f"partition {k} of {describe}" for k, part in enumerate(parts) if str(part.key) == blamed]
            return list(client.gather(futures))
        finally:
            for future in futures:
                future.release()


def _blamed(client: Any, failed: Any) -> str:
    """The key of the task over which this one failed; nothing where the scheduler cannot say."""
    with suppress(Exception):
        return str(client.run_on_scheduler(_blame, key=failed))
    return ""


def _blame(dask_scheduler: Any, key: Any) -> str:
    return str(dask_scheduler.tasks[key].exception_blame.key)


def _wait(client: Any, futures: Sequence[Any]) -> None:
    from distributed import wait

    watch = Watch(client)
    while any(future.status == "pending" for future in futures):
        try:
            wait(futures, timeout=LOOK)
        except TimeoutError:
            watch.look()


class Watch:
    """Looks after a cluster, and raises where nothing can be expected of it any more."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = harmless(str(getattr(client.scheduler, "address", "") or "the given address"))
        self.answered = self.staffed = time.monotonic()
        self.connected = client.status == "running"

    def look(self) -> None:
        """Ask the scheduler for its workers."""
        now = time.monotonic()
        workers = None
        if self.client.status == "closed":
            raise self._gone("The client is closed")
        if self.connected and self.client.status == "connecting":  # it may come back; what it was asked for does not
            raise self._gone("The connection to the scheduler broke, and with it went the work")
        if self.client.status == "running":
            self.connected = True
            try:
                workers = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=SILENCE)
            except (OSError, TimeoutError, RuntimeError, AttributeError):
                workers = None
        if workers is None:
            if time.monotonic() - self.answered >= SILENCE:
                raise self._gone("The scheduler does not answer any more")
            return
        self.answered = now
        if workers:
            self.staffed = now
        elif now - self.staffed >= NO_WORKERS:
            raise ClusterError(
                f"The scheduler at {self.address} has had no worker for {NO_WORKERS:.0f} seconds: start some, and begin again."
            )

    def _gone(self, what: str) -> ClusterError:
        return ClusterError(f"The cluster was lost. {what} ({self.address}): start it, and begin again.")

    @contextmanager
    def over(self, give_up: Callable[[BaseException], None]) -> Iterator[None]:
        """Look now and then, from another thread, as long as this block runs; `give_up` is told what is wrong."""
        done = threading.Event()

        def looking() -> None:
            while not done.wait(LOOK):
                try:
                    self.look()
                except ClusterError as error:
                    give_up(error)
                    return

        thread = threading.Thread(target=looking, name="ordag-cluster", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()


@contextmanager
def faults_said(describe: str) -> Iterator[list[str]]:
    """What Dask and its workers raise becomes one sentence, about the last of the places that are known by then."""
    place = [describe]
    try:
        yield place
    except (OrdagError, MemoryError):
        raise
    except Exception as error:
        kind, reason = type(error).__name__, _reason(error)
        if kind == "KilledWorker":
            what = "several workers were lost over one task, most often for want of memory: make partitions smaller or workers larger"
        elif isinstance(error, CancelledError) or kind in ("CommClosedError", "ClosedClientError"):
            what = f"the cluster was lost, or its work was cancelled ({reason}): look whether it is running, and begin again"
        elif isinstance(error, TimeoutError):
            what = f"no worker came within {NO_WORKERS:.0f} seconds: start some, and begin again"
        elif isinstance(error, ModuleNotFoundError):
            what = f"a worker lacks a package ({reason}): every worker needs Ordag, in the same version as here"
        else:
            what = f"a worker failed with {kind} ({reason})"
        raise ClusterError(f"{place[-1]}: {what}.") from error


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return harmless(cut(lines[0].strip(" :."), 200))
