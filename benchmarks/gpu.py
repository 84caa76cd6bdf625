"""Order and edges on a GPU, from a scatter on the device and from rows: `python -m benchmarks gpu`, which takes CUDA and PyTorch."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

import ordag
from benchmarks.timing import table
from ordag.data.moments import Moments
from ordag.order.device_factor import DeviceFactor
from ordag.order.least_squares import gram_forward
from ordag.order.on_device import forward_on, pivot_in_place
from ordag.parents.tests import fisher_z, significant

CHUNK = 6e9
"""Bytes of rows to make at a time."""


class Model:
    """A sparse model with equal error variances, whose rows are made on the device, some at a time.

    Variables stand in layers; each has on average degree/2 parents in earlier ones, with weights ±U(0.3, 0.8). `arrows` are its
    (source, target) as columns of a table, in which the variables are mixed.
    """

    def __init__(self, p: int, seed: int = 0, layers: int = 40, degree: int = 4) -> None:
        self.p = p
        self.generator = torch.Generator(device="cuda").manual_seed(seed)
        random = np.random.default_rng(seed)
        column = torch.randperm(p, generator=self.generator, device="cuda")
        self.place = torch.argsort(column)
        self.bounds = np.linspace(0, p, layers + 1).astype(int).tolist()
        self.weights: list[Any] = [None]
        arrows = []
        for start, stop in pairwise(self.bounds[1:]):
            count = (stop - start) * degree // 2
            source, target = random.integers(0, start, count), random.integers(0, stop - start, count)
            size = random.uniform(0.3, 0.8, count) * random.choice([-1.0, 1.0], count)
            at = torch.from_numpy(np.stack([target, source])).cuda()
            sparse = torch.sparse_coo_tensor(at, torch.from_numpy(size).cuda(), (stop - start, start))
            self.weights.append(sparse.coalesce().to_sparse_csr())
            arrows.append(np.stack([source, target + start]))
        self.arrows = column.cpu().numpy()[np.concatenate(arrows, axis=1)]

    def columns(self, n: int) -> Iterator[torch.Tensor]:
        """The rows of a table, some at a time, each as a column."""
        step = max(2000, int(CHUNK / 8 / self.p))
        for start in range(0, n, step):
            X = torch.empty((self.p, min(step, n - start)), dtype=torch.float64, device="cuda")
            for weights, (first, last) in zip(self.weights, pairwise(self.bounds), strict=True):
                X[first:last].normal_(generator=self.generator)
                if weights is not None:
                    X[first:last] += weights @ X[:first]
            yield X[self.place]

    def scatter(self, n: int) -> torch.Tensor:
        """That of n rows, whose mean is known to be zero."""
        S = torch.zeros((self.p, self.p), dtype=torch.float64, device="cuda")
        for X in self.columns(n):
            for top in range(0, self.p, 8192):  # the triangle, in slabs
                S[top : top + 8192, : top + 8192].addmm_(X[top : top + 8192], X[: top + 8192].T)
        for top in range(0, self.p, 8192):
            stop = min(top + 8192, self.p)
            S[:top, top:stop] = S[top:stop, :top].T
        return S

    def table(self, n: int) -> torch.Tensor:
        """n rows in float32."""
        rows = torch.empty((n, self.p), dtype=torch.float32, device="cuda")
        start = 0
        for X in self.columns(n):
            rows[start : start + X.shape[1]] = X.T
            start += X.shape[1]
        return rows

    def compared(self, source: np.ndarray, target: np.ndarray) -> list[str]:
        """How many of the true arrows are among those given as columns, and how many others there are."""
        true = np.unique(self.arrows[0] * self.p + self.arrows[1])
        right = int(np.isin(source * self.p + target, true).sum())
        return [f"{right:,} of {len(true):,}", f"{len(source) - right:,}"]


def clock() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def measured(p: int) -> list[str]:
    """One row of the table: a scatter of 5 % more rows than columns, and edges at 5 % with Bonferroni's correction."""
    n = p + p // 20
    model = Model(p)
    start = clock()
    S = model.scatter(n)
    formed, start = clock() - start, clock()
    torch.cuda.reset_peak_memory_stats()
    with torch.no_grad():
        found = pivot_in_place(S)
        assert found is not None
        factor = DeviceFactor(S)
        level = 0.05 / (p * (p - 1) / 2)
        pairs = zip(*significant(factor, n, fisher_z, level), strict=True)
        later, earlier, _ = (np.concatenate(part) for part in pairs)
    seconds = clock() - start
    memory = torch.cuda.max_memory_allocated() / 1e9
    del S, factor
    torch.cuda.empty_cache()
    times = [f"{formed:.1f} s", f"{seconds:.2f} s", f"{memory:.0f} GB"]
    return [f"{p:,}", f"{n:,}", *times, *model.compared(found.order[earlier], found.order[later])]


def learned(p: int) -> list[str]:
    """One row of the other table: everything from rows on the device to a table of arrows and a verdict on the host."""
    n = p + p // 20
    model = Model(p)
    X = model.table(n)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    start = clock()
    fit = ordag.learn(X, "cvs", alpha=0.05, correction="bonferroni")
    seconds, start = clock() - start, clock()
    arrows = fit.edges
    said, start = clock() - start, clock()
    str(fit.verdict)
    judged = clock() - start
    memory = torch.cuda.max_memory_allocated() / 1e9
    source, target = (arrows[end].str.slice(1).astype(int).to_numpy() - 1 for end in ("source", "target"))
    times = [f"{value:.1f} s" for value in (seconds, said, judged)]
    del X, fit
    torch.cuda.empty_cache()
    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return [f"{p:,}", f"{n:,}", *times, f"{memory:.0f} GB", f"{host:.0f} GB", *model.compared(source, target)]


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
            known, found = gram_forward(moments), forward_on(moments, "cuda")
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


def run(
    sizes: Sequence[int] = (20_000, 50_000, 100_000, 120_000), tables: Sequence[int] = (20_000, 50_000, 100_000)
) -> str:
    start = clock()
    measured(2_000)
    first, start = clock() - start, clock()
    measured(2_000)
    again = clock() - start
    same = differences()
    found = ["true edges found", "false edges"]
    edges = table(
        ["p", "n", "scatter from rows", "order and edges", "memory at most", *found], [measured(p) for p in sizes]
    )
    learn = table(
        ["p", "n", "learn", "fit.edges", "fit.verdict", "memory at most", "of the host", *found],
        [learned(p) for p in tables],
    )
    return (
        f"## On a GPU\n\n{torch.cuda.get_device_name()}, PyTorch {torch.__version__}. From a scatter on the device to edges: order, "
        "inverse of the factor, and tests of all pairs, float64, in one p × p matrix. A sparse model "
        f"with equal error variances, two parents per variable with weights ±U(0.3, 0.8). {same} A process that has to compile the "
        f"kernels first took {first:.1f} s for 2,000 variables, and {again:.1f} s after that.\n\n{edges}\n\n"
        'The whole of `ordag.learn(tensor, "cvs", alpha=0.05, correction="bonferroni")` on rows of float32 that lie on the device: the '
        "scatter, which also comes to the host, order, tests, and the checks of the table; and then the table of arrows with weights, "
        f"standard errors and both p-values, and the verdict.\n\n{learn}"
    )
