"""`ordag simulate`: a random model and rows from it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np

from ordag.cli.help import ABOUT_OUTPUT, ManualPage, SectionedOption
from ordag.cli.options import FILE, one_of
from ordag.cli.progress import Progress
from ordag.common.files import write_whole
from ordag.common.words import News, counted, joined, shown
from ordag.errors import SettingError
from ordag.graph.formats import format_of, write_text
from ordag.model import simulate as draw
from ordag.model.designs import DESIGNS, Design
from ordag.model.simulate import Simulation
from ordag.show.files import check_outputs

ROW_GROUP_NUMBERS = 1 << 21
"""Numbers in a row group of a Parquet file, which are written together."""


def _description(design: Design) -> str:
    return " ".join((design.draw.__doc__ or "").partition("\n\n")[0].replace("`", "").replace("_", "-").split())


@click.command(cls=ManualPage, terms=("Designs", {name: _description(design) for name, design in DESIGNS.items()}))
@click.argument("design", default="homogeneous", shell_complete=one_of(DESIGNS))
@click.option("-p", "--variables", "p", type=int, help="Number of variables; by default 20 (nonfaithful has 3).")
@click.option("-n", "--rows", "n", default=1000, show_default=True, type=int, help="Number of rows.")
@click.option("--seed", type=int, help="Seed of the model and the rows.")
@click.option("--degree", type=float, help="Sparse designs: arrows per variable on average.")
@click.option("--weights", type=(float, float), help="Sparse designs: range of the absolute weights.")
@click.option("--variances", help="Sparse designs: 'equal', a number, or a range such as 1,3.")
@click.option(
    "--experiments",
    default=0,
    show_default=True,
    type=int,
    help="Variables that are acted on, each in rows of its own; the column 'experiment' names it.",
)
@click.option("--experiment-rows", default=100, show_default=True, type=int, help="Rows of each experiment.")
@click.option(
    "--environments",
    default=1,
    show_default=True,
    type=int,
    help="Environments of --rows rows each; the column 'environment' names them.",
)
@click.option(
    "--changes", default=1, show_default=True, type=int, help="Equations that differ in each environment but the first."
)
@click.option("--out", type=FILE, help="Write the rows to a .csv or .parquet file.")
@click.option(
    "--truth",
    type=FILE,
    cls=SectionedOption,
    section=ABOUT_OUTPUT,
    help="Write the model: .json, or a graph format by its ending.",
)
def simulate(
    design: str,
    p: int | None,
    n: int,
    seed: int | None,
    degree: float | None,
    weights: tuple[float, float] | None,
    variances: str | None,
    experiments: int,
    experiment_rows: int,
    environments: int,
    changes: int,
    out: str | None,
    truth: str | None,
) -> None:
    """Draw a random model of the given DESIGN, and rows from it.

    DESIGN is homogeneous by default. Without --out the rows go to standard output as CSV, with all their digits. The same seed
    gives the same model and the same rows.

    \b
    Examples
      ordag simulate homogeneous -p 20 -n 1000 --seed 1 --out data.csv --truth truth.json
      ordag simulate erdos-renyi -p 100 --degree 4 --variances 1,3 --out data.parquet
      ordag simulate erdos-renyi -p 10 -n 500 --experiments 5 --out acted_on.csv
      ordag simulate erdos-renyi -p 10 -n 300 --environments 3 --changes 2 --out sites.csv
      ordag simulate nonfaithful -n 200 --truth truth.dot > data.csv
    """
    if n < 1:
        raise SettingError(f"--rows {n}: at least one row is needed.")
    if out is not None:
        _ending(out)
    if truth is not None:
        format_of(truth)
    check_outputs([(name, path) for name, path in (("--out", out), ("--truth", truth)) if path is not None])
    with ExitStack() as stack:
        progress = stack.enter_context(Progress())
        drawn = draw(
            design,
            p,
            n,
            seed,
            degree=degree,
            weights=weights,
            variances=_variances(variances),
            experiments=experiments,
            experiment_rows=experiment_rows,
            environments=environments,
            changes=changes,
            progress=progress,
        )
        texts: list[tuple[str, str | Iterable[bytes]]] = []
        if truth is not None:
            model = drawn.sem.to_json() + "\n" if Path(truth).suffix.lower() == ".json" else ""
            texts.append((truth, model or write_text(drawn.dag, format_of(truth), drawn.sem.edges)))
        rows = _rows(drawn, out or "rows.csv", progress)
        if out is not None:
            texts.append((out, rows))
        for path, text in texts:
            write_whole(path, text)
        if out is None:
            if sys.stdout.isatty():
                stack.close()  # no progress between the rows
            for piece in rows:
                click.echo(piece, nl=False)
    for where, differ in drawn.changes.items():
        said = joined([f"{name} ({what})" for name, what in differ.items()], 12) or "no equation"
        click.echo(f"{where} differs from e1 in {said}", err=True)
    for path, _ in texts:
        click.echo(f"written: {shown(path)}", err=True)


def _variances(text: str | None) -> str | float | tuple[float, float] | None:
    if text is None or text == "equal":
        return text
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    raise SettingError(f"--variances {text}: give 'equal', a number, or a range such as 1,3.")


def _rows(drawn: Simulation, path: str, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a CSV or Parquet file of the rows, piece by piece; numbers keep all their digits."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    X, labels = drawn.X, drawn.experiments or drawn.environments
    told = [("experiment" if drawn.experiments else "environment", pa.string())] if labels else []
    schema = pa.schema([*((name, pa.float64()) for name in drawn.names), *told])
    sink, size = io.BytesIO(), max(1, ROW_GROUP_NUMBERS // len(drawn.names))
    with csv.CSVWriter(sink, schema) if _ending(path) == ".csv" else parquet.ParquetWriter(sink, schema) as writer:
        for start in range(0, len(X), size):
            rows = X[start : start + size]
            columns: list[Any] = [np.ascontiguousarray(column) for column in rows.T]
            columns += [list(labels[start : start + size])] if labels else []
            writer.write_table(pa.table(columns, schema=schema))
            yield _emptied(sink)
            done = start + len(rows)
            progress(News(f"{done:,} of {counted(len(X), 'row')} written", done / len(X)))
    yield _emptied(sink)


def _emptied(sink: io.BytesIO) -> bytes:
    piece = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return piece


def _ending(path: str) -> str:
    ending = Path(path).suffix.lower()
    if ending not in (".csv", ".parquet", ".pq"):
        raise SettingError(f"--out {path}: rows can be written to .csv or .parquet.")
    return ending
