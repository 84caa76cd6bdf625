"""Ordering in, parents out: the rules, tests and corrections that can be chosen, by name."""

from ordag.parents.by_tests import CORRECTIONS
from ordag.parents.select import PARENT_RULES
from ordag.parents.tests import TESTS

__all__ = ["CORRECTIONS", "PARENT_RULES", "TESTS"]
