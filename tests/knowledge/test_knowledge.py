"""Knowledge: what it takes, what it refuses, and the masks that it becomes."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.knowledge import keeps, random_entries

from ordag import Cpdag, Dag
from ordag.errors import ColumnError, SettingError
from ordag.knowledge.knowledge import Knowledge

NAMES = list("abcdefg")


def test_the_record_is_plain_frozen_and_equal_by_value():
    entries = {"tiers": [["a", "b"], ["c"]], "required": [["a", "c"], ["a", "c"]], "roots": ["a"]}
    knowledge = Knowledge(**entries)
    assert knowledge == Knowledge(tiers=(("a", "b"), ("c",)), required=(("a", "c"),), roots=("a",))
    assert hash(knowledge) == hash(Knowledge.from_dict(entries))
    assert knowledge.to_dict() == {"tiers": [["a", "b"], ["c"]], "required": [["a", "c"]], "roots": ["a"]}
    assert knowledge.names == ("a", "b", "c")
    assert entries == {"tiers": [["a", "b"], ["c"]], "required": [["a", "c"], ["a", "c"]], "roots": ["a"]}
    with pytest.raises(AttributeError):
        knowledge.roots = ()
    assert Knowledge.of(knowledge) is knowledge
    assert Knowledge().to_dict() == {}


def test_text_is_understood_in_a_mapping():
    written = {"tiers": "a, b | c", "required": ["a -> c", ("b", "c")], "forbidden": "a → b, b -> a", "roots": ["a"]}
    knowledge = Knowledge.from_dict(written)
    assert knowledge.tiers == (("a", "b"), ("c",))
    assert knowledge.required == (("a", "c"), ("b", "c"))
    assert knowledge.forbidden == (("a", "b"), ("b", "a"))
    assert Knowledge.from_dict({"roots": ["a, b"]}).roots == ("a, b",)
    assert Knowledge.from_dict({"roots": "a, b", "sinks": None}).roots == ("a", "b")


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"required": [("a", "b"), ("b", "a")]}, "The required arrows a → b → a form a cycle."),
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, "a → b → c → a form a cycle"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "a → b is both required and forbidden."),
        ({"required": [("a", "b")], "roots": ["b"]}, "a → b is required, but b is a root, which has no parents."),
        ({"required": [("a", "b")], "sinks": ["a"]}, "a → b is required, but a is a sink, which has no children."),
        (
            {"tiers": [["a"], ["b"]], "required": [("b", "a")]},
            "required arrow leads from the later tier to the earlier: b → a",
        ),
        ({"tiers": [["a"], ["b"]], "required": [("b", "u"), ("u", "a")]}, "to the earlier: b → u → a"),
        ({"tiers": [["a"], ["b"], ["a"]]}, "a is in tier 1 and in tier 3."),
        ({"tiers": [["a"], []]}, "Tier 2 of the knowledge is empty"),
        ({"required": [("a", "a")]}, "The required arrow a → a leads from a variable to itself."),
        ({"forbidden": [("a", "a")]}, "The forbidden arrow a → a"),
        ({"required": [("a", "b", "c")]}, "is no arrow"),
        ({"roots": "a b"}, "single text"),
        ({"tiers": ["ab"]}, "single text"),
        ({"required": 5}, "give a list"),
    ],
)
def test_contradictions_name_the_rule_they_break(entries, sentence):
    with pytest.raises(SettingError) as error:
        Knowledge(**entries)
    assert sentence in str(error.value)


def test_unknown_entries_and_values_are_refused():
    with pytest.raises(SettingError, match="Did you mean 'required'"):
        Knowledge.from_dict({"require": []})
    with pytest.raises(SettingError, match="give a Knowledge, a mapping"):
        Knowledge.of(3)
    with pytest.raises(SettingError, match="is no arrow"):
        Knowledge.from_dict({"required": "a, b"})


def test_unknown_columns_come_with_close_matches():
    knowledge = Knowledge(roots=["heigth"], required=[("age", "weight")])
    with pytest.raises(ColumnError, match=r"names 'heigth'.* Did you mean 'height', 'weight'\?"):
        knowledge.over(["age", "height", "weight"])
    with pytest.raises(ColumnError, match=r"Did you mean 'height', 'heights'\?"):  # the two closest, not all
        knowledge.over(["age", "weight", "height", "heights"])


@given(seed=st.integers(0, 2**32 - 1))
def test_masks_are_what_the_entries_say(seed):
    rng = np.random.default_rng(seed)
    names = NAMES[: rng.integers(1, 8)]
    knowledge = Knowledge(**random_entries(names, rng))
    known = knowledge.over(names)
    tier = {name: k for k, group in enumerate(knowledge.tiers) for name in group}
    order = nx.DiGraph(knowledge.required)
    order.add_nodes_from(names)
    order.add_edges_from((a, b) for a in tier for b in tier if tier[a] < tier[b])
    certain = nx.transitive_closure_dag(order)
    banned = set(knowledge.forbidden)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            out = a == b or (a, b) in banned or b in knowledge.roots or a in knowledge.sinks or certain.has_edge(b, a)
            assert known.allowed[i, j] == (not out)
            assert known.required[i, j] == ((a, b) in knowledge.required)
            assert known.before[i, j] or not certain.has_edge(a, b)
            free = not certain.has_edge(b, a)
            if a in knowledge.roots and b not in knowledge.roots and a not in knowledge.sinks and free:
                assert known.before[i, j]
    both = nx.DiGraph([(i, j) for i, j in np.argwhere(known.before).tolist()])
    assert nx.is_directed_acyclic_graph(both)
    assert set(nx.transitive_closure_dag(both).edges) == set(both.edges)
    assert not (known.required & ~known.allowed).any()


@given(seed=st.integers(0, 2**32 - 1))
def test_violations_are_found_as_by_the_literal_check(seed):
    rng = np.random.default_rng(seed)
    names = NAMES[:4]
    knowledge = Knowledge(**random_entries(names, rng, arrows=0.1, bans=0.1, ends=0.1))
    graph = Cpdag(names, np.triu(rng.random((4, 4)) < 0.3, 1) | np.tril(rng.random((4, 4)) < 0.15, -1))
    closes_cycle = (graph.adjacency & ~knowledge.over(names).allowed).any()
    assert (knowledge.violations(graph) == ()) == (keeps(knowledge, names, graph.adjacency) and not closes_cycle)


def test_violations_say_which_edge():
    knowledge = Knowledge(required=[("a", "b")], sinks=["c"])
    assert knowledge.violations(Dag.from_edges(["a", "b", "c"], [("a", "b")])) == ()
    assert knowledge.violations(Dag.from_edges(["a", "b", "c"], [("c", "a")])) == (
        "c → a is ruled out",
        "a → b is required, and missing",
    )
    assert knowledge.violations(Cpdag.from_edges(["a", "b", "c"], [], [("a", "b")])) == (
        "b — a could be b → a, which is ruled out",
    )


def test_many_columns_are_no_trouble():
    names = [f"x{j}" for j in range(600)]
    tiers = [names[k : k + 20] for k in range(0, 600, 20)]
    known = Knowledge(tiers=tiers, roots=names[:20], sinks=names[-20:]).over(names)
    assert known.before.sum() == (600 * 600 - 30 * 400) // 2
    assert known.allowed.sum() == known.before.sum() + 28 * 20 * 19


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, -1])
def test_long_chains_of_required_arrows_are_no_trouble(step):
    names = [f"x{j}" for j in range(1501)]
    chain = list(pairwise(names[::step]))
    known = Knowledge(required=chain).over(names)
    assert known.before.sum() == 1501 * 1500 // 2
    with pytest.raises(SettingError, match=r"form a cycle"):
        Knowledge(required=[*chain, (chain[-1][1], chain[0][0])])
    with pytest.raises(SettingError, match=r"from the later tier to the earlier"):
        Knowledge(required=chain, tiers=[[chain[-1][1]], [chain[0][0]]])


def test_a_cycle_is_found_among_arrows_that_lead_to_it_and_away():
    with pytest.raises(SettingError, match="The required arrows c → d → c form a cycle"):
        Knowledge(required=map(tuple, ["ab", "bc", "cd", "dc", "de", "be"]))


def test_a_list_is_no_name():
    nested = ["a"]
    for _ in range(5000):
        nested = [nested]
    with pytest.raises(SettingError, match="There is a list as a name in roots"):
        Knowledge(roots=[nested])
