"""A Fit in, the report out: one page that stands alone, works from disk, and asks for nothing from elsewhere.

The scripts in `browser/` are ES modules, one per thing drawn. A page cannot load modules from disk, so the report joins them into one
script: lines of import go, the word export goes, and files come after those that they import. The Content-Security-Policy allows
this script and this style sheet by their hashes, and nothing else. The data are a block of JSON that no browser runs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from graphlib import TopologicalSorter
from html import escape
from importlib.resources import files
from os import PathLike
from typing import TYPE_CHECKING, Any

from ordag.assumptions.check import Diagnosis, check_fit
from ordag.assumptions.stability import QUICK
from ordag.comparison import Comparison
from ordag.comparison import compare as compare_methods
from ordag.errors import OutputError
from ordag.graph.cpdag import Cpdag
from ordag.show.again import Origin
from ordag.show.document import document
from ordag.words import counted

if TYPE_CHECKING:
    from ordag.fit import Fit

ENDINGS = (".html", ".htm")

MOST_CHECKED = 150
"""Variables up to which a report is made with the checks unless somebody says otherwise."""

IMPORT = re.compile(r"^import\s[^;]*?from\s+\"\./(\w+)\.js\";\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)


def report(
    fit: Fit,
    *,
    diagnosis: Diagnosis | None = None,
    check: bool | None = None,
    compare: Comparison | Sequence[str] = (),
    data: str | PathLike[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    command: str | None = None,
    origin: Origin | None = None,
    progress: Callable[[str], None] | None = None,
) -> str:
    """The page.

    diagnosis: the findings to show. check: whether to look for them where they are not given; up to 150 variables if not said.
    compare: methods to show beside, or what came of comparing them.
    data, reading, command: the file or the name of the table, how it was read, and what was typed, to say how the page is made again.
    origin: the same in one, where somebody has it.
    progress: called now and then with a few words on how far things are.
    """
    if compare and not isinstance(compare, Comparison):
        compare = compare_methods(fit.moments, compare, progress=progress)
    unchecked = "" if diagnosis is not None else _why_unchecked(fit, check)
    if diagnosis is None and not unchecked:
        diagnosis = check_fit(fit, progress=progress)
    comparison = compare if isinstance(compare, Comparison) else None
    origin = origin or Origin(data, reading or {}, command)
    return page(document(fit, diagnosis, comparison, origin=origin, unchecked=unchecked))


def check_page(path: str) -> None:
    """Refuse a name that no browser would take for a page."""
    if not path.lower().endswith(ENDINGS):
        raise OutputError(f"--report {path}: the report is a page for a browser, so end its name in .html.")


def page(content: Mapping[str, Any]) -> str:
    """The document of a fit, with all that draws it."""
    script, style = joined_script(), source("page.css")
    policy = (
        f"default-src 'none'; script-src {_hashed(script)}; style-src {_hashed(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    said = [*content["found"], content["verdict"]["sentence"]]
    parts = {
        "policy": escape(policy),
        "title": escape(f"{content['title']} · Ordag"),
        "said": "\n".join(f"<p>{escape(sentence)}</p>" for sentence in said),
        "style": style,
        "script": script,
        "document": inert(content),
    }
    return re.sub(r"<!--(\w+)-->", lambda found: parts[found[1]], source("page.html"))


def inert(content: Mapping[str, Any]) -> str:
    """JSON in which nothing can end the block that it stands in."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)


def joined_script() -> str:
    """All modules in one script."""
    texts = {name: source(f"{name}.js") for name in module_names()}
    needs = {name: IMPORT.findall(text) for name, text in texts.items()}
    order = TopologicalSorter(needs).static_order()
    return "\n".join(EXPORT.sub("", IMPORT.sub("", texts[name])) for name in order)


def module_names() -> list[str]:
    """Of the scripts, without their ending."""
    return sorted(
        one.name.removesuffix(".js")
        for one in files("ordag.show").joinpath("browser").iterdir()
        if one.name.endswith(".js")
    )


def source(name: str) -> str:
    """A file of `browser/`."""
    return files("ordag.show").joinpath("browser", name).read_text(encoding="utf-8")


def _why_unchecked(fit: Fit, check: bool | None) -> str:
    """Why the checks are left out, as a sentence; "" where they are to be made."""
    p = len(fit.names)
    if isinstance(fit.graph, Cpdag):
        return f"{fit.method} gives a class of graphs, which has no equations to check."
    slow = fit.recipe.needs_rows and fit.settings.get("variance") not in QUICK
    if check is None and (slow or p > MOST_CHECKED):
        what = "this way of learning takes" if slow else f"{counted(p, 'variable')} take"
        return f"The checks were left out, because {what} long: ask for them with check=True, or with --check on the command line."
    return "The checks were left out, as asked for." if check is False else ""


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
