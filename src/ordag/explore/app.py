"""Requests in, answers out: what is at each address of the workbench."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from anyio import create_task_group
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ordag.errors import OrdagError
from ordag.explore.asked import Asked
from ordag.explore.crew import Hear, TaskError, WorkError, sentence_of
from ordag.explore.desk import Desk, as_bytes, unread
from ordag.explore.guard import Guard
from ordag.explore.state import RequestError, read_json
from ordag.explore.tables import Held, NoTableError, Tell, UnreadError
from ordag.knowledge.files import entries_of
from ordag.knowledge.knowledge import Knowledge
from ordag.words import counted, harmless

Value = TypeVar("Value")

STATE_BYTES = 4 * 2**20
"""Of a request that is not an upload."""

FOLDERS = ("ordag.explore", "ordag.show")
"""The packages whose `browser/` holds the files of the page, the first of a name counting."""


class TooLargeError(RequestError):
    """A body beyond what the server takes."""


def application(desk: Desk, token: str, hosts: Collection[str]) -> Guard:
    """The workbench, for whoever knows the token and comes by one of these hosts."""
    endpoints = _Endpoints(desk)
    posts: dict[str, Callable[[Request], Awaitable[Response]]] = {
        "data": endpoints.data,
        "answer": endpoints.job(desk.answer),
        "verdict": endpoints.verdict,
        "effects": endpoints.effects,
        "effect": endpoints.effect,
        "export": endpoints.export,
        "knowledge": endpoints.knowledge,
        "jobs/bootstrap": endpoints.job(desk.bootstrap),
        "jobs/check": endpoints.job(desk.check),
        "jobs/compare": endpoints.job(desk.compare),
    }
    routes = [
        Route(f"/{token}/", endpoints.page),
        Route(f"/{token}/browser/{{name}}", endpoints.file),
        Route(f"/{token}/api/start", _guarded(endpoints.start)),
        *(Route(f"/{token}/api/{name}", _guarded(work), methods=["POST"]) for name, work in posts.items()),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _nothing_there, Exception: _fault})
    app.router.redirect_slashes = False
    return Guard(app, token, hosts)


class _Endpoints:
    """From requests to what the desk is asked, and from what it gives to responses."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.files = desk, _page_files()

    async def page(self, request: Request) -> Response:
        return self._file("explore.html")

    async def file(self, request: Request) -> Response:
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        if name not in self.files:
            raise HTTPException(404)
        kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
        return Response(self.files[name](), media_type=f"{kind}; charset=utf-8")

    async def start(self, request: Request) -> Response:
        return await self._json(await self.desk.in_thread(self.desk.start))

    async def data(self, request: Request) -> Response:
        """A table: a file that is sent, a built-in one, or one that was refused, by the remedy of this number."""
        tables = self.desk.tables
        read: Callable[[Tell], Held]
        if not request.headers.get("content-type", "").startswith("application/json"):
            name, body = _name(request, "table.csv"), await _body(request, tables.most_bytes)
            read = partial(tables.upload, name, body)
        else:
            given = await self._read(request)
            if isinstance(given, dict) and "unread" in given:
                read = partial(tables.reread, _entry(given, "unread", str), given.get("choice"))
            else:
                read = partial(tables.builtin, _entry(given, "builtin", str))
        return await self._json(await _wanted(request, self.desk.reading(lambda tell: read(tell).description)))

    async def knowledge(self, request: Request) -> Response:
        name, body = _name(request, "knowledge.txt"), await _body(request, STATE_BYTES)
        known = await self.desk.in_thread(lambda: Knowledge.from_dict(entries_of(body, name)))
        empty: dict[str, list[Any]] = {"tiers": [], "required": [], "forbidden": [], "roots": [], "sinks": []}
        return await self._json({"knowledge": empty | known.to_dict()})

    async def verdict(self, request: Request) -> Response:
        asked = await self._asked(await self._read(request))
        return await self._json(await _wanted(request, self.desk.verdict(asked)))

    async def effects(self, request: Request) -> Response:
        given = await self._read(request)
        asked, cause = await self._asked(given), _entry(given, "cause", str)
        return await self._json(await _wanted(request, self.desk.effects(asked, cause)))

    async def effect(self, request: Request) -> Response:
        given = await self._read(request)
        asked, ends = await self._asked(given), [_entry(given, end, str) for end in ("cause", "effect")]
        return await self._json(await _wanted(request, self.desk.effect(asked, *ends)))

    async def export(self, request: Request) -> Response:
        given = await self._read(request)
        asked, form = await self._asked(given), _entry(given, "form", str)
        name, content = await _wanted(request, self.desk.export(asked, form, given.get("replicates")))
        plain = "".join(
            letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in name
        )
        headers = {"Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}
        return Response(content, media_type="application/octet-stream", headers=headers)

    def job(self, work: Callable[..., Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint that says how far the work is, and then what came of it."""

        async def endpoint(request: Request) -> Response:
            given = await self._read(request)
            asked = await self._asked(given)
            options = {name: given.get(name) for name in ("layout", "replicates", "methods")}
            return _Stream(lambda hear: work(asked, hear, **options), self._encoded)

        return endpoint

    async def _asked(self, given: Any) -> Asked:
        return await self.desk.asked(_entry(given, "state", dict))

    async def _read(self, request: Request) -> Any:
        """The JSON in a request. In a thread, as there may be a lot of it, and others are not to wait for it."""
        body = await _body(request, STATE_BYTES)
        return await self.desk.in_thread(lambda: read_json(body))

    async def _json(self, value: Mapping[str, Any]) -> Response:
        return Response(await self._encoded(value), media_type="application/json")

    async def _encoded(self, value: Mapping[str, Any]) -> bytes:
        return await self.desk.in_thread(lambda: as_bytes(value))


class _Stream(Response):
    """Lines of JSON: news, then a result or an error. If the client goes away, so does the work."""

    media_type = "application/x-ndjson"

    def __init__(
        self, work: Callable[[Hear], Awaitable[Any]], encoded: Callable[[Mapping[str, Any]], Awaitable[bytes]]
    ) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._work, self._encoded = work, encoded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

        async def tell(said: Mapping[str, Any], more: bool = True) -> None:
            line = await self._encoded(said)
            await send({"type": "http.response.body", "body": line + b"\n", "more_body": more})

        async def hear(news: str) -> None:
            await tell({"progress": {"share": getattr(news, "share", None), "words": harmless(str(news))}})

        try:
            said = {"result": await _wanted(Request(scope, receive), self._work(hear))}
        except ClientDisconnect:
            return
        except Exception as error:
            _, said = refusal(error)
        await tell(said, more=False)


async def _wanted(request: Request, work: Awaitable[Value]) -> Value:
    """What some work comes to; it is stopped, and `ClientDisconnect` raised, when nobody waits for it any more."""
    outcome: list[Value] = []
    fault: list[Exception] = []

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        group.cancel_scope.cancel()

    async with create_task_group() as group:
        group.start_soon(watch)
        try:
            outcome.append(await work)
        except Exception as error:
            fault.append(error)
        group.cancel_scope.cancel()
    if fault:
        raise fault[0]
    if not outcome:
        raise ClientDisconnect
    return outcome[0]


def _page_files() -> Mapping[str, Callable[[], bytes]]:
    """The files of the page by name. They are those of the packages: no name from outside is ever a path."""
    found: dict[str, Callable[[], bytes]] = {}
    for package in FOLDERS:
        for one in files(package).joinpath("browser").iterdir():
            if one.name.endswith((".js", ".css", ".html", ".svg")):
                found.setdefault(one.name, one.read_bytes)
    return found


def _guarded(work: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint: what some work gives, or the sentence that says why there is nothing."""

    async def endpoint(request: Request) -> Response:
        try:
            return await work(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            return await _fault(request, error)

    return endpoint


STATUS: tuple[tuple[type[BaseException], int], ...] = (
    (TooLargeError, 413),
    (RequestError, 400),
    (NoTableError, 404),
    (WorkError, 500),
    (OrdagError, 422),
    (MemoryError, 507),
    (Exception, 500),
)


def refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    """An error as an answer: its status, its sentence, and what kind it is."""
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    if isinstance(error, UnreadError):
        return status, unread(error)
    kind = error.kind if isinstance(error, TaskError) else type(error).__name__
    return status, _said(sentence_of(error), kind)


def _said(sentence: str, kind: str) -> dict[str, Any]:
    return {"error": harmless(sentence), "kind": kind}


async def _nothing_there(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    sentence = "This address takes requests of another kind." if status == 405 else "There is nothing at this address."
    return JSONResponse(_said(sentence, "HTTPException"), status)


async def _fault(request: Request, error: Exception) -> Response:
    status, said = refusal(error)
    return JSONResponse(said, status)


async def _body(request: Request, most: int) -> bytes:
    """The body of a request, refused as soon as it is too long."""
    too_large = TooLargeError(
        f"The request is larger than {counted(most, 'byte')}, which is the most that is taken here."
    )
    said = request.headers.get("content-length", "0")
    if said.isdecimal() and int(said[:20]) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
    return bytes(body)


def _name(request: Request, otherwise: str) -> str:
    """The name of a file that is sent: a label, of no more than a few hundred letters."""
    return unquote(request.headers.get("x-ordag-name", ""), errors="replace")[-200:] or otherwise


def _entry(asked: Any, name: str, kind: type) -> Any:
    if not isinstance(asked, dict) or not isinstance(asked.get(name), kind):
        raise RequestError(f"The request has no {name!r}, or one of another kind.")
    return asked[name]
