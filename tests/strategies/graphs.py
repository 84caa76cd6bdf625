"""Graphs and node names for hypothesis, the nasty ones on purpose."""

import numpy as np
from hypothesis import strategies as st

from ordag.graph import Cpdag, Dag, to_cpdag

NASTY_NAMES = [
    *["", " ", "a b", " lead", "trail ", "node", "graph", "edge", "digraph", "subgraph", "strict", "Node", "efa"],
    *['"', '""', "it's", 'say "hi"', "\\", "\\\\", "a\\", '\\"', "\\n", "\\N", "\\G", "C:\\new", "%5C", "node_0"],
    *["a\nb", "\n", "\r", "c\r", "a\r\nb", "\t", "tab\there", "a\x85b", "a\u2028b", "\x0b", "\xa0", "\ufeffbom"],
    *["a,b", "a;b", ",", "=1+1", "@x", "-1", "1", "01", "1.5", "1e5", "2nd", "nan", "true", "source", "target"],
    *["<b>bold</b>", "<>", "&amp;", "&lt;", "&#65;", "&", "]]>", "<!--", "<!DOCTYPE x>", "{a|b}", "|", "[x]"],
    *["[]", "()", "a -> b", "a--b", "x ~ y", "# no", "! no", "// no", "/* no */", "a:b", "a+b", "größe", "变量"],
    *["🙂", "é", "é", "NA", "TRUE", "if", "...", "..1", ".1", "_a", "a.b", "_networkx_list_start", "ordag_name"],
    *["% fat", "%", "100 %", "a\u202eb", "\u2066x\u2069", "عمر", "גיל"],
]
CONTROL_NAMES = ["\x00", "a\x00b", "\x01", "\x1b[31m", "\x7f", "\x1f"]
PLAIN_NAMES = [f"x{i}" for i in range(1, 9)]

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
special = st.text(st.sampled_from("ab\\\"&<>{}|;,:=-+*[]()#%~ \t\n\r'é"), max_size=6)
xml_text = st.text(
    st.one_of(
        st.sampled_from("\t\n\r"),
        st.characters(min_codepoint=32, exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"),
    ),
    max_size=6,
)


def names(*, control=True, size=5):
    """Lists of different names; without `control`, only such as XML can hold."""
    pool = [name for name in NASTY_NAMES if control or "\x0b" not in name]
    free = [anything, special, st.sampled_from(CONTROL_NAMES)] if control else [xml_text, special]
    return st.lists(st.one_of(st.sampled_from(pool), *free), unique=True, max_size=size)


@st.composite
def acyclic(draw, p):
    """The adjacency of a DAG on p nodes, in no particular order."""
    bits = draw(st.lists(st.booleans(), min_size=p * (p - 1) // 2, max_size=p * (p - 1) // 2))
    upper = np.zeros((p, p), dtype=bool)
    upper[np.triu_indices(p, 1)] = bits
    order = draw(st.permutations(range(p)))
    return upper[np.ix_(order, order)]


@st.composite
def dags(draw, node_names=None, min_size=0, max_size=5):
    nodes = draw(st.integers(min_size, max_size).map(lambda p: PLAIN_NAMES[:p]) if node_names is None else node_names)
    return Dag(nodes, draw(acyclic(len(nodes))))


@st.composite
def partly_directed(draw, node_names=None, max_size=5):
    """Any graph of directed and undirected edges, usually the class of nothing."""
    nodes = draw(st.integers(0, max_size).map(lambda p: PLAIN_NAMES[:p]) if node_names is None else node_names)
    p = len(nodes)
    bits = draw(st.lists(st.booleans(), min_size=p * p, max_size=p * p))
    adjacency = np.array(bits, dtype=bool).reshape(p, p)
    np.fill_diagonal(adjacency, False)
    return Cpdag(nodes, adjacency)


def classes(max_size=5):
    return dags(max_size=max_size).map(to_cpdag)


def with_weights(graph):
    """A weight for each arrow of the graph, among them some that are hard to print."""
    p = len(graph.nodes)
    number = st.one_of(
        st.floats(allow_nan=False, allow_infinity=False).filter(bool),
        st.sampled_from([1.0, -1.0, 1e-300, 1e300, 5e-324, 0.1, 1 / 3]),
    )
    return st.lists(number, min_size=p * p, max_size=p * p).map(lambda values: np.reshape(values, (p, p)))
