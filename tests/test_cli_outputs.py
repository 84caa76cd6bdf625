"""What a command writes: never over what it reads, and never found wrong only after the work."""

from __future__ import annotations

import os
import stat

import numpy as np
import pandas as pd
import pytest

import ordag
from ordag import Moments
from ordag.common.files import check_place, write_whole
from ordag.errors import OutputError
from ordag.show.files import check_outputs


@pytest.fixture
def idle(monkeypatch):
    """A learner that must not be asked."""

    def never(*_, **__):
        raise AssertionError("work was begun")

    monkeypatch.setattr("ordag.cli.learn.learn_graph", never)
    monkeypatch.setattr("ordag.cli.simulate.draw", never)


@pytest.fixture
def table(tmp_path):
    """A table in the file data.csv; gives its text."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    pd.DataFrame(X, columns=["a", "b", "c"]).to_csv(tmp_path / "data.csv", index=False)
    return (tmp_path / "data.csv").read_text()


def spellings(folder):
    """Names of data.csv that differ from it, and from each other."""
    (folder / "sub").mkdir()
    os.symlink(folder / "data.csv", folder / "link.csv")
    os.symlink(folder, folder / "here")
    os.link(folder / "data.csv", folder / "hard.csv")
    return ["data.csv", "./data.csv", "sub/../data.csv", folder / "data.csv", "link.csv", "hard.csv", "here/data.csv"]


def test_the_data_are_never_overwritten(run, tmp_path, table, idle):
    for path in spellings(tmp_path):
        status, out, err = run("learn", "data.csv", "--out", path)
        assert (status, out) == (2, "")
        assert f"--out {path} would overwrite DATA" in err
    (tmp_path / "page.html").write_text(table)
    assert "--report ./page.html would overwrite DATA" in run("learn", "page.html", "--report", "./page.html")[2]
    assert (tmp_path / "data.csv").read_text() == (tmp_path / "page.html").read_text() == table


def test_nor_is_what_is_known_nor_a_folder_that_is_read(run, tmp_path, table, idle):
    (tmp_path / "known.json").write_text("roots: a")
    err = run("learn", "data.csv", "--knowledge", "known.json", "--out", "./known.json")[2]
    assert "--out ./known.json would overwrite --knowledge" in err
    (tmp_path / "parts").mkdir()
    pd.read_csv(tmp_path / "data.csv").to_parquet(tmp_path / "parts" / "one.parquet")
    assert "would overwrite DATA" in run("learn", "parts", "--out", "parts/graph.dot")[2]
    os.link(tmp_path / "parts" / "one.parquet", tmp_path / "one.csv")
    assert "would overwrite DATA" in run("learn", "parts", "--out", "one.csv")[2]


def test_nor_are_the_graph_and_what_is_known_of_two_tables(run, tmp_path, table, monkeypatch):
    monkeypatch.setattr("ordag.cli.changes.find_changes", lambda *_, **__: pytest.fail("work was begun"))
    monkeypatch.setattr("ordag.cli.adjust.find_adjustment", lambda *_, **__: pytest.fail("work was begun"))
    for name, text in (("model.dagitty", "dag { a -> b }"), ("known.txt", "roots: a")):
        (tmp_path / name).write_text(text)
        os.symlink(name, tmp_path / f"{name}.svg")
    os.symlink("data.csv", tmp_path / "data.svg")
    tables, cause = ["changes", "hard.csv", "data.csv"], ["--from", "a", "--to", "b"]
    (tmp_path / "hard.csv").write_text(table)
    for words, name, said in (
        ([*tables, "--graph", "model.dagitty"], "model.dagitty.svg", "--graph"),
        ([*tables, "--knowledge", "known.txt"], "known.txt.svg", "--knowledge"),
        (tables, "data.svg", "AFTER"),
        (["adjust", "model.dagitty", *cause], "model.dagitty.svg", "GRAPH"),
        (["adjust", "a -> b", "data.csv", *cause], "data.svg", "DATA"),
    ):
        status, out, err = run(*words, "--plot", name)
        assert (status, out) == (2, "")
        assert f"--plot {name} would overwrite {said}" in err
    assert (tmp_path / "data.csv").read_text() == table


def test_a_graph_in_text_may_be_longer_than_any_name_of_a_file(run, tmp_path):
    text = "a -> b; " + "".join(f"b -> x{k}; " for k in range(60))
    assert run("adjust", text, "--from", "a", "--to", "b", "--json")[0] == 0
    check_outputs([("--plot", tmp_path / "p.svg")], [("GRAPH", text)])


def test_every_output_has_a_file_of_its_own(run, tmp_path, idle):
    for words in (["--out", "g.html", "--report", "./g.html"], ["--out", "g.dot", "--out", "G.dot"]):
        assert "a file of its own" in run("learn", "marks", *words)[2]
    assert "a file of its own" in run("simulate", "--out", "s.csv", "--truth", "./s.csv")[2]
    assert os.listdir(tmp_path) == []


@pytest.mark.thorough
def test_what_a_folder_leaves_out_is_said_once(run, tmp_path, table):
    (tmp_path / "parts").mkdir()
    pd.read_csv(tmp_path / "data.csv").to_parquet(tmp_path / "parts" / "one.parquet")
    (tmp_path / "parts" / "more.csv").write_text(table)
    status, _, err = run("check", "parts")
    assert status == 0
    assert err.splitlines() == [
        "Warning: Only the Parquet files in the folder parts, its subfolders and their partitions (name=value) are read, "
        "not 'more.csv'."
    ]


@pytest.mark.slow
def test_an_earlier_output_is_replaced(run, tmp_path):
    for _ in range(2):
        assert run("learn", "marks", "--method", "cvs", "--out", "g.dot", "--report", "r.html")[0] == 0
    assert sorted(os.listdir(tmp_path)) == ["g.dot", "r.html"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["learn", "marks", "--out", "g.docx"], "g.docx has none of the endings"),
        (["learn", "marks", "--out", "graph"], ".graphml"),
        (["learn", "marks", "--report", "r.pdf"], "end its name in .html"),
        (["learn", "marks", "--out", "nowhere/g.dot"], "There is no folder"),
        (["learn", "marks", "--report", "nowhere/r.html"], "There is no folder"),
        (["simulate", "--out", "d.xlsx"], ".parquet"),
        (["simulate", "--out", "d.csv", "--truth", "t.docx"], "t.docx"),
        (["simulate", "--out", "nowhere/d.csv"], "There is no folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_work(run, idle, words, said):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert said in err


def test_places_that_hold_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="device"):
        write_whole(tmp_path / "pipe", "x")
    for path in (None, 5, "a\0b", ["x"]):
        with pytest.raises(OutputError, match="no path of a file"):
            write_whole(path, "x")
    os.symlink(tmp_path / "one", tmp_path / "two")
    os.symlink(tmp_path / "two", tmp_path / "one")
    with pytest.raises(OutputError, match="one"):
        check_outputs([("--out", tmp_path / "one" / "g.dot")])


@pytest.mark.slow
def test_pictures_are_drawn_by_their_endings(run, tmp_path, table):
    status, _, err = run("learn", "data.csv", "--plot", "a.svg", "--plot", "b.PDF", "--plot", "c.png", "--out", "d.svg")
    assert status == 0
    assert [line for line in err.splitlines() if line.startswith("written")] == [
        f"written: {name}" for name in ("d.svg", "a.svg", "b.PDF", "c.png")
    ]
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "d.svg").read_bytes()
    assert (tmp_path / "b.PDF").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    run("learn", "data.csv", "--plot", "e.svg", "--plot-kind", "matrix")
    assert b"Matrix of" in (tmp_path / "e.svg").read_bytes()
    run("learn", "data.csv", "--plot", "f.svg", "--plot-variable", "b")
    assert b"Neighbourhood of b" in (tmp_path / "f.svg").read_bytes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--plot", "a.jpg"], "a.jpg has none of the endings of a picture: .svg, .pdf, .png."),
        (["--plot", "no/a.svg"], "There is no folder"),
        (["--plot", "./data.csv"], "none of the endings"),
        (["--plot", "a.svg", "--out", "a.svg"], "--plot a.svg is the file of --out as well"),
        (["--plot-kind", "order"], "--plot-kind has an effect only with --plot"),
        (["--plot-variable", "a"], "--plot-variable has an effect only with --plot"),
        (["--plot", "a.svg", "--plot-kind", "support"], "add --bootstrap 200, say"),
        (
            ["--plot", "a.svg", "--plot-kind", "order", "--plot-variable", "a"],
            "--plot-kind order has the options most, ties",
        ),
        (["--plot", "a.svg", "--plot-kind", "grap"], "'grap' is not one of"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused_before_the_work(run, tmp_path, table, idle, words, says):
    status, out, err = run("learn", "data.csv", *words)
    assert (status, out) == (2, "")
    assert says in err
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "-", "--out", "hard.csv"],
        ["learn", "-", "--plot", "page.svg"],
        ["learn", "-", "--report", "page.html"],
        ["check", "-", "--report", "page.html"],
        ["moments", "-", "--out", "x.moments"],
        ["simulate", "--out", "data.csv"],
        ["simulate", "--truth", "truth.json"],
    ],
)
def test_the_file_on_standard_input_is_never_overwritten(run, tmp_path, table, idle, monkeypatch, words):
    os.link(tmp_path / "data.csv", tmp_path / "hard.csv")
    for name in ("page.svg", "page.html", "x.moments", "truth.json"):
        os.symlink("data.csv", tmp_path / name)
    with open(tmp_path / "data.csv") as standard_input:
        monkeypatch.setattr("sys.stdin", standard_input)
        status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert f"{words[-2]} {words[-1]} would overwrite the file on standard input: write to another file." in err
    assert (tmp_path / "data.csv").read_text() == table


@pytest.mark.slow
def test_a_fit_is_never_written_over_its_table(tmp_path, table, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fits = [ordag.learn(name) for name in ("data.csv", tmp_path / "data.csv")]
    fits += [ordag.learn("data.csv", bootstrap=2), ordag.compare("data.csv", ["cvs"])["cvs"]]
    paths = spellings(tmp_path)
    for name in ("page.html", "picture.svg"):
        os.symlink("data.csv", tmp_path / name)
    monkeypatch.chdir(tmp_path / "sub")
    for fit in fits:
        for path in [tmp_path / path for path in paths] + [tmp_path / "picture.svg", "../page.html"]:
            for write in (fit.save, fit.report):
                with pytest.raises(OutputError, match=r"has none of the endings|is a file that this was learned from"):
                    write(path)
    with pytest.raises(OutputError, match=r"page\.html is a file that this was learned from: write to another file"):
        ordag.check(tmp_path / "data.csv").report(tmp_path / "page.html")
    assert (tmp_path / "data.csv").read_text() == table


@pytest.mark.slow
def test_nor_over_a_part_of_it(tmp_path, table):
    (tmp_path / "parts").mkdir()
    pd.read_csv(tmp_path / "data.csv").to_parquet(tmp_path / "parts" / "one.parquet")
    os.symlink(tmp_path / "parts" / "one.parquet", tmp_path / "graph.dot")
    Moments.scan(tmp_path / "data.csv").save(tmp_path / "one.moments")
    os.symlink(tmp_path / "one.moments", tmp_path / "graph.gml")
    with pytest.raises(OutputError, match="learned from"):
        ordag.learn(tmp_path / "parts").save(tmp_path / "graph.dot")
    with pytest.raises(OutputError, match="learned from"):
        ordag.learn([tmp_path / "one.moments"]).save(tmp_path / "graph.gml")
    ordag.learn(pd.read_csv(tmp_path / "data.csv")).save(tmp_path / "data.csv")  # a frame is no file


def test_a_name_of_255_bytes_is_written_and_a_longer_one_refused_before_the_work(run, tmp_path, idle):
    check_outputs([("--out", tmp_path / f"{'ü' * 125}x.dot")])
    write_whole(tmp_path / f"{'ü' * 125}x.dot", "graph")
    assert os.listdir(tmp_path) == [f"{'ü' * 125}x.dot"]
    status, out, err = run("learn", "marks", "--out", f"{'ü' * 126}.dot")
    assert (status, out) == (2, "")
    assert "is no path of a file: File name too long." in err


def test_a_folder_in_which_nothing_can_be_made_is_refused_before_the_work(run, tmp_path, idle, monkeypatch):
    def full(name, flags, mode=0o777):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ordag.common.files.os.open", full)
    status, out, err = run("learn", "marks", "--out", "g.dot")
    assert (status, out) == (2, "")
    assert "g.dot could not be written: No space left on device." in err


def test_a_name_that_is_too_long_is_said_before_anything_is_made(tmp_path):
    with pytest.raises(OutputError, match=r"x is no path of a file: File name too long\."):
        check_place(tmp_path / ("x" * 300))


def test_all_of_an_output_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    """After a loss of power there is the old file or the new one, and none that is empty."""

    def synced(descriptor):
        (beside,) = tmp_path.glob(".*.part")
        seen.append((beside.read_text(), (tmp_path / "g.dot").read_text()))

    seen = []
    (tmp_path / "g.dot").write_text("old")
    monkeypatch.setattr("ordag.common.files.os.fsync", synced)
    write_whole(tmp_path / "g.dot", "new")
    assert seen == [("new", "old")]


def test_an_unfinished_output_is_readable_by_its_owner_alone(tmp_path):
    def pieces():
        (beside,) = tmp_path.glob(".*.part")
        seen.append(stat.S_IMODE(beside.stat().st_mode))
        yield b"graph"

    seen = []
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "new.dot", pieces())
        (tmp_path / "open.dot").touch()
        (tmp_path / "open.dot").chmod(0o664)
        write_whole(tmp_path / "open.dot", pieces())
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert seen == [0o600, 0o600]
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new.dot", "open.dot")] == [0o644, 0o664]
