"""Structural equation models: their fit, their moments, their data, their identifiability."""

from ordag.model.designs import DESIGNS, Design
from ordag.model.identifiability import Identifiability, identifiability, loh_buhlmann_bound, park_kim_bound
from ordag.model.refit import Refit, refit
from ordag.model.sem import LinearSEM
from ordag.model.simulate import Simulation, simulate

__all__ = [
    "DESIGNS",
    "Design",
    "Identifiability",
    "LinearSEM",
    "Refit",
    "Simulation",
    "identifiability",
    "loh_buhlmann_bound",
    "park_kim_bound",
    "refit",
    "simulate",
]
