"""The search over orders beside FLOP: how near to the true class and DAG, and how long, over densities, sizes and units?

flopsearch and gadjid come with `make bench`. Without the first the table has Ordag's figures alone, without the second it has no
adjustment distances.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.errors import OrdagWarning
from ordag.graph import Dag, to_cpdag

SEED = 2026
PATIENCE = 500
"""Variables up to which FLOP is run: 20 restarts take ten minutes beyond."""

RESTARTS = 20
SIZES, DEGREES = [50, 100, 200, 400, 800], [2.0, 4.0, 8.0]
STYLES = [("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^")]
PICTURE = Path(__file__).parents[1] / "docs" / "figures" / "search_growth.svg"
Graph = NDArray[np.bool_]


class Design(NamedTuple):
    """Random tables: an Erdős–Rényi graph of this degree, weights of random sign, error variances log-uniform up to `spread`."""

    p: int
    degree: float
    n: int
    weights: tuple[float, float]
    units: str
    spread: float = 1.0

    @property
    def name(self) -> str:
        low, high = self.weights
        spread = "" if self.spread == 1.0 else f" × {self.spread:g}"
        return f"p = {self.p}, degree {self.degree:g}, n = {self.n}, weights {low:g}–{high:g}, {self.units}{spread}"


STRONG, WEAK = (0.5, 2.0), (0.2, 1.0)
DESIGNS = [
    (Design(20, 2, 400, WEAK, "raw", 20), 40),
    (Design(20, 8, 400, STRONG, "standardised"), 40),
    (Design(20, 12, 200, WEAK, "standardised"), 40),
    (Design(30, 4, 45, STRONG, "random units", 20), 40),
    (Design(80, 3, 40, STRONG, "raw"), 10),
    (Design(50, 6, 1000, WEAK, "random units"), 16),
    (Design(50, 8, 1000, STRONG, "raw"), 16),
    (Design(60, 10, 600, STRONG, "standardised"), 10),
    (Design(80, 20, 1600, WEAK, "standardised"), 8),
    (Design(100, 4, 500, WEAK, "raw", 20), 8),
    (Design(150, 3, 3000, WEAK, "standardised"), 5),
    (Design(200, 6, 1000, STRONG, "standardised"), 5),
    (Design(400, 4, 800, STRONG, "random units", 20), 5),
    (Design(1000, 4, 2000, STRONG, "raw", 20), 1),
]
"""Designs and numbers of tables: none of them was used while the search took shape."""


def drawn(design: Design, number: int) -> tuple[NDArray[np.float64], Graph]:
    """Rows of a random model, and its graph."""
    random = np.random.default_rng([SEED, number, design.p, design.n, round(10 * design.degree)])
    p = design.p
    pairs = np.stack(np.triu_indices(p, 1))
    chosen = pairs[:, random.choice(pairs.shape[1], min(round(p * design.degree / 2), pairs.shape[1]), replace=False)]
    B = np.zeros((p, p))
    B[tuple(chosen)] = random.uniform(*design.weights, chosen.shape[1]) * random.choice([-1.0, 1.0], chosen.shape[1])
    X = random.standard_normal((design.n, p)) * np.exp(random.uniform(0.0, math.log(design.spread), p) / 2.0)
    for j in range(p):
        parents = np.flatnonzero(B[:, j])
        X[:, j] += X[:, parents] @ B[parents, j]
    if design.units == "standardised":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    elif design.units == "random units":
        X = X * np.exp(random.uniform(-3.0, 3.0, p))
    places = random.permutation(p)
    return X[:, places], (B != 0.0)[np.ix_(places, places)]


def class_of(adjacency: Graph) -> Graph:
    names = [f"x{j}" for j in range(len(adjacency))]
    return np.asarray(to_cpdag(Dag(names, adjacency)).adjacency)


def pairs_apart(one: Graph, other: Graph) -> int:
    """Pairs of variables between which two graphs differ."""
    differ = one != other
    return int(np.triu(differ | differ.T).sum())


def by_ordag(X: NDArray[np.float64]) -> Graph:
    return np.asarray(ordag.learn(X, method="pooled", draws=0).graph.adjacency)


def by_flop(X: NDArray[np.float64]) -> Graph:
    from flopsearch import flop

    return np.asarray(flop(X, 2.0, restarts=RESTARTS)) > 0


def timed(call: Callable[[Any], Graph], X: NDArray[np.float64]) -> tuple[Graph, float]:
    """What a call gives, and the CPU time of all its threads: time on the wall depends on what else the machine does."""
    start = time.process_time()
    found = call(X)
    return found, time.process_time() - start


def adjusted(truth: Graph, found: Graph) -> float:
    """The share of pairs for which the parents in the graph found are no valid adjustment set in the true one."""
    from gadjid import parent_aid

    return float(parent_aid(truth.astype(np.int8), found.astype(np.int8), edge_direction="from row to column")[0])


def measure(design: Design, tables: int) -> list[str]:
    """One line: distances and CPU times, and how much farther from the true class and DAG Ordag is, with the standard errors."""
    peer = find_spec("flopsearch") is not None and design.p <= PATIENCE
    distances = find_spec("gadjid") is not None
    rows = []
    for number in range(tables):
        X, truth = drawn(design, number)
        true_class = class_of(truth)
        ours, seconds = timed(by_ordag, X)
        row = [
            pairs_apart(class_of(ours), true_class),
            int((ours != truth).sum()),
            seconds,
            *[math.nan] * 4,
        ]
        if peer and design.n > design.p:  # with fewer rows FLOP stops: "Cholesky decomposition failed"
            theirs, row[4] = timed(by_flop, X)
            row[3] = pairs_apart(theirs, true_class)
            row[5] = int((theirs != truth).sum())
        if distances:
            row[6] = adjusted(truth, ours)
        rows.append(row)
    values = np.array(rows)
    mean = values.mean(axis=0)
    farther = [values[:, 0] - values[:, 3], values[:, 1] - values[:, 5]]
    errors = [f" ± {one.std(ddof=1) / math.sqrt(tables):.1f}" if tables > 1 else "" for one in farther]
    said = [f"{mean[0]:.1f}", f"{mean[1]:.1f}", f"{mean[6]:.3f}" if distances else "–", f"{mean[2]:.3f}"]
    if np.isnan(mean[3]):
        return [design.name, str(tables), *said, *["–"] * 5]
    theirs_said = [f"{mean[3]:.1f}", f"{mean[5]:.1f}", f"{mean[4]:.3f}"]
    gaps = [f"{one.mean():+.1f}{error}" for one, error in zip(farther, errors, strict=True)]
    return [design.name, str(tables), *said, *theirs_said, *gaps]


def grown() -> dict[float, list[float]]:
    """CPU seconds for every degree, one table of each size in SIZES with 2p rows and error variances × 20."""
    return {
        degree: [timed(by_ordag, drawn(Design(p, degree, 2 * p, STRONG, "raw", 20), 0)[0])[1] for p in SIZES]
        for degree in DEGREES
    }


def draw(seconds: dict[float, list[float]]) -> None:
    """How the time grows with the number of variables and the degree, as a picture."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for (degree, values), (colour, marker) in zip(seconds.items(), STYLES, strict=True):
        axes.loglog(SIZES, values, color=colour, marker=marker, label=f"degree {degree:g}")
    axes.set(xlabel="variables", ylabel="seconds of CPU time", title="The search, n = 2p, error variances × 20")
    axes.set_xticks(SIZES, [str(p) for p in SIZES])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(PICTURE, metadata={"Date": None})


def run() -> str:
    lines = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdagWarning)
        by_ordag(drawn(DESIGNS[0][0], 0)[0])  # loads the compiled code
        for design, tables in DESIGNS:
            lines.append(measure(design, tables))
            print(" | ".join(lines[-1]), flush=True)
        seconds = grown()
    draw(seconds)
    return section(lines, seconds)


def section(lines: list[list[str]], seconds: dict[float, list[float]]) -> str:
    """The text, from the lines of `measure` and the times of `grown`."""
    head = ["tables", "number", "class", "DAG", "adjustment", "s"]
    head += ["FLOP: class", "FLOP: DAG", "FLOP: s", "ours − FLOP's class", "ours − FLOP's DAG"]
    return f"""## The search beside FLOP

Erdős–Rényi graphs with weights of random sign, columns shuffled. Class: pairs that differ between the learned and the true CPDAG. DAG:
wrong entries of the adjacency. FLOP gives a class, in which an edge without a direction counts one wrong entry. Adjustment: the share
of pairs for which the learned parents are no valid adjustment set (gadjid). s: CPU time per table, of all threads together; Ordag's
(`method="pooled", draws=0`, two threads) includes reading the array and finding the first order. FLOP is flopsearch with λ = 2 and
{RESTARTS} restarts, in one thread. The last two columns are the mean differences over the same tables, with their standard errors: below
zero Ordag is nearer.

{table(head, lines)}

{_worse(lines)}

![CPU time by the number of variables, for three degrees](figures/search_growth.svg)

One table of each size: {"; ".join(f"degree {degree:g}: {_listed(values)}" for degree, values in seconds.items())}."""


def _worse(lines: list[list[str]]) -> str:
    """Where FLOP is better, from the lines of `measure`."""
    compared = [line for line in lines if line[9] != "–"]
    class_gaps, dag_gaps = ([[float(part) for part in line[at].split(" ± ")] for line in compared] for at in (9, 10))
    said = {
        "FLOP is nearer to the true class by more than one standard error": [
            len(g) == 2 and g[0] > g[1] for g in class_gaps
        ],
        "It is nearer to the true DAG by more than one standard error": [len(g) == 2 and g[0] > g[1] for g in dag_gaps],
        "It takes less CPU time": [float(line[8]) < float(line[5]) for line in compared],
    }
    sentences = []
    for sentence, cases in said.items():
        where = [line[0] for line, case in zip(compared, cases, strict=True) if case]
        sentences.append(f"{sentence}: {'; '.join(where) or 'nowhere'}.")
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _listed(values: list[float]) -> str:
    return ", ".join(f"{p} variables {value:.2f} s" for p, value in zip(SIZES, values, strict=True))
