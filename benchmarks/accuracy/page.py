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
from benchmarks.accuracy.methods import KNOWS_TRUTH
from benchmarks.accuracy.store import stored
from benchmarks.accuracy.summary import Estimate, Summary
from benchmarks.timing import duration, table

DOCS = Path(__file__).parents[2] / "docs"
SUBJECT = "pooled"

HEAD = f"""# Accuracy

How near is the learned graph to the true one? This page compares Ordag's methods with other packages on the same random tables.
`python -m benchmarks accuracy` makes the tables, runs what is not stored yet and writes this page. `make peers` installs the other
packages first. The numbers behind the page are in [accuracy.csv](accuracy.csv), one row per cell and method.

**Distance** is the number of entries in which the directed adjacency differs from the true one. A missing or an extra arrow counts 1,
a turned arrow 2. An edge without a direction has both entries, so it counts 1 against a true arrow. **SHD** is the number of pairs
whose edge differs; a turned arrow counts 1. **Turned** is the share of arrows that point the wrong way, among the learned arrows
between truly adjacent pairs. **Class** is the distance between the equivalence classes of the two graphs, entry by entry. **Adjustment**
is the share of pairs for which the learned parents are no valid adjustment set in the true graph (parent-AID of gadjid); a class that
leaves open which are the parents counts as wrong there. All are means over the tables of a cell, ± one standard error. A method with
one table has no standard error. Bold are the methods that no other beats by more than one standard error of the paired difference.

Ordag's methods have more tables per cell than the slower packages, so means in one row may be over different tables. Every
comparison between two methods (bold, wins and losses, "not best") uses only the tables that both finished. Where these are two or
three, its standard error is rough.

A call has {LIMIT} s of CPU time on one thread per table. "> {LIMIT} s" means that it did not end within them for at least one table of
the cell; its other tables are then not tried. "Failed" means that the package stopped with an error on every table. A dash means that
it was not run. The other packages run with their own defaults, but for PC's level, which is 1 %, and FLOP, which has λ = 2 and 20
restarts. Ordag's pooled search is called with `draws=0`: its graph is the one of the lowest score. "{KNOWS_TRUTH}" is no
method that anyone could use: its threshold is the one that comes nearest to the true graph. It is shown to see what the default
threshold costs, and takes no part in comparisons.

## How the tables are drawn

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

## The two halves

The cells were split into halves before anything was run: within every kind they alternate between "think" and "final". Choices in
Ordag are made on the "think" half only. The "final" half is what the comparison is about. Two dense cells of the paper's design 4.1
(p = 50, n = 100 and p = 80, n = 1000) were in the final half at first. There the search had taken a wrong order with a better score
for the right one. What was changed then was chosen on such tables, so these cells count as "think" since, and two others
of the same design (p = 60, n = 300 and p = 70, n = 2000) took their place. A last rule followed a run of both halves: a dense graph
with equal error variances is left as the first start has it. The dense cells of the think half had shown the reason, and so had
these two, so they are no independent evidence for that rule. And the number of kicks with few variables was raised after two tables of
ER3 p20 n500 standardised (final) had ended far from the truth, with 7.7 wrong entries on average in that cell where there are 4.3 now.
Before the split, kinds of tables that are now in either half had been
tried with other random numbers while the pooled method took shape: the tables of the final half are new, not all of its kinds.
"""


def write(results: Path, networks: Path | None) -> None:
    """The page, the table of numbers and the picture, from what is stored."""
    summary = Summary(stored(results))
    if not summary.methods:
        raise SystemExit(f"nothing is stored in {results}: run `python -m benchmarks accuracy` first.")
    usual = [cell for cell in CELLS if cell.kind != BROKEN]
    final, think = ([cell for cell in usual if cell.half == half] for half in ("final", "think"))
    halves = {"final half": final, "think half, used for choices": think}
    picture.draw(summary, halves, DOCS / "figures" / "accuracy.png")
    arrows = {cell.name: _true_arrows(cell, networks) for cell in CELLS}
    subject = SUBJECT if SUBJECT in summary.methods else summary.methods[0]
    parts = [
        HEAD,
        _tables_per_cell(summary),
        "## All cells in one picture\n\n![Distances in all cells](figures/accuracy.png)\n\nOne row per cell, one mark per method. The "
        "best method of the cell is at 1, and a mark at 2 is about twice as far from the true graph. Filled marks are Ordag's. Methods "
        "that ran out of time are not shown.\n",
        "## Best methods\n\n" + _best_counts(summary, halves),
        _paired(summary, subject, halves),
        _not_best(summary, subject, halves),
        "## Final half\n\n" + _scores(summary, final, arrows),
        "## Think half, used for choices\n\nThese cells were looked at while Ordag's methods were made. They say less than the others.\n\n"
        + _scores(summary, think, arrows),
        "## Assumptions broken\n\n" + _scores(summary, [cell for cell in CELLS if cell.kind == BROKEN], arrows),
        "## Equivalence classes\n\nThe class of the learned graph against the class of the true one, entry by entry. Where scales are "
        "lost, normal data tell graphs apart only up to their class. The cells are of both halves.\n\n"
        + _grid(summary, usual, "class_hamming", arrows)
        + "\n",
        "## Adjustment sets\n\nThe share of pairs with a wrong adjustment set, in percent. The cells are of both halves.\n\n"
        + _grid(summary, usual, "adjustment", None)
        + "\n",
        "## Times\n\nMean CPU time per table on one thread.\n\n" + _grid(summary, usual, "cpu_seconds", None) + "\n",
    ]
    (DOCS / "accuracy.md").write_text("\n".join(parts), encoding="utf-8")
    rows = summary.rows(CELLS)
    with (DOCS / "accuracy.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _true_arrows(cell: Cell, networks: Path | None) -> str:
    """The mean number of arrows in the true graphs of the first tables."""
    if cell.published and networks is None:
        return "–"
    return f"{np.mean([model(cell, number, networks).dag.edge_count for number in range(5)]):.0f}"


def _tables_per_cell(summary: Summary) -> str:
    rows = []
    for name in summary.methods:
        counts = [len(summary[cell, name].finished) for cell in CELLS]
        ran = [count for count in counts if count]
        span = f"{min(ran)} to {max(ran)}" if ran else "0"
        late = sum(summary[cell, name].late > 0 for cell in CELLS)
        failed = sum(summary[cell, name].failed > 0 for cell in CELLS)
        rows.append([name, len(ran), span, late, failed])
    head = ["method", "cells with scores", "tables per cell", f"cells > {LIMIT} s", "cells with failures"]
    return f"## What was run\n\n{table(head, rows)}\n"


def _best_counts(summary: Summary, halves: dict[str, list[Cell]]) -> str:
    rows = []
    for name in summary.methods:
        row: list[object] = [name]
        for cells in halves.values():
            compared = [cell for cell in cells if summary[cell, name].contends]
            good = sum(summary.best(cell, name) for cell in compared)
            row.append(f"{good} of {len(compared)}" if name != KNOWS_TRUTH else "–")
        rows.append(row)
    return (
        "In how many cells a method is best: no other is nearer to the truth by more than one standard error of the paired difference, "
        "over the tables that both have. Cells in which it ran out of time or has less than two tables are not counted among its "
        f"cells.\n\n{table(['method', *halves], rows)}\n"
    )


def _paired(summary: Summary, subject: str, halves: dict[str, list[Cell]]) -> str:
    rows = []
    for name in summary.methods:
        if name != subject:
            counts = [summary.counts(cells, subject, name) for cells in halves.values()]
            rows.append([name, *(" / ".join(map(str, count)) for count in counts)])
    return (
        f"## {subject} against each other method\n\nTables on which {subject} is nearer to the truth / as near / farther, over the tables "
        f"that both finished.\n\n{table(['method', *halves], rows)}\n"
    )


def _not_best(summary: Summary, subject: str, halves: dict[str, list[Cell]]) -> str:
    parts = [
        f"## Where it is not best\n\nThe cells in which some method is nearer to the truth than {subject} by more than one standard error "
        "of the paired difference.\n\n"
        "In the dense designs of the paper the order by conditional variance is right and only the parents are in doubt. Backward "
        "elimination from all predecessors, with its degrees of freedom, finds these a little better than growing and shrinking under "
        "a score for many rows, most of all with few rows. In a complete graph all graphs are of one class, so only the variances can "
        "tell; where they differ, a model that asks how alike they are is less sure of the smallest than a rule that takes it first.\n"
    ]
    for title, cells in halves.items():
        rows = []
        for cell in cells:
            for other in summary.better(cell, subject):
                gap = summary.difference(cell, subject, other)
                shared = len(summary[cell, subject].finished.keys() & summary[cell, other].finished.keys())
                rows.append([cell.name, other, f"{gap.mean:.2f} ± {gap.error:.2f}", shared])
        shown = table(["cell", "nearer", "by", "shared tables"], rows) if rows else "None."
        parts.append(f"### {title[0].upper()}{title[1:]}\n\n{shown}\n")
    return "\n".join(parts)


def _scores(summary: Summary, cells: Sequence[Cell], arrows: dict[str, str]) -> str:
    return (
        f"### Distance\n\n{_grid(summary, cells, 'hamming', arrows)}\n\n### SHD\n\n{_grid(summary, cells, 'shd', arrows)}\n\n"
        f"### Turned arrows\n\n{_grid(summary, cells, 'turned', None)}\n"
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
    distance = metric in ("hamming", "shd", "class_hamming")
    if distance and name != KNOWS_TRUTH and summary.best(cell, name, metric):
        text = f"**{text}**"
    return text + (f" ({scores.failed} failed)" if scores.failed else "")


def _shown(value: Estimate, metric: str) -> str:
    if not math.isfinite(value.mean):
        return "no arrows"
    if metric == "cpu_seconds":
        return duration(value.mean)
    scale, unit = (100.0, " %") if metric in ("turned", "adjustment") else (1.0, "")
    error = f" ± {value.error * scale:.1f}" if math.isfinite(value.error) else ""
    return f"{value.mean * scale:.1f}{error}{unit}"
