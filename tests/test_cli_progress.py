"""Progress is told in words, with the share that is done where somebody knows it; and shown as a bar with the time left."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pandas as pd
import pytest

import ordag
from ordag.cli.progress import Progress
from ordag.words import News

FRAME = pd.DataFrame(np.random.default_rng(0).standard_normal((60_000, 4)), columns=list("abcd"))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_reading_knows_how_much_is_read(ending, tmp_path):
    path = tmp_path / f"x.{ending}"
    if ending == "parquet":
        FRAME.to_parquet(path, row_group_size=10_000)
    else:
        text = FRAME.to_csv(index=False).encode()
        path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    news = []
    ordag.learn(path, "cvs", progress=news.append)
    read = [one for one in news if one.endswith("read")]
    assert re.fullmatch(r"60,000 rows(, \d\.\d of \d\.\d MB)? read", read[-1])
    shares = [one.share for one in read if one.share is not None]
    assert len(shares) >= len(read) - 1
    assert shares == sorted(shares)
    assert 0.0 < shares[0] <= shares[-1] <= 1.0
    assert shares[-1] > 0.8  # the rest of the file is in buffers, or holds the last row group


def test_replicates_know_their_share():
    news = []
    ordag.bootstrap("marks", 40, method="cvs", seed=1, workers=1, progress=news.append)
    shares = [one.share for one in news if "replicates" in one]
    assert shares
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_line_has_a_bar_where_the_share_is_known():
    with Progress() as progress:
        progress.since = progress.start = 100.0
        progress.share = 0.25
        line = progress.line(News("100 rows read", 0.25), 110.0, 79)
        assert line.rstrip() == "[#####...............]  25 %  100 rows read, about 30 s left"
        assert len(line) == 79
        assert len(progress.line(News("x" * 300, 0.25), 110.0, 59)) == 59
        progress.share = 0.0
        assert progress.line("GES: first phase\x1b", 103.0, 79).rstrip() == r"GES: first phase\x1b, 3 s"


def test_another_step_begins_anew(monkeypatch):
    clock = iter([0.0, 1.0, 2.0, 3.0, 4.0])
    monkeypatch.setattr("ordag.cli.progress.time.monotonic", lambda: next(clock))
    with Progress() as progress:
        progress(News("read", 0.5))
        assert progress.since == 0.0
        progress(News("read", 1.0))
        progress(News("bootstrap", 0.1))
        assert progress.since == 3.0
        progress("words alone")
        assert progress.since == 4.0
