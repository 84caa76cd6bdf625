"""Causal graphs of Gaussian linear structural equation models: order first, then the DAG.

>>> import ordag
>>> ordag.learn("marks", alpha=0.05).order
('algebra', 'vectors', 'analysis', 'statistics', 'mechanics')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ordag.data.moments import Moments
from ordag.errors import OrdagError, OrdagWarning, PrecisionWarning
from ordag.fit import Fit
from ordag.graph import Dag, hamming, shd
from ordag.learning import learn
from ordag.model import LinearSEM, identifiability, simulate

if TYPE_CHECKING:
    from ordag.learners.estimators import CVS

__version__ = "0.1.0"

__all__ = [
    "CVS",
    "Dag",
    "Fit",
    "LinearSEM",
    "Moments",
    "OrdagError",
    "OrdagWarning",
    "PrecisionWarning",
    "hamming",
    "identifiability",
    "learn",
    "shd",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """The estimators bring scikit-learn with them, so they are imported when first asked for."""
    if name == "CVS":
        from ordag.learners import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'ordag' has no attribute {name!r}")
