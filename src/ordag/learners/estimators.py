"""The learners as scikit-learn estimators: settings in the constructor, a table in `fit`, results with a trailing _."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ordag.checks import Seed
from ordag.data.moments import Moments
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.knowledge.knowledge import KnowledgeLike
from ordag.learners.prices import Penalty
from ordag.learning import learn
from ordag.parents.tests import Test


class GraphLearner(BaseEstimator):  # type: ignore[misc]
    """What the estimators share. After `fit`:

    fit_ is the whole answer (`ordag.Fit`), graph_ the graph, order_ the column indices with causes first,
    adjacency_[i, j] whether i → j, weights_[i, j] its weight, and error_variances_ those of the equations.
    """

    method = ""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from an array or data frame, or from anything else that `ordag.learn` takes. `y` is ignored."""
        if isinstance(X, Moments | str) or hasattr(X, "__fspath__"):
            self._learn(X)
            self.n_features_in_ = len(self.fit_.names)
            self.feature_names_in_ = np.asarray(self.fit_.names, dtype=object)
            return self
        checked = validate_data(self, X, dtype=np.float64, ensure_min_features=2, ensure_min_samples=2)
        names = getattr(self, "feature_names_in_", None)
        self._learn({str(name): checked[:, j] for j, name in enumerate(names)} if names is not None else checked)
        return self

    def _learn(self, data: Any) -> None:
        fit = learn(data, method=self.method, **self.get_params(deep=False))
        self.fit_: Fit = fit
        self.graph_ = fit.graph
        self.adjacency_ = fit.graph.adjacency
        self.order_ = fit.places
        self.weights_ = fit.weights
        self.error_variances_ = None if fit.sem is None else fit.sem.omega

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of rows under the fitted model: higher is better, for cross-validation."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self.fit_.any_sem.log_likelihood(rows) / len(rows)


class Pooled(GraphLearner):
    """Pooled error variances, searched over orders: see `ordag.learners.pooled.method.pooled` for the settings."""

    method = "pooled"

    def __init__(
        self,
        *,
        units: str | None = None,
        groups: Sequence[Sequence[str]] | None = None,
        kicks: int | None = None,
        draws: int | None = None,
        seed: Seed = 0,
        min_effect: float | None = None,
        knowledge: KnowledgeLike | None = None,
    ) -> None:
        self.units = units
        self.groups = groups
        self.kicks = kicks
        self.draws = draws
        self.seed = seed
        self.min_effect = min_effect
        self.knowledge = knowledge


class CVS(GraphLearner):
    """Conditional variance scoring (Park & Kim): see `ordag.learners.cvs.cvs` for the settings."""

    method = "cvs"

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        test: str | Test = "fisher-z",
        parents: str = "test",
        correction: str = "none",
        direction: str = "forward",
        knowledge: KnowledgeLike | None = None,
        min_effect: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.parents = parents
        self.correction = correction
        self.direction = direction
        self.knowledge = knowledge
        self.min_effect = min_effect


class PC(GraphLearner):
    """The PC algorithm: see `ordag.learners.methods.pc`. weights_ is None unless `orient_by_order` makes a Dag."""

    method = "pc"

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        test: str | Test = "fisher-z",
        colliders: str = "largest",
        max_level: int | None = None,
        orient_by_order: str | None = None,
        knowledge: KnowledgeLike | None = None,
        min_effect: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.colliders = colliders
        self.max_level = max_level
        self.orient_by_order = orient_by_order
        self.knowledge = knowledge
        self.min_effect = min_effect


class GES(GraphLearner):
    """Greedy equivalence search: see `ordag.learners.methods.ges`. weights_ as for PC."""

    method = "ges"

    def __init__(
        self,
        penalty: Penalty = 1.0,
        *,
        phases: Sequence[str] = ("forward", "backward", "turning"),
        iterate: bool = True,
        max_degree: int | None = None,
        orient_by_order: str | None = None,
        knowledge: KnowledgeLike | None = None,
        min_effect: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.phases = phases
        self.iterate = iterate
        self.max_degree = max_degree
        self.orient_by_order = orient_by_order
        self.knowledge = knowledge
        self.min_effect = min_effect


class GDS(GraphLearner):
    """Greedy DAG search with equal error variances: see `ordag.learners.methods.gds`."""

    method = "gds"

    def __init__(
        self,
        penalty: Penalty = 1.0,
        *,
        start: Dag | None = None,
        restarts: Sequence[int] | None = None,
        strategy: str = "random",
        kicks: int | None = None,
        seed: Seed = 0,
        knowledge: KnowledgeLike | None = None,
        min_effect: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.start = start
        self.restarts = restarts
        self.strategy = strategy
        self.kicks = kicks
        self.seed = seed
        self.knowledge = knowledge
        self.min_effect = min_effect
