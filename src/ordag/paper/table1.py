"""Table 1 (Section 4.4): run-times of CVS and GDS on the dense design with equal error variances."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd

from ordag.common.arrays import Array
from ordag.errors import OrdagError
from ordag.paper.comparisons import refusals
from ordag.paper.drawing import Panel, lines
from ordag.paper.experiment import Experiment, Rows, Task, where
from ordag.paper.simulations import METHODS, replicate_of, settings

SIZES = (20, 50, 80)
ROWS = tuple(range(100, 1001, 100))
REPLICATES = 100
REPEATS = {"cvs": 5, "gds": 1}

PAPER: dict[int, dict[str, tuple[float, ...]]] = {
    20: {
        "cvs": (0.63, 0.68, 0.72, 0.75, 0.83, 0.84, 0.90, 0.94, 1.01, 1.01),
        "gds": (233.21, 268.20, 302.58, 325.94, 355.60, 370.94, 396.83, 412.48, 436.60, 448.28),
    },
    50: {
        "cvs": (5.07, 5.74, 6.71, 7.24, 8.39, 8.61, 9.97, 10.16, 11.57, 11.62),
        "gds": (2617.53, 3504.60, 4284.35, 4832.54, 5734.61, 6109.63, 7047.25, 7517.26, 8234.65, 8695.12),
    },
    80: {"cvs": (17.01, 20.30, 24.76, 27.07, 32.18, 33.61, 39.48, 40.36, 46.70, 46.87)},
}
"""The paper's seconds by p and method, at n = 100, 200, …, 1000 (R on a Xeon E5-2650 v4 at 2.2 GHz)."""

CLAIMED = {20: 400, 50: 800}
"""How many times faster than GDS the paper says CVS is, by p."""


def tasks(quick: bool) -> list[Task]:
    rows = (100, 500, 1000) if quick else ROWS
    return [
        Task("table1", "homogeneous", p, n, replicate, "")
        for replicate in range(1 if quick else REPLICATES)
        for p in SIZES
        for n in rows
    ]


def run(task: Task) -> Rows:
    """Time both methods on the same data, from the rows to the graph. GDS is not run at p = 80, as in the paper.

    Times are CPU seconds of this thread, in which linear algebra runs too; for CVS, which is fast, the least of several. If
    a method refuses the data, the row has no seconds, and the class of the error under `problem`.
    """
    X = replicate_of(task).X
    METHODS["cvs"].learn(X[:, :2], task)  # so that imports on the first call are not timed
    return [{"method": name, **timed(name, X, task)} for name in PAPER[task.p]]


def timed(name: str, X: Array, task: Task) -> dict[str, Any]:
    times = []
    for _ in range(REPEATS[name]):
        start = time.thread_time()
        try:
            METHODS[name].learn(X, task)
        except OrdagError as error:
            return {"seconds": None, "problem": type(error).__name__}
        times.append(time.thread_time() - start)
    return {"seconds": min(times), "problem": ""}


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Tabulate mean seconds by p and n beside the paper's, and the ratio of GDS to CVS in both."""
    mean = rows.groupby(["p", "n", "method"])["seconds"].mean()
    found = []
    for p, paper in PAPER.items():
        for k, n in enumerate(ROWS):
            if (p, n, "cvs") not in mean.index:
                continue
            cvs, paper_cvs = float(mean[p, n, "cvs"]), paper["cvs"][k]
            row = {"p": p, "n": n, "CVS s": f"{cvs:.4f}", "GDS s": "–", "GDS / CVS": "–"}
            row |= {"paper: CVS s": f"{paper_cvs:.2f}", "paper: GDS s": "–", "paper: GDS / CVS": "–"}
            if "gds" in paper:
                gds, paper_gds = float(mean[p, n, "gds"]), paper["gds"][k]
                row |= {"GDS s": f"{gds:.3f}", "GDS / CVS": f"{gds / cvs:.0f}"}
                row |= {"paper: GDS s": f"{paper_gds:.2f}", "paper: GDS / CVS": f"{paper_gds / paper_cvs:.0f}"}
            found.append(row)
    return pd.DataFrame(found)


def claims(rows: pd.DataFrame) -> list[str]:
    mean = rows.groupby(["p", "method"])["seconds"].mean()
    sentences = []
    for p, claimed in CLAIMED.items():
        ratio, paper = mean[p, "gds"] / mean[p, "cvs"], sum(PAPER[p]["gds"]) / sum(PAPER[p]["cvs"])
        sentences.append(
            f"The paper says that CVS is about {claimed} times faster than GDS at p = {p} (its own mean seconds: {paper:.0f} "
            f"times); here it is {ratio:.0f} times, {mean[p, 'cvs']:.4f} s against {mean[p, 'gds']:.2f} s of CPU time, both "
            "in one thread and on the same data."
        )
    faster = {name: sum(PAPER[50][name]) / len(ROWS) / mean[50, name] for name in ("cvs", "gds")}
    sentences.append(
        f"Both are other programs than the paper's, on another machine: at p = 50 this CVS is {faster['cvs']:,.0f} times as "
        f"fast as the paper's, and this GDS, the same search with a table of all moves, {faster['gds']:,.0f} times."
    )
    cvs = sum(PAPER[80]["cvs"]) / len(ROWS)
    sentences.append(
        f"The paper says that CVS is feasible in large graphs ({cvs:.0f} s at p = 80, mean over n); here it takes "
        f"{mean[80, 'cvs']:.4f} s."
    )
    return [*sentences, *refusals(rows)]


def figures(rows: pd.DataFrame) -> dict[str, bytes]:
    """Draw our seconds and the paper's on a logarithmic scale."""
    paper = pd.DataFrame(
        [
            {"p": p, "n": n, "method": f"{name}, paper", "seconds": seconds}
            for p, methods in PAPER.items()
            for name, column in methods.items()
            for n, seconds in zip(ROWS, column, strict=True)
        ]
    )
    both = pd.concat([rows, paper])
    panels = [Panel(f"p = {p}", where(both, p=p), "seconds", "seconds", (1e-4, 3e4), logarithmic=True) for p in SIZES]
    labels = {"cvs": "CVS", "gds": "GDS", "cvs, paper": "CVS, paper", "gds, paper": "GDS, paper"}
    return lines(panels, labels, "table1", columns=3, title=TABLE1.title)


TABLE1 = Experiment(
    name="table1",
    title="Table 1: run-times on the homogeneous design (Section 4.4)",
    tasks=tasks,
    run=run,
    figures=figures,
    claims=claims,
    table=table,
    replicated=True,
    alone=True,
    settings=settings(("cvs", "gds")),
    seconds=lambda task: {20: 0.15, 50: 0.9, 80: 0.03}[task.p],
)
