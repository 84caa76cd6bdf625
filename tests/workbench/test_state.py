"""What a page sends is a checked state, or a sentence on what is wrong with it."""

from __future__ import annotations

import json

import pytest
from asking import state
from hypothesis import given
from hypothesis import strategies as st

from ordag.common.settings import declared
from ordag.data.datasets import DATASETS
from ordag.errors import ColumnError, OrdagError, SettingError
from ordag.learners.methods import METHODS, settings_of
from ordag.workbench.state import NOT_OFFERED, RequestError, method_schemas, read_json, read_state

MARKS = DATASETS["marks"].columns

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([*MARKS, "log", "cvs", 0.05]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from(MARKS), inner, max_size=4),
    max_leaves=12,
)
parts = st.sampled_from(
    ["format", "version", "data", "method", "settings", "columns", "transform", "knowledge", "view"]
)
settings = st.sampled_from(sorted({name for one in METHODS for name in settings_of(one)}))
entries = st.sampled_from(["tiers", "required", "forbidden", "roots", "sinks"])


@pytest.mark.slow
@given(part=parts, value=anything)
def test_any_value_of_a_part_is_read_or_refused(part, value):
    _read_or_refused({**state(), part: value})


@given(name=settings, value=anything, method=st.sampled_from(["auto", *METHODS]))
def test_any_value_of_a_setting_is_read_or_refused(name, value, method):
    _read_or_refused(state(method=method, settings={name: value}))


@given(key=entries, value=anything)
def test_any_knowledge_is_read_or_refused(key, value):
    _read_or_refused(state(knowledge={key: value}))


def _read_or_refused(said):
    try:
        read_state(read_json(json.dumps(said).encode())).for_columns(MARKS)
    except OrdagError as error:
        assert str(error)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body):
    try:
        read_json(body)
    except RequestError as error:
        assert str(error).startswith("The request cannot be read")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b"{" * 50,
        b"NaN",
        b"1e999",
        b"[-Infinity]",
        b'"\\ud800"',
        b"9" * 5000,
        b"\xff\xfe",
        b"",
        b"[" * 14 + b"]" * 14,
    ],
)
def test_json_that_could_do_harm_is_refused(body):
    with pytest.raises(RequestError):
        read_json(body)


def test_what_is_said_of_columns_out_of_use_is_left_aside():
    given = state(
        columns=["algebra", "vectors", "analysis"],
        transform={"algebra": 10, "statistics": "log", "vectors": 1},
        knowledge={
            "tiers": [["statistics"], ["algebra", "mechanics"], ["vectors"]],
            "required": [["algebra", "vectors"], ["statistics", "algebra"]],
            "roots": ["mechanics"],
        },
    )
    found = read_state(given).for_columns(MARKS)
    assert found.columns == ("vectors", "algebra", "analysis")
    assert found.transform == {"algebra": 10.0}
    assert found.knowledge.to_dict() == {"tiers": [["algebra"], ["vectors"]], "required": [["algebra", "vectors"]]}


def test_all_columns_are_no_choice_of_columns():
    one = read_state(state(columns=list(reversed(MARKS)))).for_columns(MARKS)
    assert one.columns is None
    assert one.key == read_state(state()).for_columns(MARKS).key


@pytest.mark.parametrize(
    "chosen", [{"columns": ["algebar"]}, {"transform": {"algebar": 2}}, {"knowledge": {"roots": ["algebar"]}}]
)
def test_a_name_that_the_table_does_not_have_is_refused(chosen):
    with pytest.raises(ColumnError, match="Did you mean 'algebra'"):
        read_state(state(**chosen)).for_columns(MARKS)


@pytest.mark.parametrize("name", NOT_OFFERED)
def test_settings_of_the_machine_are_not_those_of_a_page(name):
    with pytest.raises(SettingError, match="is not a setting"):
        read_state(state(settings={name: "/etc/passwd"}))


@pytest.mark.parametrize(
    "knowledge", [{"required": "a -> b"}, {"roots": "algebra"}, {"tiers": ["a | b"]}, {"roots": [1]}]
)
def test_knowledge_of_a_page_is_lists_of_names(knowledge):
    with pytest.raises(RequestError, match="list of names"):
        read_state(state(knowledge=knowledge))


@pytest.mark.parametrize("part", ["settings", "transform", "knowledge"])
def test_a_part_is_left_out_or_an_object(part):
    assert read_state(state(**{part: None})).key == read_state(state()).key
    for empty in (0, "", [], False):
        with pytest.raises(RequestError, match=f"{part} is .* named entries"):
            read_state(state(**{part: empty}))


@pytest.mark.parametrize("factor", [0, True, "2", None, [1], "Log"])
def test_what_is_no_change_of_a_column_is_refused(factor):
    with pytest.raises(SettingError, match="is not a transform"):
        read_state(state(transform={"algebra": factor}))


def test_a_setting_that_is_written_as_text_is_read_as_on_the_command_line():
    found = read_state(state(method="pooled", settings={"groups": "algebra,vectors;analysis,statistics"}))
    assert [list(group) for group in found.settings["groups"]] == [["algebra", "vectors"], ["analysis", "statistics"]]
    assert read_state(state(method="ges", settings={"penalty": "2.5"})).settings == {"penalty": 2.5}


def test_every_setting_of_a_method_that_can_be_typed_has_a_control():
    for schema in method_schemas()[1:]:
        kind = METHODS[schema["name"]].settings
        typed = [name for name, known in declared(kind).items() if known.typed is not None and name not in NOT_OFFERED]
        controls = {one["name"]: one for one in schema["settings"]}
        assert set(typed) <= set(controls)
        for name, one in controls.items():
            default = kind.__dataclass_fields__[name].default
            assert one["default"] == default
            assert [choice["value"] for choice in one["choices"]] == list(declared(kind)[name].choices)
            read_state(state(method=schema["name"], settings={name: default}))
    assert {one["kind"] for schema in method_schemas() for one in schema["settings"]} == {
        "number",
        "whole",
        "choice",
        "flag",
        "text",
    }
