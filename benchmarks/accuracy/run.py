"""`python -m benchmarks accuracy`: score what is not stored yet, then write the page."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ordag
from benchmarks.accuracy import page
from benchmarks.accuracy.calls import PEERS_PYTHON, Answer, Worker
from benchmarks.accuracy.cells import Cell, cells_of
from benchmarks.accuracy.drawing import draw, network_folder
from benchmarks.accuracy.methods import NAMES, OWN, PEERS, Method, score, unknown_to_ordag
from benchmarks.accuracy.store import FOLDER, Record, Store

OWN_TABLES, PEER_TABLES = 20, page.ENOUGH
PACKAGES = ["flopsearch", "causal-learn", "dagma", "lingam", "scikit-learn"]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks accuracy", description=__doc__)
    parser.add_argument("--half", choices=["think", "final", "all"], default="all", help="the cells to run")
    parser.add_argument("--methods", nargs="+", choices=NAMES, default=NAMES, metavar="METHOD", help="all unless named")
    parser.add_argument(
        "--tables",
        type=int,
        help=f"per cell; {OWN_TABLES} for Ordag's methods and {PEER_TABLES} for peers unless given",
    )
    parser.add_argument(
        "--peers-python",
        default=str(PEERS_PYTHON),
        metavar="PATH",
        help="the Python of `make peers`, where others live",
    )
    parser.add_argument("--results", type=Path, default=FOLDER, metavar="FOLDER", help="where the scores are stored")
    parser.add_argument("--redo", nargs="+", choices=NAMES, default=[], metavar="METHOD", help="forget what is stored")
    parser.add_argument("--page", action="store_true", help="write the page from what is stored, and run nothing")
    parser.add_argument("--no-page", action="store_true", help="run, and leave the page as it is")
    parser.add_argument("--check-peers", action="store_true", help="see that arrows are read the right way round")
    given = parser.parse_args(words)

    if given.check_peers:
        check_peers(given.peers_python)
        return
    networks = network_folder(given.peers_python) or network_folder(sys.executable)
    if not given.page:
        with ExitStack() as workers:
            jobs = []
            for file, methods, usual in (("ours", OWN, OWN_TABLES), ("peers", PEERS, PEER_TABLES)):
                store = Store(given.results, file)
                for name in given.redo:
                    if any(name in method.readings for method in methods):
                        store.forget(name)
                for method in methods:
                    if set(method.readings) & set(given.methods) and _runs(method, given.peers_python):
                        python = sys.executable if method.own else given.peers_python
                        worker = workers.enter_context(Worker(python, method.call, method.settings))
                        jobs.append(Job(method, store, worker, given.tables or usual))
            run(jobs, cells_of(given.half), networks)
    if not given.no_page:
        page.write(given.results, networks, versions(given.peers_python))


class Job(NamedTuple):
    """A method, where its scores go, the process that it runs in, and the number of tables per cell."""

    method: Method
    store: Store
    worker: Worker
    tables: int


def run(jobs: Sequence[Job], cells: Sequence[Cell], networks: Path | None) -> None:
    """Score what is not stored yet: the first table of every cell by all methods, then the second, and so on.

    A run that is stopped therefore has about as many tables of every method. Where a table took too long, the cell's
    other tables are not tried.
    """
    for table in range(max((job.tables for job in jobs), default=0)):
        for method, store, worker, tables in jobs:
            for cell in cells:
                if table >= tables or cell.p > method.largest or not _pending(method, store, cell, table):
                    continue
                if cell.published and networks is None:
                    _say(f"left out: {cell.name}, whose network comes with pgmpy (`make peers`)")
                    continue
                drawn = draw(cell, table, networks)
                answer = worker(drawn.X)
                for record in records(method, cell, table, answer, drawn.truth):
                    store.add(record)
                _say(f"{_title(method)}: {cell.name}, table {table}: {answer.status}, {answer.seconds:.3g} s")


def _runs(method: Method, peers_python: str) -> bool:
    """Whether the method is there; if not, say what is missing."""
    missing = "" if method.own or Path(peers_python).exists() else f"no {peers_python}: `make peers`"
    problem = unknown_to_ordag(method) if method.own else missing
    if problem:
        _say(f"left out: {_title(method)} ({problem})")
    return not problem


def _title(method: Method) -> str:
    return " / ".join(method.readings)


def records(method: Method, cell: Cell, table: int, answer: Answer, truth: ordag.Dag) -> list[Record]:
    """The scores of one answer, under every name that the method is read by."""
    found = []
    for name, reading in method.readings.items():
        scores = {} if answer.matrix is None else score(reading(answer.matrix, truth), truth, method.gives_class)
        times = {"seconds": answer.seconds, "cpu_seconds": answer.cpu_seconds}
        found.append({"cell": cell.name, "table": table, "method": name, **scores, **times, "status": answer.status})
    return found


def _pending(method: Method, store: Store, cell: Cell, table: int) -> bool:
    stored = [store.done.get((cell.name, table, name)) for name in method.readings]
    late = any(
        store.done.get((cell.name, earlier, name), {}).get("status") == "timeout"
        for earlier in range(table)
        for name in method.readings
    )
    return None in stored and not late


def versions(python: str) -> str:
    """The packages that were compared with, as the end of a sentence; empty if they are not installed."""
    look = f"from importlib.metadata import version; print('; '.join(p + ' ' + version(p) for p in {PACKAGES}))"
    asked = subprocess.run([python, "-P", "-c", look], capture_output=True, text=True, check=False)
    return f" {asked.stdout.strip()}." if asked.returncode == 0 else ""


def check_peers(python: str) -> None:
    """Every method must give exactly the arrows of a graph that has no other in its class, from many rows.

    X1 → X3 ← X2 and X3 → X4, with errors that are not normal (which DirectLiNGAM needs) and columns out of order, so
    that a matrix read the wrong way round is noticed. (From some other orders of the columns, BOSS ends with one edge
    too many, whatever the number of rows: its search starts from that order, and has no way out.)
    """
    arrows = [("X1", "X3"), ("X2", "X3"), ("X3", "X4")]
    truth = ordag.Dag.from_edges(["X2", "X3", "X1", "X4"], arrows)
    sem = ordag.LinearSEM(truth.adjacency.astype(float), names=truth.nodes)
    E = np.random.default_rng(1).standard_exponential((5000, 4)) - 1.0
    X = E + E @ sem.total_effects()
    wrong = []
    for method in (*OWN, *PEERS):
        if method.own and unknown_to_ordag(method):
            continue
        with Worker(sys.executable if method.own else python, method.call, method.settings) as worker:
            answer = worker(X)
        for name, reading in method.readings.items():
            found = None if answer.matrix is None else reading(answer.matrix, truth)
            right = found is not None and np.array_equal(found, truth.adjacency)
            print(
                f"{name}: {'right' if right else 'WRONG'}", "" if right or found is None else found.astype(int).tolist()
            )
            wrong += [] if right else [name]
    if wrong:
        raise SystemExit(f"not read as it should be: {', '.join(wrong)}")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
