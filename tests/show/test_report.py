"""The report as text: a strict policy that its own script and style keep to, names that stay text, and one script from many modules."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from looks import ACTING, KINDS, fit_of

import ordag
from ordag.checking import check_fit
from ordag.common.words import harmless
from ordag.errors import SettingError
from ordag.show.document import document
from ordag.show.provenance import Origin, command_line, fingerprint, python_call
from ordag.show.report import EXPORT, IMPORT, inert, joined_script, module_names, report, source

DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


def parts(text):
    """The policy, the style sheets, the scripts that run, and the data of a page."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#x27;", "'")
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    scripts = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    data = re.findall(r'<script type="application/json" id="document">(.*?)</script>', text, re.DOTALL)
    return policy, styles, scripts, data


def hashed(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_runs_its_own_script_and_asks_for_nothing(kind):
    text = report(fit_of(kind), check=False)
    policy, styles, scripts, data = parts(text)
    assert len(styles) == len(scripts) == len(data) == 1
    assert text.count("<script") == 2
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == hashed(scripts[0])
    assert rules["style-src"] == hashed(styles[0])
    assert "unsafe" not in policy
    assert not re.search(r'(?:src|href|srcset|action)="(?!#|data:)', text.split("<script")[0])
    assert " style=" not in text.split("<style>")[0] + text.split("</style>")[1].split("<script")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_document_holds_the_facts_of_the_fit(kind):
    fit = fit_of(kind)
    content = json.loads(parts(report(fit, check=False))[3][0])
    kinds = content["pairs"]["kind"]
    assert kinds.count("arrow") == len(fit.graph.directed)
    assert kinds.count("line") == len(fit.graph.undirected)
    assert content["unchecked"]
    noun = "arrow" if isinstance(fit.graph, ordag.Dag) else "edge"
    count = fit.graph.edge_count
    assert content["verdict"]["short"].startswith(f"{count} {noun}" if count == 1 else f"{count} {noun}s")
    assert harmless(fit.verdict.sentence) == content["verdict"]["sentence"].replace("\u00a0", " ")
    assert not ACTING.search(json.dumps(content, ensure_ascii=False).replace("\\n", ""))
    if fit.steps is not None and content["steps"]:
        np.testing.assert_allclose(content["steps"]["variance"], fit.steps["variance"], rtol=1e-3)
    np.testing.assert_allclose(content["model"]["spread"], fit.profile.rows.std(axis=0, ddof=1), rtol=1e-3)


def test_nothing_in_the_data_ends_the_block_it_stands_in():
    text = inert({"name": "</script><!--\u2028\u2029&"})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"name": "</script><!--\u2028\u2029&"}


def test_modules_are_joined_into_one_script():
    declared = [name for module in module_names() for name in DECLARED.findall(source(f"{module}.js"))]
    assert len(declared) == len(set(declared)), sorted({name for name in declared if declared.count(name) > 1})
    script = joined_script()
    assert not re.search(r"^\s*(?:import|export)\b", script, re.MULTILINE)
    for module in module_names():
        body = EXPORT.sub("", IMPORT.sub("", source(f"{module}.js")))
        assert body in script
        for needed in IMPORT.findall(source(f"{module}.js")):
            assert script.index(EXPORT.sub("", IMPORT.sub("", source(f"{needed}.js")))) < script.index(body)


def test_every_name_that_a_module_uses_of_another_is_exported_there():
    for module in module_names():
        used = re.findall(r"^import \{([^}]*)\} from \"\./(\w+)\.js\";$", source(f"{module}.js"), re.MULTILINE)
        assert len(used) == source(f"{module}.js").count("\nimport ")
        for names, other in used:
            exported = re.findall(r"^export (?:async )?(?:function|const) (\w+)", source(f"{other}.js"), re.MULTILINE)
            assert set(re.findall(r"\w+", names)) <= set(exported), (module, other)


def test_scripts_put_text_in_as_text():
    for module in module_names():
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\bstyle:",
            source(f"{module}.js"),
        )


@pytest.mark.slow
def test_checks_are_made_unless_the_table_is_wide_or_somebody_says_no(monkeypatch):
    fit = fit_of("cvs")
    assert len(json.loads(parts(report(fit))[3][0])["findings"]) == 20
    assert json.loads(parts(report(fit, check=False))[3][0])["findings"] == []
    monkeypatch.setattr("ordag.show.report.MAX_CHECKED_VARIABLES", 3)
    assert "check=True" in json.loads(parts(report(fit))[3][0])["unchecked"]
    assert json.loads(parts(report(fit, check=True))[3][0])["findings"]
    assert "class of graphs" in json.loads(parts(report(fit_of("class")))[3][0])["unchecked"]


def test_a_diagnosis_writes_its_own_report(tmp_path):
    diagnosis = check_fit(fit_of("cvs"), draws=2)
    diagnosis.report(tmp_path / "r.html")
    content = json.loads(parts((tmp_path / "r.html").read_text(encoding="utf-8"))[3][0])
    assert {one["key"] for one in content["findings"]} == {finding.key for finding in diagnosis.findings}


def test_methods_are_compared_if_asked_for():
    content = json.loads(parts(report(fit_of("cvs"), check=False, compare=["cvs", "ges"]))[3][0])
    assert content["comparison"]["methods"] == ["this graph (cvs)", "cvs", "ges"]
    assert all(row[2] == row[3] for row in content["comparison"]["pairs"])
    assert content["comparison"]["cells"][0][-1] == "–"
    with pytest.raises(SettingError, match="none of them"):
        report(fit_of("cvs"), check=False, compare=["none of them"])


@pytest.mark.slow
def test_the_same_fit_gives_the_same_page():
    assert report(fit_of("cvs")) == report(fit_of("cvs"))


@pytest.mark.parametrize("kind", ["cvs", "bh", "adaptive", "searched", "knowledge", "class", "small"])
def test_the_python_call_learns_the_same_graph(kind):
    from looks import rows

    fit = fit_of(kind)
    code = python_call(fit, Origin())
    space = {}
    exec(code.replace("data = …", "data = given").rsplit("\n", 1)[0], {"given": rows()}, space)
    assert space["fit"].graph == fit.graph
    assert space["fit"].settings == fit.settings


def test_the_command_line_learns_the_same_graph(run):
    fit = ordag.learn("marks", "cvs", alpha=0.05, correction="bh")
    command = command_line(fit, Origin("marks"))
    assert command == "ordag learn marks --method cvs --alpha 0.05 --correction bh --report report.html"
    status, out, _ = run(*command.split()[1:-2], "--json")
    assert status == 0
    assert {(edge["source"], edge["target"]) for edge in json.loads(out)["edges"]} == set(fit.graph.directed)


def test_fingerprints_are_of_the_file_or_of_the_moments(tmp_path):
    fit = ordag.learn("marks", "cvs")
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert fingerprint(fit, path) == (hashlib.sha256(b"a,b\n1,2\n").hexdigest(), "the bytes of the file")
    one, of = fingerprint(fit)
    assert "moments" in of
    assert one == fingerprint(ordag.learn("marks", "ges"))[0]
    assert one != fingerprint(ordag.learn("marks", columns=["algebra", "vectors"]))[0]


def test_pairs_that_no_level_moves_are_named():
    fit = fit_of("small")
    content = document(fit)
    pairs, small = content["pairs"], content["fixed"]["small"]
    left = {frozenset(edge[:2]) for edge in fit.left_out.edges}
    ends = [frozenset((fit.names[a], fit.names[b])) for a, b in zip(pairs["source"], pairs["target"], strict=True)]
    assert left
    assert left <= {ends[k] for k in small}
    assert all(pairs["kind"][k] == "absent" for k in small)
    known = document(fit_of("knowledge"))
    assert [known["pairs"]["kind"][k] for k in known["fixed"]["required"]] == ["arrow"]


def test_headlines_say_what_was_found():
    marks = document(ordag.learn("marks", "cvs", alpha=0.05))["found"]
    assert len(marks) == 2
    assert marks[0].startswith("6 arrows join 5 variables. algebra comes first")
    assert "algebra → analysis" in marks[1]
    assert document(fit_of("no edges"))["found"][0] == "No edges were found among 6 variables."
    assert "direction" in document(fit_of("class"))["found"][0]


def test_the_fingerprint_of_a_wide_table_takes_no_root(monkeypatch):
    fit = ordag.learn("marks", "cvs")
    narrow, of = fingerprint(fit)
    assert "root R" in of
    monkeypatch.setattr("ordag.show.provenance.MAX_VARIABLES_FOR_R", 4)
    digest, of = fingerprint(fit)
    assert "sums of squares" in of
    assert digest != narrow
    assert digest == fingerprint(ordag.learn("marks", "cvs"))[0]
    assert (
        digest
        != fingerprint(
            ordag.learn("marks", "cvs", columns=["vectors", "algebra", "analysis", "statistics", "mechanics"])
        )[0]
    )
