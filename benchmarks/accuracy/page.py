"""Stored scores in, docs/accuracy.md, docs/accuracy.csv and a picture out."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.accuracy import picture
from benchmarks.accuracy.calls import LIMIT
from benchmarks.accuracy.cells import BROKEN, CELLS, Cell
from benchmarks.accuracy.drawing import model
from benchmarks.accuracy.methods import KNOWS_TRUTH, NAMES
from benchmarks.accuracy.store import stored
from benchmarks.accuracy.summary import Estimate, Summary
from benchmarks.timing import duration, machine, table

DOCS = Path(__file__).parents[2] / "docs"
SUBJECT = "pooled"
ENOUGH = 5  # tables per cell and method

MEASURES = {"hamming": "distance", "class_hamming": "class", "adjustment": "adjustment"}
"""What methods are compared by, and the words for it."""

HEAD = f"""# Accuracy

How near is the learned graph to the true one? This page compares Ordag's methods with other packages on the same random tables.
`make peers` installs the packages; `python -m benchmarks accuracy` draws the tables, runs what is not stored yet and writes this page.
The numbers are in [accuracy.csv](accuracy.csv), with two more measures: pairs whose edge differs (SHD) and the share of turned arrows.

- **Distance**: entries in which the directed adjacency differs from the true one. A missing or an extra arrow counts 1, a turned arrow
  2, an edge without a direction 1 where there is an arrow.
- **Class**: the same between the equivalence classes (CPDAGs) of the two graphs. A method that gives a class loses nothing here.
- **Adjustment**: percent of pairs for which the learned parents are no valid adjustment set in the true graph (parent-AID of gadjid).
  A pair whose parents a class leaves open counts as wrong.

Figures are means over the tables of a cell, ± one standard error. Bold: no other method is better by more than one standard error of
the paired difference. Two methods are compared on the tables that both finished.

A call has {LIMIT} s of CPU time per table, on one thread. "> {LIMIT} s": it took longer on a table of the cell, and its other tables were
not tried. "Failed": the package stopped with an error. A dash: not run. Packages run with their defaults; FLOP has λ = 2 and 20
restarts, PC the level 1 %. Ordag's pooled search has `draws=0`: its graph is the one of the lowest score. The threshold of
"{KNOWS_TRUTH}" is the one that comes nearest to the true graph; it shows what the default threshold costs, and takes no part in
comparisons.
"""

TABLES = """## How the tables are drawn

A cell is a kind of model with p variables and n rows. The random numbers of a table come from the name of its cell and its own number
alone, so all methods see the same tables. The names say what is drawn:

- **4.1** and **4.2** are the dense designs of the paper, with equal error variances and with variances between 1 and 3.
- **ER3** is an Erdős–Rényi graph: along a random order every pair is joined with the same probability, so that a variable has 3 arrows
  on average, in and out together. **Scale-free** and **layered** graphs (10 variables per layer, arrows from one layer to the next)
  have 3, too. In a **complete** graph every pair is joined, in an **empty** one none.
- Weights have sizes uniform on 0.4 to 1.5 and random signs; **strong** 0.5 to 2, **medium** 0.3 to 1, **weak** 0.1 to 0.5.
- Error variances are 1, or log-uniform between 1 and the factor: **×5**.
- **Standardised**: every column is scaled to variance 1. **Random units**: every column is multiplied by a factor that is log-uniform
  between 0.1 and 10.
- Errors are normal; **t5**: Student's t with 5 degrees of freedom; **skewed**: exponential minus 1. Both are scaled to the variance.
- **ECOLI70**, **MAGIC-NIAB**, **MAGIC-IRRI** and **ARTH150** are published Gaussian networks with their published coefficients, as
  they come with the package pgmpy. The columns are put into a random order.
- **Hidden confounders**: two variables that are not in the table, each with an effect on four that are. **Measurement noise**: every
  value is measured with an error that has a quarter of the error variance. Both break the assumptions of all methods here, so
  they have a section of their own.

Within every kind the cells alternate between two halves. Choices in Ordag are made on the **think** half; the **final** half is what the
comparison is about. It is not untouched: earlier versions of Ordag were run on all cells, and some choices followed what was seen in
4.1 p60 n300, 4.1 p70 n2000 and ER3 p20 n500 standardised (final). These three are no independent evidence.
"""


def write(results: Path, networks: Path | None, packages: str = "") -> None:
    """The page, the table of numbers and the picture, from what is stored. `packages` names the versions of the peers."""
    summary = Summary(stored(results))
    if not summary.methods:
        raise SystemExit(f"nothing is stored in {results}: run `python -m benchmarks accuracy` first.")
    usual = [cell for cell in CELLS if cell.kind != BROKEN]
    final, think = ([cell for cell in usual if cell.half == half] for half in ("final", "think"))
    halves = {"final half": final, "think half": think}
    picture.draw(summary, halves, DOCS / "figures" / "accuracy.png")
    arrows = {cell.name: _true_arrows(cell, networks) for cell in CELLS}
    subject = SUBJECT if SUBJECT in summary.methods else summary.methods[0]
    parts = [
        HEAD,
        *_unfinished(summary),
        _best_counts(summary, halves),
        _paired(summary, subject, halves),
        _not_best(summary, subject),
        "## All cells in one picture\n\n![Distances in all cells](figures/accuracy.png)\n\nOne row per cell, one mark per method. The "
        "best method of the cell is at 1, and a mark at 2 is about twice as far from the true graph. Filled marks are Ordag's. Methods "
        "that ran out of time are not shown.\n",
        _sizes((DOCS / "benchmarks.md").read_text(encoding="utf-8")),
        TABLES,
        _tables_per_cell(summary, packages),
        "## Final half\n\n" + _scores(summary, final, arrows),
        "## Think half, used for choices\n\nThese cells were looked at while Ordag's methods were made. They say less than the others.\n\n"
        + _scores(summary, think, arrows),
        "## Assumptions broken\n\n" + _scores(summary, [cell for cell in CELLS if cell.kind == BROKEN], arrows),
        "## Times\n\nMean CPU time per table on one thread.\n\n" + _grid(summary, usual, "cpu_seconds", None) + "\n",
    ]
    (DOCS / "accuracy.md").write_text("\n".join(parts), encoding="utf-8")
    rows = summary.rows(CELLS)
    with (DOCS / "accuracy.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _sizes(benchmarks: str) -> str:
    """The section of docs/benchmarks.md on errors by the number of variables."""
    _, _, after = benchmarks.partition("<!-- sizes -->\n")
    return after.partition("\n<!-- ")[0]


def _true_arrows(cell: Cell, networks: Path | None) -> str:
    """The mean number of arrows in the true graphs of the first tables."""
    if cell.published and networks is None:
        return "–"
    return f"{np.mean([model(cell, number, networks).dag.edge_count for number in range(5)]):.0f}"


def _unfinished(summary: Summary) -> list[str]:
    """A warning, if some method has fewer tables than it should: which, and what that does to the comparison."""
    most = {name: max(len(summary[cell, name].finished) for cell in CELLS) for name in summary.methods}
    few = [f"{name}: {count}" for name, count in most.items() if count < ENOUGH]
    if not few:
        return []
    return [
        f"**This run is not finished.** {ENOUGH} tables per method and cell are meant; so far there are at most {'; '.join(few)}. Standard "
        "errors of two tables are rough. A method with one table has none: it is not among the best methods and never bold, and "
        "where it is better that is one table only.\n"
    ]


def _tables_per_cell(summary: Summary, packages: str) -> str:
    rows = []
    for name in summary.methods:
        counts = [len(summary[cell, name].finished) for cell in CELLS]
        ran = [count for count in counts if count]
        span = f"{min(ran)} to {max(ran)}" if ran else "0"
        late = sum(summary[cell, name].late > 0 for cell in CELLS)
        failed = sum(summary[cell, name].failed > 0 for cell in CELLS)
        rows.append([name, len(ran), span, late, failed])
    head = ["method", "cells with scores", "tables per cell", f"cells > {LIMIT} s", "cells with failures"]
    absent = [name for name in NAMES if name not in summary.methods]
    left_out = f"Not run: {', '.join(absent)}.\n\n" if absent else ""
    return f"## What was run\n\n{table(head, rows)}\n\n{left_out}*{machine()}{packages}*\n"


def _best_counts(summary: Summary, halves: dict[str, list[Cell]]) -> str:
    rows = []
    for name in summary.methods:
        if name == KNOWS_TRUTH:
            continue
        row: list[object] = [name]
        for cells in halves.values():
            compared = [cell for cell in cells if summary[cell, name].contends]
            counts = [sum(summary.best(cell, name, metric) for cell in compared) for metric in MEASURES]
            row += [*counts, len(compared)] if compared else ["–"] * (len(counts) + 1)
        rows.append(row)
    head = [f"{half}: {word}" for half in halves for word in (*MEASURES.values(), "cells")]
    return (
        "## Best methods\n\nIn how many cells a method is best: no other is better by more than one standard error of the paired "
        "difference. Cells in which it ran out of time or has fewer than two tables are not counted among its cells.\n\n"
        f"{table(['method', *head], rows)}\n"
    )


def _paired(summary: Summary, subject: str, halves: dict[str, list[Cell]]) -> str:
    rows = []
    for name in summary.methods:
        if name != subject:
            counts = [summary.counts(cells, subject, name, metric) for cells in halves.values() for metric in MEASURES]
            rows.append([name, *(" / ".join(map(str, count)) for count in counts)])
    head = [f"{half}: {word}" for half in halves for word in MEASURES.values()]
    return (
        f"## {subject} against each other method\n\nTables on which {subject} is better / equal / worse, over the tables that both "
        f"finished.\n\n{table(['method', *head], rows)}\n"
    )


def _not_best(summary: Summary, subject: str) -> str:
    """The cells in which another method is better, with all that are."""
    rows = []
    for cell in CELLS:
        row = [", ".join(_gaps(summary, cell, subject, metric)) or "–" for metric in MEASURES]
        if set(row) != {"–"}:
            rows.append([cell.name, "broken" if cell.kind == BROKEN else cell.half, *row])
    shown = table(["cell", "half", *MEASURES.values()], rows) if rows else "None."
    return (
        f"## Where another method is better\n\nAll cells in which some method is better than {subject} by more than one standard error of "
        f"the paired difference, or on the only table that both have, and by how much (adjustment in percent of the pairs).\n\n{shown}\n"
    )


def _gaps(summary: Summary, cell: Cell, subject: str, metric: str) -> list[str]:
    scale = 100.0 if metric == "adjustment" else 1.0
    better, found = summary.better(cell, subject, metric), []
    for other in summary.methods:
        gap = summary.difference(cell, subject, other, metric)
        if other in better:
            found.append(f"{other} by {gap.mean * scale:.1f} ± {gap.error * scale:.1f}")
        elif gap.mean > 0 and math.isnan(gap.error) and other != KNOWS_TRUTH:
            found.append(f"{other} by {gap.mean * scale:.1f} (one table)")
    return found


def _scores(summary: Summary, cells: Sequence[Cell], arrows: dict[str, str]) -> str:
    return (
        f"### Distance\n\n{_grid(summary, cells, 'hamming', arrows)}\n\n### Class\n\n{_grid(summary, cells, 'class_hamming', arrows)}\n\n"
        f"### Adjustment, percent of the pairs\n\n{_grid(summary, cells, 'adjustment', None)}\n"
    )


def _grid(summary: Summary, cells: Sequence[Cell], metric: str, arrows: dict[str, str] | None) -> str:
    """One row per cell, one column per method."""
    methods = [name for name in summary.methods if any(_entry(summary, cell, name, metric) != "–" for cell in cells)]
    rows = []
    for cell in cells:
        entries = [_entry(summary, cell, name, metric) for name in methods]
        rows.append([cell.name, *([arrows[cell.name]] if arrows else []), *entries])
    return table(["cell", *(["true arrows"] if arrows else []), *methods], rows)


def _entry(summary: Summary, cell: Cell, name: str, metric: str) -> str:
    scores = summary[cell, name]
    if scores.late:
        return f"> {LIMIT} s"
    if not scores.finished:
        return "failed" if scores.failed else "–"
    text = _shown(scores.estimate(metric), metric)
    if metric in MEASURES and name != KNOWS_TRUTH and summary.best(cell, name, metric):
        text = f"**{text}**"
    return text + (f" ({scores.failed} failed)" if scores.failed else "")


def _shown(value: Estimate, metric: str) -> str:
    if not math.isfinite(value.mean):
        return "–"  # no graph with an adjustment distance
    if metric == "cpu_seconds":
        return duration(value.mean)
    scale = 100.0 if metric == "adjustment" else 1.0
    error = f" ± {value.error * scale:.1f}" if math.isfinite(value.error) else ""
    return f"{value.mean * scale:.1f}{error}"
