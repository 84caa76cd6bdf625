"""`GraphTest`: what a table says of a graph, in tables, a verdict and plain values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from ordag.common.plain import frame, plain, records
from ordag.common.words import chance, counted, joined, listed, number, shown
from ordag.data.moments import Moments
from ordag.decisions.answer import Answer
from ordag.decisions.claims import Change, Whole, holm
from ordag.decisions.given_graph import AnyGraph
from ordag.graph.graph import arrow
from ordag.model.refit import Refit

if TYPE_CHECKING:
    import pandas as pd


class Baseline(NamedTuple):
    """How many claims the same graph breaks with its variables mixed up, and how often no more than as it stands; `graphs` were tried."""

    graphs: int
    median: float
    low: float
    high: float
    as_few: float


@dataclass(frozen=True, eq=False, repr=False)
class GraphTest(Answer):
    """What a table says of a graph.

    whole: the fit as a whole; None with too few rows. claims, arrows: tables, the worst first.
    mend: the single change that lowers BIC most, None if none does. random: the same graph with its variables mixed up, None if it claims
    nothing. learned_bic: BIC of the learned graph.
    same_rows: whether the graph was learned from these rows.
    """

    graph: AnyGraph
    moments: Moments
    level: float
    columns: dict[str, list[Any]]
    refit: Refit
    whole: Whole | None
    bic: float
    random: Baseline | None
    mend: Change | None
    learned_bic: float | None = None
    same_rows: bool = False

    @property
    def n(self) -> int:
        return self.moments.n

    @cached_property
    def claims(self) -> pd.DataFrame:
        """One row per independence that the graph claims: `first` ⊥ `second` | `given`, the worst first."""
        return frame(self.columns)

    @cached_property
    def arrow_columns(self) -> dict[str, list[Any]]:
        """The columns of `arrows`."""
        links, fit = self.refit.links, self.refit
        t = np.abs(fit.weights / fit.std_errors)
        p_values = 2.0 * stdtr(fit.residual_df[links.target], -t)
        corrected = holm(p_values)
        worst = np.argsort(-p_values, kind="stable")
        names = self.moments.names
        return {
            "source": [names[i] for i in links.source[worst]],
            "target": [names[j] for j in links.target[worst]],
            "weight": plain(fit.weights[worst]),
            "std_error": plain(fit.std_errors[worst]),
            "p_value": plain(p_values[worst]),
            "corrected": plain(corrected[worst]),
            "needed": (corrected[worst] < self.level).tolist(),
        }

    @cached_property
    def arrows(self) -> pd.DataFrame:
        """One row per arrow, those that the table needs least first."""
        return frame(self.arrow_columns)

    @property
    def broken(self) -> int:
        """The number of claims that are contradicted."""
        return sum(self.columns["contradicted"])

    @property
    def contradicted(self) -> bool:
        """Whether the graph as a whole or one of its claims is rejected at the level."""
        return bool(self.broken or (self.whole is not None and self.whole.p_value < self.level))

    @property
    def light(self) -> str:
        if self.contradicted:
            return "red"
        return "yellow" if self.same_rows or not self.informative else "green"

    @property
    def informative(self) -> bool:
        """Whether few graphs of the same shape fit as well."""
        return self.random is not None and self.random.as_few <= 0.05

    def claim(self, row: int) -> str:
        """Return one claim in words: `a ⊥ b | c, d`."""
        return claim(self.columns["first"][row], self.columns["second"][row], self.columns["given"][row])

    @property
    def fit_sentence(self) -> str:
        """The fit as a whole, in a sentence; "" with too few rows."""
        if self.whole is None:
            return f"{counted(self.n, 'row')} are too few to test the graph as a whole"
        if not self.whole.df:
            return ""
        degrees = counted(self.whole.df, "degree")
        return f"χ² = {number(self.whole.chi2)} on {degrees} of freedom, {chance(self.whole.p_value)}, RMSEA {self.whole.rmsea:.2g}"

    @property
    def sentence(self) -> str:
        """The verdict: whether the table contradicts the graph, where most, and what would mend it."""
        claims = len(self.columns["first"])
        if not claims:
            return "The graph joins all pairs, so it claims no independence that these rows could contradict."
        fit = f" ({self.fit_sentence})" if self.fit_sentence else ""
        if not self.contradicted:
            said = f"These rows do not contradict the graph{fit}."
            if self.random is not None:
                said += " With" if self.informative else " That says little: with"
                said += (
                    f" its variables mixed up it breaks {_between(self.random)} of {counted(claims, 'claim')}, "
                    f"as it stands {self._unadjusted}."
                )
            return said + self._needless
        if not self.broken:
            said = f"These rows contradict the graph as a whole{fit}, but no single claim of {claims} after correction."
        else:
            worst = f"{self.claim(0)} (partial correlation {_short(self.columns['correlation'][0])})"
            which = "; it is" if self.broken == 1 else "; the worst is"
            said = f"These rows contradict the graph{fit}: {self.broken} of {counted(claims, 'independence')} "
            said += f"{'fails' if self.broken == 1 else 'fail'}{which} {worst}."
        if self.mend is not None:
            words = self.mend.words
            said += f" {words[0].upper()}{words[1:]} would mend most."
        return said

    @property
    def _unadjusted(self) -> int:
        return sum(p < self.level for p in self.columns["p_value"] if p is not None)

    @property
    def _needless(self) -> str:
        needless = [k for k, needed in enumerate(self.arrow_columns["needed"]) if not needed]
        if not needless:
            return ""
        names = [arrow((self.arrow_columns["source"][k], self.arrow_columns["target"][k])) for k in needless]
        return f" The rows show no need of {joined(names, 3)}."

    @property
    def notes(self) -> list[str]:
        """What the reader should know beside the verdict."""
        said = []
        if self.contradicted and self.random is not None:
            than = (
                "; with its variables mixed up"
                if self.informative
                else ", hardly fewer than with its variables mixed up:"
            )
            count = counted(len(self.columns["first"]), "claim")
            said.append(f"Without correction it breaks {self._unadjusted} of {count}{than} {_between(self.random)}.")
        if self.same_rows:
            said.append(
                "The graph was learned from these rows, so it fits them better than others: test it on other rows (split=True, --split)."
            )
        if self.learned_bic is not None:
            away = self.bic - self.learned_bic
            said.append(
                f"Its BIC is {abs(away):.3g} {'above' if away > 0 else 'below'} that of the graph learned from these rows."
                if abs(away) > 1e-6
                else "Its BIC is that of the graph learned from these rows."
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer in plain values."""
        return {
            "nodes": list(self.graph.nodes),
            "rows": self.moments.rows,
            "level": self.level,
            "sentence": self.sentence,
            "contradicted": self.contradicted,
            "chi2": None if self.whole is None else self.whole.chi2,
            "df": None if self.whole is None else self.whole.df,
            "p_value": None if self.whole is None else self.whole.p_value,
            "p_value_uncorrected": None if self.whole is None else self.whole.plain,
            "rmsea": None if self.whole is None else self.whole.rmsea,
            "bic": self.bic,
            "learned_bic": self.learned_bic,
            "random": None if self.random is None else self.random._asdict(),
            "mend": None if self.mend is None else self.mend._asdict(),
            "claims": records(self.columns),
            "arrows": records(self.arrow_columns),
            "notes": self.notes,
        }


def claim(first: str, second: str, given: list[str]) -> str:
    """Return a claim of independence in words."""
    return f"{shown(first)} ⊥ {shown(second)}{f' | {listed(given)}' if given else ''}"


def _between(random: Baseline) -> str:
    return f"{random.low:.0f} to {random.high:.0f}" if random.low != random.high else f"{random.low:.0f}"


def _short(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)
