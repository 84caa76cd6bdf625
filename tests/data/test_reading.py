"""The settings of reading, and the remedies that an error on a table offers."""

from __future__ import annotations

import pytest

from ordag.data.reading import Reading, roles_from_text, split_at, split_reading, without
from ordag.data.sources import Upload
from ordag.data.table import Table
from ordag.errors import DataError, SettingError

ROWS = [f"{k % 4},{k % 5}" for k in range(9)]


def read(text, strict=True, **reading):
    table = Table(Upload("t.csv", text.encode()), strict=strict, **reading)
    table.moments  # noqa: B018
    return table


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("\n".join(["a,b,word", *(f"{row},x" for row in ROWS)]), [{"drop": ["word"]}]),
        ("\n".join(["a,b,same", *(f"{row},1" for row in ROWS)]), [{"drop": ["same"]}]),
        ("\n".join(["a;b", *(f"{1 + k % 4},{k % 5}00;{k % 5}" for k in range(9))]), [{"decimal": ","}, {"thousands": ","}]),
        ("\n".join(ROWS), [{"header": False}]),
    ],
)  # fmt: skip
def test_every_way_that_an_error_names_leads_to_a_table(text, readings):
    with pytest.raises(DataError) as refused:
        read(text)
    assert [one.reading for one in refused.value.remedies] == readings
    for one in refused.value.remedies:
        assert len(read(text, **one.reading).names) >= 2


def test_refused_holes_come_with_every_way_to_treat_them():
    text = "\n".join(["a,b,c", *(f"{row},{k % 3}" for k, row in enumerate(ROWS)), "1,2,"])
    with pytest.raises(DataError) as refused:
        read(text, missing="refuse")
    readings = [one.reading for one in refused.value.remedies]
    assert readings == [{"missing": "em"}, {"missing": "drop"}, {"drop": ["c"]}]
    assert [read(text, **reading).moments.rows for reading in readings] == [10, 9, 10]


def test_no_way_leaves_fewer_than_two_columns():
    assert without({"b"}, ["a", "b"]) == []
    assert [one.reading for one in without({"b"}, ["a", "b", "c"])] == [{"drop": ["b"]}]


def test_ways_are_said_in_words():
    assert split_at("\t").words == "split at tabs"
    assert split_at(";").words == "split at ;"
    assert without({"b", "d"}, list("abcd"))[0].words == "go on without b and d"


def test_settings_are_split_into_those_of_reading_and_the_others():
    given = {"alpha": 0.05, "decimal": ",", "missing": "drop"}
    assert split_reading(given) == ({"missing": "drop", "decimal": ","}, {"alpha": 0.05})
    with pytest.raises(SettingError, match=r"missing='fill' is not known: use 'auto', 'em', 'drop' or 'refuse'\."):
        Reading(missing="fill")


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ({"role": "year"}, "role='year': give a mapping from columns to roles"),
        ({"role": {"year": "varable"}}, "role of column 'year' is 'varable': give .* Did you mean 'variable'"),
        ({"na": "-"}, "na='-' is a single text: give a list, na="),
        ({"cluster": ["a", "b"]}, "cluster=.* give the name of one column"),
        ({"na": 7}, "na=7: give a list of cells"),
    ],
)
def test_settings_of_another_type_are_refused(reading, said):
    with pytest.raises(SettingError, match=said) as refused:
        Reading(**reading)
    assert list(refused.value.settings) == [name for name in reading if reading[name] != 7]


def test_roles_are_written_with_the_last_equals_sign():
    assert roles_from_text(["year=time", "a=b=id", "year=time"]) == {"year": "time", "a=b": "id"}
    for wrong in ("year", "=time", "year="):
        with pytest.raises(SettingError, match=f"role='{wrong}': write the column, =, and its role"):
            roles_from_text([wrong])
    with pytest.raises(SettingError, match="role='year=id': 'year' has a role already"):
        roles_from_text(["year=time", "year=id"])
