r"""The forward order on a GPU, in one p × p matrix, with torch.

`S` is a scatter on the device, symmetric and float64; it is worked on in place. Pivots are chosen in panels: within one nothing waits for
the host, and the smallest remaining variance is found again by every block of a kernel from minima of blocks (Triton; elsewhere plain
torch does the same). After a panel the pivots move to the front, by an exchange of at most as many rows and columns, also in the
finished rows above, so that the trailing update $S \leftarrow S - P^\top P$ touches only what is left. What remains is $L^\top$, with
$LL^\top = S$ in the order found; its inverse goes into the other triangle (`DeviceTriangles`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.data.moments import Moments
from ordag.errors import SettingError
from ordag.ferry import send
from ordag.order.cholesky import SPENT, TIE
from ordag.order.device_triangles import DeviceTriangles
from ordag.order.digits import column_lengths, noise
from ordag.order.least_squares import enough_digits
from ordag.order.ordering import Factor, Ordering
from ordag.order.triangles import Triangles

if TYPE_CHECKING:
    import torch

PANEL = 256
"""Pivots in a panel: so many that the trailing update runs at the device's full rate."""

STAYS = 8192
"""Variables from which on the factor stays on the device, half a gigabyte and more; of fewer it comes to the host."""


@dataclass(frozen=True, eq=False)
class Pivots:
    """The columns in the order of their pivots, the pivots, and the smallest of those not chosen at every step."""

    order: NDArray[np.intp]
    pivots: Array
    runner_up: Array


def torch_device(name: str) -> torch.device:
    """The device of this name, or a sentence on why there is none."""
    try:
        import torch
    except ImportError as error:
        raise SettingError(
            f"device={name!r} takes PyTorch, which is not installed: pip install 'ordag[gpu]', or leave device out."
        ) from error
    try:
        device = torch.device(name)
        torch.empty(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise SettingError(f"device={name!r} cannot be used ({reason}): leave device out, or name another.") from error
    return device


def forward_on(moments: Moments, name: str, formed: torch.Tensor | None = None) -> Ordering | None:
    """The forward ordering of a scatter with its factor, or None where its digits do not suffice; as `quick_forward`, on a device.

    formed: the scatter of the moments, if it lies there already: its upper triangle counts, and it is used up.
    """
    import torch

    device = torch_device(name)
    try:
        with torch.no_grad():
            S = _upper(moments, device) if formed is None else formed
            _mirror(S)
            found = pivot_in_place(S)
            if found is None:
                return None
            triangles = DeviceTriangles(S)
            uncertainty = noise(triangles.condition(column_lengths(moments)[found.order]), squared=True)
            if not enough_digits(uncertainty):
                return None
    except torch.OutOfMemoryError as error:
        raise SettingError(
            f"device={name!r} has too little memory for {moments.p} variables, which take {8e-9 * moments.p**2:.1f} GB and a little more: "
            "use fewer columns, another device, or none."
        ) from error
    kept = triangles if moments.p >= STAYS else Triangles(triangles.both)
    return Ordering.along(found.order, moments, Factor(kept, uncertainty), found.runner_up)


def _upper(moments: Moments, device: torch.device) -> torch.Tensor:
    """The scatter on the device; what counts is in its upper triangle."""
    import torch

    if moments.scatter is None:
        R = torch.from_numpy(np.array(moments.R, order="C")).to(device)
        return R.T @ R
    S = torch.empty(moments.scatter.shape, dtype=torch.float64, device=device)
    send(moments.scatter.T, S)
    return S


def _mirror(S: torch.Tensor) -> None:
    """The upper triangle below the diagonal as well."""
    import torch

    for start in range(0, len(S), PANEL):
        rows = S[start : start + PANEL]
        stop = start + len(rows)
        S[stop:, start:stop] = rows[:, stop:].T
        corner = torch.triu(rows[:, start:stop])
        rows[:, start:stop] = corner + torch.triu(corner, 1).T


def pivot_in_place(S: torch.Tensor) -> Pivots | None:
    """Factorise by the smallest remaining variance; S becomes upper triangular. None where a variance has lost too many digits."""
    import torch

    p = len(S)
    work = Work(S)
    chosen, second = [], []
    for done in range(0, p, PANEL):
        width = min(PANEL, p - done)
        work.panel_of(done, width)
        picks = work.picks[:width]
        if not bool(
            (work.pivots[:width] >= work.limit[done:][picks]).all()
        ):  # the first wait of a panel; false of NaN too
            return None
        chosen.append(work.pivots[:width].clone())
        second.append(work.second[:width].clone())
        _exchange(work, done, width, picks.tolist())
        if bool((work.remaining[done + width :] < work.limit[done + width :]).any()):
            return None
    order = work.ids.cpu().numpy().astype(np.intp)
    return Pivots(order, torch.cat(chosen).cpu().numpy(), torch.cat(second).cpu().numpy())


class Work:
    """The matrix and what goes with it: of every position its column, its remaining variance and the least that may be left."""

    def __init__(self, S: torch.Tensor) -> None:
        import torch

        p, device = len(S), S.device
        width = min(PANEL, p)
        self.S = S
        self.remaining = S.diagonal().clone()
        self.limit = SPENT * self.remaining
        self.ids = torch.arange(p, device=device)
        self.panel = torch.zeros((width, p), dtype=S.dtype, device=device)
        self.picks = torch.zeros(width, dtype=torch.int64, device=device)
        self.pivots = torch.zeros(width, dtype=S.dtype, device=device)
        self.second = torch.zeros(width, dtype=S.dtype, device=device)
        self.kernels: Any = None
        if device.type == "cuda":
            from ordag.order.triton_steps import Steps

            self.kernels = Steps(p, device)

    def panel_of(self, done: int, width: int) -> None:
        """Choose pivots among what is left: row t of the panel is the t-th new row of U, over the columns as they stand."""
        if self.kernels is not None:
            self.kernels.run(self, done, width)
        else:
            plain_steps(self, done, width)


def plain_steps(work: Work, done: int, width: int) -> None:
    """The steps of a panel in plain torch; of equal variances the earlier column goes first."""
    import torch

    T, left, ids = work.S[done:, done:], work.remaining[done:], work.ids[done:]
    q = len(T)
    panel = work.panel[:, :q]
    for t in range(width):
        least = left.min()
        close = left <= least + TIE * least.abs()  # rounding may have left less than nothing
        j = torch.where(close, ids, len(work.ids)).argmin()
        pivot = left[j].clone()
        chosen = torch.isinf(left)
        left[j] = torch.inf
        work.picks[t], work.pivots[t], work.second[t] = j, pivot, left.min()
        row = T[j] - panel[:t, j] @ panel[:t]
        row = torch.where(chosen, 0.0, row / pivot.sqrt())
        panel[t] = row
        left -= row * row  # infinite where chosen, and stays so


def _exchange(work: Work, done: int, width: int, picks: list[int]) -> None:
    """Move the picks to the front, in their order, and take what they explain from the rest."""
    import torch

    S, device = work.S, work.S.device
    T, q = S[done:, done:], len(S) - done
    P = work.panel[:width, :q]
    inside = set(picks)
    back = [j for j in picks if j >= width]
    front = [i for i in range(width) if i not in inside]
    taken = torch.tensor(picks, device=device)
    if front:
        to, of = torch.tensor(back, device=device), torch.tensor(front, device=device)
        T[to] = T[of]
        T[:, to] = T[:, of]
        moved, source = torch.cat([torch.arange(width, device=device), to]), torch.cat([taken, of])
    else:
        moved, source = torch.arange(width, device=device), taken
    P[:, moved] = P[:, source]
    if done:
        above = S[:done, done:]
        above[:, moved] = above[:, source]
    for values in (work.ids, work.limit, work.remaining):
        part = values[done:]
        part[moved] = part[source]
    T[:width] = P
    T[width:, :width] = 0.0
    if width < q:
        rest = P[:, width:]
        T[width:, width:].addmm_(rest.T, rest, alpha=-1.0)
