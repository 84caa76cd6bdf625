"""`ordag adjust`: what to hold fixed to estimate an effect."""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.answers import AS_JSON, PLOT, as_words, check_plot, print_answer, say_next, write_plot
from ordag.cli.help import ManualPage
from ordag.cli.options import DATA_OR_NONE, READING, inputs, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.decisions.adjusting import adjust as find_adjustment
from ordag.decisions.given_graph import title_of as title_of_graph
from ordag.saved import ENDING


@click.command(cls=ManualPage)
@click.argument("graph")
@DATA_OR_NONE
@click.option("--from", "source", required=True, help="Name of the cause.")
@click.option("--to", "target", required=True, help="Name of the effect.")
@click.option("--unmeasured", help="Variables of GRAPH that cannot be held fixed, separated by commas.")
@with_options(READING)
@PLOT
@AS_JSON
def adjust(
    graph: str,
    data: str | list[str] | None,
    source: str,
    target: str,
    unmeasured: str | None,
    plot: str | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Say which variables to hold fixed to estimate an effect in a graph.

    The answer lists the minimal sets of variables to hold fixed, the set with the most precise estimate, variables that must not be held
    fixed, and instruments. With DATA, or for a saved fit (.ordag), each set comes with its estimate, and --plot draws the first under
    hidden common causes of any strength. Where edges have no direction and no set serves the whole class, it lists the possible effects.
    GRAPH is as in ordag test.

    \b
    Examples
      ordag adjust model.dagitty --from smoke --to cancer
      ordag adjust model.dagitty data.csv --from smoke --to cancer
      ordag adjust model.dagitty data.csv --from smoke --to cancer --plot doubt.png
      ordag adjust answer.ordag --from smoke --to cancer --json
    """
    reading = take_reading(values)
    check_plot(plot, [("GRAPH", graph), *(inputs(data) if data else [])])
    hidden = [name.strip() for name in (unmeasured or "").split(",") if name.strip()]
    with Progress():
        found = find_adjustment(graph, source, target, data, unmeasured=hidden, **reading)
    write_plot(plot, found.plot)
    title = title_of_graph(graph) + (f" on {title_of(data)}" if data else "")
    if print_answer(found, title, as_json):
        ends = ("--from", source, "--to", target, *(["--unmeasured", unmeasured] if unmeasured else []))
        if found.sensitivity is not None and plot is None:
            command = ("adjust", graph, *as_words(data), *ends, "--plot", "doubt.png")
            say_next("the estimate under hidden causes", *command)
        elif data is None and graph.lower().endswith(ENDING):
            say_next("the effect where the graph is in doubt", "effect", graph, *ends[:4])
        elif data is None and found.rule.has_path:
            say_next("the estimates", "adjust", graph, "data.csv", *ends)
        elif data is None:
            say_next("whether the graph holds", "test", graph, "data.csv")
        elif data is not None and found.rule.unmeasured:
            say_next(
                "how strong the hidden cause would have to be",
                "effect",
                *as_words(data),
                *ends[:4],
                "--plot",
                "doubt.png",
            )
        elif data is not None:
            say_next("whether the graph holds", "test", graph, *as_words(data))
