"""Causal graphs of Gaussian linear structural equation models: order first, then the DAG.

>>> import ordag
>>> ordag.learn("marks").order
('algebra', 'vectors', 'analysis', 'statistics', 'mechanics')
"""

import lazy_loader

__version__ = "0.1.0"

# A public name is imported when first used: SciPy and scikit-learn take longer to load than most answers.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
