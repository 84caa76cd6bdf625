"""A test that hangs ends after a minute with its stack; one that works, on a machine that has other things to do, goes on.

pytest-timeout rings after a minute. What the test and the processes that it has started have used of the processor by then tells the
two apart: next to nothing means that it waits for what does not come. One that works is rung for again, until it has used a minute of
the processor itself.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

import pytest

LEAST_SHARE = 0.01
"""Of the processor. A test that works has more, beside a hundred others."""


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(settings):
    answer = yield
    if hasattr(signal, "SIGALRM") and callable(end := signal.getsignal(signal.SIGALRM)):
        began, before, first = used(), None, 0.0

        def ring(number, frame):
            nonlocal before, first
            own, others = used() - began, used_by_children()
            first = others if before is None else first  # they may have worked for tests before this one
            works = own + others - (before or 0.0) > LEAST_SHARE * settings.timeout
            if works and own + others - first < settings.timeout:
                before = own + others
                signal.setitimer(signal.ITIMER_REAL, settings.timeout)
            else:
                end(number, frame)

        signal.signal(signal.SIGALRM, ring)
    return answer


def used() -> float:
    """The seconds of processor time of this process, and of those that it has started and seen to their end."""
    return time.process_time() + sum(os.times()[2:4])


def used_by_children() -> float:
    """The same of processes that it has started and that run, as far as psutil is there to tell."""
    seconds = 0.0
    with suppress(ImportError):
        import psutil

        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # it has ended meanwhile
                seconds += sum(child.cpu_times()[:2])
    return seconds
