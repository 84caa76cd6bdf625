"""Published networks with holes as in Witte, Foraita and Didelez (Statistics in Medicine, 2022).

`python -m benchmarks witte` writes the section of docs/benchmarks.md; ORDAG_NETWORKS is the folder with pgmpy's files of published
networks. Results go to `benchmarks/results/witte.jsonl` as they come; a run that was stopped goes on from there.

Which columns are taken, how 18 % of their values are deleted, and what is compared is that of their programs
(https://github.com/bips-hb/StatMed_MissingCausalDiscovery, commit c4adf78); only their random numbers are not known. All causes of these
columns are among them. Their MAR is `ampute` of the R package mice with a share of 0.999: nearly every row lacks one of three columns, and
which one is drawn at random, so that the values decide next to nothing.
"""

from __future__ import annotations

import os
import resource
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import ordag
from benchmarks.accuracy.drawing import network_folder, published_model
from benchmarks.holes import IMPUTATIONS, by_lingam, imputed, learned, majority
from benchmarks.missing import CLASSES, EDGES, measured, pairs_of, said_and_was
from benchmarks.pc_with_holes import by_pc, on_complete_rows, on_imputed
from ordag.common.watched import WatchedError, watched
from ordag.errors import OrdagError
from ordag.graph.cpdag import to_cpdag

SEED = 9535
MECHANISMS = ("MCAR", "MAR", "MNAR")
ROWS, LARGE_ROWS = (100, 1000, 5000), (100, 1000)
SHARE = 0.18
NEARLY_ALL = 7.4
"""The mean of expit(z + this) over a standard normal z is 0.999: the share of rows from which ampute takes a value."""
PC_IMPUTATIONS = 10
TABLES, LARGE_TABLES = 6, 5
LINGAM_TABLES, LINGAM_SECONDS = 1, 30
CALIBRATED_ROWS, CALIBRATED, LARGE_CALIBRATED, SEPARATE = (100, 1000), 5, 1, 1000
"""Rows and numbers of the tables with probabilities; these are numbered from the last on, so that they are others."""
RESULTS = Path(__file__).parent / "results" / "witte.jsonl"


@dataclass(frozen=True)
class Design:
    """`columns` have the holes. MNAR takes `lost` from the rows with the largest values of the first of them; MAR takes one column of
    every three in nearly every row, for `groups` groups of three, and `rest` of all values in one more column."""

    file: str
    columns: tuple[str, ...]
    lost: tuple[str, ...]
    groups: int
    rest: float
    whole: bool = False


ECOLI = Design(
    "ecoli70",
    tuple("b1191 cchB eutG fixC ibpB sucA tnaA yceP yfaD ygbD ygcE yjbO".split()),
    tuple("fixC eutG ibpB sucA tnaA yceP yfaD ygcE".split()),
    2,
    0.013,
)
DESIGNS = {
    "MAGIC-NIAB, 7 columns": Design(
        "magic-niab",
        tuple("MIL G1217 G257 G2208 G1338 G524 G1945".split()),
        tuple("MIL G524 G1338 G1217 G2208".split()),
        1,
        0.037,
    ),
    "ECOLI70, 12 columns": ECOLI,
    "ECOLI70, 46 columns": replace(ECOLI, whole=True),
}


def drawn(
    networks: Path, design: Design, n: int, mechanism: str, table: int
) -> tuple[np.ndarray, np.ndarray, ordag.Dag]:
    """Draw the rows, the same with holes, and the graph of their columns."""
    sem = published_model(networks / f"{design.file}.json")
    random = np.random.default_rng([SEED, n, MECHANISMS.index(mechanism), table])
    names = list(sem.dag.nodes)
    X = sem.sample(n, random)
    places = [names.index(name) for name in design.columns]
    H = X.copy()
    H[:, places] = np.where(holes(X[:, places], design, mechanism, random), np.nan, X[:, places])
    if design.whole:
        return X, H, sem.dag
    A = sem.dag.adjacency[np.ix_(places, places)]
    return X[:, places], H[:, places], ordag.Dag(design.columns, A)


def holes(X: np.ndarray, design: Design, mechanism: str, random: np.random.Generator) -> np.ndarray:
    """Mark the values to be deleted from the columns of a design."""
    n, p = X.shape
    gone = np.zeros(X.shape, dtype=bool)
    if mechanism == "MCAR":
        gone.flat[random.choice(n * p, round(SHARE * n * p), replace=False)] = True
    elif mechanism == "MNAR":
        lost = [design.columns.index(name) for name in design.lost]
        rows = np.argsort(-X[:, lost[0]])[: round(SHARE * n * p / len(lost))]
        gone[np.ix_(rows, lost)] = True
    else:
        chosen = random.permutation(p)[: 3 * design.groups + 1]
        for group in chosen[:-1].reshape(-1, 3):
            gone[:, group] = _one_of_three(X[:, group], random)
        gone[random.choice(n, round(design.rest * n * p), replace=False), chosen[-1]] = True
    return gone


def _one_of_three(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Take from every row one of three values, drawn at random, with a probability that grows with the sum of the two others."""
    gone = np.zeros(X.shape, dtype=bool)
    which = random.integers(3, size=len(X))
    for k in range(3):
        rows = np.flatnonzero(which == k)
        sums = np.delete(_standardised(X[rows]), k, axis=1).sum(axis=1)
        gone[rows, k] = random.random(len(rows)) < expit(_standardised(sums) + NEARLY_ALL)
    return gone


def _standardised(X: np.ndarray) -> np.ndarray:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))


def quick_lingam(H: np.ndarray) -> list[np.ndarray]:
    """Return the graphs of lingam, or end this process after so many seconds of the processor."""
    resource.setrlimit(resource.RLIMIT_CPU, (LINGAM_SECONDS, LINGAM_SECONDS))
    return by_lingam(H)


def ways(
    X: np.ndarray, H: np.ndarray, names: Sequence[str], *, lingam: bool = True
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what is done with a table, and a function that returns an adjacency or a class."""
    gone, tables = np.isnan(H), []
    some = H[~gone.all(axis=1)]

    def draws(count: int) -> list[np.ndarray]:
        tables.extend(imputed(some, draw=True, seed=k) for k in range(len(tables), count))
        return tables[:count]

    yield "no holes", lambda: learned(X)
    yield "EM (Ordag)", lambda: learned(some)
    yield "rows dropped", lambda: learned(H[~gone.any(axis=1)])
    yield "means", lambda: learned(np.where(gone, np.nanmean(H, axis=0), H))
    yield "IterativeImputer", lambda: learned(imputed(some, draw=False, seed=0))
    yield f"{IMPUTATIONS} imputations, majority", lambda: majority([learned(one) for one in draws(IMPUTATIONS)])
    if lingam and find_spec("lingam") is not None:
        yield "lingam", lambda: majority(watched(quick_lingam, some, seconds=3600.0))
    yield "PC, no holes", lambda: by_pc(on_complete_rows(X), names)
    yield "PC, test-wise", lambda: by_pc(on_complete_rows(H), names)
    yield f"PC, {PC_IMPUTATIONS} imputations", lambda: by_pc(on_imputed(draws(PC_IMPUTATIONS)), names)


def distances(path: Path, name: str, n: int, mechanism: str, table: int) -> dict[str, list[int]]:
    """Return for every way the pairs wrongly joined or not joined, and the structural Hamming distance of the classes; [] where the way
    gave no answer."""
    X, H, dag = drawn(path, DESIGNS[name], n, mechanism, table)
    truth, found = to_cpdag(dag), {}
    for way, graph in ways(X, H, dag.nodes, lingam=table < LINGAM_TABLES):
        try:
            given = graph()
            known = given if isinstance(given, ordag.Cpdag) else to_cpdag(ordag.Dag(dag.nodes, given))
        except (
            OrdagError,
            WatchedError,
        ):  # also where so few rows are left that columns follow from each other, and are set aside
            found[way] = []
            continue
        found[way] = [int(np.triu(known.skeleton != truth.skeleton).sum()), ordag.shd(known, truth)]
    return found


def probabilities(networks: Path, name: str, n: int, mechanism: str, table: int) -> list[tuple[float, bool]]:
    """Pair the probabilities of arrows with whether these are there; "none": in the table without holes."""
    X, H, dag = drawn(networks, DESIGNS[name], n, mechanism if mechanism in MECHANISMS else "MCAR", table)
    return pairs_of(X if mechanism == "none" else H, dag.adjacency)


def tasks(networks: Path) -> Iterator[tuple[list[Any], Callable[[], Any]]]:
    """Yield everything that is measured, each with its address."""
    for table, name, n, mechanism in product(range(TABLES), DESIGNS, ROWS, MECHANISMS):
        if not DESIGNS[name].whole or (table < LARGE_TABLES and n in LARGE_ROWS):
            yield [name, n, mechanism, table], partial(distances, networks, name, n, mechanism, table)


def calibration(networks: Path) -> Iterator[tuple[list[Any], Callable[[], Any]]]:
    """Yield the tables whose probabilities are held against the truth."""
    for name, n, mechanism in product(DESIGNS, CALIBRATED_ROWS, ("none", *MECHANISMS)):
        for table in range(LARGE_CALIBRATED if DESIGNS[name].whole else CALIBRATED):
            work = partial(probabilities, networks, name, n, mechanism, SEPARATE + table)
            yield ["probabilities", name, n, mechanism, table], work


def run() -> str:
    """Measure everything, and write it down."""
    warnings.simplefilter("ignore")
    given = os.environ.get("ORDAG_NETWORKS")
    networks = Path(given) if given else network_folder(sys.executable)
    lines = ["## Published networks with missing values", ""]
    if networks is None:
        return "\n".join([*lines, "Not measured: pgmpy, which has the networks, is not installed."])
    found: dict[tuple[str, int, str], dict[str, list[list[int]]]] = defaultdict(lambda: defaultdict(list))
    for (name, n, mechanism, _), by_way in measured(tasks(networks), RESULTS):
        for way, one in by_way.items():
            found[name, n, mechanism][way].append(one)
    names = list(max(found.values(), key=len))
    lines += [
        "Columns of two published networks of which 18 % of the values are missing as in Witte, Foraita and Didelez (2022); with all 46 "
        "columns of ECOLI70 in the same 12. Pairs wrongly joined or not joined / structural Hamming distance of the classes, mean of "
        f"{TABLES} tables ({LARGE_TABLES} with 46 columns; lingam {LINGAM_TABLES}, with {LINGAM_SECONDS} "
        "CPU seconds for a table). A number in brackets is the share of tables without an answer. The last three are PC as they ran "
        "it: level 5 %, colliders by majority, tests on the rows that have the columns of a test, or on ten imputed tables by the rules "
        "of Rubin.",
        "",
        f"| columns | rows | holes | {' | '.join(names)} |",
        f"|---|---|---|{'---|' * len(names)}",
    ]
    for (name, n, mechanism), ways_ in found.items():
        cells = " | ".join(_cell(ways_[way]) for way in names)
        lines.append(f"| {name} | {n:,} | {mechanism} | {cells} |")
    said: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for (_, _name, _n, mechanism, _table), pairs in measured(calibration(networks), RESULTS):
        said[mechanism] += pairs
    rows = " and ".join(f"{n:,}" for n in CALIBRATED_ROWS)
    lines += [
        "",
        f"Probabilities of arrows in other tables of the same designs with {rows} rows ({CALIBRATED} of each, {LARGE_CALIBRATED} with 46 "
        "columns), said and was in percent (number):",
        "",
        f"| holes | {CLASSES} |",
        f"|---|{'---|' * (len(EDGES) - 1)}",
        *(f"| {mechanism} | {said_and_was(pairs)} |" for mechanism, pairs in said.items()),
    ]
    return "\n".join(lines)


def _cell(given: list[list[int]]) -> str:
    if not given:
        return ""
    answered = [one for one in given if one]
    failed = 1.0 - len(answered) / len(given)
    means = " / ".join(f"{mean:.1f}" for mean in np.mean(answered, axis=0)) if answered else "–"
    return means + (f" ({failed:.0%})" if failed else "")
