"""Series beside other packages: which arrows over time are found, and in what time; and are the probabilities right as often as they say?

`python benchmarks/series.py PEER LAGS` answers, in the peers' environment, each line "TABLE ANSWER" (paths of .npy files) with the CPU
seconds that it took. The answer is [l, i, j], 1 for i → j l steps later and, at the same time, both ways for a line. causalnex 0.12 takes
NumPy 1.23, and has an environment of its own, .venv-causalnex.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

CELLS = [(5, 2, 300, 30), (10, 2, 500, 30), (50, 3, 1000, 10)]
"""Variables, lags, times, and series of each kind."""

FIRST_SEED = 77_000
"""Seeds from here on were not looked at while anything was chosen."""

MOST_SECONDS = 600
"""CPU seconds that a package may take for one series."""

PEERS = {
    "PCMCI+ (tigramite), α = 0.01": "pcmci",
    "VARLiNGAM (lingam), weights from 0.05": "varlingam",
    "DYNOTEARS (causalnex), weights from 0.05": "dynotears",
}


def random_series(p: int, lags: int, times: int, seed: int) -> tuple[Array, Array]:
    """Draw weights [l, i, j] and a series of them.

    Every variable has its own past (0.2 to 0.6); at the same time there are p arrows on average, and p more over all lags
    (weights ± 0.2 to 0.5). Standard deviations of errors are log-normal (0.5). Models with a root from 0.95 on are drawn again.
    """
    random = np.random.default_rng(seed)
    while True:
        order, B = random.permutation(p), np.zeros((lags + 1, p, p))
        place = np.argsort(order)
        weights = random.uniform(0.2, 0.5, B.shape) * random.choice([-1.0, 1.0], B.shape)
        share = np.full(B.shape, 1.0 / (lags * (p - 1)))
        share[0] = 2.0 / (p - 1) * (place[:, None] < place[None, :])
        B = np.where(random.random(B.shape) < share, weights, 0.0)
        B[1][np.diag_indices(p)] = random.uniform(0.2, 0.6, p)
        T = np.linalg.inv(np.eye(p) - B[0])
        C = np.zeros((lags * p, lags * p))
        C[:, :p] = (B[1:] @ T).reshape(lags * p, p)
        C[: (lags - 1) * p, p:] = np.eye((lags - 1) * p)
        if np.abs(np.linalg.eigvals(C)).max() < 0.95:
            break
    sd = np.exp(random.normal(0.0, 0.5, p))
    X = np.zeros((times + 200, p))
    for t in range(times + 200):
        X[t] = (
            random.standard_normal(p) * sd
            + sum((X[t - lag] @ B[lag] for lag in range(1, min(lags, t) + 1)), np.zeros(p))
        ) @ T
    return B, X[200:]


def scores(truth: Array, found: Array) -> tuple[float, float]:
    """Return F1 of adjacencies, at the same time and over time, and F1 of the arrows at the same time."""
    pairs = np.triu_indices(truth.shape[1], 1)
    joined = [np.concatenate([(one[0] | one[0].T)[pairs], one[1:].ravel()]) for one in (truth, found)]
    arrows = found[0] & ~found[0].T
    return f1(*joined), f1(truth[0], arrows)


def f1(truth: Array, found: Array) -> float:
    """Return F1, 1 where there is nothing to find and nothing was."""
    both = int(truth.sum() + found.sum())
    return 2.0 * int((truth & found).sum()) / both if both else 1.0


def own(X: Array, lags: int) -> Array:
    """Learn with Ordag as it is by default."""
    import ordag

    fit = ordag.learn(X, lags=lags, method="pooled")
    return np.asarray(fit.summary_graph.at_lags)


def pcmci(X: Array, lags: int) -> Array:
    from tigramite.data_processing import DataFrame
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    found = PCMCI(DataFrame(X), ParCorr(), verbosity=0).run_pcmciplus(tau_min=0, tau_max=lags, pc_alpha=0.01)["graph"]
    answer = np.zeros((lags + 1, *found.shape[:2]), dtype=bool)
    for i, j, lag in zip(*np.nonzero(found != ""), strict=True):
        answer[lag, i, j] = found[i, j, lag] in ("-->", "o-o", "x-x")
    return answer


def varlingam(X: Array, lags: int) -> Array:
    from lingam import VARLiNGAM

    model = VARLiNGAM(lags=lags, criterion=None, prune=True, random_state=0).fit(X)
    matrices = np.asarray(model.adjacency_matrices_)  # [l, i, j] is the weight of j → i
    return np.asarray(np.abs(matrices.transpose(0, 2, 1)) > 0.05)


def dynotears(X: Array, lags: int) -> Array:
    """All weights from 0.05 on, of columns about their means in units of their standard deviations, as the penalty has none."""
    from causalnex.structure.dynotears import from_numpy_dynamic

    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    earlier = np.concatenate([Z[lags - lag : len(Z) - lag] for lag in range(1, lags + 1)], axis=1)
    model = from_numpy_dynamic(Z[lags:], earlier, lambda_w=0.05, lambda_a=0.05, w_threshold=0.05)
    answer = np.zeros((lags + 1, X.shape[1], X.shape[1]), dtype=bool)
    for source, target in model.edges:
        i, lag = source.split("_lag")
        answer[int(lag), int(i), int(target.split("_lag")[0])] = True
    return answer


def main() -> None:
    """Answer tables in the environment of the peers."""
    import resource

    warnings.simplefilter("ignore")
    call: Callable[[Array, int], Array] = {"pcmci": pcmci, "varlingam": varlingam, "dynotears": dynotears, "own": own}[
        sys.argv[1]
    ]
    lags = int(sys.argv[2])
    call(random_series(3, 1, 100, 1)[1], 1)  # loads what is compiled
    for line in sys.stdin:
        table, answer = line.split()
        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + MOST_SECONDS, resource.RLIM_INFINITY))
        np.save(answer, call(np.load(table), lags))
        print(time.process_time() - used, flush=True)


def measured(python: str, name: str, p: int, lags: int, times: int, count: int) -> list[tuple[float, float, float]]:
    """Return both scores and the CPU seconds of every series; fewer where a package took too long."""
    found = []
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder) / "table.npy", Path(folder) / "answer.npy"
        with subprocess.Popen(
            [python, __file__, name, str(lags)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **single},
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for k in range(count):
                B, X = random_series(p, lags, times, FIRST_SEED + 1000 * p + k)
                np.save(table, X)
                process.stdin.write(f"{table} {answer}\n")
                process.stdin.flush()
                said = process.stdout.readline()
                if not said:
                    break
                found.append((*scores(B != 0.0, np.load(answer)), float(said)))
    return found


def compared() -> str:
    from benchmarks.accuracy.calls import PEERS_PYTHON
    from benchmarks.timing import table

    rows = []
    pythons = {"own": Path(sys.executable), "dynotears": PEERS_PYTHON.parents[2] / ".venv-causalnex" / "bin" / "python"}
    for p, lags, times, count in CELLS:
        for title, name in {"Ordag": "own", **PEERS}.items():
            python = pythons.get(name, PEERS_PYTHON)
            if not python.exists():
                continue
            got = measured(str(python), name, p, lags, times, count)
            print(
                p,
                lags,
                times,
                title,
                len(got),
                np.round(np.mean(got, axis=0), 3) if got else "",
                file=sys.stderr,
                flush=True,
            )
            if not got:
                rows.append([f"{p} × {times}, lag {lags}", title, "–", "–", f"over {MOST_SECONDS} s"])
                continue
            mean, error = np.mean(got, axis=0), np.std(got, axis=0) / np.sqrt(len(got))
            cells = [f"{mean[k]:.2f} ± {error[k]:.2f}" for k in range(2)]
            rows.append([f"{p} × {times}, lag {lags} ({len(got)})", title, *cells, f"{mean[2]:.2f} s"])
    head = ["variables × times", "", "adjacency F1", "orientation F1 (same time)", "CPU"]
    return table(head, rows)


def calibrated(tables: int = 60, p: int = 6, times: int = 200, memory: float = 0.9) -> str:
    """Hold the probabilities of arrows against the truth in series whose variables remember their past strongly."""
    import ordag
    from benchmarks.timing import table

    said, right = [], []
    for k in range(tables):
        B, X = remembering(p, times, memory, FIRST_SEED + 500_000 + k)
        fit = ordag.learn(X, lags=1, method="pooled")
        arrows = fit.probabilities.arrows[:, :p].reshape(2, p, p)
        off = ~np.eye(p, dtype=bool)
        for lag in range(2):
            said.append(arrows[lag][off if lag == 0 else np.ones((p, p), dtype=bool)])
            right.append((B[lag] != 0.0)[off if lag == 0 else np.ones((p, p), dtype=bool)])
    return _reliability(np.concatenate(said), np.concatenate(right), table)


def remembering(p: int, times: int, memory: float, seed: int) -> tuple[Array, Array]:
    """Draw a series whose variables have autoregressions near `memory`, and arrows of 0.2 to 0.5 at the same time and a step later."""
    random = np.random.default_rng(seed)
    while True:
        B = np.zeros((2, p, p))
        place = random.permutation(p)
        weights = random.uniform(0.2, 0.5, B.shape) * random.choice([-1.0, 1.0], B.shape)
        B[0] = weights[0] * (random.random((p, p)) < 2.0 / (p - 1)) * (place[:, None] < place[None, :])
        B[1] = 0.3 * weights[1] * (random.random((p, p)) < 0.5 / (p - 1))
        B[1][np.diag_indices(p)] = memory
        T = np.linalg.inv(np.eye(p) - B[0])
        B[1] = B[1] @ np.eye(p)
        if np.abs(np.linalg.eigvals(B[1] @ T)).max() < 0.97:
            break
    sd = np.exp(random.normal(0.0, 0.5, p))
    X = np.zeros((times + 500, p))
    for t in range(1, times + 500):
        X[t] = (random.standard_normal(p) * sd + X[t - 1] @ B[1]) @ T
    return B, X[500:]


def panels(tables: int = 60, p: int = 5) -> str:
    """The same for panels: 20 clusters of 25 times with levels of their own."""
    import pandas as pd

    import ordag
    from benchmarks.timing import table

    said, right = [], []
    names = [f"X{j}" for j in range(p)]
    for k in range(tables):
        random = np.random.default_rng(FIRST_SEED + 600_000 + k)
        B, X = random_series(p, 1, 20 * 75, FIRST_SEED + 700_000 + k)
        parts = [X[75 * c + 50 : 75 * c + 75] + random.normal(0.0, 3.0, p) for c in range(20)]
        rows = [pd.DataFrame(part, columns=names).assign(who=f"c{c}", when=range(25)) for c, part in enumerate(parts)]
        fit = ordag.learn(pd.concat(rows), time="when", cluster="who", lags=1, method="pooled")
        arrows = fit.probabilities.arrows[:, :p].reshape(2, p, p)
        said += [arrows[0][~np.eye(p, dtype=bool)], arrows[1].ravel()]
        right += [(B[0] != 0.0)[~np.eye(p, dtype=bool)], (B[1] != 0.0).ravel()]
    return _reliability(np.concatenate(said), np.concatenate(right), table)


def covered(count: int = 20, p: int = 4, ahead: int = 6) -> str:
    """Count the intervals of 95 % that hold the responses that are not near 0, and the values to come."""
    import ordag
    from ordag.model.in_time import responses

    held, came = [], []
    for k in range(count):
        B, X = random_series(p, 1, 200 + ahead, 900_000 + k)
        fit = ordag.learn(X[:200], lags=1, method="pooled", draws=128)
        truth = responses(B, 4)
        for i in range(p):
            j = (i + 1) % p
            found = fit.response(f"X{i + 1}", f"X{j + 1}", 4)
            far = np.abs(truth[:, i, j]) > 0.05
            held += ((found.low <= truth[:, i, j]) & (truth[:, i, j] <= found.high))[far].tolist()
        said = fit.ahead(ahead)
        came.append(float(((X[200:] >= said.low) & (X[200:] <= said.high)).mean()))
    error = np.std(came) / np.sqrt(count)
    return (
        f"Intervals of 95 % in {count} series of {p} variables and 200 times hold {np.mean(held):.1%} of {len(held)} responses that are "
        f"not near 0, and {np.mean(came):.1%} ± {error:.1%} of the values at the next {ahead} times."
    )


def _reliability(said: Array, right: Array, table: Callable[..., str]) -> str:
    edges = [0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0 + 1e-9]
    rows = []
    for low, high in itertools.pairwise(edges):
        inside = (said >= low) & (said < high)
        if inside.any():
            share = right[inside].mean()
            error = np.sqrt(share * (1 - share) / inside.sum())
            rows.append(
                [
                    f"{low:.2f} to {min(high, 1):.2f}",
                    int(inside.sum()),
                    f"{said[inside].mean():.3f}",
                    f"{share:.3f} ± {error:.3f}",
                ]
            )
    brier = float(np.mean((said - right) ** 2))
    return table(["said", "arrows", "mean said", "were there"], rows) + f"\n\nBrier score {brier:.4f}."


def run() -> str:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        parts = [
            "## Series\n\nRandom linear Gaussian series (`benchmarks/series.py`), one thread each. Mean ± standard error over the series.",
            compared(),
            "Probabilities of arrows in series with autoregressions of 0.9 (60 series of 200 times, 6 variables, one lag):",
            calibrated(),
            "The same in panels of 20 clusters of 25 times with levels of their own (60 panels, 5 variables, one lag):",
            panels(),
            covered(),
        ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
