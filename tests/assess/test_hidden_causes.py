"""What is said of hidden common causes: which variables, which arrows, and by which finding and caution."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import ordag
from ordag.assess.cautions import cautions
from ordag.assess.finding import Caution
from ordag.assess.hidden_causes import (
    ADVICE,
    LOOK,
    NEARLY,
    HiddenCauses,
    hidden_causes,
    hidden_causes_finding,
    hidden_caution,
    hidden_doubts,
)
from ordag.learners.pooled.hidden_search import WORTHWHILE


def hidden_table(p, n, seed, sets):
    """Columns with nothing but a hidden cause in front of each set."""
    rng = np.random.default_rng([7, p, n, seed])
    X = rng.standard_normal((n, p))
    for one in sets:
        X[:, one] += np.outer(rng.standard_normal(n), rng.uniform(0.8, 1.2, len(one)))
    return X


@cache
def table_and_fit():
    X = hidden_table(8, 500, 0, [[0, 1, 2, 3, 4]])
    X[:, 6] += 0.8 * X[:, 5]
    return X, ordag.learn(X, draws=0)


def caused(behind, names, arrows, edges):
    mask = np.zeros((len(names), len(names)), dtype=bool)
    for i, j in arrows:
        mask[i, j] = True
    return HiddenCauses(behind, (3.0,) * len(behind), mask, names, edges)


def test_a_hidden_cause_is_named_with_the_arrows_that_it_explains():
    _, fit = table_and_fit()
    found = hidden_causes(fit)
    assert found.behind == ((0, 1, 2, 3, 4),)
    within = np.zeros((8, 8), dtype=bool)
    within[:5, :5] = True
    np.testing.assert_array_equal(found.arrows, fit.graph.adjacency & within)
    assert fit.graph.adjacency[5:, 5:].sum() == 1
    count, edges = found.arrows.sum(), fit.graph.edge_count
    assert count == edges - 1
    sentence = f"A hidden common cause of X1, X2, X3, X4 and 1 more could explain {count} of the {edges} arrows."
    assert found.sentence == sentence
    assert found.numbers["behind"] == [["X1", "X2", "X3", "X4", "X5"]]
    assert len(found.numbers["explained"]) == count
    assert found.gains[0] > 1.0


def test_it_is_a_caution_and_a_warning():
    _, fit = table_and_fit()
    caution = hidden_caution(fit)
    assert caution in cautions(fit)
    assert caution.discounted == hidden_causes(fit).arrows.sum() / fit.graph.edge_count > 0.5
    assert (caution.key, caution.sentence, caution.advice) == ("hidden_causes", hidden_causes(fit).sentence, ADVICE)
    finding = hidden_causes_finding(fit)
    assert (finding.key, finding.level) == ("hidden_causes", "warning")
    assert f"arrows (score {sum(hidden_causes(fit).gains):.3g} better)." in finding.sentence


def test_the_reason_that_takes_most_arrows_comes_first(monkeypatch):
    _, fit = table_and_fit()
    rows = Caution("influence", "One row decides.", "Check it.", "one row decides")
    monkeypatch.setattr("ordag.assess.cautions.row_cautions", lambda found, hasty: [rows])
    for share, first in ((0.6, "hidden_causes"), (0.4, "influence")):
        hidden = Caution("hidden_causes", "A hidden cause.", ADVICE, "hidden causes", share)
        monkeypatch.setattr("ordag.assess.cautions.hidden_caution", lambda found, hidden=hidden: hidden)
        assert cautions(fit)[0].key == first


def test_it_is_looked_for_once(monkeypatch):
    X, _ = table_and_fit()
    fit = ordag.learn(X, draws=0)
    first = hidden_causes(fit)
    monkeypatch.setattr("ordag.learners.pooled.result.HiddenSearch", None)
    assert hidden_causes(fit).behind == first.behind
    assert hidden_caution(fit) is not None


def test_sentences():
    names = ("a", "b", "c", "d", "e", "f\x1b")
    one = caused(((0, 1, 2, 5),), names, [(0, 1)], 9)
    assert one.sentence == "A hidden common cause of a, b, c and 'f\\x1b' could explain 1 of the 9 arrows."
    two = caused(((0, 1, 2), (2, 3, 4)), names, [(0, 1), (3, 4)], 9)
    assert two.sentence == "2 hidden common causes (a, b and c; c, d and e) could explain 2 of the 9 arrows."
    four = caused(((0, 1, 2),) * 4, names, [(0, 1)], 9)
    assert four.sentence.startswith("4 hidden common causes (a, b and c; a, b and c; a, b and c; and 1 more) could")
    every = caused((tuple(range(6)),), names, [(0, 1)], 9)
    assert every.sentence == "A hidden common cause of all 6 variables could explain 1 of the 9 arrows."
    assert "no better than the arrows" in caused((), names, [], 9).sentence


def test_a_hidden_cause_that_explains_the_table_nearly_as_well_takes_from_the_arrows(monkeypatch):
    _, fit = table_and_fit()
    models = fit.result.with_hidden
    full = hidden_doubts(fit)
    assert set(np.unique(full)) == {0.0, 1.0}
    for worse, level in ((1.0, "look"), (LOOK + 0.5, "fine")):
        short = models[0].score + worse - WORTHWHILE
        changed = [models[0], models[-1]._replace(score=short)]
        monkeypatch.setitem(vars(fit.result), "with_hidden", changed)
        np.testing.assert_allclose(hidden_doubts(fit), full * np.exp(-worse / NEARLY))
        assert hidden_causes(fit).behind == ()
        assert hidden_caution(fit) is None
        finding = hidden_causes_finding(fit)
        assert finding.level == level
        assert (level == "look") == (
            f"arrows nearly as well (score {worse - WORTHWHILE:.3g} worse)." in finding.sentence
        )


def test_without_one_nothing_is_said():
    fit = ordag.learn(ordag.simulate("erdos-renyi", 6, 300, seed=1).X, draws=0)
    assert hidden_causes(fit).behind == ()
    assert not hidden_causes(fit).arrows.any()
    assert hidden_caution(fit) is None
    assert hidden_causes_finding(fit).level == "fine"


def test_other_methods_are_held_against_factors():
    X = hidden_table(8, 400, 1, [range(8)])
    fit = ordag.learn(X, "cvs")
    assert hidden_causes(fit) is None
    assert hidden_caution(fit).sentence.startswith(
        "One hidden common cause of all columns, without any arrow, explains the table better"
    )
    assert hidden_causes_finding(fit).numbers["factors"] == 1
    three = ordag.learn(X[:, :3], "cvs")
    assert hidden_caution(three) is None
    assert hidden_causes_finding(three).level == "unchecked"


@pytest.mark.slow
def test_many_columns_of_few_hidden_causes_never_look_fine():
    for fit in (
        ordag.learn(hidden_table(12, 300, 0, [range(12)]), draws=0),
        ordag.learn(hidden_table(30, 500, 0, [range(k, k + 6) for k in range(0, 30, 6)]), draws=0),
    ):
        assert hidden_causes_finding(fit).level == "warning"
        assert hidden_causes(fit).arrows.sum() > 0.9 * fit.graph.edge_count


@pytest.mark.slow
def test_check_says_it(run):
    status, out, _ = run("check", "marks", "--alpha", "0.05")
    assert status == 0
    assert "hidden causes" in out
    assert ordag.check("marks", alpha=0.05)["hidden_causes"].level == "look"
    X, _ = table_and_fit()
    assert ordag.check(X, draws=1)["hidden_causes"].level == "warning"
