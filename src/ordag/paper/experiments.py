"""`EXPERIMENTS`: every figure, table and section that can be made anew. A new one is a file and a place here."""

from __future__ import annotations

from ordag.paper.authors_code import AUTHORS
from ordag.paper.beyond_the_figures import BEYOND
from ordag.paper.engine.experiment import Experiment
from ordag.paper.figure2 import FIGURE2
from ordag.paper.figure3 import FIGURE3
from ordag.paper.figure4 import FIGURE4
from ordag.paper.marks import MARKS
from ordag.paper.section2 import SECTION2
from ordag.paper.table1 import TABLE1

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (SECTION2, FIGURE2, FIGURE3, FIGURE4, TABLE1, MARKS, BEYOND, AUTHORS)
}
"""By name, in the order of the paper, and then what goes past it."""
