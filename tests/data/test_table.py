"""How often a table's rows are gone through, and what is kept of them on the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from budgets import crossed

import ordag
from ordag.data import passes as passing
from ordag.data.profile import Sampler, sample_size, stride_of
from ordag.data.sources.arrays import ArraySource
from ordag.data.sources.csv import CsvSource
from ordag.data.sources.parquet import ParquetSource
from ordag.data.table import Table
from ordag.errors import ConstantColumnError, MissingValuesError, TooFewRowsError

KNOWN = {"forbidden": [("d", "a")]}
QUESTIONS = {
    "learn": lambda data: ordag.learn(data),
    **{
        f"{m} knowledge": lambda data, m=m: ordag.learn(data, m, knowledge=KNOWN)
        for m in ("pooled", "cvs", "pc", "ges", "gds")
    },
    **{f"{m} orient": lambda data, m=m: ordag.learn(data, m, orient_by_order="class") for m in ("pc", "ges")},
    "orient with knowledge": lambda data: ordag.learn(data, "pc", orient_by_order="skeleton", knowledge=KNOWN),
    "backward": lambda data: ordag.learn(data, "cvs", direction="backward"),
    "diagnose": lambda data: ordag.check(data, method="cvs", knowledge=KNOWN),
    "bootstrap rows": lambda data: ordag.bootstrap(data, 3, workers=1, seed=0),
    "bootstrap wishart": lambda data: ordag.bootstrap(data, 3, workers=1, seed=0, kind="wishart"),
    "compare": lambda data: ordag.compare(data, ["cvs", "pc"], knowledge=KNOWN),
}


@pytest.fixture
def passes(monkeypatch):
    """The passes over any rows so far."""
    begun = []
    for kind in (CsvSource, ParquetSource, ArraySource):

        def counted(source, rows, batches=kind.batches):
            begun.append(source.describe)
            return batches(source, rows)

        monkeypatch.setattr(kind, "batches", counted)
    return begun


@pytest.fixture
def frame():
    X = np.random.default_rng(0).standard_normal((200, 4))
    for j in range(1, 4):
        X[:, j] += 0.8 * X[:, j - 1]
    return pd.DataFrame(X, columns=list("abcd"))


@pytest.mark.slow
@pytest.mark.parametrize(("question", "ending"), crossed(QUESTIONS, ["csv", "parquet"]))
def test_a_file_is_read_once(question, ending, frame, passes, tmp_path):
    path = tmp_path / f"table.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    assert Table(path).names == ("a", "b", "c", "d")
    assert not passes
    QUESTIONS[question](path)
    assert len(passes) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("command", "ending"), crossed(["learn", "check", "compare", "moments"], ["csv", "parquet"]))
def test_a_command_reads_a_file_once(command, ending, frame, passes, tmp_path, run):
    path = tmp_path / f"table.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    out = ["--out", str(tmp_path / "table.moments")] if command == "moments" else ["--json"]
    assert run(command, str(path), *out)[0] == 0
    assert len(passes) == 1


@pytest.mark.slow
def test_weights_for_the_rows_of_a_file_take_a_second_pass(frame, passes, tmp_path):
    """The first gives the root that whitens them."""
    frame.to_csv(tmp_path / "table.csv", index=False)
    ordag.bootstrap(tmp_path / "table.csv", 3, workers=1, seed=0, kind="poisson")
    assert len(passes) == 2


def test_rows_in_memory_are_transformed_once_at_most(frame, passes):
    X = frame.to_numpy(copy=True)
    ordag.learn(X, "cvs")
    assert not passes
    X[:, 3] = X[:, 0] + 1e-8 * X[:, 3]
    table = Table(X)
    assert table.moments is table.qr_moments
    assert len(passes) == 1


def test_as_many_rows_are_kept_as_were_asked_for(frame, tmp_path):
    X = np.arange(200_000.0).reshape(50_000, 4) % 977.0
    pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "long.parquet")
    for keep, stride in ((0, 4), (120_000, 2), (200_000, 1)):
        table = Table(tmp_path / "long.parquet", keep=keep)
        assert table.rows.stride == stride
        np.testing.assert_array_equal(table.rows.values, X[::stride])
        np.testing.assert_array_equal(table.profile.rows, X[::4])
        assert table.profile.rows.base is None or table.profile.rows.base.size <= X[::4].size
    gaps = frame.mask(frame > 2.0)
    np.testing.assert_array_equal(Table(gaps, missing="drop").rows.values, gaps.dropna().to_numpy())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_rule_that_takes_fewer_rows_reads_them_once(ending, frame, passes, tmp_path):
    path = tmp_path / f"short.{ending}"
    frame[:5].to_csv(path, index=False) if ending == "csv" else frame[:5].to_parquet(path)
    table = Table(path)
    assert table.needing(lambda _: 3).moments.n == 5
    assert len(table.profile.rows) == len(table.rows.values) == 5
    assert len(passes) == 1
    with pytest.raises(TooFewRowsError, match="at least 8 rows"):
        table.needing(lambda p: 2 * p)


@pytest.fixture
def wide(monkeypatch):
    """Four columns count as many."""
    for module in ("table", "moments", "scatter"):
        monkeypatch.setattr(f"ordag.data.{module}.MANY_COLUMNS", 4)
    monkeypatch.setattr("ordag.data.passes.gram_rows", lambda p: 32)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_wide_file_goes_through_a_gram_matrix_in_one_pass(ending, dtype, frame, passes, tmp_path):
    path = tmp_path / f"table.{ending}"
    frame = frame.add([0.0, 10.0, -5.0, 30.0]).astype(dtype)
    getattr(frame, f"to_{ending}")(path, **({"index": False} if ending == "csv" else {}))
    table = Table(path)
    found = ordag.learn(path, "cvs", correction="bh")
    assert found.moments.scatter is not None
    assert len(passes) == (ending != "feather")
    X = np.loadtxt(path, delimiter=",", skiprows=1) if ending == "csv" else frame.to_numpy(dtype=np.float64)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(np.tril(table.gram_moments.scatter), np.tril(centred.T @ centred), rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(table.gram_moments.mean, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_array_equal(table.profile.rows, X)
    np.testing.assert_array_equal(table.rows.values, X)
    assert found.order == ordag.learn(frame, "cvs").order


@pytest.mark.usefixtures("wide")
def test_moments_of_a_wide_file_take_one_pass_too(frame, passes, tmp_path):
    path = tmp_path / "table.parquet"
    frame.mask(frame > 1.5).to_parquet(path)
    found = ordag.Moments.scan(path, missing="drop")
    assert len(passes) == 1
    complete = frame[(frame <= 1.5).all(axis=1)]
    assert (found.n, found.dropped) == (len(complete), len(frame) - len(complete))
    assert not found.squared
    np.testing.assert_allclose(found.R, ordag.Moments.from_rows(complete).R, rtol=1e-12, atol=1e-12)
    frame[:4].to_parquet(path)
    assert ordag.Moments.scan(path).n == 4


@pytest.mark.usefixtures("wide")
def test_where_the_digits_of_a_gram_matrix_do_not_suffice_a_wide_file_is_read_again(frame, passes, tmp_path):
    path = tmp_path / "table.parquet"
    near = frame.assign(d=frame["a"] + 1e-7 * frame["d"])
    near.to_parquet(path)
    found = ordag.learn(path, "cvs")
    assert len(passes) == 2
    np.testing.assert_allclose(ordag.Moments.scan(path).R, found.moments.R, rtol=1e-12)
    assert len(passes) == 4
    assert found.moments.scatter is None
    assert found.order == ordag.learn(near, "cvs").order


@pytest.mark.usefixtures("wide")
def test_rows_unlike_the_first_are_read_again(frame, passes, tmp_path):
    """The mean of the first block is far from that of all rows, and takes digits with it."""
    path = tmp_path / "table.parquet"
    frame = frame * 1e-3
    frame.iloc[:32] += 1.0
    pd.concat([frame, *[frame[32:]] * 10]).to_parquet(path)
    table = Table(path)
    assert table.gram_moments is None
    assert table.moments.n == len(table.rows.values) == 1880
    assert len(passes) == 2
    pd.concat([*[frame[32:]] * 10, frame]).to_parquet(path)
    assert Table(path).gram_moments is not None


@pytest.mark.usefixtures("wide")
def test_a_wide_file_is_checked_as_any_other(frame, tmp_path):
    path = tmp_path / "table.parquet"
    frame.mask(frame > 1.5).to_parquet(path)
    with pytest.raises(MissingValuesError, match="drop them"):
        ordag.learn(path, "cvs", missing="refuse")
    found = ordag.learn(path, "cvs", missing="drop")
    assert found.moments.dropped == int((frame > 1.5).any(axis=1).sum())
    assert found.n == 200 - found.moments.dropped
    frame.assign(a=1.0).to_parquet(path)
    with pytest.raises(ConstantColumnError, match="a never changes"):
        ordag.learn(path, "cvs", strict=True)
    frame[:0].to_parquet(path)
    with pytest.raises(TooFewRowsError):
        ordag.learn(path, "cvs")


@pytest.mark.usefixtures("wide")
def test_what_can_be_read_once_only_goes_the_exact_way(frame):
    found = ordag.learn(iter([frame[:100], frame[100:]]), "cvs")
    assert found.moments.scatter is None
    assert found.n == 200


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3, 150])
def test_too_few_rows_of_a_wide_file_are_refused_before_anything_is_computed(tmp_path, monkeypatch, rows):
    """More rows than are taken at once, too."""

    def never(*_):
        raise AssertionError("products were formed")

    monkeypatch.setattr(passing.Products, "add", never)
    monkeypatch.setattr(passing, "gram_rows", lambda p: 100)
    path = tmp_path / "wide.csv"
    numbers = [",".join(str(k * k * (row + 1) % 7) for k in range(1, 201)) for row in range(rows)]
    path.write_text("\n".join([",".join(f"c{k}" for k in range(200)), *numbers]))
    with pytest.raises(
        TooFewRowsError, match=rf"wide\.csv: {rows:,} rows and 200 variables: the tests need at least 202"
    ):
        ordag.learn(path, "pc", strict=True)


def test_a_profile_has_at_most_so_many_rows_and_at_least_two_hundred():
    assert [sample_size(p) for p in (0, 1, 13, 14, 1000, 1311, 10**6)] == [
        20_000,
        20_000,
        20_000,
        18_724,
        262,
        200,
        200,
    ]
    assert sample_size(1, 30_000) == 30_000
    assert [sample_size(1000, numbers) for numbers in (262_000, 300_000, 10**9)] == [262, 300, 10**6]


@pytest.mark.parametrize("n", [1, 99, 100, 101, 200, 201, 400, 401, 1000])
def test_a_sampler_keeps_every_row_at_its_stride(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    sampler, stride = Sampler(2, 100), stride_of(n, 100)
    for start in range(0, n, 37):
        sampler.add(X[start : start + 37])
    found = sampler.finish()
    assert stride == min(power for power in (1, 2, 4, 8, 16) if -(-n // power) <= 100)
    assert (found.stride, found.rows.tolist()) == (stride, X[::stride].tolist())
    assert (found.least.tolist(), found.most.tolist()) == (X[0].tolist(), X[-1].tolist())
