r"""The forward order on a GPU, in one p × p matrix, with torch.

`S` is a scatter on the device, symmetric and float64; it is overwritten. Pivots are chosen in panels, in which nothing waits for
the host, and the smallest remaining variance is found again by every block of a kernel from minima of blocks (Triton; elsewhere plain
torch does the same). After a panel the pivots move to the front, by an exchange of at most as many rows and columns, also in the
finished rows above, so that the trailing update $S \leftarrow S - P^\top P$ touches only what is left. The result is $L^\top$, with
$LL^\top = S$ in the order found; its inverse goes into the other triangle (`DeviceFactor`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag.common.transfer import to_device
from ordag.data.moments import Moments
from ordag.errors import SettingError
from ordag.order.cholesky import SPENT, TIE, Pivots
from ordag.order.device_factor import DeviceFactor
from ordag.order.factor import Factor
from ordag.order.least_squares import gram_ordering
from ordag.order.ordering import Ordering

if TYPE_CHECKING:
    import torch

PANEL_PIVOTS = 256
"""Pivots in a panel: so many that the trailing update runs at the device's full rate."""

KEPT_FROM = 8192
"""Variables from which on the factor stays on the device, half a gigabyte and more; with fewer it is copied to the host."""


def torch_device(name: str) -> torch.device:
    """Return the device of this name, or a SettingError with the reason why it cannot be used."""
    try:
        import torch
    except ImportError as error:
        raise SettingError(
            f"device={name!r} takes PyTorch, which is not installed: python -m pip install torch, or leave device out."
        ) from error
    try:
        device = torch.device(name)
        torch.empty(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise SettingError(f"device={name!r} cannot be used ({reason}): leave device out, or name another.") from error
    return device


def forward_on(moments: Moments, name: str, formed: torch.Tensor | None = None) -> Ordering | None:
    """Return the forward ordering of a scatter, or None where its digits do not suffice: `gram_forward` on a device.

    formed: the scatter of the moments, if it is on the device already; its upper triangle is read, and it is overwritten.
    """
    import torch

    device = torch_device(name)
    try:
        with torch.no_grad():
            S = _upper(moments, device) if formed is None else formed
            _mirror(S)
            pivots = pivot_in_place(S)
            ordering = None if pivots is None else gram_ordering(moments, pivots, DeviceFactor(S))
    except torch.OutOfMemoryError as error:
        raise SettingError(
            f"device={name!r} has too little memory for {moments.p} variables, which take {8e-9 * moments.p**2:.1f} GB and a little more: "
            "use fewer columns, another device, or none."
        ) from error
    if ordering is None or moments.p >= KEPT_FROM:
        return ordering
    return replace(ordering, factor=Factor(ordering.known_factor.both))


def _upper(moments: Moments, device: torch.device) -> torch.Tensor:
    """Copy the scatter to the device; only its upper triangle counts."""
    import torch

    if moments.scatter is None:
        R = torch.from_numpy(np.array(moments.R, order="C")).to(device)
        return R.T @ R
    S = torch.empty(moments.scatter.shape, dtype=torch.float64, device=device)
    to_device(moments.scatter.T, S)
    return S


def _mirror(S: torch.Tensor) -> None:
    """Copy the upper triangle below the diagonal."""
    import torch

    for start in range(0, len(S), PANEL_PIVOTS):
        rows = S[start : start + PANEL_PIVOTS]
        stop = start + len(rows)
        S[stop:, start:stop] = rows[:, stop:].T
        corner = torch.triu(rows[:, start:stop])
        rows[:, start:stop] = corner + torch.triu(corner, 1).T


def pivot_in_place(S: torch.Tensor) -> Pivots | None:
    """Factorise by the smallest remaining variance; S becomes upper triangular. None where a variance has lost too many digits."""
    import torch

    p = len(S)
    work = Work(S)
    second = []
    for done in range(0, p, PANEL_PIVOTS):
        width = min(PANEL_PIVOTS, p - done)
        work.panel_of(done, width)
        picks = work.picks[:width]
        sound = (work.pivots[:width] >= work.limit[done:][picks]).all()  # false for NaN too
        if not bool(sound):  # the first time in a panel that the host waits
            return None
        second.append(work.second[:width].clone())
        _exchange(work, done, width, picks.tolist())
        if bool((work.remaining[done + width :] < work.limit[done + width :]).any()):
            return None
    order = work.ids.cpu().numpy().astype(np.intp)
    return Pivots(order, torch.cat(second).cpu().numpy())


class Work:
    """The matrix, and for every position its column, its remaining variance and the least that may be left of it."""

    def __init__(self, S: torch.Tensor) -> None:
        import torch

        p, device = len(S), S.device
        width = min(PANEL_PIVOTS, p)
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
            from ordag.order.triton_steps import PanelSteps

            self.kernels = PanelSteps(p, device)

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
