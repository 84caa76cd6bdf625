"""Sparse graphs of up to 1000 variables: wrong edges and CPU time, Ordag's beside those of other packages.

They are no dependency: `make peers` brings them into an environment of their own. Without one of them the tables say so.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

import ordag
from benchmarks.accuracy.calls import PEERS_PYTHON, Answer, Worker
from benchmarks.accuracy.methods import KNOWS_TRUTH, OWN, PEERS, Method, as_it_is
from benchmarks.timing import duration, table
from ordag.common.arrays import Mask
from ordag.model.simulate import Simulation

LIMIT = 120
PACKAGES = {"pc": "causal-learn", "dagma": "dagma", "direct-lingam": "lingam", "ges": "causal-learn"}
"""The calls of worker.py that are compared with, from the quickest to the slowest, and the packages that they need."""

METHODS = (
    Method("ordag", {"`ordag.learn(X)`": as_it_is}),
    *(method for method in OWN if method.settings["method"] in ("cvs", "pooled")),
    *(method for call in PACKAGES for method in PEERS if method.call == call),
)


class Case(NamedTuple):
    design: str
    p: int
    n: int

    @property
    def name(self) -> str:
        return f"{self.design} {self.p}/{self.n}"


CASES = [Case("er2", 100, 1000), Case("er2", 500, 1000), Case("er2", 1000, 2000)]


class Score(NamedTuple):
    """Pairs whose edge differs, pairs that are joined in one of the graphs only, and CPU seconds."""

    wrong: int
    misjoined: int
    seconds: float


Outcome = Score | str
"""What became of a method in a case: its score, or "timeout", or what went wrong."""


def title(method: Method) -> str:
    return next(name for name in method.readings if name != KNOWS_TRUTH)


def scored(answer: Answer, method: Method, truth: ordag.Dag) -> Outcome:
    """The score of an answer, or why it has none."""
    if answer.matrix is None:
        return answer.status
    if not np.isfinite(answer.matrix).all():
        return "the weights are not all finite"
    assert answer.cpu_seconds is not None
    found = method.readings[title(method)](answer.matrix, truth) & ~np.eye(len(truth.nodes), dtype=bool)
    differs = _joined(found) != _joined(truth.adjacency)
    return Score(ordag.shd(found, truth.adjacency), int(np.triu(differs).sum()), answer.cpu_seconds)


def _joined(adjacency: Mask) -> Mask:
    return adjacency | adjacency.T


def drawn(case: Case) -> Simulation:
    return ordag.simulate(case.design, case.p, case.n, seed=1)


def measured(case: Case, methods: Sequence[Method], python: str, limit: int) -> dict[str, Outcome]:
    """The methods on the same rows at the same time, each in a process of its own, which has learned from a small table before."""
    sem, X = drawn(case)
    small = ordag.simulate("er2", 10, 200, seed=1).X
    found: dict[str, Outcome] = {}
    with ExitStack() as stack:
        going = []
        for method in methods:
            own = sys.executable if method.own else python
            worker = stack.enter_context(Worker(own, method.call, method.settings, limit))
            try:
                worker(small)  # what is loaded with the first call is no part of the method
                worker.send(X)
                going.append((method, worker))
            except RuntimeError:
                found[title(method)] = "its package is there, and cannot be imported"
        for method, worker in going:
            found[title(method)] = scored(worker.receive(), method, sem.dag)
            print(f"{title(method)}: {case.name}: {found[title(method)]}", file=sys.stderr, flush=True)
    return found


def versions(python: str) -> dict[str, str]:
    """Which of the packages this Python has, and its NumPy."""
    look = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(found))
"""
    names = sorted({*PACKAGES.values(), "numpy"})
    try:
        answer = subprocess.run([python, "-P", "-c", look, *names], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(json.loads(answer.stdout))


def compared(python: str, cases: Sequence[Case], limit: int) -> str:
    """The section. Methods of Ordag run one at a time, the others of a case together."""
    there = versions(python)
    others = [method for method in METHODS if not method.own and PACKAGES[method.call] in there]
    groups = [*([method] for method in METHODS if method.own), others]
    found = {
        (name, case): outcome
        for case in cases
        for group in groups
        for name, outcome in measured(case, group, python, limit).items()
    }

    def lines(measure: str) -> str:
        rows = [
            [name, *(_cell(found.get((name, case)), measure, limit) for case in cases)] for name in map(title, METHODS)
        ]
        return table(["method", *(case.name for case in cases)], rows)

    absent = sorted(set(PACKAGES.values()) - there.keys())
    notes = [f"Not installed: {', '.join(absent)} (`make peers` does it)."] if absent else []
    notes += [
        f"{name}, {case.name}: {' '.join(outcome.split())}"
        for (name, case), outcome in found.items()
        if isinstance(outcome, str) and outcome != "timeout"
    ]
    used = ", ".join(f"{name} {number}" for name, number in sorted(there.items()))
    arrows = ", ".join(f"{drawn(case).sem.dag.adjacency.sum()} in {case.name}" for case in cases)
    parts = [
        f"""## Beside other packages

Sparse Erdős–Rényi graphs with p variables and n rows: `ordag.simulate("er2", p, n, seed=1)`, with 2 arrows per variable, in
and out together, sizes of weights from 0.5 to 1, equal error variances and normal errors. There is one table of each size, the same for
all methods; [accuracy.md](accuracy.md) has many, most of them smaller. True arrows: {arrows}.
The first four methods are Ordag's; `ordag.learn(X)` takes the pooled search up to 100 variables and cvs with adaptive parents
beyond. Tests at 1 % join one in a hundred of all pairs that have no edge, which are many here. The other packages have their own defaults,
but for PC's level, which is 1 %.

Every call runs on one thread in a process of its own, with a limit of {limit} s of CPU time, after which it is stopped ("> {limit} s").
Times are CPU seconds of one call, without loading the package, so other work on the machine counts little. `make peers` installs
the other packages, `python -m benchmarks peers` makes the tables. Versions: {used or "no other package is there"}.""",
        "**Wrong edges** are pairs whose edge differs from the truth; a turned arrow and an edge without direction count 1 (SHD):",
        lines("wrong"),
        """**Wrongly joined pairs** are joined in one of the two graphs only, whatever the direction. This is the fair measure for PC and
GES, which do not use equal variances and leave open what the rows do not tell without them. DirectLiNGAM needs errors that are not
normal:""",
        lines("misjoined"),
        "**CPU time**:",
        lines("seconds"),
        *notes,
    ]
    return "\n\n".join(parts)


def _cell(outcome: Outcome | None, measure: str, limit: int) -> str:
    if outcome is None:
        return "not installed"
    if isinstance(outcome, str):
        return f"> {limit} s" if outcome == "timeout" else "failed"
    return duration(outcome.seconds) if measure == "seconds" else str(getattr(outcome, measure))


def run() -> str:
    return compared(str(PEERS_PYTHON), CASES, LIMIT)
