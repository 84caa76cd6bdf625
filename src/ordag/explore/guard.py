"""What stands before the application: whoever does not come from the page that the workbench has opened is turned away.

Any page in a browser can send requests to the loopback address, and a name of its own can lead there (DNS rebinding). So a request has to
name the server as it is known (Host), must not come from another site (Origin, Sec-Fetch-Site), and has to know the token in the
address.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Lets requests through that name one of these hosts, come from the page itself, and know the token."""

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self.app, self.token, self.hosts = app, token, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refused = self._refused(scope)
        await (self.app if refused is None else refused)(scope, receive, send_guarded)

    def _refused(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return _refusal(
                421, "This server is not known by the name in the request: use the address that it printed."
            )
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host}":
            return _refusal(403, "Requests from pages of other sites are refused.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _refusal(403, "Requests from pages of other sites are refused.")
        said = scope["path"].removeprefix("/").partition("/")[0]
        if not hmac.compare_digest(said.encode("utf-8", "replace"), self.token.encode()):
            return _refusal(404, "There is nothing at this address: use the one that the workbench printed.")
        return None


def _refusal(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence, "kind": "Refused"}, status)
