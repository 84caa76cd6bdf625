"""Causal graphs of Gaussian linear structural equation models: order first, then the DAG.

>>> import ordag
>>> ordag.learn("marks").order
('algebra', 'vectors', 'analysis', 'statistics', 'mechanics')
"""

from typing import Any

import lazy_loader

__version__ = "0.1.0"

# A public name is imported when first used: SciPy and scikit-learn take longer to load than most answers.
_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_RENAMED = {"diagnose": "check", "total_effect": "effect", "total_effects": "effects"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        raise AttributeError(f"ordag.{name} is now ordag.{_RENAMED[name]}.")
    return _public(name)
