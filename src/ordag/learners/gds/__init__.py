"""Greedy search (GDS) over DAGs with equal error variances."""

from ordag.learners.gds.search import GdsResult, gds_score, gds_search

__all__ = ["GdsResult", "gds_score", "gds_search"]
