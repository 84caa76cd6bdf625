"""Order and edges on a GPU, from a scatter on the device: `python -m benchmarks gpu`, which takes CUDA and PyTorch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.timing import table
from ordag.data.moments import Moments
from ordag.order.least_squares import quick_forward
from ordag.order.on_device import edges_on, forward_on
from ordag.parents.tests import CRITICAL, conditioned_on, fisher_z

CHUNK = 6e9
"""Bytes of rows to make at a time."""


def model(
    p: int, n: int, seed: int = 0, layers: int = 40, degree: int = 4
) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    """The scatter of rows of a sparse model with equal error variances, and its arrows as columns (source, target).

    Variables stand in layers; each has on average degree/2 parents in earlier ones, with weights ±U(0.3, 0.8).
    """
    generator = torch.Generator(device="cuda").manual_seed(seed)
    random = np.random.default_rng(seed)
    column = torch.randperm(p, generator=generator, device="cuda")
    bounds = np.linspace(0, p, layers + 1).astype(int)
    weights: list[Any] = [None]
    arrows = []
    for k in range(1, layers):
        count = (bounds[k + 1] - bounds[k]) * degree // 2
        source = random.integers(0, bounds[k], count)
        target = random.integers(0, bounds[k + 1] - bounds[k], count)
        size = random.uniform(0.3, 0.8, count) * random.choice([-1.0, 1.0], count)
        at = torch.from_numpy(np.stack([target, source])).cuda()
        shape = (int(bounds[k + 1] - bounds[k]), int(bounds[k]))
        weights.append(torch.sparse_coo_tensor(at, torch.from_numpy(size).cuda(), shape).coalesce().to_sparse_csr())
        arrows.append(np.stack([source, target + bounds[k]]))
    S = torch.zeros((p, p), dtype=torch.float64, device="cuda")
    step = max(2000, int(CHUNK / 8 / p))
    for start in range(0, n, step):
        rows = min(step, n - start)
        X = torch.empty((p, rows), dtype=torch.float64, device="cuda")
        for k in range(layers):
            part = slice(int(bounds[k]), int(bounds[k + 1]))
            X[part] = torch.randn(
                (part.stop - part.start, rows), generator=generator, device="cuda", dtype=torch.float64
            )
            if k:
                X[part] += weights[k] @ X[: part.start]
        X = X[torch.argsort(column)]
        for top in range(0, p, 8192):  # the triangle, in slabs
            S[top : top + 8192, : top + 8192].addmm_(X[top : top + 8192], X[: top + 8192].T)
        del X
    for top in range(0, p, 8192):
        stop = min(top + 8192, p)
        S[:top, top:stop] = S[top:stop, :top].T
    return S, column.cpu().numpy(), np.concatenate(arrows, axis=1)


def clock() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def measured(p: int) -> list[object]:
    """One row of the table: a scatter of 5 % more rows than columns, and edges at 5 % with Bonferroni's correction."""
    n = p + p // 20
    start = clock()
    S, column, arrows = model(p, n)
    formed = clock() - start
    critical = CRITICAL[fisher_z](0.05 / (p * (p - 1) / 2), n, conditioned_on(np.arange(p)))
    torch.cuda.reset_peak_memory_stats()
    start = clock()
    found = edges_on(S, critical)
    seconds = clock() - start
    assert found is not None
    place = np.argsort(found.found.order)
    true = np.unique(place[column[arrows[0]]] * p + place[column[arrows[1]]])
    right = int(np.isin(found.earlier * p + found.later, true).sum())
    memory = torch.cuda.max_memory_allocated() / 1e9
    del S
    torch.cuda.empty_cache()
    false = len(found.r) - right
    return [
        f"{p:,}",
        f"{n:,}",
        f"{formed:.1f} s",
        f"{seconds:.2f} s",
        f"{memory:.0f} GB",
        f"{right:,} of {len(true):,}",
        false,
    ]


def differences() -> str:
    """The largest difference from the processor, over tables of many sizes, standardised ones (whose variances tie) too."""
    random = np.random.default_rng(0)
    worst, tables = 0.0, 0
    for p, n in ((1, 9), (2, 30), (5, 50), (255, 900), (256, 900), (257, 900), (1100, 3000), (3000, 5000)):
        B = np.triu(random.standard_normal((p, p)) * (random.random((p, p)) < 2 / p), 1)
        X = random.standard_normal((n, p)) @ np.linalg.inv(np.eye(p) - B)
        for rows in (X, (X - X.mean(0)) / X.std(0)):
            Z = rows - rows.mean(0)
            moments = Moments(n, rows.mean(0), [f"v{j}" for j in range(p)], scatter=np.asfortranarray(Z.T @ Z))
            known, found = quick_forward(moments), forward_on(moments, "cuda")
            assert (known is None) == (found is None), p
            if known is None or found is None:
                continue
            assert (known.order == found.order).all(), p
            tables += 1
            worst = max(worst, float(np.abs(known.W - found.W).max() / np.abs(known.W).max()))
    return (
        f"On {tables} tables of 1 to 3,000 variables the order is that of the processor, and W differs by {worst:.0e} of its largest "
        "entry at most."
    )


def run(sizes: Sequence[int] = (20_000, 50_000, 100_000, 120_000)) -> str:
    start = clock()
    measured(2_000)
    first, start = clock() - start, clock()
    measured(2_000)
    again = clock() - start
    same = differences()
    rows = [measured(p) for p in sizes]
    head = ["p", "n", "scatter from rows", "order and edges", "memory at most", "true edges found", "false edges"]
    return (
        f"## On a GPU\n\n{torch.cuda.get_device_name()}, PyTorch {torch.__version__}. From a scatter on the device to edges: order, "
        "inverse of the factor, and tests of all pairs, float64, in one p × p matrix (`ordag.order.on_device.edges_on`). A sparse model "
        f"with equal error variances, two parents per variable with weights ±U(0.3, 0.8). {same} A process that has to compile the "
        f"kernels first took {first:.1f} s for 2,000 variables, and {again:.1f} s after that.\n\n{table(head, rows)}"
    )
