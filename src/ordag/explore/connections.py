"""`Connection`: what a client holds open. Whoever takes too long to ask, or comes when there are too many, is let go.

Neither takes the token: so many connections, and so much patience, are all that a stranger can have of the server.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 100
"""Connections that are open at once. A browser holds six, and systems allow a process 256 open files or more."""

PATIENCE = 10.0
"""Seconds from the connection, or from the last answer, until the head of a request is there."""

AT_ONCE = 16
"""Connections that are taken before those that wait are looked at."""

EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Connection(H11Protocol):
    """HTTP as uvicorn speaks it, within bounds.

    A client is waited for while nothing that it has asked is being answered. Where there are too many connections, the one that is waited
    for longest makes room.
    """

    most, patience = MOST, PATIENCE

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._ends: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.most:
            waiting = [one for one in self.connections if isinstance(one, Connection) and one._ends is not None]
            min(waiting, key=Connection._end).let_go()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def let_go(self) -> None:
        """End it now, whatever is still to be sent."""
        self._wait_no_more()
        self.connections.discard(self)
        self.transport.abort()

    def _look(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._wait_no_more()

    def _wait(self) -> None:
        """Let it go when the patience is over. More bytes do not begin it anew."""
        if self._ends is None and not self.transport.is_closing():
            self._ends = self.loop.call_later(self.patience, self.let_go)

    def _wait_no_more(self) -> None:
        if self._ends is not None:
            self._ends.cancel()
            self._ends = None

    def _end(self) -> float:
        return self._ends.when() if self._ends is not None else float("inf")


class Server(uvicorn.Server):
    """Says once, in one line, that the system gives no more connections: asyncio would say it for each attempt, with a traceback."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(said_once())
        await super().serve(sockets)


def said_once() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """What an event loop does with faults that nobody else sees."""
    said = False

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal said
        fault = context.get("exception")
        if not (isinstance(fault, OSError) and fault.errno in EXHAUSTED):
            loop.default_exception_handler(context)
        elif not said:
            said = True
            print(
                f"ordag: no more connections for now ({fault.strerror}): close other tabs or programs, or allow more open files.",
                file=sys.stderr,
            )

    return handle
