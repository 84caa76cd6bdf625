r"""Robustness values (Cinelli & Hazlett 2020): how strong a hidden common cause would have to be to explain a weight away.

In the regression of b on a and on other variables let $f = |t|/\sqrt{df}$ be the partial f of a. A hidden variable that explains the
share r of what the others leave of a, and the share r of what all of them leave of b, can bring the weight of a to zero if
$r^2/(1 - r) \ge f^2$ (their Section 4.2, q = 1). The least such r is the robustness value. It does not say that there is such a variable.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from ordag.arrays import Array, Mask
from ordag.graph.links import Links
from ordag.linalg import lengths


def robustness_value(f: Array) -> Array:
    r"""$\frac12(\sqrt{f^4 + 4f^2} - f^2)$ for every partial f, written as $2/(1 + \sqrt{1 + 4/f^2})$, which keeps all digits."""
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 / (1.0 + np.hypot(1.0, 2.0 / np.asarray(f))))


def effect_robustness(R: Array, links: Links, wanted: Mask) -> Array:
    """The robustness value of the effect of a on b at [a, b] where `wanted`, else nan.

    It is that of the weight of a in the regression of b on a and the parents of a, which no other path from a to b passes. R is the
    root of the scatter, and with u the part of its column a that is left by its parents, f is the length of the part of column b along
    u by the length of what all of them leave of it.
    """
    values = np.full(wanted.shape, np.nan)
    for a in np.flatnonzero(wanted.any(axis=1)).tolist():
        b = np.flatnonzero(wanted[a])
        Q, _ = qr(R[:, [*links.turned.row(a).tolist(), a]], mode="economic", check_finite=False)
        explained = Q.T @ R[:, b]
        with np.errstate(divide="ignore", invalid="ignore"):
            values[a, b] = robustness_value(np.abs(explained[-1]) / lengths(R[:, b] - Q @ explained))
    return values
