"""Check the fitted equations: linear, residuals of constant spread and independent, and the condition of Park & Kim's Theorem 2.2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc, ndtr, stdtr

from ordag.assess.finding import Finding, Level, unchecked
from ordag.assess.rows import Sample, dependent_rows
from ordag.common.arrays import Array, Mask
from ordag.common.words import amount, chance, shown
from ordag.data.moments import Moments
from ordag.data.roles import ColumnRole
from ordag.learners.found import Found
from ordag.model.identifiability import identifiability

NARROW = 1.1
"""A margin below this is a near-tie."""

STRONG = 0.02
"""From this share of a residual variance on, curvature or a changing spread is a warning."""


class Equation(NamedTuple):
    """The equation of a variable: the centred columns of its parents, fitted values and residuals."""

    child: int
    parents: Array
    fitted: Array
    residual: Array


def equations(rows: Array, arrows: Mask) -> Iterator[Equation]:
    """Yield the equation of every variable that has parents."""
    Z = rows - rows.mean(axis=0)
    for j in np.flatnonzero(arrows.any(axis=0)).tolist():
        P = Z[:, arrows[:, j]]
        Q = np.linalg.qr(P)[0]
        fitted = Q @ (Q.T @ Z[:, j])
        yield Equation(j, P, fitted, Z[:, j] - fitted)


def f_test_of_added(target: Array, base: Array, added: Array) -> tuple[float, float]:
    r"""Return the p-value of the F test for added columns in a regression, and the share of the residual variance they explain.

    With RSS₀ of the target on a constant and `base`, RSS₁ with the q columns `added` as well and d degrees of freedom left,
    $F = \frac{(\mathrm{RSS}_0 - \mathrm{RSS}_1)/q}{\mathrm{RSS}_1/d}$. Columns that add nothing new are left out.
    """
    n = len(target)
    Q = np.linalg.qr(np.column_stack([np.ones(n), base]))[0]
    e = target - Q @ (Q.T @ target)
    A = added - Q @ (Q.T @ added)
    A -= Q @ (Q.T @ A)
    A = A[:, np.square(A).sum(axis=0) > 1e-10 * np.square(added).sum(axis=0)]
    q, d = A.shape[1], n - Q.shape[1] - A.shape[1]
    if q == 0 or d < 1:
        return 1.0, 0.0
    U, s, _ = np.linalg.svd(A / np.sqrt(np.square(A).sum(axis=0)), full_matrices=False)
    explained = float(np.square(U[:, s > 1e-7].T @ e).sum() / np.square(e).sum())
    return float(fdtrc(q, d, explained / max(1.0 - explained, 1e-300) * d / q)), explained


def linearity_finding(rows: Array, arrows: Mask, names: tuple[str, ...], alpha: float) -> Finding:
    """Test linearity of every equation by Ramsey's (1969) RESET with the squared fitted value, with Bonferroni's correction."""
    tests = {
        eq.child: f_test_of_added(rows[:, eq.child], eq.parents, np.square(eq.fitted)[:, None])
        for eq in equations(rows, arrows)
    }
    return _worst(
        "linearity",
        tests,
        names,
        alpha,
        fine="No equation is curved, as far as squares of the fitted values can tell",
        bad="The equation of {name} is curved: the squared fitted value explains {share} of the residual variance",
    )


def spread_finding(rows: Array, arrows: Mask, names: tuple[str, ...], alpha: float) -> Finding:
    """Test whether the size of the residuals depends on the parents.

    The cube root of the squared residual, nearly normal (Wilson & Hilferty 1931), is regressed on the parents and their
    squares, an F test in every equation, with Bonferroni's correction; squared residuals themselves have tails too heavy for
    such a test to keep its level (Koenker 1981).
    """
    tests = {}
    for eq in equations(rows, arrows):
        added = np.column_stack([eq.parents, np.square(eq.parents)])
        tests[eq.child] = f_test_of_added(np.cbrt(np.square(eq.residual)), np.empty((len(rows), 0)), added)
    return _worst(
        "residual_spread",
        tests,
        names,
        alpha,
        fine="The spread of the residuals does not change with the parents",
        bad="The residuals of {name} are not independent of its parents, which explain {share} of their spread",
    )


def independence_finding(rows: Array, arrows: Mask, names: tuple[str, ...], alpha: float) -> Finding:
    """Test the largest correlation between residuals of two equations, with Bonferroni's correction over pairs."""
    E = _residuals(rows, arrows)
    p = E.shape[1]
    r = np.tril(E.T @ E, -1)
    a, b = (int(k) for k in np.unravel_index(int(np.argmax(np.abs(r))), r.shape))
    d = len(rows) - 2.0 - max(int(arrows[:, a].sum()), int(arrows[:, b].sum()))
    t = abs(r[a, b]) * np.sqrt(d / max(1.0 - r[a, b] ** 2, 1e-300))
    p_value = min(1.0, float(2.0 * stdtr(d, -t)) * p * (p - 1) / 2)
    numbers = {"p_value": p_value, "correlation": float(r[a, b]), "pair": sorted([names[a], names[b]])}
    first, second = (shown(name) for name in sorted([names[a], names[b]]))
    if p_value >= alpha:
        sentence = f"The residuals of different equations are uncorrelated ({chance(p_value)})."
        return Finding("residual_pairs", "fine", sentence, numbers)
    sentence = (
        f"The residuals of {first} and {second} are correlated ({r[a, b]:.2f}, {chance(p_value)}): an arrow or a common cause "
        "may be missing."
    )
    return Finding("residual_pairs", "look", sentence, numbers)


def dependence_finding(
    rows: Array, arrows: Mask, moments: Moments, alpha: float, columns: Sequence[ColumnRole] = ()
) -> Finding:
    r"""Test whether rows resemble their neighbours or rows with the same code; if hardly, whether residuals correlate with those before.

    For independent rows $\sqrt n$ times the correlation of a residual with that of the row before is nearly standard normal.
    """
    E, names = _residuals(rows, arrows), moments.names
    r = (E[1:] * E[:-1]).sum(axis=0)
    worst = int(np.argmax(np.abs(r)))
    p_value = min(1.0, float(2.0 * ndtr(-np.sqrt(len(rows)) * abs(r[worst]))) * len(names))
    numbers = {"p_value": p_value, "correlation": float(r[worst]), "worst": names[worst]}
    caution = dependent_rows(
        Sample.of(rows, rows.mean(axis=0), names, residuals=bool(moments.adjusted_for), columns=columns)
    )
    if caution is not None:
        return Finding("dependent_rows", "warning", f"{caution.sentence} {caution.advice}", numbers)
    if p_value >= alpha:
        return Finding("dependent_rows", "fine", f"Neighbouring rows are uncorrelated ({chance(p_value)}).", numbers)
    sentence = (
        f"Neighbouring rows are correlated, most in {shown(names[worst])} ({r[worst]:.2f}, {chance(p_value)}): rows in time order "
        "or in clusters tell less than as many independent rows."
    )
    return Finding("dependent_rows", "look", sentence, numbers)


def _residuals(rows: Array, arrows: Mask) -> Array:
    """Return the residuals of all equations as columns of length 1; for a variable without parents its deviations from the mean."""
    E = rows - rows.mean(axis=0)
    for eq in equations(rows, arrows):
        E[:, eq.child] = eq.residual
    return np.asarray(E / np.sqrt(np.square(E).sum(axis=0)))


def _worst(
    key: str, tests: dict[int, tuple[float, float]], names: tuple[str, ...], alpha: float, *, fine: str, bad: str
) -> Finding:
    if not tests:
        return Finding(key, "fine", "No variable has parents, so there is no equation to check.", {"p_value": None})
    worst = min(tests, key=lambda j: tests[j][0])
    p_value, explained = tests[worst]
    p_value = min(1.0, p_value * len(tests))
    numbers = {"p_value": p_value, "explained": explained, "worst": names[worst], "equations": len(tests)}
    if p_value >= alpha:
        return Finding(key, "fine", f"{fine} ({chance(p_value)}).", numbers)
    sentence = bad.format(name=shown(names[worst]), share=f"{100 * explained:.2g} %")
    rejected = sum(value * len(tests) < alpha for value, _ in tests.values())
    sentence += f" ({chance(p_value)}; {rejected} of {len(tests)} equations)."
    return Finding(key, "warning" if explained >= STRONG else "look", sentence, numbers)


def condition_finding(fit: Found) -> Finding:
    """Check the condition in the fitted model, and name the pair with the smallest margin.

    It compares each error variance with what its effects have left. That the fitted model keeps it does not say that the true
    one does: the order was chosen so that it would (docs/trust.md).
    """
    if not fit.method_settings.rests_on_condition:
        return unchecked("condition", f"{fit.method} error variances do not rest on it.")
    assert fit.sem is not None
    checked = identifiability(fit.sem)
    numbers = {"holds": checked.holds, "holds_in_every_order": checked.holds_in_every_order, "tightest": None}
    if checked.tightest is None:
        return Finding("condition", "fine", "There are no arrows, so no variances to compare.", numbers)
    cause, effect, margin = checked.tightest
    numbers["tightest"] = {"cause": cause, "effect": effect, "margin": margin}  # type: ignore[assignment]
    pair = f"{shown(cause)} before {shown(effect)}, margin {amount(margin)}"
    level: Level = "warning" if not checked.holds else "look" if margin < NARROW else "fine"
    if not checked.holds:
        sentence = (
            f"The fitted model violates the condition that its order rests on: {pair}, where more than 1 is needed."
        )
    elif margin < NARROW:
        sentence = f"The fitted model barely satisfies the condition: {pair}."
    else:
        sentence = f"The fitted model satisfies the condition; the tightest pair is {pair}."
    return Finding("condition", level, sentence, numbers)
