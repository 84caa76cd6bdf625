"""Figure 3 (Section 4.2): error variances between 1 and 3, weights of at least 1, random graphs half as dense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordag.paper.experiment import Experiment
from ordag.paper.figure2 import ROWS, SHOWN, SIZES, failing, left_out, not_quick
from ordag.paper.grids import RIVALS, Grid, against, consistent, refusals
from ordag.paper.methods import measure, seconds, settings

if TYPE_CHECKING:
    import pandas as pd

GRID = Grid(
    name="figure3",
    title="Figure 3: heterogeneous error variances (Section 4.2)",
    design="heterogeneous",
    sizes=SIZES,
    rows=ROWS,
    shown=SHOWN,
    left_out=left_out,
    not_quick=not_quick,
)


def claims(rows: pd.DataFrame) -> list[str]:
    return [
        "The paper says that CVS consistently recovers the true graph with different error variances too; here its mean "
        f"distance to the DAG {consistent(rows, SIZES, 'cvs')}.",
        "The paper says that GDS, which assumes equal ones, still gets better with n; here its mean distance to the "
        f"DAG {consistent(rows, SIZES, 'gds')}. {against(rows, SIZES, 'gds')}. Where GDS searches on from its local optima "
        f"(kicks, not in the paper), {against(rows, SIZES, 'gds-kicks')}.",
        failing(rows, SIZES),
        *refusals(rows),
    ]


FIGURE3 = Experiment(
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
