"""Figure 2 (Section 4.1): equal error variances, dense random graphs."""

from __future__ import annotations

import pandas as pd

from ordag.paper.comparisons import against, comparison, courses, failing


def claims(rows: pd.DataFrame) -> list[str]:
    return [
        "The paper says that CVS and GDS consistently recover the true graph; here the mean distance to the DAG of CVS "
        f"{courses(rows, 'cvs')}; that of GDS {courses(rows, 'gds')}.",
        "The paper says that CVS outperforms GDS on average, even with equal error variances; here "
        f"{against(rows, 'gds')}.",
        "The paper puts that down to GDS's greedy search; here, where GDS searches on from its local optima (kicks, not "
        f"in the paper), {against(rows, 'gds-kicks')}.",
        failing(rows),
    ]


FIGURE2 = comparison("figure2", "Figure 2: homogeneous error variances (Section 4.1)", "homogeneous", claims)
