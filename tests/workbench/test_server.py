"""The server as a person starts it: it says where it is, answers, and ends at once, whatever is still going on."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, closing, suppress

import psutil
import pytest
from asking import TOKEN, answering, ask, caller, state

from ordag.workbench.serve import serve, server
from ordag.workbench.tables import Tables
from ordag.workbench.workbench import Workbench

pytestmark = pytest.mark.system

SLOW = {"state": state(), "replicates": 100_000}


@pytest.fixture
def start():
    """Start `ordag explore` with these words; gives the process and its address."""
    started = []

    def begin(*words, **more):
        one = subprocess.Popen(
            [sys.executable, "-m", "ordag", "explore", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **more},
            start_new_session=True,
        )
        started.append(one)
        return one, one.stdout.readline().strip()

    yield begin
    for one in started:
        one.kill()
        one.communicate()


def alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def workers(process):
    """The processes that work for a server: those which its own processes have started."""
    return [one for child in psutil.Process(process.pid).children() for one in child.children()]


def wait_until(done):
    """A test that waits for ever is stopped by whoever runs it."""
    while not done():
        time.sleep(0.01)


@pytest.fixture
def explored(run, monkeypatch):
    """What `ordag explore` would serve, answered by this process: what the command says, and somebody who asks."""
    with ExitStack() as open_yet:

        def begin(*words):
            served = []
            monkeypatch.setattr("ordag.workbench.serve.serve", lambda tables, **_: served.append(tables))
            said = run("explore", "--no-browser", *words)[2]
            address = open_yet.enter_context(answering(open_yet.enter_context(closing(Workbench(*served)))))
            return said, open_yet.enter_context(caller(f"{address}/{TOKEN}/"))

        yield begin


@pytest.mark.parametrize(
    ("stop", "status", "busy"),
    [
        pytest.param(signal.SIGINT, 130, True, id="busy-int", marks=pytest.mark.thorough),
        pytest.param(signal.SIGTERM, 143, False, id="idle-term"),
        pytest.param(signal.SIGTERM, 143, True, id="busy-term", marks=pytest.mark.thorough),
        pytest.param(signal.SIGINT, 130, False, id="idle-int", marks=pytest.mark.thorough),
    ],
)
def test_it_answers_and_ends_when_told_to(start, stop, status, busy):
    """Whether or not a browser can be opened."""
    process, address = start("marks", BROWSER="/nonexistent/browser", DISPLAY="", WAYLAND_DISPLAY="")
    assert address.startswith("http://127.0.0.1:")
    with caller(address) as client:
        assert client.get("").status_code == 200
        assert client.get("api/start").json()["data"]["name"] == "marks"
        assert client.post("api/answer", json={"state": state()}).status_code == 200
        children = []
        if busy:
            with client.stream("POST", "api/jobs/bootstrap", json=SLOW) as stream:
                said = (
                    stream.iter_lines()
                )  # kept: without a reference to it the connection is closed, and the work ends
                assert any("replicates" in line for line in said)
                children = psutil.Process(process.pid).children(recursive=True)
                assert workers(process)
                os.killpg(process.pid, stop) if stop == signal.SIGINT else process.send_signal(stop)
                process.wait(timeout=600)
        else:
            process.send_signal(stop)
        out, err = process.communicate(timeout=600)
    assert process.returncode == status
    assert (out, err.strip()) == ("", "ordag: stopped")
    wait_until(lambda: not any(map(alive, children)))


@pytest.mark.thorough
def test_work_ends_with_its_tab_with_its_worker_and_with_the_server(start):
    """A tab that is closed stops no work but its own, a worker that is killed is said, and a server leaves no process."""
    process, address = start("marks", "--no-browser")
    with caller(address) as client:
        with client.stream("POST", "api/jobs/bootstrap", json=SLOW) as stream:
            said = stream.iter_lines()
            assert any("replicates" in line for line in said)
            working = workers(process)
            assert working
            assert client.post("api/answer", json={"state": state()}).status_code == 200  # while the work goes on
        wait_until(lambda: not all(map(alive, working)))  # that of quick answers may be among them, and stays
        assert client.post("api/answer", json={"state": state(settings={"alpha": 0.3})}).status_code == 200

        with client.stream("POST", "api/jobs/bootstrap", json=SLOW) as stream:
            said = stream.iter_lines()
            assert any("replicates" in line for line in said)
            for worker in workers(process):
                with suppress(psutil.NoSuchProcess):  # one of before may be gone by now
                    worker.kill()
            *_, last = said
        assert "ended too early" in last
        assert client.post("api/answer", json={"state": state()}).status_code == 200

        with client.stream("POST", "api/jobs/bootstrap", json=SLOW) as stream:
            said = stream.iter_lines()
            assert any("replicates" in line for line in said)
            children = psutil.Process(process.pid).children(recursive=True)
            assert workers(process)
            process.kill()
            process.wait()
    wait_until(lambda: not any(map(alive, children)))


def test_a_port_in_use_is_said(run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, out, err = run("explore", "--no-browser", "--port", taken.getsockname()[1])
    assert (status, out) == (2, "")
    assert err.startswith("Error: The workbench cannot listen on port")
    assert "--port" in err


def test_a_server_at_the_port_of_http_is_known_without_it(workbench):
    class Listening:
        def __init__(self, port):
            self.port = port

        def getsockname(self):
            return "127.0.0.1", self.port

    def hosts(port):
        return server(workbench, TOKEN, Listening(port), "Machine.example").config.app.hosts

    assert {"127.0.0.1", "127.0.0.1:80", "[::1]", "machine.example", "machine.example:80"} < hosts(80)
    assert "127.0.0.1" not in hosts(8080)


def test_a_stop_before_it_has_begun_to_answer_leaves_nothing_behind(monkeypatch):
    """A coroutine that nobody awaits would be warned of, and warnings are errors here."""

    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("asyncio.run", stopped)
    with pytest.raises(KeyboardInterrupt):
        serve(Tables(2**20), ready=lambda address: None)
    gc.collect()


def test_units_and_reading_are_taken_from_the_command_line(explored, tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("a;b;c\n" + "\n".join(f"{k % 7},5;{(k * k) % 11};{(3 * k) % 13}" for k in range(60)))
    said, client = explored(path, "--separator", ";", "--decimal", ",", "--columns", "a,c", "--transform", "a=10")
    assert said == ""
    told = client.get("api/start").json()["data"]
    assert (told["names"], told["rows"], told["transform"]) == (["a", "c"], 60, {"a": 10.0})
    document = ask(client, state(told, transform=told["transform"]))["document"]
    assert "separator=';'" in document["again"]["python"]


def test_a_table_that_can_be_read_otherwise_is_said_and_the_page_offers_it(explored, tmp_path):
    path = tmp_path / "const.csv"
    path.write_text("a,b,c\n" + "\n".join(f"{k % 7},{1 / k if k else 'inf'},{(3 * k) % 13}" for k in range(60)))
    said, client = explored(path, "--transform", "a=10")
    assert "Infinite values in b (1 row)" in said
    assert said.endswith("The page offers ways to read it.\n")
    assert "columns=" not in said  # it is said to somebody who types
    told = client.get("api/start").json()
    assert (told["data"], told["unread"]["remedies"]) == (None, ["go on without b"])
    found = client.post("api/data", json={"unread": told["unread"]["unread"], "choice": 0}).json()
    assert (found["names"], found["transform"]) == (["a", "c"], {"a": 10.0})
    told = client.get("api/start").json()
    assert (told["data"], told["unread"]) == (found, None)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing.csv"], "nothing.csv"),
        (["marks", "--transform", "algebar=2"], "algebra"),
        (["marks", "--most-mb", "0"], "--most-mb"),
        (["marks", "--host", "0.0.0.0"], "--host 0.0.0.0 stands for all addresses"),
        (["marks", "--host", "::"], "by which others reach it"),
        (["marks", "--host", ""], "by which others reach it"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_served(run, words, sentence):
    status, out, err = run("explore", "--no-browser", *words)
    assert (status, out) == (2, "")
    assert sentence in err


def test_without_its_packages_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr("ordag.exploring.find_spec", lambda name: None if name == "uvicorn" else object())
    status, _, err = run("explore", "marks")
    assert status == 2
    assert "pip install starlette uvicorn" in err
