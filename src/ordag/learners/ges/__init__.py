"""Greedy equivalence search (GES) over equivalence classes of DAGs."""

from ordag.learners.ges.search import GesResult, GesStep, ges_search

__all__ = ["GesResult", "GesStep", "ges_search"]
