"""How commands end when they have to: what the last resort does, seen from within the process."""

from __future__ import annotations

import io
import os
import signal
import socket
import sys
import threading

import pytest

from ordag import cli


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_that_is_not_handled_in_time_ends_the_process_with_its_status(monkeypatch, capsys, number, status):
    class Ended(Exception):
        pass

    def end(status):
        raise Ended(status)

    def stop(number, frame):
        raise AssertionError("nothing handles it in time")

    monkeypatch.setattr(cli, "SIGNAL_SECONDS", 0.0)
    monkeypatch.setattr(cli.signal, "getsignal", lambda one: stop if one == number else signal.SIG_DFL)
    monkeypatch.setattr(cli.os, "_exit", end)
    near, far = socket.socketpair()
    with far:
        far.send(bytes([signal.SIGCHLD, number]))  # the first is not one that it stops for
        with pytest.raises(Ended, match=f"^{status}$"):
            cli._stop_soon(near, stop, threading.Event())
    assert capsys.readouterr().err == "ordag: stopped\n"


def test_what_a_reader_has_left_unread_goes_nowhere(tmp_path, monkeypatch):
    with open(tmp_path / "out", "wb", buffering=0) as file:
        descriptor = os.dup(file.fileno())
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(os.fdopen(descriptor, "wb", buffering=0), "utf-8"))
        cli._leave_output()
        os.write(descriptor, b"the rest")
        sys.stdout.close()
    assert (tmp_path / "out").read_bytes() == b""
