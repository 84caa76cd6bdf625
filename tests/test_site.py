"""The site of the documentation: its pages, its navigation, its reference, and how docstrings and formulas get there."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from xml.etree.ElementTree import tostring

import pytest
import yaml

import ordag
from tools import commands, site

pytestmark = pytest.mark.system

ROOT = Path(__file__).parent.parent
NAVIGATION = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]


def leaves(part):
    if isinstance(part, str):
        return [part]
    return [page for one in (part.values() if isinstance(part, dict) else part) for page in leaves(one)]


def test_the_page_of_commands_is_what_the_commands_say():
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == commands.page(), "run make settings"


def test_every_page_is_in_the_navigation_once():
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(leaves(NAVIGATION)) == sorted([*pages, "reference/ordag.md", "contributing.md", "changelog.md"])


def test_every_public_name_is_in_the_reference():
    pages = site.reference()
    for name, module in site.public_names().items():
        assert f"reference/{module}.md" in pages, f"{name}: add {module} to PARTS in tools/site.py"
        assert f"[`ordag.{name}`]({module}.md#{module}.{name})" in pages["reference/ordag.md"]
    assert set(site.public_names()) == set(ordag.__all__) - {"__version__"}


def test_pages_of_the_reference_are_modules():
    for path, text in site.reference().items():
        module = path.removeprefix("reference/").removesuffix(".md")
        assert import_module(module).__doc__
        assert text.startswith(f"# {module}\n")


@pytest.mark.parametrize("page", ["CHANGELOG.md", "CONTRIBUTING.md"])
def test_links_of_the_root_hold_among_the_pages(page):
    text = site.moved((ROOT / page).read_text(encoding="utf-8"))
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert all((ROOT / "docs" / link).exists() or link in ("changelog.md", "contributing.md") for link in links), links


def test_docstrings_become_lists_and_sessions():
    pytest.importorskip("griffe")  # of the extra docs: `.ci/run` has it
    from tools import docstrings

    text = "Draw rows.\n\nseed: the same seed gives\n    the same rows.\nn: how many.\n\n>>> 1 + 1\n2"
    assert docstrings.as_markdown(text) == (
        "Draw rows.\n\n- **seed**: the same seed gives\n    the same rows.\n- **n**: how many.\n\n```pycon\n>>> 1 + 1\n2\n```"
    )
    assert docstrings.as_markdown("See docs/settings.md.") == "See [settings](../settings.md)."
    assert docstrings.as_markdown("Note: one line is a sentence.") == "Note: one line is a sentence."


def test_a_site_with_faults_is_found_out(tmp_path):
    (tmp_path / "index.html").write_text(
        '<nav><a href="a.html">a</a><a href="index.html"></a></nav><h1 id="top"></h1><a href="#top"></a><a href="gone.html"></a>'
        '<a href="a.html#nowhere"></a><script src="https://example.org/x.js"></script><img src="no.png">'
    )
    (tmp_path / "a.html").write_text('<a href="https://example.org">elsewhere</a>')
    (tmp_path / "alone.html").write_text("")
    (tmp_path / "site.css").write_text("@font-face { src: url(https://example.org/f.woff2) }")
    assert sorted(site.problems(tmp_path)) == [
        "alone.html: no navigation leads here",
        "index.html: a.html#nowhere has no such place",
        "index.html: gone.html leads nowhere",
        "index.html: https://example.org/x.js is loaded from the network",
        "index.html: no.png leads nowhere",
        "site.css: https://example.org/f.woff2 is loaded from the network",
    ]


def test_the_script_for_pages_from_disk_is_our_own(tmp_path):
    (tmp_path / "guides").mkdir()
    for page in ("index.html", "guides/units.html"):
        (tmp_path / page).write_text(f'<nav><a href="/"></a></nav><script src="{site.SHIM}"></script>')
    site.keep_from_network(tmp_path)
    assert 'src="worker.js"' in (tmp_path / "index.html").read_text()
    assert 'src="../worker.js"' in (tmp_path / "guides" / "units.html").read_text()
    assert (ROOT / "docs" / "worker.js").exists()


class TestFormulas:
    """With the libraries of the extra `docs`, which `.ci/run` has."""

    @pytest.fixture
    def markdown(self):
        pytest.importorskip("latex2mathml")
        return pytest.importorskip("markdown").Markdown(extensions=["tools.formulas", "tables"])

    def test_formulas_are_mathml(self, markdown):
        html = markdown.convert(r"With $x_j^2 * a*b*c$ and `$HOME` and $T^\top$, for $ 5 and 6 $.")
        assert html.count("<math") == 2
        assert "<em>" not in html
        assert "⊤" not in html
        assert "<code>$HOME</code>" in html
        assert "for $ 5 and 6 $" in html

    def test_a_display_stands_by_itself(self, markdown):
        assert 'display="block"' in markdown.convert(r"$$\sum_j v_j$$")

    def test_every_formula_of_the_source_and_the_pages_can_be_drawn(self, markdown):
        from tools.formulas import FORMULA, mathml

        texts = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
        texts += [text for path in (ROOT / "src").rglob("*.py") for text in docstrings(path)]
        fences = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
        found = [formula[1] for text in texts for formula in re.findall(FORMULA, fences.sub("", text))]
        assert len(found) > 100
        for formula in found:
            assert "\\" not in tostring(mathml(formula), "unicode"), formula


def docstrings(path):
    """The strings of a file that stand alone: what is written into the site."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def test_the_citation_names_this_version_the_developers_and_the_paper():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert said["cff-version"] == "1.2.0"
    assert said["version"] == ordag.__version__
    assert said["authors"] == [{"name": "The Ordag developers"}]
    assert [one["family-names"] for one in said["references"][0]["authors"]] == ["Park", "Kim"]
