"""`test`: does this graph hold in these data? The fit as a whole, every independence it claims, every arrow it needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from ordag.common.arrays import Array, Mask
from ordag.common.checks import Seed, as_number, short
from ordag.common.plain import plain, records, to_json
from ordag.common.words import chance, counted, joined, listed, number, shown
from ordag.data.moments import Moments
from ordag.data.profile import Rows
from ordag.data.table import Table
from ordag.decisions.claims import Whole, broken, given_parents, holm, two_sided, unit_root, whole
from ordag.decisions.given_graph import AnyGraph, any_dag, given_graph
from ordag.decisions.mending import Change, best_change
from ordag.errors import DataError, SettingError
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.graph.graph import arrow
from ordag.learners.methods import recipe_for
from ordag.model.refit import Refit, refit
from ordag.order.sparse import few_rows

if TYPE_CHECKING:
    import pandas as pd

MOST_RANDOM, FEWEST_RANDOM, RANDOM_WORK = 200, 20, 5000
"""Random graphs at most and at least, and what their number times the variables comes to."""

MOST_COMPARED = 30
"""Variables up to which a graph is learned to compare with."""

CLOSE_FIT = 0.05
"""The RMSEA up to which a fit is called close (Browne & Cudeck 1992)."""


class Baseline(NamedTuple):
    """How many claims the same graph breaks with its variables mixed up, and how often no more than as it stands; `graphs` were tried."""

    graphs: int
    median: float
    low: float
    high: float
    as_few: float


@dataclass(frozen=True, eq=False, repr=False)
class GraphTest:
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
        import pandas as pd

        return pd.DataFrame(self.columns)

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
        import pandas as pd

        return pd.DataFrame(self.arrow_columns)

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
                little = "" if self.informative else " That says little:"
                said += (
                    f"{little} With its variables mixed up it breaks {_between(self.random)} of {counted(claims, 'claim')}, "
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
        """The whole answer in plain values."""
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

    def to_json(self, indent: int | None = 2) -> str:
        """The document that `ordag test --json` prints."""
        return to_json(self.to_dict(), indent)

    def __str__(self) -> str:
        from ordag.show.decisions import text

        return text(self)

    __repr__ = __str__


def claim(first: str, second: str, given: list[str]) -> str:
    """Return a claim of independence in words."""
    return f"{shown(first)} ⊥ {shown(second)}{f' | {listed(given)}' if given else ''}"


def test(
    graph: Any,
    data: Any = None,
    *,
    level: float = 0.05,
    split: bool = False,
    compare: bool | None = None,
    seed: Seed = 0,
    **reading: Any,
) -> GraphTest:
    """Test a graph on a table: the fit as a whole, every independence that it claims, every arrow that it needs.

    graph: a Dag, Cpdag, Fit or graph of networkx, or the path of a file: a saved fit (.ordag) or any format of graphs.
    data: as for `ordag.learn`; for a fit, by default the moments it was learned from.
    level: of the tests, which are corrected for their number (Holm).
    split: for a fit, learn the graph again from one half of the rows, drawn at random, and test it on the other.
    compare: whether to learn a graph from the table to compare the BIC; by default up to 30 variables.
    seed: of the random graphs and of the split. reading: how to read the table, as for `ordag.learn`.

    >>> import ordag
    >>> graph = ordag.Dag.from_edges(["algebra", "vectors", "mechanics"], [("algebra", "vectors"), ("vectors", "mechanics")])
    >>> ordag.test(graph, "marks").broken
    1
    """
    level = as_number(level)
    if not 0.0 < level < 1.0:
        raise SettingError(f"level={short(level)}: give a number between 0 and 1.")
    graph, fit = given_graph(graph)
    if split:
        return _on_other_half(fit, data, level, compare, seed, reading)
    if data is None:
        if fit is None:
            raise SettingError("data: give the table that the graph is to be tested on.")
        moments = fit.moments
    else:
        moments = Table(data, **{"columns": list(graph.nodes), **reading}).needing(few_rows).moments
    return _tested(graph, fit, moments, level, compare, seed)


def _tested(
    graph: AnyGraph,
    fit: Fit | None,
    moments: Moments,
    level: float,
    compare: bool | None,
    seed: Seed,
) -> GraphTest:
    chosen = moments if tuple(graph.nodes) == moments.names else moments.select(graph.nodes)
    same_rows = fit is not None and _is_same(fit.moments, chosen)
    dag = any_dag(graph)
    p, n = chosen.p, chosen.n
    if p < 2:
        raise DataError("The graph has fewer than two variables: there is nothing to test.")
    fitted = refit(chosen, dag)
    U, adjacency = unit_root(chosen.R), dag.adjacency
    order = tuple(dag.index(name) for name in dag.topological_order())
    correlations, rests = np.full((p, p), np.nan), np.empty(p)
    rows: list[tuple[int, int, float, float]] = []
    for place, j in enumerate(order):
        parents = np.flatnonzero(adjacency[:, j])
        found = given_parents(U, j, parents)
        rests[j] = found.rest
        correlations[:, j] = found.correlation
        earlier = [i for i in order[:place] if not adjacency[i, j]]
        p_values = two_sided(found.correlation[earlier], n - 2.0 - len(parents))
        rows += [(i, j, float(found.correlation[i]), float(value)) for i, value in zip(earlier, p_values, strict=True)]
    parent_counts = adjacency.sum(axis=0)
    total = whole(U, order, rests, parent_counts, n)
    edges = int(parent_counts.sum())
    bic = _bic(chosen, rests, edges)
    return GraphTest(
        graph=graph,
        moments=chosen,
        level=level,
        columns=_claim_columns(rows, chosen.names, adjacency, level),
        refit=fitted,
        whole=total,
        bic=bic,
        random=_baseline(U, adjacency, order, n, level, seed, rows),
        mend=best_change(U, correlations, rests, dag, n),
        learned_bic=_learned_bic(chosen)
        if compare or (compare is None and p <= MOST_COMPARED and not same_rows)
        else None,
        same_rows=same_rows,
    )


def _is_same(one: Moments, other: Moments) -> bool:
    """Return whether moments are those of the same rows, as far as can be seen."""
    return one.names == other.names and one.n == other.n and np.allclose(one.spread, other.spread, rtol=1e-9)


def _claim_columns(
    rows: list[tuple[int, int, float, float]], names: tuple[str, ...], adjacency: Mask, level: float
) -> dict[str, list[Any]]:
    p_values = np.array([row[3] for row in rows])
    corrected = holm(p_values)
    worst = np.lexsort((-np.abs([row[2] for row in rows]), p_values)).tolist() if rows else []
    parents = {j: [names[i] for i in np.flatnonzero(adjacency[:, j])] for _, j, *_ in rows}
    return {
        "first": [names[rows[k][0]] for k in worst],
        "second": [names[rows[k][1]] for k in worst],
        "given": [parents[rows[k][1]] for k in worst],
        "correlation": plain(np.array([rows[k][2] for k in worst])),
        "p_value": plain(p_values[worst]),
        "corrected": plain(corrected[worst]),
        "contradicted": (corrected[worst] < level).tolist(),
    }


def _bic(moments: Moments, rests: Array, edges: int) -> float:
    """Return −2 log L + (edges + 2p) log n of a DAG, with the shares of the sums of squares that parents leave."""
    n, p = moments.n, moments.p
    log_variances = np.log(rests) + 2.0 * np.log(moments.spread) - np.log(n)
    return float(n * (log_variances.sum() + p * (1.0 + np.log(2.0 * np.pi))) + (edges + 2 * p) * np.log(n))


def _learned_bic(moments: Moments) -> float | None:
    """Return BIC of the graph that is learned from the moments; None where none is."""
    table = Table(moments)
    try:
        fit = Fit.learned(table, recipe_for(table, "pooled", {"draws": 0}))
    except DataError:
        return None
    assert isinstance(fit.graph, Dag)
    U, adjacency = unit_root(moments.R), fit.graph.adjacency
    rests = np.array([given_parents(U, j, np.flatnonzero(adjacency[:, j])).rest for j in range(moments.p)])
    return _bic(moments, rests, fit.graph.edge_count)


def _baseline(
    U: Array,
    adjacency: Mask,
    order: tuple[int, ...],
    n: int,
    level: float,
    seed: Seed,
    rows: list[tuple[int, int, float, float]],
) -> Baseline | None:
    """Count the claims that the graph breaks with its variables mixed up (Eulig et al. 2023)."""
    if not rows:
        return None
    random = np.random.default_rng(seed)
    count = min(MOST_RANDOM, max(FEWEST_RANDOM, RANDOM_WORK // len(order)))
    counts = np.array([broken(U[:, random.permutation(len(order))], adjacency, order, n, level) for _ in range(count)])
    own = sum(p_value < level for *_, p_value in rows)
    low, median, high = np.percentile(counts, [5, 50, 95]).tolist()
    return Baseline(count, median, low, high, float((counts <= own).mean()))


def _on_other_half(
    fit: Fit | None, data: Any, level: float, compare: bool | None, seed: Seed, reading: dict[str, Any]
) -> GraphTest:
    """Learn the graph of a fit again from half of the rows, and test it on the other half."""
    if fit is None:
        raise SettingError(
            "split: the graph was not learned here, so there is nothing to learn again; give a fit or a saved one (.ordag)."
        )
    known = {"columns": list(fit.names), "adjust": [one.name for one in fit.moments.held], **reading}
    rows = _kept_rows(fit) if data is None else Table(data, keep=2**26, **known).rows
    if rows is None or rows.stride > 1:
        raise SettingError(
            "split: the rows are needed, and only a part of them or their moments are known: give data=… with all rows."
        )
    X = rows.values
    mixed = np.random.default_rng(seed).permutation(len(X))
    first, second = (Table.of_rows(fit.names, X[half], fit.moments) for half in (mixed[::2], mixed[1::2]))
    learned = Fit.learned(first, fit.recipe)
    return _tested(learned.graph, None, second.moments, level, compare, seed)


def _kept_rows(fit: Fit) -> Rows | None:
    return None if fit.profile is None else Rows(fit.profile.complete.rows, fit.profile.stride)


def _between(random: Baseline) -> str:
    return f"{random.low:.0f} to {random.high:.0f}" if random.low != random.high else f"{random.low:.0f}"


def _short(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)
