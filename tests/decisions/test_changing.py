"""Changed equations against regressions, and their shares against all orders."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

import ordag
from ordag import Dag
from ordag.decisions.equations import Model, shapley
from ordag.errors import CollinearError, ColumnError, GraphError, SettingError
from tests.oracles.decisions import mixed_model_moments, shapley_by_orders

CHAIN = Dag.from_edges(["x", "y", "z"], [("x", "y"), ("y", "z")])


def rows(n, seed, slope=0.8, shift=0.0, noise=1.0):
    random = np.random.default_rng(seed)
    x = random.standard_normal(n)
    y = shift + slope * x + noise * random.standard_normal(n)
    return {"x": x, "y": y, "z": -0.7 * y + random.standard_normal(n)}


@pytest.mark.parametrize(
    ("after", "parts"), [({"slope": 0.1}, ["weights"]), ({"shift": 0.6}, ["level"]), ({"noise": 2.0}, ["variance"])]
)
def test_the_changed_part_of_the_changed_equation_is_found(after, parts):
    found = ordag.changes(rows(400, 1), rows(500, 2, **after), CHAIN)
    assert found.changed_variables == ("y",)
    assert found.columns["variable"][0] == "y"
    assert found.columns["changed"][0] == parts
    assert f"1 equation of 3 differs: y ({parts[0]})." in found.sentence


def test_p_values_are_uniform_where_nothing_changed():
    found = [ordag.changes(rows(25, 2 * k), rows(40, 2 * k + 1), CHAIN).differences[1] for k in range(200)]
    for part in range(3):
        assert kstest([one[part] for one in found], "uniform").pvalue > 0.01


@pytest.mark.slow
def test_the_level_holds_its_size_where_the_error_variances_differ():
    found = [
        ordag.changes(rows(12, 2 * k, noise=3.0), rows(60, 2 * k + 1), CHAIN).differences[1].level for k in range(300)
    ]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=0.04)


def models(seed, p):
    random = np.random.default_rng(seed)
    upper = np.triu(random.normal(size=(p, p)), 1)
    other = upper + np.triu(random.normal(size=(p, p)), 1) * 0.5
    return [Model(B, random.normal(size=p), random.uniform(0.5, 2.0, p)) for B in (upper, other)]


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_shares_are_those_over_all_orders_and_add_up(p):
    first, second = models(p, p)
    found = shapley(first, second, np.random.default_rng(0))
    for k in range(2):
        expected = shapley_by_orders(
            lambda chosen, k=k: mixed_model_moments((first, second), chosen, p - 1)[k], range(p)
        )
        np.testing.assert_allclose(found[k], expected, atol=1e-10)
        ends = [mixed_model_moments((first, second), chosen, p - 1)[k] for chosen in (set(), set(range(p)))]
        assert found[k].sum() == pytest.approx(ends[1] - ends[0])


def test_shares_of_many_equations_are_sampled_and_still_add_up():
    first, second = models(3, 14)
    values = shapley(first, second, np.random.default_rng(0))
    for k in range(2):
        ends = [mixed_model_moments((first, second), chosen, 13)[k] for chosen in (set(), set(range(14)))]
        assert values[k].sum() == pytest.approx(ends[1] - ends[0])


def test_the_change_of_a_target_is_given_to_the_equation_that_changed():
    found = ordag.changes(rows(600, 1), rows(600, 2, shift=1.0), CHAIN, target="z")
    mean = found.explained["mean"]
    by_variable = dict(zip(mean["variable"], zip(mean["values"], mean["low"], mean["high"], strict=True), strict=True))
    value, low, high = by_variable["y"]
    assert low < -0.7 < high
    assert low < value < high < 0
    assert "by the equation of y" in found.sentence
    assert sum(mean["values"]) == pytest.approx(mean["after"] - mean["before"])


def test_without_a_graph_one_is_learned_within_the_tables():
    """Both tables have no arrow; mixed together their means would make one."""
    random = np.random.default_rng(5)
    first, second = (dict(zip("ab", random.standard_normal((2, 300)) + shift, strict=True)) for shift in (0.0, 5.0))
    found = ordag.changes(first, second)
    assert found.graph.edge_count == 0
    assert set(found.changed_variables) == {"a", "b"}


def dated():
    """Rows of three months, the last with another level of y; days in no order."""
    first, second, third = rows(60, 1), rows(80, 2), rows(70, 3, shift=1.0)
    table = {name: np.concatenate([one[name] for one in (first, third, second)]) for name in first}
    days = [f"2025-{month:02d}-{1 + k % 28:02d}" for month, n in ((4, 60), (6, 70), (5, 80)) for k in range(n)]
    return (first, second, third), {**table, "day": days, "group": ["a"] * 60 + ["b"] * 70 + ["c"] * 80}


@pytest.mark.parametrize(
    ("by", "values", "pair"),
    [
        ("day", ["2025-05", "2025-06"], (1, 2)),
        ("day", ["2025-04-01..2025-04-30", "2025-06"], (0, 2)),
        ("group", ["c", "b"], (1, 2)),
    ],
)
def test_values_of_a_column_are_as_two_tables(by, values, pair):
    parts, table = dated()
    found = ordag.changes(table, graph=CHAIN, by=by, values=values)
    expected = ordag.changes(parts[pair[0]], parts[pair[1]], CHAIN)
    np.testing.assert_allclose(found.corrected, expected.corrected)
    assert found.rows == expected.rows
    assert found.names == tuple(f"{by} {value}" for value in values)


def test_one_value_is_held_against_all_others_and_two_need_not_be_named():
    parts, table = dated()
    others = {name: np.concatenate([parts[0][name], parts[1][name]]) for name in parts[0]}
    found = ordag.changes(table, graph=CHAIN, by="group", values=["b"])
    np.testing.assert_allclose(found.corrected, ordag.changes(others, parts[2], CHAIN).corrected)
    assert found.names == ("group other than b", "group b")
    two = {
        **table,
        "half": np.arange(210) % 2,
        "month": [f"{day[:6]}{'1' if day < '2025-05' else '2'}-01" for day in table["day"]],
    }
    assert ordag.changes(two, graph=CHAIN, by="half").names == ("half 0", "half 1")
    assert ordag.changes(two, graph=CHAIN, by="month").names == ("month 2025-01-01", "month 2025-02-01")
    some = {name: np.array(column)[np.array(table["day"]) < "2025-06"] for name, column in table.items()}
    assert ordag.changes(some, graph=CHAIN, by="day").names == ("day 2025-04", "day 2025-05")


def test_rows_with_missing_values_that_are_left_out_are_counted():
    before, after = rows(60, 1), rows(60, 2)
    table = {name: np.concatenate([before[name], after[name]]) for name in before}
    table["x"][[3, 70]] = np.nan
    found = ordag.changes({**table, "g": np.repeat(["a", "b"], 60)}, by="g", method="cvs")
    assert found.dropped == found.to_dict()["dropped"] == 2
    assert "Left out for missing values: 2 rows." in found.notes


def test_what_never_changes_in_a_table_is_left_out():
    before, after = rows(60, 1), rows(60, 2)
    more = [{**before, "w": before["x"] ** 2}, {**after, "w": np.full(60, 3.0)}]
    found = ordag.changes(*more, method="cvs")
    assert found.left_out == ("w",)
    assert "w" not in found.graph.nodes
    assert found.notes[0] == "Left out, as one of the tables lacks them or has one value only: w."
    with pytest.raises(ColumnError, match="target='w': one of the tables lacks it"):
        ordag.changes(*more, method="cvs", target="w")
    table = {name: np.concatenate([before[name], after[name]]) for name in before}
    price = np.repeat([1.0, 1.5], 60)  # one value in each group
    by = ordag.changes({**table, "price": price, "g": np.repeat(["a", "b"], 60)}, by="g", method="cvs")
    assert by.left_out == ("price",)
    table["w"] = np.concatenate([before["x"] ** 2, np.full(60, 3.0)])
    assert ordag.changes({**table, "g": np.repeat(["a", "b"], 60)}, by="g", method="cvs").left_out == ("w",)
    with pytest.raises(CollinearError, match=r"w never changes in one of the tables: leave it out of the graph\."):
        ordag.changes({**table, "g": np.repeat(["a", "b"], 60)}, graph="x -> w", by="g")
    np.testing.assert_allclose(by.corrected, ordag.changes(before, after, method="cvs").corrected)


@pytest.mark.parametrize("written", ["{y}-{m:02d}-{d:02d}", "{d}.{m}.{y}", "{d:02d}.{m:02d}.{y}"])
def test_months_are_compared_where_every_row_has_a_day_of_its_own(written):
    table = rows(61, 5, shift=1.0)
    days = [written.format(y=2025, m=5 + k // 31, d=1 + k % 31) for k in range(61)]
    expected = ordag.changes(
        *({name: column[part] for name, column in table.items()} for part in (slice(31), slice(31, 61))), CHAIN
    )
    for values in (None, ["2025-05", "2025-06"], ["5.2025", "06.2025"], ["1.5.2025..2025-05-31", "2025-06"]):
        found = ordag.changes({**table, "day": days}, graph=CHAIN, by="day", values=values)
        assert found.rows == (31, 30)
        np.testing.assert_allclose(found.corrected, expected.corrected)


def test_a_learned_graph_is_shown_because_other_graphs_give_other_answers():
    first, second = rows(60, 1), rows(60, 2, shift=1.0)
    learned = ordag.changes(first, second, draws=0)
    assert learned.notes[0].startswith("The graph was learned from both tables: ")
    assert learned.to_dict()["learned"] is True
    assert len(ordag.changes(first, second, CHAIN).notes) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "day"}, "such as 2025-04 and 2025-06"),
        ({"by": "group"}, "or one to hold against all others"),
        ({"by": "group", "values": ["a", "x"]}, "No row has the value 'x'"),
        ({"by": "group", "values": ["a", "b", "c"]}, "give two values"),
        ({"by": "day", "values": ["2025-04", "2025-04-03"]}, "share rows"),
        ({"by": "goup"}, r"no column 'goup' \(by\). Did you mean 'group'"),
        ({"by": "group", "after": {"x": [1.0]}}, "give one table"),
        ({"values": ["a", "b"]}, "the column of one table"),
        ({}, "Give a second table"),
    ],
)
def test_bad_groups(options, message):
    with pytest.raises((ColumnError, SettingError), match=message):
        ordag.changes(dated()[1], graph=CHAIN, **options)


def test_bad_tables():
    with pytest.raises(ColumnError, match="share"):
        ordag.changes({"a": [1.0, 2, 3, 4], "b": [2.0, 1, 4, 9]}, {"c": [1.0, 2, 3, 4], "d": [2.0, 1, 4, 9]})
    with pytest.raises(GraphError, match="has no node"):
        ordag.changes(rows(30, 1), rows(30, 2), CHAIN, target="w")
    with pytest.raises(SettingError, match="level"):
        ordag.changes(rows(30, 1), rows(30, 2), CHAIN, level=0)


def test_changes_are_drawn_with_and_without_a_target():
    first, second = rows(60, 1), rows(60, 2, shift=1.0)
    shares = ordag.changes(first, second, CHAIN, target="z").plot()
    assert len(shares.child_axes) == 2
    assert next(one.get_text() for one in shares.child_axes[0].get_yticklabels()) == "y"
    parts = ordag.changes(first, second, CHAIN).plot()
    assert next(one.get_text() for one in parts.get_yticklabels()) == "y"
