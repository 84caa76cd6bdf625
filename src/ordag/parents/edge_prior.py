"""The edge prior: every number of edges is as probable, and so are all graphs with as many edges."""

from __future__ import annotations

import math


def edge_price(n: int, absent: float, present: float) -> float:
    r"""What an edge costs in units of the log-likelihood: $\tfrac12 \log n + \log(\text{absent} / \text{present})$.

    `absent` and `present` are the pairs without and with an edge, or their shares; callers add what keeps both above zero.
    """
    return math.log(n) / 2.0 + math.log(absent / present)
