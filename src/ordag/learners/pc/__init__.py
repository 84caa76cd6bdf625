"""The PC algorithm: an equivalence class of DAGs by tests of conditional independence."""

from ordag.learners.pc.search import PcResult, pc_search

__all__ = ["PcResult", "pc_search"]
