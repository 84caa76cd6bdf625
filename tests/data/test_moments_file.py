"""Files of moments hold what the moments hold, to the last bit; a file that is not whole is refused with a sentence."""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import ordag
from ordag import Moments
from ordag.cli import cli
from ordag.data.moments_file import START, pieces
from ordag.data.passes import Summary
from ordag.data.sources import Upload
from ordag.errors import ColumnError, DataError, OutputError, SettingError, UnreadableError

NAMES = ["a", "<b>", "\u0639\u0645\u0631", 'quote"\n', "\U0001f600", "e" * 300]


def parts(rows=600, count=3, seed=1):
    X = np.random.default_rng(seed).standard_normal((rows, len(NAMES))) @ np.triu(np.ones((len(NAMES),) * 2))
    return np.array_split(X, count)


def same(one, other):
    assert one.names == other.names
    assert (one.n, one.dropped, one.squared) == (other.n, other.dropped, other.squared)
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.R, other.R)


@settings(deadline=None)
@given(st.integers(1, 7), st.integers(0, 40), st.integers(0, 99))
def test_what_is_loaded_is_what_was_saved(tmp_path_factory, p, n, seed):
    path = tmp_path_factory.mktemp("m") / "x.moments"
    X = np.random.default_rng(seed).standard_normal((n, p)) * 10.0 ** np.arange(-40, -40 + 13 * p, 13)[:p]
    moments = Moments.scan(pd.DataFrame(X, columns=[f"c{j}" for j in range(p)]))
    moments.save(path)
    same(Moments.load(path), moments)


def test_of_covariances_and_under_names_of_all_kinds(tmp_path):
    moments = Moments.from_covariance(np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 50, names=NAMES)
    moments.save(tmp_path / "x.moments")
    same(Moments.load(tmp_path / "x.moments"), moments)
    same(Moments.from_bytes(moments.to_bytes()), moments)
    assert moments.to_bytes() == (tmp_path / "x.moments").read_bytes()
    with pytest.raises(UnreadableError, match="What was given is not a file of moments"):
        Moments.from_bytes(b"PK")
    with pytest.raises(SettingError, match=r"from_bytes: 'x\.moments' is no bytes"):
        Moments.from_bytes("x.moments")


@pytest.mark.slow
def test_files_of_parts_are_the_table(tmp_path):
    pieces = parts()
    paths = []
    for k, rows in enumerate([*pieces, np.empty((0, len(NAMES)))]):
        paths.append(tmp_path / f"{k}.moments")
        names = NAMES[::-1] if k == 1 else NAMES  # columns are matched by name
        Moments.scan(pd.DataFrame(rows, columns=NAMES)[names]).save(paths[-1])
    whole = pd.DataFrame(np.concatenate(pieces), columns=NAMES)
    fit, known = ordag.learn(paths, "cvs"), ordag.learn(whole, "cvs")
    assert fit.order == known.order
    assert fit.graph == known.graph
    np.testing.assert_allclose(fit.edges["weight"], known.edges["weight"], rtol=1e-12)
    assert Moments.load(*paths).n == len(whole)
    assert ordag.learn(str(paths[0]), "cvs").n == len(pieces[0])
    assert ordag.check(paths, method="cvs").by_level()["unchecked"]
    assert ordag.bootstrap(paths, 5, method="cvs", seed=1).kind == "wishart"


def test_every_byte_counts(tmp_path):
    path = tmp_path / "x.moments"
    Moments.scan(pd.DataFrame(parts()[0], columns=NAMES)).save(path)
    good = path.read_bytes()
    for place in range(0, len(good), 7):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(
            UnreadableError, match=r"x\.moments (is damaged|is not a file of moments|has version|is cut off)"
        ):
            Moments.load(path)
    for length in (0, 3, 8, 15, 20, 200, len(good) - 1):
        path.write_bytes(good[:length])
        with pytest.raises(UnreadableError, match=r"x\.moments is (cut off|not a file of moments|empty)"):
            Moments.load(path)
    path.write_bytes(good + b"\0")
    with pytest.raises(UnreadableError, match="is damaged"):
        Moments.load(path)


def written(path, header, numbers, version=1):
    text = json.dumps(header).encode()
    body = START.pack(b"ordag\0mo", version, len(text)) + text + np.asarray(numbers, dtype="<f8").tobytes()
    path.write_bytes(body + hashlib.sha256(body).digest())
    return path


def test_the_format_is_the_one_that_is_documented(tmp_path):
    header = {"names": ["a", "b"], "rows": 9, "dropped": 1, "squared": False}
    moments = Moments.load(written(tmp_path / "x.moments", header, [1, 2, 3, 4, 5]))
    assert (moments.n, moments.names, moments.dropped) == (9, ("a", "b"), 1)
    assert moments.mean.tolist() == [1, 2]
    assert moments.R.tolist() == [[3, 4], [0, 5]]


GOOD = {"names": ["a", "b"], "rows": 9, "dropped": 0, "squared": False}
WRONG = [
    {"names": []},
    {"names": ["a", 1]},
    {"names": 3},
    {"rows": -1},
    {"rows": 9.5},
    {"squared": 1},
]


@pytest.mark.parametrize("header", [[], {}, *(GOOD | one for one in WRONG)])
def test_a_header_that_makes_no_sense_is_refused(tmp_path, header):
    with pytest.raises(UnreadableError, match="is damaged"):
        Moments.load(written(tmp_path / "x.moments", header, [1, 2, 3, 4, 5]))


def test_a_name_that_stands_twice_is_refused(tmp_path):
    with pytest.raises(UnreadableError, match=r"x\.moments has invalid names\. .* a is repeated"):
        Moments.load(written(tmp_path / "x.moments", GOOD | {"names": ["a", "a"]}, [1, 2, 3, 4, 5]))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("place", [1, 3])
def test_numbers_that_are_none_are_refused(tmp_path, wrong, place):
    numbers = [1.0, 2.0, 3.0, 4.0, 5.0]
    numbers[place] = wrong
    with pytest.raises(UnreadableError, match=r"x\.moments holds numbers that are not finite"):
        Moments.load(written(tmp_path / "x.moments", GOOD, numbers))


def test_bytes_are_made_as_they_are_asked_for():
    names = ["a", "b", "c"]

    class Rows:
        """A root of which no row may be asked for yet."""

        def __getitem__(self, place):
            raise AssertionError("a row was asked for")

    made = pieces(Summary(tuple(names), 3, np.zeros(3), R=Rows()))
    assert next(made).startswith(b"ordag\0mo")
    assert next(made) == bytes(24)
    with pytest.raises(AssertionError, match="a row was asked for"):
        next(made)


def test_a_huge_header_is_not_believed(tmp_path):
    path = tmp_path / "x.moments"
    path.write_bytes(struct.pack("<8sII", b"ordag\0mo", 1, 2**32 - 1) + b"x" * 100)
    with pytest.raises(UnreadableError, match="is damaged"):
        Moments.load(path)
    names = [f"v{k}" for k in range(20_000)]  # would take 1.6 GB
    header = {"names": names, "rows": 1, "dropped": 0, "squared": False}
    with pytest.raises(UnreadableError, match="is cut off"):
        Moments.load(written(path, header, [1.0]))
    with pytest.raises(UnreadableError, match="version 5 of the format"):
        Moments.load(written(path, header, [1.0], version=5))


def test_refusals(tmp_path):
    Moments.scan(pd.DataFrame(parts()[0], columns=NAMES)).save(tmp_path / "a.moments")
    Moments.scan({"a": [1.0, 2.0, 4.0], "z": [2.0, 1.0, 7.0]}).save(tmp_path / "b.moments")
    with pytest.raises(ColumnError, match=r"b\.moments and .*a\.moments hold moments of different columns"):
        Moments.load(tmp_path / "a.moments", tmp_path / "b.moments")
    Moments.scan(pd.DataFrame(parts()[1], columns=NAMES)).save(tmp_path / "more.moments")
    with pytest.raises(ColumnError, match=r"b\.moments and .*a\.moments hold moments of different columns"):
        Moments.load(tmp_path / "a.moments", tmp_path / "more.moments", tmp_path / "b.moments")
    with pytest.raises(OutputError, match=r"end the name of a file of moments in \.moments"):
        Moments.load(tmp_path / "b.moments").save(tmp_path / "b.bin")
    with pytest.raises(SettingError, match="at least one file"):
        Moments.load()
    with pytest.raises(UnreadableError, match=r"no file .*c\.moments"):
        ordag.learn(str(tmp_path / "c.moments"))


def test_a_part_that_is_there_twice_is_refused(tmp_path):
    for k, rows in enumerate(parts()):
        Moments.scan(pd.DataFrame(rows, columns=NAMES)).save(tmp_path / f"{k}.moments")
    copy = tmp_path / "copy.moments"
    copy.write_bytes((tmp_path / "1.moments").read_bytes())
    files = [tmp_path / f"{k}.moments" for k in range(3)]
    for again in (tmp_path / "." / "1.moments", copy):
        with pytest.raises(
            DataError, match=r"holds the same moments as .*1\.moments, so that every row would count twice"
        ):
            ordag.learn([*files, again])


def test_chosen_columns_are_enough(tmp_path):
    """Files may differ in the others."""
    X = np.concatenate(parts())
    paths = [tmp_path / "a.moments", tmp_path / "b.moments"]
    Moments.scan(pd.DataFrame(X[:300], columns=list("abcdef"))).save(paths[0])
    Moments.scan(pd.DataFrame(X[300:, 1:], columns=list("bcdef"))).save(paths[1])
    whole = Moments.from_rows(X, list("abcdef"))
    held = [Moments.load(path) for path in paths]
    for data in (paths, held):
        found = ordag.learn(data, "cvs", columns=["d", "b"]).moments
        np.testing.assert_allclose(found.covariance(), whole.select(["d", "b"]).covariance(), rtol=1e-12)
    with pytest.raises(ColumnError, match=r"b\.moments: There is no column a"):
        ordag.learn(paths, columns=["a", "b"])
    with pytest.raises(ColumnError, match=r"Moments 2 and Moments 1 hold moments of different columns: a is in one"):
        ordag.learn(held)
    answer = run("learn", *paths, "--columns", "b,c,d", "--method", "cvs")
    assert answer.exit_code == 0, answer.output


def test_files_of_any_name_are_known_by_their_first_bytes(tmp_path):
    moments = Moments.scan(pd.DataFrame(parts()[0], columns=NAMES))
    path = tmp_path / "table.csv"
    path.write_bytes(moments.to_bytes())
    assert ordag.learn(path, "cvs").n == 200
    assert ordag.learn(Upload("table.csv", moments.to_bytes()), "cvs").n == 200


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.mark.slow
def test_on_the_command_line(tmp_path):
    pieces = parts()
    for k, rows in enumerate(pieces):
        table = pd.DataFrame(rows, columns=list("abcdef"))
        if k == 1:
            table.iloc[-1, 2] = np.nan
        table.to_csv(tmp_path / f"{k}.csv", index=False)
        done = run("moments", tmp_path / f"{k}.csv", "--missing", "drop", "--out", tmp_path / f"{k}.moments")
        assert done.exit_code == 0, done.output
        assert f"{k}.csv: {200 - (k == 1)} rows" in done.output
    files = [tmp_path / f"{k}.moments" for k in range(3)]
    answer = run("learn", *files, "--method", "cvs")
    assert "0.moments and 2 more files" in answer.output
    assert "599 rows" in answer.output
    one = run("moments", *files, "--out", tmp_path / "all.moments")
    assert "599 rows, 1 row with missing values left out" in one.output
    whole, several = (
        json.loads(run("learn", *data, "--method", "cvs", "--json").stdout)
        for data in ([tmp_path / "all.moments"], files)
    )
    assert whole["order"] == several["order"]
    assert run("compare", *files, "--methods", "cvs,pc").exit_code == 0
    assert run("effect", *files, "--from", "a", "--to", "b", "--method", "cvs").exit_code == 0
    for command in (
        ["moments", files[0], "--out", files[0]],
        ["learn", *files, "--out", files[1].with_suffix(".csv"), "x.csv"],
    ):
        refused = run(*command)
        assert refused.exit_code != 0
        assert isinstance(refused.exception, OutputError | SettingError), refused.exception
    refused = run("moments", files[0], "--separator", ";", "--out", tmp_path / "n.moments")
    assert "is not read as text" in str(refused.exception)


def test_rows_that_count_for_fewer_are_kept(tmp_path):
    made = Moments(8, np.zeros(2), ["a", "b"], R=np.eye(2), rows=10)
    made.save(tmp_path / "part.moments")
    again = Moments.load(tmp_path / "part.moments")
    assert (again.n, again.rows) == (8, 10)
    assert (again.merge(made).n, again.merge(made).rows) == (16, 20)
    assert again.select(["b"]).rows == again.scaled([1.0, 2.0]).rows == 10
