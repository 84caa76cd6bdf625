"""Files of knowledge: the format there and back, and errors with their lines."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.graphs import names
from strategies.knowledge import random_entries

from ordag.errors import SettingError
from ordag.knowledge import files
from ordag.knowledge.knowledge import Knowledge

TEXT = """\
# what the survey tells
tiers: age, sex | height, weight | income   # asked in this order

required: age -> height
  age → weight, "sex" -> weight
Forbidden: income -> age
roots: sex,
sinks:
  income
  "a, b"
"""


def test_the_format(tmp_path):
    knowledge = Knowledge.from_text(TEXT)
    assert knowledge == Knowledge(
        tiers=[["age", "sex"], ["height", "weight"], ["income"]],
        required=[("age", "height"), ("age", "weight"), ("sex", "weight")],
        forbidden=[("income", "age")],
        roots=["sex"],
        sinks=["income", "a, b"],
    )
    file = tmp_path / "known.txt"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert Knowledge.read(file) == Knowledge.read(str(file)) == Knowledge.of(file) == knowledge
    assert knowledge.to_text().splitlines()[0] == "tiers: age, sex | height, weight | income"


def test_tiers_may_have_a_line_each():
    assert Knowledge.from_text("tiers:\n a, b\n c |\n d").tiers == (("a", "b"), ("c",), ("d",))


def test_names_may_hold_spaces_and_most_signs():
    knowledge = Knowledge.from_text("required: body mass (kg) -> C#2\nroots: gene#1 #no\nsinks: x-y, a>b, it's")
    assert knowledge.required == (("body mass (kg)", "C#2"),)
    assert knowledge.roots == ("gene#1",)
    assert knowledge.sinks == ("x-y", "a>b", "it's")


@given(nasty=names(size=6), seed=st.integers(0, 2**32 - 1))
def test_round_trip_with_nasty_names(nasty, seed, tmp_path_factory):
    knowledge = Knowledge(**random_entries(nasty, np.random.default_rng(seed), arrows=0.3))
    text = knowledge.to_text()
    assert Knowledge.from_text(text) == knowledge
    assert Knowledge.from_dict(knowledge.to_dict()) == knowledge
    file = tmp_path_factory.mktemp("known") / "known.txt"
    file.write_text(text, encoding="utf-8")
    assert Knowledge.read(file) == knowledge


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("roots: a\nroot: b", "known.txt, line 2: 'root' is not known: use tiers, required"),
        ("\n\na -> b", "known.txt, line 3: begin with one of tiers"),
        ('roots: a\n\nsinks: "b', "known.txt, line 3: a double quote is not closed"),
        ('roots: "\\q"', 'known.txt, line 1: "\\q" cannot be read as quoted text'),
        ("required: a\n", "known.txt, line 1: 'a' is no arrow: write source -> target"),
        ("required: a -> b -> c", "known.txt, line 1: 'a → b → c' is no arrow"),
        ("required:\n a -> b\n -> c", "known.txt, line 3: '→ c' is no arrow"),
        ("roots: a,,b", "known.txt, line 1: a name is missing"),
        ("roots: a | b", "known.txt, line 1: a name is missing, or there is more than one in 'a | b'"),
        ("tiers: a || b", "known.txt, line 1: there is a tier without names"),
        (
            "required: a -> b\nroots: c\nrequired: b -> a",
            "known.txt, lines 1 and 3: The required arrows a → b → a form",
        ),
        ("required: a -> b\n\nforbidden: a -> b", "known.txt, lines 1 and 3: a → b is both required and forbidden."),
        ("tiers: a\ntiers: b\nrequired: b -> a", "known.txt, lines 1, 2 and 3: a is in tier 1 and b in tier 2"),
        ("required: a -> b\nroots: b", "known.txt, lines 1 and 2: a → b is required, but b is a root"),
        ("tiers: a | b | a", "known.txt, line 1: a is in tier 1 and in tier 3."),
    ],
)
def test_errors_have_line_numbers(text, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known.txt").write_text(text, encoding="utf-8")
    with pytest.raises(SettingError) as error:
        Knowledge.read("known.txt")
    assert str(error.value).startswith(sentence)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SettingError, match="cannot be read: No such file"):
        Knowledge.read(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes("roots: größe".encode("latin-1"))
    with pytest.raises(SettingError, match="is not UTF-8"):
        Knowledge.read(tmp_path / "latin.txt")


def test_yaml(tmp_path):
    pytest.importorskip("yaml")
    file = tmp_path / "known.yaml"
    file.write_text(
        "tiers: [[age, sex], [income]]\nrequired:\n  - age -> income\n  - [sex, income]\nroots: sex\n", "utf-8"
    )
    assert Knowledge.read(file) == Knowledge(
        [["age", "sex"], ["income"]], [("age", "income"), ("sex", "income")], (), ["sex"]
    )
    file.write_text("roots: !!python/object/apply:os.getcwd []\n", "utf-8")
    with pytest.raises(SettingError, match="cannot be read as YAML"):
        Knowledge.read(file)


def test_yaml_without_entries_or_without_a_reader(tmp_path, monkeypatch):
    file = tmp_path / "known.YML"
    file.write_text("roots: age\nsinks:\n", encoding="utf-8")
    assert Knowledge.read(file) == Knowledge(roots=["age"])
    file.write_text("", encoding="utf-8")
    with pytest.raises(SettingError, match="holds no entries"):
        Knowledge.read(file)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(SettingError, match="PyYAML must be installed"):
        Knowledge.read(file)


BOMB = (
    "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in pairwise("abcdefghijklmnopqrst")) + "tiers: *t\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("required: a -> b\nroots: a\nrequired: b -> c", "lines 1 and 3: the key 'required' stands twice"),
        ("{roots: a, roots: b}", "line 1: the key 'roots' stands twice"),
        (BOMB, "line 2: *a stands for an earlier part"),
        ("tiers: " + "[" * 3000 + "]" * 3000, "line 1: lists are nested more than 8 deep"),
        ("roots: " + "[" * 7 + "a" + "]" * 7, "line 1: lists are nested more than 8 deep"),
        ("roots: " + "[" * 6 + "a" + "]" * 6, "There is a list as a name in roots"),
        ("roots: [[a]]", "There is a list as a name in roots"),
        ("roots: [!!int many]", "cannot be read as YAML"),
    ],
)
def test_yaml_that_would_lose_entries_or_grow_without_bound_is_refused(tmp_path, text, sentence):
    file = tmp_path / "known.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError) as error:
        Knowledge.read(file)
    assert sentence in str(error.value)


def test_names_in_yaml_are_as_written(tmp_path):
    file = tmp_path / "known.yaml"
    file.write_text("roots: [no, 007, 2024-05-01, 1e3]\n", encoding="utf-8")
    assert Knowledge.read(file).roots == ("no", "007", "2024-05-01", "1e3")


@pytest.mark.parametrize(
    ("name", "limit", "remedy"),
    [("known.txt", "LARGEST", "is it the right file?"), ("known.yaml", "LARGEST_YAML", "write it as plain text")],
)
def test_files_that_are_too_large_for_knowledge_are_refused(tmp_path, monkeypatch, name, limit, remedy):
    monkeypatch.setattr(files, limit, 2**20)
    (tmp_path / name).write_bytes(b"roots: a\n" * 2**17)
    with pytest.raises(SettingError, match=re.escape(f"is larger than 1 MB: {remedy}")):
        Knowledge.read(tmp_path / name)


def test_a_yaml_file_of_more_than_a_megabyte_is_refused_before_it_is_read(tmp_path):
    (tmp_path / "known.yaml").write_bytes(b"roots: [a]\n" + b"#" * 2**20)
    with pytest.raises(SettingError, match="is larger than 1 MB"):
        Knowledge.read(tmp_path / "known.yaml")


TETRAD = """/knowledge
addtemporal
1 age sex
2* smokes "drinks much"

3 bwt

forbiddirect
age bwt
requiredirect
sex smokes
forbiddengroup
age sex
bwt
"""


def test_knowledge_as_tetrad_writes_it():
    found = files.parsed_entries(TETRAD, "known.txt")
    assert files.entries_of(TETRAD.replace("\n", "\r\n").encode(), "known.txt") == found
    assert found["tiers"] == [("age", "sex"), ("smokes", "drinks much"), ("bwt",)]
    assert found["required"] == [("sex", "smokes")]
    assert set(found["forbidden"]) == {
        ("age", "bwt"), ("sex", "bwt"), ("smokes", "drinks much"), ("drinks much", "smokes"),
    }  # fmt: skip
    assert found["roots"] == found["sinks"] == []
    assert files.parsed_entries("// by hand\n/Knowledge\naddtemporal\n4 c\n0 a\n0 b\n", "k")["tiers"] == [
        ("a", "b"),
        ("c",),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/knowledge\na b\n", "k, line 2: expected one of addtemporal"),
        ("/knowledge\naddtemporal\nx a\n", "k, line 3: a tier begins with its number"),
        ("/knowledge\nrequiredirect\na b c\n", "k, line 3: an arrow is two names"),
        ("/knowledge\nrequiredgroup\na\nb\n", "k, line 2: groups of required arrows are not read"),
        (
            "/knowledge\nforbiddirect\na b\nrequiredirect\na b\n",
            "k, lines 3 and 5: a → b is both required and forbidden",
        ),
        ("/knowledge\naddtemporal\n1 a\n2 a\n", "a is in tier 1 and in tier 2"),
    ],
)
def test_faults_in_knowledge_of_tetrad(text, said):
    with pytest.raises(SettingError) as refused:
        files.parsed_entries(text, "k")
    assert said in str(refused.value)
