"""A Dask cluster: its client, results in bounded time, and its failures as one sentence."""

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

from ordag.common.checks import short
from ordag.common.words import cut, harmless
from ordag.errors import ClusterError, OrdagError, SettingError

CONNECT_SECONDS = 10.0
"""Time in which a scheduler must answer at first."""

CLOSE_SECONDS = 2.0
"""Time for a scheduler to answer when its client closes."""

CHECK_SECONDS = 2.0
"""Time between two checks of the cluster while it works."""

SILENT_SECONDS, IDLE_SECONDS = 30.0, 300.0
"""Time after which a scheduler that does not answer is given up, and a cluster without workers."""


def current_client() -> Any | None:
    """Return the client that Dask itself would use: that of a `with` block, or the last one made; None without one."""
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
    """Make this client, or one for the scheduler at this address, the one that Dask uses; None changes nothing."""
    if client is None:
        yield None
        return
    try:
        import distributed
    except ImportError as error:
        raise SettingError(
            "Dask, which speaks to clusters, is not installed: python -m pip install 'dask[dataframe,distributed]'."
        ) from error
    if isinstance(client, str):
        with _opened(distributed, client) as made, made.as_current():
            yield made
        return
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise SettingError(
            f"client={short(client)}: give a Dask client that is not asynchronous, or the address of a scheduler."
        )
    Watch(client).check()
    with client.as_current():
        yield client


@contextmanager
def _opened(distributed: Any, address: str) -> Iterator[Any]:
    """Open a client for the scheduler at this address, and close it at the end."""
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # errors become one sentence, not pages
    try:
        _check_scheduler(distributed, address)
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # another service may answer with anything
        # Dask's message about the bytes of another service is of no use
        known = isinstance(error, OSError | ValueError | ImportError)
        reason = _reason(error) if known else "another service answers there"
        raise ClusterError(
            f"The scheduler at {harmless(address)} cannot be reached, or is no Dask scheduler ({reason}): is it running, and "
            "is its address written like tcp://host:8786?"
        ) from error
    else:
        try:
            yield client
        finally:
            with suppress(TimeoutError, OSError):
                client.close(timeout=CLOSE_SECONDS)
    finally:
        log.setLevel(level)


def _check_scheduler(distributed: Any, address: str) -> None:
    """Make sure that a scheduler answers at this address, in bounded time.

    A client waits without end for a service that accepts its connection and sends nothing, and cannot be stopped meanwhile. So a thread
    asks first, which is abandoned when the time is up.
    """
    answers: list[Any] = []

    async def ask() -> Any:
        known = distributed.Security().get_connection_args("client")
        async with distributed.rpc(address, connection_args=known, timeout=CONNECT_SECONDS) as scheduler:
            return await scheduler.identity()

    def run() -> None:
        try:
            answers.append(asyncio.run(ask()))
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=run, name="ordag-scheduler-check", daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS)
    answer = answers[0] if answers else TimeoutError(f"no answer within {CONNECT_SECONDS:g} seconds")
    if isinstance(answer, Exception):
        raise answer
    if answer.get("type") != "Scheduler":
        raise ValueError(f"a {answer.get('type')} answers there")


@contextmanager
def on_cluster(client: Any | None) -> Iterator[None]:
    """Send the work of joblib in this block to the cluster of this client; None changes nothing."""
    if client is None:
        yield
        return
    from joblib import parallel_config, register_parallel_backend

    register_parallel_backend("ordag-dask", _backend())
    with parallel_config(backend="ordag-dask", client=client, wait_for_workers_timeout=IDLE_SECONDS):
        yield


def _backend() -> type[Any]:
    """Return joblib's backend for Dask, changed to raise for a task that is lost for good; joblib's own would wait for ever."""
    from joblib._dask import DaskDistributedBackend

    submit = vars(DaskDistributedBackend).get("submit") or DaskDistributedBackend.apply_async

    class ClusterBackend(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            with cluster_errors("The workers of the cluster"):
                return super().effective_n_jobs(n_jobs)  # type: ignore[no-any-return]

        def configure(self, *arguments: Any, **more: Any) -> int:
            return max(2, int(super().configure(*arguments, **more)))  # with 1, joblib would work in this process

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
            """Send this work once for all its calls in this block, and raise if the cluster is lost.

            It is sent as the result of a task, which the cluster computes again if the worker that holds it is lost.
            """
            with cluster_errors("The work on the cluster"), Watch(self.client).during(self.give_up):
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "Sending large graph")
                    self.data_futures[id(work)] = self.client.submit(_identity, work, pure=False)
                try:
                    yield work
                finally:
                    self.data_futures.pop(id(work), None)

        def give_up(self, error: BaseException) -> None:
            for callback in list(self._callbacks.values()):
                callback(error)

    return ClusterBackend


class Calls:
    """Calls the tasks of joblib one after the other. joblib's own class makes a client in every worker, which delays its end."""

    def __call__(self, tasks: Sequence[tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]]) -> list[Any]:
        return [function(*arguments, **named) for function, arguments, named in tasks]

    def __repr__(self) -> str:
        return "ordag"


def _identity(work: Any) -> Any:
    return work


def computed(tasks: Sequence[Any], describe: str, partitions: Sequence[Any] = ()) -> list[Any]:
    """Compute these Delayed objects, in order: by the current client, or else by Dask in this process.

    `partitions` are those that the tasks begin with: one that fails is named, where the scheduler knows it.
    """
    import dask

    client = current_client()
    with cluster_errors(describe) as subjects:
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
                subjects += [
                    f"partition {k} of {describe}" for k, one in enumerate(partitions) if str(one.key) == blamed
                ]
            return list(client.gather(futures))
        finally:
            for future in futures:
                future.release()


def _blamed(client: Any, failed: Any) -> str:
    """Return the key of the task because of which this one failed; nothing where the scheduler does not know it."""
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
            wait(futures, timeout=CHECK_SECONDS)
        except TimeoutError:
            watch.check()


class Watch:
    """Checks a cluster, and raises when no result can be expected of it any more."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = harmless(str(getattr(client.scheduler, "address", "") or "the given address"))
        self.answered = self.staffed = time.monotonic()
        self.connected = client.status == "running"

    def check(self) -> None:
        """Ask the scheduler for its workers."""
        now = time.monotonic()
        workers = None
        if self.client.status == "closed":
            raise self._gone("The client is closed")
        if self.connected and self.client.status == "connecting":  # it may come back, its results do not
            raise self._gone("The connection to the scheduler broke, and with it went the work")
        if self.client.status == "running":
            self.connected = True
            try:
                workers = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=SILENT_SECONDS)
            except (OSError, TimeoutError, RuntimeError, AttributeError):
                workers = None
        if workers is None:
            if time.monotonic() - self.answered >= SILENT_SECONDS:
                raise self._gone("The scheduler does not answer any more")
            return
        self.answered = now
        if workers:
            self.staffed = now
        elif now - self.staffed >= IDLE_SECONDS:
            raise ClusterError(
                f"The scheduler at {self.address} has had no worker for {IDLE_SECONDS:.0f} seconds: start some, and begin again."
            )

    def _gone(self, what: str) -> ClusterError:
        return ClusterError(f"The cluster was lost. {what} ({self.address}): start it, and begin again.")

    @contextmanager
    def during(self, give_up: Callable[[BaseException], None]) -> Iterator[None]:
        """Check the cluster from another thread while this block runs; `give_up` gets the error."""
        done = threading.Event()

        def run() -> None:
            while not done.wait(CHECK_SECONDS):
                try:
                    self.check()
                except ClusterError as error:
                    give_up(error)
                    return

        threading.Thread(target=run, name="ordag-cluster", daemon=True).start()
        try:
            yield
        finally:
            done.set()


@contextmanager
def cluster_errors(describe: str) -> Iterator[list[str]]:
    """Turn the errors of Dask and its workers into one sentence about the last of the yielded list of subjects."""
    subjects = [describe]
    try:
        yield subjects
    except (OrdagError, MemoryError):
        raise
    except Exception as error:
        kind, reason = type(error).__name__, _reason(error)
        if kind == "KilledWorker":
            what = "several workers were lost over one task, most often for want of memory: make partitions smaller or workers larger"
        elif isinstance(error, CancelledError) or kind in ("CommClosedError", "ClosedClientError"):
            what = f"the cluster was lost, or its work was cancelled ({reason}): look whether it is running, and begin again"
        elif isinstance(error, TimeoutError):
            what = f"no worker came within {IDLE_SECONDS:.0f} seconds: start some, and begin again"
        elif isinstance(error, ModuleNotFoundError):
            what = f"a worker lacks a package ({reason}): every worker needs Ordag, in the same version as here"
        else:
            what = f"a worker failed with {kind} ({reason})"
        raise ClusterError(f"{subjects[-1]}: {what}.") from error


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return harmless(cut(lines[0].strip(" :."), 200))
