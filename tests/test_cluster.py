"""A real cluster of processes: answers, memory, and what happens when a part of it is lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from socket import SHUT_RDWR
from socket import socket as Socket
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import ordag
from ordag.common.cluster import Watch, cluster_errors, connected, current_client, on_cluster
from ordag.common.workers import in_parallel, worker_count
from ordag.errors import ClusterError
from ordag.paper import reproduce

dask = pytest.importorskip("dask")
frames = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
resource = pytest.importorskip("resource")

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def client():
    patient = {
        "distributed.deploy.lost-worker-timeout": "1 hour",  # Dask would close one that is lost twice in 15 seconds
        "distributed.scheduler.allowed-failures": 1,  # every loss takes seconds
    }
    with (
        dask.config.set(patient),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def table(n=2000, names="abcde", seed=0):
    X = np.random.default_rng(seed).standard_normal((n, len(names)))
    for j in range(1, len(names)):
        X[:, j] += 0.8 * X[:, j - 1]
    return pd.DataFrame(X, columns=list(names))


def first_time(marker):
    """Whether nobody has asked before, in any process."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def passed_on(value, marker, victim=None):
    """The value; whoever comes first kills its own process, or the one that is named."""
    if first_time(marker):
        os.kill(victim or os.getpid(), signal.SIGKILL)
    return value


class Deadly:
    """Work that kills the first process that does it, that which is named, or every one."""

    def __init__(self, marker, victim=None, always=False):
        self.marker, self.victim, self.always = marker, victim, always

    def __call__(self, number):
        if self.always:
            os.kill(os.getpid(), signal.SIGKILL)
        return passed_on(number, self.marker, self.victim)


def killing(frame, marker, victim=None):
    return frames.from_pandas(frame, npartitions=6).map_partitions(passed_on, marker, victim, meta=frame.iloc[:0])


def refused_at_three(number):
    if number == 3:
        raise OSError("a row group is damaged")
    return table(100, seed=number)


def pid_of(_):
    return os.getpid()


def peak(dask_worker=None):
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def drawn(seed, rows=60_000, columns=50):
    X = np.random.default_rng(seed).standard_normal((rows, columns))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])


def test_answers_are_those_of_one_process(client):
    frame = table()
    scattered = frames.from_pandas(frame, npartitions=7)
    with client.as_current():
        assert current_client() is client
        there, one = ordag.learn(scattered), ordag.learn(frame)
        found, alike = ordag.check(scattered, method="cvs"), ordag.check(frame, method="cvs")
    assert (there.order, there.graph.directed) == (one.order, one.graph.directed)
    assert there.verdict.sentence == one.verdict.sentence
    assert [finding.sentence for finding in found.findings] == [finding.sentence for finding in alike.findings]
    assert current_client() is None


@pytest.mark.thorough
def test_a_partition_that_cannot_be_made_is_named(client):
    frame = table()
    broken = frames.from_map(refused_at_three, range(5), meta=frame.iloc[:0])
    with pytest.raises(
        ClusterError,
        match=r"^partition 3 of the Dask data frame: a worker failed with OSError \(a row group is damaged\)",
    ):
        ordag.learn(broken, client=client)


@pytest.mark.thorough
def test_replicates_are_learned_on_the_cluster(client, monkeypatch):
    monkeypatch.setattr("ordag.resampling.replicates.PATIENCE", 0.0)
    monkeypatch.setattr("ordag.resampling.replicates.BATCH_SECONDS", 0.001)
    frame = table(300)
    there = ordag.bootstrap(frame, 60, seed=3, method="cvs", client=client)
    scattered = ordag.learn(frames.from_pandas(frame, npartitions=3), "cvs", bootstrap=60, seed=3, client=client)
    one = ordag.bootstrap(frame, 60, seed=3, method="cvs", workers=1)
    np.testing.assert_array_equal(there.edge_support, one.edge_support)
    np.testing.assert_array_equal(there.weight_intervals.low, one.weight_intervals.low)
    assert scattered.support.kind == "poisson"
    with on_cluster(client):
        assert worker_count(None) == 2
        assert worker_count(1) == 1
        workers = set(client.run(os.getpid).values())
        assert set(in_parallel(pid_of, range(6), 1, ordered=True)) <= workers


@pytest.mark.thorough
def test_the_paper_on_a_cluster(client, run, tmp_path):
    reproduce(["figure4"], quick=True, replicates=1, folder=tmp_path / "here", workers=1)
    address = client.scheduler_info()["address"]
    words = ["reproduce", "figure4", "--quick", "--replicates", 1, "--out", tmp_path / "there"]
    status, _, _ = run(*words, "--scheduler", address)
    assert status == 0
    here, there = (pd.read_csv(tmp_path / place / "figure4.csv") for place in ("here", "there"))
    columns = [name for name in here if "seconds" not in name]
    order = [name for name in ("design", "p", "n", "method", "replicate") if name in columns]
    pd.testing.assert_frame_equal(
        *(frame[columns].sort_values(order, ignore_index=True) for frame in (here, there)), rtol=1e-12
    )
    clients = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.clients))
    assert sorted(clients) == [client.id, "fire-and-forget"]


@pytest.mark.thorough
def test_a_worker_needs_memory_for_partitions_not_for_the_table(client):
    """16 partitions of 23 MB: of a worker's memory at most a few of them are taken, and nothing grows with their number."""
    client.restart()
    scattered = frames.from_map(drawn, range(16), meta=drawn(0, rows=0))
    with client.as_current():
        ordag.Moments.scan(frames.from_map(drawn, range(4), meta=drawn(0, rows=0)))
        before = client.run(peak)
        assert ordag.Moments.scan(scattered).n == 16 * 60_000
        after = client.run(peak)
    megabytes = 60_000 * 50 * 8 / 2**20
    assert max(after[worker] - before[worker] for worker in after) < 6 * megabytes


def test_a_worker_lost_in_the_middle_changes_nothing(client, tmp_path):
    frame = table()
    with connected(client):
        found = ordag.Moments.scan(killing(frame, tmp_path / "scan"))
    np.testing.assert_allclose(np.abs(found.R), np.abs(ordag.Moments.scan(frame).R), rtol=1e-11, atol=1e-10)
    assert (tmp_path / "scan").exists()
    client.wait_for_workers(2)


@pytest.mark.thorough
def test_a_worker_lost_over_a_batch_is_replaced_and_several_are_an_error(client, tmp_path):
    with connected(client) as cluster, on_cluster(cluster):
        assert list(in_parallel(Deadly(tmp_path / "batch"), range(6), 2, ordered=True)) == list(range(6))
        with pytest.raises(ClusterError, match="several workers were lost over one task"):
            list(in_parallel(Deadly(tmp_path / "always", always=True), range(2), 2, ordered=True))
    assert (tmp_path / "batch").exists()
    client.wait_for_workers(2)


@pytest.fixture
def machines(tmp_path):
    """A scheduler and one worker, each with a process of its own: the scheduler, and its address."""
    place = tmp_path / "scheduler.json"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    quiet = {"env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    module = [sys.executable, "-m"]
    files = ["--scheduler-file", str(place), "--dashboard-address", ":0"]
    scheduler = subprocess.Popen([*module, "distributed.cli.dask_scheduler", "--port", "0", *files], **quiet)
    worker = subprocess.Popen(
        [*module, "distributed.cli.dask_worker", "--nworkers", "1", "--nthreads", "1", "--no-nanny", *files], **quiet
    )
    try:
        with distributed.Client(scheduler_file=str(place), set_as_default=False, timeout=600) as first:
            first.wait_for_workers(1, timeout=600)
        yield scheduler, json.loads(Path(place).read_text())["address"]
    finally:
        scheduler.kill()
        scheduler.wait()
        try:
            worker.wait(60)  # a worker without a scheduler leaves by itself
        finally:
            worker.kill()
            worker.wait()


@pytest.fixture
def listener():
    """Somebody who takes calls and answers every one with the given bytes: its address."""
    socket = Socket()
    socket.bind(("127.0.0.1", 0))
    socket.listen()
    held = []

    def answering(words):
        def answer():
            with contextlib.suppress(OSError):  # closed at the end
                while True:
                    held.append(socket.accept()[0])
                    held[-1].sendall(words)

        threading.Thread(target=answer, daemon=True).start()
        return f"tcp://127.0.0.1:{socket.getsockname()[1]}"

    yield answering
    for one in (*held, socket):
        with contextlib.suppress(OSError):
            one.shutdown(SHUT_RDWR)
        one.close()


@pytest.mark.parametrize("words", [b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(64)])
def test_another_service_is_no_scheduler(listener, run, words):
    status, output, said = run("learn", "marks", "--bootstrap", 10, "--scheduler", listener(words))
    assert (status, output) == (2, "")
    assert "cannot be reached, or is no Dask scheduler (another service answers there): is it running" in said
    assert len(said.splitlines()) == 1


def test_somebody_who_never_answers_is_given_up(listener, monkeypatch):
    monkeypatch.setattr("ordag.common.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=r"or is no Dask scheduler \(no answer within 0\.5 seconds\)"):
        ordag.bootstrap("marks", 10, client=listener(b""))


def test_a_worker_is_no_scheduler(client):
    worker = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises(ClusterError, match=r"\(a Worker answers there\)"):
        ordag.bootstrap("marks", 10, client=worker)


@pytest.mark.thorough
def test_a_scheduler_that_stands_still_or_goes_away_is_an_error(machines, run, tmp_path, monkeypatch):
    scheduler, address = machines
    frame = table()
    with connected(address):
        os.kill(scheduler.pid, signal.SIGSTOP)
        with monkeypatch.context() as hasty:
            hasty.setattr("ordag.common.cluster.SILENT_SECONDS", 0.5)
            hasty.setattr("ordag.common.cluster.CHECK_SECONDS", 0.1)
            with pytest.raises(ClusterError, match="The scheduler does not answer any more"):
                ordag.Moments.scan(frames.from_pandas(frame, npartitions=2))
        os.kill(scheduler.pid, signal.SIGCONT)
    monkeypatch.setattr("ordag.common.cluster.CONNECT_SECONDS", 50.0)  # a loaded machine takes its time
    monkeypatch.setattr("ordag.common.cluster.CLOSE_SECONDS", 0.5)
    with pytest.raises(ClusterError, match="the Dask data frame: the cluster was lost"):
        ordag.learn(killing(frame, tmp_path / "scan", scheduler.pid), client=address)
    monkeypatch.setattr("ordag.common.cluster.CONNECT_SECONDS", 0.5)
    status, output, said = run("learn", "marks", "--bootstrap", 10, "--scheduler", address)
    assert (status, output) == (2, "")
    assert said.startswith(f"Error: The scheduler at {address} cannot be reached")
    assert len(said.splitlines()) == 1
    with pytest.raises(ClusterError, match=f"The scheduler at {re.escape(address)} cannot be reached"):
        ordag.bootstrap(frame, 10, client=address)


@pytest.mark.thorough
def test_a_scheduler_that_goes_away_ends_the_replicates(machines, tmp_path):
    scheduler, address = machines
    with (
        pytest.raises(ClusterError, match="The work on the cluster: the cluster was lost"),
        connected(address) as cluster,
        on_cluster(cluster),
    ):
        list(in_parallel(Deadly(tmp_path / "batch", scheduler.pid), range(6), 2, ordered=True))


def test_a_broken_connection_is_noticed_at_the_next_look(client):
    class Broken:
        scheduler, status = client.scheduler, "running"

    watch = Watch(Broken)
    Broken.status = "connecting"
    with pytest.raises(ClusterError, match=r"The cluster was lost\. The connection to the scheduler broke"):
        watch.check()


def test_several_workers_that_were_lost_over_one_task_are_said():
    with (
        pytest.raises(ClusterError, match="The work: several workers were lost over one task"),
        cluster_errors("The work"),
    ):
        raise distributed.scheduler.KilledWorker("task", SimpleNamespace(address="tcp://worker:1"), 1)


def test_a_client_that_has_closed_is_a_lost_cluster():
    with pytest.raises(ClusterError, match="the cluster was lost"), cluster_errors("The work on the cluster"):
        raise type("ClosedClientError", (RuntimeError,), {})("Client is closed")  # as newer versions of Dask call it


@pytest.mark.thorough
def test_a_cluster_without_workers_is_given_up(monkeypatch):
    monkeypatch.setattr("ordag.common.cluster.IDLE_SECONDS", 0.5)
    monkeypatch.setattr("ordag.common.cluster.CHECK_SECONDS", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as nobody,
        distributed.Client(nobody, set_as_default=False) as client,
        connected(client) as cluster,
    ):
        with pytest.raises(ClusterError, match="has had no worker for 0 seconds: start some"):
            ordag.Moments.scan(frames.from_pandas(table(), npartitions=2))
        with on_cluster(cluster), pytest.raises(ClusterError, match="no worker came within 0 seconds"):
            worker_count(None)


@pytest.mark.thorough
def test_a_cluster_that_loses_its_only_worker_is_given_up(machines, tmp_path, monkeypatch):
    """The only worker is lost over the first batch, and nobody starts another."""
    monkeypatch.setattr("ordag.common.cluster.IDLE_SECONDS", 0.5)
    monkeypatch.setattr("ordag.common.cluster.CHECK_SECONDS", 0.1)
    with connected(machines[1]) as cluster:
        with on_cluster(cluster), pytest.raises(ClusterError, match="has had no worker for 0 seconds: start some"):
            list(in_parallel(Deadly(tmp_path / "batch"), range(6), 2, ordered=True))
        with pytest.raises(ClusterError, match="has had no worker"):
            ordag.Moments.scan(frames.from_pandas(table(), npartitions=2))
        with on_cluster(cluster), pytest.raises(ClusterError, match="no worker came within 0 seconds"):
            worker_count(None)
