"""Experiments, environments, clusters and weights, from a table to its answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ordag
from ordag.assess.clusters import both_levels
from ordag.data.profile import Rows
from ordag.errors import CollinearError, ConstantColumnError, DataError, SettingError
from ordag.resampling.labelled import ConditionsResampler, LabelledResampler


def chain(seed=0, n=200):
    """a → b → c, b acted on in fifty rows, and a label that names no variable."""
    random = np.random.default_rng(seed)
    a = random.standard_normal(n)
    b = a + random.standard_normal(n)
    b[n // 2 : 3 * n // 4] = 3.0 * random.standard_normal(n // 4)
    c = b + random.standard_normal(n)
    what = [""] * (n // 2) + ["b"] * (n // 4) + ["bb"] * (n - n // 2 - n // 4)
    subject = [f"s{k % 20}" for k in range(n)]
    return {"a": a, "b": b, "c": c, "what": what, "subject": subject, "w": random.uniform(0.5, 2.0, n)}


def only(table, *columns):
    return {name: table[name] for name in ("a", "b", "c", *columns)}


@pytest.fixture(scope="module")
def fit():
    return ordag.learn(only(chain(), "what"), experiment="what")


def test_experiments_direct_arrows_and_the_answer_says_which(fit):
    assert sorted(zip(fit.edges.source, fit.edges.target, strict=True)) == [("a", "b"), ("b", "c")]
    assert fit.edges.reason.tolist() == ["experiment"] * 2
    assert fit.edges.conditions.tolist() == [["b"], ["b"]]
    text = str(fit)
    assert "Experiments by what: b (50 rows) and bb (50 rows); 100 rows untouched." in text
    assert "bb is no variable of this table" in text
    assert "Did you mean 'b'?" in text
    document = fit.to_dict()
    assert [(one["label"], one["rows"], one["targets"]) for one in document["conditions"]] == [
        ("", 100, []),
        ("b", 50, ["b"]),
        ("bb", 50, []),
    ]
    assert [edge["conditions"] for edge in document["edges"]] == [["b"], ["b"]]


def test_the_mean_is_that_of_all_rows_whatever_their_conditions():
    table = only(chain(), "what")  # of conditions that have not equally many
    found = ordag.Moments.scan(table, experiment="what")
    assert len({one.root.n for one in found.conditions}) > 1
    np.testing.assert_allclose(found.mean, [np.mean(table[name]) for name in found.names])


def test_without_experiments_the_same_directions_are_not_theirs():
    plain = ordag.learn(only(chain()))
    assert "experiment" not in plain.edges.reason.tolist()
    assert "conditions" not in plain.edges.columns


def test_a_variable_acted_on_in_all_rows_has_no_causes():
    table = only(chain(), "what") | {"what": ["b"] * 200}
    fit = ordag.learn(table, experiment="what")
    assert not any(target == "b" for target in fit.edges.target)
    assert any("b was acted on in (nearly) all rows" in sentence for sentence in fit.warnings)
    assert set(fit.edges.reason[fit.edges.source == "b"]) <= {"experiment", "open"}


def test_files_of_moments_and_saved_fits_keep_experiments(fit, tmp_path):
    ordag.Moments.scan(only(chain(), "what"), experiment="what").save(tmp_path / "x.moments")
    assert (
        ordag.learn(tmp_path / "x.moments", draws=0).graph
        == ordag.learn(only(chain(), "what"), experiment="what", draws=0).graph
    )
    fit.save(tmp_path / "x.ordag")
    again = ordag.load(tmp_path / "x.ordag")
    assert again.to_dict() == fit.to_dict()
    assert str(again) == str(fit)


def test_other_methods_refuse_experiments_and_take_clusters():
    with pytest.raises(DataError, match=r"ges takes all rows for every variable.*method='pooled' .* or method='cvs'"):
        ordag.learn(only(chain(), "what"), "ges", experiment="what")
    table = only(chain(), "subject")
    within = ordag.learn(table, "cvs", cluster="subject")
    assert within.n == 200 - 19
    assert "Relations within the 20 clusters of subject: 200 rows count for 181." in str(within)
    assert "Relations between the means of the 20 clusters of subject." in str(
        ordag.learn(table, "cvs", cluster="subject", clusters="between")
    )


@pytest.mark.parametrize(
    "columns",
    [{"experiment": "what"}, {"cluster": "subject"}, {"weights": "w"}, {"environment": "what", "cluster": "subject"}],
)
def test_samples_have_on_average_the_moments_of_the_table(columns):
    table = ordag.data.table.Table(only(chain(), *columns.values()), **columns)
    base, rows = table.moments, table.rows
    drawn = LabelledResampler(base, rows.values, rows.labels)
    gaussian = ConditionsResampler(base) if base.conditions else None
    for one in filter(None, (drawn, gaussian)):
        samples = [one.moments(k, np.random.SeedSequence([7, k])) for k in range(300)]
        mean = np.mean([sample.R.T @ sample.R for sample in samples], axis=0)
        scatter = base.R.T @ base.R
        units = 20 if "cluster" in columns else 50
        assert (
            np.abs(mean - scatter * (1.0 - (one is drawn and "cluster" not in columns) / units)).max()
            < 0.05 * np.abs(scatter).max()
        )
        assert {sample.n for sample in samples} == {base.n}
        assert all(
            [some.label for some in sample.conditions] == [some.label for some in base.conditions] for sample in samples
        )


def test_clusters_are_drawn_as_a_whole():
    table = ordag.data.table.Table(only(chain(), "subject"), cluster="subject")
    rows = table.rows
    own = LabelledResampler(table.moments, rows.values, rows.labels)
    counts = own._units.counts(np.random.default_rng(3))
    for code in np.unique(rows.labels.cluster):
        assert len(set(counts[rows.labels.cluster == code])) == 1
    assert counts.sum() == 200


@pytest.mark.slow
def test_a_bootstrap_of_kept_rows_is_that_of_the_table(fit):
    one = fit.bootstrap(20)
    other = ordag.bootstrap(only(chain(), "what"), 20, experiment="what", seed=0)
    assert one.kind == other.kind == "rows"
    np.testing.assert_array_equal(one.edge_support, other.edge_support)
    with pytest.raises(SettingError, match="kind='half' takes rows one by one"):
        ordag.bootstrap(only(chain(), "what"), 5, experiment="what", kind="half")
    with pytest.raises(SettingError, match="A bootstrap does not go with adjust and an experiment"):
        ordag.bootstrap(only(chain(), "what", "w"), 5, experiment="what", adjust=["w"])


def test_thinned_rows_keep_their_labels():
    labels = ordag.data.table.Table(only(chain(), "subject"), cluster="subject").rows.labels
    thinned = Rows(np.zeros((200, 3)), 1, labels).thinned(100)
    assert thinned.stride == 2
    assert (thinned.labels.cluster == labels.cluster[::2]).all()


def test_columns_that_follow_from_each_other_within_clusters_are_left_out_at_once():
    random = np.random.default_rng(5)
    site = np.repeat([f"s{k}" for k in range(20)], 10)
    X = random.normal(size=(200, 3))
    level = random.normal(size=(20, 2)).repeat(10, axis=0)
    data = pd.DataFrame(X, columns=["a", "b", "c"])
    data = data.assign(d=X[:, 0] + level[:, 0], e=X[:, 0] - 2 * X[:, 1] + level[:, 1], site=site)
    for method in ("pooled", "cvs"):
        with pytest.raises(CollinearError, match=r"Within the clusters, column . is a") as refused:
            ordag.learn(data, method, cluster="site")
        out = refused.value.way["drop"]
        assert len(out) == 2
        assert ordag.learn(data, "cvs", cluster="site", drop=out).moments.p == 3
    held = data.assign(x=level[:, 0], y=level[:, 1]).drop(columns=["site", "e"])
    with pytest.raises(CollinearError, match=r"With x and y held fixed, column . is a copy of") as refused:
        ordag.learn(held, "cvs", adjust=["x", "y"])
    assert len(refused.value.way["drop"]) == 1
    constant = data.assign(z=level[:, 0]).drop(columns=["d", "e"])
    with pytest.raises(ConstantColumnError, match="Column z never changes within the clusters of site") as refused:
        ordag.learn(constant, "cvs", cluster="site", columns=["a", "b", "c", "z"])
    assert refused.value.way == {"columns": ["a", "b", "c"]}


def levels(seed=4):
    """40 subjects of 10 rows: b falls with a within them, and rises with it between them; c follows b."""
    random = np.random.default_rng(seed)
    subject = np.repeat(np.arange(40), 10)
    level = random.standard_normal(40)[subject]
    a = 2.0 * level + random.standard_normal(400)
    b = -0.8 * a + 4.0 * level + random.standard_normal(400)
    return {"a": a, "b": b, "c": b + random.standard_normal(400), "s": [f"s{k}" for k in subject]}


def test_both_levels_are_learned_apart_and_shown_together(tmp_path):
    table = levels()
    fit = ordag.learn(table, "cvs", cluster="s", clusters="both")
    within = ordag.learn(table, "cvs", cluster="s")
    between = ordag.learn(table, "cvs", cluster="s", clusters="between")
    assert fit.graph == within.graph
    assert fit.edge_weights == within.edge_weights
    assert fit.between.graph == between.graph
    assert fit.between.edge_weights == pytest.approx(between.edge_weights)
    X = np.stack([table[name] for name in "abc"], axis=1).reshape(40, 10, 3)
    means = X.mean(axis=1)
    inside, outside = np.corrcoef((X - means[:, None]).reshape(400, 3).T), np.corrcoef(means.T)
    rows = both_levels(fit)
    assert [row[:2] for row in rows] == [("a", "b"), ("b", "c")]
    for first, second, arrow, other, r, s in rows:
        i, j = "abc".index(first), "abc".index(second)
        assert (r, s) == (f"{inside[i, j]:.2f}", f"{outside[i, j]:.2f}")
        assert arrow == f"→ {within.edge_weights[first, second]:.3g}"
        assert other == f"→ {between.edge_weights[first, second]:.3g}"
    text = " ".join(str(fit).split())
    assert "Within and between clusters" in text
    assert f"a and b correlate {inside[0, 1]:.2f} within clusters and {outside[0, 1]:.2f} between their means" in text
    assert "Say which of the two" not in text
    assert fit.to_dict()["between"]["edges"] == between.to_dict()["edges"]
    assert fit.check(draws=1)["clusters"].level == "look"
    fit.save(tmp_path / "both.ordag")
    assert str(ordag.load(tmp_path / "both.ordag")) == str(fit)
    fit.report(tmp_path / "both.html")
    assert "a and b correlate" in (tmp_path / "both.html").read_text()


def test_both_levels_of_a_class_and_of_few_or_other_clusters():
    table = levels()
    assert "—" in str(ordag.learn(table, "pc", cluster="s", clusters="both"))
    with pytest.raises(SettingError, match="clusters='both' learns from cluster means, without weights"):
        ordag.learn(table, cluster="s", clusters="both", weights="c")
    with pytest.raises(SettingError, match="clusters='both' learns from cluster means: name the column"):
        ordag.learn(table, clusters="both")
    few = {name: values[:30] for name, values in table.items()}
    with pytest.raises(DataError, match=r"Between the means of the clusters: 3 rows.*clusters='within' learns without"):
        ordag.learn(few, cluster="s", clusters="both")


def test_weights_of_nothing_and_of_too_much_are_said():
    table = only(chain())
    fit = ordag.learn({**table, "w": [0.0] * 50 + [1.0] * 150}, "cvs", weights="w")
    assert "Weighted by w; 50 rows of weight 0 left out." in str(fit)
    assert fit.rows == 150
    assert "left out" not in str(ordag.learn({**table, "w": [2.0] * 200}, "cvs", weights="w"))
    with pytest.raises(DataError, match="All rows have the weight 0"):
        ordag.learn({**table, "w": [0.0] * 200}, "cvs", weights="w")
    with pytest.raises(DataError, match=r"200 rows of positive weight count for 1, .*weights far larger"):
        ordag.learn({**table, "w": [1e9] + [1.0] * 199}, "cvs", weights="w")
    with pytest.raises(DataError, match="'w' has the weight -1: weights are numbers from 0 on"):
        ordag.learn({**table, "w": [-1.0] + [1.0] * 199}, "cvs", weights="w")


def test_one_cluster_is_refused_and_no_experiment_is_said():
    table = only(chain())
    with pytest.raises(DataError, match="All rows are of one cluster of 's': resamples draw whole clusters"):
        ordag.learn({**table, "s": ["q"] * 200}, cluster="s")
    in_time = ordag.learn({**table, "s": ["q"] * 200}, cluster="s", lags=1, draws=0)
    assert in_time.rows == 199
    assert "Experiments by what: none; 200 rows untouched." in str(
        ordag.learn({**table, "what": [""] * 200}, "cvs", experiment="what")
    )
