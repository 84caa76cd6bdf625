"""Graphs, their equivalence classes, their text formats, and the distances between them."""

from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag, d_separated
from ordag.graph.distances import hamming, shd
from ordag.graph.equivalence import (
    class_size,
    enumerate_class,
    extend,
    to_cpdag,
    v_structures,
)
from ordag.graph.formats import format_of, read_text, write_text
from ordag.graph.partly_directed import meek

__all__ = [
    "Cpdag",
    "Dag",
    "class_size",
    "d_separated",
    "enumerate_class",
    "extend",
    "format_of",
    "hamming",
    "meek",
    "read_text",
    "shd",
    "to_cpdag",
    "v_structures",
    "write_text",
]
