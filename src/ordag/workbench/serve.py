"""`serve`: run the workbench on a socket until SIGINT or SIGTERM."""

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
from ordag.workbench.app import application
from ordag.workbench.guard import Connection, Guard, Server
from ordag.workbench.tables import Tables
from ordag.workbench.workbench import Workbench

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

ALL_ADDRESSES = "0.0.0.0"
"""What an empty host name listens on."""

HTTP_PORT = 80
"""The port that browsers leave out of the name of a server."""

BACKLOG = 16
"""Connections that are accepted before those that wait are looked at."""


def serve(tables: Tables, *, host: str = "127.0.0.1", port: int = 0, ready: Callable[[str], None]) -> None:
    """Answer requests until SIGINT or SIGTERM, which end it at once; call `ready` with the address of the page."""
    with listen(host, port) as listening, closing(Workbench(tables)) as workbench:
        token = secrets.token_urlsafe(24)
        ready(f"http://{_bracketed(host)}:{listening.getsockname()[1]}/{token}/")
        answering = server(workbench, token, listening, host).serve(sockets=[listening])
        try:
            asyncio.run(answering)
        finally:
            answering.close()  # Ctrl-C may come before it has begun


def server(workbench: Workbench, token: str, listening: socket.socket, host: str = "127.0.0.1") -> uvicorn.Server:
    """Make the server of a socket, for requests that name the loopback address or the host."""
    port = listening.getsockname()[1]
    names = {one.lower() for one in (*LOOPBACK, _bracketed(host))}
    hosts = {f"{one}:{port}" for one in names} | (names if port == HTTP_PORT else set())
    config = uvicorn.Config(
        Guard(application(workbench, token), token, hosts),
        http=Connection,
        backlog=BACKLOG,
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=0,
    )
    return Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket that takes connections; port 0 is any free one."""
    try:
        family, *_, address = socket.getaddrinfo(host or ALL_ADDRESSES, port, type=socket.SOCK_STREAM)[0]
        _refuse_all_addresses(host, str(address[0]))
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


def _refuse_all_addresses(host: str, address: str) -> None:
    """Refuse the address that stands for all of the machine's: no request could name it, and those that name another are turned away."""
    if ip_address(address.partition("%")[0]).is_unspecified:
        raise SettingError(
            f"host={host!r} stands for all addresses of this machine: give the one, or the name, by which others reach it.",
            ["host"],
        )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
