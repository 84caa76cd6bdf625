"""The rivals as methods: a Table and settings in, a Fit out. The searches themselves have files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordag.checks import Seed, check_choice, checked_seed
from ordag.data.table import Table
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Constraints, Given, constraints, informed
from ordag.learners.orient import check_way, order_for_skeleton, orient_by_order
from ordag.learners.pc import pc_search
from ordag.learners.prices import Penalty, priced_gds, priced_ges
from ordag.order import find_order
from ordag.parents.tests import Test


def pc(
    table: Table,
    *,
    alpha: float = 0.01,
    test: str | Test = "fisher-z",
    colliders: str = "largest",
    max_level: int | None = None,
    orient_by_order: str | None = None,
    knowledge: Given = None,
) -> Fit:
    """PC (Spirtes & Glymour): see `ordag.learners.pc.pc_search`. Gives a Cpdag, or a Dag with `orient_by_order`."""
    check_way(orient_by_order)
    known = None if knowledge is None else constraints(knowledge, table.moments.names)
    found = pc_search(
        table.moments,
        alpha=alpha,
        test=test,
        colliders=colliders,
        max_level=max_level,
        progress=lambda done, planned: table.tell(f"PC: {done:,} of {planned:,} sets so far"),
        known=known,
    )
    fit = Fit(
        method="pc",
        settings={
            "alpha": alpha,
            "test": test if isinstance(test, str) else getattr(test, "__name__", "custom"),
            "colliders": colliders,
            "max_level": None if max_level is None else int(max_level),
            "orient_by_order": orient_by_order,
        },
        moments=table.moments,
        graph=found.graph,
        warnings=found.warnings,
        pair_p_values=found.p_values,
        separating_sets=found.separating_sets,
        details={
            "valid": found.valid,
            "levels": found.levels,
            "tests": found.tests,
            "ambiguous": [list(triple) for triple in found.ambiguous],
            "conflicts": [list(pair) for pair in found.conflicts],
            **({} if known is None else {"refused": [list(triple) for triple in found.refused]}),
        },
    )
    return informed(oriented(fit, table, orient_by_order, known), known)


def ges(
    table: Table,
    *,
    penalty: Penalty = 1.0,
    phases: Sequence[Any] = ("forward", "backward", "turning"),
    iterate: bool = True,
    max_degree: int | None = None,
    orient_by_order: str | None = None,
    knowledge: Given = None,
) -> Fit:
    """GES (Chickering): see `ordag.learners.ges.ges_search`. Gives a Cpdag, or a Dag with `orient_by_order`.

    penalty: "bic", "ebic", "adaptive" (see `ordag.learners.prices`), or a factor of BIC's penalty.
    """
    check_way(orient_by_order)
    known = None if knowledge is None else constraints(knowledge, table.moments.names)
    found, priced = priced_ges(
        table.moments,
        penalty,
        phases=phases,
        iterate=iterate,
        max_degree=max_degree,
        progress=lambda step: table.tell(f"GES: {step.phase} phase, score {step.score:.6g}"),
        known=known,
    )
    fit = Fit(
        method="ges",
        settings={
            "penalty": penalty if isinstance(penalty, str) else float(penalty),
            "phases": list(phases),
            "iterate": bool(iterate),
            "max_degree": None if max_degree is None else int(max_degree),
            "orient_by_order": orient_by_order,
        },
        moments=table.moments,
        graph=found.graph,
        score=found.score,
        details={"score_empty": found.score_empty, "steps": [list(step) for step in found.steps], **priced},
    )
    return informed(oriented(fit, table, orient_by_order, known), known)


def gds(
    table: Table,
    *,
    start: Dag | None = None,
    restarts: Sequence[int] | None = None,
    strategy: str = "random",
    kicks: int | None = None,
    penalty: Penalty = 1.0,
    seed: Seed = 0,
    knowledge: Given = None,
) -> Fit:
    """GDS (Peters & Bühlmann): see `ordag.learners.gds.gds_search`. Gives a Dag; lower scores are better.

    penalty: as for `ges`.
    seed: 0 unless given; None for other random numbers every time.
    """
    check_choice("strategy", strategy, ("random", "steepest"), "'random' or 'steepest'")
    seed = checked_seed(seed)
    known = None if knowledge is None else constraints(knowledge, table.moments.names)
    found, priced = priced_gds(
        table.moments,
        penalty,
        start=start,
        restarts=restarts,
        strategy=strategy,
        kicks=kicks,
        seed=seed,
        progress=lambda moves, score: table.tell(f"GDS: {moves:,} moves, score {score:.6g}"),
        known=known,
    )
    fit = Fit(
        method="gds",
        settings={
            "start": None if start is None else [list(edge) for edge in start.directed],
            "restarts": None if restarts is None else [int(k) for k in restarts],
            "strategy": strategy,
            "kicks": None if kicks is None else int(kicks),
            "penalty": penalty if isinstance(penalty, str) else float(penalty),
            "seed": seed if isinstance(seed, int) else None,
        },
        moments=table.moments,
        graph=found.graph,
        score=found.score,
        details={
            "score_empty": found.score_empty,
            "restarts": list(found.restarts),
            "moves": found.moves,
            "checked": found.checked,
            "kicks": found.kicks,
            **priced,
        },
    )
    return informed(fit, known)


def oriented(fit: Fit, table: Table, way: str | None, known: Constraints | None = None) -> Fit:
    """The fit with its edges directed along the forward order; what the class says otherwise is in the details.

    The order keeps to what is known, and along the skeleton also to the directions that are left to its edges.
    """
    if way is None or not isinstance(fit.graph, Cpdag):
        return fit
    before = None if known is None else known.before
    if known is not None and way == "skeleton":
        before = order_for_skeleton(fit.graph, known)
    ordering = find_order(table, before=before)
    order = [fit.names[j] for j in ordering.order]
    result = orient_by_order(fit.graph, order, way, known=known)
    sentences = list(fit.warnings)
    if result.conflicts:
        arrows = ", ".join(f"{a} → {b}" for a, b in result.conflicts[:8])
        more = f" and {len(result.conflicts) - 8} more" if len(result.conflicts) > 8 else ""
        kept = "were kept" if way == "class" else "were turned round"
        sentences.append(f"The order contradicts arrows of the equivalence class: {arrows}{more}. They {kept}.")
    return Fit(
        method=fit.method,
        settings=fit.settings,
        moments=fit.moments,
        graph=result.graph,
        ordering=ordering,
        warnings=tuple(sentences),
        score=fit.score,
        pair_p_values=fit.pair_p_values,
        separating_sets=fit.separating_sets,
        details={
            **fit.details,
            "class": {
                "directed": [list(edge) for edge in fit.graph.directed],
                "undirected": [list(edge) for edge in fit.graph.undirected],
            },
            "order_conflicts": [list(edge) for edge in result.conflicts],
        },
    )
