"""Do a few rows decide the graph?"""

from __future__ import annotations

import math

import numpy as np

from ordag.arrays import Array
from ordag.diagnosis.baseline import Baseline
from ordag.evidence.finding import Finding
from ordag.evidence.influence import distances, tail
from ordag.words import chance, counted, share


def influence_finding(baseline: Baseline, rows: Array, alpha: float) -> Finding:
    """Rows too far out for Gaussian data (Bonferroni over rows), and what is learned without the farthest 1 %."""
    n, p = rows.shape
    d2 = distances(rows)
    outside = int((tail(d2, n, p) * n < alpha).sum())
    p_value = min(1.0, float(tail(d2.max(), n, p)) * n)
    left_out = math.ceil(n / 100)
    stay = np.sort(np.argsort(d2, kind="stable")[: n - left_out])
    kept = baseline.compare(baseline.again(baseline.table_of(rows[stay])).graph.adjacency)
    total = float(d2[d2 >= np.partition(d2, n - left_out)[n - left_out]].sum() / d2.sum())
    numbers = {
        "outside": outside,
        "largest": float(d2.max()),
        "p_value": p_value,
        "left_out": left_out,
        "weight": total,
        **kept._asdict(),
    }
    rest = f"without the {counted(left_out, 'row')} farthest out {share(kept.kept)} of the arrows stay"
    level = kept.level if kept.level != "fine" or not outside else "look"
    if not outside:
        return Finding("influence", level, f"No row lies too far out ({chance(p_value)}); {rest}.", numbers)
    which = f"{counted(outside, 'row')} {'lies' if outside == 1 else 'lie'}"
    return Finding("influence", level, f"{which} farther out than Gaussian rows would; {rest}.", numbers)
