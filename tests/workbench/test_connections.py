"""What a stranger can have of the server, without the token: few connections, and not for long."""

from __future__ import annotations

import errno
import os
import socket
import threading
from contextlib import contextmanager, suppress
from http.client import HTTPConnection

import httpx
import pytest
from asking import TOKEN

from ordag.workbench.guard import Connection
from ordag.workbench.serve import listen, server

pytestmark = pytest.mark.system

PATIENCE = 120
"""Seconds to wait for what must come."""


class Exhausted(socket.socket):
    """A socket of a system that has no more files to open, a few times."""

    times = 40

    def accept(self):
        if self.times:
            self.times -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


@contextmanager
def answering(workbench, listening):
    """A server on a socket; gives its port."""
    one = server(workbench, TOKEN, listening)
    thread = threading.Thread(target=one.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        one.should_exit = True
        thread.join()


@pytest.fixture
def port(workbench, monkeypatch):
    monkeypatch.setattr(Connection, "patience", 10 * PATIENCE)
    with listen("127.0.0.1", 0) as listening, answering(workbench, listening) as found:
        yield found


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def is_ended(connection):
    """Wait until the server has ended a connection."""
    with suppress(ConnectionError):
        while connection.recv(4096):
            pass
    connection.close()
    return True


def head(port, more=""):
    return f"POST /x/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n".encode()


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: "], ids=["nothing", "line", "head"]
)
def test_a_request_that_does_not_come_is_not_waited_for(port, monkeypatch, begun):
    monkeypatch.setattr(Connection, "patience", 0.01)
    one = connected(port)
    one.sendall(begun)
    assert is_ended(one)


def test_nor_is_the_rest_of_one_that_was_refused(port, monkeypatch):
    tab = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    tab.request("GET", "/x/")
    tab.getresponse().read()  # the server has the connection, and waits with the long patience
    monkeypatch.setattr(Connection, "patience", 0.01)
    one = tab.sock
    one.sendall(head(port, "Content-Length: 1000000\r\n"))
    assert b" 404 " in one.recv(4096)
    with suppress(ConnectionError):
        one.sendall(b"x")  # more bytes do not make it wait longer
    assert is_ended(one)


def test_who_waits_longest_makes_room(port, monkeypatch):
    monkeypatch.setattr(Connection, "most", 3)
    silent = [connected(port) for _ in range(6)]
    assert httpx.get(f"http://127.0.0.1:{port}/{TOKEN}/api/start", timeout=PATIENCE).status_code == 200
    assert all(is_ended(one) for one in silent[:4])
    for one in silent[4:]:
        one.sendall(head(port))
        assert b" 404 " in one.recv(4096)
        one.close()


def test_that_the_system_is_exhausted_is_one_line(workbench, monkeypatch, capsys, caplog):
    monkeypatch.setattr("asyncio.constants.ACCEPT_RETRY_DELAY", 0.0)
    with Exhausted(fileno=listen("127.0.0.1", 0).detach()) as listening, answering(workbench, listening) as port:
        with httpx.Client(timeout=PATIENCE) as client:
            assert client.get(f"http://127.0.0.1:{port}/{TOKEN}/api/start").status_code == 200
        assert listening.times == 0
    assert capsys.readouterr().err.splitlines() == [
        f"ordag: no more connections for now ({os.strerror(errno.EMFILE)}): close other tabs or programs, or allow more open files."
    ]
    assert caplog.records == []
