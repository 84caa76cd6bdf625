"""Missing values: wrong entries by what is done with incomplete rows, calibration, and a large table.

`python -m benchmarks missing` writes the section of docs/benchmarks.md. ORDAG_LARGE is the rows of the large table. Every result goes to
`benchmarks/results/missing.jsonl` as it comes; a run that was stopped goes on from there.
"""

from __future__ import annotations

import json
import os
import resource
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

import ordag
from benchmarks.holes import KINDS, MECHANISMS, drawn, majority, ways, with_holes
from ordag.common.watched import watched
from ordag.errors import OrdagError
from ordag.model.sem import LinearSEM

TABLES, CALIBRATED_TABLES = 2, 6
"""Of each size and kind, and of each kind."""
SIZES = ((6, 200), (12, 500), (20, 500))
SHARES = (0.1, 0.2, 0.3, 0.4)
PEERS_AT, PEERS_UP_TO = (0.1, 0.3), 20
"""Shares and numbers of variables with which lingam is tried, which takes seconds for a table."""
CALIBRATED = (10, 400)
LARGE = int(os.environ.get("ORDAG_LARGE", "4_000_000")), 50
EDGES = (0.05, 0.3, 0.5, 0.7, 0.9, 0.97, 1.001)
CLASSES = " | ".join(f"{a:.2f} to {min(b, 1.0):.2f}" for a, b in pairwise(EDGES))
RESULTS = Path(__file__).parent / "results" / "missing.jsonl"

Address = list[Any]
Task = tuple[Address, Callable[[], Any]]


def wrong_entries(X: np.ndarray, A: np.ndarray, share: float, mechanism: str, table: int) -> dict[str, int]:
    """Count wrong entries of the adjacency for everything that can be done with the holes; −1 where nothing could be learned."""
    if not share:
        return {"complete": int((next(ways(X))[1]()[0] != A).sum())}
    found = {}
    peers = mechanism == "mcar" and share in PEERS_AT and len(A) <= PEERS_UP_TO
    for way, graphs in ways(with_holes(X, share, mechanism, table), peers=peers):
        try:
            found[way] = int((majority(graphs()) != A).sum())
        except OrdagError:
            found[way] = -1
    return found


def probabilities(kind: str, share: float, mechanism: str, table: int) -> list[tuple[float, bool]]:
    """Pair every probability of an arrow above 5 % with whether the arrow is there."""
    X, A = drawn(kind, *CALIBRATED, table)
    return pairs_of(with_holes(X, share, mechanism, table), A)


def large(share: float) -> tuple[float, float]:
    """Return the CPU seconds and the megabytes beside the table that moments of a large one take, in a process of its own."""
    return watched(_large, share, seconds=3600.0, memory=1 << 36)


def _large(share: float) -> tuple[float, float]:
    n, p = LARGE
    random = np.random.default_rng(0)
    sem = LinearSEM(np.triu(random.normal(size=(p, p)) * (random.random((p, p)) < 0.1), 1) * 0.5, np.ones(p))
    mixing, step = np.linalg.inv(np.eye(p) - sem.B), 50_000
    X = np.empty((n, p))
    for start in range(0, n, step):
        rows = X[start : start + step]
        rows[:] = random.normal(size=rows.shape) @ mixing
        if share:
            rows[random.random(rows.shape) < share] = np.nan
    before, start_time = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    moments = ordag.Moments.scan(X)
    taken = time.process_time() - start_time
    assert moments.rows == n
    return taken, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024.0


def tasks() -> Iterator[Task]:
    """Yield everything that is measured, each with its address."""
    holes = [(0.0, "none"), *((share, mechanism) for mechanism in MECHANISMS.values() for share in SHARES)]
    for kind, table in product(KINDS, range(CALIBRATED_TABLES)):
        for mechanism, share in [("mcar", 0.0), *product(("mcar", "mar"), SHARES)]:
            work = partial(probabilities, kind, share, mechanism, 1000 + table)
            yield ["probabilities", kind, mechanism, share, table], work
    for table, (p, n), kind in product(range(TABLES), SIZES, KINDS):
        for share, mechanism in holes:
            work = partial(_drawn_entries, kind, p, n, share, mechanism, table)
            yield ["entries", kind, p, n, mechanism, share, table], work
    for share in (0.0, 0.05):
        yield ["large", *LARGE, share], partial(large, share)


def _drawn_entries(kind: str, p: int, n: int, share: float, mechanism: str, table: int) -> dict[str, int]:
    return wrong_entries(*drawn(kind, p, n, table), share, mechanism, table)


def measured(tasks: Iterable[Task], path: Path) -> list[tuple[Address, Any]]:
    """Return all results with their addresses; those that are not in the file yet are measured, and added to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {json.dumps(address): result for address, result in map(json.loads, lines)}
    found = []
    with path.open("a", encoding="utf-8") as file:
        for address, work in tasks:
            key = json.dumps(address)
            if key not in known:
                known[key] = work()
                file.write(f"{json.dumps([address, known[key]])}\n")
                file.flush()
            found.append((address, known[key]))
    return found


def run() -> str:
    """Measure everything, and write it down."""
    warnings.simplefilter("ignore")
    results = measured(tasks(), RESULTS)
    lines = ["## Missing values", "", *_entries_section(results)]
    return "\n".join([*lines, "", *_calibration_section(results), "", *_large_section(results)])


def _entries_section(results: Sequence[tuple[Address, Any]]) -> list[str]:
    found: dict[tuple[str, float], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (*_, mechanism, share, _), counts in (one for one in results if one[0][0] == "entries"):
        for way, count in counts.items():
            found[mechanism, share][way].append(count)
    none = found.pop(("none", 0.0))["complete"]
    return [
        f"Wrong entries of the graph of the best score, mean of {len(none)} tables: {TABLES} of each of three sizes (6 variables and 200 "
        "rows, 12 and 500, 20 and 500) and three kinds (equal error variances, up to 20 times apart, standardised). The first three differ "
        "in what the rows are taken to count for. A number in brackets is the share of tables that could not be learned from. "
        f"Without holes: {np.mean(none):.1f}.",
        "",
        *_counts_table(found),
    ]


def _counts_table(found: dict[tuple[str, float], dict[str, list[int]]]) -> list[str]:
    names = list(max(found.values(), key=len))
    said = {short: words for words, short in MECHANISMS.items()}
    lines = [f"| holes | share | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    for (mechanism, share), by in found.items():
        lines.append(f"| {said[mechanism]} | {share:.0%} | {' | '.join(_cell(by[name]) for name in names)} |")
    return lines


def _calibration_section(results: Sequence[tuple[Address, Any]]) -> list[str]:
    said: dict[tuple[str, float], list[tuple[float, bool]]] = defaultdict(list)
    for (_part, _, mechanism, share, _), pairs in (one for one in results if one[0][0] == "probabilities"):
        said[mechanism if share else "none", share] += pairs
    words = {short: name for name, short in MECHANISMS.items()} | {"none": "none"}
    p, n = CALIBRATED
    lines = [
        f"Probabilities of arrows, said and was in percent (number), {len(KINDS) * CALIBRATED_TABLES} other tables of {p} variables and "
        f"{n} rows:",
        "",
        f"| holes | share | {CLASSES} |",
        f"|---|---|{'---|' * (len(EDGES) - 1)}",
    ]
    for (mechanism, share), pairs in said.items():
        lines.append(f"| {words[mechanism]} | {share:.0%} | {said_and_was(pairs)} |")
    return lines


def said_and_was(pairs: Sequence[tuple[float, bool]]) -> str:
    """Write the cells of a table: in each class of probabilities their mean, the share that was there, and the number."""
    cells = []
    for a, b in pairwise(EDGES):
        inside = [(one, was) for one, was in pairs if a <= one < b]
        mean, rate = (np.mean(one) for one in zip(*inside, strict=True)) if inside else (np.nan, np.nan)
        cells.append(f"{100 * mean:.0f} / {100 * rate:.0f} ({len(inside)})" if inside else "–")
    return " | ".join(cells)


def pairs_of(H: np.ndarray, A: np.ndarray) -> list[tuple[float, bool]]:
    """Pair every probability of an arrow above 5 % with whether the arrow is there."""
    found = ordag.learn(H).probabilities
    assert found is not None
    return [(float(found.arrows[i, j]), bool(A[i, j])) for i, j in np.argwhere(found.arrows > EDGES[0])]


def _large_section(results: Sequence[tuple[Address, Any]]) -> list[str]:
    (complete, memory), (holed, more) = (result for address, result in results if address[0] == "large")
    n, p = LARGE
    return [
        f"{n:,} rows of {p} columns in memory ({8e-9 * n * p:.1f} GB), moments alone: complete {complete:.1f} CPU s and {memory:.0f} MB "
        "beside the table; with 5 % holes at random (nine rows of ten are incomplete, nearly each with a pattern of its own) "
        f"{holed:.1f} s and {more:.0f} MB."
    ]


def _cell(counts: list[int]) -> str:
    if not counts:
        return ""
    learned = [count for count in counts if count >= 0]
    failed = 1.0 - len(learned) / len(counts)
    return (f"{np.mean(learned):.1f}" if learned else "–") + (f" ({failed:.0%})" if failed else "")
