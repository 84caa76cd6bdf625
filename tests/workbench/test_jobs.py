"""What takes long is done by processes: they say how far they are, give what the library gives, and end when nobody waits."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress

import anyio
import psutil
import pytest
from asking import ask, finished, lines, state

import ordag
from ordag.common.words import News
from ordag.errors import SettingError
from ordag.show.export import content
from ordag.workbench.pool import WAITING, ProcessPool, TaskError, WorkError

pytestmark = pytest.mark.system


def test_a_bootstrap_is_that_of_the_library(client):
    asked = {"state": state(settings={"alpha": 0.05}), "replicates": 300}
    news, last = lines(client.post("api/jobs/bootstrap", json=asked))
    told = last["result"]
    expected = ordag.bootstrap("marks", 300, method="cvs", alpha=0.05, seed=0, workers=1)
    assert (told["seed"], told["replicates"]) == (0, 300)
    columns = expected.arrow_columns(*(told["document"]["pairs"][end] for end in ("source", "target")))
    assert told["document"]["pairs"]["support"] == [float(f"{one:.4g}") for one in columns["support"]]
    assert any("replicates" in one["words"] and 0 < one["share"] <= 1 for one in news)
    assert not told["document"]["verdict"]["pending"]


@pytest.mark.parametrize("method", ["pooled", "gds"])
def test_resamples_have_the_seed_of_the_method_and_leave_its_graph_alone(client, method):
    chosen = state("sachs", method=method, settings={"seed": 2}, columns=["raf", "mek", "erk", "akt"])
    shown = ask(client, chosen)["document"]
    _, last = lines(client.post("api/jobs/bootstrap", json={"state": chosen, "replicates": 4, "seed": 0}))
    told = last["result"]["document"]
    assert (last["result"]["seed"], last["result"]["replicates"]) == (2, 4)
    for end in ("source", "target"):
        assert told["pairs"][end][: len(shown["pairs"][end])] == shown["pairs"][end]
    assert "seed=2" in told["again"]["python"]
    assert "bootstrap=4" in told["again"]["python"]
    assert told["again"]["command"].count("--seed") == 1


@pytest.mark.thorough
def test_files_have_the_support_that_the_page_shows(client):
    chosen = state("marks", method="pooled", settings={"seed": 3})
    _, last = lines(client.post("api/jobs/bootstrap", json={"state": chosen, "replicates": 20}))
    told = last["result"]["document"]

    def exported(form, **more):
        return client.post("api/export", json={"state": chosen, "form": form, **more})

    fit = ordag.learn("marks", "pooled", seed=3, bootstrap=20)
    assert exported(".csv", replicates=20).text == content(fit, "graph.csv")
    assert "support" not in exported(".csv").text
    assert exported(".json", replicates=20).json()["bootstrap"] == json.loads(fit.to_json())["bootstrap"]
    assert exported("python", replicates=20).text.strip() == told["again"]["python"]
    assert exported("command", replicates=20).text.strip() == told["again"]["command"]
    assert "bootstrap=20" in exported("report", replicates=20).text
    assert "whole number" in exported(".csv", replicates="all").json()["error"]


def test_a_check_is_that_of_the_library(client):
    news, last = lines(client.post("api/jobs/check", json={"state": state(settings={"alpha": 0.02})}))
    fit = ordag.learn("marks", "cvs", alpha=0.02, forecast=200)
    expected = ordag.checking.check_fit(fit, alpha=0.02)
    told = {one["key"]: one for one in last["result"]["findings"]}
    assert {key: one["sentence"] for key, one in told.items()} == {
        one.key: one.sentence.replace(" %", "\u00a0%") for one in expected.findings
    }
    assert told["scale"]["chart"] is None or told["scale"]["chart"]["kind"]
    assert last["result"]["verdict"]["sentence"] == expected.verdict.sentence.replace(" %", "\u00a0%")
    assert news[0]["words"].startswith("checking")


def test_methods_side_by_side(client):
    known = {"forbidden": [["algebra", "vectors"]]}
    asked = {"state": state(settings={"alpha": 0.02}, knowledge=known), "methods": ["pc", "ges"]}
    _, last = lines(client.post("api/jobs/compare", json=asked))
    told = last["result"]["comparison"]
    assert told["methods"] == ["this graph (cvs)", "pc", "ges"]
    expected = ordag.compare("marks", ["pc", "ges"], settings={"pc": {"alpha": 0.02}}, knowledge=known)
    assert [row[:4] for row in told["cells"][1:]] == [row[:4] for row in expected.cells]


@pytest.mark.parametrize(
    ("job", "options", "sentence"),
    [
        ("bootstrap", {"replicates": 1}, "from 2"),
        ("bootstrap", {"replicates": 10**9}, "100,000"),
        ("bootstrap", {"replicates": "many"}, "whole number"),
        ("compare", {"methods": ["lingam"]}, "choose among"),
        ("compare", {"methods": "pc"}, "list of names"),
        ("compare", {"methods": []}, "choose among"),
    ],
)
def test_what_cannot_be_done_is_the_last_line(client, job, options, sentence):
    _, last = lines(client.post(f"api/jobs/{job}", json={"state": state(), **options}))
    assert sentence in last["error"]


def test_a_class_has_no_equations_to_check(client):
    _, last = lines(client.post("api/jobs/check", json={"state": state(method="pc")}))
    assert "class of graphs" in last["error"]


# Tasks for a pool; a worker finds them by their names.


def counting(*, progress):
    progress(News("half", 0.5))
    return os.getpid()


def refusing(*, progress):
    raise SettingError("This is not to be.")


def failing(*, progress):
    raise RuntimeError("secret")


def dying(*, progress):
    os.kill(os.getpid(), signal.SIGKILL)


def lasting(*, progress):
    progress(str(os.getpid()))
    while True:
        time.sleep(0.01)


@pytest.fixture
def pool():
    one = ProcessPool(2)
    yield one
    one.close()


def run(pool, *task, progress=None):
    async def work():
        return await pool.run(*task, progress=progress)

    return finished(work)


def test_a_worker_waits_for_the_next_task(pool):
    heard = []

    async def progress(news):
        heard.append((str(news), news.share))

    assert run(pool, counting, progress=progress) == run(pool, counting) != os.getpid()
    assert heard == [("half", 0.5)]


def test_what_goes_wrong_is_a_sentence(pool):
    with pytest.raises(TaskError, match="not to be") as refused:
        run(pool, refusing)
    assert refused.value.kind == "SettingError"
    with pytest.raises(WorkError, match=r"fault in Ordag \(RuntimeError\)") as failed:
        run(pool, failing)
    assert "secret" not in str(failed.value)
    with pytest.raises(WorkError, match="ended too early"):
        run(pool, dying)
    assert run(pool, counting)  # by another one


def test_a_worker_that_died_while_it_was_idle_is_replaced(pool):
    first = run(pool, counting)
    (worker,) = pool._processes
    os.kill(first, signal.SIGKILL)
    worker.process.join()
    assert run(pool, counting) != first


def wait_for_end(pid):
    """Until a process is gone, or nothing but its entry is left."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)


def test_work_that_nobody_waits_for_is_killed(pool):
    heard = []

    async def begin():
        async with anyio.create_task_group() as group:

            async def progress(news):
                heard.append(int(news))
                group.cancel_scope.cancel()

            await pool.run(lasting, progress=progress)

    finished(begin)
    wait_for_end(heard[0])


def test_more_work_than_processes_waits_its_turn():
    pool, heard = ProcessPool(1), []

    async def both():
        async with anyio.create_task_group() as group:
            ready = anyio.Event()

            async def begun(_):
                ready.set()

            group.start_soon(lambda: pool.run(lasting, progress=begun))
            await ready.wait()

            async def progress(news):
                heard.append(news)
                group.cancel_scope.cancel()

            await pool.run(counting, progress=progress)

    finished(both)
    pool.close()
    assert heard == [WAITING]


def test_no_process_is_left_when_a_pool_is_closed():
    pool = ProcessPool(2)
    pid = run(pool, counting)
    pool.close()
    wait_for_end(pid)
