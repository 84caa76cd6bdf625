"""Names of the paper's figures and tables in, the same made anew out: tables, pictures, and how they compare."""

from __future__ import annotations

from ordag.paper.engine.experiment import Experiment, ReproductionError, Task
from ordag.paper.experiments import EXPERIMENTS
from ordag.paper.reproduction import Result, Step, reproduce

__all__ = ["EXPERIMENTS", "Experiment", "ReproductionError", "Result", "Step", "Task", "reproduce"]
