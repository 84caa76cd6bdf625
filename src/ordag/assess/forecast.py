r"""`forecast`: estimate the error rates of a learned graph by learning again from tables that its fitted model simulates.

Tables of the same size are drawn from the fitted model and learned from with the same settings, and the graphs that come out are
compared with the one that was drawn from. No rows are needed: the scatter of n Gaussian rows is $R^{*\top} R^*$ with
$R^* = A\,\Omega^{1/2} (I - B)^{-1}$, variables in causal order, and A the Bartlett factor of a standard Wishart matrix
(`WishartResampler`). Learners that take rows are given Gaussian ones.

It is what chance does to a graph like this one, and says nothing of assumptions that do not hold: the tier of the verdict says
whether the data support them. docs/trust.md has forecasts beside what there was.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ordag.assess.hidden_causes import hidden_doubts
from ordag.common.arrays import Array, Mask
from ordag.common.checks import Seed, is_whole, short
from ordag.common.linalg import inverse
from ordag.common.words import about, share
from ordag.data.covariates import Condition, Root
from ordag.data.moments import Moments
from ordag.errors import OrdagError, SettingError
from ordag.learners.found import Found
from ordag.resampling.replicates import Indices, Job, Replicate, run
from ordag.resampling.resamplers import gaussian_resampler, seed_root

MOST_TABLES, FEWEST_TABLES = 200, 4
"""The most and the fewest tables to learn from if no number is given."""


@dataclass(frozen=True)
class Expected:
    """The expected error rates of a learned graph.

    wrong: of the arrows found, those that are not there or point the other way. turned: of those between variables that are truly
    joined, the ones that point the other way. missed: of the edges there are, those not found. replicates: simulated tables
    behind these averages. The last two are None where the shares come from the probabilities of arrows: those of the pairs
    without an arrow depend on how weak the prior takes edges to be.
    """

    wrong: float
    turned: float
    missed: float | None = None
    replicates: int | None = None

    @property
    def sentence(self) -> str:
        if self.missed is None:
            return (
                f"By their probabilities, {about(self.wrong)} of the arrows are wrong; of those whose ends are truly joined, "
                f"{about(self.turned)} point the wrong way."
            )
        return (
            f"If this graph were the truth, tables of this size would give {about(self.wrong)} wrong arrows, "
            f"{share(self.turned)} reversed ones, and miss {share(self.missed)} of the edges "
            f"({self.replicates} simulated tables)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        by = "probabilities" if self.replicates is None else "forecast"
        return {"by": by, **asdict(self)}


def expected(found: Found, tables: int | None = None) -> Expected | None:
    """Return the expected error rates: from the probabilities of arrows if the method has them, else from a forecast."""
    if not found.method_settings.linear:
        return None
    if tables is None and found.result.by_probabilities:
        return _by_probabilities(found)
    return forecast(found, tables)


def _by_probabilities(found: Found) -> Expected | None:
    probabilities, adjacency = found.probabilities, found.graph.adjacency
    if probabilities is None or not found.whole_graph.edge_count:
        return None
    # an arrow that a hidden cause explains better does not count as right, and one that it explains nearly as well counts for less
    right = (probabilities.arrows * (1.0 - hidden_doubts(found)))[adjacency]
    reverse, joined = probabilities.arrows.T[adjacency], float(probabilities.joined[adjacency].sum())
    if found.causes is not None and probabilities.causes is not None:
        right = np.concatenate([right, probabilities.causes[found.causes.arrows]])
    return Expected(wrong=float(1.0 - right.mean()), turned=float(reverse.sum()) / joined if joined else 0.0)


def forecast(
    found: Found, replicates: int | None = None, *, seed: Seed = 0, workers: int | None = 1
) -> Expected | None:
    """Learn again from tables simulated from the fitted model, and count the errors.

    replicates: tables to draw; about as many as take a second if not given, 200 at most. None comes back where a second is not
        enough for a few, or where the graph has no edge.
    seed: the same seed gives the same answer, with any number of workers.
    """
    if replicates is not None:
        _check_count(replicates)
    if replicates is not None and not found.method_settings.linear:
        raise SettingError(
            "No table can be drawn from these equations, which need not be linear: there is no forecast of them."
        )
    if not found.graph.edge_count or found.has_earlier:
        return None
    count = usual_count(found) if replicates is None else replicates
    if not count:
        return None
    try:
        sem = found.any_sem
    except OrdagError:  # what PC gives need not be a class, and then there is no model to draw from
        return None
    order = np.array(sem.order)
    in_order = np.ix_(order, order)
    spread = inverse(np.asfortranarray(np.eye(len(order)) - sem.B[in_order].T)).T
    root = np.sqrt((found.n - 1.0) * sem.omega[order])[:, None] * spread
    names = [found.names[j] for j in order]
    conditions = _conditions(found, sem.B[in_order], sem.omega[order], order)
    base = Moments(found.n, found.moments.mean[order], names, R=np.triu(root), conditions=conditions)
    resampler = gaussian_resampler(base, rows=found.method_settings.needs_rows)
    job = Job(resampler, seed_root(seed), found.method_settings, "graph")
    learned = [one for one in run(job, range(count), workers) if one.failure is None]
    if not learned:
        return None
    return _counted(found.graph.adjacency[in_order], learned)


def _conditions(found: Found, B: Array, omega: Array, order: Indices) -> list[Condition]:
    """Return the conditions of experiments as the model has them, over the variables in order; none for other tables.

    A variable that was acted on there has no causes, and the variance that it has there; where its mean alone was moved its equation stays.
    """
    equations, conditions = found.equations, found.moments.conditions
    if equations is None or equations.reason != "experiment":
        return []
    place, drawn = np.argsort(order), []
    for one, targets in zip(conditions, equations.targets, strict=True):
        own_B, own_omega, root = B.copy(), omega.copy(), one.root
        n, R = root.n, root.R[:, -len(order) :]
        if one.kind != "shift":
            acted = place[list(targets)]
            own_B[:, acted] = 0.0
            own_omega[acted] = np.square(R[:, list(targets)]).sum(axis=0) / max(n - 1, 1)
        spread = inverse(np.asfortranarray(np.eye(len(order)) - own_B.T)).T
        mean = root.mean[-len(order) :][order]
        drawn.append(
            Condition(one.label, one.kind, Root(n, mean, np.triu(np.sqrt((n - 1.0) * own_omega)[:, None] * spread)))
        )
    return drawn


def usual_count(found: Found) -> int:
    """Return how many tables can be learned from in about a second; 0 if fewer than four."""
    sparse = found.ordering is not None and found.ordering.parent_sets is not None
    count = min(MOST_TABLES, int(1.0 / found.method_settings.cost(found.moments.p, sparse=sparse)))
    return count if count >= FEWEST_TABLES else 0


def _check_count(replicates: int) -> None:
    if not is_whole(replicates, 1):
        raise SettingError(f"replicates={short(replicates)}: the number of tables to draw is a whole number from 1 on.")


def _counted(truth: Mask, learned: list[Replicate]) -> Expected:
    """Average the error rates over replicates. An undirected edge counts as one edge, right in either direction."""
    p = len(truth)
    pairs = np.count_nonzero(np.triu(truth | truth.T))
    rows: list[tuple[float, ...]] = []
    for one in learned:
        arrows = _mask(one.arrows, p)
        lines = _mask(one.lines, p)
        edges = len(one.arrows) + len(one.lines)
        right = np.count_nonzero(arrows & truth) + np.count_nonzero(lines & (truth | truth.T))
        turned = np.count_nonzero(arrows & truth.T & ~truth)
        missed = pairs - right - turned
        rows.append(
            (
                (edges - right) / edges if edges else 0.0,
                turned / (right + turned) if right + turned else 0.0,
                missed / pairs,
            )
        )
    wrong, turned_round, missed_edges = np.mean(rows, axis=0).tolist()
    return Expected(wrong, turned_round, missed_edges, len(rows))


def _mask(numbers: Indices, p: int) -> Mask:
    mask = np.zeros(p * p, dtype=bool)
    mask[numbers] = True
    return mask.reshape(p, p)
