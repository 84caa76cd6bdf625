"""Section 5: the marks of 88 students analysed again, and compared with the paper's Figures 5, 6 and 7."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
from scipy.special import chdtrc

from ordag.assess.normality import kurtosis_test
from ordag.common.arrays import Array
from ordag.data.datasets import load
from ordag.data.moments import Moments
from ordag.graph.cpdag import Cpdag, extend
from ordag.graph.dag import Dag
from ordag.graph.graph import Graph
from ordag.learners.gds import gds_score
from ordag.learners.pc import pc_search
from ordag.learning import learn
from ordag.order.least_squares import forward
from ordag.paper.experiment import Experiment, Rows, Task
from ordag.paper.marks_report import PANELS, SUBJECTS, claims, differences, figures
from ordag.paper.simulations import task_seed
from ordag.parents.tests import fisher_z

ALPHA = 0.05
RESAMPLES, BLOCKS = 200, 10
"""Bootstrap resamples of a task, and the number of such tasks."""

GAUSSIAN_TABLES = 2000
PAIRS = tuple(combinations(range(len(SUBJECTS)), 2))

GRAPHS: dict[str, tuple[str, dict[str, Any], str]] = {
    "cvs": (
        "6 right",
        {"alpha": ALPHA},
        "Whatever one conditions on, mechanics varies more than vectors: no minimum-variance rule puts it first.",
    ),
    "pc": (
        "7 left",
        {"alpha": ALPHA, "colliders": "first"},
        "PC leaves this edge undirected, and only its arrows were drawn.",
    ),
    "pc-largest": (
        "7 left",
        {"alpha": ALPHA, "colliders": "largest"},
        "The arrows drawn depend on the order of the columns; a rule that does not has none.",
    ),
    "ges": ("7 middle", {}, "GES joins the two without a direction, and only arrows were drawn."),
    "gds": ("7 right", {"seed": 0}, "The figure is the transpose of what GDS returns."),
}
"""By method: the panel of the paper, the settings nearest to it, and why the graph found here differs."""


def tasks(quick: bool) -> Sequence[Task]:
    once = [Task("marks", "marks", 5, 88, 0, method) for method in PARTS if method != "bootstrap"]
    return [*once, *(Task("marks", "marks", 5, 88, block, "bootstrap") for block in range(1 if quick else BLOCKS))]


def run(task: Task) -> Rows:
    return PARTS[task.method](task)


def marks() -> Array:
    """Load the table, one row per student."""
    return np.loadtxt(load("marks").path, delimiter=",", skiprows=1)


def correlations(task: Task) -> Rows:
    """Compute Figure 5: correlations, and partial correlations given the other three subjects, with Fisher's z."""
    C: Array = np.asarray(np.corrcoef(marks(), rowvar=False))
    P = np.linalg.inv(C)
    partial = -P / np.sqrt(np.outer(np.diagonal(P), np.diagonal(P)))
    rows = []
    for quantity, matrix, k in (("correlation", C, 0), ("partial correlation", partial, 3)):
        tests = fisher_z(matrix[tuple(np.transpose(PAIRS))], task.n, np.array(float(k)))
        for (i, j), p_value in zip(PAIRS, tests.tolist(), strict=True):
            rows.append(_pair(i, j) | {"quantity": quantity, "value": float(matrix[i, j]), "p_value": p_value})
    return rows


def normality(task: Task) -> Rows:
    """Run the kurtosis test, by its limiting distribution and against Gaussian tables of the same shape."""
    test = kurtosis_test(marks())
    random = np.random.default_rng(task_seed(task, "gaussian tables"))
    larger = sum(
        kurtosis_test(random.standard_normal((task.n, task.p))).statistic >= test.statistic
        for _ in range(GAUSSIAN_TABLES)
    )
    share = (larger + 1) / (GAUSSIAN_TABLES + 1)
    return [
        {"quantity": "kurtosis test", "value": test.statistic, "p_value": test.p_value},
        {"quantity": "kurtosis test, simulated", "value": test.statistic, "p_value": share, "of": GAUSSIAN_TABLES},
    ]


def undirected(task: Task) -> Rows:
    """Compute Figure 6, left: join the pairs that are correlated given all the rest, and measure the fit.

    The deviance of the graph is n times the difference in Σ log(residual squares) between a DAG without colliders that
    has its edges, and the complete one.
    """
    tests = [row for row in correlations(task) if row["quantity"] == "partial correlation"]
    graph = Cpdag.from_edges(SUBJECTS, [], [(r["first"], r["second"]) for r in tests if r["p_value"] < ALPHA])
    dag = extend(graph)
    order = [SUBJECTS.index(name) for name in dag.topological_order()]
    deviance = 0.0
    for k, j in enumerate(order):
        parents = np.flatnonzero(dag.adjacency[:, j]).tolist()
        deviance += task.n * float(np.log(residual_squares(j, parents) / residual_squares(j, order[:k])))
    missing = len(PAIRS) - graph.edge_count
    fit = {"quantity": "deviance", "value": deviance, "of": missing, "p_value": float(chdtrc(missing, deviance))}
    return [*edges_beside("6 left", graph), fit]


def graph_of(method: str) -> Graph:
    return learn("marks", method.split("-")[0], **GRAPHS[method][1]).graph


def learned(task: Task) -> Rows:
    """Compute Figure 6, right, or a panel of Figure 7."""
    panel, _, why = GRAPHS[task.method]
    return edges_beside(panel, graph_of(task.method), why)


def edges_beside(panel: str, found: Graph, why: str = "") -> Rows:
    """Return one row per pair that the paper's panel or the graph found joins, with the edge mark of each."""
    printed = PANELS[panel].graph
    rows = []
    for i, j in PAIRS:
        paper, here = mark(printed, i, j), mark(found, i, j)
        if (paper, here) != ("no edge", "no edge"):
            marks = {"quantity": "edge", "figure": panel, "paper": paper, "here": here}
            rows.append(_pair(i, j) | marks | {"agrees": int(paper == here), "why": "" if paper == here else why})
    return rows


def mark(graph: Graph, i: int, j: int) -> str:
    forwards, backwards = bool(graph.adjacency[i, j]), bool(graph.adjacency[j, i])
    return {(True, True): "—", (True, False): "→", (False, True): "←"}.get((forwards, backwards), "no edge")


def gds(task: Task) -> Rows:
    """Compute Figure 7, right, and the scores that GDS gives to the graphs in question."""
    found, moments = graph_of("gds"), Moments.scan(load("marks").path)
    drawn = Dag(SUBJECTS, PANELS["7 right"].graph.adjacency)
    graphs = {
        "as GDS returns it": Dag(SUBJECTS, found.adjacency),
        "as Figure 7 draws it": drawn,
        "the transpose of Figure 7": Dag(SUBJECTS, drawn.adjacency.T),
        "as Figure 6 draws it": Dag(SUBJECTS, PANELS["6 right"].graph.adjacency),
    }
    scores = [{"quantity": "score", "here": name, "value": gds_score(moments, dag)} for name, dag in graphs.items()]
    return [*learned(task), *scores]


def variances(task: Task) -> Rows:
    """Compute the variance of mechanics and of vectors given every set of the other subjects, divisor n − 1."""
    rows = []
    for subject in ("mechanics", "vectors"):
        j = SUBJECTS.index(subject)
        others = [k for k in range(len(SUBJECTS)) if k != j]
        for given in (given for size in range(5) for given in combinations(others, size)):
            names = ", ".join(SUBJECTS[k] for k in given) or "nothing"
            row = {"quantity": "conditional variance", "first": subject, "given": names}
            rows.append(row | {"value": residual_squares(j, given) / (task.n - 1)})
    return rows


def residual_squares(j: int, given: Sequence[int]) -> float:
    """Return the residual sum of squares of subject j on others, by least squares on the rows."""
    X = marks()
    Z = X - X.mean(axis=0)
    columns = Z[:, list(given)]
    residual = Z[:, j] - columns @ np.linalg.lstsq(columns, Z[:, j], rcond=None)[0]
    return float(residual @ residual)


def column_orders(task: Task) -> Rows:
    """Count PC's graphs over the 120 orders of the columns, for two rules about colliders."""
    moments = Moments.scan(load("marks").path)
    rows = []
    for rule in ("first", "largest"):
        seen: Counter[Cpdag] = Counter()
        for order in permutations(SUBJECTS):
            seen[pc_search(moments.select(order), alpha=ALPHA, colliders=rule).graph.reorder(SUBJECTS)] += 1
        for graph, count in seen.most_common():
            arrows = ", ".join(f"{a} → {b}" for a, b in graph.directed) or "no arrows"
            rows.append({"quantity": "column order", "figure": rule, "here": arrows, "value": count, "of": 120})
    return rows


def bootstrap(task: Task) -> Rows:
    """Count the resamples of the students in which the first of each pair of subjects precedes the second."""
    X, random = marks(), np.random.default_rng(task_seed(task, "bootstrap"))
    before = np.zeros((5, 5), dtype=int)
    for _ in range(RESAMPLES):
        position = np.argsort(forward(Moments.from_rows(X[random.integers(0, task.n, task.n)], SUBJECTS)).order)
        before += position[:, None] < position[None, :]
    return [
        _pair(i, j) | {"quantity": "bootstrap", "value": int(before[i, j]), "of": RESAMPLES}
        for i, j in permutations(range(5), 2)
    ]


def _pair(i: int, j: int) -> dict[str, Any]:
    return {"first": SUBJECTS[i], "second": SUBJECTS[j]}


PARTS: dict[str, Callable[[Task], Rows]] = {
    "correlations": correlations,
    "normality": normality,
    "undirected": undirected,
    "cvs": learned,
    "pc": learned,
    "pc-largest": learned,
    "ges": learned,
    "gds": gds,
    "variances": variances,
    "column-orders": column_orders,
    "bootstrap": bootstrap,
}
"""The parts of the section; each is the method of a task."""

MARKS = Experiment(
    name="marks",
    title="Section 5, Figures 5 to 7: the exam marks",
    tasks=tasks,
    run=run,
    figures=figures,
    claims=claims,
    table=differences,
    settings={"alpha": ALPHA, "resamples": RESAMPLES, "gaussian_tables": GAUSSIAN_TABLES},
)
