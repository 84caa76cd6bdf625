"""`Verdict`: how many arrows to expect wrong, the main reason, and what to do next; and what the directions of a fit rest on.

Directions that rest on variances alone, those of cvs and gds, and what an order has directed in a class, stand in one of four
tiers.

1. "tested": along the learned order the error variances are equal, or so nearly that no arrow of this graph could be turned round.
   Along a wrong order they would hardly ever come out equal, so the directions rest on a model that the data could have
   contradicted.
2. "untested": they pass, but these data could hardly have contradicted them: too few rows or variables, arrows too weak, or
   a hidden common cause that explains the table as well; or they cannot be tested at all.
3. "assumed": they are rejected. The directions rest on the condition of Park & Kim's Theorem 2.2, which no test on the
   data alone can check (docs/trust.md has the two-variable example); the verdict shows the closest arrow.
4. "uninformative": the columns are standardised or scaled in another way. The directions carry no information.

Directions that were found with pooled error variances have no tier, nor have those of an equivalence class. For all of them the
verdict counts what every arrow rests on, and says how many of them to expect wrong (`ordag.assess.forecast`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ordag.assess.arrows import DECIDED, arrow_ends, arrow_reasons
from ordag.assess.cautions import cautions
from ordag.assess.equal_variances import EqualVariances, equality_test, untestable
from ordag.assess.finding import Caution
from ordag.assess.forecast import Expected, expected
from ordag.assess.scale import Turning, describe, scale_of, turning_factors
from ordag.common.words import about, amount, counted, share
from ordag.graph.cpdag import Cpdag
from ordag.graph.graph import arrow
from ordag.learners.found import Found

Forecast = Callable[[], Expected | None]

Light = Literal["green", "yellow", "red"]
Tier = Literal["tested", "untested", "assumed", "uninformative"]
TIERS = {
    "tested": "1 of 4, tested",
    "untested": "2 of 4, untested",
    "assumed": "3 of 4, assumed",
    "uninformative": "4 of 4, uninformative",
}

EQUAL = 1.25
"""Error variances that differ by less than this factor are called equal."""

FEW_VARIABLES = 3
"""That so few error variances agree may be a coincidence, whatever the rows."""

COARSE = 4.0
"""A test that often misses error variances this far apart has tested nothing."""

TOO_MANY_WRONG = 0.25
"""The expected share of wrong arrows from which directions are not called tested."""

FEW_WRONG, MOSTLY_WRONG = 0.1, 0.5
"""The share of wrong arrows up to which an answer is green, and from which on it is red."""

NEVER_CERTAIN = 1e-9
"""The least share of wrong arrows that is told: that all resamples have them is no certainty."""

COMPARABLE = 10.0
"""Error variances that differ by more than this factor hardly come from columns that share a unit."""

SHORT = {
    "tested": "The directions rest on equal error variances, which these rows could have contradicted, and did not.",
    "untested": "The directions rest on equal error variances, which these rows can hardly test.",
    "assumed": "The directions rest on the units of the columns: equal error variances are rejected.",
    "uninformative": "The directions carry no information: the columns have been scaled.",
}
NEXT = {
    "untested": "Do not act on a direction that you have no other reason to believe.",
    "assumed": "Believe an arrow only if you know that its target varies more than its source once earlier variables are held fixed.",
    "uninformative": "Learn from the columns in their own units, or with method='pooled' (--method pooled).",
}
"""What the directions of a tier rest on, and what to do next."""

PUBLISHED = "34 to 58 %"
"""Arrows turned round by conditional variances on four published networks, in their own units (benchmarks/honesty)."""


@dataclass(frozen=True)
class Verdict:
    """What to make of the arrows.

    tier: None where directions do not rest on variances alone. grounds: what the directions rest on, at length.
    sentence: at most three short ones: how many arrows to expect wrong, the main reason, what to do next.
    expected: the shares of arrows expected wrong. numbers: those behind the words, in plain values. cautions: what else speaks against the
    graph, the worst first. weighed: False before it is known what directs the arrows.
    """

    tier: Tier | None
    grounds: str
    expected: Expected | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    weighed: bool = True
    sentence: str = ""
    cautions: tuple[Caution, ...] = ()

    @property
    def light(self) -> Light:
        """Green only if at most a tenth of the arrows are expected wrong and nothing else speaks against them."""
        if self.tier == "uninformative":
            return "red"
        wrong = None if self.expected is None else self.expected.wrong
        if wrong is not None and wrong > MOSTLY_WRONG:
            return "red"
        fine = self.weighed and self.tier in (None, "tested") and not self.cautions
        return "green" if fine and wrong is not None and wrong <= FEW_WRONG else "yellow"

    @property
    def help(self) -> str:
        """What the directions rest on, all cautions, what to expect of the arrows, and where probabilities come from."""
        sentences = [self.grounds, *(caution.sentence for caution in self.cautions)]
        sentences += [] if self.expected is None else [self.expected.sentence]
        if self.tier == "assumed":
            if self.expected is not None:
                sentences.append("That is chance alone; the units decide the rest.")
            sentences.append(
                "On four published networks, whose error variances lie far apart, "
                f"{PUBLISHED} of the arrows were reversed."
            )
        sentences.append(str(self.numbers.get("probabilities", "")))
        return " ".join(filter(None, sentences))

    def to_dict(self) -> dict[str, Any]:
        words: dict[str, Any] = {} if self.tier is None else {"tier": self.tier}
        words |= {"sentence": self.sentence, "light": self.light, "help": self.help}
        words["cautions"] = [{"key": one.key, "sentence": one.sentence, "advice": one.advice} for one in self.cautions]
        if self.expected is not None:
            words["expected"] = self.expected.to_dict()
        return {**words, "numbers": dict(self.numbers)}


def quick_verdict(
    found: Found, *, same_units: bool = False, tables: int | None = None, forecast: bool = True
) -> Verdict:
    """Return the verdict on a learned graph, from its moments, its order and a sample of its rows, in about a second at most.

    same_units: the user states that all columns are in comparable units.
    tables: how many simulated tables to forecast from. forecast: False leaves the forecast out, which takes most of the time.
    """
    reasons = Counter(arrow_reasons(found, *arrow_ends(found)))
    inner = found.within_causes
    beware = cautions(inner, hasty=not forecast)
    wrong: Forecast = partial(expected, found, tables) if forecast else lambda: None
    if found.result.by_probabilities:
        verdict = _pooled_verdict(found, reasons, wrong)
    elif isinstance(found.graph, Cpdag) or found.oriented is not None:
        verdict = _class_verdict(inner, reasons, same_units, beware, wrong)
    else:
        verdict = _graded(inner, same_units, "The directions", beware, wrong)
    verdict = replace(verdict, numbers={**verdict.numbers, "reasons": dict(reasons)}, cautions=tuple(beware))
    return replace(verdict, sentence=" ".join(in_short(found, verdict)))


def in_short(found: Found, verdict: Verdict) -> Iterator[str]:
    """Say how many arrows to expect wrong, the main reason, and what to do next, in a short sentence each."""
    arrows, reasons = len(found.graph.directed), Counter(verdict.numbers["reasons"])
    lines = len(found.graph.undirected)
    of_categories = found.whole_graph.edge_count - found.graph.edge_count
    if not arrows + lines + of_categories:
        yield f"No variable was found to depend on another in {counted(found.rows, 'row')}."
        yield "Weak effects may need more rows."
        return
    yield _how_many_wrong(found, verdict)
    if verdict.cautions:
        yield verdict.cautions[0].sentence
        yield verdict.cautions[0].advice
        return
    if verdict.tier is not None:
        yield SHORT[verdict.tier]
        if verdict.tier != "tested":
            yield NEXT[verdict.tier]
        return
    opened = reasons["open"] + lines
    if opened:
        count = arrows + lines + of_categories
        some = f"{opened} of {count} directions {'is' if opened == 1 else 'are'}"
        yield f"{_every_direction(count) if opened == count else some} open: these rows do not tell cause from effect there."
        yield _next_for_open(found)
    else:
        yield "Check the assumptions (ordag check) before you act on it."


def _every_direction(count: int) -> str:
    """Begin a sentence about all directions."""
    return "The direction is" if count == 1 else "Both directions are" if count == 2 else f"All {count} directions are"


def _how_many_wrong(found: Found, verdict: Verdict) -> str:
    wrong = None if verdict.expected is None else verdict.expected.wrong
    count, noun = found.whole_graph.edge_count, "edge" if found.graph.undirected else "arrow"
    probabilities = found.probabilities
    if probabilities is not None and not probabilities.settled:
        return f"How many arrows are wrong is not settled: {probabilities.remedy}."
    if wrong is None:
        unknown = f"How many of the {counted(count, noun)} are wrong" if count > 1 else f"Whether the {noun} is wrong"
        if not found.result.by_probabilities:
            return f"{unknown} is not known."
        return f"{unknown} is not known: probabilities take long for so many variables, or were left out; ask for them with draws."
    wrong = max(wrong, NEVER_CERTAIN)
    if verdict.tier == "assumed":
        return f"Chance alone makes {about(wrong)} of the {counted(count, noun)} wrong; the units decide the rest."
    more = ", or more" if verdict.cautions or verdict.tier == "untested" else ""
    wrong = max(wrong, 0.01) if more else wrong  # not "less than 1 %, or more"
    if count == 1:
        return f"The {noun} is wrong with a probability of {about(wrong)}{more}."
    return f"Expect {about(wrong)} of the {counted(count, noun)} to be wrong{more}."


def _next_for_open(found: Found) -> str:
    units = found.settings.get("units", "") is None and not found.settings.get("groups")
    if units and found.result.compares_variances and found.result.spread <= COMPARABLE:
        return "If all columns share a unit, say so with units='commensurable' (--units commensurable); else add what you know."
    return "Add what you know of their order with knowledge (--knowledge), or run an experiment."


def _class_verdict(
    found: Found, reasons: Counter[str], same_units: bool, beware: list[Caution], wrong: Forecast
) -> Verdict:
    """Return the verdict on a class: the edges that it directs, and the tier of those directed by an order."""
    said = _counted(found, reasons)
    if not reasons["variance"]:
        return Verdict(None, said, wrong())
    graded = _graded(found, same_units, "Those of the order", beware, wrong)
    conflicts = () if found.oriented is None else found.oriented.conflicts
    numbers = {**graded.numbers, "contradicted": [list(edge) for edge in conflicts]}
    return replace(graded, grounds=f"{said} {graded.grounds}", numbers=numbers)


class _Grounds(NamedTuple):
    """What the tier is decided by."""

    test: EqualVariances
    turning: Turning | None
    expected: Expected | None
    cautions: list[Caution]

    @property
    def harmless(self) -> bool:
        """Whether error variances this far apart could turn no arrow, not even if two of them were as far apart again."""
        return self.turning is not None and self.test.spread**2 <= self.turning.factor.min()


def _graded(found: Found, same_units: bool, which: str, beware: list[Caution], wrong: Forecast) -> Verdict:
    """Return the tier of directions that rest on variances alone; `which` begins the sentence."""
    test = equality_test(found)
    scale = scale_of(found.moments, found.profile, same_units=same_units)
    turning = turning_factors(found)
    numbers: dict[str, Any] = {} if test is None else test._asdict()
    numbers |= {"variance_spread": scale.spread, "closest": None, "turning": None}
    if turning is not None:
        least = int(np.argmin(turning.margin))
        source, target = found.names[turning.source[least]], found.names[turning.target[least]]
        numbers["closest"] = {"source": source, "target": target, "margin": float(turning.margin[least])}
        numbers["turning"] = float(turning.factor.min())
    if not found.graph.edge_count:
        return Verdict("untested", "There are no arrows, and so no directions to test.", None, numbers)
    if scale.kind or (scale.near and test is not None and test.rejected):
        why = (
            f"the variances of the columns cannot be told apart (largest over smallest {amount(scale.spread)}), and the "
            "error variances are not equal, as after standardising"
        )
        if scale.kind:
            why = describe(scale, len(found.names))
        return Verdict(
            "uninformative",
            f"{which} carry no information: {why}. Go back to the columns in their own, comparable "
            "units, or use a method that does not rest on variances alone (pooled, pc or ges).",
            None,
            numbers,
        )
    if test is None:
        sentence = f"{which} rest on equal error variances, which are not tested: {untestable(found)}."
        return Verdict("untested", sentence, wrong(), numbers)
    grounds = _Grounds(test, turning, wrong(), beware)
    if test.rejected and not grounds.harmless:
        return Verdict("assumed", f"{which} {_assumed(test, numbers['closest'])}", grounds.expected, numbers)
    doubts = _doubts(found, grounds)
    if doubts:
        sentence = (
            f"{which} rest on equal error variances, which pass, but which these data can hardly test "
            f"({test.numbers}): {'; '.join(doubts)}."
        )
        return Verdict("untested", sentence, grounds.expected, numbers)
    return Verdict("tested", f"{which} {_tested(found, grounds)}", grounds.expected, numbers)


def _doubts(found: Found, grounds: _Grounds) -> list[str]:
    """Why equal error variances that pass are no evidence."""
    p, n, detectable = len(found.names), found.n, grounds.test.detectable
    doubts = []
    if p <= FEW_VARIABLES:
        doubts.append(f"that {'two' if p == 2 else 'three'} of them agree may be a coincidence")
    if grounds.test.left_out:
        doubts.append(
            f"with {n} rows for {p} variables a missed parent looks like a larger error variance, and hidden common causes are "
            "not looked for"
        )
    elif detectable > COARSE:
        doubts.append(f"with {n} rows, a factor of {amount(detectable)} between two of them would often pass")
    elif grounds.turning is not None and np.sqrt(detectable) > np.median(grounds.turning.factor):
        doubts.append(f"the arrows are so weak that half of them could be turned by a spread that {n} rows do not show")
    if grounds.expected is not None and grounds.expected.wrong > TOO_MANY_WRONG:
        doubts.append(f"by chance alone about {share(grounds.expected.wrong)} of the arrows would be wrong")
    return doubts + [caution.doubt for caution in grounds.cautions if caution.doubt]


def _tested(found: Found, grounds: _Grounds) -> str:
    test = grounds.test
    if test.rejected:
        assert grounds.turning is not None
        least = int(np.argmin(grounds.turning.factor))
        ends = found.names[grounds.turning.source[least]], found.names[grounds.turning.target[least]]
        return (
            f"rest on a tested model: the error variances differ, but only by a factor of "
            f"{amount(test.spread)} along the learned order, and it would take {amount(grounds.turning.factor[least])} to turn "
            f"the closest arrow, {arrow(ends)}."
        )
    sentence = (
        f"rest on a tested model: equal error variances are {'only just ' if test.doubtful else ''}"
        f"not rejected along the learned order ({test.numbers})"
    )
    if test.detectable > 2.0:
        sentence += f"; with {found.rows} rows the test would often miss a factor below {test.detectable:.2g}"
    return f"{sentence}."


def _assumed(test: EqualVariances, closest: Mapping[str, Any] | None) -> str:
    sentence = (
        "rest on an assumption that no data can test: equal error variances are rejected "
        f"({test.numbers}), so believe an arrow only if you know that its "
        "target varies more than its source once all earlier variables are held fixed"
    )
    if closest is not None:
        ends = closest["source"], closest["target"]
        sentence += f"; the closest is {arrow(ends)}, {amount(closest['margin'])} times"
    return f"{sentence}."


def _counted(found: Found, reasons: Counter[str]) -> str:
    """Return a sentence that counts the edges by what directs them."""
    probabilities = found.probabilities
    sure = (
        f" (with a probability of {DECIDED:g} or more each, if there is an edge)" if probabilities is not None else ""
    )
    variances = f"the pooled error variances{sure}" if found.result.by_probabilities else "the order by variances"
    words = {
        "knowledge": ("comes", "come", "from what you know"),
        "time": ("is", "are", "that of time"),
        "class": ("follows", "follow", "from the equivalence class, which needs no variances"),
        "experiment": ("follows", "follow", "from the experiments"),
        "environment": ("follows", "follow", "from what differs between environments"),
        "variance": ("rests", "rest", f"on {variances}"),
        "open": ("is", "are", "open"),
    }
    lines = len(found.graph.undirected)
    parts = [
        f"{reasons[reason]} {one if reasons[reason] == 1 else more} {rest}"
        for reason, (one, more, rest) in words.items()
        if reasons[reason]
    ]
    if lines:
        parts.append(f"{lines} {'is' if lines == 1 else 'are'} left open by the class")
    if found.causes is not None and found.causes.arrows.any():
        arrows = int(found.causes.arrows.sum())
        parts.append(f"{arrows} {'is that' if arrows == 1 else 'are those'} of categories, which have no causes")
        lines += arrows
    count = sum(reasons.values()) + lines
    if not count:
        return "There are no edges." if found.order is None else "There are no arrows."
    if reasons["open"] == count:
        return f"{_every_direction(count)} open."
    return f"Of {count} direction{'s' if count > 1 else ''}, {'; '.join(parts)}."


def _pooled_verdict(found: Found, reasons: Counter[str], wrong: Forecast) -> Verdict:
    """Return the verdict of a pooled search: what directs the arrows, and how far apart the error variances are."""
    spread = found.result.spread
    sentence = f"{_counted(found, reasons)} {spread_sentence(found)}"
    if found.settings.get("units") and spread > COMPARABLE:
        sentence += (
            " That is far for columns that share a unit: leave units='commensurable' (--units) out unless you are sure."
        )
    numbers: dict[str, Any] = {"spread": spread}
    if found.probabilities is not None:
        numbers["probabilities"] = found.probabilities.sentence
    return Verdict(None, sentence, wrong(), numbers)


def spread_sentence(found: Found) -> str:
    """Say how far apart the error variances are."""
    spread, compared, groups = found.result.spread, found.result.compares_variances, found.settings.get("groups")
    if not compared and groups is not None:
        return "No two columns share a unit, so no error variances are compared."
    if not compared:
        return "Error variances are not compared: the columns are standardised, or two whose units are not declared."
    where = " within the groups" if groups else ""
    if spread < EQUAL:
        return f"The error variances{where} are equal as far as these rows can tell."
    taken = ", taken to have comparable units," if found.settings.get("units") else ""
    return f"The error variances{where}{taken} differ by a factor of about {amount(spread)}."
