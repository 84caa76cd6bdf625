"""Section 2: which models are identifiable from their distribution, on the paper's examples and on random models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ordag.model.identifiability import identifiability, loh_buhlmann_bound, park_kim_bound
from ordag.model.sem import LinearSEM
from ordag.model.simulate import simulate
from ordag.paper.experiment import Experiment, Rows, Task
from ordag.paper.section2_report import SECTIONS, claims, figures, shares
from ordag.paper.simulations import task_seed

SIZES = (20, 50, 80)
MODELS, BLOCKS, QUICK_BLOCKS = 20, 50, 3
"""Models in a block, and blocks of a design and size in a full and in a quick run."""

EXAMPLES: tuple[tuple[str, dict[tuple[str, str], float], tuple[float, float]], ...] = (
    ("G₁", {("X₁", "X₂"): 0.8}, (1.0, 0.5)),
    ("G₁", {("X₁", "X₂"): 0.6}, (1.0, 0.5)),
    ("G₂", {("X₂", "X₁"): 0.8}, (0.5, 1.0)),
    ("G₃", {}, (1.0, 0.5)),
)
"""Figure 1's models with numbers: weights, and the error variances of X₁ and X₂. The second violates the condition."""

RATIOS, WEIGHTS = np.linspace(0.05, 2.0, 40), np.linspace(0.025, 2.975, 60)
"""The grid of models X₁ → X₂ on which the algorithm runs: variance ratios r, and weights β."""


def tasks(quick: bool) -> Sequence[Task]:
    return [
        Task("section2", "figure1", 2, 0, 0, "examples"),
        Task("section2", "counterexample", 3, 0, 0, "examples"),
        Task("section2", "regions", 2, 0, 0, "bounds"),
        *(
            Task("section2", design, p, 0, block, "identifiability")
            for design in SECTIONS
            for p in SIZES
            for block in range(QUICK_BLOCKS if quick else BLOCKS)
        ),
    ]


def run(task: Task) -> Rows:
    return PARTS.get(task.design, random_models)(task)


def bivariate(task: Task) -> Rows:
    """Compute the two variances of Figure 1's models, the theorem's condition, and the order that the algorithm finds."""
    rows = []
    for name, edges, omega in EXAMPLES:
        sem = LinearSEM.from_edges(("X₁", "X₂"), edges, omega)
        answer = identifiability(sem)
        first, second = sem.covariance().diagonal().tolist()
        rows.append(
            {
                "part": "figure 1",
                "model": name,
                "arrow": " → ".join(next(iter(edges), ("no arrow",))),
                "weight": next(iter(edges.values()), 0.0),
                "error_variance_1": omega[0],
                "error_variance_2": omega[1],
                "variance_1": first,
                "variance_2": second,
                "condition": int(answer.holds),
                "order": ", ".join(answer.greedy_order),
                "algorithm": int(answer.greedy_is_right),
            }
        )
    return rows


def regions(task: Task) -> Rows:
    """Compare Lemma 2.3 and Corollary 2.4, as printed and corrected, with the algorithm on a grid of models.

    Both print r² where r, the ratio of variances, belongs; so the printed bound at r is the correct one at r².
    """
    rows = []
    for r in RATIOS.tolist():
        right = np.array([_algorithm_is_right(r, weight) for weight in WEIGHTS.tolist()])
        bound, printed = float(park_kim_bound(r)), float(park_kim_bound(r * r))
        rows.append(
            {
                "part": "regions",
                "r": r,
                "park_kim": bound,
                "park_kim_printed": printed,
                "loh_buhlmann": float(loh_buhlmann_bound(r)),
                "loh_buhlmann_printed": float(loh_buhlmann_bound(r * r)),
                "models": len(WEIGHTS),
                "right": int(right.sum()),
                "right_against_bound": int((right != (bound < WEIGHTS**2)).sum()),
                "right_against_printed": int((right != (printed <= WEIGHTS**2)).sum()),
            }
        )
    return rows


def _algorithm_is_right(r: float, weight: float) -> bool:
    return identifiability(LinearSEM([[0.0, weight], [0.0, 0.0]], omega=[1.0, r])).greedy_is_right


def counterexample(task: Task) -> Rows:
    """Check two models with one distribution, for which the algorithm is wrong though the condition holds in one causal order."""
    names, root = ("a", "b", "k"), 10.0**0.5
    model = LinearSEM.from_edges(names, {("a", "k"): 1 / root, ("b", "k"): 4.0}, omega=[10.0, 1.0, 1.0])
    edges = {("b", "k"): 4.0, ("b", "a"): -2 * root, ("k", "a"): root / 2}
    twin = LinearSEM.from_edges(names, edges, omega=[5.0, 1.0, 2.0])
    gap = float(np.abs(model.covariance() - twin.covariance()).max())
    rows = []
    for label, sem, order in (
        ("a → k ← b", model, (0, 1, 2)),
        ("a → k ← b", model, (1, 0, 2)),
        ("b → k → a ← b", twin, (1, 2, 0)),
    ):
        answer = identifiability(sem, order)
        assert answer.tightest is not None
        rows.append(
            {
                "part": "counterexample",
                "model": label,
                "order": ", ".join(answer.order),
                "condition": int(answer.holds),
                "tightest": " before ".join(answer.tightest[:2]),
                "margin": answer.tightest[2],
                "taken": ", ".join(answer.greedy_order),
                "algorithm": int(answer.greedy_is_right),
                "covariance_gap": gap,
            }
        )
    return rows


def random_models(task: Task) -> Rows:
    """Check models of Section 4.1 or 4.2: the condition in several orders, and the algorithm on the true distribution.

    `condition` is the condition in the order that takes the least error variance among the variables whose causes have
    all been taken, `drawn_order` in the order in which the model was drawn, `every_order` in all orders.
    """
    rows = []
    for number, seed in enumerate(task_seed(task, "models").spawn(MODELS)):
        drawn = simulate(task.design, task.p, n=1, seed=seed)
        answer = identifiability(drawn.sem)
        assert answer.tightest is not None
        rows.append(
            {
                "part": "random models",
                "model": str(number),
                "arrows": drawn.dag.edge_count,
                "condition": int(answer.holds),
                "drawn_order": int(identifiability(drawn.sem, drawn.order).holds),
                "every_order": int(answer.holds_in_every_order),
                "algorithm": int(answer.greedy_is_right),
                "margin": answer.tightest[2],
            }
        )
    return rows


def seconds(task: Task) -> float:
    return {"figure1": 0.01, "regions": 1.0, "counterexample": 0.01}.get(task.design, 2.5e-3 * task.p)


PARTS: dict[str, Callable[[Task], Rows]] = {"figure1": bivariate, "regions": regions, "counterexample": counterexample}
"""The parts other than random models, by the design of their task."""

SECTION2 = Experiment(
    name="section2",
    title="Section 2, Figure 1: which models are identifiable",
    tasks=tasks,
    run=run,
    figures=figures,
    claims=claims,
    table=shares,
    settings={"models": MODELS},
    seconds=seconds,
)
