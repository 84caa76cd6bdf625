"""Reports from the command line: what goes with --report, and what does not go without it."""

from __future__ import annotations

import json

import pytest


def content(path):
    """The document in a page."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text.partition('id="document">')[2].partition("</script>")[0])


@pytest.mark.slow
def test_a_report_has_checks_and_says_what_was_typed(run, tmp_path):
    words = ["learn", "marks", "--alpha", "0.05", "--report", "r.html", "--compare", "ges, pc", "--missing", "drop"]
    status, _, err = run(*words)
    assert (status, "written: r.html" in err) == (0, True)
    document = content(tmp_path / "r.html")
    assert document["title"] == "marks"
    assert document["again"]["command"] == f"ordag {' '.join(words[:7])} 'ges, pc' --missing drop"
    assert "missing='drop', alpha=0.05" in document["again"]["python"]
    assert document["again"]["digest_of"] == "the bytes of the file"
    assert document["comparison"]["methods"] == ["this graph (cvs)", "ges", "pc"]
    assert len(document["findings"]) == 20


def test_checks_can_be_left_out(run, tmp_path):
    assert run("learn", "marks", "--alpha", "0.05", "--report", "r.html", "--no-check")[0] == 0
    assert content(tmp_path / "r.html")["findings"] == []


@pytest.mark.slow
def test_the_report_of_a_check_has_its_findings(run, tmp_path):
    status, out, err = run("check", "marks", "--method", "cvs", "--same-units", "--report", "r.html")
    assert (status, "written: r.html" in err) == (0, True)
    document = content(tmp_path / "r.html")
    assert all(
        one["sentence"].split(",")[0].replace("\u00a0", " ")[:30] in " ".join(out.split())
        for one in document["findings"]
    )


def test_standard_input_is_named_as_nothing_else(run, tmp_path, monkeypatch):
    import io
    import sys

    table = "a,b,c\n" + "".join(f"{i % 7},{(i * i) % 11 + i % 7},{(i * 5) % 13}\n" for i in range(60))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table.encode())))
    assert run("learn", "-", "--alpha", "0.05", "--report", "r.html", "--no-check")[0] == 0
    document = content(tmp_path / "r.html")
    assert document["again"]["command"].startswith("ordag learn - ")
    assert "ordag.learn(data, " in document["again"]["python"]
    assert "moments" in document["again"]["digest_of"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["learn", "marks", "--check"], "--check has an effect only with --report"),
        (["learn", "marks", "--compare", "pc"], "--compare has an effect only with --report"),
        (["check", "marks", "--compare", "pc"], "--compare has an effect only with --report"),
        (["check", "marks", "--report", "r.pdf"], "end its name in .html"),
        (["learn", "marks", "--report", "r.html", "--no-check", "--compare", "magic"], "magic"),
    ],
)
def test_what_has_no_use_or_no_meaning_is_refused(run, tmp_path, words, said):
    status, _, err = run(*words)
    assert status != 0
    assert said in err
    assert not list(tmp_path.iterdir())
