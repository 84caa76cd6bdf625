"""Large matrices between a device of PyTorch and NumPy's memory, through page-locked buffers and by several threads.

Copied in one call they come at a gigabyte a second or so: new memory is claimed page by page, by one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from ordag.arrays import Array

if TYPE_CHECKING:
    import torch

NUMBERS = 2**22
"""Numbers of a buffer, 32 MB."""

THREADS = min(8, os.cpu_count() or 1)


def rows_at_once(p: int) -> int:
    """How many rows of p numbers a buffer holds."""
    return max(1, NUMBERS // max(p, 1))


def fetch(parts: Iterable[tuple[Array, Callable[[], torch.Tensor]]]) -> None:
    """Into every array what its function makes on a device, some of them at the same time."""
    buffers: SimpleQueue[torch.Tensor | None] = SimpleQueue()
    for _ in range(THREADS):
        buffers.put(None)

    def fill(part: tuple[Array, Callable[[], torch.Tensor]]) -> None:
        place, made = part[0], part[1]()
        buffer = buffers.get()
        try:
            buffer = _buffer(made) if buffer is None or buffer.numel() < made.numel() else buffer
            landed = buffer[: made.numel()].view(made.shape)
            landed.copy_(made)
            np.copyto(place, landed.numpy())
        finally:
            buffers.put(buffer)

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(fill, parts):
            pass


def send(rows: Array, place: torch.Tensor) -> None:
    """A matrix to where it is to lie on a device."""
    step = rows_at_once(rows.shape[1])
    buffer = _buffer(place[:step])
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        landed = buffer[: part.size].view(part.shape)
        np.copyto(landed.numpy(), part)
        place[start : start + step] = landed


def _buffer(like: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.empty(like.numel(), dtype=torch.float64, pin_memory=like.device.type == "cuda")
