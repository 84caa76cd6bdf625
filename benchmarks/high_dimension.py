"""`python -m benchmarks high_dimension`: orders and arrows with more variables than rows, into docs/high_dimension.md."""

from __future__ import annotations

import argparse
import re
import resource
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.timing import duration, machine, table
from ordag import learn, simulate
from ordag.common.arrays import Array, Mask
from ordag.order.sparse import sparse_forward, usual_width

PAGE = Path(__file__).parents[1] / "docs" / "high_dimension.md"
BEGIN, END = "<!-- high_dimension -->", "<!-- end of high_dimension -->"
SEEDS = range(20)


class Case(NamedTuple):
    """A design, its size, and what is to be reached: τ at least, and F1 of the arrows at least."""

    design: str
    p: int
    n: int
    tau: float
    f1: float | None = None
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.design} {self.p}/{self.n}" + (", error variances U(0.7, 1.3)" if self.options else "")


CASES = [
    Case("chain", 200, 200, 0.995, 0.99),
    Case("chain", 400, 200, 0.995, 0.99),
    Case("hub", 200, 200, 0.995, 0.99),
    Case("hub", 400, 200, 0.995, 0.99),
    Case("hub5", 200, 200, 0.85),
    Case("er2", 200, 100, 0.97),
    Case("er4", 200, 100, 0.985),
    Case("er2w3", 200, 200, 0.93),
    Case("rs40", 40, 100, 0.70),
    Case("er4", 200, 200, 0.965, None, (("variances", (0.7, 1.3)),)),
]
LARGE = [("hub", 400, 200), ("chain", 400, 200), ("hub", 1000, 400), ("er2", 5000, 500)]


POOLED = 200
"""Variables up to which the pooled search is measured too: those up to which `auto` takes it."""

UNITS = (("er2", 100, 80), ("er4", 100, 80))
FEW_SEEDS = range(10)


class Score(NamedTuple):
    tau: float
    f1: float
    least_squares: float
    by_variance: float
    pooled_tau: float
    pooled_f1: float
    pooled_seconds: float


def tau(order: Array, truth: Mask) -> float:
    """1 − 2 · the share of pairs (ancestor, descendant) that stand in the wrong order."""
    above = truth.copy()
    while True:
        more = above | (above.astype(np.float32) @ above.astype(np.float32) > 0)
        if (more == above).all():
            break
        above = more
    place = np.argsort(order)
    causes, effects = np.nonzero(above)
    return 1.0 - 2.0 * float((place[causes] > place[effects]).mean()) if len(causes) else 1.0


def least_squares(S: Array) -> Array:
    """Least variance given all chosen ones, by a generalised inverse: what the chosen ones explain already explains no more."""
    rest, left = S.copy(), np.ones(len(S), dtype=bool)
    order = []
    for _ in range(len(S)):
        j = int(np.where(left, rest.diagonal(), np.inf).argmin())
        left[j] = False
        order.append(j)
        if rest[j, j] > 1e-10 * S[j, j]:
            rest -= np.outer(rest[j], rest[j] / rest[j, j])
    return np.array(order)


def measured(case: Case, seed: int) -> Score:
    with threadpool_limits(1):
        sem, X = simulate(case.design, case.p, case.n, seed=np.random.SeedSequence([1, seed]), **dict(case.options))
        S, truth = np.cov(X.T), sem.B != 0
        found = sparse_forward(S, case.n, width=usual_width(case.p))
    arrows = np.zeros_like(truth)
    for j, members in zip(found.order, found.parent_sets, strict=True):
        arrows[members, j] = True
    rivals = least_squares(S), np.argsort(S.diagonal())
    pooled = by_pooled_search(X, truth) if case.p <= POOLED else (np.nan,) * 3
    return Score(tau(found.order, truth), f1(arrows, truth), *(tau(order, truth) for order in rivals), *pooled)


def f1(arrows: Mask, truth: Mask) -> float:
    return float(2.0 * (arrows & truth).sum() / max(arrows.sum() + truth.sum(), 1))


def by_pooled_search(X: Array, truth: Mask) -> tuple[float, float, float]:
    """τ and F1 of the pooled search, and its processor time."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        fit = learn(X, "pooled", draws=0)
        seconds = time.process_time() - start
    order = np.array([fit.names.index(name) for name in fit.order])
    return tau(order, truth), f1(fit.graph.adjacency, truth), seconds


def accuracy(workers: int, seeds: range = SEEDS) -> str:
    rows: list[list[object]] = []
    for case in CASES:
        scores = np.array(Parallel(n_jobs=workers)(delayed(measured)(case, seed) for seed in seeds))
        mean = scores.mean(axis=0)
        error = scores[:, 0].std(ddof=1) / np.sqrt(len(scores))
        asked = f"≥ {case.tau:g}" + (f", F1 ≥ {case.f1:g}" if case.f1 else "")
        shown = [f"{mean[0]:.3f} ({error:.3f})", f"{scores[:, 0].min():.3f}", f"{mean[1]:.3f}", asked]
        pooled = [f"{mean[4]:.3f} ({scores[:, 4].std(ddof=1) / np.sqrt(len(scores)):.3f})"]
        pooled += [f"{scores[:, 4].min():.3f}", f"{mean[5]:.3f}", duration(float(np.median(scores[:, 6])))]
        pooled = pooled if case.p <= POOLED else ["–"] * 4
        rows.append([case.name, *shown, *pooled, f"{mean[2]:.3f}", f"{mean[3]:.3f}"])
        print(" | ".join(map(str, rows[-1])), flush=True)
    head = ["design, p/n", "sparse: τ (its error)", "least τ", "F1", "asked for"]
    head += ["pooled: τ (its error)", "least τ", "F1", "processor time", "τ least squares", "τ by variance"]
    return table(head, rows)


def units(workers: int, seeds: range = FEW_SEEDS) -> str:
    """The same with every column in a unit of its own: F1 of the arrows, and of the pairs that they join."""
    rows: list[list[object]] = []
    for design, p, n in UNITS:
        scores = np.array(Parallel(n_jobs=workers)(delayed(_in_random_units)(design, p, n, seed) for seed in seeds))
        shown = [f"{one:.3f}" for one in scores.mean(axis=0)]
        rows.append([f"{design} {p}/{n}", *shown[:4], duration(float(np.median(scores[:, 4])))])
        print(" | ".join(map(str, rows[-1])), flush=True)
    head = ["design, p/n, random units", "sparse: F1 of arrows", "of edges", "pooled: F1 of arrows", "of edges"]
    return table([*head, "processor time"], rows)


def _in_random_units(design: str, p: int, n: int, seed: int) -> list[float]:
    drawn = simulate(design, p, n, seed=np.random.SeedSequence([3, seed]))
    X = drawn.X / drawn.X.std(axis=0) * np.exp(np.random.default_rng(seed).normal(size=p))
    answers: list[float] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("cvs", "pooled"):
            start = time.process_time()
            graph = learn(X, method, **({"draws": 0} if method == "pooled" else {})).graph
            seconds = time.process_time() - start
            answers += [f1(graph.adjacency, drawn.sem.B != 0), f1(graph.skeleton, drawn.dag.skeleton)]
    return [*answers, seconds]


EVIDENCE = (("er2", 100, 100), ("chain", 100, 100), ("er2w3", 100, 100))
FRESH = range(5000, 5010)
RATE = 0.1


def evidence(workers: int = 1) -> str:
    """Of the edges found at a false-discovery rate of 10 % the share that is wrong, and of the true ones the share found."""
    rows: list[list[object]] = []
    for design, p, n in EVIDENCE:
        for split in (False, True):
            jobs = (delayed(_discoveries)(design, p, n, seed, split) for seed in FRESH)
            wrong, power = np.mean(Parallel(workers)(jobs), axis=0)
            tests = "of other rows (split)" if split else "after selection"
            rows.append([f"{design} {p}/{n}", tests, f"{100 * wrong:.1f} %", f"{100 * power:.0f} %"])
    return table(["design, p/n", "t tests", "wrong edges", "true edges found"], rows)


def _discoveries(design: str, p: int, n: int, seed: int, split: bool) -> tuple[float, float]:
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = simulate(design, p, n, seed)
        fit = learn(drawn.X, "cvs", alpha=RATE, split=split)
        joined = drawn.dag.skeleton
        found = fit.edges[fit.edges["q_value"] <= RATE]
        right = [
            joined[fit.names.index(a), fit.names.index(b)] for a, b in zip(found.source, found.target, strict=True)
        ]
        return 1.0 - float(np.mean(right)) if right else 0.0, 2.0 * sum(right) / float(joined.sum())


def times() -> str:
    rows: list[list[object]] = []
    for design, p, n in LARGE:
        score = measured_alone(design, p, n)
        rows.append(score)
        print(" | ".join(map(str, score)), flush=True)
    return table(["design, p/n", "width", "processor time, one core", "τ", "memory at most"], rows)


def measured_alone(design: str, p: int, n: int) -> list[object]:
    sem, X = simulate(design, p, n, seed=np.random.SeedSequence([2, p]))
    S, width = np.cov(X.T), usual_width(p)
    with threadpool_limits(1):
        start = time.process_time()
        found = sparse_forward(S, n, width=width)
        seconds = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    how = "all triples" if width is None else "no triples" if width == 0 else str(width)
    shown = f"{tau(found.order, sem.B != 0):.3f}" if p <= 1000 else "–"
    return [f"{design} {p}/{n}", how, duration(seconds), shown, f"{most:.1f} GB"]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks high_dimension", description=__doc__)
    parser.add_argument(
        "--workers", type=int, default=-1, help="processes for the table of accuracy; all cores unless given"
    )
    parser.add_argument(
        "--only", choices=["accuracy", "units", "times", "evidence"], help="print one table and write nothing"
    )
    given = parser.parse_args(arguments)
    parts: dict[str, Callable[[], str]] = {
        "accuracy": lambda: accuracy(given.workers),
        "units": lambda: units(given.workers),
        "times": times,
        "evidence": lambda: evidence(given.workers),
    }
    if given.only:
        print(parts[given.only]())
        return
    compiled = "with" if find_spec("numba") else "without"
    text = "\n\n".join([BEGIN, *(part() for part in parts.values()), f"*{machine()[:-1]}, {compiled} numba.*", END])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: text, page, flags=re.DOTALL), encoding="utf-8")
