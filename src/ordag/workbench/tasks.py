"""The tasks of the workbench's process pools, which take and return values that can be pickled; and the kinds of files to export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ordag.bootstrapping import bootstrap
from ordag.checking import check_fit
from ordag.comparison import compare
from ordag.data.moments import Moments
from ordag.data.profile import Profile, Rows
from ordag.data.series import Series
from ordag.data.table import Table
from ordag.fit import Fit
from ordag.graph.formats import FORMATS
from ordag.learners.found import Found
from ordag.learners.methods import learn_from, with_slow_warnings
from ordag.learners.settings import MethodSettings
from ordag.learning import learn
from ordag.show.document import document
from ordag.show.export import content, endings
from ordag.show.provenance import Origin
from ordag.show.report import report
from ordag.workbench.documents import brief, judgement
from ordag.workbench.pool import Progress

WHOLE_FORMS = {
    "report": "report, one page for a browser",
    "knowledge": "what is known, as a file",
    "python": "Python code",
    "command": "command line",
}
FORM_TITLES = {
    ".json": "whole answer, JSON",
    ".csv": "table of arrows, CSV",
    ".svg": "picture, SVG",
    ".pdf": "picture, PDF",
    ".png": "picture, PNG",
    ".dot": "Graphviz",
    ".graphml": "GraphML",
    ".gml": "GML",
    ".adjacency.csv": "adjacency matrix, CSV",
    ".lavaan": "lavaan",
    ".dagitty": "dagitty",
}


def search(
    moments: Moments,
    profile: Profile | None,
    settings: MethodSettings,
    series: Series | None = None,
    *,
    progress: Progress,
) -> Found:
    """Learn from moments and a sample of the rows, which may be in time."""
    return learn_from(Table.of_moments(moments, profile, progress, series), settings)


def learn_from_rows(call: Mapping[str, Any], *, progress: Progress) -> Fit:
    """Call `ordag.learn`, for methods that take rows."""
    return learn(**call, progress=progress)


def count_false_edges(fit: Fit, *, progress: Progress) -> Fit:
    """Add the false edges to expect, and a warning if they are many."""
    return with_slow_warnings(fit)


def judge(fit: Fit, *, progress: Progress) -> Fit:
    """Add the verdict, with the forecast or the probabilities of arrows that it takes."""
    progress("forecasting what would be wrong")
    judged = with_slow_warnings(fit)
    judged.verdict  # noqa: B018
    return judged


def lay_out(fit: Fit, origin: Origin, *, progress: Progress) -> dict[str, Any]:
    """Return the document of a fit with many edges, with places for its variables."""
    return brief(fit, origin, layout=True)


def resample(fit: Fit, call: Mapping[str, Any], *, progress: Progress) -> Fit:
    """Add the bootstrap support of the arrows, and the verdict. The graph stays as it is."""
    support = bootstrap(**call, progress=progress)
    return judge(replace(fit, support=replace(support, graph=fit.graph, fit=fit)), progress=progress)


def check(fit: Fit, rows: Rows | None, origin: Origin, alpha: float | None, *, progress: Progress) -> dict[str, Any]:
    """Return the findings of `ordag.check` on a fit, with their charts."""
    diagnosis = check_fit(fit, rows, alpha=alpha, progress=progress)
    checked = document(fit, diagnosis, origin=origin, layout=False, histograms=False)
    return {"findings": checked["findings"], **judgement(checked)}


def compare_methods(
    fit: Fit, methods: Sequence[str], settings: Mapping[str, Mapping[str, Any]], origin: Origin, *, progress: Progress
) -> dict[str, Any]:
    """Compare methods with this graph, which comes first."""
    fit.at_one_time("The comparison of this page")
    comparison = compare(fit.moments, methods, settings=settings, progress=progress)
    compared = document(fit, comparison=comparison, origin=origin, layout=False, histograms=False)
    return {"comparison": compared["comparison"]}


def export(fit: Fit, form: str, origin: Origin, *, progress: Progress) -> str | bytes:
    """Return the content of a file; a report has the checks."""
    if form == "report":
        return report(fit, origin=origin, progress=progress)
    return content(fit, f"graph{form}")


def forms() -> list[dict[str, str]]:
    """List the kinds of files to export, those with several endings by the first of them."""
    other_endings = [ending for known in FORMATS.values() for ending in known.endings[1:]]
    offered = [ending for ending in endings() if ending not in (".html", *other_endings)]
    titles = WHOLE_FORMS | {ending: FORM_TITLES.get(ending, ending[1:]) for ending in offered}
    return [{"form": form, "title": title} for form, title in titles.items()]
