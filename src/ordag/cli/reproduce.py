"""`ordag reproduce`: the paper's figures and tables."""

from __future__ import annotations

import sys
import time

import click

from ordag.cli import stopped_with
from ordag.cli.help import ManualPage
from ordag.cli.options import SCHEDULER, one_of, refuse_options
from ordag.cli.progress import Progress
from ordag.cli.progress import say as say_aside
from ordag.paper import Result, Step
from ordag.paper.reproduction import chosen_experiments
from ordag.paper.reproduction import reproduce as run
from ordag.show.screen import Column, Screen, say, show_table
from ordag.words import News, counted

MOST_LETTERS = 30
"""A column of a table with longer cells has sentences in it."""

PLAIN_SECONDS = 30.0
"""How often to say how far things are where there is no terminal."""


@click.command(cls=ManualPage)
@click.argument(
    "names", nargs=-1, metavar="[NAME]...", shell_complete=one_of(one.name for one in chosen_experiments(None))
)
@click.option("--list", "listing", is_flag=True, help="List the names and what they are.")
@click.option("--quick", is_flag=True, help="Few replicates at few points: all of it in two minutes on two cores.")
@click.option(
    "--out",
    default="ordag-results",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder for tables and figures; one with a run that was stopped goes on.",
)
@click.option("--replicates", type=click.IntRange(min=1), help="Data sets at each point, instead of the paper's 100.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes to use, or batches at a time on a cluster; as many as there are cores unless given.",
)
@SCHEDULER
@click.option(
    "--complete",
    is_flag=True,
    help="Also GDS with kicks, which the paper has not, with 50 variables at every point: two to three hours of CPU time more.",
)
@click.pass_context
def reproduce(
    context: click.Context,
    /,
    names: tuple[str, ...],
    listing: bool,
    quick: bool,
    out: str,
    replicates: int | None,
    workers: int | None,
    scheduler: str | None,
    complete: bool,
) -> None:
    """Run the numerical results of Park & Kim again: all of them, or those named.

    Every NAME gets in the folder a table NAME.csv of all its results, figures as PNG and SVG, and a page NAME.md that
    lays the results beside what the paper says. A data set depends on its design, its size and its number alone, so
    the numbers are the same for any number of workers, and a run that was stopped goes on where it was.

    \b
    Examples
      ordag reproduce --list
      ordag reproduce --quick
      ordag reproduce figure2 figure3 --replicates 30 --out results
      ordag reproduce --scheduler tcp://head:8786
    """
    if listing:
        others = ["names", "quick", "out", "replicates", "workers", "scheduler", "complete"]
        refuse_options(context, others, "is of no use with --list, which runs nothing")
        every = chosen_experiments(None)
        width = max(len(one.name) for one in every)
        for one in every:
            click.echo(f"{one.name:<{width}}  {one.title}")
        return
    chosen = chosen_experiments(names)
    if not any(one.replicated for one in chosen):
        refuse_options(context, ["replicates"], f"is of no use for {', '.join(names)}, where each task is done once")
    if not any(one.complete_only() for one in chosen):
        refuse_options(context, ["complete"], f"is of no use for {', '.join(names)}, where nothing is left out")
    try:
        with Progress() as line:
            results = run(names, quick, out, replicates, workers, Steps(out, line), complete=complete, client=scheduler)
    except KeyboardInterrupt as stop:
        click.echo(f"ordag: stopped. What is done is kept in {out}: the same command goes on from there.", err=True)
        sys.exit(stopped_with(stop))
    show(results)
    click.echo(f"Tables, figures and these pages are in {out}.", err=True)


def show(results: list[Result]) -> None:
    """Of each the title, the small table, and the sentences."""
    from rich.text import Text

    console = Screen()
    for result in results:
        console.print(Text(f"\n{result.experiment.title}", style="bold"))
        if result.table is not None:
            columns = []
            for k, (title, column) in enumerate(result.table.astype(str).items()):
                cells = column.tolist()
                prose = max(map(len, cells), default=0) > MOST_LETTERS
                columns.append(Column(str(title), cells, right=k > 0 and not prose, prose=prose))
            show_table(console, columns)
            console.print()
        for sentence in result.claims:
            say(console, f"· {sentence}", "  ")


class Steps:
    """Says on standard error what is to come, then how far it is: on a terminal by `line`, elsewhere with a sentence now and then."""

    def __init__(self, folder: str, line: Progress) -> None:
        self.folder, self.line = folder, line
        self.told = time.monotonic()
        self.started = False

    def __call__(self, step: Step) -> None:
        if not self.started:
            self.started = True
            before = f", {step.done:,} of them done before" if step.done else ""
            say_aside(
                f"{counted(step.tasks, 'task')}{before}; about {time_to_go(step)} with {counted(step.workers, 'worker')}. "
                f"Results go to {self.folder}; Ctrl-C stops, and the same command goes on."
            )
        done = f"{step.experiment}: {step.done:,} of {step.tasks:,} tasks done"
        self.line(News(done, step.seconds_done / step.seconds if step.seconds else None))
        if not self.line.visible and time.monotonic() - self.told > PLAIN_SECONDS:
            self.told = time.monotonic()
            click.echo(f"{done}, about {time_to_go(step)} left", err=True)


def time_to_go(step: Step) -> str:
    return duration((step.seconds - step.seconds_done) / step.workers)


def duration(seconds: float) -> str:
    """A length of time in words, in a unit that fits."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} seconds"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
