"""The order that torch finds is that of NumPy: here on the processor, where the kernels of a GPU have a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import ordag
from ordag import Moments
from ordag.data.scatter import scatter_of
from ordag.data.sources import TensorSource
from ordag.data.table import Table
from ordag.errors import CollinearError, ColumnError, SettingError, TooFewRowsError, UnreadableError
from ordag.fit import Fit
from ordag.learners.cvs import CvsSettings, cvs
from ordag.order.least_squares import gram_forward
from ordag.parents.tests import fisher_z, in_doubt, partial_correlations

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra gpu)")

from ordag.order.device_factor import DeviceFactor  # noqa: E402
from ordag.order.factor import Factor  # noqa: E402
from ordag.order.on_device import PANEL_PIVOTS, forward_on, pivot_in_place, torch_device  # noqa: E402


def moments_of(X):
    mean, scatter = scatter_of(X)
    return Moments(len(X), mean, [f"v{j}" for j in range(X.shape[1])], scatter=scatter)


def rows(p, n, seed):
    return ordag.simulate("er4" if p > 5 else "er2", p=max(p, 2), n=n, seed=seed).X[:, :p]


@pytest.mark.parametrize(
    ("p", "n"),
    [
        (1, 9),
        (2, 9),
        (5, 40),
        (60, 200),
        (PANEL_PIVOTS - 1, 700),
        (PANEL_PIVOTS, 700),
        (PANEL_PIVOTS + 1, 700),
        (600, 1000),
    ],
)
@pytest.mark.parametrize("scaled", [False, True])
def test_the_same_as_numpy(p, n, scaled):
    X = rows(p, n, seed=p)
    X = (X - X.mean(axis=0)) / X.std(axis=0) if scaled else X  # variances that tie
    moments = moments_of(X)
    before = moments.scatter.copy()
    known, found = gram_forward(moments), forward_on(moments, "cpu:0")
    assert found.order.tolist() == known.order.tolist()
    np.testing.assert_allclose(found.L, known.L, rtol=1e-9, atol=1e-9 * np.abs(known.L).max())
    np.testing.assert_allclose(found.W, known.W, rtol=1e-9, atol=1e-9 * np.abs(known.W).max())
    np.testing.assert_allclose(found.runner_up, known.runner_up, rtol=1e-9)
    np.testing.assert_allclose(found.uncertainty, known.uncertainty, rtol=1e-6)
    np.testing.assert_array_equal(moments.scatter, before)


def test_equal_columns_go_in_the_order_in_which_they_stand():
    S = torch.diag(torch.full((PANEL_PIVOTS + 40,), 3.0, dtype=torch.float64))
    assert pivot_in_place(S).order.tolist() == list(range(PANEL_PIVOTS + 40))


def test_the_factor_and_its_inverse_take_one_matrix():
    X = rows(400, 900, 3)
    S = torch.from_numpy(np.cov(X, rowvar=False))
    known, place = S.clone(), S.data_ptr()
    order = pivot_in_place(S).order
    assert S.data_ptr() == place
    ordered = known[order][:, order]
    torch.testing.assert_close(S.T @ S, ordered)
    assert not torch.tril(S, -1).any()
    both = DeviceFactor(S)
    assert both.matrix.data_ptr() == place
    L, W = both.L, both.W
    np.testing.assert_allclose(L @ L.T, ordered.numpy(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(W @ ordered.numpy() @ W.T, np.eye(400), atol=1e-8)


@pytest.mark.parametrize("p", [1, 2, 7, 40])
@pytest.mark.parametrize(("block", "slab", "numbers"), [(1024, 8192, 2**25), (5, 3, 1), (3, 8, 100)])
@pytest.mark.parametrize("whole", [False, True])
def test_triangles_on_a_device_are_those_of_the_host(p, block, slab, numbers, whole, monkeypatch):
    monkeypatch.setattr("ordag.order.device_factor.INVERSE_ROWS", block)
    monkeypatch.setattr("ordag.order.device_factor.INVERSE_COLUMNS", slab)
    monkeypatch.setattr("ordag.order.device_factor.BLOCK_NUMBERS", numbers)
    monkeypatch.setattr("ordag.common.transfer.BUFFER_NUMBERS", numbers)
    random = np.random.default_rng(p)
    L = np.tril(random.standard_normal((p, p)), -1) / 3 + np.diag(random.uniform(0.5, 2.0, p))
    known, found = Factor.of(L), DeviceFactor(torch.from_numpy(L.T.copy()))
    assert len(found) == p
    if whole:
        np.testing.assert_allclose(found.both, known.both, rtol=1e-12, atol=1e-12)
        assert found.both.flags.f_contiguous
    later, earlier = np.tril_indices(p, -1)
    for name in ("L_at", "W_at"):
        for places in ((later, earlier), (np.arange(p), np.arange(p)), (p - 1, slice(p - 1)), (p - 1, 0)):
            one, other = (getattr(factor, name)(*places) for factor in (found, known))
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    for name in ("L_columns", "W_rows"):
        for start, stop in ((0, p), (p // 2, p), (0, 1), (p - 1, p)):
            one, other = (getattr(factor, name)(start, stop) for factor in (found, known))
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
            one[:] = 0.0  # a copy
    for name in ("L_diagonal", "W_diagonal"):
        np.testing.assert_allclose(getattr(found, name), getattr(known, name), rtol=1e-12)
    columns = random.standard_normal((p, 3))
    np.testing.assert_allclose(found.times_W(columns), known.W @ columns, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.tails(earlier, later), known.tails(earlier, later), rtol=1e-12)
    scale = random.uniform(1.0, 2.0, p)
    np.testing.assert_allclose(found.condition(scale), np.abs(known.W) @ scale, rtol=1e-12)
    mixed = random.permutation(len(later))
    r = partial_correlations(known.W)
    np.testing.assert_allclose(
        found.correlations_of(later[mixed], earlier[mixed]), r[later[mixed], earlier[mixed]], rtol=1e-9, atol=1e-12
    )
    least = random.uniform(0.05, 0.4, p)
    parts = list(found.correlated(least))
    ends = np.nonzero(np.abs(r) >= least[:, None])
    for got, expected in zip(zip(*parts, strict=True), (*ends, r[ends]), strict=True):
        np.testing.assert_allclose(np.concatenate(got), expected, rtol=1e-9)
    for squared in (False, True):
        condition = 10.0 ** random.uniform(5.0, 14.0 if not squared else 7.0, p)
        near, same = (
            [
                np.concatenate(part)
                for part in zip(*in_doubt(t, 60, fisher_z, 0.1, condition, squared=squared), strict=True)
            ]
            for t in (found, known)
        )
        for got, expected in zip(near, same, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6)
        assert p < 40 or 0 < len(near[0]) < len(later)


@pytest.mark.parametrize(
    "more",
    [{"alpha": 1e-4}, {"correction": "bh"}, {"correction": "bonferroni"}, {"test": "t"}, {"test": lambda r, n, k: 1.0 - abs(r)},
     {"parents": "adaptive"}, {"parents": "bic"}],
)  # fmt: skip
def test_an_answer_whose_factor_stays_on_the_device(more, monkeypatch):
    X = rows(150, 900, 5)
    known = ordag.learn(X, "cvs", **more)
    monkeypatch.setattr("ordag.order.on_device.KEPT_FROM", 0)
    monkeypatch.setattr("ordag.parents.by_tests.MANY_PAIRS", 1000)
    fit = ordag.learn(X, device="cpu:0", **more)
    assert isinstance(fit.ordering.factor, DeviceFactor)
    assert fit.graph == known.graph
    assert_frame_equal(fit.edges, known.edges, rtol=1e-6)
    assert_frame_equal(fit.steps, known.steps, rtol=1e-6)
    assert fit.verdict.sentence == known.verdict.sentence
    assert fit.warnings == known.warnings
    whole = "both" in vars(fit.ordering.factor)
    assert whole == (fit.settings["parents"] != "test")  # nothing else takes it whole


def test_a_test_at_a_level_brings_no_matrix_to_the_host(monkeypatch):
    monkeypatch.setattr("ordag.order.on_device.KEPT_FROM", 0)
    asked = []
    monkeypatch.setattr(DeviceFactor, "W_rows", lambda *_: asked.append("W"))
    monkeypatch.setattr(DeviceFactor, "L_columns", lambda *_: asked.append("L"))
    fit = ordag.learn(rows(60, 400, 5), device="cpu:0", correction="bh")
    assert len(fit.edges)
    assert fit.verdict
    assert not asked


def test_too_few_digits_are_noticed_and_the_answer_is_that_of_the_rows():
    X = rows(40, 200, 6)
    X[:, 7] = X[:, 3] + 1e-7 * X[:, 7]
    assert gram_forward(moments_of(X)) is None
    assert forward_on(moments_of(X), "cpu:0") is None
    assert ordag.learn(X, "cvs", device="cpu:0").graph == ordag.learn(X, "cvs").graph


@pytest.mark.parametrize("more", [{}, {"correction": "bh"}, {"parents": "adaptive"}, {"missing": "drop"}])
def test_learning_gives_the_same_answer(more, tmp_path):
    X = rows(30, 300, 8)
    for data in (X, Moments.from_rows(X)):
        fit, known = ordag.learn(data, device="cpu:0", **more), ordag.learn(data, "cvs", **more)
        assert fit.method == "cvs"
        assert fit.graph == known.graph
        np.testing.assert_allclose(fit.edges["p_value"], known.edges["p_value"], rtol=1e-6, atol=1e-12)
    assert ordag.bootstrap(X, 3, device="cpu:0", seed=1).completed == 3


def test_refusals(monkeypatch):
    with pytest.raises(SettingError, match="device='nowhere' cannot be used"):
        ordag.learn("marks", device="nowhere")
    if not torch.cuda.is_available():
        with pytest.raises(SettingError, match=r"device='cuda' cannot be used.*leave device out"):
            torch_device("cuda")
    with pytest.raises(SettingError, match="name a device"):
        ordag.learn("marks", device=3)
    with pytest.raises(SettingError, match="goes with variance='least-squares' and direction='forward' only"):
        ordag.learn("marks", device="cpu:0", direction="backward")
    with pytest.raises(SettingError, match="has no partial order"):
        ordag.learn("marks", device="cpu:0", knowledge={"roots": "algebra"})
    with pytest.raises(TooFewRowsError):
        ordag.learn(np.random.default_rng(0).standard_normal((9, 12)), device="cpu:0")
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(SettingError, match=r"takes PyTorch, which is not installed: python -m pip install torch"):
        ordag.learn("marks", device="cuda")


def tensor_table(X, **more):
    """A table of a tensor as one on a GPU would be, on the processor."""
    table = Table(X, **more)
    table.source = TensorSource(table.names, len(X), "the tensor", torch.from_numpy(np.ascontiguousarray(X)))
    return table


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_scatter_of_a_tensor(dtype, monkeypatch):
    X = rows(50, 300, 9).astype(dtype) + dtype(1000.0)
    source = tensor_table(X).source
    monkeypatch.setattr("ordag.data.sources.tensors.SLAB_NUMBERS", 50 * 70)
    monkeypatch.setattr("ordag.data.sources.tensors.BLOCK_COLUMNS", 16)
    mean, scatter = source.scatter()
    known_mean, known = scatter_of(X.astype(np.float64))
    np.testing.assert_allclose(mean, known_mean, rtol=1e-14)
    np.testing.assert_allclose(np.tril(scatter), np.tril(known), rtol=1e-9, atol=1e-9)
    assert scatter.flags.f_contiguous
    np.testing.assert_array_equal(np.concatenate(list(source.batches(7))), X.astype(np.float64))


def test_a_tensor_is_learned_from_where_it_lies(monkeypatch):
    X = rows(30, 300, 8)
    asked = []
    monkeypatch.setattr(
        "ordag.learners.cvs.forward_on",
        lambda moments, name, formed: asked.append((name, formed is None)) or forward_on(moments, "cpu:0", formed),
    )
    monkeypatch.setattr(TensorSource, "device", "cpu:0")
    for settings in (CvsSettings(0.01), CvsSettings(0.01, correction="bh")):
        found, known = cvs(tensor_table(X), settings), cvs(Table(X), settings)
        assert found.graph == known.graph
    assert asked == [("cpu:0", False), ("cpu:0", False)]  # the scatter does not go there and back
    monkeypatch.setattr(TensorSource, "batches", None)  # nothing goes through all rows on the host
    table = tensor_table(X)
    fit = Fit.learned(table, CvsSettings(0.01))
    np.testing.assert_array_equal(fit.profile.rows, X)
    np.testing.assert_array_equal(fit.profile.least, X.min(axis=0))
    np.testing.assert_array_equal(table.rows.values, X)
    assert_frame_equal(fit.edges, Fit.learned(Table(X), CvsSettings(0.01)).edges, rtol=1e-6)
    monkeypatch.undo()
    assert (
        cvs(tensor_table(X), CvsSettings(0.01, direction="backward")).graph
        == cvs(Table(X), CvsSettings(0.01, direction="backward")).graph
    )
    assert len(asked) == 3


def test_tensors_that_are_refused():
    with pytest.raises(UnreadableError, match=r"shape \(3,\): expected two dimensions"):
        ordag.learn(torch.zeros(3, device="meta"))
    with pytest.raises(ColumnError, match=r"holds torch\.int64: give floating-point numbers"):
        ordag.learn(torch.zeros((3, 2), dtype=torch.int64, device="meta"))
    with pytest.raises(ColumnError, match="X9"):
        ordag.learn(torch.zeros((30, 2), device="meta"), columns=["X9"])


def test_a_device_that_is_too_small_for_the_scatter(monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    source = tensor_table(rows(5, 40, 1)).source
    monkeypatch.setattr(torch, "zeros", full)
    with pytest.raises(SettingError, match="has too little memory for the scatter of 5 variables"):
        source.scatter()


@pytest.mark.parametrize("p", [6, 100, PANEL_PIVOTS + 44])
@pytest.mark.parametrize("seed", range(4))
def test_a_copy_of_a_column_is_named(p, seed):
    X = np.random.default_rng(seed).standard_normal((2 * p, p))
    X[:, p - 1] = 3.0 * X[:, seed]
    assert forward_on(moments_of(X), "cpu:0") is None
    with pytest.raises(CollinearError, match=rf"X{p}\b"):
        ordag.learn(X, "cvs", device="cpu:0", strict=True)
