"""`serve`: tables in, a server on the loopback address until somebody stops it."""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import Callable
from contextlib import closing

import uvicorn

from ordag.errors import SettingError
from ordag.explore.app import application
from ordag.explore.desk import Desk
from ordag.explore.tables import Tables

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def serve(tables: Tables, *, host: str = "127.0.0.1", port: int = 0, ready: Callable[[str], None]) -> None:
    """Answer until SIGINT or SIGTERM, which end it at once, whoever is still connected; `ready` is told the address."""
    with listen(host, port) as listening, closing(Desk(tables)) as desk:
        token = secrets.token_urlsafe(24)
        ready(f"http://{_named(host)}:{listening.getsockname()[1]}/{token}/")
        server(desk, token, listening, host).run(sockets=[listening])


def server(desk: Desk, token: str, listening: socket.socket, host: str = "127.0.0.1") -> uvicorn.Server:
    """What answers on a socket, to whoever names it by the loopback address or by the host."""
    port = listening.getsockname()[1]
    hosts = {f"{one.lower()}:{port}" for one in (*LOOPBACK, _named(host))}
    config = uvicorn.Config(
        application(desk, token, hosts),
        http="h11",
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=0,
    )
    return uvicorn.Server(config)


def _named(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; port 0 is any that is free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
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
