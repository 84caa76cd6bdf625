"""The command line: `ordag learn`, `ordag simulate`."""

from __future__ import annotations

import io
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ordag import __version__
from ordag.errors import OrdagError, PrecisionWarning, SettingError

if TYPE_CHECKING:
    from ordag.fit import Fit


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ordag")
def cli() -> None:
    """Learn causal graphs of Gaussian linear structural equation models: order first, then the DAG.

    \b
    ordag learn marks                        the built-in exam marks
    ordag learn data.csv --columns a,b,c     three columns of your own table
    ordag learn data.csv --out graph.dot     and the graph for Graphviz
    ordag simulate homogeneous --out d.csv   a random model and data from it
    """


@cli.command()
@click.argument("data")
@click.option("--method", default="cvs", show_default=True, type=click.Choice(["cvs"]), help="How to learn.")
@click.option("--alpha", default=0.01, show_default=True, type=float, help="Level of the tests, between 0 and 1.")
@click.option(
    "--test",
    default="fisher-z",
    show_default=True,
    type=click.Choice(["fisher-z", "t", "mutual-information"]),
    help="Test of zero partial correlation.",
)
@click.option(
    "--parents",
    default="test",
    show_default=True,
    type=click.Choice(["test", "bic"]),
    help="Choose parents by tests, or by BIC backward elimination (no level to set).",
)
@click.option(
    "--correction",
    default="none",
    show_default=True,
    type=click.Choice(["none", "bh", "bonferroni"]),
    help="For many variables: bh controls the false-discovery rate at alpha, bonferroni any false edge.",
)
@click.option(
    "--direction",
    default="forward",
    show_default=True,
    type=click.Choice(["forward", "backward"]),
    help="Find causes first, or effects first.",
)
@click.option(
    "--columns", help="Columns to use, separated by commas. Repeat the option for names with commas.", multiple=True
)
@click.option(
    "--missing",
    default="error",
    show_default=True,
    type=click.Choice(["error", "drop"]),
    help="Rows with missing values: refuse, or leave out.",
)
@click.option("--separator", help="Between the fields of a text file: , ; tab or another character.")
@click.option("--encoding", help="Of a text file; UTF-8 unless said otherwise.")
@click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of a text file.")
@click.option("--no-header", is_flag=True, help="The first line of a text file is data already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option(
    "--out",
    multiple=True,
    type=click.Path(dir_okay=False),
    help="Also write a file, by its ending: .json .csv .dot .graphml .gml .lavaan .dagitty .svg .html. May be repeated.",
)
@click.option("--report", type=click.Path(dir_okay=False), help="Also write a page for a browser.")
def learn(
    data: str,
    columns: tuple[str, ...],
    separator: str | None,
    encoding: str | None,
    decimal: str | None,
    no_header: bool,
    as_json: bool,
    out: tuple[str, ...],
    report: str | None,
    **settings: Any,
) -> None:
    """Learn the causal graph behind DATA.

    DATA is a CSV or Parquet file, a folder of Parquet files, or the name of a built-in data set: marks (88 students,
    5 exams) or sachs (853 cells, 11 proteins).

    \b
    Examples
      ordag learn marks --alpha 0.05
      ordag learn data.csv --columns height,weight,age --json
      ordag learn wide.parquet --correction bh --out graph.graphml
      ordag learn export.csv --separator ";" --decimal "," --missing drop
    """
    from ordag.learning import learn as learn_graph

    reading = {"separator": {"tab": "\t", "\\t": "\t"}.get(separator or "", separator), "encoding": encoding}
    reading |= {"decimal": decimal}
    given: dict[str, Any] = {name: value for name, value in reading.items() if value is not None}
    if no_header:
        given["header"] = False
    with warnings.catch_warnings(), _Progress() as progress:
        warnings.simplefilter("ignore", PrecisionWarning)  # the fit says it too, in its own place
        fit = learn_graph(data, columns=_column_list(columns), progress=progress, **given, **settings)
    paths = [*out, *([report] if report else [])]
    _write(fit, paths, report)
    if as_json:
        click.echo(fit.to_json())
        for sentence in fit.warnings:
            click.echo(f"ordag: warning: {sentence}", err=True)
    else:
        from rich.console import Console

        from ordag.show.terminal import print_fit

        print_fit(fit, Console(highlight=False, markup=False), Path(data).name or data)
        for path in paths:
            click.echo(f"written: {path}", err=True)


def _column_list(columns: tuple[str, ...]) -> list[str] | None:
    """`--columns a,b --columns "c, d"`: with one use of the option commas separate names, with several they do not."""
    if not columns:
        return None
    names = columns[0].split(",") if len(columns) == 1 else columns
    return [name.strip() for name in names if name.strip()]


def _write(fit: Fit, paths: list[str], report: str | None) -> None:
    """Make the content of every file before writing the first."""
    from ordag.show.export import content
    from ordag.show.files import write_whole
    from ordag.show.page import page

    contents = [(path, page(fit) if path == report else content(fit, path)) for path in paths]
    for path, text in contents:
        write_whole(path, text)


class _Progress:
    """Counts rows on standard error, once reading has taken a second and if someone is there to see it."""

    def __enter__(self) -> _Progress:
        self.start = time.monotonic()
        self.last = 0.0
        self.visible = sys.stderr.isatty()
        self.shown = False
        return self

    def __call__(self, rows: int) -> None:
        now = time.monotonic() - self.start
        if self.visible and now > 1.0 and now - self.last > 0.2:
            click.echo(f"\r{rows:,} rows read in {now:.0f} s", nl=False, err=True)
            self.last, self.shown = now, True

    def __exit__(self, *_: object) -> None:
        if self.shown:
            click.echo("\r" + " " * 60 + "\r", nl=False, err=True)


@cli.command()
@click.argument("design", default="homogeneous")
@click.option("-p", "--variables", "p", type=int, help="Number of variables (20; nonfaithful has 3).")
@click.option("-n", "--rows", "n", default=1000, show_default=True, type=int, help="Number of rows.")
@click.option("--seed", type=int, help="For the same model and data again.")
@click.option("--degree", type=float, help="Sparse designs: arrows per variable on average.")
@click.option("--weights", type=(float, float), help="Sparse designs: range of the weights' sizes.")
@click.option("--variances", help="Sparse designs: 'equal', a number, or a range such as 1,3.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write the rows to a .csv or .parquet file.")
@click.option(
    "--truth", type=click.Path(dir_okay=False), help="Write the model: .json, or a graph format by its ending."
)
def simulate(
    design: str,
    p: int | None,
    n: int,
    seed: int | None,
    degree: float | None,
    weights: tuple[float, float] | None,
    variances: str | None,
    out: str | None,
    truth: str | None,
) -> None:
    """Draw a random model of the given DESIGN, and rows from it.

    Designs: homogeneous, heterogeneous and nonfaithful (Sections 4.1 to 4.3 of Park & Kim), erdos-renyi, scale-free.
    Without --out the rows go to standard output as CSV.

    \b
    Examples
      ordag simulate homogeneous -p 20 -n 1000 --seed 1 --out data.csv --truth truth.json
      ordag simulate erdos-renyi -p 100 --degree 4 --variances 1,3 --out data.parquet
      ordag simulate nonfaithful -n 200 --truth truth.dot > data.csv
    """
    from ordag.graph.formats import format_of, write_text
    from ordag.model import simulate as draw
    from ordag.show.files import write_whole

    if n < 1:
        raise SettingError(f"--rows {n}: at least one row is needed.")
    drawn = draw(design, p, n, seed, degree=degree, weights=weights, variances=_variances(variances))
    texts: list[tuple[str, str | bytes]] = []
    if truth is not None:
        model = drawn.sem.to_json() + "\n" if Path(truth).suffix == ".json" else ""
        texts.append((truth, model or write_text(drawn.dag, format_of(truth), drawn.sem.B)))
    if out is not None:
        texts.append((out, _rows(drawn.names, drawn.X, out)))
    for path, text in texts:
        write_whole(path, text)
        click.echo(f"written: {path}", err=True)
    if out is None:
        click.echo(_rows(drawn.names, drawn.X, "rows.csv").decode(), nl=False)


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


def _rows(names: tuple[str, ...], X: Any, path: str) -> bytes:
    """The rows as the bytes of a CSV or Parquet file; numbers keep all their digits."""
    import pyarrow as pa

    table = pa.table({name: X[:, j] for j, name in enumerate(names)})
    sink = io.BytesIO()
    if Path(path).suffix.lower() in (".parquet", ".pq"):
        from pyarrow import parquet

        parquet.write_table(table, sink)
    elif Path(path).suffix.lower() == ".csv":
        from pyarrow import csv

        csv.write_csv(table, sink)
    else:
        raise SettingError(f"--out {path}: rows can be written to .csv or .parquet.")
    return sink.getvalue()


def main() -> None:
    """Run the command line: status 0 for an answer, 2 for input that needs changing, with one sentence on what."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="replace")
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("ordag: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except OrdagError as error:
        click.echo(f"ordag: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
