"""`ordag learn`: the causal graph of a table."""

from __future__ import annotations

import warnings
from typing import Any

import click

from ordag.cli.answers import AS_JSON, as_words, say_next
from ordag.cli.help import ManualPage, typed
from ordag.cli.options import (
    DATA,
    FILE,
    READING,
    SCHEDULER,
    given,
    inputs,
    method_list,
    origin,
    refuse_options,
    refuse_unused_level,
    setting_options,
    take_reading,
    title_of,
    with_options,
)
from ordag.cli.progress import Progress
from ordag.common.files import write_whole
from ordag.common.words import shown
from ordag.errors import ColumnWarning, PrecisionWarning, SettingError
from ordag.learners.methods import AUTO, METHODS
from ordag.learning import learn as learn_graph
from ordag.show.export import check_ending, content, endings
from ordag.show.files import check_outputs
from ordag.show.plots import ENDINGS as PICTURES
from ordag.show.plots import KINDS, check_kind, check_picture, picture
from ordag.show.report import ENDINGS as PAGES
from ordag.show.report import MAX_CHECKED_VARIABLES, check_page
from ordag.show.report import report as report_of
from ordag.show.screen import Screen
from ordag.show.terminal import print_fit


@click.command(
    cls=ManualPage,
    terms=(
        "Methods",
        {
            "auto": "pooled up to 10,000 variables (200 if there are fewer rows than variables), beyond that cvs with --parents "
            "adaptive; a setting that only one method has, such as --alpha, selects that method.",
            **{name: f"{method.settings.about}." for name, method in METHODS.items()},
        },
    ),
)
@DATA
@click.option("--method", default="auto", show_default=True, type=click.Choice(AUTO), help="How to learn.")
@with_options(setting_options(also={"seed": "--bootstrap: seed of the resamples."}))
@click.option(
    "--bootstrap",
    type=click.IntRange(min=2),
    help="Learn again from this many resamples, for the support of each arrow.",
)
@click.option(
    "--workers", type=click.IntRange(min=1), help="--bootstrap: number of processes; by default one per core."
)
@SCHEDULER
@click.option(
    "--forecast",
    type=click.IntRange(min=1),
    help="Simulated tables for the expected share of wrong arrows; by default as many as take about a second.",
)
@with_options(READING)
@click.option("--verbose", is_flag=True, help="Print what the verdict rests on, with its numbers.")
@AS_JSON
@click.option(
    "--out", multiple=True, type=FILE, help=f"Also write a file, by its ending: {' '.join(endings())}. May be repeated."
)
@click.option(
    "--plot",
    multiple=True,
    type=FILE,
    help=f"Also draw a picture, by its ending: {' '.join(PICTURES)}. May be repeated.",
)
@click.option(
    "--plot-kind",
    "kind",
    type=click.Choice(KINDS),
    help="--plot: what to draw; by default graph, matrix or neighbourhood, whichever suits the graph.",
)
@click.option("--plot-variable", "variable", help="--plot: the variable whose neighbourhood to draw.")
@click.option(
    "--report",
    type=FILE,
    help="Also write a page for a browser (.html): graph, evidence, checks, and how to reproduce it.",
)
@click.option(
    "--check/--no-check",
    default=None,
    help=f"--report: include the checks of ordag check, or not; by default up to {MAX_CHECKED_VARIABLES} variables.",
)
@click.option(
    "--compare", help=f"--report: methods to show beside, separated by commas ({', '.join(METHODS)}), or all."
)
def learn(
    data: str | list[str],
    method: str,
    bootstrap: int | None,
    workers: int | None,
    scheduler: str | None,
    forecast: int | None,
    verbose: bool,
    as_json: bool,
    out: tuple[str, ...],
    plot: tuple[str, ...],
    kind: str | None,
    variable: str | None,
    report: str | None,
    check: bool | None,
    compare: str | None,
    **values: Any,
) -> None:
    """Learn the causal graph behind DATA.

    DATA is a CSV, Parquet or Arrow file, a folder of Parquet or CSV files, - for a table on standard input, or the name of a
    built-in data set: marks (88 students, 5 exams), sachs (853 cells, 11 proteins), birthweights (189 births) or autompg
    (392 cars). Several files of moments (ordag
    moments) are parts of one table.

    The answer is a causal order, the graph, a table of its arrows, and a verdict: the expected share of wrong arrows, the main
    reason, and what to do next. Warnings stand below the answer; with --json they go to standard error.

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
      ordag learn data.csv --report page.html --compare pc,ges
      ordag learn data.csv --plot graph.svg --plot matrix.pdf
      ordag learn data.csv --plot height.png --plot-variable height
    """
    reading = take_reading(values)
    settings = given(values)
    refuse_unused_level(settings)
    if bootstrap is None:
        refuse_options(["workers", "scheduler"], "has an effect only with --bootstrap: give both, or leave it out")
    if not plot:
        refuse_options(["kind", "variable"], "has an effect only with --plot: give both, or leave it out")
    if report is None:
        refuse_options(["check", "compare"], "has an effect only with --report: give both, or leave it out")
    methods = method_list(compare)
    options = {} if variable is None else {"variable": variable}
    check_kind(kind, options)
    if kind == "support" and bootstrap is None:
        raise SettingError("--plot-kind support needs resamples: add --bootstrap 200, say.")
    _check_outputs(data, settings.get("knowledge"), out, plot, report)
    resampling: dict[str, Any] = (
        {} if bootstrap is None else {"bootstrap": bootstrap, "workers": workers, "client": scheduler}
    )
    with warnings.catch_warnings(), Progress() as progress:
        for said in (ColumnWarning, PrecisionWarning):  # the fit has these as warnings too
            warnings.simplefilter("ignore", said)
        fit = learn_graph(data, method, progress=progress, forecast=forecast, **resampling, **reading, **settings)
        pages = [path for path in (*out, *([report] if report else [])) if path.lower().endswith(PAGES)]
        contents: dict[str, str | bytes] = {path: content(fit, path) for path in out if path not in pages}
        contents |= {path: picture(fit, path, kind, **options) for path in plot}
        if pages:
            page = report_of(fit, check=check, compare=methods, progress=progress, origin=origin(data, reading))
            contents |= dict.fromkeys(pages, page)
        progress("verdict")
        _ = fit.verdict  # computed here, under the line of progress
        progress("steps and arrows")
        document = fit.to_json() if as_json else ""
        _ = fit.edge_columns, fit.step_columns
    for path, made in contents.items():  # all of them are made before the first is written
        write_whole(path, made)
    if as_json:
        click.echo(document)
        for sentence in fit.warnings:
            click.echo(f"Warning: {typed(sentence)}", err=True)
    else:
        print_fit(fit, Screen(typed), title_of(data), verbose=verbose)
        for path in contents:
            click.echo(f"written: {shown(path)}", err=True)
        for source, target in fit.graph.directed[:1]:
            say_next("an effect with its interval", "effect", *as_words(data), "--from", source, "--to", target)


def _check_outputs(
    data: str | list[str], knowledge: str | None, out: tuple[str, ...], plot: tuple[str, ...], report: str | None
) -> None:
    """Refuse files that cannot be written, before anything is learned."""
    for path in out:
        check_ending(path)
    for path in plot:
        check_picture(path)
    if report is not None:
        check_page(report)
    outputs = [(option, path) for option, paths in (("--out", out), ("--plot", plot)) for path in paths]
    outputs += [("--report", report)] if report else []
    check_outputs(outputs, inputs(data, knowledge))
