import io
import re
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import networkx
import numpy as np
import pandas
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import graph as oracles
from strategies.graphs import CONTROL_NAMES, NASTY_NAMES, PLAIN_NAMES, dags, names, partly_directed, with_weights

from ordag.errors import GraphError, GraphFormatError
from ordag.graph import Cpdag, Dag, format_of, read_text, write_text
from ordag.graph.formats import FORMATS, EdgeList
from ordag.graph.formats.lavaan import is_lavaan_name

EXACT = ["dot", "gml", "adjacency.csv", "json", "dagitty"]
CHAIN = Dag.from_edges(["a", "b", "c"], [("a", "b")])
MIXED = Cpdag.from_edges(["a", "b", "c", "d"], [("a", "b")], [("b", "c")])


@pytest.mark.parametrize("format", EXACT)
@given(st.data())
def test_round_trips_with_any_name(format, data):
    graph = data.draw(st.one_of(dags(names()), partly_directed(names())))
    assert type(graph).parse(write_text(graph, format), format) == graph


@given(st.one_of(dags(names(control=False)), partly_directed(names(control=False))))
def test_graphml_round_trips_with_any_name_that_xml_can_hold(graph):
    assert type(graph).parse(graph.to_graphml(), "graphml") == graph


@given(st.one_of(dags(names()), partly_directed(names())))
def test_an_edge_table_round_trips_up_to_the_order_of_the_nodes(graph):
    assume("" not in graph.nodes)
    assert type(graph).parse(graph.to_csv(), "csv").reorder(graph.nodes) == graph


r_names = st.from_regex(r"[A-Za-zé.][A-Za-z_.é][A-Za-z0-9_.]{0,3}", fullmatch=True).filter(is_lavaan_name)


@given(dags(st.lists(st.one_of(r_names, st.sampled_from(PLAIN_NAMES)), unique=True, max_size=5)))
def test_lavaan_round_trips(dag):
    assert Dag.parse(dag.to_lavaan(), "lavaan") == dag


@pytest.mark.slow
@pytest.mark.parametrize("format", list(FORMATS))
def test_each_nasty_name(format):
    """Written and read back, or refused with the name in the message; never something else."""
    for name in [*NASTY_NAMES, *CONTROL_NAMES]:
        dag = Dag.from_edges(["x", name, "alone"], [("x", name)])
        impossible = {
            "lavaan": not is_lavaan_name(name),
            "graphml": name == "\x0b" or (name in CONTROL_NAMES and name != "\x7f"),
            "csv": name == "",
        }
        if impossible.get(format):
            with pytest.raises(GraphFormatError) as caught:
                write_text(dag, format)
            assert name in str(caught.value) or repr(name) in str(caught.value)
        else:
            text = write_text(dag, format)
            assert Dag.parse(text, format).reorder(dag.nodes) == dag
            assert Dag.parse("\ufeff" + text, format).reorder(dag.nodes) == dag


@pytest.mark.slow
@pytest.mark.parametrize("format", [format for format in FORMATS if format != "tetrad"])
@given(st.data())
def test_weights_round_trip(format, data):
    dag = data.draw(dags())
    weights = data.draw(with_weights(dag))
    edges = read_text(write_text(dag, format, weights), format)
    expected = {(a, b): weights[dag.index(a), dag.index(b)] for a, b in dag.directed}
    assert edges.weights == expected
    assert set(edges.nodes) == set(dag.nodes)


@pytest.mark.parametrize("format", list(FORMATS))
@pytest.mark.parametrize("graph", [Dag.empty([]), Dag.empty(["a"]), Dag.empty(["b", "a"])])
def test_graphs_without_edges(format, graph):
    assert Dag.parse(write_text(graph, format), format) == graph
    p = len(graph.nodes)
    assert Dag.parse(write_text(graph, format, np.zeros((p, p))), format) == graph


@pytest.mark.parametrize("format", [format for format in FORMATS if format != "lavaan"])
def test_a_class_is_not_read_as_a_dag(format):
    text = write_text(MIXED, format)
    assert Cpdag.parse(text, format).reorder(MIXED.nodes) == MIXED
    with pytest.raises(GraphFormatError, match="not a Dag: b — c has no direction"):
        Dag.parse(text, format)


@pytest.mark.parametrize("format", list(FORMATS))
def test_cyclic_texts_are_refused(format):
    ring = Cpdag.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")])
    text = write_text(ring, format)
    assert Cpdag.parse(text, format) == ring
    with pytest.raises(GraphFormatError, match="not a Dag: the graph has a cycle: a → b → c → a"):
        Dag.parse(text, format)


def test_endings():
    for format, (endings, _, _) in FORMATS.items():
        for ending in endings:
            assert format_of("some/where" + ending.upper()) == format
            assert format_of(Path("x.y" + ending)) == format
    with pytest.raises(GraphFormatError, match=r"known endings: \.dot, \.gv, \.graphml"):
        format_of("graph.docx")
    with pytest.raises(GraphFormatError, match="there are dot, graphml"):
        write_text(CHAIN, "docx")
    with pytest.raises(GraphFormatError, match="there are dot, graphml"):
        Dag.parse("", "docx")


@given(dags(names(), max_size=4))
def test_dot_says_the_same_to_graphviz(dag):
    """Identifiers differ where names do, and what is drawn is the name, apart from control characters."""
    text = dag.to_dot()
    lines = text.split(";\n")[: len(dag.nodes)]
    drawn, identifiers = [], set()
    for line in lines:
        identifier = oracles.graphviz_strings(line)[0]
        identifiers.add(identifier)
        label = oracles.graphviz_strings(line)[1] if "[label=" in line[len(identifier) :] else identifier
        drawn.append(oracles.graphviz_drawn(label))
    assert len(identifiers) == len(dag.nodes)
    for name, shown in zip(dag.nodes, drawn, strict=True):
        assert shown == "".join(
            " " if (letter < " " and letter != "\n") or letter == "\x7f" else letter for letter in name
        )


@pytest.mark.parametrize("name", ["%", "% fat", "%5", "%\n"])
def test_dot_gives_no_identifier_that_graphviz_takes_for_a_number(name):
    dag = Dag.from_edges([name, "fat %"], [(name, "fat %")])
    assert '"%' not in re.sub(r'(label|ordag_name)="[^"]*"', "", dag.to_dot())
    assert '"fat %";' in dag.to_dot()
    assert Dag.parse(dag.to_dot(), "dot") == dag


def test_dot_has_no_markup():
    text = Dag.from_edges(["<b>x</b>", "{a|b}"], [("<b>x</b>", "{a|b}")]).to_dot()
    assert '"<b>x</b>" [label="\\<b\\>x\\</b\\>"]' in text
    assert '"{a|b}" [label="\\{a\\|b\\}"]' in text
    assert "label=<" not in text


@given(dags(names(), max_size=4))
def test_dagitty_lines_follow_its_grammar(dag):
    """A line is a variable or an edge; no variable has a name that DAGitty refuses, and all names differ."""
    lines = dag.to_dagitty().split("\n")
    assert (lines[0], *lines[-2:]) == ("dag {", "}", "")
    variables = []
    for line in lines[1 : 1 + len(dag.nodes)]:
        variable, place = oracles.dagitty_string(line, 0)
        variables.append(variable)
        rest = line[place:]
        if rest:
            assert rest.startswith(" [label=")
            _, place = oracles.dagitty_string(rest, len(" [label="))
            assert rest[place:].startswith(', ordag_name="')
            assert rest[place + len(', ordag_name="') :].rstrip('"]').replace("%", "").isascii()
    assert len(set(variables)) == len(dag.nodes)
    assert not {"graph", "node"} & set(variables)
    edges = []
    for line in lines[1 + len(dag.nodes) : -2]:
        source, place = oracles.dagitty_string(line, 0)
        assert line[place : place + 4] == " -> "
        target, place = oracles.dagitty_string(line, place + 4)
        assert place == len(line)
        edges.append((dag.nodes[variables.index(source)], dag.nodes[variables.index(target)]))
    assert tuple(edges) == dag.directed


@pytest.mark.slow
@given(dags(names(), max_size=4), st.data())
def test_networkx_reads_our_gml(dag, data):
    assume(not {"[]", "()"} & set(dag.nodes))  # which its reader turns into Python objects
    weights = data.draw(with_weights(dag))
    graph = networkx.parse_gml(dag.to_gml(weights))
    assert tuple(graph.nodes) == dag.nodes
    assert set(graph.edges) == set(dag.directed)
    assert all(graph.edges[edge]["weight"] == weights[dag.index(edge[0]), dag.index(edge[1])] for edge in graph.edges)


@given(dags(names(control=False), max_size=4))
def test_any_xml_reader_reads_our_graphml(dag):
    root = ElementTree.fromstring(dag.to_graphml())
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert [node.get("id") for node in root.iter(f"{space}node")] == list(dag.nodes)
    assert {(edge.get("source"), edge.get("target")) for edge in root.iter(f"{space}edge")} == set(dag.directed)


@pytest.mark.slow
@given(dags(names(), max_size=4))
def test_pandas_reads_our_tables(dag):
    assume(dag.nodes and "" not in dag.nodes and "\x00" not in "".join(dag.nodes))
    table = pandas.read_csv(
        io.StringIO(dag.to_csv(), newline=""), dtype=str, keep_default_na=False, lineterminator="\n"
    )
    rows = set(table.itertuples(index=False, name=None))
    alone = {(name, "") for name in dag.nodes if not dag.skeleton[dag.index(name)].any()}
    assert rows == set(dag.directed) | alone


def test_how_the_texts_look():
    assert CHAIN.to_csv() == "source,target\na,b\nc,\n"
    assert CHAIN.to_csv(np.full((3, 3), 0.5)) == "source,target,weight\na,b,0.5\nc,,\n"
    assert MIXED.to_csv() == "source,target,undirected\na,b,false\nb,c,true\nd,,\n"
    assert CHAIN.to_adjacency_csv() == ",a,b,c\na,0,1,0\nb,0,0,0\nc,0,0,0\n"
    assert CHAIN.to_json() == '{"nodes": ["a", "b", "c"], "directed": [["a", "b"]], "undirected": []}\n'
    assert CHAIN.to_dot() == 'digraph {\n  "a";\n  "b";\n  "c";\n  "a" -> "b";\n}\n'
    assert '"b" -> "c" [dir=none];' in MIXED.to_dot()
    assert CHAIN.to_dagitty() == 'dag {\n"a"\n"b"\n"c"\n"a" -> "b"\n}\n'
    assert MIXED.to_dagitty().startswith("pdag {")
    assert CHAIN.to_lavaan().split("\n", 1)[1] == "a ~~ a\nb ~~ b\nc ~~ c\nb ~ a\n"


def test_what_a_format_cannot_hold():
    with pytest.raises(GraphFormatError, match="lavaan has no undirected edges such as b — c"):
        MIXED.to_lavaan()
    with pytest.raises(GraphFormatError, match=r"rename a b, if, efa, _x, 2nd and \.\.1"):
        Dag.empty(["a b", "ok", "if", "efa", "_x", "2nd", "..1"]).to_lavaan()
    with pytest.raises(GraphFormatError, match=r"control characters; rename 'a.x00'"):
        Dag.empty(["a\x00"]).to_graphml()
    with pytest.raises(GraphFormatError, match="node without a name"):
        Dag.empty([""]).to_csv()
    with pytest.raises(GraphFormatError, match="a → b with weight 0"):
        CHAIN.to_adjacency_csv(np.zeros((3, 3)))
    with pytest.raises(GraphError, match="finite"):
        CHAIN.to_dot(np.full((3, 3), np.inf))
    with pytest.raises(GraphError, match="shape"):
        CHAIN.to_dot(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("format", "text", "directed", "undirected"),
    [
        ("dot", "strict digraph G { a -> {b c} -> d; /* x -> y */ e // z\n# z\n f:n [shape=box] }", "ab ac bd cd", ""),
        ("dot", "graph { a -- b -- c }", "", "ab bc"),
        ("dot", "digraph { rankdir=LR; node [shape=box]; edge [dir=none]; a -> b; b -> c [dir=back] }", "cb", "ab"),
        ("dot", 'digraph "x" { subgraph s { edge [dir=none] a -> b } "b" -> "c"+"" }', "bc", "ab"),
        ("dagitty", 'dag { bb="0,0,1,1" a [exposure,pos="0,1"]\n a -> b <- c; b -- d }', "ab cb", "bd"),
        ("dagitty", "a -> b\nb -> c", "ab bc", ""),
        (
            "gml",
            'Creator "x" graph [ node [ id 7 label "a" ] node [ id 2 label "b" ] edge [ source 7 target 2 ] ]',
            "",
            "ab",
        ),
        ("gml", "graph [ directed 1 node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]", "12", ""),
        ("csv", "weight,target,source\r\n0.5,b,a\r\n\r\n,,c\r\n", "ab", ""),
        ("csv", "source,target,undirected\na,b,TRUE\n", "", "ab"),
        ("adjacency.csv", '"",a,b\na,0, 1.0\nb,0,0', "ab", ""),
        ("json", '{"nodes": ["a", "b"], "edges": [{"source": "a", "target": "b", "weight": 2}]}', "ab", ""),
        ("lavaan", "b ~ 1 + 0.5*a +\n beta*c ; a ~~ a # x\n a ~~ 0*c ! y\n d + e ~ a", "ab cb ad ae", ""),
    ],
)
def test_texts_of_others(format, text, directed, undirected):
    edges = read_text(text, format)
    assert set(edges.directed) == {tuple(pair) for pair in directed.split()}
    assert set(edges.undirected) == {tuple(pair) for pair in undirected.split()}


def test_the_name_of_a_group_is_no_node():
    text = "digraph { subgraph s { a b } -> c; subgraph { d } }"
    assert read_text(text, "dot") == EdgeList(tuple("abcd"), (("a", "c"), ("b", "c")))


def test_graphml_of_others():
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="{}">'
    tail = '<node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
    assert read_text(head.format("directed") + tail, "graphml") == EdgeList(("a", "b"), (("a", "b"),))
    assert read_text(head.format("undirected") + tail, "graphml") == EdgeList(("a", "b"), (), (("a", "b"),))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("dot", "digraph { a -> }", "line 1: expected a name, found '}'"),
        ("dot", "digraph {\n a -> b", "line 2: expected a name, found the end"),
        ("dagitty", "a -> b -> ", "line 1: expected a name, found the end of the text"),
        ("dagitty", "dag { a -> }", "line 1: expected a name, found '}'"),
        ("dagitty", "a -> } b", "line 1: expected a name, found '}'"),
        ("dot", "digraph { a -- b }", "-> in a digraph"),
        ("dot", "digraph { a -> <b>x</b> }", "cannot read '<b>x"),
        ("dot", "digraph { a -> b [dir=both] }", "not 'both'"),
        ("dot", 'digraph { a -> b [coefficient="x"] }', "weight 'x' of a → b is not a number"),
        ("dot", 'digraph { a -> b [coefficient="nan"] }', "is nan"),
        ("dot", 'digraph { "a }', "cannot read '\"a }'"),
        ("dot", "tree { }", "expected 'digraph' or 'graph'"),
        ("dot", "digraph { } x", "expected the end"),
        ("dot", "digraph { a -> b a -> b }", "listed twice"),
        ("dot", "digraph " + "{" * 100_000, "nested too deeply"),
        ("dagitty", "mag { a -> b }", "a mag is neither"),
        ("dagitty", "dag { a <-> b }", "a <-> b: only ->"),
        ("dagitty", 'dag { "a\\" -> b }', "cannot read"),
        ("gml", "graph [ node [ label 3 ] ]", "node #0 has no 'id' attribute"),
        ("gml", "graph [ directed 1 edge [ source 1 target 2 ] ]", "edge #0 has undefined source 1"),
        ("gml", "graph [ node [ id 1 ] node [ id 1 ] ]", "node id 1 is duplicated"),
        ("gml", "graph [ node [ id [ ] ] ]", "not of the kind that belongs in its place"),
        ("gml", "graph [", r"expected '\]', found EOF"),
        ("gml", "graph [ node ]", r"expected an int, float, string or '\[', found '\]' at \(1, 14\)"),
        ("gml", "graph [ node [ id 1 label [ ] ] ]", "a label is a list in brackets"),
        ("gml", 'graph [ node [ id 1 label "a" ] node [ id 2 label "a" ] ]', "repeated: a"),
        ("gml", "graph [ multigraph 1 directed 1 ]", "two edges join the same pair"),
        ("gml", "", "input contains no graph"),
        ("graphml", "<graphml>", "not well-formed"),
        ("graphml", '<!DOCTYPE x [<!ENTITY a "aa">]><graphml/>', "DOCTYPE"),
        ("graphml", "<x/>", "GraphML: "),
        ("csv", "", "expected the columns source and target, found none"),
        ("csv", "from,to\na,b\n", "found 'from', 'to'"),
        ("csv", "source,target\na\n", "line 2: 1 cell under 2 columns"),
        ("csv", "source,target\n,b\n", "line 2: the source is empty"),
        ("csv", 'source,target\n"a"b,c\n', "line 2: "),
        ("csv", "source,target,weight\na,b,x\n", "line 2: 'x' is not a number"),
        ("csv", "source,target,undirected\na,b,maybe\n", "line 2: undirected is 'maybe'"),
        ("adjacency.csv", ",a,b\nb,0,0\na,0,0\n", "those above the columns"),
        ("adjacency.csv", ",a,b\na,0\nb,0,0\n", "line 2: 1 entry for 2 nodes"),
        ("adjacency.csv", ",a\na,x\n", "'x' is not a number"),
        ("adjacency.csv", ",a\na,1\n", "a has an edge to itself"),
        ("json", "{", "JSON: .*line 1 column 2"),
        ("json", "[]", "expected an object"),
        ("json", '{"nodes": [1]}', "list of strings"),
        ("json", '{"nodes": ["a"], "directed": [["a"]]}', r"item 0 of .directed. is \['a'\]"),
        ("json", '{"nodes": ["a"], "directed": {}}', "list of pairs"),
        ("json", '{"nodes": ["a"], "directed": [["a", "z"]]}', "unknown nodes: z"),
        ("json", '{"nodes": ["a", "b"], "directed": [["a", "b"]], "weights": []}', "one number for each"),
        ("json", '{"nodes": ["a", "b"], "directed": [["a", "b"]], "weights": [true]}', "is True, not a number"),
        ("json", '{"nodes": ["a", "b"], "directed": [["a", "b"]], "weights": [1e999]}', "is inf, not a number"),
        ("json", '{"nodes": ["a", "a"]}', "repeated: a"),
        ("json", '{"nodes": ["a"], "edges": [1]}', "list of objects"),
        ("json", "[" * 100_000, "nested too deeply"),
        ("lavaan", "f =~ x1 + x2", "f is a latent variable"),
        ("lavaan", "y ~ x z", "end of the line, found 'z'"),
        ("lavaan", "y ~ c(1, 2)*x", "cannot read"),
        ("lavaan", "y ~ f(1)*x", "only modifier"),
        ("lavaan", "x ~~ y", "the covariance x ~~ y is no arrow"),
        ("lavaan", "y ~ x +", "a variable before this"),
        ("lavaan", "1 ~ x", "expected a variable, found '1'"),
    ],
)  # fmt: skip
def test_malformed_texts(format, text, message):
    with pytest.raises(GraphFormatError, match=message):
        Dag.parse(text, format)


@pytest.mark.parametrize("format", list(FORMATS))
@given(st.data())
def test_damaged_texts_give_a_graph_or_the_one_error(format, data):
    text = write_text(CHAIN, format)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 8)))
    damaged = text[:start] + data.draw(st.text(max_size=3)) + text[end:]
    with suppress(GraphFormatError):
        assert isinstance(Cpdag.parse(damaged, format), Cpdag)


def test_a_graph_as_tetrad_writes_it():
    edges = "1. X1 --> X2 dd nl\n2. X2 --- X3 [X2 --- X3]:0.9;\n3. X4 <-- X3\n"
    text = f"Graph Nodes:\nX1;X2;X3;X4\n\nGraph Edges:\n{edges}\nGraph Attributes:\nBIC: -3.5\n"
    found = read_text(text, "tetrad")
    assert found.nodes == ("X1", "X2", "X3", "X4")
    assert (found.directed, found.undirected) == ((("X1", "X2"), ("X3", "X4")), (("X2", "X3"),))
    old = "Graph Nodes:\na,b\n\nGraph Edges:\n1. a --> b\n"
    assert read_text(old, "tetrad").directed == (("a", "b"),)
    assert write_text(Dag.from_edges(["a", "b"], [("a", "b")]), "tetrad") == old.replace(",", ";")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a --> b", "expected 'Graph Nodes:' in line 1"),
        ("Graph Nodes:\na;b\n", "has the sections"),
        ("Graph Nodes:\na;b\nGraph Edges:\n1. a o-> b\n", "o-> in line 4 leaves hidden causes open"),
        ("Graph Nodes:\na;b\nGraph Edges:\n1. a <-> b\n", "<-> in line 4"),
        ("Graph Nodes:\na;b\nGraph Edges:\n1. a --> c\n", "c in line 4 is not among the nodes"),
        ("Graph Nodes:\na;b\nGraph Edges:\na\n", "'a' in line 4 is no edge"),
    ],
)
def test_texts_that_are_no_graph_of_tetrad(text, message):
    with pytest.raises(GraphFormatError, match=message):
        read_text(text, "tetrad")


def test_a_json_key_that_stands_twice_is_refused():
    with pytest.raises(GraphFormatError, match="JSON: the key 'directed' stands twice"):
        read_text('{"nodes": ["a", "b"], "directed": [["a", "b"]], "directed": []}', "json")
