"""Moments in, an equivalence class of DAGs out, by tests of conditional independence: the PC algorithm."""

from ordag.learners.pc.search import PcResult, pc_search

__all__ = ["PcResult", "pc_search"]
