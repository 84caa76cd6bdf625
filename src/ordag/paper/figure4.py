"""Figure 4 (Section 4.3): three variables, two of them adjacent and yet independent given the third."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordag.paper.experiment import Experiment
from ordag.paper.grids import RIVALS, Grid, against, consistent, refusals
from ordag.paper.methods import measure, seconds, settings

if TYPE_CHECKING:
    import pandas as pd

SIZES = (3,)

GRID = Grid(
    name="figure4",
    title="Figure 4: a non-faithful model of three variables (Section 4.3)",
    design="nonfaithful",
    sizes=SIZES,
    rows=tuple(range(20, 201, 20)),
    shown=(20, 80, 140, 200),
    quick_replicates=10,
)


def claims(rows: pd.DataFrame) -> list[str]:
    return [
        "The paper says that CVS and GDS recover the graph, of three edges, without faithfulness; here the mean distance "
        f"to the DAG of CVS {consistent(rows, SIZES, 'cvs')}; that of GDS {consistent(rows, SIZES, 'gds')}; that of PC "
        f"{consistent(rows, SIZES, 'pc')}, and that of GES {consistent(rows, SIZES, 'ges')}.",
        "The paper says that CVS does better than the others on average; here "
        f"{'; '.join(against(rows, SIZES, rival) for rival in RIVALS[1:])}.",
        *refusals(rows),
    ]


FIGURE4 = Experiment(
    name=GRID.name,
    title=GRID.title,
    tasks=GRID.tasks,
    run=measure,
    present=GRID.present,
    claims=claims,
    table=GRID.table,
    replicated=True,
    settings=settings(RIVALS),
    seconds=seconds,
)
