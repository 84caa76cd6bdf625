"""Streams of batches give the rows of the table that they are of, whatever they come from, and say what is wrong with them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from budgets import crossed
from pyarrow import dataset, feather, ipc
from strictly import open_source

import ordag
from ordag import Moments
from ordag.data.reading import Reading
from ordag.errors import ColumnError, PrecisionError, UnreadableError

X = np.random.default_rng(3).standard_normal((500, 4)) @ np.triu(np.ones((4, 4)))
TABLE = pa.table({name: X[:, j] for j, name in enumerate("abcd")})
BATCHES = [
    *TABLE.slice(0, 120).to_batches(),
    *TABLE.slice(120, 0).to_batches(),
    *TABLE.slice(120).to_batches(max_chunksize=77),
]


def written(path, kind):
    if kind == "feather":
        feather.write_feather(TABLE, path, compression="zstd")
        return path
    make = ipc.new_stream if kind == "stream" else ipc.new_file
    with make(path, TABLE.schema) as writer:
        for batch in BATCHES:
            writer.write_batch(batch)
    return path


class Query:
    """Something that streams its rows anew whenever it is asked, as a query does."""

    def __init__(self, table):
        self.table, self.asked = table, 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked += 1
        return self.table.__arrow_c_stream__(requested_schema)


SOURCES = {
    "reader": lambda _: pa.RecordBatchReader.from_batches(TABLE.schema, BATCHES),
    "query": lambda _: Query(TABLE),
    "batches": lambda _: iter(BATCHES),
    "tables": lambda _: (TABLE.slice(k, 100) for k in range(0, 500, 100)),
    "pandas": lambda _: (TABLE.slice(k, 100).to_pandas() for k in range(0, 500, 100)),
    "polars": lambda _: (pl.from_arrow(TABLE.slice(k, 100)) for k in range(0, 500, 100)),
    "lazy": lambda _: pl.from_arrow(TABLE).lazy(),
    "feather": lambda folder: written(folder / "x.feather", "feather"),
    "file": lambda folder: str(written(folder / "x.arrow", "file")),
    "stream": lambda folder: written(folder / "x.arrows", "stream"),
    "no ending": lambda folder: written(folder / "x", "stream"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_all_rows_come_in_their_order(kind, tmp_path):
    source = open_source(SOURCES[kind](tmp_path), Reading(columns=["d", "a"]))
    assert source.names == ("d", "a")
    blocks = list(source.batches(64))
    assert [len(block) for block in blocks] == [64] * 7 + [52]
    np.testing.assert_array_equal(np.concatenate(blocks), X[:, [3, 0]])


def test_the_share_of_a_file_that_is_read_is_that_of_its_batches(tmp_path):
    source = open_source(written(tmp_path / "x.arrow", "file"))
    assert source.share(0) is None
    shares = [source.share(0) for _ in source.blocks()]
    assert shares == [pytest.approx((k + 1) / len(BATCHES)) for k in range(len(BATCHES))]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "method"), crossed(SOURCES, ["cvs", "pooled"]))
def test_what_is_learned_is_what_the_table_gives(kind, method, tmp_path):
    fit = ordag.learn(SOURCES[kind](tmp_path), method)
    known = ordag.learn(TABLE, method)
    assert fit.graph == known.graph
    assert fit.n == 500
    np.testing.assert_allclose(fit.edges["weight"], known.edges["weight"], rtol=1e-9)
    assert fit.profile is not None
    np.testing.assert_array_equal(fit.profile.rows, X)


def test_iterators_of_arrays():
    moments = Moments.scan(iter([X[:100], X[100:100], X[100:]]))
    assert moments.names == ("X1", "X2", "X3", "X4")
    np.testing.assert_allclose(moments.R, Moments.from_rows(X).R, rtol=1e-10)


def test_a_query_is_asked_again_and_an_iterator_is_not():
    query = Query(TABLE)
    assert ordag.bootstrap(query, 4, method="cvs", kind="poisson", seed=1).completed == 4
    assert query.asked == 2
    for once in (iter(BATCHES), pa.RecordBatchReader.from_batches(TABLE.schema, BATCHES)):
        with pytest.raises(UnreadableError, match=r"can be read only once.*write the rows to a Parquet file"):
            ordag.bootstrap(once, 4, method="cvs", kind="poisson", seed=1)
    assert ordag.bootstrap(iter(BATCHES), 4, method="cvs", seed=1).kind == "rows"


def test_parts_that_do_not_fit_are_named():
    frame = TABLE.to_pandas()
    with pytest.raises(ColumnError, match=r"the list_iterator, part 2 has no column .*d"):
        Moments.scan(iter([frame, frame[["a", "b", "c"]]]))
    with pytest.raises(ColumnError, match=r"part 3 has 'e', which the first part has not"):
        Moments.scan(iter([frame, frame[["d", "c", "b", "a"]], frame.assign(e=1.0)]))
    with pytest.raises(UnreadableError, match=r"part 2 is an object of type str"):
        Moments.scan(iter([frame, "b"]))
    with pytest.raises(UnreadableError, match="the list_iterator is empty"):
        Moments.scan(iter([]))
    with pytest.raises(ColumnError, match=r"the list_iterator, part 1.*'t'"):
        Moments.scan(iter([pd.DataFrame({"t": ["x", "y"], "u": [1.0, 2.0]})]), strict=True)


def test_numbers_that_float64_would_round_are_refused_with_their_row():
    column = pa.array([1, 2, 2**60, 4], type=pa.int64())
    table = pa.table({"a": column, "b": pa.array([1.0, 2.0, 3.0, 5.0])})
    with pytest.raises(PrecisionError, match="in data row 3"):
        Moments.scan(Query(table), strict=True)
    with pytest.raises(ColumnError, match="the Query"):
        Moments.scan(Query(pa.table({"a": ["x"], "b": [1.0]})), strict=True)


def test_missing_values_are_missing():
    table = pa.table({"a": [1.0, None, 3.0, 4.0], "b": pa.array([1, 2, None, 4])})
    moments = Moments.scan(Query(table), missing="drop")
    assert (moments.n, moments.dropped) == (2, 2)


def test_types_of_numbers_in_a_reader():
    columns = {"a": [1.0, None], "b": pa.array([1, None], pa.uint8()), "c": pa.nulls(2), "d": [Decimal("1.5"), None]}
    (block,) = open_source(pa.table(columns).to_reader()).batches(9)
    np.testing.assert_array_equal(block, [[1, 1, np.nan, 1.5], [np.nan] * 4])


def test_damaged_cut_off_and_foreign_files(tmp_path):
    for kind, name in (("file", "x.arrow"), ("stream", "x.arrows")):
        path = written(tmp_path / name, kind)
        whole = path.read_bytes()
        for length in (8, len(whole) // 2, len(whole) - 9):
            path.write_bytes(whole[:length])
            try:
                moments = Moments.scan(path)
            except UnreadableError as error:
                assert name in str(error)
            else:
                assert kind == "stream"
                assert moments.n < 500 or length == len(whole) - 9
    (tmp_path / "y.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(UnreadableError, match=r"y\.feather is a Feather file of version 1"):
        Moments.scan(tmp_path / "y.feather")
    (tmp_path / "y.arrow").write_text("a,b\n1,2\n")
    with pytest.raises(UnreadableError, match=r"y\.arrow is not an Arrow file.*ending \.csv"):
        Moments.scan(tmp_path / "y.arrow")


def test_streams_of_one_column_and_of_none():
    with pytest.raises(UnreadableError, match="single column"):
        open_source(pa.chunked_array([[1.0, 2.0]]))
    with pytest.raises(ColumnError, match="no columns"):
        open_source(Query(pa.table({})))


@pytest.mark.slow
def test_a_relation_of_duckdb_is_asked_and_asked_again():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        relation = connection.from_arrow(TABLE).project("d, a + 1 as e, b")
        np.testing.assert_array_equal(np.concatenate(list(open_source(relation).batches(64)))[:, 0], X[:, 3])
        known = Moments.from_rows(np.column_stack([X[:, 3], X[:, 0] + 1, X[:, 1]]), ["d", "e", "b"])
        moments = Moments.scan(relation)
        assert moments.names == ("d", "e", "b")
        np.testing.assert_allclose(moments.R, known.R, rtol=1e-10)
        assert ordag.learn(relation, "cvs").graph == ordag.learn(known, "cvs").graph
        assert ordag.bootstrap(relation, 4, method="cvs", kind="poisson", seed=1).completed == 4
        with pytest.raises(ColumnError, match="'nobody'"):
            open_source(relation, Reading(columns=["nobody"]))


def test_a_table_and_an_expression_of_ibis_are_streams():
    ibis = pytest.importorskip("ibis")
    table = ibis.memtable(TABLE)
    assert ordag.learn(table, "cvs").graph == ordag.learn(TABLE, "cvs").graph
    asked = table.select("d", e=table.a + 1, b=table.b)
    known = Moments.from_rows(np.column_stack([X[:, 3], X[:, 0] + 1, X[:, 1]]), ["d", "e", "b"])
    np.testing.assert_allclose(Moments.scan(asked).R, known.R, rtol=1e-10)
    assert ordag.learn(asked, "cvs").graph == ordag.learn(known, "cvs").graph
    assert ordag.bootstrap(asked, 4, method="cvs", kind="poisson", seed=1).completed == 4
    with pytest.raises(ColumnError, match="'nobody'"):
        open_source(asked, Reading(columns=["nobody"]))


def test_datasets_and_scanners_of_pyarrow(tmp_path):
    table = pa.table({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 7.0], "word": ["x", "y", "z"]})
    pq.write_table(table, tmp_path / "part.parquet")
    data = dataset.dataset(tmp_path)
    for one in (data, data.scanner(columns=["a", "b"])):
        source = open_source(one, Reading(columns=["b", "a"]))
        for _ in range(2):
            assert np.concatenate(list(source.batches(2))).tolist() == [[4.0, 1.0], [5.0, 2.0], [7.0, 3.0]]


@pytest.mark.parametrize("name", ["x.arrow", "x.arrows", "x.feather"])
def test_an_empty_file(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(UnreadableError, match=r"is empty \(0 bytes\)"):
        open_source(tmp_path / name)
