"""Names of the paper's figures and tables in, the same made anew out: tables, pictures, and how they compare."""

from __future__ import annotations

from ordag.paper.authors import AUTHORS
from ordag.paper.beyond import BEYOND
from ordag.paper.experiment import Experiment, ReproductionError, Task
from ordag.paper.figure2 import FIGURE2
from ordag.paper.figure3 import FIGURE3
from ordag.paper.figure4 import FIGURE4
from ordag.paper.marks import MARKS
from ordag.paper.reproduction import Result, Step, reproduce
from ordag.paper.section2 import SECTION2
from ordag.paper.table1 import TABLE1

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (SECTION2, FIGURE2, FIGURE3, FIGURE4, TABLE1, MARKS, BEYOND, AUTHORS)
}
"""Every experiment by name, in the order of the paper, and then what goes past it."""

__all__ = ["EXPERIMENTS", "Experiment", "ReproductionError", "Result", "Step", "Task", "reproduce"]
