r"""The forward order on a GPU, in one p × p matrix: the factor, its inverse, and the tests, with torch.

`S` is a scatter on the device, symmetric and float64; it is worked on in place. Pivots are chosen in panels: within one nothing waits for
the host, and the smallest remaining variance is found again by every block of a kernel from minima of blocks (Triton; elsewhere plain
torch does the same). After a panel the pivots move to the front, by an exchange of at most as many rows and columns, also in the
finished rows above, so that the trailing update $S \leftarrow S - P^\top P$ touches only what is left. What remains is $U = L^\top$ with
$U^\top U = S$ in the order found, and then its inverse $V = U^{-1} = W^\top$, block column by block column:
$V_{:j,j} = -V_{:j,:j} U_{:j,j} U_{jj}^{-1}$.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.data.moments import Moments
from ordag.errors import SettingError
from ordag.order.cholesky import SPENT, TIE
from ordag.order.digits import column_lengths, noise
from ordag.order.least_squares import QUICK
from ordag.order.ordering import Factor, Ordering
from ordag.order.triangles import Triangles

if TYPE_CHECKING:
    import torch

PANEL = 256
"""Pivots in a panel: so many that the trailing update runs at the device's full rate."""

BLOCK_COLUMN = 1024
SLAB = 16_384
"""Columns of the inverse at a time, and rows of a product of them, which is all that is needed beside the matrix."""

NUMBERS = 2**25
"""Numbers of rows of the inverse to look at a time, a quarter of a gigabyte."""


@dataclass(frozen=True, eq=False)
class Pivots:
    """The columns in the order of their pivots, the pivots, and the smallest of those not chosen at every step."""

    order: NDArray[np.intp]
    pivots: Array
    runner_up: Array


@dataclass(frozen=True, eq=False)
class DeviceEdges:
    """What was found on the device, by positions in the order: pairs whose |r| is large enough, and r of each."""

    found: Pivots
    earlier: NDArray[np.intp]
    later: NDArray[np.intp]
    r: Array
    weight: Array


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


def forward_on(moments: Moments, name: str) -> Ordering | None:
    """The forward ordering of a scatter with its factor, or None where its digits do not suffice; as `quick_forward`, on a device."""
    import torch

    device = torch_device(name)
    try:
        with torch.no_grad():
            S = _scatter(moments, device)
            scale = torch.from_numpy(np.array(column_lengths(moments))).to(device)
            found = pivot_in_place(S)
            if found is None:
                return None
            triangles = Triangles.empty(moments.p)
            for start in range(0, len(S), _rows(len(S))):  # rows of S are columns of L
                rows = S[start : start + _rows(len(S))]
                triangles.lower.T[start : start + len(rows)] = rows.cpu().numpy()
            uncertainty = _uncertainty(invert_in_place(S), scale, found)
            if float(uncertainty.max()) > QUICK:
                return None
            for start in range(0, len(S), _rows(len(S))):
                columns = S[:, start : start + _rows(len(S))]
                triangles.set_W_rows(start, columns.T.contiguous().cpu().numpy())
    except torch.OutOfMemoryError as error:
        raise SettingError(
            f"device={name!r} has too little memory for {moments.p} variables, which take {8e-9 * moments.p**2:.1f} GB and a little more: "
            "use fewer columns, another device, or none."
        ) from error
    return Ordering.along(found.order, moments, Factor(triangles, uncertainty), found.runner_up)


def _scatter(moments: Moments, device: torch.device) -> torch.Tensor:
    """The scatter on the device, both triangles of it."""
    import torch

    if moments.scatter is None:
        R = torch.from_numpy(np.array(moments.R, order="C")).to(device)
        return R.T @ R
    upper = moments.scatter.T
    S = torch.empty(upper.shape, dtype=torch.float64, device=device)
    for start in range(0, len(S), _rows(len(S))):
        stop = min(start + _rows(len(S)), len(S))
        S[start:stop] = torch.from_numpy(np.array(upper[start:stop], order="C"))
    for start in range(0, len(S), _rows(len(S))):
        stop = min(start + _rows(len(S)), len(S))
        S[stop:, start:stop] = S[start:stop, stop:].T
        corner = torch.triu(S[start:stop, start:stop])
        S[start:stop, start:stop] = corner + torch.triu(corner, 1).T
    return S


def _uncertainty(V: torch.Tensor, scale: torch.Tensor, found: Pivots) -> Array:
    """The relative uncertainty of every variance: `noise` of c_m = Σ_j |W_mj| ‖x_j‖."""
    import torch

    ordered = scale[torch.from_numpy(found.order).to(V.device)]
    condition = torch.zeros(len(V), dtype=V.dtype, device=V.device)
    step = _rows(len(V))
    for start in range(0, len(V), step):
        condition += ordered[start : start + step] @ V[start : start + step].abs()
    return noise(condition.cpu().numpy(), squared=True)


def _rows(p: int) -> int:
    return max(16, NUMBERS // p)


def edges_on(S: torch.Tensor, critical: Array) -> DeviceEdges | None:
    """Order and edges of a scatter on a device, which is used up; None where its digits do not suffice.

    critical: the least |r| of an edge, by the position of the later variable.
    """
    import torch

    with torch.no_grad():
        found = pivot_in_place(S)
        if found is None:
            return None
        V = invert_in_place(S)
        pairs, values, weights = [], [], []
        least = torch.from_numpy(np.ascontiguousarray(critical)).to(V.device)
        own = V.diagonal().clone()
        for start in range(0, len(V), _rows(len(V))):
            rows = V[start : start + _rows(len(V)), start:]
            squares = torch.cumsum(rows * rows, 1)
            r = -rows / squares.sqrt_().clamp_min_(1e-300)
            later = torch.arange(start, len(V), device=V.device)
            joined = (r.abs() >= least[start:]) & (
                later > torch.arange(start, start + len(rows), device=V.device)[:, None]
            )
            at = joined.nonzero()
            values.append(r[at[:, 0], at[:, 1]].cpu())
            weights.append((-rows[at[:, 0], at[:, 1]] / own[start:][at[:, 1]]).cpu())
            pairs.append((at + start).cpu())
    ends = torch.cat(pairs).numpy()
    return DeviceEdges(found, ends[:, 0], ends[:, 1], torch.cat(values).numpy(), torch.cat(weights).numpy())


def pivot_in_place(S: torch.Tensor) -> Pivots | None:
    """Factorise by the smallest remaining variance; S becomes upper triangular. None where a variance has lost too many digits."""
    import torch

    p = len(S)
    work = Work(S)
    chosen, second = [], []
    for done in range(0, p, PANEL):
        width = min(PANEL, p - done)
        work.panel_of(done, width)
        picks = work.picks[:width].tolist()  # the one wait of a panel
        chosen.append(work.pivots[:width].clone())
        second.append(work.second[:width].clone())
        _exchange(work, done, width, picks)
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
        close = left <= left.min() * (1.0 + TIE)
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


def invert_in_place(U: torch.Tensor) -> torch.Tensor:
    """An upper triangular matrix becomes its inverse."""
    import torch

    for start in range(0, len(U), BLOCK_COLUMN):
        stop = min(start + BLOCK_COLUMN, len(U))
        unit = torch.eye(stop - start, dtype=U.dtype, device=U.device)
        own = torch.linalg.solve_triangular(U[start:stop, start:stop].clone(), unit, upper=True)
        for top in range(0, start, SLAB):  # rows below a slab are still those of U when it is written
            end = min(top + SLAB, start)
            U[top:end, start:stop] = -(U[top:end, top:start] @ U[top:start, start:stop]) @ own
        U[start:stop, start:stop] = own
    return U
