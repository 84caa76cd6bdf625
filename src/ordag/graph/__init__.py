"""Graphs, their equivalence classes, their text formats, and the distances between them."""

from ordag.graph.cpdag import Cpdag, extend, to_cpdag
from ordag.graph.dag import Dag
from ordag.graph.distances import hamming, shd
from ordag.graph.formats import format_of, read_text, write_text
from ordag.graph.partly_directed import meek

__all__ = ["Cpdag", "Dag", "extend", "format_of", "hamming", "meek", "read_text", "shd", "to_cpdag", "write_text"]
