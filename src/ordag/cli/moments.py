"""`ordag moments`: a small file that stands for a table, or for a part of one."""

from __future__ import annotations

from typing import Any

import click

from ordag.cli.help import ManualPage
from ordag.cli.options import DATA, FILE, READING, inputs, take_reading, title_of, with_options
from ordag.cli.progress import Progress
from ordag.common.words import counted, harmless, joined, shown
from ordag.data.given_moments import given_moments
from ordag.data.moments import scan_source
from ordag.data.moments_file import ENDING
from ordag.data.reading import PartReading
from ordag.data.set_aside import set_aside_sentence
from ordag.data.transform import open_table
from ordag.errors import OutputError
from ordag.show.files import check_outputs


@click.command(cls=ManualPage)
@DATA
@click.option("--out", required=True, type=FILE, help=f"File to write; its name ends in {ENDING}.")
@with_options(READING)
def moments(data: str | list[str], out: str, **values: Any) -> None:
    """Write what learning needs of DATA to a small file.

    The file holds the number of rows, the means, and the triangular root of the scatter: p(p + 3)/2 numbers for p columns. The
    files of all parts of a table stand for the whole: ordag learn part1.moments part2.moments … gives the same graph. A part may
    be on another machine, and its rows stay there. DATA may also be such files, which are merged into one; choose a name that the
    pattern of the parts does not match, or every row counts twice.

    \b
    Examples
      ordag moments january.parquet --out january.moments
      ordag moments part-07.csv --missing drop --out part-07.moments
      ordag learn part-*.moments
      ordag moments part-*.moments --out whole.moments
    """
    if not out.lower().endswith(ENDING):
        raise OutputError(f"--out {out}: end the name of a file of moments in {ENDING}.")
    check_outputs([("--out", out)], inputs(data))
    reading = PartReading(**take_reading(values))
    aside = ""
    with Progress() as progress:
        found = given_moments(data, reading, progress)
        if found is None:
            source = open_table(data, reading)
            aside = set_aside_sentence(source.columns, hints=False)
            found = scan_source(source, reading.missing, lambda rows: progress(source.news(rows)), progress)
        found.save(out)
    dropped = f", {counted(found.dropped, 'row')} with missing values left out" if found.dropped else ""
    worth = f" that count for {found.n:,}" if found.missing == "em" else ""
    words = {"adjust": "to be held fixed", "cause": "as possible causes"}
    named = {use: [str(one) for one in found.covariates if one.use == use] for use in words}
    uses = "".join(f" · {joined(named[use])} {said}" for use, said in words.items() if named[use])
    sizes = f"{counted(found.rows, 'row')}{worth}{dropped} · {counted(len(found.variables), 'column')}"
    click.echo(f"{title_of(data)}: {sizes}{uses}")
    if aside:
        click.echo(f"{harmless(aside)}.")
    click.echo(f"written: {shown(out)}", err=True)
