"""The command line as a person uses it: in its own process, or through main()."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from budgets import thorough

import ordag
from ordag import Dag, LinearSEM
from ordag.graph import Cpdag


def refused(result, *words):
    """Status 2, nothing on standard output, one message with these words and no traceback."""
    status, out, err = result
    assert status == 2
    assert out == ""
    assert "Traceback" not in err
    for word in words:
        assert word in err
    return True


def test_marks_on_the_terminal(run):
    status, out, _ = run("learn", "marks", "--alpha", "0.05")
    assert status == 0
    assert "algebra     → vectors, analysis, statistics, mechanics" in out
    assert "vectors     → mechanics" in out
    assert "111.6" in out
    assert "6.5e-11" in out
    assert "level 0.05 × 10 pairs tested" in out


@pytest.fixture
def typed_in(monkeypatch):
    """Put bytes on standard input."""
    return lambda content: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.system
@pytest.mark.slow
def test_a_table_on_standard_input(run, typed_in, tmp_path):
    from ordag.data.datasets import load

    text = load("marks").path.read_bytes()
    pd.read_csv(io.BytesIO(text)).to_parquet(tmp_path / "marks.parquet")
    for content, words in (
        (text, ["learn", "-", "--method", "cvs"]),
        (text, ["check", "-", "--method", "cvs"]),
        (text, ["compare", "-", "--methods", "cvs"]),
        (text, ["effect", "-", "--from", "algebra", "--to", "vectors", "--alpha", "0.05"]),
        ((tmp_path / "marks.parquet").read_bytes(), ["learn", "-", "--method", "cvs"]),
    ):
        typed_in(content)
        status, out, err = run(*words)
        assert (status, err) == (0, "")
        assert words[0] == "effect" or "Ordag · standard input · " in out
    typed_in(text.replace(b",", b";"))
    assert json.loads(run("learn", "-", "--method", "cvs", "--separator", ";", "--json")[1])["rows"] == 88
    typed_in(b"")
    assert refused(run("learn", "-"), "standard input is empty")
    typed_in(b"a,b\n1,x\n2,3\n")
    assert refused(run("learn", "-"), "standard input: column 'b' holds 'x'")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["learn", "marks", "--min-effect", "2"], "--min-effect 2.0: "),
        (["learn", "marks", "--alpha", "0"], "--alpha 0.0: "),
        (["learn", "marks", "--method", "pc", "--max-level", "-1"], "--max-level -1: "),
        (["learn", "marks", "--method", "ges", "--penalty", "-1"], "--penalty -1.0: "),
        (
            ["learn", "marks", "--method", "ges", "--alpha", "0.1"],
            "--alpha is not a setting of 'ges': it takes --penalty",
        ),
        (["learn", "marks", "--groups", "algebra,greek"], "--groups: there is no column greek"),
        (["learn", "marks", "--columns", "algebra,algebra"], "--columns asks for 'algebra' more than once"),
        (["learn", "marks", "--separator", "xy"], "--separator xy: "),
        (["compare", "marks", "--methods", "pc", "--parents", "bic"], "--parents is a setting of none of pc"),
        (["effect", "marks", "--from", "algebra", "--to", "algebra"], "--from and --to are both algebra"),
        (["effect", "marks", "--from", "algebra", "--to", "vectors", "--level", "2"], "--level 2.0: "),
        (["simulate", "nonfaithful", "-p", "5"], "--variables 5: "),
        (["simulate", "erdos-renyi", "--degree", "30"], "--degree 30: "),
        (["simulate", "erdos-renyi", "--weights", "2", "1"], "--weights 2,1: "),
        (["simulate", "homogeneous", "--degree", "3"], "takes no --degree"),
    ],
)
def test_settings_are_called_by_their_options(run, words, said):
    result = run(*words)
    assert refused(result, said)
    assert not re.search(r"\b[a-z_]+=", result[2])


def test_remedies_are_options(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n2,,y\n3,4,z\n")
    assert "To go on without, use --columns a,b. " in run("learn", "t.csv", "--strict")[2]
    refused = run("learn", "t.csv", "--columns", "a,b", "--missing", "refuse")[2]
    assert "or drop them with --missing drop. Besides: 3 rows" in refused


def test_every_error_has_one_form(run, tmp_path):
    (tmp_path / "g.dot").write_text("digraph { a -> ")
    for words in (
        ["learn", "nothing.csv"],
        ["learn"],
        ["learn", "marks", "--colums", "a"],
        ["learn", "marks", "--alpha", "much"],
        ["learn", "marks", "--alpha", "2"],
        ["compare", "marks", "--truth", "g.dot"],
        ["teach"],
        ["effect", "marks", "--from", "algebra", "--to", "greek"],
    ):
        status, out, err = run(*words)
        assert (status, out) == (2, "")
        assert re.fullmatch(r"Error: [^\n]+[.?)]\n", err)
    assert "See ordag learn --help." in run("learn")[2]


def test_ordags_own_warnings_are_sentences(run, tmp_path):
    (tmp_path / "marks").write_text("a,b\n1,2\n")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        status, _, err = run("learn", "marks")
    assert status == 0
    assert err.startswith("Warning: 'marks' is read as the built-in data set")


def test_few_rows_are_spoken_of_in_good_english(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,5\n")
    assert (
        run("learn", "t.csv")[2]
        == "Error: t.csv: 1 row and 3 variables: the tests need at least 5 rows. Use more rows.\n"
    )
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,5\n2,1,4\n5,5,1\n3,1,2\n")
    assert run("learn", "t.csv")[2].endswith("Use more rows or at most 2 of the columns (--columns).\n")
    rows = "".join(f"{x},{y}\n" for x, y in np.random.default_rng(0).standard_normal((30, 2)))
    (tmp_path / "t.csv").write_text(f"a,b\n1,\n{rows}")
    out = run("learn", "t.csv", "--missing", "drop", "--alpha", "0.5")[1]
    assert "30 rows, 1 row with missing values dropped · 2 variables" in out
    assert "level 0.5 × 1 pair tested" in out


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cvs", "pc"])
def test_a_table_of_edges_keeps_lone_variables_and_undirected_edges(run, tmp_path, method):
    X = np.random.default_rng(1).standard_normal((50, 3))
    pd.DataFrame(X, columns=["a", "b,c", "d"]).to_csv(tmp_path / "none.csv", index=False)
    assert run("learn", "none.csv", "--method", method, "--alpha", "1e-6", "--out", "g.csv")[0] == 0
    graph = Dag.parse((tmp_path / "g.csv").read_text(encoding="utf-8"), "csv")
    assert (graph.nodes, graph.edge_count) == (("a", "b,c", "d"), 0)
    words = ["learn", "marks", "--method", method, "--alpha", "0.001", "--out", "g.csv", "--out", "g.json"]
    assert run(*words)[0] == 0
    written, whole = (
        Cpdag.parse((tmp_path / name).read_text(encoding="utf-8"), name[2:]) for name in ("g.csv", "g.json")
    )
    assert set(written.nodes) == set(whole.nodes)
    assert set(written.directed) == set(whole.directed)
    assert set(map(frozenset, written.undirected)) == set(map(frozenset, whole.undirected))


def test_json_is_alone_on_standard_output(run):
    status, out, err = run("learn", "marks", "--json", "--alpha", "0.05")
    assert status == 0
    assert json.loads(out)["order"][0] == "algebra"
    assert err == ""


@pytest.mark.system
def test_a_process_of_its_own_prints_json():
    result = subprocess.run(
        [sys.executable, "-m", "ordag", "learn", "marks", "--method", "cvs", "--json"],
        capture_output=True,
        check=True,
        timeout=600,
    )
    assert json.loads(result.stdout)["rows"] == 88


@pytest.mark.thorough
@pytest.mark.system
@pytest.mark.skipif(os.name == "nt", reason="needs a shell with head")
@pytest.mark.parametrize(
    ("words", "start"),
    [
        ("learn marks --method cvs", b"Ordag"),
        thorough("simulate homogeneous -n 20000", b'"X1"'),
        thorough("compare marks --methods cvs,pc", b"Ordag"),
    ],
)
def test_a_closed_pipe_is_no_error(words, start):
    command = f'("{sys.executable}" -m ordag {words}; echo "status $?" >&2) | head -n 1'
    result = subprocess.run(command, shell=True, capture_output=True, timeout=600)
    assert result.stdout.startswith(start)
    assert result.stderr == b"status 0\n"
    closed = subprocess.Popen([sys.executable, "-m", "ordag", *words.split()], stdout=subprocess.PIPE)
    closed.stdout.close()
    assert closed.wait(timeout=600) == 0


@pytest.mark.parametrize("ending", ["dot", "gv", "graphml", "gml", "lavaan", "dagitty"])
def test_exports_by_ending_can_be_read_back(run, tmp_path, ending):
    from ordag.graph import format_of

    assert run("learn", "marks", "--alpha", "0.05", "--out", f"g.{ending}")[0] == 0
    text = (tmp_path / f"g.{ending}").read_text(encoding="utf-8")
    graph = Dag.parse(text, format_of(f"g.{ending}"))
    assert ("analysis", "statistics") in graph.directed
    assert graph.edge_count == 6


@pytest.mark.slow
def test_tables_pictures_pages_and_json(run, tmp_path):
    words = [word for name in ("e.csv", "f.json", "p.svg", "q.html", "a.adjacency.csv") for word in ("--out", name)]
    status, _, err = run("learn", "marks", "--alpha", "0.05", *words, "--report", "r.html")
    assert status == 0
    assert "written: e.csv" in err
    assert list(pd.read_csv(tmp_path / "e.csv").columns[:3]) == ["source", "target", "weight"]
    assert len(json.loads((tmp_path / "f.json").read_text())["edges"]) == 6
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "q.html").read_text(encoding="utf-8") == (tmp_path / "r.html").read_text(encoding="utf-8")
    assert (pd.read_csv(tmp_path / "a.adjacency.csv", index_col=0).to_numpy() != 0).sum() == 6
    assert sorted(os.listdir(tmp_path)) == ["a.adjacency.csv", "e.csv", "f.json", "p.svg", "q.html", "r.html"]


def test_an_unknown_ending_writes_nothing_and_changes_nothing(run, tmp_path):
    (tmp_path / "keep.dot").write_text("mine")
    result = run("learn", "marks", "--out", "keep.dot", "--out", "g.docx")
    assert refused(result, ".dot", ".graphml")
    assert (tmp_path / "keep.dot").read_text() == "mine"
    assert refused(run("learn", "marks", "--out", "nowhere/g.dot"), "There is no folder")
    (tmp_path / "d.dot").mkdir()
    assert refused(run("learn", "marks", "--out", "d.dot"), "d.dot")
    assert sorted(os.listdir(tmp_path)) == ["d.dot", "keep.dot"]


@pytest.mark.slow
def test_columns_alpha_test_parents_direction(run):
    document = json.loads(
        run("learn", "marks", "--columns", "algebra, vectors,mechanics", "--test", "t", "--parents", "bic", "--json")[1]
    )
    assert document["nodes"] == ["algebra", "vectors", "mechanics"]
    assert document["settings"]["test"] == "t"
    assert document["settings"]["parents"] == "bic"
    backward = json.loads(run("learn", "marks", "--direction", "backward", "--json")[1])
    assert backward["settings"]["direction"] == "backward"
    corrected = json.loads(run("learn", "marks", "--correction", "bonferroni", "--json")[1])
    assert corrected["expected_false_edges"] == pytest.approx(0.01)


def test_names_with_commas_and_markup(run, tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 3))
    pd.DataFrame(X, columns=["a,b", "[bold]c[/bold]", "d\te"]).to_csv(tmp_path / "t.csv", index=False)
    status, out, _ = run("learn", "t.csv", "--columns", "a,b", "--columns", "[bold]c[/bold]")
    assert status == 0
    assert "[bold]c[/bold]" in out
    assert "a,b" in out


def test_simulate_then_learn(run, tmp_path):
    words = ["simulate", "heterogeneous", "-p", "6", "-n", "2000", "--seed", "3"]
    assert run(*words, "--out", "d.csv", "--truth", "t.json")[0] == 0
    assert run(*words, "--out", "d.parquet", "--truth", "t.dot")[0] == 0
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "d.csv"), pd.read_parquet(tmp_path / "d.parquet"))
    truth = LinearSEM.from_json((tmp_path / "t.json").read_text())
    assert Dag.parse((tmp_path / "t.dot").read_text(), "dot") == truth.dag
    document = json.loads(run("learn", "d.csv", "--correction", "bonferroni", "--json")[1])
    assert {(e["source"], e["target"]) for e in document["edges"]} == set(truth.dag.directed)
    status, out, _ = run(*words)
    assert status == 0
    assert out == (tmp_path / "d.csv").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", "heterogenous"], "heterogeneous"),
        (["simulate", "nonfaithful", "-p", "5"], "3"),
        (["simulate", "homogeneous", "--degree", "3"], "erdos-renyi"),
        (["simulate", "-n", "0"], "at least one row"),
        (["simulate", "erdos-renyi", "--variances", "a,b"], "a range"),
        (["simulate", "--out", "d.xlsx"], ".parquet"),
        (["learn", "marks", "--alpha", "1.5"], "between 0 and 1"),
        (["learn", "marks", "--alpha", "much"], "--alpha"),
        (["learn", "marks", "--columns", "algebra,vectros"], "vectors"),
        (["learn", "marks", "--test", "z"], "fisher-z"),
        (["learn", "marks", "--colums", "a"], "--columns"),
        (["learn", "nothing.csv"], "nothing.csv"),
        (["learn", "markss"], "marks"),
        (["learn", "marks", "--columns", "algebra"], "only one column"),
        (["learn"], "DATA"),
        (["teach"], "teach"),
    ],
)
def test_bad_usage_says_what_to_change(run, words, said):
    assert refused(run(*words), said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", ["empty"]),
        ("a,b,c\n", ["no rows"]),
        ("a,b,c\n1,2,x\n2,3,y\n3,4,z\n", ["3 rows and 2 variables"]),
        ("a,c\n1,2020-01-01\n2,2020-01-02\n", ["only a is left", "c (dates)"]),
        ("a,b\n1,2\n3,4,5\n", ["row"]),
        ("a,a\n1,2\n3,4\n", ["'a' (2 times)"]),
        ("1.5,2\n3,4\n5,6\n", ["--no-header"]),
        ("a;b\n1;2\n3;4\n", ["2 rows and 2 variables"]),
        ("a,b\n1,2\n,4\n5,6\n,8\n,9\n", ["a (2 of 5 values present)", "only b is left"]),
        ("a,b\n1,2\ninf,4\n5,6\n1,8\n", ["Infinite", "a (1 row)"]),
        ("a,b\n1,2\n1,4\n1,6\n1,8\n", ["a never changes"]),
        ("a,b\n1,2\n2,5\n", ["2 rows and 2 variables"]),
        ("a,b\n9007199254740993,2\n3,4\n5,6\n7,1\n", ["only b is left", "more digits than float64 holds"]),
        ("time,a\n1,2\n2,5\n3,1\n4,7\n5,3\n6,6\n", ["To use time all the same: --role time=variable."]),
        ("a,b\ntrue,2\nfalse,4\ntrue,6\nfalse,1\n", ["a", "true/false"]),
    ],
)
def test_bad_files_say_what_to_change(run, tmp_path, content, said):
    (tmp_path / "t.csv").write_text(content)
    assert refused(run("learn", "t.csv"), *said)
    assert (tmp_path / "t.csv").read_text() == content


@pytest.mark.slow
def test_methods_by_one_word(run):
    for method in ("pc", "ges", "gds"):
        document = json.loads(run("learn", "marks", "--method", method, "--json")[1])
        assert document["settings"]["method"] == method
    status, out, _ = run("learn", "marks", "--method", "pc", "--alpha", "0.05")
    assert status == 0
    assert "analysis   —  statistics    0.016" in out
    assert "vectors     → mechanics" in run("learn", "marks", "--method", "ges", "--orient-by-order")[1]
    assert refused(run("learn", "marks", "--method", "ges", "--alpha", "0.05"), "--alpha is not a setting of 'ges'")


@pytest.mark.slow
def test_compare(run, tmp_path):
    status, out, _ = run("compare", "marks", "--alpha", "0.05", "--seed", "1")
    assert status == 0
    assert "analysis · statistics" in out
    words = ["simulate", "heterogeneous", "-p", "6", "-n", "500", "--seed", "2", "--out", "d.csv"]
    assert run(*words, "--truth", "t.json")[0] == 0
    assert run(*words, "--truth", "t.graphml")[0] == 0
    for truth in ("t.json", "t.graphml"):
        document = json.loads(run("compare", "d.csv", "--truth", truth, "--methods", "cvs,ges", "--json")[1])
        assert document["methods"][0]["hamming"] is not None
    status, out, _ = run("compare", "--simulate", "4.3", "-n", "300", "--seed", "1")
    assert status == 0
    assert "distance to class" in out
    assert refused(run("compare"), "either DATA or --simulate")
    assert refused(run("compare", "marks", "--simulate", "4.1"), "either DATA or --simulate")
    assert refused(run("compare", "marks", "--methods", "cvs,xyz"), "xyz")
    assert refused(run("compare", "marks", "--truth", "nowhere.dot"), "nowhere.dot")


def test_an_interruption_is_one_word_and_status_130(run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ordag.cli.learn.learn_graph", stop)
    status, out, err = run("learn", "marks")
    assert (status, out, err.strip()) == (130, "", "ordag: stopped")


def test_help_has_examples(run):
    for words in (["--help"], ["learn", "--help"], ["simulate", "-h"], ["compare", "-h"]):
        status, out, err = run(*words)
        assert status == 0, err
        assert "ordag learn" in out or "ordag simulate" in out
    assert "ordag, version" in run("--version")[1]


@pytest.mark.system
@pytest.mark.slow
def test_bootstrap_effect_and_knowledge(run, tmp_path):
    document = json.loads(
        run("learn", "marks", "--alpha", "0.05", "--bootstrap", "20", "--seed", "1", "--workers", "1", "--json")[1]
    )
    assert 0 <= document["edges"][0]["support"] <= 1
    assert document["bootstrap"]["replicates"] == 20
    assert document["verdict"]["tier"] == "tested"
    status, out, _ = run("effect", "marks", "--from", "algebra", "--to", "mechanics", "--alpha", "0.05")
    assert status == 0
    assert "algebra → mechanics: 0.9 per unit if there is a path" in out
    assert "no directed path" in run("effect", "marks", "--from", "mechanics", "--to", "algebra", "--alpha", "0.05")[1]
    effect = json.loads(run("effect", "marks", "--from", "algebra", "--to", "vectors", "--alpha", "0.05", "--json")[1])
    assert effect["estimate"] == pytest.approx(0.754, abs=1e-3)
    assert refused(run("effect", "marks", "--from", "algebra", "--to", "algbra"), "algbra")
    (tmp_path / "known.txt").write_text("required: mechanics -> vectors\n")
    document = json.loads(run("learn", "marks", "--knowledge", "known.txt", "--json")[1])
    assert {"source": "mechanics", "target": "vectors", "reason": "knowledge"}.items() <= next(
        edge for edge in document["edges"] if edge["source"] == "mechanics"
    ).items()
    (tmp_path / "known.txt").write_text("required: a -> b\nforbidden: mechanics -> vectors\n")
    assert refused(run("learn", "marks", "--knowledge", "known.txt"), "a")
    assert refused(run("learn", "marks", "--knowledge", "nowhere.txt"), "nowhere.txt")


@pytest.mark.slow
def test_check(run):
    status, out, _ = run("check", "sachs", "--method", "cvs")
    assert status == 0
    assert "depend on the units and the transformation" in " ".join(out.split())
    assert json.loads(run("check", "marks", "--method", "cvs", "--json")[1])["verdict"]["tier"] == "tested"
    assert refused(run("check", "nowhere.csv"), "nowhere.csv")


@pytest.mark.slow
def test_the_default_is_the_pooled_search(run):
    status, out, _ = run("learn", "marks", "--units", "commensurable", "--graph", "best", "--verbose")
    assert status == 0
    assert "marks · pooled · 88 rows" in out
    assert "algebra, vectors, analysis, statistics, mechanics" in out
    assert "taken to have comparable units, differ by a factor of about 1.38." in " ".join(out.split())
    assert "Probabilities are averages over 128 resamples of the rows, with standard errors of up to 0.02." in " ".join(
        out.split()
    )
    assert "the best of all graphs" in out
    assert "p edge" not in out
    status, out, _ = run("learn", "marks", "--json")
    document = json.loads(out)
    assert document["settings"]["method"] == "pooled"
    assert [edge["reason"] for edge in document["edges"]] == ["open", "variance", "variance", "open", "open"]
    assert document["verdict"]["numbers"]["reasons"] == {"open": 3, "variance": 2}


@pytest.mark.slow
def test_groups_and_draws(run):
    status, out, _ = run("learn", "sachs", "--groups", "raf,mek;plcg,pip2", "--draws", "40", "--json")
    assert status == 0
    document = json.loads(out)
    assert document["settings"]["groups"] == [["raf", "mek"], ["plcg", "pip2"]]
    assert document["probabilities"]["draws"] == 40
    assert "No two columns share a unit" in run("learn", "marks", "--groups", "algebra", "--verbose")[1]
    assert refused(run("learn", "marks", "--groups", ";;"), "names no column")
    assert refused(run("learn", "marks", "--groups", "algebra,greek"), "there is no column greek")
    assert refused(run("learn", "marks", "--units", "metres"), "commensurable")
    assert refused(run("learn", "marks", "--draws", "-1"), "--draws -1: how many")
    assert refused(run("learn", "marks", "--alpha", "0.05", "--draws", "5"), "No method has all of --alpha, --draws")


@pytest.mark.thorough
def test_a_pooled_page_has_the_order(run, tmp_path):
    assert run("learn", "marks", "--report", "page.html")[0] == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    document = json.loads(text.partition('id="document">')[2].partition("</script>")[0])
    assert [document["names"][j] for j in document["order"]] == [
        "algebra",
        "vectors",
        "analysis",
        "statistics",
        "mechanics",
    ]


def test_the_file_and_the_option_that_do_not_fit_are_named(run, tmp_path):
    ordag.Moments.scan("marks").save(tmp_path / "a.moments")
    assert run("learn", tmp_path / "a.moments", "--separator", ";")[2] == (
        "Error: --separator: a.moments is not read as text, so leave that out.\n"
    )
