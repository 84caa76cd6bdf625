"""The experiments of Park & Kim: their figures and tables, computed again and compared with the paper."""

from __future__ import annotations

from ordag.paper.experiment import Experiment, ReproductionError, Task
from ordag.paper.reproduction import EXPERIMENTS, Result, Step, reproduce

__all__ = ["EXPERIMENTS", "Experiment", "ReproductionError", "Result", "Step", "Task", "reproduce"]
