"""Stored scores in, means with standard errors out, and how methods compare on the tables that they share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.accuracy.cells import Cell
from benchmarks.accuracy.methods import KNOWS_TRUTH, NAMES
from benchmarks.accuracy.store import Address, Record

METRICS = ("hamming", "shd", "turned", "class_hamming", "adjustment", "edges", "cpu_seconds")
LATE = "timeout"
ROUNDING = 1e-9  # of a mean that equals its standard error


class Estimate(NamedTuple):
    """A mean and its standard error, which one table alone does not have (nan)."""

    mean: float
    error: float


class Counts(NamedTuple):
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class Scores:
    """What one method did in one cell: records by the number of the table."""

    finished: dict[int, Record]
    late: int
    failed: int

    def estimate(self, metric: str) -> Estimate:
        """The mean over the tables; of turned arrows, the share among those between truly adjacent pairs."""
        records = self.finished.values()
        if metric == "turned":
            return _ratio([r["turned"] for r in records], [r["joined"] for r in records])
        return _mean([record[metric] for record in records if record.get(metric) is not None])

    @property
    def contends(self) -> bool:
        """Whether the method can be compared: it finished at least two tables and never ran out of time."""
        return len(self.finished) >= 2 and not self.late


class Summary:
    """The scores of all cells and methods."""

    def __init__(self, records: dict[Address, Record]) -> None:
        found: dict[tuple[str, str], dict[int, Record]] = {}
        for (cell, table, method), record in records.items():
            found.setdefault((cell, method), {})[table] = record
        self._scores = {key: _scores(tables) for key, tables in found.items()}
        present = {method for _, method in self._scores}
        self.methods = tuple(name for name in NAMES if name in present)

    def __getitem__(self, address: tuple[Cell, str]) -> Scores:
        cell, method = address
        return self._scores.get((cell.name, method), Scores({}, 0, 0))

    def difference(self, cell: Cell, method: str, other: str, metric: str = "hamming") -> Estimate:
        """How much farther from the truth a method is than another, over the tables that both finished."""
        return _mean(self._gaps(cell, method, other, metric))

    def _gaps(self, cell: Cell, method: str, other: str, metric: str) -> list[float]:
        """The differences table by table; where a graph has no such score, as one with a cycle, the table is left out."""
        first, second = (
            {
                table: record[metric]
                for table, record in self[cell, name].finished.items()
                if record.get(metric) is not None
            }
            for name in (method, other)
        )
        return [first[table] - second[table] for table in sorted(first.keys() & second.keys())]

    def better(self, cell: Cell, method: str, metric: str = "hamming") -> list[str]:
        """The methods nearer to the truth by more than one standard error of the paired difference.

        One that uses the truth is left out.
        """
        found = []
        for other in self.methods:
            if other in (method, KNOWS_TRUTH) or not self[cell, other].contends:
                continue
            difference = self.difference(cell, method, other, metric)
            if math.isfinite(difference.error) and difference.mean > difference.error + ROUNDING:
                found.append(other)
        return found

    def best(self, cell: Cell, method: str, metric: str = "hamming") -> bool:
        """Whether no other method is nearer by more than one standard error."""
        return self[cell, method].contends and not self.better(cell, method, metric)

    def counts(self, cells: Iterable[Cell], method: str, other: str, metric: str = "hamming") -> Counts:
        """Tables on which a method is nearer to the truth than another, as near, or farther."""
        signs = [np.sign(gap) for cell in cells for gap in self._gaps(cell, method, other, metric)]
        return Counts(signs.count(-1), signs.count(0), signs.count(1))

    def rows(self, cells: Sequence[Cell]) -> list[dict[str, object]]:
        """One row per cell and method, for a CSV file."""
        rows = []
        for cell in cells:
            for method in self.methods:
                scores = self[cell, method]
                row: dict[str, object] = {"cell": cell.name, "kind": cell.kind, "half": cell.half, "method": method}
                row |= {"tables": len(scores.finished), "timeouts": scores.late, "failures": scores.failed}
                if sum((len(scores.finished), scores.late, scores.failed)) == 0:
                    continue
                for metric in METRICS:
                    mean, error = scores.estimate(metric)
                    row |= {metric: _digits(mean), f"{metric}_se": _digits(error)}
                rows.append(row)
        return rows


def _scores(tables: dict[int, Record]) -> Scores:
    finished = {table: record for table, record in sorted(tables.items()) if record["status"] == "ok"}
    late = sum(record["status"] == LATE for record in tables.values())
    return Scores(finished, late, len(tables) - len(finished) - late)


def _mean(values: Sequence[float]) -> Estimate:
    if not values:
        return Estimate(math.nan, math.nan)
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Estimate(float(np.mean(values)), float(error))


def _ratio(parts: Sequence[float], wholes: Sequence[float]) -> Estimate:
    """The share of all together; its standard error is that of a ratio of two sums."""
    total = sum(wholes)
    if not total:
        return Estimate(math.nan, math.nan)
    share = sum(parts) / total
    residuals = np.array(parts) - share * np.array(wholes)
    count = len(residuals)
    error = math.sqrt(count / (count - 1) * float(residuals @ residuals)) / total if count > 1 else math.nan
    return Estimate(share, error)


def _digits(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else ""
