"""Tensors on a GPU: the scatter is formed there, and rows come to the host only where they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.transfer import rows_at_once, to_host
from ordag.data.reading import Reading
from ordag.data.sources.arrays import numbered
from ordag.data.sources.source import Source
from ordag.errors import ColumnError, SettingError, UnreadableError

if TYPE_CHECKING:
    import torch

SLAB_NUMBERS = 2**28
"""Numbers in a slab of rows, two gigabytes in float64."""

BLOCK_COLUMNS = 4096
"""Columns of the scatter at a time: wide enough for the device's full rate, narrow enough to leave out the upper triangle."""


@dataclass(frozen=True, eq=False)
class TensorSource(Source):
    """A tensor of real numbers on a device."""

    tensor: torch.Tensor
    formed: list[torch.Tensor] = field(default_factory=list, init=False)

    @property
    def device(self) -> str:
        return str(self.tensor.device)

    def batches(self, rows: int) -> Iterator[Array]:
        for start in range(0, len(self.tensor), rows):
            yield np.ascontiguousarray(self.tensor[start : start + rows].double().cpu().numpy())

    def every(self, stride: int) -> Array:
        """Return every `stride`-th row."""
        return np.ascontiguousarray(self.tensor[::stride].double().cpu().numpy())

    def extremes(self) -> tuple[Array, Array]:
        """Return the least and the greatest value of every column."""
        return tuple(one.double().cpu().numpy() for one in (self.tensor.amin(dim=0), self.tensor.amax(dim=0)))

    def scatter(self) -> tuple[Array, Array]:
        """Return mean and centred scatter, in its lower triangle, in float64 for a tensor of any type; as `scatter_of`.

        The scatter also stays on the device, until `take_scatter` hands it out.
        """
        import torch

        try:
            with torch.no_grad():
                return self._scatter()
        except torch.OutOfMemoryError as error:
            p = len(self.names)
            raise SettingError(
                f"{self.device} has too little memory for the scatter of {p} variables beside the tensor, {8e-9 * p**2:.1f} GB and slabs "
                f"of {8e-9 * SLAB_NUMBERS:.1f} GB: use fewer columns, or give the rows from the host."
            ) from error

    def _scatter(self) -> tuple[Array, Array]:
        import torch

        X = self.tensor
        n, p = X.shape
        mean = X.mean(dim=0, dtype=torch.float64)
        missed = torch.zeros_like(mean)
        upper = torch.zeros((p, p), dtype=torch.float64, device=X.device)
        step = max(1, SLAB_NUMBERS // p)
        for start in range(0, n, step):
            centred = X[start : start + step].double() - mean
            missed += centred.sum(dim=0)
            for left in range(0, p, BLOCK_COLUMNS):
                rows = slice(left, left + BLOCK_COLUMNS)
                upper[rows, left:].addmm_(centred[:, rows].T, centred[:, left:])
            del centred
        for left in range(0, p, BLOCK_COLUMNS):
            rows = slice(left, left + BLOCK_COLUMNS)
            upper[rows, left:].addr_(missed[rows], missed[left:], alpha=-1.0 / n)
        self.formed[:] = [upper]
        scatter, step = np.empty((p, p)), rows_at_once(p)
        to_host(
            (scatter[top : top + step, top:], partial(upper.__getitem__, (slice(top, top + step), slice(top, None))))
            for top in range(0, p, step)
        )
        # rows of the upper triangle are columns of the lower one: the same numbers in NumPy's Fortran order
        return (mean + missed / n).cpu().numpy(), scatter.T

    def take_scatter(self) -> torch.Tensor | None:
        """Hand out the scatter on the device, in its upper triangle; None after the first call."""
        return self.formed.pop() if self.formed else None


def open_tensor(data: Any, reading: Reading) -> Source | None:
    """Open an (n, p) tensor of PyTorch on a device, or an array with the CUDA array interface; its columns are named X1 to Xp."""
    on_device = (
        hasattr(data, "__cuda_array_interface__") or getattr(getattr(data, "device", None), "type", "cpu") != "cpu"
    )
    if not on_device:
        return None
    try:
        import torch
    except ImportError as error:
        raise UnreadableError(
            f"An array on a GPU ({type(data).__name__}) takes PyTorch, which is not installed: python -m pip install torch."
        ) from error
    tensor = torch.as_tensor(data).detach()
    shape = tuple(tensor.shape)
    if len(shape) != 2:
        raise UnreadableError(f"the tensor has shape {shape}: expected two dimensions, (rows, variables).")
    if not tensor.dtype.is_floating_point:
        raise ColumnError(f"the tensor holds {tensor.dtype}: give floating-point numbers, such as tensor.double().")
    chosen = numbered(shape[1], reading, "the tensor")
    positions = list(chosen.positions)
    if len(positions) < shape[1] or positions != sorted(positions):
        tensor = tensor[:, positions]
    return TensorSource(chosen.names, shape[0], "the tensor", tensor, **chosen.known)
