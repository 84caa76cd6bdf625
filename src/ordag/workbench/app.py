"""`application`: the addresses of the workbench, from requests to responses."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Mapping
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

from ordag.common.plain import to_json
from ordag.common.words import counted, harmless
from ordag.errors import OrdagError
from ordag.knowledge.files import entries_of
from ordag.knowledge.knowledge import Knowledge
from ordag.workbench.pool import AsyncProgress, Progress, TaskError, WorkError, sentence_of
from ordag.workbench.state import RequestError, read_json
from ordag.workbench.tables import NoTableError, OpenTable, UnreadError
from ordag.workbench.workbench import Question, Workbench, unread

Value = TypeVar("Value")
Endpoint = Callable[[Request], Awaitable[Response]]

MOST_BODY_BYTES = 4 * 2**20
"""Of a request that is not an upload."""

PACKAGES = ("ordag.workbench", "ordag.show")
"""Those whose `browser/` holds the files of the page; of two files with one name the first counts."""


class TooLargeError(RequestError):
    """A body larger than the server takes."""


def application(workbench: Workbench, token: str) -> Starlette:
    """Make the application of a workbench, whose addresses begin with the token."""
    endpoints = _Endpoints(workbench)
    posts: dict[str, Endpoint] = {
        "data": endpoints.data,
        "knowledge": endpoints.knowledge,
        "answer": endpoints.streamed(workbench.answer),
        "verdict": endpoints.plain(workbench.verdict),
        "effects": endpoints.plain(workbench.effects, "cause"),
        "effect": endpoints.plain(workbench.effect, "cause", "effect"),
        "own": endpoints.plain(workbench.users_graph, "graph", "file", "change", "source", "target"),
        "export": endpoints.export,
        "jobs/bootstrap": endpoints.streamed(workbench.bootstrap),
        "jobs/check": endpoints.streamed(workbench.check),
        "jobs/compare": endpoints.streamed(workbench.compare),
    }
    routes = [
        Route(f"/{token}/", endpoints.page),
        Route(f"/{token}/browser/{{name}}", endpoints.file),
        Route(f"/{token}/api/start", _with_refusals(endpoints.start)),
        *(Route(f"/{token}/api/{name}", _with_refusals(one), methods=["POST"]) for name, one in posts.items()),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_address})
    app.router.redirect_slashes = False
    return app


class _Endpoints:
    """From requests to questions of the workbench, and from its answers to responses."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench, self.files = workbench, _page_files()

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
        return await self._json(await self.workbench.in_thread(self.workbench.start))

    async def data(self, request: Request) -> Response:
        """Open a table: an uploaded file, a built-in table, a refused table by the number of one of its remedies, or
        an open one with another role for a column."""
        tables = self.workbench.tables
        read: Callable[[Progress], OpenTable]
        if not request.headers.get("content-type", "").startswith("application/json"):
            name, body = _file_name(request, "table.csv"), await _body(request, tables.most_bytes)
            read = partial(tables.upload, name, body)
        else:
            given = await self._read(request)
            if isinstance(given, dict) and "unread" in given:
                read = partial(tables.reread, _entry(given, "unread", str), given.get("choice"))
            elif isinstance(given, dict) and "recast" in given:
                read = partial(tables.recast, _entry(given, "recast", str), given)
            else:
                read = partial(tables.builtin, _entry(given, "builtin", str))
        return await self._json(await _unless_gone(request, self.workbench.open(read)))

    async def knowledge(self, request: Request) -> Response:
        """Read a knowledge file."""
        name, body = _file_name(request, "knowledge.txt"), await _body(request, MOST_BODY_BYTES)
        known = await self.workbench.in_thread(lambda: Knowledge.from_dict(entries_of(body, name)))
        empty: dict[str, list[Any]] = {"tiers": [], "required": [], "forbidden": [], "roots": [], "sinks": []}
        return await self._json({"knowledge": empty | known.to_dict()})

    def plain(self, work: Callable[..., Awaitable[Any]], *names: str) -> Endpoint:
        """Make an endpoint that answers with JSON; `names` are texts of the request that the work takes."""

        async def endpoint(request: Request) -> Response:
            given = await self._read(request)
            texts = [_entry(given, name, str) for name in names]
            question = await self._question(given)
            return await self._json(await _unless_gone(request, work(question, *texts)))

        return endpoint

    def streamed(self, work: Callable[..., Awaitable[Any]]) -> Endpoint:
        """Make an endpoint that answers with lines of JSON: progress, then the result."""

        async def endpoint(request: Request) -> Response:
            given = await self._read(request)
            question = await self._question(given)
            options = {name: given.get(name) for name in ("layout", "replicates", "methods")}
            return _Stream(lambda progress: work(question, progress, **options), self._encoded)

        return endpoint

    async def export(self, request: Request) -> Response:
        """Answer with a file."""
        given = await self._read(request)
        form = _entry(given, "form", str)
        question = await self._question(given)
        name, content = await _unless_gone(request, self.workbench.export(question, form, given.get("replicates")))
        ascii_name = "".join(
            letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in name
        )
        disposition = f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"
        headers = {"Content-Disposition": disposition}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def _question(self, given: Any) -> Question:
        return await self.workbench.question(_entry(given, "state", dict))

    async def _read(self, request: Request) -> Any:
        """Read the JSON of a request, in a thread: a large one would keep other requests waiting."""
        body = await _body(request, MOST_BODY_BYTES)
        return await self.workbench.in_thread(lambda: read_json(body))

    async def _json(self, value: Mapping[str, Any]) -> Response:
        return Response(await self._encoded(value), media_type="application/json")

    async def _encoded(self, value: Mapping[str, Any]) -> bytes:
        return await self.workbench.in_thread(lambda: to_json(value, None).encode())


class _Stream(Response):
    """Lines of JSON: progress, then a result or an error. The work ends if the client goes away."""

    media_type = "application/x-ndjson"

    def __init__(
        self, work: Callable[[AsyncProgress], Awaitable[Any]], encoded: Callable[[Mapping[str, Any]], Awaitable[bytes]]
    ) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._work, self._encoded = work, encoded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

        async def send_line(value: Mapping[str, Any], more: bool = True) -> None:
            line = await self._encoded(value)
            await send({"type": "http.response.body", "body": line + b"\n", "more_body": more})

        async def progress(news: str) -> None:
            await send_line({"progress": {"share": getattr(news, "share", None), "words": harmless(str(news))}})

        try:
            last = {"result": await _unless_gone(Request(scope, receive), self._work(progress))}
        except ClientDisconnect:
            return
        except Exception as error:
            _, last = refusal(error)
        await send_line(last, more=False)


async def _unless_gone(request: Request, work: Awaitable[Value]) -> Value:
    """Wait for some work; when the client disconnects, cancel it and raise `ClientDisconnect`."""
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
    """Return the files of the page by name: a name in a request is never used as a path."""
    found: dict[str, Callable[[], bytes]] = {}
    for package in PACKAGES:
        for one in files(package).joinpath("browser").iterdir():
            if one.name.endswith((".js", ".css", ".html", ".svg")):
                found.setdefault(one.name, one.read_bytes)
    return found


def _with_refusals(work: Endpoint) -> Endpoint:
    """Make an endpoint that answers with a sentence where the work raises an error."""

    async def endpoint(request: Request) -> Response:
        try:
            return await work(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            status, content = refusal(error)
            return JSONResponse(content, status)

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
    """Return an error as an answer: its status, its sentence, and its kind."""
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    if isinstance(error, UnreadError):
        return status, unread(error)
    kind = error.kind if isinstance(error, TaskError) else type(error).__name__
    return status, {"error": harmless(sentence_of(error)), "kind": kind}


async def _no_such_address(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    sentence = "This address takes requests of another kind." if status == 405 else "There is nothing at this address."
    return JSONResponse({"error": sentence, "kind": "HTTPException"}, status)


async def _body(request: Request, most: int) -> bytes:
    """Read the body of a request, and refuse it as soon as it is too long."""
    too_large = TooLargeError(
        f"The request is larger than {counted(most, 'byte')}, which is the most that is taken here."
    )
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced[:20]) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
    return bytes(body)


def _file_name(request: Request, default: str) -> str:
    """Return the name of an uploaded file, a label of up to 200 letters."""
    return unquote(request.headers.get("x-ordag-name", ""), errors="replace")[-200:] or default


def _entry(given: Any, name: str, kind: type) -> Any:
    if not isinstance(given, dict) or not isinstance(given.get(name), kind):
        raise RequestError(f"The request has no {name!r}, or one of another kind.")
    return given[name]
