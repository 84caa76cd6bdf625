"""A wide table to measure with: `python -m benchmarks.wide_table big.parquet -p 20000 -n 25000 [--edges truth.csv]`.

A sparse model with equal error variances, columns in random order, written one row group after another: memory is that of a group.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np


def model(p: int, parents: int, seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For every variable up to `parents` earlier ones, drawn with equal probability, and their weights of ±0.4 to ±0.6."""
    random = np.random.default_rng(seed)
    causes = [np.unique(random.integers(0, j, size=min(parents, j))) if j else np.empty(0, int) for j in range(p)]
    return causes, [random.choice([-1.0, 1.0], len(k)) * random.uniform(0.4, 0.6, len(k)) for k in causes]


def groups(p: int, n: int, rows: int, parents: int, seed: int) -> Iterator[np.ndarray]:
    """The variables in the rows, a group of observations at a time."""
    causes, weights = model(p, parents, seed)
    random = np.random.default_rng([seed, 1])
    for start in range(0, n, rows):
        X = random.standard_normal((p, min(rows, n - start)))
        for j in range(p):
            if len(causes[j]):
                X[j] += weights[j] @ X[causes[j]]
        yield X


def write(path: str, p: int, n: int, *, rows: int = 2500, parents: int = 2, seed: int = 0) -> np.ndarray:
    """The table into a Parquet file; gives which variable, in causal order, every column is."""
    import pyarrow as pa
    from pyarrow import parquet

    place = np.random.default_rng([seed, 2]).permutation(p)
    schema = pa.schema([(f"X{k + 1}", pa.float64()) for k in range(p)])
    with parquet.ParquetWriter(path, schema, compression="NONE", use_dictionary=False, write_statistics=False) as file:
        for X in groups(p, n, rows, parents, seed):
            file.write_table(pa.table([pa.array(X[j]) for j in place], schema=schema))
    return place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path")
    parser.add_argument("-p", type=int, default=20_000)
    parser.add_argument("-n", type=int, default=25_000)
    parser.add_argument("--rows", type=int, default=2500, help="rows of a row group")
    parser.add_argument("--edges", help="write the true arrows to this file")
    asked = parser.parse_args()
    place = write(asked.path, asked.p, asked.n, rows=asked.rows)
    if asked.edges:
        name = {int(j): f"X{k + 1}" for k, j in enumerate(place)}
        causes, _ = model(asked.p, 2, 0)
        with open(asked.edges, "w", encoding="utf-8") as file:
            file.write("source,target\n")
            file.writelines(f"{name[int(i)]},{name[j]}\n" for j, some in enumerate(causes) for i in some)


if __name__ == "__main__":
    main()
