"""Order and edges on a GPU, from a scatter on the device: `python -m benchmarks.gpu [P…]`, which needs CUDA and PyTorch."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import torch

from ordag.data.moments import Moments
from ordag.order.least_squares import quick_forward
from ordag.order.on_device import edges_on, forward_on, invert_in_place, pivot_in_place
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


def measure(p: int, n: int) -> None:
    start = clock()
    S, column, arrows = model(p, n)
    formed = clock() - start
    level = 0.05 / (p * (p - 1) / 2)
    critical = CRITICAL[fisher_z](level, n, conditioned_on(np.arange(p)))
    torch.cuda.reset_peak_memory_stats()
    start = clock()
    found = edges_on(S, critical)
    seconds = clock() - start
    assert found is not None
    place = np.argsort(found.found.order)
    true = np.unique(place[column[arrows[0]]] * p + place[column[arrows[1]]])
    right = np.isin(found.earlier * p + found.later, true).sum()
    print(
        f"p = {p:,}, n = {n:,}: scatter {formed:.1f} s, to edges {seconds:.2f} s, {torch.cuda.max_memory_allocated() / 1e9:.1f} GB; "
        f"{len(found.r):,} edges, {right:,} of {len(true):,} true ones",
        flush=True,
    )
    del S
    torch.cuda.empty_cache()


def parts(p: int, n: int) -> None:
    S, _, _ = model(p, n)
    start = clock()
    pivot_in_place(S)
    ordered = clock()
    invert_in_place(S)
    print(f"p = {p:,}: order {ordered - start:.2f} s, inverse {clock() - ordered:.2f} s", flush=True)
    del S
    torch.cuda.empty_cache()


def agree() -> None:
    """The same as the processor, ties and tiny tables included."""
    random = np.random.default_rng(0)
    for p, n in ((1, 9), (2, 30), (5, 50), (255, 900), (256, 900), (257, 900), (1100, 3000), (3000, 5000)):
        X = random.standard_normal((n, p)) @ np.triu(
            random.standard_normal((p, p)) * (random.random((p, p)) < 2 / p), 1
        ) + random.standard_normal((n, p))
        for rows in (X, (X - X.mean(0)) / X.std(0)):
            Z = rows - rows.mean(0)
            moments = Moments(n, rows.mean(0), [f"v{j}" for j in range(p)], scatter=np.asfortranarray(Z.T @ Z))
            known, found = quick_forward(moments), forward_on(moments, "cuda")
            assert (known is None) == (found is None), p
            if known is not None and found is not None:
                same = (known.order == found.order).all()
                gap = np.abs(known.W - found.W).max() / np.abs(known.W).max() if same else np.nan
                rival = np.abs(known.runner_up[:-1] / found.runner_up[:-1] - 1).max(initial=0.0)
                print(f"p = {p}: same order {same}, W differs by {gap:.1e}, runner-ups by {rival:.1e}", flush=True)


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__)
    agree()
    start = clock()
    measure(5000, 8000)
    print(f"the first of its kind, kernels compiled, in {clock() - start:.1f} s")
    for size in map(int, sys.argv[1:] or ["20000"]):
        rows = size + size // 20
        if size <= 20_000:
            parts(size, rows)
        measure(size, rows)
