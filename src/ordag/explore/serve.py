"""`serve`: tables in, a server on the loopback address until somebody stops it."""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from ipaddress import ip_address

import uvicorn

from ordag.errors import SettingError
from ordag.explore.app import application
from ordag.explore.connections import AT_ONCE, Connection, Server
from ordag.explore.desk import Desk
from ordag.explore.tables import Tables

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

ANY = "0.0.0.0"
"""What an empty name would listen on."""

HTTP = 80
"""The port that browsers leave out of the name of a server."""


def serve(tables: Tables, *, host: str = "127.0.0.1", port: int = 0, ready: Callable[[str], None]) -> None:
    """Answer until SIGINT or SIGTERM, which end it at once, whoever is still connected; `ready` is told the address."""
    with listen(host, port) as listening, closing(Desk(tables)) as desk:
        token = secrets.token_urlsafe(24)
        ready(f"http://{_named(host)}:{listening.getsockname()[1]}/{token}/")
        answering = server(desk, token, listening, host).serve(sockets=[listening])
        try:
            asyncio.run(answering)
        finally:
            answering.close()  # Ctrl-C may come before it has begun


def server(desk: Desk, token: str, listening: socket.socket, host: str = "127.0.0.1") -> uvicorn.Server:
    """What answers on a socket, to whoever names it by the loopback address or by the host."""
    port = listening.getsockname()[1]
    names = {one.lower() for one in (*LOOPBACK, _named(host))}
    hosts = {f"{one}:{port}" for one in names} | (names if port == HTTP else set())
    config = uvicorn.Config(
        application(desk, token, hosts),
        http=Connection,
        backlog=AT_ONCE,
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=0,
    )
    return Server(config)


def _named(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _refuse_any(host: str, address: str) -> None:
    """All addresses of the machine are none that a request could name, and nobody who names another would be let in."""
    if ip_address(address.partition("%")[0]).is_unspecified:
        raise SettingError(
            f"host={host!r} stands for all addresses of this machine: give the one, or the name, by which others reach it.",
            ["host"],
        )


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; port 0 is any that is free."""
    try:
        family, *_, address = socket.getaddrinfo(host or ANY, port, type=socket.SOCK_STREAM)[0]
        _refuse_any(host, str(address[0]))
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # else asyncio leaves Nagle on
        try:
            if sys.platform != "win32":  # there it would let two servers listen on one port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            listening.listen(128)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        where = f"port {port} of {host}" if port else host
        raise SettingError(
            f"The workbench cannot listen on {where}: {error.strerror or error}. Choose another with port=… (--port), or leave it out "
            "for one that is free."
        ) from error
    return listening
