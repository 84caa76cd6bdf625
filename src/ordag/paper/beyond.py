"""Beyond the figures: CVS when scale carries no information, with other rules for parents, and with more variables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.paper.experiment import Experiment, Task
from ordag.paper.methods import METHODS, learned, seconds, settings
from ordag.paper.panels import Panel, lines

if TYPE_CHECKING:
    import pandas as pd

VARIANTS = ("cvs", "cvs-bh", "cvs-bic", "cvs-backward")
SECTIONS = {"homogeneous": "4.1", "heterogeneous": "4.2", "sparse": "sparse"}
TITLES = {"cvs": "tests 1%", "cvs-bh": "FDR 1%", "cvs-bic": "BIC", "cvs-backward": "backward"}
SCALES = {"": "as drawn", "standardised": "standardised columns", "rescaled": "random units"}
REPLICATES = 100
PLACES = {
    ("homogeneous", 20): (100, 500, 1000),
    ("homogeneous", 50): (100, 500, 1000),
    ("homogeneous", 100): (1000,),
    ("homogeneous", 200): (1000,),
    ("heterogeneous", 20): (100, 500, 1000),
    ("heterogeneous", 50): (100, 500, 1000),
    ("heterogeneous", 100): (1000,),
    ("heterogeneous", 200): (1000,),
    ("sparse", 100): (200, 500, 1000),
    ("sparse", 200): (300, 500, 1000),
}
"""Designs and p, and at which n. The dense designs of Sections 4.1 and 4.2 outgrow float64 between p = 100 and 200; the
sparse one joins each pair with the same probability, four arrows a variable on average, with error variances 1."""

DRAWN = [
    ("homogeneous", 20),
    ("homogeneous", 50),
    ("sparse", 100),
    ("heterogeneous", 20),
    ("heterogeneous", 50),
    ("sparse", 200),
]


def tasks(quick: bool) -> list[Task]:
    """Every variant on the data as they were drawn, and CVS as in the paper on all scales."""
    return [
        Task("beyond", f"{design}/{scale}" if scale else design, p, n, replicate, method)
        for replicate in range(3 if quick else REPLICATES)
        for (design, p), rows in PLACES.items()
        for n in (rows[::2] if quick else rows)
        for scale in SCALES
        for method in (VARIANTS if not scale else VARIANTS[:1])
    ]


def run(task: Task) -> list[dict[str, Any]]:
    """Distances, how well the order agrees with the true arrows, and how many steps float64 left undecided."""
    row, fit, drawn = learned(task)
    return [
        row
        | {
            "agreement": None if fit is None else agreement(fit, drawn.truth),
            "undecided": None if fit is None or fit.ordering is None else len(fit.ordering.undecided),
        }
    ]


def agreement(fit: Fit, truth: Dag) -> float | None:
    """The share of the true arrows whose cause comes before its effect in the order found; a half is chance."""
    causes, effects = np.nonzero(truth.adjacency)
    if fit.ordering is None or not len(causes):
        return None
    place = np.argsort(fit.ordering.order)
    return float((place[causes] < place[effects]).mean())


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """At the largest n, mean distances to the DAG, and how much of the order is right: as drawn · standardised · rescaled."""
    import pandas as pd

    rows = _with_scale(rows)
    found = []
    for (design, p), sizes in PLACES.items():
        here = rows[(rows["base"] == design) & (rows["p"] == p) & (rows["n"] == sizes[-1])]
        if here.empty:
            continue
        as_drawn = here[here["scale"] == ""]
        order = [here[(here["scale"] == scale) & (here["method"] == "cvs")]["agreement"].mean() for scale in SCALES]
        found.append(
            {"design": SECTIONS[design], "p": p, "edges": f"{here['true_edges'].mean():.0f}"}
            | {title: _cell(as_drawn[as_drawn["method"] == name]) for name, title in TITLES.items()}
            | {scale: _cell(here[here["scale"] == scale]) for scale in SCALES if scale}
            | {"order %": "·".join("–" if share != share else f"{100 * share:.0f}" for share in order)}
        )
    return pd.DataFrame(found)


def _cell(rows: pd.DataFrame) -> str:
    """The mean distance, marked if some data sets were refused."""
    refused = int((rows["problem"] != "").sum())
    if refused == len(rows):
        return "refused" if refused else "–"
    mean = rows["dag_distance"].mean()
    return f"{mean:.{1 if mean < 99.95 else 0}f}" + (" †" if refused else "")


def _with_scale(rows: pd.DataFrame) -> pd.DataFrame:
    parts = rows["design"].str.partition("/")
    return rows.assign(base=parts[0], scale=parts[2])


def claims(rows: pd.DataFrame) -> list[str]:
    rows = _with_scale(rows)
    largest = rows[rows["n"] == 1000]
    plain = largest[largest["method"] == "cvs"]
    sentences = []
    for scale in ("standardised", "rescaled"):
        parts = []
        for design, p in DRAWN:
            here = plain[(plain["base"] == design) & (plain["p"] == p)].groupby("scale")["agreement"].mean()
            if scale in here.index:
                parts.append(f"{here[scale]:.0%} ({design}, p = {p}; {here['']:.0%} as drawn)")
        sentences.append(
            f"Not in the paper: with {SCALES[scale]} the order agrees with this share of the true arrows at n = 1000, a half "
            f"being chance: {', '.join(parts)}."
        )
    dense = rows[(rows["method"] == "cvs") & (rows["scale"] == "")]
    parts = []
    for design, p in [place for place in PLACES if place[0] != "sparse" and place[1] >= 100]:
        of_place = dense[(dense["base"] == design) & (dense["p"] == p)]
        refused, warned = int((of_place["problem"] != "").sum()), int((of_place["undecided"] > 0).sum())
        parts.append(f"{refused} refused and {warned} with undecided steps ({design}, p = {p})")
    sentences.append(
        "Not in the paper: float64 does not hold all data of the dense designs at p = 100 and more (†); of "
        f"{dense['replicate'].nunique()} data sets each, {', '.join(parts)}."
    )
    as_drawn = largest[largest["scale"] == ""]
    for name in VARIANTS[1:]:
        parts = []
        for design, p in DRAWN:
            here = (
                as_drawn[(as_drawn["base"] == design) & (as_drawn["p"] == p)].groupby("method")["dag_distance"].mean()
            )
            if name in here.index:
                parts.append(f"{here[name]:.1f} against {here['cvs']:.1f} ({design}, p = {p})")
        sentences.append(
            f"Not in the paper: {METHODS[name].label}, mean distance to the DAG at n = 1000 against tests at 1%: "
            f"{', '.join(parts)}."
        )
    return sentences


def present(rows: pd.DataFrame, folder: Path) -> list[Path]:
    """Two figures: what the order owes to the scale, and what the graph owes to the rules."""
    rows = _with_scale(rows)
    panels = {place: rows[(rows["base"] == place[0]) & (rows["p"] == place[1])] for place in DRAWN}
    scales = [
        Panel(
            f"{design}, p = {p}",
            here[here["method"] == "cvs"],
            "agreement",
            "true arrows along the order",
            (0, 1.02),
            (0.5, "chance"),
        )
        for (design, p), here in panels.items()
    ]
    rules = [
        Panel(f"{design}, p = {p}", here[here["scale"] == ""], "dag_distance", "mean distance to DAG")
        for (design, p), here in panels.items()
    ]
    labels = {
        name: METHODS[name].label.replace("CVS, ", "") if name != "cvs" else "tests at 1% (paper)" for name in VARIANTS
    }
    return [
        *lines(scales, SCALES, folder / "beyond-scales", columns=3, by="scale", title="CVS when scales say less"),
        *lines(rules, labels, folder / "beyond-rules", columns=3, title="CVS with other rules"),
    ]


BEYOND = Experiment(
    name="beyond",
    title="Beyond the figures: scales, rules for parents, more variables",
    tasks=tasks,
    run=run,
    present=present,
    claims=claims,
    table=table,
    replicated=True,
    settings=settings(VARIANTS),
    seconds=seconds,
)
