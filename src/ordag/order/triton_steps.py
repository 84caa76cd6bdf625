"""The steps of a panel as two Triton kernels, captured once as a CUDA graph: no step waits for the host."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ordag.order.cholesky import TIE

LOOK = 1024
"""Positions among which a block of the first kernel finds the smallest variance."""

COLUMNS = 256
ROWS = 16
"""Columns of a block of the second kernel, and rows of the panel that it reads at a time."""

NO_COLUMN = tl.constexpr(2**40)
TIE_ = tl.constexpr(TIE)


@triton.jit
def smallest(remaining, ids, meta, value, column, position, second, p, LOOK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Store for every block the variance, the column and the position of its candidate, and the smallest of the others."""
    done = tl.load(meta)
    q = p - done
    block = tl.program_id(0)
    c = block * LOOK + tl.arange(0, LOOK)
    there = c < q
    left = tl.load(remaining + done + c, mask=there, other=float("inf"))
    columns = tl.load(ids + done + c, mask=there, other=NO_COLUMN)
    least = tl.min(left, 0)
    close = left <= least + TIE_ * tl.abs(least)  # rounding may have left less than nothing
    first = tl.min(tl.where(close, columns, NO_COLUMN), 0)
    mine = (columns == first) & (left < float("inf"))
    tl.store(value + block, tl.min(tl.where(mine, left, float("inf")), 0))
    tl.store(column + block, tl.where(least < float("inf"), first, NO_COLUMN))
    tl.store(position + block, tl.min(tl.where(mine, c, 2**30), 0))
    tl.store(second + block, tl.min(tl.where(mine, float("inf"), left), 0))


@triton.jit(do_not_specialize=["t"])
def step(  # type: ignore[no-untyped-def]
    S, panel, remaining, meta, value, column, position, second, picks, pivots, runner_up, p, blocks, t,
    MANY: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Find the pivot from the candidates of all blocks, in every block again, and compute this block's part of the panel's row."""
    done = tl.load(meta)
    q = p - done
    every = tl.arange(0, MANY)
    known = every < blocks
    values = tl.load(value + every, mask=known, other=float("inf"))
    columns = tl.load(column + every, mask=known, other=NO_COLUMN)
    positions = tl.load(position + every, mask=known, other=2**30)
    others = tl.load(second + every, mask=known, other=float("inf"))
    least = tl.min(values, 0)
    first = tl.min(tl.where(values <= least + TIE_ * tl.abs(least), columns, NO_COLUMN), 0)
    chosen = columns == first
    pivot = tl.min(tl.where(chosen, values, float("inf")), 0)
    j = tl.minimum(tl.min(tl.where(chosen, positions, 2**30), 0), q - 1)  # some position, where NaN has left no column
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    there = c < q
    start = done.to(tl.int64) * (p + 1)
    row = tl.load(S + start + j.to(tl.int64) * p + c, mask=there, other=0.0)
    for s0 in range(0, t, ROWS):
        s = s0 + tl.arange(0, ROWS)
        known_row = s < t
        at_pivot = tl.load(panel + s.to(tl.int64) * p + j, mask=known_row, other=0.0)
        part = tl.load(
            panel + s.to(tl.int64)[:, None] * p + c[None, :], mask=known_row[:, None] & there[None, :], other=0.0
        )
        row -= tl.sum(part * at_pivot[:, None], 0)
    left = tl.load(remaining + done + c, mask=there, other=float("inf"))
    gone = left == float("inf")
    row = tl.where(gone, 0.0, row / tl.sqrt(pivot))
    tl.store(panel + t * p + c, row, mask=there)
    tl.store(remaining + done + c, tl.where(gone | (c == j), float("inf"), left - row * row), mask=there)
    if tl.program_id(0) == 0:
        tl.store(picks + t, j.to(tl.int64))
        tl.store(pivots + t, pivot)
        tl.store(runner_up + t, tl.min(tl.where(chosen, others, values), 0))


class PanelSteps:
    """Run the steps of panels of a matrix with p columns, on the buffers of a `Work`, to which it keeps no reference."""

    def __init__(self, p: int, device: torch.device) -> None:
        self.p = p
        self.blocks = triton.cdiv(p, LOOK)
        self.many = max(128, triton.next_power_of_2(self.blocks))  # one kernel up to 131,072 columns
        self.meta = torch.zeros(1, dtype=torch.int32, device=device)
        self.value = torch.zeros(self.blocks, dtype=torch.float64, device=device)
        self.second = torch.zeros(self.blocks, dtype=torch.float64, device=device)
        self.column = torch.zeros(self.blocks, dtype=torch.int64, device=device)
        self.position = torch.zeros(self.blocks, dtype=torch.int32, device=device)
        self.graph: Any = None

    def run(self, work: Any, done: int, width: int) -> None:
        self.meta.fill_(done)
        full = len(work.picks)
        if width < full or self.p < 4 * full:
            self._steps(work, width)
            return
        if self.graph is None:
            self._capture(work, full)
        self.graph.replay()

    def _capture(self, work: Any, width: int) -> None:
        """Record the launches of a panel as one graph; `meta` holds the value of `done` of a replay."""
        before = work.remaining.clone()
        self._steps(work, min(width, 3))  # compiles
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self._steps(work, width)
        work.remaining.copy_(before)

    def _steps(self, work: Any, width: int) -> None:
        p = self.p
        found = self.value, self.column, self.position, self.second
        columns = (triton.cdiv(p, COLUMNS),)
        for t in range(width):
            smallest[(self.blocks,)](work.remaining, work.ids, self.meta, *found, p, LOOK=LOOK)
            step[columns](
                work.S, work.panel, work.remaining, self.meta, *found, work.picks, work.pivots, work.second, p, self.blocks, t,
                MANY=self.many, COLUMNS=COLUMNS, ROWS=ROWS,
            )  # fmt: skip
