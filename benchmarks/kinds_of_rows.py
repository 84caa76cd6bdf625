"""Experiments, clusters and weights: wrong entries by the number of experiments, Sachs's cells, calibration, and ten million rows.

ORDAG_TABLES is the number of tables of each kind.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.common.arrays import Array, Mask
from ordag.data.datasets import load

TABLES = int(os.environ.get("ORDAG_TABLES", "24"))
EXPERIMENTS = (0, 2, 5, 10, 20)
P, ROWS, EACH = 20, 500, 100
BINS = [(0.02, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 0.99), (0.99, 1.01)]
BIG_ROWS, BIG_CONDITIONS, BIG_COLUMNS = 10**7, 1000, 20


class Said(NamedTuple):
    """The probabilities of the arrows of a table, the graph shown, and the true one."""

    arrows: Array
    shown: Mask
    truth: Mask


class Model(NamedTuple):
    """A random graph with three neighbours on average, error variances up to 20 times apart, and columns in random units."""

    B: Array
    omega: Array
    units: Array

    @classmethod
    def drawn(cls, p: int, random: np.random.Generator) -> Model:
        order = random.permutation(p)
        B = np.zeros((p, p))
        sizes = random.uniform(0.4, 1.5, (p, p)) * random.choice([-1.0, 1.0], (p, p))
        B[np.ix_(order, order)] = np.where(np.triu(random.random((p, p)) < 3.0 / (p - 1), 1), sizes, 0.0)
        return cls(B, np.exp(random.uniform(0.0, np.log(20.0), p)), 10.0 ** random.uniform(-1.0, 1.0, p))

    def rows(self, n: int, random: np.random.Generator, target: int | None = None) -> Array:
        B, omega = self.B.copy(), self.omega.copy()
        if target is not None:
            B[:, target], omega[target] = 0.0, 4.0
        X = random.standard_normal((n, len(B))) * np.sqrt(omega) @ np.linalg.inv(np.eye(len(B)) - B)
        return np.asarray(X * self.units)


def experiments(number: int, count: int) -> tuple[dict[str, Any], Mask]:
    """Draw a table with so many experiments on one variable each."""
    random = np.random.default_rng([27, number])
    model = Model.drawn(P, random)
    targets = random.permutation(P)[:count].tolist()
    X = np.concatenate([model.rows(ROWS, random), *(model.rows(EACH, random, j) for j in targets)])
    names = [f"x{j}" for j in range(P)]
    labels = [""] * ROWS + [names[j] for j in targets for _ in range(EACH)]
    return {**dict(zip(names, X.T, strict=True)), "what": labels}, model.B != 0


def by_variance() -> list[list[str]]:
    """Return the wrong entries of cvs where error variances are equal: experiments named, mixed together, and untouched rows alone."""
    lines = []
    for count in EXPERIMENTS:
        wrong: list[list[int]] = [[], [], [], []]
        for number in range(TABLES):
            random = np.random.default_rng([30, number])
            model = Model.drawn(P, random)._replace(omega=np.ones(P), units=np.ones(P))
            targets = random.permutation(P)[:count].tolist()
            X = np.concatenate([model.rows(ROWS, random), *(model.rows(EACH, random, j) for j in targets)])
            table = {f"x{j}": column for j, column in enumerate(X.T)}
            what = [""] * ROWS + [f"x{j}" for j in targets for _ in range(EACH)]
            named: dict[str, Any] = {**table, "what": what}
            fits = (
                ordag.learn(named, "cvs", experiment="what"),
                ordag.learn(table, "cvs"),
                ordag.learn({name: values[:ROWS] for name, values in table.items()}, "cvs"),
                ordag.learn(named, "pooled", experiment="what", draws=0),
            )
            for found, fit in zip(wrong, fits, strict=True):
                found.append(int((fit.graph.adjacency != (model.B != 0)).sum()))
        lines.append([str(count), *map(_mean, wrong)])
        print(lines[-1], flush=True)
    return lines


def clusters(number: int) -> tuple[dict[str, Any], Mask]:
    """Draw 20 clusters of 25 rows with effects of their own on every variable."""
    random = np.random.default_rng([28, number])
    model, cluster = Model.drawn(10, random), np.repeat(np.arange(20), 25)
    X = model.rows(500, random)
    X += (X.std(axis=0) * random.standard_normal((20, 10)))[cluster]
    return {**{f"x{j}": column for j, column in enumerate(X.T)}, "s": [f"s{k}" for k in cluster]}, model.B != 0


def weighted(number: int) -> tuple[dict[str, Any], Mask]:
    """Draw 800 rows, of which those with a large first variable came more often, with weights that put this right."""
    random = np.random.default_rng([29, number])
    model = Model.drawn(10, random)
    X = model.rows(8000, random)
    z = X[:, 0] / X[:, 0].std()
    chance = 0.1 * np.exp(np.clip(0.5 * z, -1.0, 1.0))
    kept = random.random(len(X)) < chance
    return {**{f"x{j}": column for j, column in enumerate(X[kept].T)}, "w": 1.0 / chance[kept]}, model.B != 0


def learned(data: dict[str, Any], truth: Mask, **settings: Any) -> tuple[Said, int]:
    fit = ordag.learn(data, method="pooled", **settings)
    assert fit.probabilities is not None
    return Said(fit.probabilities.arrows, fit.graph.adjacency, truth), int((fit.graph.adjacency != truth).sum())


def calibration(tables: list[Said]) -> list[str]:
    """Say/was for the arrows of every bin, and for those that are shown."""
    off = [~np.eye(len(one.truth), dtype=bool) for one in tables]
    said = np.concatenate([one.arrows[here] for one, here in zip(tables, off, strict=True)])
    was = np.concatenate([one.truth[here] for one, here in zip(tables, off, strict=True)])
    shown = [(one.arrows[one.shown], one.truth[one.shown]) for one in tables]
    masks = [(said >= low) & (said < high) for low, high in BINS]
    cells = [_cell(said[mask], was[mask]) for mask in masks]
    return [*cells, _cell(np.concatenate([s for s, _ in shown]), np.concatenate([w for _, w in shown]))]


def _cell(said: Array, was: Mask) -> str:
    return f"{100 * said.mean():.0f} / {100 * was.mean():.0f} ({len(said)})" if len(said) else "–"


def by_experiments() -> tuple[list[list[str]], list[Said]]:
    lines, with_ten = [], []
    for count in EXPERIMENTS:
        apart, mixed, seconds = [], [], []
        for number in range(TABLES):
            data, truth = experiments(number, count)
            began = time.process_time()
            said, wrong = learned(data, truth, experiment="what")
            seconds.append(time.process_time() - began)
            apart.append(wrong)
            mixed.append(learned({name: data[name] for name in data if name != "what"}, truth)[1])
            if count == 10:
                with_ten.append(said)
        lines.append([str(count), _mean(apart), _mean(mixed), f"{np.mean(seconds):.1f}"])
        print(lines[-1], flush=True)
    return lines, with_ten


def _mean(values: list[int]) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values) / np.sqrt(len(values)):.1f}"


def sachs() -> str:
    """Distance of the graphs of Sachs's cells from the consensus network."""
    truth = set(load("sachs_experiments").consensus)
    words = []
    for units in ("logarithms", "raw"):
        change = {} if units == "logarithms" else None
        fit = ordag.learn(_sachs(raw=change is None), experiment="experiment")
        found = set(zip(fit.edges.source, fit.edges.target, strict=True))
        right, turned = len(found & truth), len({(b, a) for a, b in found} & truth)
        pairs = {frozenset(edge) for edge in found | truth}
        shd = sum(
            {(a, b) for a, b in found if {a, b} == pair} != {(a, b) for a, b in truth if {a, b} == pair}
            for pair in pairs
        )
        words.append(
            f"{units}: {len(found)} arrows, {right} right, {turned} turned, {len(found) - right - turned} false, SHD {shd}"
        )
    return "; ".join(words)


def _sachs(*, raw: bool) -> dict[str, Any]:
    import csv

    with load("sachs_experiments").path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    columns: dict[str, Any] = {
        name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name != "experiment"
    }
    columns = {name: np.exp(values) for name, values in columns.items()} if raw else columns
    return {**columns, "experiment": [row["experiment"] for row in rows]}


def big() -> str:
    """Learn from ten million rows in a thousand conditions in a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    random = np.random.default_rng([27, 999])
    model = Model.drawn(BIG_COLUMNS, random)
    names = [f"x{j}" for j in range(BIG_COLUMNS)]
    labels = np.array(["", *(f"{names[k % BIG_COLUMNS]};batch {k}" for k in range(1, BIG_CONDITIONS))])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        writer = None
        for _ in range(100):
            codes = random.integers(BIG_CONDITIONS, size=BIG_ROWS // 100)
            X = model.rows(len(codes), random)
            for j in range(BIG_COLUMNS):
                rows = (codes > 0) & (codes % BIG_COLUMNS == j)
                X[rows] = model.rows(int(rows.sum()), random, j)
            block = pa.table([*X.T, pa.array(labels[codes]).dictionary_encode()], names=[*names, "what"])
            writer = writer or parquet.ParquetWriter(path, block.schema)
            writer.write_table(block)
        assert writer is not None
        writer.close()
        size, began, before = path.stat().st_size, time.process_time(), time.perf_counter()
        fit = ordag.learn(path, experiment="what")
        cpu, wall = time.process_time() - began, time.perf_counter() - before
    wrong = int((fit.graph.adjacency != (model.B != 0)).sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"{BIG_ROWS:,} rows × {BIG_COLUMNS} columns in {BIG_CONDITIONS:,} conditions, a Parquet file of {size / 2**30:.1f} GB: "
        f"{cpu:.0f} CPU seconds ({wall:.0f} s), {wrong} wrong entries, at most {peak:.1f} GB of memory in the process."
    )


def run() -> str:
    with threadpool_limits(1):
        lines, with_ten = by_experiments()
        ordered = by_variance()
        tables = {
            "10 experiments": with_ten,
            "20 clusters of 25": [learned(*clusters(k), cluster="s")[0] for k in range(2 * TABLES)],
            "the same, clusters not named": [_without(*clusters(k), "s") for k in range(2 * TABLES)],
            "weights": [learned(*weighted(k), weights="w")[0] for k in range(2 * TABLES)],
        }
        heads = [f"{100 * low:.0f}–{min(100 * high, 100):.0f} %" for low, high in BINS]
        said = table(["tables", *heads, "arrows shown"], [[name, *calibration(some)] for name, some in tables.items()])
    return f"""## What rows are

**Experiments.** {P} variables, three neighbours on average, error variances up to 20 times apart, columns in random units; {ROWS} rows
without and k times {EACH} rows with an experiment on one variable. Mean of {TABLES} tables: wrong entries of the graph with the
experiments named, and of that learned from the same rows mixed together; CPU seconds with probabilities.

{table(["k", "named", "mixed together", "seconds"], lines)}

The published method (`cvs`, α = 0.01), where it can be right: the same with equal error variances and one unit. Wrong entries.

{table(["k", "cvs, named", "cvs, mixed", "cvs, untouched rows", "pooled, named"], ordered)}

Sachs's 5,846 cells with their five experiments, against the consensus network of 17 arrows: {sachs()}.

**Calibration.** In every cell the mean probability in percent that was said / the share that was there, and how many arrows it is about.

{said}

**Large.** {big()}"""


def _without(data: dict[str, Any], truth: Mask, column: str) -> Said:
    return learned({name: values for name, values in data.items() if name != column}, truth)[0]
