"""Parents where each variable was regressed on few of the earlier ones: the graph, its tests, and what few rows can show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ordag.common.arrays import Array, Indices
from ordag.common.words import counted
from ordag.data.moments import Moments
from ordag.graph.dag import Dag
from ordag.graph.links import Links
from ordag.knowledge.masks import Constraints
from ordag.learners.result import Level, Result
from ordag.model.refit import Refit, refit
from ordag.order.ordering import Ordering
from ordag.order.sparse import MOST_PARENTS, ROWS_PER_PARENT
from ordag.parents.row_tests import RowTest, row_p_value, row_test
from ordag.parents.tests import Test, named_test

if TYPE_CHECKING:
    from ordag.learners.found import Found


@dataclass(frozen=True, eq=False)
class ArrowTest:
    """The test of an arrow given the other parents of its target: a t test if None. rows: for a test of rows."""

    test: str | Test | RowTest | None = None
    rows: Array | None = None

    def p_values(self, fitted: Refit, source: NDArray[np.intp], target: NDArray[np.intp]) -> Array:
        """Return the p-value of every arrow source[k] → target[k] of the fitted graph."""
        of_rows = row_test(self.test)
        if of_rows is not None and self.rows is not None:
            ends = zip(source.tolist(), target.tolist(), strict=True)
            causes = fitted.links.turned.row
            return np.array(
                [row_p_value(of_rows, self.rows, j, i, [k for k in causes(j).tolist() if k != i]) for i, j in ends]
            )
        if self.test is None:
            return fitted.p_values_of(source, target)
        weights, std_errors = fitted.weights_of(source, target)
        t = np.abs(weights / std_errors)
        d = fitted.residual_df[target].astype(float)
        parents = fitted.links.in_columns
        n = int(fitted.residual_df[0] + parents[0] + 1)
        correlations: Array = t / np.hypot(t, np.sqrt(d))
        return named_test(self.test)(correlations, n, np.subtract(parents[target], 1.0))


@dataclass(frozen=True, eq=False)
class SparseParents(Result):
    """The tests of a graph whose parents are those that its order was found with.

    pairs: the number of pairs of variables. split: the moments of rows that the graph was not learned from, if there are any: tests
    on them are valid, those on the rows of the graph come after selection.
    """

    pairs: int
    test: ArrowTest = ArrowTest()
    split: Moments | None = None

    def evidence(self, found: Found, source: Indices, target: Indices) -> dict[str, Array]:
        """Return p-values on the rows of the split, or else on those that the graph was learned from, and q-values over all pairs."""
        fitted = found.refit if self.split is None else refit(self.split, found.graph)  # type: ignore[arg-type]
        assert fitted is not None
        p_values = self.test.p_values(fitted, source, target)
        return {"p_value": p_values, "q_value": discovery_rates(p_values, self.pairs)}

    def level(self, found: Found) -> Level:
        rate = found.settings["alpha"]
        return Level("q_value", rate, self.pairs, float(rate or 0.0), correction="bh", stands_for=rate)

    def details(self) -> dict[str, Any]:
        tests = "of other rows than the graph" if self.split is not None else "after selection"
        return {"p_values": tests}


def sparse_graph(ordering: Ordering, rate: float, known: Constraints | None, test: ArrowTest) -> Dag:
    """Return the graph of the arrows from the sparse parents of the order that a test finds at this false-discovery rate.

    The rate is over all pairs of variables, not only those of the sparse parents, which were chosen from all pairs by the same
    data. Leaving out one parent of a variable changes the tests of the others, so they are repeated until all that are left pass.
    """
    assert ordering.parent_sets is not None
    moments = ordering.moments
    sizes = [len(parents) for parents in ordering.parent_sets]
    links = Links.between(moments.p, np.concatenate(ordering.parent_sets), np.repeat(ordering.order, sizes))
    if known is not None:
        links = Links.of(links.mask & known.allowed | known.required)
    while True:
        graph = Dag.known(moments.names, links)
        source, target = links.source, links.target
        rates = discovery_rates(test.p_values(refit(moments, graph), source, target), math.comb(moments.p, 2))
        kept = rates <= rate
        if known is not None:
            kept |= known.required[source, target]
        if kept.all():
            return graph
        links = links.where(kept)


def least_correlation(n: int, p: int, rate: float) -> float:
    r"""Return the correlation from which a single arrow among p variables is found in n rows, with no other parent.

    It must improve the score of a sparse regression, $r^2 > 1 - \exp(-(\log n + 2 \log p)/n)$, and its t test, with n − 2 degrees of
    freedom, must pass at the false-discovery rate over all pairs: $p \le \text{rate} / \binom p2$.
    """
    d = n - 2.0
    t = float(stdtrit(d, 1.0 - rate / (p * (p - 1.0))))
    return max(t / math.hypot(t, math.sqrt(d)), math.sqrt(-math.expm1(-(math.log(n) + 2.0 * math.log(p)) / n)))


def few_rows_sentence(n: int, p: int, rate: float) -> str:
    """Return a sentence on the effects that can be found among so many variables in so few rows."""
    most = min(MOST_PARENTS, n // ROWS_PER_PARENT)
    return (
        f"Among {p} variables {counted(n, 'row')} show strong effects only: a single arrow is found from a partial correlation of about "
        f"{least_correlation(n, p, rate):.2f} on, and no variable can have more than {counted(most, 'parent')}. An arrow that is not "
        "found may still exist."
    )


def discovery_rates(p_values: Array, pairs: int) -> Array:
    """Return the least false-discovery rate at which each p-value passes among so many pairs (Benjamini & Hochberg 1995)."""
    rank = np.argsort(p_values)
    scaled = np.minimum(p_values[rank] * pairs / np.arange(1, len(rank) + 1), 1.0)
    rates = np.empty(len(rank))
    rates[rank] = np.minimum.accumulate(scaled[::-1])[::-1]
    return rates
