"""`ordag compare`: several methods side by side."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from ordag.cli.answers import AS_JSON
from ordag.cli.help import ManualPage, typed
from ordag.cli.options import (
    DATA_OR_NONE,
    READING,
    READING_NAMES,
    given,
    method_list,
    refuse_options,
    refuse_unused_level,
    setting_options,
    take_reading,
    title_of,
    with_options,
)
from ordag.cli.progress import Progress
from ordag.comparison import compare as compare_methods
from ordag.errors import ColumnWarning, OrdagError, PrecisionWarning, SettingError, UnreadableError
from ordag.graph.dag import Dag
from ordag.graph.formats import format_of
from ordag.learners.methods import METHODS, settings_of
from ordag.model.sem import LinearSEM
from ordag.model.simulate import simulate
from ordag.show.screen import Screen
from ordag.show.terminal import print_comparison


@click.command(cls=ManualPage)
@DATA_OR_NONE
@click.option("--methods", default=",".join(METHODS), show_default=True, help="Methods, separated by commas.")
@click.option(
    "--truth", type=click.Path(), help="The true graph: a file in a graph format, or a model from ordag simulate."
)
@click.option("--simulate", "design", help="Instead of DATA: rows drawn from this design, with its true graph.")
@click.option("-p", "--variables", "p", type=int, help="With --simulate: number of variables.")
@click.option("-n", "--rows", "n", default=1000, show_default=True, type=int, help="With --simulate: number of rows.")
@with_options(setting_options())
@with_options(READING)
@AS_JSON
def compare(
    data: str | list[str] | None,
    methods: str,
    truth: str | None,
    design: str | None,
    p: int | None,
    n: int,
    as_json: bool,
    **values: Any,
) -> None:
    """Learn from DATA with several methods, and compare their graphs.

    The answer has for every method its edges, score and time, the pairs that it shares with the others, and its distances to the
    true graph if given. The distance to the DAG counts the entries in which the adjacency matrices differ (a reversed arrow is
    two); the distance to the class does so for equivalence classes (an undirected edge is two entries).
    DATA is as in ordag learn, or left out for --simulate.

    \b
    Examples
      ordag compare marks --alpha 0.05
      ordag compare data.csv --methods cvs,ges --truth truth.dot
      ordag compare --simulate homogeneous -p 20 -n 1000 --seed 1
    """
    if design is None:
        refuse_options(["p", "n"], "has an effect only with --simulate: DATA has its own size")
    else:
        refuse_options(READING_NAMES, "has an effect only with DATA: what --simulate draws is not read")
    reading = take_reading(values)
    settings = given(values)
    source: Any
    if (data is None) == (design is None):
        raise SettingError("Give either DATA or --simulate DESIGN.")
    if design is not None:
        if truth is not None:
            raise SettingError("--simulate has its own true graph: leave --truth out.")
        drawn = simulate(design, p, n, settings.get("seed"))
        graph: Dag | None = drawn.dag
        source, description = drawn.X, f"{design} design"
    else:
        graph = None if truth is None else read_truth(Path(truth))
        source, description = data, "" if data is None else title_of(data)
    names = method_list(methods)
    if design is not None and not any("seed" in settings_of(name) for name in names if name in METHODS):
        settings.pop("seed", None)  # used for the rows
    if "pc" not in names:
        refuse_unused_level(settings)
    with warnings.catch_warnings(), Progress() as progress:
        warnings.simplefilter("ignore", PrecisionWarning)
        if not as_json:
            warnings.simplefilter("ignore", ColumnWarning)  # the answer says it
        comparison = compare_methods(source, names, truth=graph, progress=progress, **reading, **settings)
    if as_json:
        click.echo(comparison.to_json())
    else:
        print_comparison(comparison, Screen(typed), description)


def read_truth(path: Path) -> Dag:
    """Read a graph from a file: any graph format by its ending, or the JSON that `ordag simulate --truth` writes."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableError(f"The true graph cannot be read from {path}: {reason}.") from error
    if path.suffix.lower() == ".json":
        try:
            return LinearSEM.from_json(text).dag
        except OrdagError:
            pass
    return Dag.parse(text, format_of(path))
