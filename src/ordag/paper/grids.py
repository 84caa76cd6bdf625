"""Experiments that compare methods as the number of rows grows: what Figures 2, 3 and 4 have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ordag.paper.experiment import Task
from ordag.paper.methods import METHODS
from ordag.paper.panels import Panel, lines, means

if TYPE_CHECKING:
    import pandas as pd

RIVALS = ("cvs", "pc", "ges", "gds", "gds-kicks")
KINDS = {"dag_distance": "DAG", "class_distance": "class"}


@dataclass(frozen=True)
class Grid:
    """A design at several p and n, with every method, so many times. `left_out` are points for a complete run only."""

    name: str
    title: str
    design: str
    sizes: tuple[int, ...]
    rows: tuple[int, ...]
    shown: tuple[int, ...]
    replicates: int = 100
    quick_replicates: int = 3
    left_out: Callable[[Task], bool] = lambda task: False
    not_quick: Callable[[Task], bool] = lambda task: False

    def tasks(self, quick: bool) -> list[Task]:
        tasks = self._all(self.quick_replicates if quick else self.replicates)
        return [
            task
            for task in tasks
            if not self.left_out(task) and not (quick and (task.n not in self.shown or self.not_quick(task)))
        ]

    def extra(self) -> list[Task]:
        return [task for task in self._all(self.replicates) if self.left_out(task)]

    def _all(self, replicates: int) -> list[Task]:
        return [
            Task(self.name, self.design, p, n, replicate, method)
            for replicate in range(replicates)
            for p in self.sizes
            for n in self.rows
            for method in RIVALS
        ]

    def present(self, rows: pd.DataFrame, folder: Path) -> list[Path]:
        """A row of panels for every p: distance to the DAG, and to the class."""
        panels = [
            Panel(f"{kind}, p = {p}", rows[rows["p"] == p], value, "mean Hamming distance")
            for p in self.sizes
            for value, kind in KINDS.items()
        ]
        labels = {name: METHODS[name].label for name in RIVALS}
        return lines(panels, labels, folder / self.name, columns=2, title=self.title)

    def table(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Mean distances with standard errors at some n."""
        import pandas as pd

        found = []
        for value, kind in KINDS.items():
            every = means(rows, ["p", "method", "n"], value)
            for p in self.sizes:
                for name in RIVALS:
                    points = every[(every["p"] == p) & (every["method"] == name)].set_index("n")
                    if points.empty:
                        continue
                    cells = {f"n = {n}": shown(points, n) for n in self.shown}
                    counts = points["count"]
                    replicates = f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()}–{counts.max()}"
                    found.append({"to": kind, "p": p, "method": METHODS[name].label, **cells, "data sets": replicates})
        return pd.DataFrame(found)


def shown(points: pd.DataFrame, n: int) -> str:
    """The mean at n with its standard error, from `means` indexed by n."""
    if n not in points.index:
        return "–"
    mean, error = float(points["mean"][n]), float(points["error"][n])
    digits = 1 if mean < 99.95 else 0
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if points["count"][n] > 1 else f"{mean:.{digits}f}"


def curve(rows: pd.DataFrame, p: int, method: str, value: str = "dag_distance") -> dict[int, float]:
    """Mean distance by n."""
    points = means(rows[(rows["p"] == p) & (rows["method"] == method)], ["n"], value)
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


def consistent(rows: pd.DataFrame, sizes: Sequence[int], method: str) -> str:
    """How the mean distance to the DAG goes with n, for every p."""
    if len(sizes) == 1:
        return course(curve(rows, sizes[0], method))
    return ", and ".join(f"{course(curve(rows, p, method))} (p = {p})" for p in sizes)


def against(rows: pd.DataFrame, sizes: Sequence[int], rival: str) -> str:
    """Where CVS is on average at least as near to the truth as another method on the same data, for both distances."""
    points = clear = 0
    worse = []
    for value, kind in KINDS.items():
        for p in sizes:
            ours, theirs = (
                rows[(rows["p"] == p) & (rows["method"] == name)].set_index(["n", "replicate"])[value]
                for name in ("cvs", rival)
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


def refusals(rows: pd.DataFrame) -> list[str]:
    """A sentence on the data that a method refused, if there were any."""
    refused = rows[rows["problem"] != ""]
    counts = Counter(zip(refused["method"], refused["p"], refused["problem"], strict=True))
    return [
        f"{METHODS[method].label} refused {count} data sets at p = {p} ({problem}); the means are over the others."
        for (method, p, problem), count in sorted(counts.items())
    ]
