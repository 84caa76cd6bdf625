"""Who does not come from the page that the workbench has opened is turned away, and every answer says how it may be used."""

from __future__ import annotations

from http.client import HTTPConnection

import pytest
from asking import TOKEN, state

pytestmark = pytest.mark.system

SAFE = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def test_every_answer_has_the_headers(client):
    asked = [
        client.get(""),
        client.get("browser/page.css"),
        client.get("api/start"),
        client.get("nothing"),
        client.get("api/answer"),
        client.post("api/answer", json={"state": state()}),
        client.post("api/answer", content=b"{"),
        client.post("api/jobs/bootstrap", json={"state": state(), "replicates": 1}),
        client.get("", headers={"Host": "elsewhere.example"}),
    ]
    assert [one.status_code for one in asked] == [200, 200, 200, 404, 405, 200, 400, 200, 421]
    for one in asked:
        assert SAFE.items() <= dict(one.headers).items()
        policy = one.headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert not any("unsafe" in rule or "*" in rule for rule in policy)


@pytest.mark.parametrize(
    "host", ["elsewhere.example", "elsewhere.example:8000", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""]
)
def test_a_name_that_leads_here_from_elsewhere_is_refused(client, host):
    answer = client.get("api/start", headers={"Host": host})
    assert answer.status_code == 421
    assert "address that it printed" in answer.json()["error"]


@pytest.mark.parametrize(
    "origin",
    [
        "http://elsewhere.example",
        "null",
        "https://127.0.0.1",
        "http://127.0.0.1:1",
        "http://127.0.0.1.evil.example",
        "file://",
        "http://[",
        "",
    ],
)
def test_requests_of_other_sites_are_refused(client, origin):
    answer = client.post("api/answer", json={"state": state()}, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "other sites" in answer.json()["error"]


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Same-Origin", ""])
def test_requests_that_the_browser_calls_foreign_are_refused(client, site):
    assert client.get("api/start", headers={"Sec-Fetch-Site": site}).status_code == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_requests_of_the_page_itself_are_let_through(client, address, site):
    headers = {"Sec-Fetch-Site": site, "Origin": address}
    assert client.get("api/start", headers=headers).status_code == 200


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST", "[::1]"])
def test_the_loopback_address_has_other_names(client, address, name):
    host = f"{name}:{address.rpartition(':')[2]}"
    assert client.get("api/start", headers={"Host": host, "Origin": f"http://{host}"}).status_code == 200
    assert client.get("api/start", headers={"Host": host, "Origin": address}).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/x/",
        f"/{TOKEN[:-1]}/",
        f"/{TOKEN}x/",
        f"/{TOKEN.upper()}/",
        "/%C3%A4/api/start",
        "//",
        f"/x/../{TOKEN}/",
        f"//{TOKEN}/",
    ],
)
def test_without_the_token_there_is_nothing(address, path):
    status, said = raw(address, path)
    assert status == 404
    assert b'"Refused"' in said


@pytest.mark.parametrize(("method", "target"), [("OPTIONS", "*"), ("GET", "x"), ("CONNECT", "elsewhere.example:80")])
def test_nor_is_there_where_the_target_is_no_path(address, method, target):
    status, said = raw(address, target, method)
    assert status == 404
    assert b'"Refused"' in said


def raw(address, path, method="GET"):
    """A request for a path as it stands."""
    connection = HTTPConnection(address.partition("//")[2], timeout=600)
    connection.request(method, path)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


@pytest.mark.parametrize(
    "name",
    ["nothing.js", "..%2f..%2fdesk.py", "%2e%2e/workbench.py", "workbench.py", "..", "%2fetc%2fpasswd", "page.css%00"],
)
def test_no_file_but_those_of_the_page_is_served(address, name):
    assert raw(address, f"/{TOKEN}/browser/{name}")[0] == 404


def test_the_page_has_all_files_that_its_modules_import(client):
    assert client.get("").headers["content-type"] == "text/html; charset=utf-8"
    waiting, seen = ["explore.js"], set()
    while waiting:
        name = waiting.pop()
        answer = client.get(f"browser/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        seen.add(name)
        waiting += {
            line.split('"./')[1].split('"')[0] for line in answer.text.splitlines() if ' from "./' in line
        } - seen
    assert {"graph.js", "text.js"} <= seen


def test_what_a_proxy_would_say_is_no_way_around(client, address):
    host = address.partition("//")[2]
    headers = {"Host": "elsewhere.example", "X-Forwarded-Host": host, "Forwarded": f"host={host}"}
    assert client.get("api/start", headers=headers).status_code == 421
