"""Figure 2 (Section 4.1): equal error variances, dense random graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordag.paper.experiment import Experiment, Task
from ordag.paper.grids import RIVALS, Grid, against, consistent, curve, refusals
from ordag.paper.methods import METHODS, measure, seconds, settings

if TYPE_CHECKING:
    import pandas as pd

SIZES = (20, 50)
ROWS = tuple(range(100, 1001, 100))
SHOWN = (100, 400, 700, 1000)


KICKED = 10
"""Replicates of GDS with kicks at p = 50."""


def left_out(task: Task) -> bool:
    """The searches over DAGs at p = 50 take longer than all the rest: every third n, and with kicks few replicates."""
    if task.p < 50 or not task.method.startswith("gds"):
        return False
    return task.n not in SHOWN or (task.method == "gds-kicks" and task.replicate >= KICKED)


def not_quick(task: Task) -> bool:
    return task.p == 50 and task.method == "gds-kicks"


GRID = Grid(
    name="figure2",
    title="Figure 2: homogeneous error variances (Section 4.1)",
    design="homogeneous",
    sizes=SIZES,
    rows=ROWS,
    shown=SHOWN,
    left_out=left_out,
    not_quick=not_quick,
)


def claims(rows: pd.DataFrame) -> list[str]:
    return [
        "The paper says that CVS and GDS consistently recover the true graph; here the mean distance to the DAG of CVS "
        f"{consistent(rows, SIZES, 'cvs')}; that of GDS {consistent(rows, SIZES, 'gds')}.",
        "The paper says that CVS outperforms GDS on average, even with equal error variances; here "
        f"{against(rows, SIZES, 'gds')}.",
        "The paper puts that down to GDS's greedy search; here, where GDS searches on from its local optima (kicks, not "
        f"in the paper), {against(rows, SIZES, 'gds-kicks')}.",
        failing(rows, SIZES),
        *refusals(rows),
    ]


def failing(rows: pd.DataFrame, sizes: tuple[int, ...]) -> str:
    """How PC and GES do at the largest n, beside the number of true edges."""
    parts = []
    for p in sizes:
        edges = rows[rows["p"] == p].drop_duplicates(["n", "replicate"])["true_edges"].mean()
        ends = [
            f"{METHODS[name].label} is {list(dag.values())[-1]:.0f} from the DAG and {list(of_class.values())[-1]:.0f} "
            "from the class"
            for name in ("pc", "ges")
            if (dag := curve(rows, p, name)) and (of_class := curve(rows, p, name, "class_distance"))
        ]
        parts.append(f"{' and '.join(ends)} at p = {p} ({edges:.0f} true edges)")
    return (
        "The paper says that PC and GES fail to recover both the graphs and the classes; here, at the largest n, "
        f"{', and '.join(parts)}; {against(rows, sizes, 'pc')}; {against(rows, sizes, 'ges')}."
    )


FIGURE2 = Experiment(
    name=GRID.name,
    title=GRID.title,
    tasks=GRID.tasks,
    run=measure,
    present=GRID.present,
    claims=claims,
    table=GRID.table,
    extra=GRID.extra,
    replicated=True,
    settings=settings(RIVALS),
    seconds=seconds,
)
