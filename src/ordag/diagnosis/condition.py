"""Does the fitted model satisfy the condition that its own directions rest on (Park & Kim, Theorem 2.2)?"""

from __future__ import annotations

from ordag.evidence.finding import Finding, Level, unchecked
from ordag.fit import Fit
from ordag.model.identifiability import identifiability
from ordag.words import amount, shown

NARROW = 1.1
"""A margin below this is a near-tie."""


def condition_finding(fit: Fit) -> Finding:
    """The condition for the fitted model, with its tightest pair.

    It compares each error variance with what its effects have left. That the fitted model keeps it does not say that the true
    one does: the order was chosen so that it would (docs/trust.md).
    """
    if fit.method == "pooled":
        return unchecked("condition", "pooled error variances do not rest on it.")
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
            f"The fitted model breaks the condition that its order rests on: {pair}, where more than 1 is needed."
        )
    elif margin < NARROW:
        sentence = f"The fitted model keeps the condition only just: {pair}."
    else:
        sentence = f"The fitted model keeps the condition; the tightest pair is {pair}."
    return Finding("condition", level, sentence, numbers)
