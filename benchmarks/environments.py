"""Environments with unknown targets: beside GnIES and UT-IGSP on their own designs, Sachs's cells, and false alarms.

`python -m benchmarks.environments DESIGN FIRST COUNT` adds tables to benchmarks/results/environments.jsonl and prints nothing; `python -m
benchmarks environments` makes the section of that file. `gnies` and `causaldag` take an environment of their own; methods that are not
installed are left out.
"""

from __future__ import annotations

import csv
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ordag
from ordag.common.arrays import Array, Mask
from ordag.data.datasets import load

RESULTS = Path(__file__).parent / "results" / "environments.jsonl"
LEVEL = 1e-5
"""Of the tests of UT-IGSP, as in its authors' simulations."""


class Design(NamedTuple):
    """Random graphs with so many neighbours and absolute weights from `least` to 1, environments beside the first, and rows of each.

    soft: targets keep a tenth of their weights and get the error variance 0.2 and the mean 1. Otherwise error variances are from 1 to 2,
    and from 5 to 10 in targets.
    """

    words: str
    neighbours: float
    least: float
    others: int
    targets: int
    rows: int
    soft: bool


DESIGNS = {
    "noise100": Design("error variances of one variable, 100 rows each", 2.7, 0.5, 3, 1, 100, soft=False),
    "noise1000": Design("the same, 1,000 rows each", 2.7, 0.5, 3, 1, 1000, soft=False),
    "soft1": Design("equation of one variable, 200 rows each", 1.5, 0.25, 5, 1, 200, soft=True),
    "soft3": Design("equations of three variables, 200 rows each", 1.5, 0.25, 5, 3, 200, soft=True),
}
P = 10
NOTHING = {"5 × 3": (5, 3, 100, 0.0), "8 × 4": (8, 4, 60, 1.0), "5 × 12": (5, 12, 30, 1.0), "6 × 2": (6, 2, 200, 1.0)}
"""Tables in which no equation differs: variables, environments, rows of each, and the standard deviation of their means."""


class Drawn(NamedTuple):
    """The rows of each environment, the adjacency, and which variables are targets in which."""

    parts: list[Array]
    truth: Mask
    targets: Mask


class Answer(NamedTuple):
    """An adjacency, both ways for undirected edges, and the variables whose equation differs anywhere."""

    graph: Mask
    targets: set[int]


def drawn(design: Design, number: int) -> Drawn:
    random = np.random.default_rng([127, number, design.rows, design.targets])
    order = random.permutation(P)
    A, B = np.zeros((P, P), dtype=bool), np.zeros((P, P))
    A[np.ix_(order, order)] = np.triu(random.random((P, P)) < design.neighbours / (P - 1), 1)
    B[A] = random.uniform(design.least, 1.0, A.sum()) * random.choice([-1.0, 1.0], A.sum())
    omega = np.ones(P) if design.soft else random.uniform(1.0, 2.0, P)
    targets, parts = np.zeros((design.others + 1, P), dtype=bool), []
    for e in range(design.others + 1):
        C, variance, mean = B.copy(), omega.copy(), np.zeros(P)
        if e:
            own = random.choice(P, design.targets, replace=False)
            targets[e, own] = True
            variance[own] = 0.2 if design.soft else random.uniform(5.0, 10.0, len(own))
            if design.soft:
                C[:, own] *= 0.1
                mean[own] = 1.0
        errors = random.standard_normal((design.rows, P)) * np.sqrt(variance) + mean
        parts.append(errors @ np.linalg.inv(np.eye(P) - C))
    return Drawn(parts, A, targets)


def ours(parts: list[Array], **settings: Any) -> Answer:
    names = [f"x{j}" for j in range(parts[0].shape[1])]
    labels = [f"e{e}" for e, part in enumerate(parts) for _ in part]
    fit = ordag.learn(
        {**dict(zip(names, np.concatenate(parts).T, strict=True)), "e": labels}, environment="e", **settings
    )
    told = {one["variable"] for one in fit.changes.found if one["changed"] != ["level"]}
    return Answer(np.asarray(fit.graph.adjacency), {names.index(name) for name in told})


def gnies(parts: list[Array]) -> Answer:
    from gnies import fit

    _, graph, targets = fit([np.asarray(part) for part in parts])
    return Answer(np.asarray(graph) != 0, set(targets))


def ut_igsp(parts: list[Array]) -> Answer:
    from causaldag import unknown_target_igsp
    from conditional_independence import (
        MemoizedCI_Tester,
        MemoizedInvarianceTester,
        gauss_invariance_suffstat,
        gauss_invariance_test,
        partial_correlation_suffstat,
        partial_correlation_test,
    )

    independence = partial_correlation_suffstat(np.concatenate(parts))
    invariance = gauss_invariance_suffstat(parts[0], parts[1:])
    dag, targets = unknown_target_igsp(
        [{"known_interventions": []} for _ in parts[1:]],
        set(range(parts[0].shape[1])),
        MemoizedCI_Tester(partial_correlation_test, independence, alpha=LEVEL),
        MemoizedInvarianceTester(gauss_invariance_test, invariance, alpha=LEVEL),
    )
    graph = np.asarray(dag.to_amat()[0]) != 0
    return Answer(graph, {int(j) for one in targets for j in one})


METHODS: dict[str, Callable[[list[Array]], Answer]] = {
    "ordag": ours,
    "best graph alone": lambda parts: ours(parts, draws=0),
    "gnies": gnies,
    "ut_igsp": ut_igsp,
}


def distance(graph: Mask, truth: Mask) -> float:
    """Return the pairs at which a graph differs from the true one, an undirected edge for an arrow as half a pair."""
    line, true_line = graph & graph.T, truth | truth.T
    absent = ((graph | graph.T) != true_line).sum() / 2
    return float(absent + (graph & truth.T & ~graph.T).sum() + (line & truth).sum() / 2)


def measured(design: str, first: int, count: int) -> Iterator[dict[str, Any]]:
    for number in range(first, first + count):
        given = sachs() if design == "sachs" else drawn(DESIGNS[design], number)
        wanted = set(np.flatnonzero(given.targets.any(axis=0)).tolist())
        for name, method in METHODS.items():
            begun = time.process_time()
            try:
                found = method(given.parts)
            except ImportError:
                continue
            right = len(found.targets & wanted)
            yield {
                "design": design,
                "table": number,
                "method": name,
                "seconds": time.process_time() - begun,
                "distance": distance(found.graph, given.truth),
                "right": right,
                "said": len(found.targets),
                "targets": len(wanted),
            }


def false_alarms(first: int, count: int) -> Iterator[dict[str, Any]]:
    """Learn from tables in which no equation differs."""
    for words, (p, environments, rows, spread) in NOTHING.items():
        for number in range(first, first + count):
            random = np.random.default_rng([128, p, environments, number])
            B = np.triu(random.uniform(0.5, 1.0, (p, p)) * random.choice([-1.0, 1.0], (p, p)), 1)
            B *= random.random((p, p)) < 0.5
            parts = [
                (random.standard_normal((rows, p)) + spread * random.standard_normal(p)) @ np.linalg.inv(np.eye(p) - B)
                for _ in range(environments)
            ]
            names = [f"x{j}" for j in range(p)]
            labels = [f"e{e}" for e, part in enumerate(parts) for _ in part]
            columns = dict(zip(names, np.concatenate(parts).T, strict=True))
            fit = ordag.learn({**columns, "e": labels}, environment="e", draws=0)
            told = [one["changed"] for one in fit.changes.found]
            yield {
                "design": "nothing",
                "cell": words,
                "table": number,
                "equations": any(one != ["level"] for one in told),
                "levels": any("level" in one for one in told),
                "levels_differ": spread > 0.0,
            }


def sachs() -> Drawn:
    """Read Sachs's cells: the untouched ones, then those of each experiment; logarithms."""
    data = load("sachs_experiments")
    with data.path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    names = [name for name in rows[0] if name != "experiment"]
    labels = ["", *sorted({row["experiment"] for row in rows} - {""})]
    parts = [
        np.array([[float(row[name]) for name in names] for row in rows if row["experiment"] == one]) for one in labels
    ]
    truth, targets = np.zeros((len(names),) * 2, dtype=bool), np.zeros((len(labels), len(names)), dtype=bool)
    for source, target in data.consensus:
        truth[names.index(source), names.index(target)] = True
    for e, label in enumerate(labels[1:], start=1):
        targets[e, names.index(label)] = True
    return Drawn(parts, truth, targets)


def main() -> None:
    design, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    RESULTS.parent.mkdir(exist_ok=True)
    ours([part[:30] for part in drawn(DESIGNS["noise100"], -1 % 10**6).parts])  # compiles
    rows = false_alarms(first, count) if design == "nothing" else measured(design, first, count)
    for row in rows:
        with RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
