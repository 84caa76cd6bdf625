"""A state in, what a page shows of it out, in plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ordag import __version__
from ordag.arrays import Mask
from ordag.data.datasets import DATASETS
from ordag.evidence.forecast import usual_count
from ordag.evidence.verdict import quick_verdict
from ordag.explore.state import State, method_schemas
from ordag.explore.tables import Held, Kept, Tables
from ordag.fit import Fit
from ordag.learners.methods import recipe_for
from ordag.show.again import Origin
from ordag.show.document import document
from ordag.show.export import endings
from ordag.words import counted

NUMBERS = 2**25
"""In the fits that are kept to be asked again."""


class Answers:
    """What is learned from the tables of a workbench, kept within bounds for whoever asks again."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._fits: Kept[Fit] = Kept(NUMBERS)

    def fit(self, held: Held, state: State) -> Fit:
        """What the method of a state finds in its table."""
        key = held.id, state.key
        found = self._fits.get(key)
        if found is None:
            table = self.tables.table(held, state)
            found = Fit.learned(table, recipe_for(table, state.method, state.asked))
            self._fits.put(key, found, 8 * len(found.names) ** 2)
        return found

    def answer(self, given: State, *, layout: bool) -> dict[str, Any]:
        held = self.tables.named(given)
        state = given.over(held.table.names)
        fit = self.fit(held, state)
        before = self.fit(held, state.unscaled()) if state.transform else None
        return {
            "document": brief(fit, held, layout=layout),
            "scales": None if before is None else turned(before, fit),
        }


def start(tables: Tables) -> dict[str, Any]:
    """What a page has to know before anything else."""
    return {
        "data": None if tables.first is None else tables.first.description,
        "builtin": [{"name": one.name, "title": one.title} for one in DATASETS.values()],
        "most_bytes": tables.most_bytes,
        "methods": method_schemas(),
        "forms": forms(),
        "version": __version__,
    }


def forms() -> list[dict[str, str]]:
    """The kinds of files that an answer can be taken away as."""
    named = {
        "report": "report, one page",
        "knowledge": "knowledge file",
        "python": "Python code",
        "command": "command line",
    }
    return [
        *({"form": form, "title": title} for form, title in named.items()),
        *({"form": ending, "title": TITLES.get(ending, ending[1:])} for ending in endings() if ending != ".html"),
    ]


TITLES = {
    ".json": "whole answer, JSON",
    ".csv": "table of arrows, CSV",
    ".svg": "picture, SVG",
    ".pdf": "picture, PDF",
    ".png": "picture, PNG",
    ".dot": "Graphviz, DOT",
    ".gv": "Graphviz, GV",
    ".graphml": "GraphML",
    ".gml": "GML",
    ".adjacency.csv": "adjacency matrix, CSV",
    ".lavaan": "lavaan",
    ".lav": "lavaan, LAV",
    ".dagitty": "dagitty",
}


def brief(fit: Fit, held: Held, *, layout: bool) -> dict[str, Any]:
    """The document of a fit without what takes long: findings, histograms, forecast, sampled probabilities."""
    pending = is_pending(fit)
    quick = fit if fit.posterior is None or fit.posterior.quick else replace(fit, posterior=fit.posterior.unsampled())
    verdict = quick_verdict(quick, forecast=False) if pending else fit.verdict
    said = document(quick, origin=origin_of(held), verdict=verdict, layout=layout, histograms=False)
    said["verdict"]["pending"] = pending
    return {**said, "raw": list(fit.names)}


def is_pending(fit: Fit) -> bool:
    """Whether the verdict has more to say than can be said at once."""
    if "verdict" in vars(fit) or not fit.graph.edge_count or not fit.recipe.linear:
        return False
    return not fit.posterior.quick if fit.posterior is not None else usual_count(fit) > 0


def origin_of(held: Held) -> Origin:
    return Origin(held.origin, held.reading, digest=held.digest)


def turned(before: Fit, after: Fit) -> dict[str, Any]:
    """Which arrows a change of scales has turned, taken away and brought, by column numbers."""
    old, new = before.graph.adjacency, after.graph.adjacency
    one_way: Mask = old & ~old.T
    other_way: Mask = new & ~new.T
    joined, joins = old | old.T, new | new.T
    changed = {
        "turned": np.argwhere(other_way & one_way.T),
        "gone": np.argwhere(np.triu(joined & ~joins)),
        "new": np.argwhere(np.triu(joins & ~joined)),
    }
    return {**{name: pairs.tolist() for name, pairs in changed.items()}, "sentence": _why(after, changed)}


def _why(fit: Fit, changed: Mapping[str, Any]) -> str:
    parts = [
        f"{counted(len(changed['turned']), 'arrow')} turned",
        f"{counted(len(changed['gone']), 'edge')} gone",
        f"{counted(len(changed['new']), 'edge')} new",
    ]
    return f"Against the columns in their own units: {', '.join(parts)}."
