"""The linear structural equation model: weights, error variances, intercepts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack, solve_triangular

from ordag import errors
from ordag.common.arrays import Array
from ordag.common.checks import Seed, as_list, as_number, as_numbers, check_function, checked_seed, is_whole, short
from ordag.common.markup import arrow, card, figure, isolated, table
from ordag.common.words import News, counted, number, shown
from ordag.data.moments import Moments
from ordag.graph.acyclic import topological_order
from ordag.graph.checks import checked_nodes
from ordag.graph.dag import Dag
from ordag.graph.formats import Edge
from ordag.graph.formats.json_text import distinct
from ordag.picture.scene import Stroke
from ordag.picture.svg import graph_svg

BLOCK_VARIABLES = 64
"""Variables that are generated together."""

DRAWN_NUMBERS = 1 << 22
"""Numbers that are drawn together."""

ARROW_COST = 64
"""An arrow by itself costs about as much as so many entries of a product of matrices."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class LinearSEM:
    r"""A Gaussian linear structural equation model: $x = \text{intercept} + xB + e$, x and e row vectors.

    `B[i, j]` is the weight of i → j and the errors are independent, $e_j \sim N(0, \omega_j)$ (Park & Kim,
    equation 2; their B is the transpose of this one). `omega` and `intercept` may be given as one number for
    all variables, and `names` are X1, X2, … unless given. The arrays are copies that cannot be written to.

    A model stores its arrows and their `weights`; B, which is p × p, is computed on first use.
    """

    weights: Array  # those of the arrows, in the order of dag.links
    omega: Array
    intercept: Array
    names: tuple[str, ...]
    dag: Dag  # an arrow wherever B is not zero

    def __init__(
        self, B: ArrayLike, omega: ArrayLike = 1.0, intercept: ArrayLike = 0.0, names: Sequence[str] | None = None
    ) -> None:
        matrix = _frozen(B, "B")
        p = len(matrix) if matrix.ndim else 0
        if p == 0 or matrix.shape != (p, p):
            raise errors.DataError(
                f"B has shape {matrix.shape}; it must be square, one row and one column per variable."
            )
        dag = Dag(numbered(p) if names is None else names, matrix != 0)
        object.__setattr__(self, "B", matrix)
        self._hold(dag, matrix[dag.links.source, dag.links.target], omega, intercept)

    def _hold(self, dag: Dag, weights: Array, omega: ArrayLike, intercept: ArrayLike) -> None:
        p = len(dag.nodes)
        variances = _frozen(omega, "omega", p)
        if variances.min() <= 0:
            j = int(np.argmin(variances))
            raise errors.DataError(
                f"The error variance of {shown(dag.nodes[j])} is {variances[j]:g}; it must be positive."
            )
        for field, value in {
            "weights": _frozen(weights, "weights"),
            "omega": variances,
            "intercept": _frozen(intercept, "intercept", p),
            "names": dag.nodes,
            "dag": dag,
        }.items():
            object.__setattr__(self, field, value)

    @classmethod
    def of(cls, dag: Dag, weights: ArrayLike, omega: ArrayLike = 1.0, intercept: ArrayLike = 0.0) -> LinearSEM:
        """Return the model of a graph, with one weight for every arrow, in the order of `dag.links`; an arrow of weight 0 is none."""
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != (len(dag.links),):
            raise errors.DataError(
                f"weights has shape {values.shape}; the graph has {counted(len(dag.links), 'arrow')}, so it needs ({len(dag.links)},)."
            )
        present = values != 0
        if not present.all():
            dag, values = Dag.known(dag.nodes, dag.links.where(present)), values[present]
        sem = object.__new__(cls)
        sem._hold(dag, values, omega, intercept)
        return sem

    @classmethod
    def from_edges(
        cls,
        names: Sequence[str],
        edges: Mapping[tuple[str, str], float],
        omega: ArrayLike = 1.0,
        intercept: ArrayLike = 0.0,
    ) -> LinearSEM:
        """Return the model with the weights `edges[source, target]`, and no other arrows."""
        nodes = checked_nodes(names)
        known = frozenset(nodes)
        given: dict[Edge, float] = {}
        wanted = "edges: give a mapping from (source, target) to the weight, such as {('a', 'b'): 0.5}."
        if not isinstance(edges, Mapping):
            raise errors.GraphError(wanted)
        for edge, weight in edges.items():
            ends = as_list(edge, wanted, errors.GraphError)
            if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
                raise errors.GraphError(wanted)
            source, target = ends
            if source not in known or target not in known:
                raise errors.GraphError(
                    f"The edge {shown(str(source))} → {shown(str(target))} has an end that is not among the names."
                )
            given[source, target] = as_number(weight)
            if not np.isfinite(given[source, target]):
                raise errors.NonFiniteError(
                    f"The weight of {shown(source)} → {shown(target)} is {short(weight)}; every weight must be a number."
                )
        if not nodes:
            raise errors.DataError("A model needs at least one variable.")
        dag = Dag.from_edges(nodes, [edge for edge, weight in given.items() if weight])
        return cls.of(dag, [given[edge] for edge in dag.directed], omega, intercept)

    @cached_property
    def B(self) -> Array:
        """The weight of i → j at [i, j], a p × p matrix; `weights` and `dag` have the same without the zeros."""
        return self._matrix(np.arange(len(self.names)))

    @property
    def edges(self) -> dict[Edge, float]:
        """The weight of every (source, target), as `from_edges` takes it."""
        return dict(zip(self.dag.directed, self.weights.tolist(), strict=True))

    def _matrix(self, order: Sequence[int] | NDArray[np.intp]) -> Array:
        """B with its rows and columns in another order."""
        position = np.argsort(order)
        matrix = np.zeros((len(position), len(position)))
        matrix[position[self.dag.links.source], position[self.dag.links.target]] = self.weights
        matrix.flags.writeable = False
        return matrix

    def by_parents(self, X: Array) -> Array:
        """X @ B: the part of every value that comes from its parents, for rows of values of all variables."""
        links, p = self.dag.links, len(self.names)
        if len(links) * ARROW_COST > p * p:
            return np.asarray(X @ self.B)
        given = np.zeros(X.shape[::-1])
        columns = np.ascontiguousarray(X.T)
        for at, i, j in zip(range(len(links)), links.source.tolist(), links.target.tolist(), strict=True):
            given[j] += self.weights[at] * columns[i]
        return np.ascontiguousarray(given.T)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order of the columns, the same for the same graph."""
        return topological_order(self.dag.links)

    def last_steps(self, source: str, target: str) -> dict[str, float]:
        """Split a total effect by the last step of its paths, largest first: the direct part has the source's name, the others that of
        the parent of the target that they pass last. They add up to the total effect."""
        a, b = self.names.index(source), self.names.index(target)
        total = self.total_effects()[a]
        total[a] = 1.0
        parts = {name: float(total[j] * self.B[j, b]) for j, name in enumerate(self.names) if total[j] and self.B[j, b]}
        return dict(sorted(parts.items(), key=lambda part: -abs(part[1])))

    def total_effects(self) -> Array:
        r"""$(I - B)^{-1} - I$; entry (i, j) sums over the paths i → … → j the products of their weights.

        In causal order I − B is triangular with a unit diagonal. That of the inverse is left out, so nothing
        is subtracted from it.
        """
        causal = np.ix_(self.order, self.order)
        inverse, _ = lapack.dtrtri(np.asfortranarray(-self._matrix(self.order)), lower=0, unitdiag=1)
        effects = np.empty_like(inverse)
        effects[causal] = inverse
        np.fill_diagonal(effects, 0.0)
        return representable(effects, "The total effects")

    def covariance(self) -> Array:
        r"""$T^\top \operatorname{diag}(\omega)\, T$ with $T = (I - B)^{-1}$."""
        root = np.sqrt(self.omega)[:, None] * (self.total_effects() + np.eye(len(self.names)))
        with np.errstate(over="ignore", invalid="ignore"):
            return representable(root.T @ root, "The covariances")

    def precision(self) -> Array:
        r"""Return the inverse of the covariance, $(I - B) \operatorname{diag}(1/\omega)\, (I - B)^\top$."""
        root = (np.eye(len(self.names)) - self._matrix(range(len(self.names)))) / np.sqrt(self.omega)
        precision: Array = root @ root.T
        return precision

    def mean(self) -> Array:
        r"""$\text{intercept}\,(I - B)^{-1}$."""
        mean: Array = self._propagate(self.intercept[None, :])[0]
        return mean

    def sample(self, n: int, seed: Seed = None, *, progress: Callable[[str], None] | None = None) -> Array:
        """n independent rows, (n, p): normal errors, then every variable from its parents, causes first.

        progress: called now and then with a short text on the progress.
        """
        if not is_whole(n, 1):
            raise errors.SettingError(f"n={short(n)}: draw at least one row.")
        check_function("progress", progress)
        random = np.random.default_rng(checked_seed(seed))
        try:
            X = np.empty((n, len(self.names)))
        except (MemoryError, ValueError) as error:
            raise errors.SettingError(f"n={n}: so many rows do not fit in memory: draw fewer.") from error
        rows = 64 * max(1, DRAWN_NUMBERS // 64 // max(len(self.names), 1))
        for start in range(0, n, rows):
            E = random.standard_normal(out=X[start : start + rows])
            E *= np.sqrt(self.omega)
            E += self.intercept
            E[:] = self._propagate(E)
            if progress is not None:
                done = start + len(E)
                progress(News(f"{done:,} of {counted(n, 'row')} drawn", done / n))
        return X

    def log_likelihood(self, data: Moments | ArrayLike) -> float:
        r"""$\sum_j -\frac n2 \log(2\pi\omega_j) - \mathrm{RSS}_j / (2\omega_j)$, of all rows together.

        $\mathrm{RSS}_j$ is the sum of squares of column j of $x - xB - \text{intercept}$ over the rows x.
        From moments it is the squared length of column j of $R(I - B)$ plus n times the square of the mean's
        error: no covariance matrix is formed or inverted.
        """
        if isinstance(data, Moments):
            if data.names != self.names:
                raise errors.ColumnError("The moments and the model must have the same names in the same order.")
            n = data.n
            shift = data.mean - self.by_parents(data.mean[None, :])[0] - self.intercept
            rss = np.square(data.R - self.by_parents(data.R)).sum(axis=0) + n * np.square(shift)
        else:
            X = as_numbers(data, "data")
            if X.ndim != 2 or X.shape[1] != len(self.names):
                raise errors.DataError(
                    f"The data have shape {X.shape}; the model has {counted(len(self.names), 'column')}."
                )
            n = len(X)
            rss = np.square(X - self.by_parents(X) - self.intercept).sum(axis=0)
        return float(-0.5 * (n * np.log(2 * np.pi * self.omega) + rss / self.omega).sum())

    def to_json(self) -> str:
        """Return a JSON document of names, intercept, omega and the edges with their weights, in full precision."""
        edges = [{"source": a, "target": b, "weight": weight} for (a, b), weight in self.edges.items()]
        document = {"names": self.names, "intercept": self.intercept.tolist(), "omega": self.omega.tolist()}
        return json.dumps({**document, "edges": edges}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> LinearSEM:
        """Return the model that `to_json` wrote."""
        try:
            document = json.loads(text, object_pairs_hook=distinct)
            edges = {(edge["source"], edge["target"]): float(edge["weight"]) for edge in document["edges"]}
            return cls.from_edges(document["names"], edges, document["omega"], document["intercept"])
        except errors.OrdagError:
            raise
        except (ValueError, KeyError, TypeError, RecursionError) as problem:
            raise errors.GraphFormatError(
                "The text is not a model as LinearSEM.to_json writes it, with names, intercept, omega, and "
                f"edges that have a source, a target and a weight ({problem!r})."
            ) from problem

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearSEM):
            return NotImplemented
        return (
            self.names == other.names
            and self.dag.links.same(other.dag.links)
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.omega, other.omega)
            and np.array_equal(self.intercept, other.intercept)
        )

    def __hash__(self) -> int:
        return hash((self.names, tuple(self.omega.tolist())))

    def __reduce__(self) -> tuple[Any, ...]:
        # unpickled arrays can be written to; a model made anew is locked
        return LinearSEM.of, (self.dag, self.weights, self.omega, self.intercept)

    def _repr_html_(self) -> str:
        p, order = len(self.names), self.order
        links = self.dag.links
        arrows = ((i, at) for i in order for at in range(links.starts[i], links.starts[i + 1]))
        weights = (
            [arrow(self.names[i], self.names[links.target[at]]), number(float(self.weights[at]))] for i, at in arrows
        )
        variances = (
            [isolated(self.names[j]), number(float(self.omega[j])), number(float(self.intercept[j]))] for j in order
        )
        return card(
            f"LinearSEM: {counted(p, 'variable')}, {counted(self.dag.edge_count, 'arrow')}",
            figure(graph_svg(self.names, lambda: self.dag.adjacency, self._strokes)),
            table(["arrow", "weight"], weights, total=self.dag.edge_count, where=": see .B"),
            table(["variable", "error variance", "intercept"], variances, total=p, where=": see .omega and .intercept"),
        )

    def _strokes(self) -> list[Stroke]:
        """Arrows to draw, by their weights in standard deviations of both ends; nan where those exceed float64."""
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                sd = np.sqrt(self.covariance().diagonal())
            except errors.OrdagError:
                sd = np.full(len(self.names), np.nan)
            source, target = self.dag.links.source, self.dag.links.target
            effects = self.weights * sd[source] / sd[target]
        ends = zip(source.tolist(), target.tolist(), effects.tolist(), strict=True)
        return [Stroke(i, j, effect=effect) for i, j, effect in ends]

    def __repr__(self) -> str:
        return f"LinearSEM({counted(len(self.names), 'variable')}, {counted(self.dag.edge_count, 'edge')})"

    def _propagate(self, E: Array) -> Array:
        """X with X(I − B) = E, a block of variables at a time: from the parents before it, then within it."""
        order = np.array(self.order)
        position = np.argsort(order)
        cause, effect = position[self.dag.links.source], position[self.dag.links.target]
        by_effect = np.argsort(effect)
        cause, effect, weights = cause[by_effect], effect[by_effect], self.weights[by_effect]
        Z = np.ascontiguousarray(E[:, order].T)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(order), BLOCK_VARIABLES):
                size = min(BLOCK_VARIABLES, len(order) - start)
                here = slice(*np.searchsorted(effect, [start, start + size]))
                parents, row = np.unique(cause[here], return_inverse=True)
                incoming = np.zeros((len(parents), size))
                incoming[row, effect[here] - start] = weights[here]
                within = np.zeros((size, size))
                earlier = int(np.searchsorted(parents, start))
                within[parents[earlier:] - start] = incoming[earlier:]
                known = Z[start : start + size] + incoming[:earlier].T @ Z[parents[:earlier]]
                Z[start : start + size] = solve_triangular(
                    -within, known, trans="T", unit_diagonal=True, check_finite=False
                )
        X = np.empty_like(E)
        X[:, order] = Z.T
        return representable(X, "The values of this model")


def numbered(p: int) -> tuple[str, ...]:
    """Return the default names X1, X2, …"""
    return tuple(f"X{i}" for i in range(1, p + 1))


def representable(values: Array, what: str) -> Array:
    """Return the values, or raise PrecisionError if float64 could not hold them all."""
    if not np.isfinite(values).all():
        raise errors.PrecisionError(
            f"{what} exceed the range of float64. Take smaller weights, fewer variables or a sparser graph."
        )
    return values


def _frozen(values: ArrayLike, what: str, p: int | None = None) -> Array:
    """Return a read-only copy; with p, of length p, from p numbers or one number for all."""
    array = as_numbers(values, what)
    if p is not None:
        if array.ndim == 0:
            array = np.full(p, array)
        if array.shape != (p,):
            raise errors.DataError(
                f"{what} has shape {array.shape}; B has {counted(p, 'variable')}, so it needs ({p},)."
            )
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise errors.NonFiniteError(f"{what} is not finite at {where}; every entry must be a number.")
    array.flags.writeable = False
    return array
