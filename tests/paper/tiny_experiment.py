"""A tiny experiment for the tests of the engine: squares of random numbers, with a picture."""

import os

import numpy as np

from ordag.paper.drawing import Panel, lines
from ordag.paper.experiment import Experiment, Task
from ordag.paper.simulations import task_seed


def tasks(quick):
    return [
        Task("squares", "numbers", 1, n, replicate, method)
        for replicate in range(2 if quick else 5)
        for n in (1, 2, 3)
        for method in ("square", "cube")
    ]


def complete_only():
    return [Task("squares", "numbers", 1, 4, replicate, "square") for replicate in range(5)]


def run(task):
    x = np.random.default_rng(task_seed(task, "x")).normal(size=200)
    # a product of matrices, for which the number of threads could matter
    value = float(np.linalg.eigvalsh(np.outer(x, x) + np.eye(200))[-1])
    if trace := os.environ.get("SQUARES_TRACE"):
        with open(trace, "a") as file:
            file.write(f"{task}\n")
    return [{"value": value ** (2 if task.method == "square" else 3)}]


def broken(task):
    if task.n == 3 and task.method == "cube":
        raise ZeroDivisionError("no cube today")
    return run(task)


def deadly(task):
    if task.n == 3 and task.replicate == 1:
        os._exit(9)
    return run(task)


def interrupted(task):
    if task.replicate == 1:
        raise KeyboardInterrupt
    return run(task)


def sketched(rows):
    """Files in the place of the figures: to draw takes most of a run, and only one test looks at what is drawn."""
    return {f"squares.{ending}": f"{len(rows)} rows".encode() for ending in ("png", "svg")}


def drawn(rows):
    return lines(
        [Panel("numbers", rows, "value", "value")],
        {"square": "x²", "cube": "x³"},
        "squares",
        columns=1,
        title="Squares",
    )


def table(rows):
    return rows.groupby("method", as_index=False)["value"].mean().round(3)


def squares(run=run, figures=sketched, **more):
    return Experiment(
        name="squares",
        title="Squares and cubes",
        tasks=tasks,
        run=run,
        figures=figures,
        claims=lambda rows: [f"The paper says that squares are positive; here all {len(rows)} are."],
        table=table,
        complete_only=complete_only,
        replicated=True,
        settings={"power": 2},
        seconds=lambda task: 0.2,
        **more,
    )
