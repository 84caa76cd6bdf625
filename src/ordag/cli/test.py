"""`ordag test`: does a graph hold in a table?"""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.answers import AS_JSON, as_words, print_answer, say_next
from ordag.cli.help import ManualPage
from ordag.cli.options import DATA, READING, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.decisions.given_graph import title_of as title_of_graph
from ordag.decisions.testing import MOST_COMPARED
from ordag.decisions.testing import test as test_graph


@click.command(cls=ManualPage)
@click.argument("graph")
@DATA
@click.option(
    "--level", default=0.05, show_default=True, type=float, help="Level of the tests, corrected for their number."
)
@click.option(
    "--split",
    is_flag=True,
    help="GRAPH is a saved fit (.ordag): learn it again from half of the rows, drawn at random, and test it on the other half.",
)
@click.option(
    "--compare/--no-compare",
    default=None,
    help=f"Learn a graph from DATA to compare the BIC, or not; by default up to {MOST_COMPARED} variables.",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Seed of the random graphs and of --split.")
@with_options(READING)
@AS_JSON
def test(
    graph: str,
    data: str | list[str],
    level: float,
    split: bool,
    compare: bool | None,
    seed: int,
    as_json: bool,
    **values: Any,
) -> None:
    """Test whether a graph holds in DATA.

    Every pair that the graph does not join is a claim: the two are independent given the parents of the later one. The answer lists the
    claims that DATA contradict, the arrows that DATA do not need, the fit as a whole (χ², RMSEA), and the single change that would mend
    most. To show how much the graph says, its variables are also mixed up at random. GRAPH is a saved fit (.ordag), a file of a graph
    (.dot .graphml .gml .adjacency.csv .csv .json .lavaan .dagitty .tetrad), or its text in the language of DAGitty, DOT or lavaan.
    DATA is as in ordag learn; columns that are not in GRAPH are ignored.

    \b
    Examples
      ordag test model.dagitty data.csv
      ordag test "smoke -> tar -> cancer <- gene -> smoke" data.csv
      ordag test model.lavaan data.csv --json
      ordag test answer.ordag data.csv --split
    """
    reading = take_reading(values)
    with Progress():
        found = test_graph(graph, data, level=level, split=split, compare=compare, seed=seed, **reading)
    if print_answer(found, f"{title_of_graph(graph)} on {title_of(data)}", as_json):
        ends = found.graph.directed[:1] or found.graph.undirected[:1] or (found.graph.nodes[:2],)
        pair = ("--from", ends[0][0], "--to", ends[0][1])
        say_next("what to hold fixed for an effect", "adjust", graph, *as_words(data), *pair)
