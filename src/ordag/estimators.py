"""The methods as scikit-learn estimators: settings in the constructor, a table in `fit`, results with a trailing _."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ordag.common.arrays import Array, Mask
from ordag.common.checks import checked_seed
from ordag.data.moments import Moments
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.keywords import CvsKeywords, GdsKeywords, GesKeywords, PcKeywords, PooledKeywords
from ordag.learners.methods import METHODS
from ordag.learning import learn


class GraphLearner(BaseEstimator):  # type: ignore[misc]
    """What the estimators share. After `fit`:

    fit_ is the whole answer (`ordag.Fit`), graph_ the graph, order_ the column indices with causes first,
    adjacency_[i, j] whether i → j, weights_[i, j] its weight, and error_variances_ those of the equations. The last three are
    worked out when they are first asked for.
    """

    method = ""

    def __init_subclass__(cls, **more: Any) -> None:
        """The constructor takes the settings of the method; what they call `seed` is `random_state`, as everywhere there."""
        super().__init_subclass__(**more)
        settings = METHODS[cls.method].settings
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        given = inspect.signature(settings).parameters.values()
        signature = inspect.Signature([own, *(one.replace(name=_estimators_name(one.name)) for one in given)])

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if "seed" in kwargs and "random_state" in signature.parameters:
                raise SettingError("seed is called random_state in estimators, as everywhere in scikit-learn.")
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]
        cls.__doc__ = f"{inspect.getdoc(settings)}\n\nSettings: docs/settings.md. {inspect.getdoc(GraphLearner)}"

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
        settings = {field.name for field in fields(METHODS[self.method].settings)}
        given = {name: getattr(self, _estimators_name(name)) for name in settings}
        if isinstance(given.get("seed"), np.random.RandomState):
            given["seed"] = int(given["seed"].randint(2**31))
        checked_seed(given.get("seed"), "random_state")
        fit = learn(data, method=self.method, strict=True, **given)
        self.fit_: Fit = fit
        self.graph_ = fit.graph
        self.order_ = fit.column_order

    @property
    def adjacency_(self) -> Mask:
        return self.fit_.graph.adjacency

    @property
    def weights_(self) -> Array | None:
        return self.fit_.weights

    @property
    def error_variances_(self) -> Array | None:
        return None if self.fit_.sem is None else self.fit_.sem.omega

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of rows under the fitted model: higher is better, for cross-validation."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self.fit_.any_sem.log_likelihood(rows) / len(rows)


def _estimators_name(setting: str) -> str:
    return "random_state" if setting == "seed" else setting


class Pooled(GraphLearner):
    method = "pooled"

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[PooledKeywords]) -> None: ...


class CVS(GraphLearner):
    method = "cvs"

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[CvsKeywords]) -> None: ...


class PC(GraphLearner):
    method = "pc"

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[PcKeywords]) -> None: ...


class GES(GraphLearner):
    method = "ges"

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[GesKeywords]) -> None: ...


class GDS(GraphLearner):
    method = "gds"

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[GdsKeywords]) -> None: ...
