"""Other packages in the tables of `python -m benchmarks peers`: absent, wrong, failing, without end. Here one stands in for them."""

from __future__ import annotations

import os
import select
import sys

import pytest

from benchmarks import peers
from benchmarks.peers import Case, compared, drawn, title, versions

pytestmark = [pytest.mark.system, pytest.mark.thorough]  # every test starts processes
CASE = Case("er2", 8, 400)

LEARNS = """
import numpy as np
class DirectLiNGAM:
    def fit(self, X):
        p = X.shape[1]
        self.adjacency_matrix_ = {matrix}
        return self
"""
RAISES = "class DirectLiNGAM:\n    def fit(self, X):\n        raise ValueError('no | order\\nof these')\n"
NO_PACKAGE = "raise ImportError('a library of the system is missing')\n"
WITHOUT_END = """
import os, signal
class DirectLiNGAM:
    def fit(self, X):
        if X.shape[1] == 10:
            raise ValueError("not with a small table")
        if os.fork() == 0:
            pipe = os.open(os.environ["CHILD_PIPE"], os.O_WRONLY)
            os.write(pipe, b"x")
            signal.pause()
        while True:
            pass
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Install a package named lingam, with this source, for the processes that are started from here."""
    shown = ["cvs, tests at 1 %", "DirectLiNGAM"]
    monkeypatch.setattr(peers, "METHODS", [one for one in peers.METHODS if title(one) in shown])
    places = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))

    def install(source):
        (tmp_path / "lingam.py").write_text(source, encoding="utf-8")
        (tmp_path / "lingam-0.5.dist-info").mkdir()
        (tmp_path / "lingam-0.5.dist-info" / "METADATA").write_text("Name: lingam\nVersion: 0.5\n", encoding="utf-8")

    return install


def section(limit=60):
    return compared(sys.executable, [CASE], limit)


def cells(text, method):
    """What the three tables say of a method."""
    return [line.split("|")[2].strip() for line in text.splitlines() if line.startswith(f"| {method} |")]


def test_without_their_environment_the_tables_say_so(tmp_path):
    text = compared(str(tmp_path / "no" / "python"), [CASE], 60)
    assert cells(text, "DAGMA") == cells(text, "GES (causal-learn)") == ["not installed"] * 3
    assert "Not installed: causal-learn, dagma, lingam (`make peers` does it)." in text
    wrong, misjoined, seconds = cells(text, "`ordag.learn(X)`")
    assert float(wrong) >= float(misjoined)
    assert seconds.endswith("s")


def test_a_package_is_scored_with_arrows_the_right_way_round(stand_in):
    truth = drawn(CASE).sem.dag.adjacency
    stand_in(LEARNS.format(matrix=f"np.array({truth.T.astype(float).tolist()}) if p == {CASE.p} else np.zeros((p, p))"))
    assert versions(sys.executable)["lingam"] == "0.5"
    text = section()
    assert cells(text, "DirectLiNGAM")[:2] == ["0", "0"]
    assert f"{truth.sum()} in er2 8/400" in text
    assert "lingam 0.5" in text


def test_weights_that_are_no_numbers_are_a_failure(stand_in):
    stand_in(LEARNS.format(matrix="np.full((p, p), np.nan)"))
    text = section()
    assert cells(text, "DirectLiNGAM") == ["failed"] * 3
    assert text.endswith("DirectLiNGAM, er2 8/400: the weights are not all finite")


@pytest.mark.parametrize(
    ("source", "said"),
    [(RAISES, "ValueError: no | order of these"), (NO_PACKAGE, "its package is there, and cannot be imported")],
)
def test_a_package_that_raises_stops_nobody_else(stand_in, source, said):
    stand_in(source)
    text = section()
    assert cells(text, "DirectLiNGAM") == ["failed"] * 3
    assert "failed" not in cells(text, "cvs, tests at 1 %")
    assert text.splitlines()[-1].endswith(said)


def test_a_call_without_end_is_stopped_with_all_that_it_started(stand_in, tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setenv("CHILD_PIPE", str(pipe))
    stand_in(WITHOUT_END)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        text = section(limit=1)
        assert cells(text, "DirectLiNGAM") == ["> 1 s"] * 3
        assert os.read(end, 1) == b"x", "there was a second process"
        assert select.select([end], [], [], 30)[0]
        assert os.read(end, 1) == b"", "and it is gone: nobody can write any more"
    finally:
        os.close(end)
