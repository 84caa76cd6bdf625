"""Requests as a page of the workbench makes them."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import anyio
import httpx

from ordag.workbench.serve import listen, server

TOKEN = "a-token"


def caller(address):
    """Somebody who asks this address, and gives an idle connection up before the server does: it might be asking just then."""
    return httpx.Client(base_url=address, timeout=600, limits=httpx.Limits(keepalive_expiry=1.0))


def state(data="marks", **chosen):
    """A state of the page: that of a table about which nothing was chosen yet, with what is given."""
    said = {"id": "", "name": data, "builtin": data, "digest": None} if isinstance(data, str) else data
    fresh = {
        "format": "ordag-workbench",
        "version": 1,
        "data": said,
        "method": "cvs",
        "settings": {},
        "columns": None,
        "transform": {},
        "knowledge": {"tiers": [], "required": [], "forbidden": [], "roots": [], "sinks": []},
        "view": {},
    }
    return {**fresh, **chosen}


def arrows(document):
    """The arrows of a document, as pairs of raw names."""
    pairs, raw = document["pairs"], document["raw"]
    ends = zip(pairs["source"], pairs["target"], pairs["kind"], strict=True)
    return [(raw[i], raw[j]) for i, j, kind in ends if kind == "arrow"]


@contextmanager
def answering(workbench):
    """A server in a thread of this process; gives where it answers."""
    with listen("127.0.0.1", 0) as listening:
        one = server(workbench, TOKEN, listening)
        thread = threading.Thread(target=one.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            one.should_exit = True
            thread.join()


def finished(work, *given):
    """What an asynchronous function comes to. In a thread: in the one of the tests the event loop of the browser may run."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, work, *given).result()


def ask(client, state, **options):
    """The answer to a state: its document, and what its units change."""
    response = client.post("api/answer", json={"state": state, **options})
    assert response.status_code == 200, response.text
    _, last = lines(response)
    return last["result"]


def lines(response):
    """What a stream said: the news, and what came last."""
    *news, last = [json.loads(line) for line in response.text.splitlines()]
    assert all(set(one) == {"progress"} for one in news)
    return [one["progress"] for one in news], last
