"""`Verdict`: in which of three tiers the directions of a fit stand, in one sentence that a person can act on.

1. "tested": equal error variances are not rejected along the learned order. Along a wrong order they would hardly ever come
   out equal, so the directions rest on a model that the data could have contradicted.
2. "assumed": they are rejected. The directions rest on the condition of Park & Kim's Theorem 2.2, which no test on the
   data alone can check (docs/trust.md has the two-variable example); the verdict shows the closest arrow.
3. "uninformative": the columns are standardised or nearly so. The directions carry no information.

Directions that were found with pooled error variances have no tier: units can leave them open, not turn them. The verdict
counts what every arrow rests on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from ordag.arrays import Array
from ordag.fit import Fit
from ordag.graph.gate import shown
from ordag.trust.equal_variances import equality_test
from ordag.trust.evidence import DECIDED
from ordag.trust.finding import Finding, amount, chance, share
from ordag.trust.scale import describe, scale_of

Tier = Literal["tested", "assumed", "uninformative"]


class Wrong(NamedTuple):
    """Measured shares of wrong arrows: among arrows between truly adjacent pairs, and among all."""

    turned: float
    wrong: float


MEASURED: dict[Tier, Wrong] = {
    "tested": Wrong(turned=0.0004, wrong=0.0427),
    "assumed": Wrong(turned=0.0496, wrong=0.1634),
    "uninformative": Wrong(turned=0.5643, wrong=0.7743),
}
"""What benchmarks/verdicts.py found over random sparse models with p = 10 and 20, n = 200 and 1000 and common units, whose error
variances are equal or spread over a factor of 20 and more, and over the same tables standardised.
Real tables have no such average; the shares say what to expect of a tier where nothing else is known."""

RANDOM_UNITS = Wrong(turned=0.3667, wrong=0.6672)
"""The same for the second tier where every column of an equal-variance model was given a unit at random."""


EQUAL = 1.25
"""Error variances that differ by less than this factor are called equal."""


@dataclass(frozen=True)
class Verdict:
    """The tier (None for pooled error variances), a sentence or two, and the numbers behind them in plain values."""

    tier: Tier | None
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def help(self) -> str:
        """How often arrows of this tier are wrong, in simulations whose truth is known; where probabilities come from."""
        if self.tier is None:
            return str(self.numbers.get("probabilities", ""))
        turned, wrong = MEASURED[self.tier]
        where = " with common units" if self.tier == "assumed" else ""
        sentence = (
            f"In simulated tables of this tier{where}, {share(turned)} of the arrows between variables that are truly joined "
            f"pointed the wrong way, and {share(wrong)} of all arrows were wrong"
        )
        if self.tier == "assumed":
            sentence += f"; with units chosen at random, {share(RANDOM_UNITS.turned)} and {share(RANDOM_UNITS.wrong)}"
        return f"{sentence} (benchmarks/verdicts.py)."

    def to_dict(self) -> dict[str, Any]:
        words = {"sentence": self.sentence, "help": self.help, "numbers": dict(self.numbers)}
        return words if self.tier is None else {"tier": self.tier, **words}


def quick_verdict(fit: Fit, *, same_units: bool = False, rows: Array | None = None) -> Verdict | None:
    """The verdict on a fit, from its moments and order alone: it costs next to nothing.

    same_units: the user states that all columns are in comparable units.
    rows: with them, columns scaled to a range or by their quartiles are noticed too.
    None for a Cpdag that no order has directed: its arrows were not read off variances.
    """
    if fit.method == "pooled":
        return _pooled_verdict(fit)
    test = equality_test(fit)
    if test is None:
        return None
    p = len(fit.names)
    scale = scale_of(fit.moments, same_units=same_units, rows=rows)
    closest = _closest(fit)
    numbers: dict[str, Any] = {
        "p_value": test.p_value,
        "spread": test.spread,
        "detectable": test.detectable,
        "variance_spread": scale.spread,
        "closest": None if closest is None else dict(zip(("source", "target", "margin"), closest, strict=True)),
    }
    if scale.kind:
        return Verdict(
            "uninformative",
            f"The directions carry no information: {describe(scale, p)}. Go back to the columns in their own, comparable "
            "units, or use a method that does not read variances (pc or ges).",
            numbers,
        )
    if not test.rejected:
        sentence = (
            f"The directions rest on a tested model: equal error variances are {'only just ' if test.doubtful else ''}"
            "not rejected along the learned order "
            f"({chance(test.p_value)}, largest over smallest {amount(test.spread)})"
        )
        if test.detectable > 2.0:
            sentence += f"; with {fit.n} rows the test would often miss a factor below {test.detectable:.2g}"
        return Verdict("tested", f"{sentence}.", numbers)
    sentence = (
        "The directions rest on an assumption that no data can test: equal error variances are rejected "
        f"({chance(test.p_value)}, largest over smallest {amount(test.spread)}), so believe an arrow only if you know that its "
        "target varies more than its source once all earlier variables are held fixed"
    )
    if closest is not None:
        a, b, margin = closest
        sentence += f"; the closest is {shown(a)} → {shown(b)}, {amount(margin)} times"
    return Verdict("assumed", f"{sentence}.", numbers)


def _pooled_verdict(fit: Fit) -> Verdict:
    """What every arrow rests on, and how far apart the error variances are."""
    reasons = Counter(fit._edge_columns["reason"])
    probabilities = fit.probabilities
    sure = f" (each with a probability of {DECIDED:g} or more)" if probabilities is not None else ""
    words = {
        "knowledge": ("comes", "come", "from what you know"),
        "class": ("follows", "follow", "from the equivalence class, which needs no variances"),
        "variance": ("rests", "rest", f"on the pooled error variances{sure}"),
        "open": ("is", "are", "open"),
    }
    parts = [
        f"{reasons[reason]} {one if reasons[reason] == 1 else more} {rest}"
        for reason, (one, more, rest) in words.items()
        if reasons[reason]
    ]
    count = sum(reasons.values())
    sentence = (
        f"Of {count} direction{'s' if count > 1 else ''}, {'; '.join(parts)}." if count else "There are no arrows."
    )
    spread = float(fit.details["spread"])
    sentence += f" {spread_sentence(spread, fit.settings)}"
    if reasons["open"] and not fit.settings["units"] and not fit.settings["groups"]:
        sentence += (
            " If the units of the columns can be compared, say so with units='commensurable' (--units commensurable)."
        )
    numbers: dict[str, Any] = {"reasons": dict(reasons), "spread": spread}
    if probabilities is not None:
        numbers["probabilities"] = probabilities.sentence
    return Verdict(None, sentence, numbers)


def spread_sentence(spread: float, settings: Mapping[str, Any]) -> str:
    """How far apart the error variances are, in words."""
    groups = settings.get("groups")
    if groups is not None and all(len(group) < 2 for group in groups):
        return "No two columns share a unit, so no error variances are compared."
    where = " within the groups" if groups else ""
    if spread < EQUAL:
        return f"The error variances{where} are equal as far as these rows can tell."
    taken = ", taken to have comparable units," if settings.get("units") else ""
    return f"The error variances{where}{taken} differ by a factor of about {amount(spread)}."


def full_verdict(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    """The same tier, with what the findings say about units and transformations where that is a warning."""
    said = {
        "units": "a random change of units",
        "standardising": "standardising",
        "logarithms": "taking logarithms",
    }
    kept = {f.key: f.numbers["kept"] for f in findings if f.key in said and f.level == "warning"}
    if verdict.tier == "uninformative" or not kept:
        return verdict
    on = [word for word, keys in DEPENDS.items() if keys & kept.keys()]
    parts = [f"{share(kept[key])} {words}" for key, words in said.items() if key in kept]
    parts[0] = parts[0].replace("%", "% of them survive", 1)
    sentence = f"{verdict.sentence} The arrows depend on {' and '.join(on)}: {', '.join(parts)}."
    return Verdict(verdict.tier, sentence, {**verdict.numbers, "kept": kept})


DEPENDS = {"the units": {"units", "standardising"}, "the transformation of the columns": {"logarithms"}}


def _closest(fit: Fit) -> tuple[str, str, float] | None:
    """The arrow a → b with the least var(b | before a) / var(a | before a), along the order."""
    if fit.ordering is None:
        return None
    source, target = np.nonzero(fit.graph.adjacency & ~fit.graph.adjacency.T)
    place = np.argsort(fit.ordering.order)
    along = place[source] < place[target]
    source, target = source[along], target[along]
    if not len(source):
        return None
    v_a, v_b, _ = fit.ordering.pair(place[source], place[target])
    least = int(np.argmin(v_b / v_a))
    return fit.names[source[least]], fit.names[target[least]], float(v_b[least] / v_a[least])
