"""What each address answers is what the library says of the same state."""

from __future__ import annotations

import gzip
import io
import json
import threading
from http.client import HTTPConnection
from urllib.parse import quote

import numpy as np
import pytest
from asking import arrows, ask, lines, state
from browser.pages import table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_state import anything, parts

import ordag
from ordag.assess.verdict import quick_verdict
from ordag.data.datasets import DATASETS
from ordag.show.export import content
from ordag.workbench import app
from ordag.workbench.documents import MOST_PATHS
from ordag.workbench.tasks import forms

pytestmark = pytest.mark.system

MARKS = DATASETS["marks"]
CSV = MARKS.path.read_bytes()

PATIENCE = 180
"""Seconds to wait for what must come."""


def answer(client, **chosen):
    return ask(client, state(**chosen))


def upload(client, body, name="marks.csv"):
    return client.post("api/data", content=body, headers={"X-Ordag-Name": quote(name)})


def test_a_page_is_told_what_there_is(client):
    start = client.get("api/start").json()
    assert start["data"] is None
    assert [one["name"] for one in start["builtin"]] == list(DATASETS)
    assert start["most_bytes"] == 2**20
    assert [one["name"] for one in start["methods"]] == ["auto", "pooled", "cvs", "pc", "ges", "gds"]
    assert start["version"] == ordag.__version__
    assert {"report", "knowledge", "python", "command", ".dot", ".svg", ".json"} <= {
        one["form"] for one in start["forms"]
    }


def test_each_kind_of_file_is_offered_once():
    titles = [one["title"] for one in forms()]
    assert len(set(titles)) == len(titles)
    assert not {".gv", ".lav", ".html"} & {one["form"] for one in forms()}


def test_a_builtin_table_and_its_file_are_described_alike(client):
    builtin = client.post("api/data", json={"builtin": "marks"}).json()
    uploaded = upload(client, CSV, "marks ä.csv").json()
    assert uploaded["name"] == "marks ä.csv"
    assert (builtin["builtin"], uploaded["builtin"]) == ("marks", None)
    own = {"id", "name", "builtin", "shown"}
    assert {key: value for key, value in builtin.items() if key not in own} == {
        key: value for key, value in uploaded.items() if key not in own
    }
    moments = ordag.Moments.scan("marks")
    for j, column in enumerate(uploaded["columns"]):
        assert column["name"] == MARKS.columns[j]
        assert column["mean"] == pytest.approx(moments.mean[j])
        assert column["positive"] == (column["least"] > 0)
    assert uploaded["columns"][0]["least"] == 0.0


def test_the_same_file_has_the_same_id(client):
    assert upload(client, CSV).json() == upload(client, CSV).json()
    assert upload(client, CSV + b"1,2,3,4,5\n").json()["id"] != upload(client, CSV).json()["id"]


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".csv.gz", ".tsv"])
def test_tables_of_other_kinds_are_read_by_their_ending(client, tmp_path, ending):
    import pandas as pd

    table, path = pd.read_csv(MARKS.path), tmp_path / f"marks{ending}"
    if ending == ".parquet":
        table.to_parquet(path)
    elif ending == ".feather":
        table.to_feather(path)
    else:
        table.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    found = upload(client, path.read_bytes(), path.name)
    assert found.status_code == 200, found.text
    assert found.json()["names"] == list(MARKS.columns)
    assert sorted(arrows(answer(client, data=found.json())["document"])) == sorted(
        ordag.learn("marks", "cvs").graph.directed
    )


@pytest.mark.parametrize(
    ("body", "name", "sentence"),
    [
        (b"a,b\n1,x\n", "t.csv", "Set aside: b (the same value in every row)"),
        (b"", "t.csv", "t.csv"),
        (b"\x00\x01", "t.parquet", "t.parquet"),
        (b"a,b\n1,2\n3,\n4,5\n", "t.csv", "3 rows and 2 variables"),
        (b"a,a\n1,2\n", "t.csv", "several columns"),
        (CSV, "/etc/passwd", None),
        (CSV, "../../marks", None),
        (CSV, "marks", None),
        (b"a,b\n1,2\n", "<script>.csv", ""),
    ],
)
def test_what_cannot_be_read_is_a_sentence_and_no_name_is_a_path(client, body, name, sentence):
    found = upload(client, body, name)
    if sentence is None:
        assert found.json()["names"] == list(MARKS.columns)
        told = answer(client, data=found.json(), method="pc")["document"]
        assert told["again"]["digest"] == found.json()["digest"]
    else:
        assert found.status_code == 422
        assert sentence in found.json()["error"]
        assert "Traceback" not in found.text


def untidy():
    """A table with dates and words, a column with an infinite value and a missing one, as other programs write it."""
    X = np.random.default_rng(3).normal(size=(40, 3))
    lines = [
        f"2026-01-{k % 28 + 1:02},{a:.3f},x{k},{b:.3f},{1 / k if k else 'inf'},{c:.3f}" for k, (a, b, c) in enumerate(X)
    ]
    lines[7] = lines[7].rpartition(",")[0] + ","
    return "\n".join(["t,a,cat,b,same,c", *lines]).encode()


def test_a_table_that_can_be_read_otherwise_comes_with_ways_to_do_so(client):
    refused = [upload(client, untidy(), "untidy.csv").json()]
    while "unread" in refused[-1]:
        chosen = {"unread": refused[-1]["unread"], "choice": 0}
        refused.append(client.post("api/data", json=chosen).json())
    *refused, told = refused
    assert [one["remedies"] for one in refused] == [
        ["go on without same"],
    ]
    assert refused[0]["kind"] == "NonFiniteError"
    assert (told["names"], told["rows"], told["dropped"]) == (["a", "b", "c"], 40, 0)
    again = answer(client, data=told)["document"]["again"]
    assert "--drop same" in again["command"]
    assert answer(client, data=told, columns=["a", "c"])["document"]["raw"] == ["a", "c"]
    _, last = lines(client.post("api/jobs/bootstrap", json={"state": state(told), "replicates": 3}))
    assert last["result"]["replicates"] == 3


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("a;b\n" + "1,5;2,5\n2,5;1,5\n3,5;1,5\n" * 9, []),
        ("1,2\n2,3\n4,3\n7,5\n8,1\n", ["take the first line for data"]),
        ("a,ä\n1,2\n2,3\n4,3\n7,5\n8,1\n", []),
        (",a,b\n" + "".join(f"{k},{k % 3},{k % 5}\n" for k in range(9)), []),
        ("a,,b\n" + "".join(f"{k % 3},{k},{k % 5}\n" for k in range(9)), []),
        ("a,b,c\n" + "".join(f"{k % 4},,{k % 5}\n" for k in range(9)), []),
        ("a,b,c\n" + "".join(f"{k % 4},{k or 'inf'},{k % 5}\n" for k in range(9)), ["go on without b"]),
    ],
)
def test_the_first_way_of_each_leads_to_a_table(client, body, words):
    told, found = upload(client, body.encode("latin-1"), "t.csv").json(), []
    while "unread" in told:
        found.append(told["remedies"][0])
        told = client.post("api/data", json={"unread": told["unread"], "choice": 0}).json()
    assert found == words
    assert len(told["names"]) == 2


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"choice": 9}, "no such way"),
        ({"choice": -1}, "no such way"),
        ({"choice": "0"}, "no such way"),
        ({}, "no such way"),
        ({"unread": "d0", "choice": 0}, "no longer here"),
        ({"unread": 3, "choice": 0}, "'unread'"),
    ],
)
def test_a_way_that_was_not_offered_is_refused(client, chosen, sentence):
    told = upload(client, untidy(), "untidy.csv").json()
    found = client.post("api/data", json={"unread": told["unread"], **chosen})
    assert found.status_code in (400, 404)
    assert sentence in found.json()["error"]


def test_a_file_that_nobody_waits_for_is_read_no_further(client, workbench, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def endless(name, body, tell):
        begun.set()
        try:
            while True:
                tell("some rows read")
        finally:
            ended.set()

    monkeypatch.setattr(workbench.tables, "upload", endless)
    tab = HTTPConnection(client.base_url.host, client.base_url.port)
    tab.request("POST", f"{client.base_url.path}api/data", CSV)
    assert begun.wait(PATIENCE)
    tab.close()
    assert ended.wait(PATIENCE)


@pytest.mark.thorough
def test_large_requests_and_answers_keep_nobody_waiting(client, monkeypatch):
    """What takes long for its size is done in threads, not where all requests come in."""
    seen = []
    for name in ("read_json", "to_json"):
        work = getattr(app, name)
        monkeypatch.setattr(
            app, name, lambda *given, work=work: (seen.append(threading.current_thread()), work(*given))[1]
        )
    answer(client)
    lines(client.post("api/jobs/bootstrap", json={"state": state(), "replicates": 2}))
    assert len(seen) >= 4
    assert {one.name for one in seen} == {"AnyIO worker thread"}


def test_a_fault_is_a_sentence_wherever_it_happens(client, workbench, monkeypatch):
    def faulty(*_, **__):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(workbench.tables, "changed", faulty)
    told = client.post("api/verdict", json={"state": state(settings={"alpha": 0.123})})
    _, last = lines(client.post("api/jobs/check", json={"state": state(settings={"alpha": 0.1234})}))
    assert told.status_code == 500
    for said in (told.json(), last):
        assert said["kind"] == "ZeroDivisionError"
        assert "fault in Ordag" in said["error"]
        assert "secret" not in said["error"]


def test_a_table_that_is_too_large_is_refused(client):
    large = b"a,b\n" + b"1,2\n" * 300_000
    said = upload(client, large)
    assert said.status_code == 413
    assert "1,048,576 bytes" in said.json()["error"]

    def pieces():
        for _ in range(300):
            yield large[:8192]

    assert client.post("api/data", content=pieces()).status_code == 413  # without a length to go by
    assert client.post("api/answer", content=b" " * (4 * 2**20 + 1)).status_code == 413


def test_what_a_compressed_table_unpacks_to_is_bounded(client):
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000)
    assert len(packed) < 2**16
    said = upload(client, packed, "large.csv.gz")
    assert said.status_code == 422
    assert "large.csv.gz unpacks to more than 4,194,304 bytes" in said.json()["error"]


STATES = {
    "cvs": {"settings": {"alpha": 0.05, "correction": "bh"}},
    "auto": {"method": "auto"},
    "pooled": {"method": "pooled", "settings": {"units": "commensurable"}},
    "pc": {"method": "pc"},
    "ges": {"method": "ges", "settings": {"orient_by_order": "class"}},
    "gds": {"method": "gds"},
    "columns": {"columns": ["mechanics", "vectors", "algebra"], "settings": {"alpha": 0.1}},
    "transform": {"transform": {"algebra": 100.0, "vectors": "log", "analysis": "standardise"}},
    "rows": {"settings": {"variance": "robust"}},
    "knowledge": {"knowledge": {"tiers": [["vectors"], ["algebra"]], "forbidden": [["vectors", "mechanics"]]}},
}


def learned(method="cvs", settings=None, columns=None, transform=None, knowledge=None):
    more = {"knowledge": knowledge} if knowledge else {}
    return ordag.learn("marks", method, columns=columns, transform=transform, **(settings or {}), **more)


@pytest.mark.parametrize("name", STATES)
def test_answers_are_those_of_the_library(client, name):
    chosen = STATES[name]
    told, fit = answer(client, **chosen)["document"], learned(**chosen)
    assert told["raw"] == list(fit.names)
    assert arrows(told) == [
        tuple(edge) for edge in zip(fit.edge_columns["source"], fit.edge_columns["target"], strict=True)
    ]
    assert told["order"] == (list(fit.column_order) if fit.column_order else told["order"])
    assert told["heading"].startswith(fit.method)
    assert told["layout"] is None
    assert told["findings"] == told["data"]["histograms"] == []
    if fit.weights is not None:
        count = len(arrows(told))
        assert told["pairs"]["weight"][:count] == [float(f"{one:.4g}") for one in fit.edge_columns["weight"]]


def test_the_verdict_comes_later_and_is_that_of_the_library(client):
    chosen = {"settings": {"alpha": 0.033}}
    assert answer(client, **chosen)["document"]["verdict"]["pending"]
    told = client.post("api/verdict", json={"state": state(**chosen)}).json()
    verdict = quick_verdict(learned(**chosen), tables=200)  # tests of this suite draw fewer unless told
    assert told["verdict"]["sentence"] == verdict.sentence.replace(" %", "\u00a0%")
    assert told["verdict"]["help"] == verdict.help.replace(" %", "\u00a0%")
    assert told["verdict"]["pending"] is False
    assert not answer(client, **chosen)["document"]["verdict"]["pending"]  # it is known by now


def test_probabilities_that_have_to_be_sampled_come_with_the_verdict(client):
    chosen = {"data": "sachs", "method": "pooled", "settings": {"draws": 20, "graph": "best"}}
    first = answer(client, **chosen)["document"]
    assert first["verdict"]["pending"]
    assert "probability" not in first["pairs"]
    told = client.post("api/verdict", json={"state": state(**chosen)}).json()
    fit = ordag.learn("sachs", "pooled", **chosen["settings"])
    assert told["pairs"]["probability"][: fit.graph.edge_count] == [
        float(f"{one:.4g}") for one in fit.edge_columns["probability"]
    ]
    assert answer(client, **chosen)["document"]["pairs"] == told["pairs"]


def test_before_the_verdict_no_direction_is_called_decided(client):
    chosen = {"data": "sachs", "method": "pooled", "settings": {"draws": 50, "graph": "best"}}
    first = answer(client, **chosen)["document"]
    assert first["verdict"]["badge"] == "being weighed"
    assert {
        reason for reason, kind in zip(first["pairs"]["reason"], first["pairs"]["kind"], strict=True) if kind == "arrow"
    } == {"pending"}
    assert not [sentence for sentence in first["found"] if "open" in sentence]
    told = client.post("api/verdict", json={"state": state(**chosen)}).json()
    fit = ordag.learn("sachs", "pooled", **chosen["settings"])
    assert told["pairs"]["reason"][: fit.graph.edge_count] == list(fit.edge_columns["reason"])
    assert "wrong" in told["verdict"]["badge"]
    assert "open" in told["verdict"]["short"]


def test_false_edges_that_take_time_to_count_come_with_the_verdict(client):
    data = table(12, 80)
    described = upload(client, data.to_csv(index=False).encode(), "twelve.csv").json()
    chosen = {"data": described, "settings": {"parents": "bic"}}
    first = answer(client, **chosen)["document"]
    assert first["verdict"]["pending"]
    assert not [note for note in first["notes"] if "false" in note]
    assert first["warnings"] == []
    fit = ordag.learn(data, "cvs", parents="bic")
    assert len(fit.warnings) == 1
    exported = client.post("api/export", json={"state": state(**chosen), "form": ".json"}).json()
    assert exported["warnings"] == list(fit.warnings)  # a file has everything, whoever waits for it
    told = client.post("api/verdict", json={"state": state(**chosen)}).json()
    assert told["warnings"] == list(fit.warnings)
    assert told["notes"] == [*first["notes"], fit.result.note(fit)]
    again = answer(client, **chosen)["document"]
    assert (again["notes"], again["warnings"], again["verdict"]["pending"]) == (told["notes"], told["warnings"], False)


def test_a_search_says_how_far_it_is(client):
    data = table(9, 300, degree=4.0, seed=0)
    described = upload(client, data.to_csv(index=False).encode(), "nine.csv").json()
    scaled = {"transform": {data.columns[3]: 10.0}}
    news, last = lines(client.post("api/answer", json={"state": state(described, method="gds", **scaled)}))
    assert news[0]["words"].startswith("GDS: ")
    expected = ordag.learn(data, "gds", **scaled).graph.directed
    assert sorted(arrows(last["result"]["document"])) == sorted(expected)


def test_a_change_of_units_says_which_arrows_turn_and_why(client):
    assert answer(client)["scales"] is None
    told = answer(client, transform={"algebra": 100.0})
    was, now = ordag.learn("marks", "cvs").graph, ordag.learn("marks", "cvs", transform={"algebra": 100.0}).graph
    named = {
        key: {tuple(MARKS.columns[j] for j in pair) for pair in told["scales"][key]}
        for key in ("turned", "gone", "new")
    }
    assert named["turned"] == {(b, a) for a, b in was.directed} & set(now.directed) != set()
    joined, joins = ({frozenset(edge) for edge in graph.directed} for graph in (was, now))
    assert {frozenset(edge) for edge in named["gone"]} == joined - joins
    assert {frozenset(edge) for edge in named["new"]} == joins - joined
    assert f"{len(named['turned'])} arrow" in told["scales"]["sentence"]
    assert "squared units" in told["scales"]["sentence"]


def test_units_do_nothing_to_partial_correlations(client):
    told = answer(client, method="pc", transform={"algebra": 100.0})["scales"]
    assert told["turned"] == told["gone"] == told["new"] == []
    assert told["sentence"].startswith("The change of units changes no arrow.")


def test_contradictions_are_explained(client):
    known = {"required": [["algebra", "vectors"]], "tiers": [["vectors"], ["algebra"]]}
    said = client.post("api/answer", json={"state": state(knowledge=known)})
    assert said.status_code == 422
    assert said.json()["kind"] == "Contradiction"
    assert "tier" in said.json()["error"]


def test_the_effects_of_a_variable(client):
    fit = ordag.learn("marks", "cvs", alpha=0.05)
    all_effects = ordag.effects(fit, interval="given-graph")
    told = client.post("api/effects", json={"state": state(settings={"alpha": 0.05}), "cause": "algebra"}).json()[
        "effects"
    ]
    i = fit.names.index("algebra")
    assert [one["variable"] for one in told] == np.flatnonzero(all_effects.path_found[i]).tolist()
    for one in told:
        j = one["variable"]
        assert (one["total"], one["low"], one["high"]) == (
            pytest.approx(all_effects.estimate[i, j]),
            pytest.approx(all_effects.low[i, j]),
            pytest.approx(all_effects.high[i, j]),
        )
    unknown = client.post("api/effects", json={"state": state(), "cause": "algebar"})
    assert unknown.status_code == 422
    assert "algebra" in unknown.json()["error"]
    assert client.post("api/effects", json={"state": state(method="pc"), "cause": "algebra"}).status_code == 422


def all_paths(B, start, end):
    """Every directed path with the product of its weights, by going along all of them."""
    if start == end:
        return [([end], 1.0)]
    return [
        ([start, *nodes], B[start, child] * product)
        for child in np.flatnonzero(B[start]).tolist()
        for nodes, product in all_paths(B, child, end)
    ]


def test_an_effect_runs_along_its_paths(client):
    rng = np.random.default_rng(3)
    B = np.triu(rng.uniform(0.2, 0.9, (9, 9)) * rng.choice([-1, 1], (9, 9)), 1)
    X = rng.normal(size=(4000, 9)) @ np.linalg.inv(np.eye(9) - B)
    lines = [",".join(f"v{j}" for j in range(9)), *(",".join(f"{z:.6g}" for z in row) for row in X[:1500])]
    body = "\n".join(lines).encode()
    data = upload(client, body, "dense.csv").json()
    asked = {"state": state(data), "cause": "v0", "effect": "v8"}
    told = client.post("api/effect", json=asked).json()
    import pandas as pd

    fit = ordag.learn(pd.read_csv(io.BytesIO(body)), "cvs")
    expected = sorted(all_paths(fit.weights, 0, 8), key=lambda one: -abs(one[1]))
    assert len(expected) > MOST_PATHS
    assert told["more_paths"] == len(expected) - MOST_PATHS
    assert [one["nodes"] for one in told["paths"]] == [nodes for nodes, _ in expected[:MOST_PATHS]]
    assert [one["product"] for one in told["paths"]] == pytest.approx([product for _, product in expected[:MOST_PATHS]])
    assert told["total"] == pytest.approx(sum(product for _, product in expected))
    back = client.post("api/effect", json={"state": state(data), "cause": "v8", "effect": "v0"}).json()
    assert (back["total"], back["paths"], back["more_paths"], back["low"]) == (0.0, [], 0, None)
    assert "No directed path" in back["sentence"]


@pytest.mark.parametrize("form", [one["form"] for one in forms() if one["form"].startswith(".")])
def test_files_are_those_of_the_library(client, form):
    said = client.post("api/export", json={"state": state(settings={"alpha": 0.05}), "form": form})
    assert said.status_code == 200, said.text
    name = "marks_arrows.csv" if form == ".csv" else f"marks{form}"
    assert said.headers["content-disposition"] == f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}"
    if form == ".json":
        expected = json.loads(ordag.learn("marks", "cvs", alpha=0.05).to_json())
        assert {**said.json(), "verdict": None} == {
            **expected,
            "verdict": None,
        }  # tests of this suite forecast from fewer tables
    elif form not in (".pdf", ".png"):  # which know when they were made, or who made them
        expected = content(ordag.learn("marks", "cvs", alpha=0.05), f"x{form}")
        assert said.content == (expected.encode() if isinstance(expected, str) else expected)
    else:
        assert said.content.startswith({".pdf": b"%PDF", ".png": b"\x89PNG"}[form])


def test_what_makes_the_answer_again(client):
    known = {"tiers": [["algebra"], ["vectors", "statistics"]], "required": [["algebra", "vectors"]]}
    asked = state(columns=["vectors", "algebra", "statistics"], transform={"algebra": 10.0}, knowledge=known)
    python = client.post("api/export", json={"state": asked, "form": "python"}).text
    space = {}
    exec(python.replace("fit.report(", "str("), space)  # the line that would write a file
    told = ask(client, asked)["document"]
    assert sorted(arrows(told)) == sorted(space["fit"].graph.directed)
    assert told["again"]["python"] == python.strip()
    text = client.post("api/export", json={"state": asked, "form": "knowledge"}).text
    assert ordag.Knowledge.from_text(text).to_dict() == ordag.Knowledge.from_dict(known).to_dict()
    page = client.post("api/export", json={"state": asked, "form": "report"})
    assert page.text.startswith("<!DOCTYPE html>")
    assert page.headers["content-type"] == "application/octet-stream"
    assert client.post("api/export", json={"state": asked, "form": "/etc/passwd"}).status_code == 422


def test_a_knowledge_file_is_read(client):
    text = b"required: algebra -> vectors\nroots: algebra\n"
    said = client.post("api/knowledge", content=text, headers={"X-Ordag-Name": "known.txt"}).json()["knowledge"]
    assert said == {
        "tiers": [],
        "required": [["algebra", "vectors"]],
        "forbidden": [],
        "roots": ["algebra"],
        "sinks": [],
    }
    wrong = client.post("api/knowledge", content=b"required: a b\xff", headers={"X-Ordag-Name": "known.txt"})
    assert wrong.status_code == 422
    assert "known.txt" in wrong.json()["error"]


def test_a_table_that_is_not_here_is_said(client):
    said = client.post("api/answer", json={"state": state({"id": "d0", "name": "mine.csv"})})
    assert said.status_code == 404
    assert said.json()["kind"] == "NoTableError"
    assert "mine.csv" in said.json()["error"]


def test_names_are_shown_without_effect(client):
    names = ["<b>", "a\u202eb", "__proto__", "x,y", '"']
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    body = "\n".join([header, *CSV.decode().splitlines()[1:]]).encode()
    data = upload(client, body, "odd\u202e.csv").json()
    assert data["names"] == names
    told = answer(client, data=data, transform={"__proto__": 2.0})["document"]
    assert told["raw"] == names
    assert "\u202e" not in "".join([*told["names"], told["title"], *told["found"]])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=parts, value=anything)
def test_no_state_is_a_fault(client, part, value):
    said = client.post("api/answer", content=json.dumps({"state": {**state(), part: value}}))
    assert said.status_code in (200, 400, 404, 422), said.text
    if said.status_code != 200:
        assert set(said.json()) == {"error", "kind"}
    assert "fault in Ordag" not in said.text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(["answer", "verdict", "effects", "effect", "export", "data", "knowledge", "jobs/check"]),
    value=anything,
)
def test_no_request_is_a_fault(client, path, value):
    headers = {"Content-Type": "application/json"}
    said = client.post(f"api/{path}", content=json.dumps(value), headers=headers)
    assert said.status_code in (200, 400, 422), said.text
    assert "fault in Ordag" not in said.text


def test_a_graph_of_ones_own_is_tested_changed_and_compared(client):
    """Numbers are those of `ordag.test`."""
    text = "algebra -> vectors -> mechanics; algebra -> analysis -> statistics"
    asked = {"state": state(), "graph": text, "file": "", "change": "", "source": "", "target": ""}
    told = client.post("api/own", json=asked).json()
    expected = ordag.test(text, "marks", compare=False)
    names = ordag.Moments.scan("marks").names
    assert told["sentence"] == expected.sentence
    assert told["broken"] == expected.broken == sum(one["broken"] for one in told["claims"])
    assert [names[j] for j in told["claims"][0]["ends"]] == ["algebra", "statistics"]
    assert [[names[i], names[j]] for i, j in told["arrows"]] == [list(edge) for edge in expected.graph.directed]
    assert told["mend"]["words"] == "adding algebra → statistics"
    mended = client.post(
        "api/own", json={**asked, "graph": told["text"], "change": "add", "source": "algebra", "target": "statistics"}
    ).json()
    assert mended["broken"] < told["broken"]
    turned = client.post("api/own", json={**asked, "change": "turn", "source": "vectors", "target": "mechanics"}).json()
    assert "1 edge reversed" in turned["against"]
    lavaan = client.post("api/own", json={**asked, "graph": "vectors ~ algebra", "file": "my.lavaan"}).json()
    assert lavaan["against"] == "It has 2 variables of 5."
    empty = client.post("api/own", json={**asked, "graph": " "}).json()
    assert empty["arrows"] == []
    assert empty["claimed"] == 10


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"graph": "a -> b"}, "There is no column a and b"),
        ({"graph": "algebra -> vectors -> algebra"}, "the graph has a cycle"),
        ({"graph": "/etc/hostname"}, "The text is not a graph"),
        ({"graph": "algebra -> vectors", "change": "paint"}, "use add, drop or turn"),
    ],
)
def test_graphs_that_cannot_be_tested(client, more, message):
    asked = {"state": state(), "graph": "", "file": "", "change": "", "source": "vectors", "target": "algebra", **more}
    answer = client.post("api/own", json=asked)
    assert answer.status_code == 422
    assert message in answer.json()["error"]
