"""`ordag reproduce`: the paper's figures and tables, computed again."""

from __future__ import annotations

import sys
import time

import click

from ordag.cli import stopped_with
from ordag.cli.help import ManualPage
from ordag.cli.options import SCHEDULER, one_of, refuse_options
from ordag.cli.progress import Progress
from ordag.cli.progress import say as say_aside
from ordag.common.words import News, counted
from ordag.paper import Result, Step
from ordag.paper.reproduction import chosen_experiments
from ordag.paper.reproduction import reproduce as run
from ordag.show.screen import Column, Screen, say, show_table

MAX_CELL_LETTERS = 30
"""Letters of a cell beyond which a column is taken for sentences."""

REPORT_SECONDS = 30.0
"""Time between progress messages where there is no terminal."""


@click.command(cls=ManualPage)
@click.argument(
    "names", nargs=-1, metavar="[NAME]...", shell_complete=one_of(one.name for one in chosen_experiments(None))
)
@click.option("--list", "listing", is_flag=True, help="List the names and what they are.")
@click.option("--quick", is_flag=True, help="Few replicates at few points: everything in two minutes on two cores.")
@click.option(
    "--out",
    default="ordag-results",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder for tables and figures; a stopped run in it is continued.",
)
@click.option("--replicates", type=click.IntRange(min=1), help="Data sets at each point, instead of the paper's 100.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Number of processes, or of batches at a time on a cluster; by default one per core.",
)
@SCHEDULER
@click.option(
    "--complete",
    is_flag=True,
    help="Also GDS with kicks, which is not in the paper, with 50 variables at every point: two to three more hours of CPU time.",
)
def reproduce(
    names: tuple[str, ...],
    listing: bool,
    quick: bool,
    out: str,
    replicates: int | None,
    workers: int | None,
    scheduler: str | None,
    complete: bool,
) -> None:
    """Reproduce the numerical results of Park & Kim: all of them, or those named.

    For every NAME the folder gets a table NAME.csv of all results, figures as PNG and SVG, and a page NAME.md that compares the
    results with the paper. A data set depends only on its design, size and number, so the results are the same for any number of
    workers, and a stopped run continues where it was.

    \b
    Examples
      ordag reproduce --list
      ordag reproduce --quick
      ordag reproduce figure2 figure3 --replicates 30 --out results
      ordag reproduce --scheduler tcp://head:8786
    """
    if listing:
        others = ["names", "quick", "out", "replicates", "workers", "scheduler", "complete"]
        refuse_options(others, "has no effect with --list, which runs nothing")
        every = chosen_experiments(None)
        width = max(len(one.name) for one in every)
        for one in every:
            click.echo(f"{one.name:<{width}}  {one.title}")
        return
    chosen = chosen_experiments(names)
    if not any(one.replicated for one in chosen):
        refuse_options(["replicates"], f"has no effect on {', '.join(names)}, where each task is done once")
    if not any(one.complete_only() for one in chosen):
        refuse_options(["complete"], f"has no effect on {', '.join(names)}, where nothing is left out")
    try:
        with Progress() as line:
            results = run(names, quick, out, replicates, workers, Steps(out, line), complete=complete, client=scheduler)
    except KeyboardInterrupt as stop:
        click.echo(
            f"ordag: stopped. Finished tasks are kept in {out}: the same command continues from there.", err=True
        )
        sys.exit(stopped_with(stop))
    show(results)
    click.echo(f"Tables, figures and these pages are in {out}.", err=True)


def show(results: list[Result]) -> None:
    """Print the title, the small table and the sentences of every result."""
    from rich.text import Text

    console = Screen()
    for result in results:
        console.print(Text(f"\n{result.experiment.title}", style="bold"))
        if result.table is not None:
            columns = []
            for k, (title, column) in enumerate(result.table.astype(str).items()):
                cells = column.tolist()
                prose = max(map(len, cells), default=0) > MAX_CELL_LETTERS
                columns.append(Column(str(title), cells, right=k > 0 and not prose, prose=prose))
            show_table(console, columns)
            console.print()
        for sentence in result.claims:
            say(console, f"· {sentence}", "  ")


class Steps:
    """Reports progress on standard error: on a terminal by `line`, elsewhere by a sentence now and then."""

    def __init__(self, folder: str, line: Progress) -> None:
        self.folder, self.line = folder, line
        self.told = time.monotonic()
        self.started = False

    def __call__(self, step: Step) -> None:
        if not self.started:
            self.started = True
            before = f", {step.done:,} of them done already" if step.done else ""
            say_aside(
                f"{counted(step.tasks, 'task')}{before}; about {time_to_go(step)} with {counted(step.workers, 'worker')}. "
                f"Results go to {self.folder}; Ctrl-C stops, and the same command continues."
            )
        done = f"{step.experiment}: {step.done:,} of {step.tasks:,} tasks done"
        self.line(News(done, step.seconds_done / step.seconds if step.seconds else None))
        if not self.line.visible and time.monotonic() - self.told > REPORT_SECONDS:
            self.told = time.monotonic()
            click.echo(f"{done}, about {time_to_go(step)} left", err=True)


def time_to_go(step: Step) -> str:
    return duration((step.seconds - step.seconds_done) / step.workers)


def duration(seconds: float) -> str:
    """Write a length of time in words, in a suitable unit."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} seconds"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
