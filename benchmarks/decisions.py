"""Do the tests of decisions hold their level, what do they find, do their intervals hold the truth, and how long do they take?"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import duration, table
from ordag.common.arrays import Array
from ordag.decisions import testing
from ordag.decisions.intervening import Rules
from ordag.decisions.joint_effects import joint_weights
from ordag.decisions.row_scores import Scorer
from ordag.errors import GraphError
from ordag.graph.dag import Dag
from ordag.model.sem import LinearSEM

P, DEGREE, REPLICATES, TABLES = 10, 3.0, 240, 40
ROWS = (30, 100, 1000)
ASKED = ("set", "shift", "rule", "effect", "two causes")
FIRST = 28_000
"""The first seed; none of these tables was looked at before."""

APART = 1_000_000
"""Between the seeds of models and of their rows, which would otherwise come from the same numbers."""

MOST_ROWS = 1_000_000
"""Rows of the file that is explained."""


def model(seed: int) -> LinearSEM:
    """Draw a DAG of degree 3 with weights of 0.3 to 0.8 and error variances of 0.5 to 2."""
    random = np.random.default_rng(seed)
    upper = np.triu(random.random((P, P)) < DEGREE / (P - 1), 1)
    B = upper * random.uniform(0.3, 0.8, (P, P)) * random.choice([-1, 1], (P, P))
    names = [f"x{j}" for j in range(P)]
    return LinearSEM(B, random.uniform(0.5, 2.0, P), random.uniform(-1.0, 1.0, P), names)


def rows_of(sem: LinearSEM, n: int, seed: int) -> dict[str, Array]:
    return dict(zip(sem.names, sem.sample(n, seed=APART + seed).T, strict=True))


def changed(sem: LinearSEM, seed: int) -> tuple[LinearSEM, str]:
    """Change one equation: a weight by 0.4, the level by 0.5 or the error variance by the factor 2."""
    random = np.random.default_rng([seed, 1])
    B, omega, intercept = np.array(sem.B), np.array(sem.omega), np.array(sem.intercept)
    part = ("weights", "level", "variance")[seed % 3]
    with_parents = np.flatnonzero(B.any(axis=0))
    if part == "weights" and len(with_parents):
        j = int(random.choice(with_parents))
        B[np.flatnonzero(B[:, j])[0], j] += 0.4
    else:
        j = int(random.integers(P))
        if part == "variance":
            omega[j] *= 2.0
        else:
            intercept[j] += 0.5
    return LinearSEM(B, omega, intercept, sem.names), sem.names[j]


def graph_tests(n: int) -> list[float]:
    """Return the shares of right graphs that are rejected, as a whole and by claims, and of graphs that lack an arrow."""
    found = []
    for seed in range(FIRST, FIRST + REPLICATES):
        sem = model(seed)
        rows, arrows = rows_of(sem, n, seed), list(sem.dag.directed)
        dropped = Dag.from_edges(sem.names, arrows[1:])
        answers = [ordag.test(one, rows, compare=False) for one in (sem.dag, dropped)]
        plain = [one.whole is not None and one.whole.plain < 0.05 for one in answers[:1]]
        found.append(
            [
                *(
                    value
                    for one in answers
                    for value in (one.whole is not None and one.whole.p_value < 0.05, one.broken > 0)
                ),
                *plain,
            ]
        )
    return np.mean(found, axis=0).tolist()


def change_tests(n: int) -> list[float]:
    """Return the shares of tables with a change where none is, where one is, and where it is found in its equation."""
    found = []
    for seed in range(FIRST, FIRST + REPLICATES):
        sem = model(seed)
        other, which = changed(sem, seed)
        before = rows_of(sem, n, 2 * seed)
        same = ordag.changes(before, rows_of(sem, 2 * n, 2 * seed + 1), sem.dag)
        apart = ordag.changes(before, rows_of(other, 2 * n, 2 * seed + 1), sem.dag)
        found.append(
            [bool(same.changed_variables), which in apart.changed_variables, bool({*apart.changed_variables} - {which})]
        )
    return np.mean(found, axis=0).tolist()


def explanations(n: int) -> list[float]:
    """Return the shares below p = .01 of rows learned from, other rows, and rows with an odd error; and how often that one is named."""
    shares = []
    for seed in range(FIRST, FIRST + REPLICATES // 3):
        sem = model(seed)
        rows = rows_of(sem, n, seed)
        moments = ordag.Moments.from_rows(np.column_stack(list(rows.values())), list(rows))
        fit: Any = SimpleNamespace(
            graph=sem.dag, names=sem.names, moments=moments, equations=None, sem=ordag.refit(moments, sem.dag).sem
        )
        random = np.random.default_rng([seed, 2])
        X, fresh = np.column_stack(list(rows.values())), sem.sample(200, seed=2 * APART + seed)
        which = random.integers(P, size=200)
        errors = np.zeros((200, P))
        errors[np.arange(200), which] = 5.0 * np.sqrt(np.asarray(sem.omega)[which])
        odd = fresh + errors @ (np.eye(P) + sem.total_effects())
        own, other = Scorer(fit, fitted=True), Scorer(fit, fitted=False)
        p_values = [own.p_values(own.errors(X)[1]), *(other.p_values(other.errors(one)[1]) for one in (fresh, odd))]
        named = np.abs(other.errors(odd)[1]).argmax(axis=1) == which
        shares.append([*(float((one < 0.01).mean()) for one in p_values), float(named.mean())])
    return np.mean(shares, axis=0).tolist()


def intervals(n: int) -> list[float]:
    """Return the shares of 95 % intervals that hold the truth: adjusted effects, and what equations add to a mean and a variance."""
    held: list[list[bool]] = [[], [], []]
    for seed in range(FIRST, FIRST + REPLICATES // 4):
        sem = model(seed)
        total, names = sem.total_effects(), sem.names
        pairs = np.argwhere(total != 0.0)
        if not len(pairs):
            continue
        i, j = pairs[seed % len(pairs)]
        rows = rows_of(sem, n, seed)
        for one in ordag.adjust(sem.dag, names[i], names[j], rows).estimates[:1]:
            held[0].append(one.low <= total[i, j] <= one.high)
        other, _ = changed(sem, seed)
        target = names[-1]
        found = ordag.changes(rows, rows_of(other, n, seed + 50_000), sem.dag, target=target).explained
        truth = _true_shares(sem, other, target)
        assert found is not None
        for k, what in enumerate(("mean", "variance"), 1):
            one = found[what]
            for name, low, high in zip(one["variable"], one["low"], one["high"], strict=True):
                held[k].append(low - 1e-9 <= truth[what][name] <= high + 1e-9)
    return [float(np.mean(one)) for one in held]


def _true_shares(before: LinearSEM, after: LinearSEM, target: str) -> dict[str, dict[str, float]]:
    from ordag.decisions.equations import Model, shapley

    names = [name for name in before.names if name in {*before.dag.ancestors(target), target}]
    where = [before.names.index(name) for name in names]
    models = [
        Model(np.asarray(one.B)[np.ix_(where, where)], np.asarray(one.intercept)[where], np.asarray(one.omega)[where])
        for one in (before, after)
    ]
    values = shapley(models[0], models[1], np.random.default_rng(0))
    return {
        what: dict(zip(names, one.tolist(), strict=True))
        for what, one in zip(("mean", "variance"), values, strict=True)
    }


def questions(n: int, known: bool) -> list[float]:
    """Return the shares of 95 % intervals that hold the truth, of what interventions and effects come to, with the graph learned or known.

    The means after setting, shifting and ruling a variable, its effects, and those of two variables at once; of what does change.
    """
    tables = [of_one_table(n, known, seed) for seed in range(FIRST, FIRST + TABLES)]
    return [float(np.mean([one for held in tables for one in held[name]])) for name in ASKED]


def of_one_table(n: int, known: bool, seed: int) -> dict[str, list[bool]]:
    """Return of each interval whether it holds the truth, by question."""
    held: dict[str, list[bool]] = {name: [] for name in ASKED}
    drawn = ordag.simulate("erdos-renyi", 6, n, seed=seed, degree=2, weights=(0.3, 1.0))
    sem, names, total = drawn.sem, drawn.sem.names, drawn.sem.total_effects()
    arrows = [list(edge) for edge in sem.dag.directed]
    other = [[a, b] for a in names for b in names if a != b and [a, b] not in arrows]
    facts = {"required": arrows, "forbidden": other} if known else None
    fit = ordag.learn(dict(zip(names, drawn.X.T, strict=True)), units="commensurable", knowledge=facts)
    a = int((total != 0.0).sum(axis=1).argmax())
    root = next((j for j in sem.order if j != a and not total[a, j]), None)
    what: dict[str, dict[str, Any]] = {"set": {"set": {names[a]: 1.0}}, "shift": {"shift": {names[a]: 1.0}}}
    rules = {"set": Rules({a: 1.0}, {}, {}), "shift": Rules({}, {a: 1.0}, {})}
    if root is not None:
        what["rule"] = {"rule": {names[a]: {"": 0.5, names[root]: 0.5}}}
        rules["rule"] = Rules({}, {a: 0.5}, {a: 0.5 * np.eye(6)[root]})
    for kind, asked in what.items():
        change, _ = rules[kind].applied(np.asarray(sem.B), np.asarray(sem.omega), sem.mean()) or (np.zeros(6), None)
        try:
            found = ordag.intervene(fit, **asked)
        except GraphError:  # a rule that makes a cycle in the learned graph
            continue
        for j in np.flatnonzero(change).tolist():
            if j != a:
                held[kind].append(bool(found.low[j] <= (sem.mean() + change)[j] <= found.high[j]))
    for j in np.flatnonzero(total[a]).tolist():
        one = ordag.effect(fit, names[a], names[j])
        if one.low == one.low:
            held["effect"].append(one.low <= total[a, j] <= one.high)
        b = next((k for k in range(6) if k not in (a, j)), a)
        both = fit.joint_effect([names[a], names[b]], names[j]).columns
        truth = joint_weights(sem, (a, b))[:, j]
        for k in np.flatnonzero(truth).tolist():
            if both["low"][k] is not None:
                held["two causes"].append(both["low"][k] <= truth[k] <= both["high"][k])
    return held


def cpu(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def times() -> list[list[str]]:
    """Return the CPU seconds of every command with 100 variables and 1,000 rows."""
    p = 100
    drawn = ordag.simulate("erdos-renyi", p, 1000, seed=1, degree=4)
    names = [f"x{j}" for j in range(p)]
    dag = Dag(names, np.asarray(drawn.sem.B) != 0)
    rows = [dict(zip(names, drawn.sem.sample(1000, seed=k).T, strict=True)) for k in (1, 2)]
    fit = ordag.learn(rows[0], "cvs")
    effects = drawn.sem.total_effects()
    i, j = np.unravel_index(np.abs(effects).argmax(), effects.shape)
    works: dict[str, Callable[[], Any]] = {
        "test": lambda: ordag.test(dag, rows[0], compare=False),
        "adjust": lambda: ordag.adjust(dag, names[i], names[j], rows[0]),
        "intervene": lambda: ordag.intervene(fit, set={names[i]: 1.0}),
        "changes": lambda: ordag.changes(rows[0], rows[1], dag),
        "changes, with a target": lambda: ordag.changes(rows[0], rows[1], dag, target=names[j]),
        "explain 1,000 rows": lambda: ordag.explain(fit, rows[0]),
    }
    return [[what, duration(min(cpu(work) for _ in range(3)))] for what, work in works.items()]


BATCH = """
import resource, sys, time, ordag
fit = ordag.load(sys.argv[1])
ordag.explain(fit, data=sys.argv[3])
small, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
found = ordag.explain(fit, data=sys.argv[2])
print(time.process_time() - begun, small / 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found.scored)
"""


def batches() -> str:
    """Explain a file of a million rows in a process of its own, and say what it took."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    drawn = ordag.simulate("erdos-renyi", 20, 1000, seed=2, degree=3)
    fit = ordag.learn(drawn.X, "cvs")
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("fit.ordag", "large.parquet", "small.parquet")]
        fit.save(paths[0])
        for path, blocks in ((paths[1], MOST_ROWS // 100_000), (paths[2], 1)):
            schema = pa.schema([(name, pa.float64()) for name in fit.names])
            with pq.ParquetWriter(path, schema) as writer:
                for k in range(blocks):
                    block = drawn.sem.sample(100_000, seed=k)
                    writer.write_table(pa.table(dict(zip(fit.names, block.T, strict=True))))
        done = subprocess.run([sys.executable, "-c", BATCH, *paths], capture_output=True, text=True, check=True)
    seconds, before, after, rows = map(float, done.stdout.split())
    return (
        f"A Parquet file of {rows:,.0f} rows of 20 variables is explained block by block in {seconds:.0f} CPU seconds; the memory of the "
        f"process grew from {before:.0f} MB with 100,000 rows to {after:.0f} MB."
    )


def run() -> str:
    testing.FEWEST_RANDOM = testing.RANDOM_WORK = 1  # graphs with their variables mixed up are not looked at here
    with threadpool_limits(1):
        parts = {n: (graph_tests(n), change_tests(n), explanations(n), intervals(n)) for n in ROWS}
        asked = {n: (questions(n, True), questions(n, False)) for n in ROWS}
        quick, long = times(), batches()
    percent = lambda value: f"{100.0 * value:.1f} %"  # noqa: E731
    lines = [
        ("test: right graph rejected as a whole (5 %)", 0, 0),
        ("the same by the uncorrected χ²", 0, 4),
        ("test: a claim of the right graph rejected (5 %)", 0, 1),
        ("test: rejected as a whole without one of its arrows", 0, 2),
        ("test: a claim rejected without one of its arrows", 0, 3),
        ("changes: an equation found changed where none is (5 %)", 1, 0),
        ("changes: the changed equation found", 1, 1),
        ("changes: another one found (5 %)", 1, 2),
        ("explain: rows learned from with p < .01 (1 %)", 2, 0),
        ("explain: other rows with p < .01 (1 %)", 2, 1),
        ("explain: rows with one error of 5 s.d. more with p < .01", 2, 2),
        ("explain: that error is the largest", 2, 3),
        ("adjust: 95 % intervals that hold the effect", 3, 0),
        ("changes: 95 % intervals that hold what an equation adds to the mean", 3, 1),
        ("changes: the same for the variance", 3, 2),
    ]
    rows = [[what, *(percent(parts[n][part][k]) for n in ROWS)] for what, part, k in lines]
    words = (
        "the mean after setting a variable",
        "after shifting it",
        "after a rule for it",
        "its effect",
        "effects of two causes at once",
    )
    held = [[what, *(percent(asked[n][known][k]) for known in (0, 1) for n in ROWS)] for k, what in enumerate(words)]
    head = [f"{which}, n = {n:,}" for which in ("graph known", "learned") for n in ROWS]
    return f"""## Decisions: sizes, powers, intervals

{REPLICATES} random DAGs of {P} variables and degree {DEGREE:.0f}, weights of 0.3 to 0.8, error variances of 0.5 to 2
({REPLICATES // 3} of them for rows, {REPLICATES // 4} for intervals). In brackets what it should be. A changed equation has
one weight larger by 0.4, its level by 0.5 or its error variance by the factor 2; the second table has twice the rows.

{table(["", *(f"n = {n:,}" for n in ROWS)], rows)}

Shares of the 95 % intervals of `intervene`, `effect` and `joint_effect` that hold the truth, of what does change: {TABLES}
tables of 6 variables, degree 2, equal error variances (standard errors of 2 points). Intervals are over the graphs drawn for
resamples; where the graph is known, knowledge leaves that graph alone. Those of effects are given a path.

{table(["", *head], held)}

CPU seconds with 100 variables, 1,000 rows (`test` without the graphs whose variables are mixed up).

{table(["command", "CPU time"], quick)}

{long}
"""
