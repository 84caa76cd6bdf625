"""Progress is told in words, with the share that is done where somebody knows it; and shown as a bar with the time left."""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from budgets import thorough

import ordag
from ordag.cli import progress as module
from ordag.cli.progress import Progress, say
from ordag.common.words import News

FRAME = pd.DataFrame(np.random.default_rng(0).standard_normal((60_000, 4)), columns=list("abcd"))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_reading_knows_how_much_is_read(ending, tmp_path, monkeypatch):
    """A reader may be ahead of the rows that it has given, by as much as its threads have time for, but never behind them."""
    monkeypatch.setattr("ordag.data.passes.chunk_rows", lambda p: 8_000)
    path = tmp_path / f"x.{ending}"
    if ending == "parquet":
        FRAME.to_parquet(path, row_group_size=10_000)
    else:
        text = FRAME.to_csv(index=False).encode()
        path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    news = []
    ordag.learn(path, "cvs", progress=news.append)
    first, *read = [one for one in news if one.endswith("read")]
    assert re.fullmatch(
        r"0 rows(, 0\.0 of \d\.\d MB)? read", first
    )  # so that the first rows are waited for with a word
    rows = [*range(8_000, 60_000, 8_000), 60_000]
    for count, one in zip(rows, read, strict=True):
        assert re.fullmatch(rf"{count:,} rows(, \d\.\d of \d\.\d MB)? read", one)
    shares = [one.share for one in read if one.share is not None]
    assert len(shares) >= len(rows) - 1  # that of the last rows is unknown where the file is closed by then
    assert shares == sorted(shares)
    assert all(0.99 * count / 60_000 < share <= 1.0 for count, share in zip(rows, shares, strict=False))
    assert shares[-1] > 0.8


def test_replicates_know_their_share():
    news = []
    ordag.bootstrap("marks", 40, method="cvs", seed=1, workers=1, progress=news.append)
    shares = [one.share for one in news if "replicates" in one]
    assert shares
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


class Own:
    def conditional_variance(self, x, Z):
        return float(np.var(x))


@pytest.mark.slow
@pytest.mark.parametrize("variance", ["sparse", "lasso", "regression", Own()])
def test_orders_that_are_found_step_by_step_know_their_share(variance):
    news = []
    ordag.learn("marks", "cvs", variance=variance, progress=news.append)
    told = [one for one in news if one.endswith("variables ordered")]
    assert [str(one) for one in told] == [f"{k} of 5 variables ordered" for k in range(1, 6)]
    shares = [one.share for one in told]
    assert shares == sorted(set(shares))
    assert 0.0 < shares[0] < shares[-1] == 1.0
    assert "ordering 5 variables" in news[: news.index(told[0])]


def test_files_of_moments_are_waited_for_with_a_word(tmp_path):
    marks = ordag.Moments.scan("marks")
    files = [tmp_path / "a.moments", tmp_path / "b.moments"]
    marks.save(files[0])
    marks.scaled([2.0] * marks.p).save(files[1])
    news = []
    ordag.learn(files, "cvs", progress=news.append)
    assert news[0] == "reading 2 files of moments"


def test_drawing_knows_its_share_and_the_rows_do_not_depend_on_the_slabs(monkeypatch):
    whole = ordag.simulate("er2", p=70, n=1000, seed=1).X
    monkeypatch.setattr("ordag.model.sem.DRAWN_NUMBERS", 70 * 256)
    news = []
    drawn = ordag.simulate("er2", p=70, n=1000, seed=1, progress=news.append).X
    np.testing.assert_array_equal(drawn, whole)
    assert news == [f"{k} of 1,000 rows drawn" for k in (256, 512, 768)] + ["1,000 of 1,000 rows drawn"]
    assert [one.share for one in news] == [0.256, 0.512, 0.768, 1.0]


def line(news, share, *, began, told, now, width, before=0.0):
    """The line of a command that began at 0, with news of a step that is as old as this."""
    with Progress() as progress:
        progress.start, progress.since, progress.told = 0.0, began, told
        progress.share, progress.before = share, before
        return progress.line(news, now, width)


def test_the_line_has_a_bar_where_the_share_is_known():
    times = {"began": 100.0, "told": 110.0, "now": 110.0}
    assert (
        line("100 rows read", 0.25, **times, width=77) == "[#####...............]  25 %  100 rows read, about 30 s left"
    )
    assert line("GES: first phase\x1b", None, **times, width=77) == r"GES: first phase\x1b, after 1:50 min"
    # of what an earlier run had done nothing is learned about the pace
    assert line("x", 0.75, **times, width=77, before=0.5).endswith("x, about 10 s left")


def test_the_time_left_runs_down_and_then_the_time_since_the_start_runs_on():
    def end(now):
        return line("x", 0.5, began=0.0, told=4.0, now=now, width=77).partition("x, ")[2]

    assert [end(now) for now in (4.0, 6.0, 7.4, 7.6, 9.0)] == [
        "about 4 s left",
        "about 2 s left",
        "about 1 s left",
        "after 8 s",
        "after 9 s",
    ]


def test_lengths_of_time():
    times = [module._length(seconds) for seconds in (0.2, 99.4, 99.6, 3599, 3725)]
    assert times == ["0 s", "99 s", "1:40 min", "59:59 min", "1:02:05 h"]


def test_a_narrow_line_loses_words_before_the_time_that_is_left():
    news = "3,910,532 rows, 1.8 of 1.8 GB read"
    times = {"began": 100.0, "told": 110.0, "now": 110.0}
    assert line(news, 0.5, **times, width=77) == f"[########........]  50 %  {news}, about 10 s left"
    assert line(news, 0.5, **times, width=59) == f" 50 %  {news}, about 10 s left"[:59]
    assert line(news, 0.5, **times, width=40) == " 50 %  3,910,532 rows, 1.8 o…, 10 s left"
    for width in range(17, 120):
        for share in (None, 0.0, 0.001, 0.5, 1.0):
            assert len(line("x" * 300, share, **times, width=width)) <= width


def test_another_step_begins_anew(monkeypatch):
    clock = iter([0.0, 1.0, 2.0, 3.0, 4.0])
    monkeypatch.setattr("ordag.cli.progress.time.monotonic", lambda: next(clock))
    with Progress() as progress:
        progress(News("read", 0.5))
        assert (progress.since, progress.before) == (1.0, 0.5)
        progress(News("read", 1.0))
        assert progress.since == 1.0
        progress(News("bootstrap", 0.1))
        assert (progress.since, progress.before) == (3.0, 0.1)
        progress("words alone")
        assert progress.since == 4.0


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal_of(monkeypatch):
    """A terminal for standard error, in which a command has been running for long."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "BEGUN", -100.0)
    return screen


def test_the_line_is_wiped(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with Progress() as progress:
        progress(News("read", 0.5))
    assert "50 %  read" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert "\n" not in terminal.getvalue()


def test_a_sentence_stands_above_the_line(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with Progress() as progress:
        progress(News("read", 0.5))
        say("Warning: so it is")
    say("and after it")
    assert "\r\x1b[KWarning: so it is\n" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[Kand after it\n")


def test_there_is_no_line_on_a_dumb_terminal(monkeypatch):
    terminal = terminal_of(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    with Progress() as progress:
        progress(News("read", 0.5))
        say("words")
    assert terminal.getvalue() == "words\n"


def test_there_is_no_line_where_nobody_sees_it(monkeypatch, capsys):
    monkeypatch.setattr(module, "BEGUN", -100.0)
    with Progress() as progress:
        progress(News("read", 0.5))
    assert capsys.readouterr() == ("", "")


IN_A_TERMINAL = """
import sys
from ordag.cli import progress
progress.BEGUN -= 100.0
from ordag.cli import main
sys.argv[1:] = {words}
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudoterminal")
@pytest.mark.system
@pytest.mark.parametrize(
    ("words", "columns"),
    [
        (["learn", "-"], 40),
        thorough(["learn", "-"], 200),
        thorough(["simulate", "-n", "20000"], 60),
        thorough(["check", "marks"], 60),
        (["learn", "marks", "--method", "cvs", "--bootstrap", "20"], 200),
        thorough(["learn", "marks", "--bootstrap", "20"], 40),
    ],
)
def test_in_a_real_terminal_the_line_fits_and_leaves_nothing(tmp_path, columns, words):
    """Standard output goes elsewhere, and holds what it would without a terminal: the width is that of standard error."""
    import fcntl
    import pty
    import struct
    import termios

    marks = tmp_path / "marks.csv"
    FRAME[:5000].to_csv(marks, index=False)
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [
        sys.executable,
        "-c",
        IN_A_TERMINAL.format(words=[*words, *(["--seed", "1"] if "learn" not in words else [])]),
    ]
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    with marks.open("rb") as table, (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(
            command, stdin=table, stdout=out, stderr=far, env={**environment, "TERM": "xterm"}, cwd=tmp_path
        )
    os.close(far)
    seen = b""
    while True:
        try:
            piece = os.read(near, 1 << 16)
        except OSError:  # that is how the end of a terminal reads on Linux
            break
        if not piece:
            break
        seen += piece
    os.close(near)
    assert process.wait(timeout=600) == 0
    *drawn, last = seen.decode().split("\r")
    assert last in ("\x1b[K", "\n")
    lines = [one.removesuffix("\x1b[K") for one in drawn]
    assert max(map(len, lines)) > 5
    assert max(map(len, lines)) < columns
    assert not any(re.search(r"[\x00-\x1f\x7f]", one.strip("\n")) for one in lines)
    assert (tmp_path / "out").stat().st_size > 200
    assert b"\x1b" not in (tmp_path / "out").read_bytes()
