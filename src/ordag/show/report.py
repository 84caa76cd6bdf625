"""A fit as HTML: the report, one page that stands alone and loads nothing, and the card that a notebook shows.

The scripts in `browser/` are ES modules, one per thing drawn. A page opened from disk cannot load modules, so the report joins them into
one script: each file follows those it imports, and `import` lines and the word `export` are removed. The Content-Security-Policy allows
this script and this style sheet by their hashes and nothing else. The data are a block of JSON, which a browser does not run.
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

from ordag.assess.stability import QUICK_ESTIMATORS
from ordag.checking import Diagnosis, check_fit
from ordag.common.markup import MOST_ROWS, arrow, card, figure, isolated, sentence, table
from ordag.common.words import counted, number
from ordag.comparison import Comparison
from ordag.comparison import compare as compare_methods
from ordag.errors import OutputError
from ordag.graph.cpdag import Cpdag
from ordag.show.cells import edge_cells, legend, lines_without_direction, margin
from ordag.show.document import document
from ordag.show.plots import drawing
from ordag.show.provenance import Origin
from ordag.show.text import heading, notes, order_title
from ordag.show.view import View

if TYPE_CHECKING:
    from ordag.fit import Fit

ENDINGS = (".html", ".htm")

MAX_CHECKED_VARIABLES = 150
"""Variables up to which a report has checks by default."""

IMPORT = re.compile(r"^import\s[^;]*?from\s+\"\./(\w+)\.js\";\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)


def report(
    fit: Fit,
    *,
    diagnosis: Diagnosis | None = None,
    check: bool | None = None,
    compare: Comparison | Sequence[str] = (),
    data: str | PathLike[str] | None = None,
    origin: Origin | None = None,
    progress: Callable[[str], None] | None = None,
) -> str:
    """Return the page.

    diagnosis: the findings to show. check: whether to run the checks if no diagnosis is given; by default up to 150 variables.
    compare: methods to show beside this one, or a finished comparison.
    data, or origin: where the table came from, for the section on how to make the page again.
    progress: called with short messages while the page is made.
    """
    if compare and not isinstance(compare, Comparison):
        fit.at_one_time("The comparison of a report")
        compare = compare_methods(fit.moments, compare, progress=progress)
    unchecked = "" if diagnosis is not None else _why_unchecked(fit, check)
    if diagnosis is None and not unchecked:
        diagnosis = check_fit(fit, progress=progress)
    comparison = compare if isinstance(compare, Comparison) else None
    return page(document(fit, diagnosis, comparison, origin=origin or Origin(data), unchecked=unchecked))


def check_page(path: str) -> None:
    """Refuse a file name that a browser would not open as a page."""
    if not path.lower().endswith(ENDINGS):
        raise OutputError(f"--report {path}: the report is a page for a browser, so end its name in .html.")


def page(content: Mapping[str, Any]) -> str:
    """Return the page that shows a document."""
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
    """Return JSON in which no text can end the block around it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)


def joined_script() -> str:
    """Return all modules as one script."""
    texts = {name: source(f"{name}.js") for name in module_names()}
    needs = {name: IMPORT.findall(text) for name, text in texts.items()}
    order = TopologicalSorter(needs).static_order()
    return "\n".join(EXPORT.sub("", IMPORT.sub("", texts[name])) for name in order)


def module_names() -> list[str]:
    """Return the names of the scripts in `browser/`, without their ending."""
    folder = files("ordag.show").joinpath("browser")
    return sorted(one.name.removesuffix(".js") for one in folder.iterdir() if one.name.endswith(".js"))


def source(name: str) -> str:
    """Return the text of a file in `browser/`."""
    return files("ordag.show").joinpath("browser", name).read_text(encoding="utf-8")


def _why_unchecked(fit: Fit, check: bool | None) -> str:
    """Say why the report has no checks; "" where it has them."""
    p = len(fit.names)
    if isinstance(fit.graph, Cpdag):
        return f"{fit.method} gives a class of graphs, which has no equations to check."
    slow = fit.method_settings.needs_rows and fit.settings.get("variance") not in QUICK_ESTIMATORS
    if check is None and (slow or p > MAX_CHECKED_VARIABLES):
        what = "learning again with these settings" if slow else f"checking {counted(p, 'variable')}"
        return f"The checks were skipped, because {what} takes long: ask for them with check=True (--check)."
    return "The checks were skipped, as requested." if check is False else ""


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def fragment(fit: Fit, most: int = MOST_ROWS) -> str:
    """Return the card of a notebook: warnings, graph, verdict, arrows and order."""
    one = "One variable with its neighbours; fit.plot('neighbourhood', variable=…) draws another."
    return card(
        f"Ordag · {heading(fit)}",
        *(sentence(warning, "warning") for warning in fit.warnings),
        figure(drawing(fit)),
        sentence(one, "note") if View(fit).first_look == "neighbourhood" else "",
        sentence(f"{fit.verdict.sentence} {fit.verdict.help}"),
        _edge_tables(fit, most),
        *(sentence(note, "note") for note in notes(fit)),
        _order_table(fit, most),
    )


def _edge_tables(fit: Fit, most: int) -> str:
    columns, written = fit.edge_columns, edge_cells(fit, most)
    arrows = (arrow(*ends) for ends in zip(columns["source"][:most], columns["target"], strict=False))
    rows = [list(row) for row in zip(arrows, *written.values(), strict=False)]
    directed = table(["arrow", *written], rows, most=most, total=len(columns["source"]), where=": see .edges")
    lines = lines_without_direction(fit)
    tests = ["p edge"] if any(p_value for _, p_value in lines) else []
    undirected = ([arrow(*pair, joint="—"), *([p_value] if tests else [])] for pair, p_value in lines)
    explained = "".join(sentence(said, "note") for said in legend(fit))
    return directed + explained + table(["without direction", *tests], undirected, most=most)


def _order_table(fit: Fit, most: int) -> str:
    numbered = (f"{k + 1}. {isolated(node)}" for k, node in enumerate(fit.order or ()))
    if fit.ordering is None:
        return table([order_title(fit).lower()], ([node] for node in numbered), most=most)
    columns = fit.step_columns
    rows = (
        [node, number(variance), margin(lead)]
        for node, variance, lead in zip(numbered, columns["variance"], columns["margin"], strict=True)
    )
    heads = ["order, causes first", "variance given earlier", "margin to runner-up"]
    return table(heads, rows, most=most, where=": see .steps")
