"""What the workers of a `Crew` do: each task takes what it needs, says how far it is, and gives plain values or a fit back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ordag.bootstrapping import bootstrap
from ordag.comparison import compare
from ordag.data.moments import Moments
from ordag.data.profile import Profile, Rows
from ordag.data.table import Table
from ordag.diagnosis.diagnosis import check_fit
from ordag.explore.crew import Tell
from ordag.explore.documents import brief, judgement
from ordag.fit import Fit
from ordag.learners.found import Found
from ordag.learners.methods import learn_from, with_counts_said
from ordag.learners.settings import MethodSettings
from ordag.learning import learn
from ordag.show.again import Origin
from ordag.show.document import document
from ordag.show.export import content
from ordag.show.report import report


def search(moments: Moments, profile: Profile | None, recipe: MethodSettings, *, tell: Tell) -> Found:
    """What a method finds where moments and a sample of the rows are enough for it."""
    return learn_from(Table.of_moments(moments, profile, tell), recipe)


def learned(call: Mapping[str, Any], *, tell: Tell) -> Fit:
    """What `ordag.learn` gives, for methods that take rows."""
    return learn(**call, progress=tell)


def counted(fit: Fit, *, tell: Tell) -> Fit:
    """The same fit with the false edges to expect, and a warning if they are many."""
    return with_counts_said(fit)


def judged(fit: Fit, *, tell: Tell) -> Fit:
    """The same with its verdict too, and with all that the verdict takes: the forecast, or the probabilities of arrows."""
    tell("forecasting what would be wrong")
    whole = with_counts_said(fit)
    whole.verdict  # noqa: B018
    return whole


def told(fit: Fit, origin: Origin, *, tell: Tell) -> dict[str, Any]:
    """The document of a fit, with places for its many edges."""
    return brief(fit, origin, layout=True)


def resampled(fit: Fit, call: Mapping[str, Any], *, tell: Tell) -> Fit:
    """A fit with the support that `ordag.bootstrap` finds for its arrows, and with its verdict. Its graph stays as it is."""
    found = bootstrap(**call, progress=tell)
    return judged(replace(fit, bootstrap=replace(found, graph=fit.graph, fit=fit)), tell=tell)


def checked(fit: Fit, rows: Rows | None, origin: Origin, alpha: float | None, *, tell: Tell) -> dict[str, Any]:
    """The findings of `ordag.diagnose` on a fit, with their charts."""
    diagnosis = check_fit(fit, rows, alpha=alpha, progress=tell)
    said = document(fit, diagnosis, origin=origin, layout=False, histograms=False)
    return {"findings": said["findings"], **judgement(said, pending=False)}


def compared(
    fit: Fit, methods: Sequence[str], settings: Mapping[str, Mapping[str, Any]], origin: Origin, *, tell: Tell
) -> dict[str, Any]:
    """Several methods side by side, this graph first."""
    found = compare(fit.moments, methods, settings=settings, progress=tell)
    said = document(fit, comparison=found, origin=origin, layout=False, histograms=False)
    return {"comparison": said["comparison"]}


def written(fit: Fit, form: str, origin: Origin, *, tell: Tell) -> str | bytes:
    """A file of a fit; the report is one with the checks."""
    if form == "report":
        return report(fit, origin=origin, progress=tell)
    return content(fit, f"graph{form}")
