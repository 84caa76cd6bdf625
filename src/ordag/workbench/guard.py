"""What strangers can have of the server: no answer without the token (`Guard`), and few connections for a short time (`Connection`).

Any page in a browser can send requests to the loopback address, and a host name of its own can lead there (DNS rebinding). So a request
has to name the server as it is known (Host), must not come from another site (Origin, Sec-Fetch-Site), and has to have the token in
its address.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import socket
import sys
from collections.abc import Callable, Collection
from typing import Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

MOST_CONNECTIONS = 100
"""Open at once. A browser holds six, and systems allow a process 256 open files or more."""

SECONDS_FOR_HEAD = 10.0
"""From the connection, or from the last answer, until the head of a request is there."""

EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Guard:
    """Pass on requests that name one of the hosts, come from the page itself, and have the token; refuse all others."""

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self.app, self.token, self.hosts = app, token, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return _refused(421, "This server does not have the name in the request: use the address that it printed.")
        origin = headers.get("origin")
        foreign = origin is not None and origin.lower() != f"http://{host}"
        if foreign or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _refused(403, "Requests from pages of other sites are refused.")
        token = scope["path"].removeprefix("/").partition("/")[0]
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            return _refused(404, "There is nothing at this address: use the one that the workbench printed.")
        return None


def _refused(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence, "kind": "Refused"}, status)


class Connection(H11Protocol):
    """uvicorn's HTTP connection, closed when its client takes too long to ask.

    The time runs while no request is being answered. One connection too many closes the one that has waited longest.
    """

    most, patience = MOST_CONNECTIONS, SECONDS_FOR_HEAD

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()
        if len(self.connections) > self.most:
            waiting = [one for one in self.connections if isinstance(one, Connection) and one._timer is not None]
            min(waiting, key=Connection._deadline).close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def close(self) -> None:
        """Close the connection now, whatever is still to be sent."""
        self._stop_timer()
        self.connections.discard(self)
        self.transport.abort()

    def _update_timer(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self._start_timer()
        else:
            self._stop_timer()

    def _start_timer(self) -> None:
        """Start the timer unless it runs: more bytes do not prolong it."""
        if self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(self.patience, self.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _deadline(self) -> float:
        return self._timer.when() if self._timer is not None else float("inf")


class Server(uvicorn.Server):
    """Report once, in one line, that the system has no more connections: asyncio would write a traceback for each attempt."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_exhaustion_reporter())
        await super().serve(sockets)


def _exhaustion_reporter() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    reported = False

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal reported
        fault = context.get("exception")
        if not (isinstance(fault, OSError) and fault.errno in EXHAUSTED):
            loop.default_exception_handler(context)
        elif not reported:
            reported = True
            print(
                f"ordag: no more connections for now ({fault.strerror}): close other tabs or programs, or allow more open files.",
                file=sys.stderr,
            )

    return handle
