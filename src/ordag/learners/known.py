"""A fit and what was known beforehand in, the fit that says what it owes to knowledge out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag
from ordag.knowledge.masks import Constraints, decided, verify


def informed(fit: Fit, known: Constraints | None) -> Fit:
    """The fit with what it owes to knowledge in its settings and details, after a check that it keeps to it."""
    if known is None:
        return fit
    verify(fit.graph, known)
    owed = decided(fit.graph, known)
    details = {
        **fit.details,
        "knowledge_arrows": [[fit.names[i], fit.names[j]] for i, j in np.argwhere(owed).tolist()],
    }
    if isinstance(fit.graph, Cpdag):
        details["restricted_by_knowledge"] = bool(owed.any())
    return replace(fit, settings={**fit.settings, "knowledge": dict(known.record)}, details=details)
