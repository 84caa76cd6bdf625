"""Roles of columns: by values, by names, by what the user says, in every kind of source."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordag
from ordag.data.reading import Reading
from ordag.data.relations import _made_up, relations
from ordag.data.roles import (
    PART_OF_DATE,
    REPEATED_CODES,
    ColumnRole,
    Levels,
    counts_between,
    role_of_numbers,
    role_of_text,
)
from ordag.data.set_aside import few_values_sentence, set_aside_sentence
from ordag.data.sources import open_source
from ordag.data.sources.columns import TEXT
from ordag.data.sources.csv import text_or_bad_cells
from ordag.data.table import Table
from ordag.errors import ColumnError, ColumnWarning, ConstantColumnError, CovarianceError, DataError, SettingError

N = 40
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((N, 3))


def frame(**more):
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], **more})


def role(name, values):
    return role_of_numbers(name, np.asarray(values, dtype=float)).role


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("x", np.arange(1, 13), "id"),
        ("x", np.arange(58, 73), "variable"),  # heights
        ("x", np.arange(5001, 5040), "id"),  # a later piece
        ("dose", [1, 2, 3, 4, 5], "variable"),
        ("id", [3, 3, 7, 7, 9, 9], "id"),
        ("patientId", [3, 1, 7, 2, 9, 4], "id"),
        ("no", [4, 2, 1, 3, 6, 5, 7], "id"),
        ("number", [400, 2, 31, 3, 6, 55, 7], "variable"),  # of something
        ("state", [1, 2, 3, 4, 5, 6, 7, 8, 9] * 2, "category"),
        ("Year", [1999, 2001, 1999, 2008, 2003], "time"),
        ("year", [12.0, 0.5, 3.1, 4.4, 9.0], "variable"),
        ("age_yr", [44, 51, 63, 47, 80], "variable"),
        ("Year", [1605, 1567, 1536, 150, 1530, 1578, 1563], "time"),  # one of antiquity
        ("year", [1605, 1567, 3536, 150, 1530, 1578, 1463], "variable"),
        ("date", [68.58, 67.33, 67.33, 68.0, 67.92], "time"),
        ("trade_date", [19750103, 19750110, 19750117, 19750124, 19750131], "time"),
        ("census", [1113, 1130, 1171, 1175, 2111, 2113, 2133, 2141] * 2, "category"),
        ("census", [1113, 1130, 1171, 1175, 2111, 2113, 2133, 2141, 2141], "id"),  # no groups
        ("time", 1949.0 + np.arange(30) / 12, "time"),
        ("time", [5, 9, 2, 30, 11], "variable"),
        ("time", [0, 1, 2.0199], "time"),
        ("time", [0, 1, 2.0201], "variable"),  # by more than a fiftieth of the first step
        ("Month", [5, 6, 7, 5, 6, 7, 12], "time"),
        ("months", [5, 6, 7, 5, 6, 7, 30], "variable"),
        ("k", [2.5] * 9, "constant"),
        ("k", [np.nan] * 9, "constant"),
        ("k", [2.5, np.nan, 2.5, 2.5, 2.5], "constant"),
    ],
)
def test_numbers_by_value_and_name(name, values, expected):
    assert role(name, values) == expected


def test_a_name_that_ordag_gave_says_nothing():
    assert role_of_numbers("X1", np.array([3.0, 3, 7, 9, 9]), named=False).is_variable
    assert role_of_numbers("X1", np.arange(20.0), named=False).role == "id"


@pytest.mark.parametrize(
    ("values", "few"),
    [([1, 2, 3], 3), ([0.5, 1.5, 2.25], None), ([0.5, 1.5], 2), ([1, 2, np.nan], 2), ([0.5, 1.5, np.inf], None)],
)
def test_only_two_values_or_few_whole_numbers_are_counted(values, few):
    assert role_of_numbers("z", np.tile(np.array(values, dtype=float), 20)).values == few


@pytest.mark.parametrize(
    ("levels", "role", "reason", "values"),
    [
        (Levels(3, 150, ["a"]), "category", "3 values", 3),
        (Levels(150, 150, ["a"]), "id", "text, different in every row", None),
        (Levels(2, 2, ["a"]), "category", "2 values", 2),
        (Levels(140, 150, ["a"]), "id", "text, with 140 different values in 150 rows", None),
        (Levels(140, 150, ["1.5"]), "id", "numbers written as text: convert them to learn from them", None),
        (Levels(20, 25, ["a"]), "category", "20 values", 20),
        (Levels(21, 25, ["a"]), "id", "text, with 21 different values in 25 rows", None),
        (Levels(75, 150, ["a"]), "category", "75 values", 75),
        (Levels(76, 150, ["a"]), "id", "text, with 76 different values in 150 rows", None),
        (Levels(1, 150, ["a"], 150), "constant", "the same value in every row", None),
        (Levels(1, 150, ["a"], 151), "constant", "the same value in every row that has one", None),
        (Levels(0, 0), "constant", "no value at all", None),
        (Levels(90, 150, ["2001-02-03", "1999-01-01"]), "time", "dates", 90),
        (Levels(150, 150, ["2001-02-03"]), "time", "dates", None),
    ],
)
def test_text(levels, role, reason, values):
    found = role_of_text("t", levels, whole=True)
    assert (found.role, found.reason, found.values) == (role, reason, values)


@pytest.mark.parametrize(
    ("levels", "holds", "role", "reason"),
    [
        (Levels(3, 150, ["a"]), "text", "category", "3 values or more"),
        (Levels(2, 150, ["a"]), "true or false", "category", "true or false"),
        (Levels(400, 400, ["a"], 1400), "text", "id", "text, different in every row of the first 1,400"),
        (Levels(1, 150, ["a"], 150), "text", "category", "1 value or more"),
        (Levels(0, 0), "lists", "category", "lists"),
    ],
)
def test_what_the_first_rows_say_of_text(levels, holds, role, reason):
    found = role_of_text("t", levels, holds, whole=False)
    assert (found.role, found.reason) == (role, reason)


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("x", np.arange(1, 13), "it numbers the rows"),
        ("x", np.arange(8), "it numbers the rows"),
        ("x", np.arange(7), ""),  # fewer rows may do so by chance
        ("x", np.arange(1000, 1008), "it numbers the rows"),  # of a later part of a file
        ("x", np.arange(999, 1007), ""),
        ("x", [0, 1, 2, 3, 4, 5, 6, 7, 9], ""),
        ("id", [3, 3, 7, 7, 9, 9], "codes that repeat"),
        ("patientId", [3, 1, 7, 2, 9, 4], "codes, different in every row"),
        ("no", [4, 2, 1, 3, 6, 5, 7], "codes, different in every row"),
        ("Unnamed: 0", [4, 2, 2], "row names"),
        ("time", 1949.0 + np.arange(30) / 12, "a regular counter"),
        ("date", [68.58, 67.33, 67.33, 68.0, 67.92], "dates as numbers"),
        ("Year", [1999, 2001, 1999, 2008, 2003], "years"),
        ("Month", [5, 6, 7, 5, 6, 7, 12], "part of a date"),
        ("census", [1113, 1130, 1171, 1175, 2111, 2113, 2133, 2141] * 2, "8 codes"),
        ("census", [1113, 1130, 1171, 1175, 2111, 2113, 2133, 2141, 2141], "codes, with 8 different values in 9 rows"),
        ("k", [2.5, np.nan, 2.5, 2.5, 2.5], "always 2.5"),
        ("k", [np.nan] * 4, "no value at all"),
        ("k", [1.0, 2.0, *[np.nan] * 98], "2 of 100 values present"),
    ],
)
def test_why_numbers_are_set_aside(name, values, reason):
    assert role_of_numbers(name, np.asarray(values, dtype=float)).reason == reason


@given(st.lists(st.sampled_from([-2.0, -1.0, 1.0, 3.0, 0.5]), min_size=1, max_size=4), st.sampled_from([0.0, 7.0]))
def test_a_column_that_others_make_up_is_found_with_its_relation(weights, constant):
    rows = np.random.default_rng(len(weights)).integers(0, 50, (60, 5)).astype(float)
    made = rows[:, : len(weights)] @ weights + constant
    table = [*rows.T, made]
    (found,) = relations([*"abcde", "made"], table.__getitem__, [True] * 5 + [False])
    assert found.column == 5
    assert found.terms == dict(enumerate(weights))
    assert found.constant == constant
    table[0] = table[0] + 1e-6 * np.arange(60)  # nearly is not exactly
    assert relations([*"abcde", "made"], table.__getitem__, [False] * 6) == []


@pytest.mark.parametrize(("p", "least", "weights"), [(3, 5, [1, 1]), (6, 8, [1, 1]), (2, 5, [-2]), (6, 5, [-2])])
def test_relations_are_looked_for_in_two_complete_rows_more_than_columns_and_copies_in_five(p, least, weights):
    rows = np.random.default_rng(1).standard_normal((least, p))
    rows[:, -1] = rows[:, : len(weights)] @ weights
    names = "abcdef"[:p]
    assert [one.column for one in relations(names, rows.T.__getitem__, [False] * p)] == [p - 1]
    assert relations(names, rows[1:].T.__getitem__, [False] * p) == []
    rows[0, 0] = np.nan
    assert relations(names, rows.T.__getitem__, [False] * p) == []


@pytest.mark.parametrize(
    ("weights", "constant", "words"),
    [
        ([-1.0, -1.0], 0.0, "= −a − b"),
        ([-1.0, 2.0], 0.0, "= 2 × b − a"),
        ([-1.0, -2.5], 3.0, "= 3 − a − 2.5 × b"),
        ([-1.0, -2.0], -3.0, "= −a − 2 × b − 3"),
        ([1.0], 0.0, "a copy of a"),
        ([1.0] * 4, 0.0, "= a + b + c + d"),
    ],
)
def test_relations_are_written_as_a_person_would(weights, constant, words):
    rows = np.random.default_rng(1).integers(0, 50, (60, len(weights))).astype(float)
    columns = [*rows.T, rows @ weights + constant]
    fixed = [True] * len(weights) + [False]
    assert [one.words for one in relations([*"abcd"[: len(weights)], "made"], columns.__getitem__, fixed)] == [words]


@pytest.mark.parametrize(("constant", "kept"), [(0.75, 0.0), (1.25, 1.25)])
def test_a_constant_below_the_twelfth_digit_of_the_means_is_rounding(constant, kept):
    mean = np.array([1e12, 1e12 + constant])
    assert _made_up(["a", "b"], {0: 1.0, 1: -1.0}, mean, [False] * 2).constant == kept


def test_the_sum_goes_and_its_parts_stay():
    rows = np.random.default_rng(1).integers(0, 50, (60, 2)).astype(float)
    (found,) = relations(["total", "men", "women"], [rows.sum(axis=1), *rows.T].__getitem__, [False] * 3)
    assert (found.column, found.words) == (0, "= men + women")


def test_copies_are_found_in_fewer_rows_than_columns():
    rows = np.random.default_rng(2).standard_normal((6, 8))
    (found,) = relations([*"abcdefgh", "again"], [*rows.T, 1.0 - 2.0 * rows[:, 5]].__getitem__, [False] * 9)
    assert (found.column, found.words) == (8, "= 1 − 2 × f")
    sums = [*rows[:, :3].T, rows[:, 0] + rows[:, 1]]
    assert [one.words for one in relations(["a", "b", "c", "sum"], sums.__getitem__, [False] * 4)] == ["= a + b"]
    assert relations([*"abcdefgh"], rows.T.__getitem__, [False] * 8) == []


def sources(data, tmp_path):
    """The same table in every kind of source that has names."""
    table = pa.Table.from_pandas(data, preserve_index=False)
    data.to_csv(tmp_path / "t.csv", index=False)
    data.to_parquet(tmp_path / "t.parquet")
    data.to_feather(tmp_path / "t.feather")
    yield from (data, {name: data[name].tolist() for name in data}, table, table.to_reader(max_chunksize=15))
    yield from (iter([data[:20], data[20:]]), tmp_path / "t.csv", tmp_path / "t.parquet", tmp_path / "t.feather")


def test_every_source_gives_the_same_roles(tmp_path):
    data = frame(id=np.arange(N) * 3, group=["x", "y"] * 20, half=X[:, 0] / 2, one=1.0)
    expected = ["variable"] * 3 + ["id", "category", "derived", "constant"]
    for one in sources(data, tmp_path):
        table = Table(one)
        assert [column.role for column in table.columns] == expected
        assert table.names == ("a", "b", "c")
        assert table.moments.names == ("a", "b", "c")


def test_categories_come_as_numbers_of_their_levels(tmp_path):
    data = frame(group=["x", "y", None, "x"] * 10, code=[3, 1] * 20)
    for one in sources(data, tmp_path):
        source = open_source(one, Reading(adjust=["group", "code"], category=["code"]))
        rows = np.concatenate(list(source.batches(7)))
        assert source.names == ("a", "b", "c")
        assert [list(covariate.levels) for covariate in source.covariates] == [["x", "y"], ["3", "1"]]
        assert np.array_equal(rows[:4, 3], [0, 1, np.nan, 0], equal_nan=True)
        assert rows[:3, 4].tolist() == [0, 1, 0]


def test_the_answer_says_what_was_set_aside():
    data = frame(id=range(N), group=["x", "y"] * 20)
    with pytest.warns(ColumnWarning) as said:
        fit = ordag.learn(data, "cvs")
    sentence = (
        "Set aside: id (codes, different in every row); group (2 values; adjust=['group'] holds it fixed, cause=['group'] puts it into the "
        "graph). role={'id': 'variable'} uses id all the same."
    )
    assert [(str(one.message), one.filename) for one in said] == [(sentence, __file__)]  # it points at the user's line
    assert fit.warnings[0] == sentence
    assert sentence in " ".join(str(fit).split())
    assert fit.to_dict()["columns"][3]["role"] == "id"


def test_what_the_user_says_counts():
    data = frame(id=np.arange(N) * 1.5, code=[1.0, 2, 3, 4] * 10, t=["x"] * N)
    assert Table(data, columns=["a", "id"]).names == ("a", "id")
    assert Table(data, role={"id": "variable"}, drop=["t"]).names == ("a", "b", "c", "id", "code")
    assert Table(data, category=["code"]).names == ("a", "b", "c", "id")
    assert Table(data, role={"a": "time"}, drop=["code"]).names == ("b", "c", "id")
    with pytest.raises(ColumnError, match="column 't' holds text"):
        Table(data, role={"t": "variable"})
    with pytest.raises(ColumnError, match=r"no column 'idd' \(drop\), 'cod' \(category\)\. Did you mean 'id', 'code'"):
        Table(data, drop=["idd"], category=["cod"])
    with pytest.raises(SettingError, match="drop and role both name 'a'"):
        Reading(drop=["a"], role={"a": "id"})
    with pytest.raises(SettingError, match="is 'node': give variable, id, time or category"):
        Reading(role={"a": "node"})


@pytest.mark.parametrize(
    ("said", "reason", "values"),
    [("id", "it numbers the rows", None), ("time", "", None), ("variable", "", None), ("category", "40 values", 40)],
)
def test_a_role_that_is_said_has_the_reason_that_would_have_given_it(said, reason, values):
    one = next(one for one in Table(frame(k=range(N)), role={"k": said}).columns if one.name == "k")
    assert (one.role, one.reason, one.values) == (said, reason, values)


def test_strict_refuses():
    with pytest.raises(ColumnError, match="'t' holds text"):
        Table(frame(t="x"), strict=True)
    with pytest.raises(ConstantColumnError, match="k never changes"):
        _ = Table(frame(k=1.0), strict=True).moments


@pytest.mark.filterwarnings("ignore:Set aside")
def test_what_never_changes_within_clusters_is_set_aside():
    data = frame(family=np.arange(N) // 5, father=np.repeat(np.arange(N // 5) * 1.5, 5))
    table = Table(data, cluster="family").warn()
    assert table.names == table.moments.names == ("a", "b", "c")
    role = next(one for one in table.columns if one.name == "father")
    assert (role.role, role.reason) == ("constant", "the same within each family")
    plain = Table(data.drop(columns="father"), cluster="family").moments
    np.testing.assert_allclose(abs(table.moments.R), abs(plain.R), atol=1e-12)
    assert Table(data, cluster="family", clusters="between").warn().names == ("a", "b", "c", "father")
    with pytest.raises(ConstantColumnError, match="father never changes within the clusters of family"):
        _ = Table(data, cluster="family", strict=True).warn().moments
    assert Table(data, environment="family").warn().names == ("a", "b", "c")
    with pytest.raises(DataError, match=r"only a is left\. Set aside: .*father \(the same within each family\)"):
        Table(data[["a", "family", "father"]], cluster="family").warn()


def test_a_matrix_of_correlations_is_no_table_of_rows(tmp_path):
    S = pd.DataFrame(np.corrcoef(X[:, :3], rowvar=False).round(3), columns=list("abc"), index=list("abc"))
    S.to_csv(tmp_path / "s.csv")
    for data in (S, tmp_path / "s.csv"):
        with pytest.raises(CovarianceError, match="is a matrix of correlations, not a table of rows"):
            Table(data)
    assert Table(S.assign(c=S["c"] + 0.01)).names == ("a", "b", "c")
    S.loc["a", "b"] = S.loc["b", "a"] = 1.2
    assert Table(S).names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            {"a": X[:, 0], "t": ["x"] * N},
            "column 't' holds text: only numbers can be used. Only a holds numbers, and a graph needs two",
        ),
        ({"s": ["y"] * N, "t": ["x"] * N}, "No column holds numbers, and a graph needs two variables."),
        ({"a": X[:, 0], "": X[:, 1]}, "Give it a name."),
    ],
)
def test_strict_offers_no_remedy_that_fails(data, said):
    with pytest.raises(ColumnError, match=re.escape(said)) as refused:
        Table(pd.DataFrame(data), strict=True)
    assert "columns=" not in str(refused.value)
    assert not refused.value.remedies


def test_what_only_later_rows_can_show(tmp_path):
    """The first block of a file is not all of it."""
    n = 30_000
    rows = np.random.default_rng(2).standard_normal((n, 3)).round(6)
    data = pd.DataFrame(
        {"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2], "one": 1.0, "late": 0.0, "copy": rows[:, 0]}
    )
    data.loc[n - 1, "late"] = 1.0
    data.to_csv(tmp_path / "t.csv", index=False)
    table = Table(tmp_path / "t.csv")
    assert table.names == ("a", "b", "c", "late")
    assert [one.role for one in table.columns][3:] == ["constant", "variable", "derived"]
    assert table.profile.rows.shape[1] == 4
    np.testing.assert_allclose(abs(table.moments.R), abs(Table(data[["a", "b", "c", "late"]]).moments.R), atol=1e-9)


def test_parts_keep_what_is_constant_in_them():
    assert ordag.Moments.scan(frame(site=1.0)).names == ("a", "b", "c", "site")


def test_too_few_variables_left_is_one_sentence():
    data = pd.DataFrame({"t": [f"w{k}" for k in range(N)], "Year": np.arange(1950, 1950 + N), "y": X[:, 0]})
    with pytest.raises(DataError) as refused:
        Table(data)
    assert str(refused.value) == (
        "A graph needs two variables, and only y is left. Set aside: t (text, different in every row); Year (a regular counter). "
        "To use Year all the same: role={'Year': 'variable'} (--role Year=variable)."
    )
    assert Table(data, **refused.value.remedies[0].reading).names == ("Year", "y")


def test_categories_alone_are_answered_with_what_they_can_be():
    data = pd.DataFrame({"opinion": ["agree", "disagree"] * (N // 2), "y": X[:, 0]})
    with pytest.raises(DataError, match="write ordered categories as numbers; others can be held fixed, or be causes"):
        Table(data)


def test_what_to_do_about_columns_that_were_set_aside():
    aside = [ColumnRole(name, "category", "2 values", 2, is_number=False) for name in ("site", "sex")]
    aside += [ColumnRole("Month", "time", PART_OF_DATE), ColumnRole("Day", "time", PART_OF_DATE)]
    assert set_aside_sentence(aside).endswith(
        ". adjust=['site', 'sex'] holds them fixed, cause=['site'] puts one into the graph. "
        "role={'Month': 'variable'} uses Month all the same"
    )
    aside = [
        ColumnRole("id", "id", REPEATED_CODES),
        ColumnRole("Year", "time", "years"),
        ColumnRole("code", "category", "90 codes"),
    ]
    assert set_aside_sentence(aside).endswith(
        ". cluster='id' learns within its values; time='Year' with lags=1 learns what follows what; "
        "role={'code': 'variable'} uses code all the same"
    )
    assert set_aside_sentence([ColumnRole("", "id", "row names")]) == "Set aside: row names"


def test_numbers_written_as_text_are_said_to_be_numbers():
    texts = [f"{value:.3f}" for value in X[:, 0]]
    found = Table(frame(t=texts, code=[f"{k:05d}" for k in range(N)], flag=["0", "1"] * (N // 2))).columns
    assert [one.reason for one in found[3:]] == [
        "numbers written as text: convert them to learn from them",
        "text, different in every row",
        "2 values",
    ]


def test_text_that_differs_in_the_first_rows_only(tmp_path):
    """The answer says what was looked at."""
    n = 30_000
    rows = np.random.default_rng(2).standard_normal((n, 2))
    pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "t": [f"L{k % 15_000}" for k in range(n)]}).to_csv(
        tmp_path / "t.csv", index=False
    )
    assert re.fullmatch(
        r"text, different in every row of the first [\d,]+", Table(tmp_path / "t.csv").columns[2].reason
    )


def test_few_values_are_named():
    columns = [ColumnRole("sex", "variable", values=2), ColumnRole("race", "variable", values=3)]
    assert few_values_sentence(columns).startswith("sex has two values: an arrow into it changes how often")
    assert "race has few values: declare codes without an order" in few_values_sentence(columns)
    assert few_values_sentence([]) == set_aside_sentence([]) == ""


def test_bad_cells_are_named_together(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{k % 7},{'?' if k % 9 == 4 else k * 0.7 % 5}\n" for k in range(30)))
    with pytest.raises(
        ColumnError, match=r"'b' holds '\?' in data row 5, '\?' in data row 14, '\?' in data row 23: "
    ) as refused:
        Table(path)
    assert "na=['?'] (--na '?' on the command line)" in str(refused.value)
    assert Table(path, **refused.value.remedies[0].reading, missing="drop").moments.n == 27


def test_what_counts_as_the_time_does_is_no_variable():
    year = np.arange(1921, 1921 + N)
    data = frame(year=year, Tm=year - 1931, late=np.where(year > 1950, year + 1.0, year - 1931), rate=0.25 * year)
    table = Table(data)
    assert table.names == ("a", "b", "c", "late")
    said = {one.name: (one.role, one.reason) for one in table.columns}
    assert said["Tm"] == ("derived", "= year − 1931")
    assert said["rate"] == ("derived", "= 0.25 × year")
    assert "Tm" in Table(data, role={"Tm": "variable"}).names


def test_codes_with_letters_are_no_broken_numbers(tmp_path):
    path = tmp_path / "t.csv"
    codes = [str(130 + k // 3) for k in range(27)] + ["136A", "136A", "138B"]
    path.write_text("family,a,b\n" + "".join(f"{one},{k % 7},{k * k % 11}\n" for k, one in enumerate(codes)))
    table = Table(path)
    assert table.names == ("a", "b")
    assert table.columns[0].role == "category"


@pytest.mark.parametrize(("rows", "is_code"), [(14, False), (15, True)])
def test_few_values_are_codes_if_each_has_five_rows(rows, is_code):
    values = [*(str(1 + k % 2) for k in range(rows - 1)), "n4x"]
    assert (text_or_bad_cells(values, [(rows, "n4x")]) is TEXT) == is_code


@pytest.mark.parametrize(("least", "most"), [(1e17, 1e17 + 64), (-1.7e308, 1.7e308), (0.0, 5e-324), (3.0, 3.0)])
def test_histograms_of_any_numbers(least, most):
    values = np.array([least] * 30 + [most] * 10)
    assert sum(counts_between(values, least, most)) == 40
    assert sum(counts_between(X[:, 0], X[:, 0].min(), X[:, 0].max())) == N


def offers(**columns):
    """The sentence at the head of an answer from a table with a variable and these columns."""
    rows = len(next(iter(columns.values())))
    table = {"y": np.arange(rows) % 7 + 0.5, "z": np.arange(rows) % 5 + 0.25, **columns}
    return set_aside_sentence(Table(table).columns)


FIRMS, YEARS = np.repeat(np.arange(40) * 10 + 7, 8), np.tile(np.arange(1990, 1998), 40)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"firm": FIRMS, "year": YEARS},
            "cluster='firm' learns within its values; with time='year' and lags=1 beside it",
        ),
        (
            {"state": [f"s{k}" for k in FIRMS[:72]], "year": YEARS[:72]},
            "cluster='state' learns within its values; with time='year' and lags=1 beside it",
        ),
        (
            {"species": [f"s{k % 3}" for k in FIRMS], "year": YEARS},  # more rows than years of each
            "species (3 values; adjust=['species'] holds it fixed",
        ),
        ({"subject": [f"s{k}" for k in FIRMS]}, "cluster='subject' learns within its values"),
        ({"place": [f"s{k}" for k in FIRMS]}, "cluster='place' learns within its values"),
        (
            {"group": ["a", "b"] * 160},
            "group (2 values; adjust=['group'] holds it fixed, cause=['group'] puts it into the graph)",
        ),
        ({"year": np.arange(1700, 2020)}, "time='year' with lags=1 learns what follows what"),
        ({"year": YEARS}, "what follows what, if cluster=… names the column that tells the series apart"),
    ],
)
def test_columns_that_say_what_rows_are_are_offered_by_name(columns, said):
    assert said in offers(**columns)


def test_a_column_with_names_of_variables_is_offered_as_experiment():
    targets = np.where(np.arange(N) < 20, "", np.where(np.arange(N) < 30, "a", "b; c"))
    for target in (targets, np.where(targets == "a", "a", "")):  # one label is constant for the rest
        said = set_aside_sentence(Table(frame(target=target)).columns)
        assert said.endswith("experiment='target' takes its labels for the variables that were acted on")
        assert "adjust" not in said
    assert "experiment" not in set_aside_sentence(Table(frame(target=np.where(targets == "a", "a", "else"))).columns)


def test_times_are_offered_in_each_cluster_that_is_given():
    year = ColumnRole("year", "time", "years", 8)
    said = set_aside_sentence([ColumnRole("firm", "cluster"), year])
    assert said.endswith("time='year' with lags=1 learns what follows what in each firm")


def test_times_that_repeat_within_groups_are_not_offered_beside_them():
    """38 models of cars in two years, several cars of each model in both."""
    said = offers(model=[f"m{k % 38}" for k in range(152)], year=np.arange(152) // 76 * 9 + 1999)
    assert "cluster='model' learns within its values" in said
    assert "time=" not in said


def test_what_names_subjects_is_not_offered_to_be_held_fixed_too():
    said = offers(state=[f"s{k}" for k in FIRMS[:72]], sex=["m", "f"] * 36, year=YEARS[:72])
    assert "adjust=['sex']" in said
    assert "adjust=['state'" not in said
