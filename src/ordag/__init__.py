"""Causal graphs of Gaussian linear structural equation models: order first, then the DAG.

>>> import ordag
>>> ordag.learn("marks").order
('algebra', 'vectors', 'analysis', 'statistics', 'mechanics')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordag.bootstrapping import bootstrap as bootstrap
    from ordag.comparison import compare as compare
    from ordag.data.moments import Moments as Moments
    from ordag.diagnosis.diagnosis import diagnose as diagnose
    from ordag.effects import total_effect as total_effect
    from ordag.effects import total_effects as total_effects
    from ordag.errors import OrdagError as OrdagError
    from ordag.errors import OrdagWarning as OrdagWarning
    from ordag.errors import PrecisionWarning as PrecisionWarning
    from ordag.estimators import CVS as CVS
    from ordag.estimators import GDS as GDS
    from ordag.estimators import GES as GES
    from ordag.estimators import PC as PC
    from ordag.estimators import Pooled as Pooled
    from ordag.fit import Fit as Fit
    from ordag.graph import Cpdag as Cpdag
    from ordag.graph import Dag as Dag
    from ordag.graph import hamming as hamming
    from ordag.graph import shd as shd
    from ordag.knowledge.knowledge import Knowledge as Knowledge
    from ordag.learning import learn as learn
    from ordag.learning import refit as refit
    from ordag.model.identifiability import identifiability as identifiability
    from ordag.model.sem import LinearSEM as LinearSEM
    from ordag.model.simulate import simulate as simulate

__version__ = "0.1.0"

_HOME = {
    "CVS": "ordag.estimators",
    "Cpdag": "ordag.graph",
    "Dag": "ordag.graph",
    "Fit": "ordag.fit",
    "GDS": "ordag.estimators",
    "GES": "ordag.estimators",
    "Knowledge": "ordag.knowledge.knowledge",
    "LinearSEM": "ordag.model.sem",
    "Moments": "ordag.data.moments",
    "OrdagError": "ordag.errors",
    "OrdagWarning": "ordag.errors",
    "PC": "ordag.estimators",
    "Pooled": "ordag.estimators",
    "PrecisionWarning": "ordag.errors",
    "bootstrap": "ordag.bootstrapping",
    "compare": "ordag.comparison",
    "diagnose": "ordag.diagnosis.diagnosis",
    "hamming": "ordag.graph",
    "identifiability": "ordag.model.identifiability",
    "learn": "ordag.learning",
    "refit": "ordag.learning",
    "shd": "ordag.graph",
    "simulate": "ordag.model.simulate",
    "total_effect": "ordag.effects",
    "total_effects": "ordag.effects",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    """A public name is imported when first used: SciPy and scikit-learn take longer to load than most answers."""
    if name not in _HOME:
        raise AttributeError(f"module 'ordag' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
