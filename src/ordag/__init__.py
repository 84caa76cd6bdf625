"""Causal graphs of Gaussian linear structural equation models: order first, then the DAG."""

__version__ = "0.1.0"
