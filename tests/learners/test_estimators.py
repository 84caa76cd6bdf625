"""The estimators follow scikit-learn's conventions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordag import CVS, GDS, Moments, Pooled, bootstrap, learn, simulate
from ordag.errors import SettingError


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([CVS(), CVS(parents="bic", direction="backward"), CVS(parents="adaptive", min_effect=0.1)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)  # asserts inside


def test_cvs_is_learn():
    X = simulate("heterogeneous", 6, 400, 0).X
    fit = learn(X, alpha=0.02, correction="bh")
    estimator = CVS(alpha=0.02, correction="bh").fit(X)
    assert estimator.order_ == tuple(fit.ordering.order)
    np.testing.assert_array_equal(estimator.adjacency_, fit.graph.adjacency)
    np.testing.assert_allclose(estimator.weights_, fit.sem.B)
    assert clone(estimator).get_params() == estimator.get_params()


def test_names_paths_and_moments():
    frame = pd.DataFrame(simulate("4.3", n=300, seed=1).X, columns=["a", "b", "c"])
    estimator = CVS().fit(frame)
    assert list(estimator.feature_names_in_) == ["a", "b", "c"]
    assert estimator.graph_.nodes == ("a", "b", "c")
    assert CVS().fit(Moments.from_rows(frame)).graph_ == estimator.graph_
    assert next(iter(CVS(alpha=0.05).fit("marks").feature_names_in_)) == "mechanics"


def test_pipelines_and_searches():
    X = simulate("heterogeneous", 5, 300, 2).X
    assert make_pipeline(StandardScaler(), CVS()).fit(X)[-1].adjacency_.shape == (5, 5)
    assert np.isfinite(cross_val_score(CVS(), X, cv=3)).all()
    search = GridSearchCV(CVS(), {"alpha": [1e-6, 0.01]}, cv=3).fit(X)
    assert search.best_params_["alpha"] in (1e-6, 0.01)


def test_settings_are_checked_when_fitting():
    estimator = CVS(alpha=7)
    with pytest.raises(SettingError, match="alpha=7"):
        estimator.fit(np.random.default_rng(0).standard_normal((30, 3)))


def test_weights_are_worked_out_when_they_are_asked_for():
    estimator = CVS().fit(simulate("heterogeneous", 6, 400, 0).X)
    assert "refit" not in vars(estimator.fit_)
    assert not hasattr(CVS(), "weights_")
    np.testing.assert_array_equal(estimator.weights_ != 0, estimator.adjacency_)
    assert estimator.error_variances_ is estimator.fit_.sem.omega


def test_seeds_and_workers_have_the_names_that_their_users_know():
    X = simulate("er2", 5, 100, 1).X
    one, two = (Pooled(random_state=seed, draws=4).fit(X).fit_ for seed in (3, np.random.RandomState(3)))
    assert one.settings["seed"] == 3
    assert one.to_dict()["edges"] == learn(X, "pooled", seed=3, draws=4).to_dict()["edges"]
    assert two.settings["seed"] == np.random.RandomState(3).randint(2**31)
    for estimator in (Pooled, GDS):
        with pytest.raises(SettingError, match="seed is called random_state in estimators"):
            estimator(seed=1)
    for function in (learn, lambda data, **more: bootstrap(data, 2, **more)):
        with pytest.raises(SettingError, match="functions call it seed"):
            function(X, random_state=1)
        with pytest.raises(SettingError, match="functions call it workers"):
            function(X, n_jobs=1)
