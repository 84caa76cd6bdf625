"""The journal: whole lines or none, and only those of the same experiment."""

import errno
import json
import os

import numpy as np
import pytest

from ordag.errors import OutputError
from ordag.paper import journal as journal_module
from ordag.paper.experiment import Experiment, ReproductionError, Task, to_frame
from ordag.paper.journal import Journal


def experiment(name="squares", **settings):
    return Experiment(
        name, "Squares", lambda quick: [], lambda task: [], lambda rows: {}, lambda rows: [], settings=settings
    )


def task(k, method="m"):
    return Task("squares", "d", 1, k, 0, method)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "squares.journal"
    with Journal(path, experiment(alpha=0.01)) as journal:
        for k in range(5):
            journal.add(task(k), [{"square": k * k, "root": np.float64(k) ** 0.5}, {"square": None}])
    return path


def reopened(path):
    with Journal(path, experiment(alpha=0.01)) as journal:
        return journal.done


def test_what_was_added_is_there_again(path):
    done = reopened(path)
    assert list(done) == [task(k) for k in range(5)]
    assert done[task(2)] == [{"square": 4, "root": 2**0.5}, {"square": None}]


def test_a_line_cut_short_is_dropped_and_written_over(path):
    content = path.read_bytes()
    for length in range(len(content) - 1, content.rfind(b"\n", 0, -1), -7):
        path.write_bytes(content[:length])
        assert list(reopened(path)) == [task(k) for k in range(4)]
    with Journal(path, experiment(alpha=0.01)) as journal:
        journal.add(task(4), [{"square": 16, "root": 2.0}, {"square": None}])
    assert path.read_bytes() == content


def test_a_header_cut_short_is_begun_again(path):
    content = path.read_bytes()
    path.write_bytes(content[:20])
    assert reopened(path) == {}
    assert path.read_bytes() == content[: content.find(b"\n") + 1]


def test_a_damaged_line_counts_as_not_done(path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b"\x00" * 30 + b"\n"
    lines[4] = b'{"task": {"n": 3}}\n'
    path.write_bytes(b"".join(lines))
    assert list(reopened(path)) == [task(0), task(2), task(4)]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (experiment(alpha=0.05), "other settings (alpha)"),
        (experiment("cubes", alpha=0.01), "experiment squares (this is cubes)"),
    ],
)
def test_a_journal_of_something_else_is_refused(path, other, words):
    before = path.read_bytes()
    with pytest.raises(ReproductionError) as caught:
        Journal(path, other)
    assert words in str(caught.value)
    assert "--out" in str(caught.value)
    assert path.read_bytes() == before


def test_a_journal_of_another_version_is_refused(path, monkeypatch):
    monkeypatch.setattr(journal_module, "__version__", "99")
    with pytest.raises(ReproductionError, match=r"version 0\.\S+ \(this is 99\)"):
        Journal(path, experiment(alpha=0.01))


def test_another_file_is_refused(path):
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ReproductionError, match="is not a journal"):
        Journal(path, experiment(alpha=0.01))
    assert path.read_text() == "a,b\n1,2\n"
    path.write_text("no line end")
    with pytest.raises(ReproductionError, match="is not a journal"):
        Journal(path, experiment(alpha=0.01))
    assert path.read_text() == "no line end"


def test_two_runs_do_not_share_a_journal(path):
    pytest.importorskip("fcntl")
    with Journal(path, experiment(alpha=0.01)), pytest.raises(ReproductionError, match="in use by another run"):
        Journal(path, experiment(alpha=0.01))


def test_a_full_disk_leaves_whole_lines(path, monkeypatch):
    before = path.read_bytes()

    def fills_up(file, content):
        if len(content) > 10:
            return os.write(file, content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with Journal(path, experiment(alpha=0.01)) as journal:
        with monkeypatch.context() as patch:
            patch.setattr(journal_module, "write", fills_up)
            with pytest.raises(OutputError) as caught:
                journal.add(task(5), [{"square": 25}])
        assert path.read_bytes() == before
        assert "No space left on device. The 5 tasks done before are kept" in str(caught.value)
        assert task(5) not in journal.done
        journal.add(task(5), [{"square": 25}])
    assert len(reopened(path)) == 6


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match="could not be opened"):
        Journal(tmp_path / "missing" / "squares.journal", experiment())


def test_rows_come_by_address_whatever_the_order():
    done = {
        task(3): [{"x": 3}],
        task(1, "b"): [{"x": 1}],
        task(20): [{"x": 2, "method": "own"}],
        task(1, "a"): [{"x": 0}],
    }
    frame = to_frame(done)
    assert frame["n"].tolist() == [1, 1, 3, 20]
    assert frame["method"].tolist() == ["a", "b", "m", "own"]
    assert frame.equals(to_frame(dict(reversed(done.items()))))


def test_lines_are_plain_json(path):
    header, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert header["settings"] == {"alpha": 0.01}
    assert lines[0]["task"] == task(0).address
