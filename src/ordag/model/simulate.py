"""Draw random models by name, and data from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import Seed, checked_seed, is_whole, short
from ordag.common.words import joined
from ordag.errors import SettingError
from ordag.graph.dag import Dag
from ordag.model.designs import DESIGNS, Design, Range, Streams
from ordag.model.sem import LinearSEM, numbered


@dataclass(frozen=True, eq=False)
class Simulation:
    """A model and rows drawn from it; `sem, X = simulate(...)` unpacks the two.

    `order` holds the columns in the order in which the model was drawn, causes first. `experiments` names the variable that was acted
    on in each row, "" for none, if experiments were asked for. `environments` has the environment of each row, if there are several, and
    `changes` what differs in each from the first: "weights" or "variance", by the name of the variable.
    """

    sem: LinearSEM
    X: Array
    order: tuple[int, ...]
    experiments: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    changes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return self.sem.names

    @property
    def dag(self) -> Dag:
        return self.sem.dag

    def __iter__(self) -> Iterator[Any]:
        return iter((self.sem, self.X))

    def __getitem__(self, index: int) -> Any:
        return (self.sem, self.X)[index]

    def __len__(self) -> int:
        return 2


def simulate(
    design: str = "homogeneous",
    p: int | None = None,
    n: int = 1000,
    seed: Seed = None,
    *,
    degree: float | None = None,
    weights: Range | None = None,
    variances: str | float | Range | None = None,
    experiments: int = 0,
    experiment_rows: int = 100,
    environments: int = 1,
    changes: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Simulation:
    """Draw a random model of p variables, and n rows from it.

    design
      "homogeneous" (or "hom", "4.1"): Park & Kim, Section 4.1. Every pair of a random order has a weight
      uniform on [−2, 2], set to 0 within (−0.25, 0.25); the error variances are 1.
      "heterogeneous" ("het", "4.2"): Section 4.2. Zero within (−1, 1); error variances uniform on [1, 3].
      "nonfaithful" ("4.3"): Section 4.3. X1 → X2, X1 → X3 and X2 → X3, weights 1, variances 2.25, 1.5, 1.5.
      "erdos-renyi": every pair of a random order is joined with the same probability.
      "scale-free": variables arrive in a random order and take parents among the earlier ones, preferring
      those that already have many arrows.
      Of few arrows, for more variables than rows (Chen, Drton & Wang 2019): "chain", each variable has its
      predecessor as a parent and two earlier ones with fewer than four children; "hub", its predecessor and two of
      the first ten; "hub5", the same with weaker arrows; "rs40", its predecessor and Binomial(#earlier, 3/(2p − 2))
      others. "er2", "er4" and "er2w3" are erdos-renyi with degree 2 or 4 and weights up to 1.
    p
      the number of variables, 20 unless given; "nonfaithful" has 3. They are called X1, …, Xp, and their
      columns are a random permutation of the causal order (not in "nonfaithful").
    degree
      erdos-renyi, scale-free: arrows per variable on average, in and out together; 2 unless given. In a
      scale-free graph the first variables find few to attach to, and the average is a little lower.
    weights
      all but Park & Kim's: range of the weights' sizes, uniform, with random sign. Unless given (0.5, 2) for erdos-renyi
      and scale-free, (0.7, 1) for chain and hub, (0.5, 1) for hub5, er2 and er4, (0.3, 1) for er2w3 and rs40.
    variances
      all but Park & Kim's: error variances, "equal" (all 1) unless given, a number for all, or a range
      (low, high) to draw from uniformly.
    experiments
      how many variables are acted on, one at a time: each is set at random, without regard to its causes, in `experiment_rows`
      rows more, with the standard deviation that it has in the first n, where nothing is acted on.
    environments
      how many environments there are, of n rows each. In all but the first `changes` equations are others: each has weights of its own,
      times a factor between -1 and 0.3, or, as likely and wherever it has no weights, an error variance 3 to 6 times as large.
    seed
      an int, a Generator or a SeedSequence. An int or a SeedSequence gives the same model for every n.
    progress
      called now and then with a short text on the progress.
    """
    name, chosen = _design(design)
    given = {"degree": degree, "weights": weights, "variances": variances}
    options = {option: value for option, value in given.items() if value is not None}
    for option in options.keys() - chosen.options:
        takers = [f'"{other}"' for other, entry in DESIGNS.items() if option in entry.options]
        raise SettingError(f'The design "{name}" takes no {option}; {joined(takers)} do.', [option])
    if p is None:
        p = chosen.fixed_p or 20
    if not is_whole(p, 1) or p != (chosen.fixed_p or p):
        needed = f"exactly {chosen.fixed_p} variables" if chosen.fixed_p else "at least one variable"
        raise SettingError(f'p={short(p)}: the design "{name}" has {needed}.')

    if not is_whole(n, 1):
        raise SettingError(f"n is {short(n)}; draw at least one row.")
    streams = _streams(checked_seed(seed))
    model = chosen.draw(p, streams, **options)
    order = np.arange(p) if chosen.fixed_p else streams.labels.permutation(p)
    causes, effects = order[model.causes], order[model.effects]
    dag = Dag.known_acyclic_edges(numbered(p), causes, effects)
    sizes, omega = np.empty(len(causes)), np.empty(p)
    sizes[dag.links.find(causes, effects)] = model.weights
    omega[order] = model.omega
    sem = LinearSEM.of(dag, sizes, omega)
    if not is_whole(experiments, 0) or experiments > p:
        raise SettingError(
            f"experiments={short(experiments)}: between 0 and {p} variables can be acted on.", ["experiments"]
        )
    if not is_whole(experiment_rows, 1):
        raise SettingError(f"experiment_rows={short(experiment_rows)}: an experiment has at least one row.")
    if not is_whole(environments, 1):
        raise SettingError(f"environments={short(environments)}: a table has at least one.", ["environments"])
    if not is_whole(changes, 0) or changes > p:
        raise SettingError(f"changes={short(changes)}: between 0 and {p} equations can differ.", ["changes"])
    if experiments and environments > 1:
        raise SettingError(
            "experiments and environments are both given: draw one or the other.", ["experiments", "environments"]
        )
    X, labels = sem.sample(n, streams.rows, progress=progress), [""] * n if experiments else []
    parts = [X]
    spread = np.sqrt(sem.covariance().diagonal()) if experiments else np.empty(0)
    for j in streams.experiments.permutation(p)[:experiments].tolist():
        parts.append(_acted_on(sem, j, spread[j]).sample(experiment_rows, streams.experiments))
        labels += [sem.names[j]] * experiment_rows
    where, differ = ["e1"] * n if environments > 1 else [], {}
    for e in range(2, environments + 1):
        other, differ[f"e{e}"] = _changed(sem, changes, streams.experiments)
        parts.append(other.sample(n, streams.experiments))
        where += [f"e{e}"] * n
    return Simulation(sem, np.concatenate(parts), tuple(order.tolist()), tuple(labels), tuple(where), differ)


def _changed(sem: LinearSEM, count: int, random: np.random.Generator) -> tuple[LinearSEM, dict[str, str]]:
    """Return the model with so many other equations, and what differs in each."""
    edges, omega, differ = dict(sem.edges), np.array(sem.omega), {}
    for j in random.permutation(len(omega))[:count].tolist():
        name = sem.names[j]
        into = [edge for edge in edges if edge[1] == name]
        differ[name] = "weights" if into and random.random() < 0.5 else "variance"
        if differ[name] == "variance":
            omega[j] *= random.uniform(3.0, 6.0)
            continue
        for edge in into:
            edges[edge] *= random.uniform(-1.0, 0.3)
    return LinearSEM.of(Dag.from_edges(sem.names, list(edges)), list(edges.values()), omega, sem.intercept), differ


def _acted_on(sem: LinearSEM, j: int, spread: float) -> LinearSEM:
    """Return the model in which variable j has no causes and this standard deviation."""
    edges = {(a, b): weight for (a, b), weight in sem.edges.items() if b != sem.names[j]}
    omega = np.array(sem.omega)
    omega[j] = spread**2
    dag = Dag.from_edges(sem.names, list(edges))
    return LinearSEM.of(dag, list(edges.values()), omega, sem.intercept)


def _design(design: str) -> tuple[str, Design]:
    for name, entry in DESIGNS.items():
        if isinstance(design, str) and design in (name, *entry.aliases):
            return name, entry
    raise SettingError(
        f'There is no design "{design if isinstance(design, str) else short(design)}". There are {", ".join(DESIGNS)}.'
    )


def _streams(seed: Seed) -> Streams:
    """One stream per purpose. A SeedSequence is not changed, and shares no stream with its own children."""
    count = len(Streams._fields)
    if isinstance(seed, np.random.Generator):
        return Streams(*seed.spawn(count))
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    apart = (*root.spawn_key, 2**32 - 1)
    sequence = np.random.SeedSequence(root.entropy, spawn_key=apart, pool_size=root.pool_size)
    return Streams(*(np.random.default_rng(child) for child in sequence.spawn(count)))
