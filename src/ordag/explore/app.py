"""Requests in, answers out: what is at each address of the workbench."""

from __future__ import annotations

import mimetypes
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import unquote

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ordag.errors import OrdagError
from ordag.explore.answers import Answers, start
from ordag.explore.guard import Guard
from ordag.explore.state import RequestError, read_json, read_state
from ordag.explore.tables import NoTableError, Tables
from ordag.plain import to_json
from ordag.words import counted, harmless

STATE_BYTES = 4 * 2**20
"""Of a request that is not an upload."""

THREADS = 4
"""Quick answers that are worked on at once."""

FOLDERS = ("ordag.explore", "ordag.show")
"""The packages whose `browser/` holds the files of the page, the first of a name counting."""


class TooLargeError(RequestError):
    """A body beyond what the server takes."""


def application(tables: Tables, token: str, hosts: list[str]) -> Guard:
    """The workbench over these tables, for whoever knows the token and comes by one of these hosts."""
    desk = _Desk(tables)
    routes = [
        Route("/", desk.page),
        Route("/browser/{name}", desk.file),
        Route("/api/start", _answered(desk.start)),
        Route("/api/data", _answered(desk.data), methods=["POST"]),
        Route("/api/answer", _answered(desk.answer), methods=["POST"]),
    ]
    app = Starlette(
        routes=[Route(f"/{token}{one.path}", one.endpoint, methods=list(one.methods or ())) for one in routes],
        exception_handlers={HTTPException: _nothing_there},
    )
    app.router.redirect_slashes = False
    return Guard(app, token, hosts)


class _Desk:
    """What the addresses do."""

    def __init__(self, tables: Tables) -> None:
        self.tables, self.answers = tables, Answers(tables)
        self.files = _page_files()
        self._threads: CapacityLimiter | None = None

    async def page(self, request: Request) -> Response:
        return self._sent("explore.html")

    async def file(self, request: Request) -> Response:
        return self._sent(request.path_params["name"])

    def _sent(self, name: str) -> Response:
        if name not in self.files:
            raise HTTPException(404)
        kind = {"js": "text/javascript"}.get(name.rpartition(".")[2]) or mimetypes.guess_type(name)[0] or "text/plain"
        return Response(self.files[name](), media_type=f"{kind}; charset=utf-8")

    async def start(self, request: Request) -> Any:
        return await self._in_thread(lambda: start(self.tables))

    async def data(self, request: Request) -> Any:
        if request.headers.get("content-type", "").startswith("application/json"):
            name = _entry(read_json(await _body(request, STATE_BYTES)), "builtin", str)
            return await self._in_thread(lambda: self.tables.builtin(name).description)
        name = unquote(request.headers.get("x-ordag-name", "") or "table.csv", errors="replace")
        body = await _body(request, self.tables.most_bytes)
        return await self._in_thread(lambda: self.tables.upload(name, body).description)

    async def answer(self, request: Request) -> Any:
        asked = read_json(await _body(request, STATE_BYTES))
        began = time.perf_counter()

        def work() -> Any:
            state = read_state(_entry(asked, "state", dict))
            found = self.answers.answer(state, layout=asked.get("layout") is True)
            return {**found, "milliseconds": round(1000.0 * (time.perf_counter() - began), 2)}

        return await self._in_thread(work)

    async def _in_thread(self, work: Callable[[], Any]) -> bytes:
        """What some work comes to, as JSON."""
        self._threads = self._threads or CapacityLimiter(THREADS)
        return await to_thread.run_sync(lambda: to_json(work(), None).encode(), limiter=self._threads)


def _page_files() -> Mapping[str, Callable[[], bytes]]:
    """The files of the page by name. They are those of the packages: no name from outside is ever a path."""
    found: dict[str, Callable[[], bytes]] = {}
    for package in FOLDERS:
        for one in files(package).joinpath("browser").iterdir():
            if one.name.endswith((".js", ".css", ".html", ".svg")):
                found.setdefault(one.name, one.read_bytes)
    return found


def _answered(work: Callable[[Request], Awaitable[bytes]]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint: the JSON that some work gives, or the sentence that says why there is none."""

    async def endpoint(request: Request) -> Response:
        try:
            return Response(await work(request), media_type="application/json")
        except OrdagError as error:
            return refusal(error)
        except ClientDisconnect:
            return Response(status_code=400)
        except MemoryError:
            return _refusal(
                507, "There is not enough memory for this: use fewer columns or a larger machine.", "MemoryError"
            )

    return endpoint


def refusal(error: OrdagError) -> Response:
    """An error as an answer: its sentence, and what kind it is."""
    status = 413 if isinstance(error, TooLargeError) else 404 if isinstance(error, NoTableError) else 422
    return _refusal(status, str(error), type(error).__name__)


def _refusal(status: int, sentence: str, kind: str) -> Response:
    return JSONResponse({"error": harmless(sentence), "kind": kind}, status)


async def _nothing_there(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    sentence = "This address takes requests of another kind." if status == 405 else "There is nothing at this address."
    return _refusal(status, sentence, "HTTPException")


async def _body(request: Request, most: int) -> bytes:
    """The body of a request, refused as soon as it is too long."""
    sentence = f"The request is larger than {counted(most, 'byte')}, which is the most that is taken here."
    try:
        if int(request.headers.get("content-length", "0")) > most:
            raise TooLargeError(sentence)
    except ValueError as error:
        if isinstance(error, TooLargeError):
            raise
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise TooLargeError(sentence)
    return bytes(body)


def _entry(asked: Any, name: str, kind: type) -> Any:
    if not isinstance(asked, dict) or not isinstance(asked.get(name), kind):
        raise RequestError(f"The request has no {name!r}, or one of another kind.")
    return asked[name]
