"""`ordag learn`: the graph behind a table."""

from __future__ import annotations

import warnings
from typing import Any

import click

from ordag.cli.options import (
    DATA,
    READING,
    SCHEDULER,
    Progress,
    given,
    refuse_options,
    refuse_unused_level,
    setting_options,
    take_reading,
    title_of,
    with_options,
)
from ordag.errors import OutputError, PrecisionWarning
from ordag.files import write_whole
from ordag.fit import Fit
from ordag.learners.methods import AUTO, METHODS
from ordag.learning import learn as learn_graph
from ordag.show.export import check_ending, content, endings
from ordag.show.files import check_outputs
from ordag.show.page import ENDINGS, page
from ordag.show.screen import Screen
from ordag.show.terminal import print_fit
from ordag.words import harmless, shown


@click.command()
@DATA
@click.option("--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn.")
@with_options(setting_options(also={"seed": "--bootstrap: for the same samples again."}))
@click.option(
    "--bootstrap", type=click.IntRange(min=2), help="Learn again from this many resamples: support of each arrow."
)
@click.option("--workers", type=click.IntRange(min=1), help="--bootstrap: processes to use, all cores unless given.")
@SCHEDULER
@click.option(
    "--forecast",
    type=click.IntRange(min=1),
    help="Simulated tables for what the verdict expects to be wrong; about a second's worth unless given.",
)
@with_options(READING)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option(
    "--out",
    multiple=True,
    type=click.Path(dir_okay=False),
    help=f"Also write a file, by its ending: {' '.join(endings())}. May be repeated.",
)
@click.option("--report", type=click.Path(dir_okay=False), help="Also write a page for a browser.")
@click.pass_context
def learn(
    context: click.Context,
    /,
    data: str | list[str],
    method: str,
    bootstrap: int | None,
    workers: int | None,
    scheduler: str | None,
    forecast: int | None,
    as_json: bool,
    out: tuple[str, ...],
    report: str | None,
    **values: Any,
) -> None:
    """Learn the causal graph behind DATA.

    DATA is a CSV or Parquet file, a folder of Parquet files, - for a table on standard input, or the name of a built-in data
    set: marks (88 students, 5 exams) or sachs (853 cells, 11 proteins).

    METHODS. auto takes pooled up to 100 variables and cvs with --parents adaptive beyond; a
    setting of another method, such as --alpha, takes that.

    \b
    Examples
      ordag learn marks
      ordag learn marks --method cvs --alpha 0.05
      ordag learn data.csv --columns height,weight,age --json
      ordag learn wide.parquet --correction bh --out graph.graphml
      ordag learn export.csv --separator ";" --decimal "," --missing drop
      ordag learn data.csv --method ges --orient-by-order
      ordag learn data.csv --bootstrap 500 --seed 1
      ordag learn data.csv --knowledge known.txt
    """
    reading = take_reading(values)
    settings = given(context, values)
    refuse_unused_level(settings)
    if bootstrap is None:
        refuse_options(context, ["workers", "scheduler"], "is of use with --bootstrap only: give both, or leave it out")
    _check_outputs(data, settings.get("knowledge"), out, report)
    again: dict[str, Any] = (
        {} if bootstrap is None else {"bootstrap": bootstrap, "workers": workers, "client": scheduler}
    )
    with warnings.catch_warnings(), Progress() as progress:
        warnings.simplefilter("ignore", PrecisionWarning)  # the fit says it too, in its own place
        fit = learn_graph(data, method, progress=progress, forecast=forecast, **again, **reading, **settings)
    paths = [*out, *([report] if report else [])]
    _write(fit, paths, report)
    if as_json:
        click.echo(fit.to_json())
        for sentence in fit.warnings:
            click.echo(f"Warning: {harmless(sentence)}", err=True)
    else:
        print_fit(fit, Screen(), title_of(data))
        for path in paths:
            click.echo(f"written: {shown(path)}", err=True)


about = "; ".join(f"{name} {method.settings.about}" for name, method in METHODS.items())
learn.help = (learn.help or "").replace("METHODS", f"Methods: {about}")


def _check_outputs(data: str | list[str], knowledge: str | None, out: tuple[str, ...], report: str | None) -> None:
    """Everything that can be wrong with the files to write, before anything is learned."""
    for path in out:
        check_ending(path)
    if report is not None and not report.lower().endswith(ENDINGS):
        raise OutputError(f"--report {report}: the report is a page for a browser, so end its name in .html.")
    outputs = [*(("--out", path) for path in out), *([("--report", report)] if report else [])]
    inputs = [("DATA", one) for one in ([data] if isinstance(data, str) else data)]
    check_outputs(outputs, [*inputs, *([("--knowledge", knowledge)] if knowledge else [])])


def _write(fit: Fit, paths: list[str], report: str | None) -> None:
    """Make the content of every file before writing the first."""
    contents = [(path, page(fit) if path == report else content(fit, path)) for path in paths]
    for path, text in contents:
        write_whole(path, text)
