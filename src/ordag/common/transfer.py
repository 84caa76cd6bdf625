"""Copy large matrices between a device of PyTorch and NumPy's memory, through page-locked buffers and by several threads.

One call would copy about a gigabyte a second: new memory is claimed page by page, by one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from ordag.common.arrays import Array

if TYPE_CHECKING:
    import torch

BUFFER_NUMBERS = 2**22
"""Numbers of a buffer, 32 MB."""

THREADS = min(8, os.cpu_count() or 1)


def rows_at_once(p: int) -> int:
    """Return the number of rows of p numbers that a buffer holds."""
    return max(1, BUFFER_NUMBERS // max(p, 1))


def to_host(parts: Iterable[tuple[Array, Callable[[], torch.Tensor]]]) -> None:
    """Fill every array with what its function makes on a device, several at the same time."""
    buffers: SimpleQueue[torch.Tensor | None] = SimpleQueue()
    for _ in range(THREADS):
        buffers.put(None)

    def fill(part: tuple[Array, Callable[[], torch.Tensor]]) -> None:
        target, made = part[0], part[1]()
        buffer = buffers.get()
        try:
            buffer = _buffer(made) if buffer is None or buffer.numel() < made.numel() else buffer
            landed = buffer[: made.numel()].view(made.shape)
            landed.copy_(made)
            np.copyto(target, landed.numpy())
        finally:
            buffers.put(buffer)

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(fill, parts):
            pass


def to_device(rows: Array, target: torch.Tensor) -> None:
    """Copy a matrix into a tensor on a device."""
    step = rows_at_once(rows.shape[1])
    buffer = _buffer(target[:step])
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        landed = buffer[: part.size].view(part.shape)
        np.copyto(landed.numpy(), part)
        target[start : start + step] = landed


def _buffer(like: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.empty(like.numel(), dtype=torch.float64, pin_memory=like.device.type == "cuda")
