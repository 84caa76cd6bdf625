"""Files are written whole or not at all, and nothing goes where it would do harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordag.common.files import write_whole
from ordag.errors import OutputError
from ordag.show.files import check_outputs


def full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch, step):
    path = tmp_path / "f.txt"
    path.write_text("mine")
    monkeypatch.setattr(os, step, full)
    with pytest.raises(OutputError, match=r"No space left on device.*unchanged"):
        write_whole(path, "theirs")
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["f.txt"]
    with pytest.raises(OutputError, match=r"new\.txt could not be written: No space left on device\.$"):
        write_whole(tmp_path / "new.txt", "theirs")
    assert os.listdir(tmp_path) == ["f.txt"]


def test_a_protected_file_is_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "f.txt"
    path.write_text("mine")
    monkeypatch.setattr(os, "access", lambda place, _: Path(place) != path)
    with pytest.raises(OutputError, match=r"f\.txt is write-protected and was left as it is"):
        write_whole(path, "theirs")
    monkeypatch.setattr(os, "access", lambda place, _: Path(place) == path)
    with pytest.raises(OutputError, match=r"The folder .* is write-protected"):
        write_whole(path, "theirs")
    assert path.read_text() == "mine"


def test_writing_keeps_the_mode_and_follows_links(tmp_path):
    real = tmp_path / "real.txt"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    assert write_whole(link, "new – ä") == real.resolve()
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new – ä"
    assert real.stat().st_mode & 0o777 == 0o640


def test_bytes_are_written_as_they_are_and_long_names_too(tmp_path):
    path = tmp_path / ("x" * 240)
    write_whole(path, b"\x00\xff\r\n")
    assert path.read_bytes() == b"\x00\xff\r\n"
    write_whole(str(path), "a\nb")
    assert path.read_bytes() == b"a\nb"


def test_places_where_no_file_can_be(tmp_path):
    (tmp_path / "file").write_text("")
    for path, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "nowhere" / "g.dot", "There is no folder"),
        (tmp_path / "file" / "g.dot", "There is no folder|no path of a file"),
        (tmp_path / ("x" * 300), "no path of a file|could not be written"),
    ):
        with pytest.raises(OutputError, match=words):
            write_whole(path, "")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        OutputError, match="a device or a pipe"
    ):  # never a device of the system: a failure would replace it
        write_whole(tmp_path / "pipe", "")
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


def test_outputs_are_compared_as_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data.csv"
    data.write_text("a")
    (tmp_path / "link.csv").symlink_to(data)
    check_outputs([("--out", "new.csv"), ("--report", "new.html")], [("DATA", data)])
    check_outputs([("--out", "marks")], [("DATA", "marks")])  # a data set is no file
    with pytest.raises(OutputError, match=r"--out link\.csv would overwrite DATA or a part of it, .*data\.csv"):
        check_outputs([("--out", "link.csv")], [("DATA", data)])
    with pytest.raises(OutputError, match=r"--report \./new\.csv is the file of --out as well"):
        check_outputs([("--out", "new.csv"), ("--report", "./new.csv")])
    with pytest.raises(OutputError, match=r"--report NEW\.csv is the file of --out"):  # on some systems it is
        check_outputs([("--out", "new.csv"), ("--report", "NEW.csv")])
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "link.csv"]
