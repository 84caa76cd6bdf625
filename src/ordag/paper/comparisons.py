"""Methods compared as the number of rows grows: what Figures 2, 3 and 4 have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pandas as pd

from ordag.paper.drawing import Panel, lines
from ordag.paper.engine.experiment import Experiment, Task, means, where
from ordag.paper.methods import METHODS, measure, seconds, settings
from ordag.words import counted

RIVALS = ("cvs", "pc", "ges", "gds", "gds-kicks")
KINDS = {"dag_distance": "DAG", "class_distance": "class"}
SIZES = (20, 50)
ROWS = tuple(range(100, 1001, 100))
SHOWN = (100, 400, 700, 1000)
"""The numbers of variables and of rows in Figures 2 and 3, and which of them a table shows and a quick run has."""

REPLICATES = 100
KICKED = 10
"""Replicates of GDS with kicks at p = 50."""


def comparison(
    name: str,
    title: str,
    design: str,
    claims: Callable[[pd.DataFrame], list[str]],
    sizes: Sequence[int] = SIZES,
    row_counts: Sequence[int] = ROWS,
    shown: Sequence[int] = SHOWN,
    quick_replicates: int = 3,
) -> Experiment:
    """The experiment of a design at several p and n, with every method."""

    def every(replicates: int) -> list[Task]:
        return [
            Task(name, design, p, n, replicate, method)
            for replicate in range(replicates)
            for p in sizes
            for n in row_counts
            for method in RIVALS
        ]

    def tasks(quick: bool) -> list[Task]:
        found = [task for task in every(quick_replicates if quick else REPLICATES) if not left_out(task)]
        return [task for task in found if task.n in shown and not slow(task)] if quick else found

    def present(rows: pd.DataFrame, folder: Path) -> list[Path]:
        """A row of panels for every p: distance to the DAG, and to the class."""
        panels = [
            Panel(f"{kind}, p = {p}", where(rows, p=p), value, "mean Hamming distance")
            for p in sizes
            for value, kind in KINDS.items()
        ]
        labels = {method: METHODS[method].label for method in RIVALS}
        return lines(panels, labels, folder / name, columns=2, title=title)

    return Experiment(
        name=name,
        title=title,
        tasks=tasks,
        run=measure,
        present=present,
        claims=lambda rows: [*claims(rows), *refusals(rows)],
        table=lambda rows: table(rows, sizes, shown),
        complete_only=lambda: [task for task in every(REPLICATES) if left_out(task)],
        replicated=True,
        settings=settings(RIVALS),
        seconds=seconds,
    )


def slow(task: Task) -> bool:
    return task.p == 50 and task.method == "gds-kicks"


def left_out(task: Task) -> bool:
    """GDS with kicks, which the paper has not, takes longer at p = 50 than all the rest: every third n, few replicates."""
    return slow(task) and (task.n not in SHOWN or task.replicate >= KICKED)


def table(rows: pd.DataFrame, sizes: Sequence[int], shown: Sequence[int]) -> pd.DataFrame:
    """Mean distances with standard errors at some n."""
    found = []
    for value, kind in KINDS.items():
        every = means(rows, ["p", "method", "n"], value)
        for p in sizes:
            for name in RIVALS:
                points = where(every, p=p, method=name).set_index("n")
                if points.empty:
                    continue
                cells = {f"n = {n}": _cell(points, n) for n in shown}
                replicates = "–".join(map(str, sorted({points["count"].min(), points["count"].max()})))
                found.append({"to": kind, "p": p, "method": METHODS[name].label, **cells, "data sets": replicates})
    return pd.DataFrame(found)


def _cell(points: pd.DataFrame, n: int) -> str:
    """The mean at n with its standard error, from `means` indexed by n."""
    if n not in points.index:
        return "–"
    mean, error = float(points["mean"][n]), float(points["error"][n])
    return rounded(mean) + (f" ± {rounded(error, mean)}" if points["count"][n] > 1 else "")


def rounded(value: float, like: float | None = None) -> str:
    """With one digit after the point, or with none if it (or what it is to be written like) has three before."""
    return f"{value:.{1 if (value if like is None else like) < 99.95 else 0}f}"


def curve(rows: pd.DataFrame, p: int, method: str, value: str = "dag_distance") -> dict[int, float]:
    """Mean distance by n."""
    points = means(where(rows, p=p, method=method), ["n"], value)
    return dict(zip(points["n"].tolist(), points["mean"].tolist(), strict=True))


def course(points: dict[int, float]) -> str:
    """In words how a curve goes from its first n to its last."""
    n, values = list(points), list(points.values())
    if len(n) < 2:
        return f"is {values[0]:.1f} at n = {n[0]}" if n else "is not known"
    if max(values) - min(values) < 0.05:
        return f"stays at {values[0]:.1f}"
    rises = sum(later > earlier for earlier, later in pairwise(values))
    ends = f"from {values[0]:.1f} at n = {n[0]} to {values[-1]:.1f} at n = {n[-1]}"
    if values[-1] >= values[0]:
        return f"does not fall ({ends})"
    return f"falls {ends}" + (f", rising at {rises} of {len(n) - 1} steps" if rises else "")


def courses(rows: pd.DataFrame, method: str, sizes: Sequence[int] = SIZES) -> str:
    """How the mean distance to the DAG goes with n, for every p."""
    if len(sizes) == 1:
        return course(curve(rows, sizes[0], method))
    return ", and ".join(f"{course(curve(rows, p, method))} (p = {p})" for p in sizes)


def against(rows: pd.DataFrame, rival: str, sizes: Sequence[int] = SIZES) -> str:
    """Where CVS is on average at least as near to the truth as another method on the same data, for both distances."""
    points = clear = 0
    worse = []
    for value, kind in KINDS.items():
        for p in sizes:
            ours, theirs = (
                where(rows, p=p, method=name).set_index(["n", "replicate"])[value] for name in ("cvs", rival)
            )
            found = means((theirs - ours).rename("difference").reset_index(), ["n"], "difference")
            points += len(found)
            nearer = found[found["mean"] < 0]
            clear += int(((nearer["mean"] < -2 * nearer["error"]) & (nearer["count"] > 1)).sum())
            if len(nearer):
                which = "every n" if len(nearer) == len(found) else f"n = {', '.join(map(str, nearer['n']))}"
                worse.append(f"{kind}, p = {p}, {which}" if len(sizes) > 1 else f"{kind}, {which}")
    label = METHODS[rival].label
    if not worse:
        return f"CVS is at least as near to the truth as {label} at all {points} points"
    return (
        f"{label} is nearer to the truth than CVS in {len(worse)} of {2 * len(sizes)} panels ({'; '.join(worse)}), at "
        f"{clear} of {points} points by more than two standard errors"
    )


def failing(rows: pd.DataFrame) -> str:
    """How PC and GES do in Figures 2 and 3 at the largest n, beside the number of true edges."""
    parts = []
    for p in SIZES:
        edges = where(rows, p=p).drop_duplicates(["n", "replicate"])["true_edges"].mean()
        ends = [
            f"{METHODS[name].label} is {list(dag.values())[-1]:.0f} from the DAG and {list(of_class.values())[-1]:.0f} "
            "from the class"
            for name in ("pc", "ges")
            if (dag := curve(rows, p, name)) and (of_class := curve(rows, p, name, "class_distance"))
        ]
        parts.append(f"{' and '.join(ends)} at p = {p} ({edges:.0f} true edges)")
    return (
        "The paper says that PC and GES fail to recover both the graphs and the classes; here, at the largest n, "
        f"{', and '.join(parts)}; {against(rows, 'pc')}; {against(rows, 'ges')}."
    )


def refusals(rows: pd.DataFrame) -> list[str]:
    """A sentence on the data that a method refused, if there were any."""
    refused = rows[rows["problem"] != ""]
    counts = Counter(zip(refused["method"], refused["p"], refused["problem"], strict=True))
    return [
        f"{METHODS[method].label} refused {counted(count, 'data set')} at p = {p} ({problem}); the means are over the others."
        for (method, p, problem), count in sorted(counts.items())
    ]
