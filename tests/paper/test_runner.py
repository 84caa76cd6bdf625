"""The engine: the same numbers on any workers, and nothing lost when something goes wrong."""

import errno
import os
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import tiny_experiment as tiny
from budgets import thorough
from joblib.parallel import ThreadingBackend
from tiny_experiment import squares

from ordag.errors import OutputError, SettingError
from ordag.paper import ReproductionError, reproduce
from ordag.paper import journal as journal_module
from ordag.paper.reproduction import batches, tasks_of

pytestmark = pytest.mark.system  # workers are processes


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """Tells which tasks were run since it was last asked."""
    file = tmp_path / "trace.txt"
    monkeypatch.setenv("SQUARES_TRACE", str(file))

    def since():
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    return since


def csv(folder):
    return (folder / "squares.csv").read_bytes()


@pytest.mark.thorough
def test_the_same_numbers_for_any_workers(tmp_path):
    alone = reproduce([squares()], folder=tmp_path / "one", workers=1)[0]
    assert len(alone.rows) == 30
    reproduce([squares()], folder=tmp_path / "two", workers=2)
    assert csv(tmp_path / "one") == csv(tmp_path / "two")
    with joblib.parallel_config(backend="threading", n_jobs=2):
        reproduce([squares()], folder=tmp_path / "threads")
    assert csv(tmp_path / "one") == csv(tmp_path / "threads")
    reproduce([squares(alone=True)], folder=tmp_path / "alone", workers=2)
    assert csv(tmp_path / "one") == csv(tmp_path / "alone")


class AllTogether(ThreadingBackend):
    """A backend without generators, such as Ray's."""

    supports_return_generator = False


def test_a_backend_that_gives_results_all_together(tmp_path):
    reproduce([squares()], folder=tmp_path / "one", workers=1)
    joblib.register_parallel_backend("all-together", AllTogether)
    with joblib.parallel_config(backend="all-together", n_jobs=2):
        reproduce([squares()], folder=tmp_path / "waves")
    assert csv(tmp_path / "one") == csv(tmp_path / "waves")


def test_a_run_goes_on_where_it_stopped(tmp_path, trace):
    reproduce([squares()], folder=tmp_path, workers=1)
    assert len(trace()) == 30
    whole, journal = csv(tmp_path), tmp_path / "squares.journal"
    every = journal.read_bytes().splitlines(keepends=True)
    lines = [line for line in every if b'"sha256"' not in line]
    gone = [lines[4], lines[11], lines[-1]]
    journal.write_bytes(b"".join(line for line in every if line not in gone) + lines[-1][: len(lines[-1]) // 2])
    (tmp_path / "squares.csv").unlink()
    reproduce([squares()], folder=tmp_path, workers=1)
    assert len(trace()) == 3
    assert csv(tmp_path) == whole
    reproduce([squares()], folder=tmp_path, workers=1)
    assert trace() == []
    assert csv(tmp_path) == whole


def test_a_quick_run_is_a_part_of_the_whole(tmp_path, trace):
    quick = reproduce([squares()], quick=True, folder=tmp_path, workers=1)[0]
    assert len(trace()) == len(quick.rows) == 12
    reproduce([squares()], folder=tmp_path, workers=1)
    assert len(trace()) == 18
    more = reproduce([squares()], folder=tmp_path, workers=1, replicates=6, complete=True)[0]
    assert len(trace()) == 6 + 6
    assert len(more.rows) == 42
    again = reproduce([squares()], quick=True, folder=tmp_path, workers=1)[0]
    assert len(again.rows) == 42, "what is known is not thrown away"


@pytest.mark.parametrize("workers", [1, thorough(2)])
def test_a_task_that_fails(tmp_path, workers):
    with pytest.raises(ReproductionError) as caught:
        reproduce([squares(tiny.broken)], folder=tmp_path, workers=workers)
    assert "squares, numbers, p = 1, n = 3, replicate 0, cube failed with ZeroDivisionError: no cube today" in str(
        caught.value
    )
    assert "are kept in" in str(caught.value)
    assert "in broken" in caught.value.__notes__[0]
    kept = (tmp_path / "squares.journal").read_text().count('"task"')
    assert kept >= (5 if workers == 1 else 1)  # of two workers, one may fail before the other has done much
    assert len(pd.read_csv(tmp_path / "squares.csv")) == kept
    result = reproduce([squares()], folder=tmp_path, workers=1)[0]
    assert len(result.rows) == 30


@pytest.mark.thorough
def test_a_worker_that_dies(tmp_path):
    with pytest.raises(ReproductionError, match=r"A worker was killed during squares.*--workers 1"):
        reproduce([squares(tiny.deadly)], folder=tmp_path, workers=2)
    assert sorted(path.name for path in tmp_path.iterdir()) in (["squares.journal"], ["squares.csv", "squares.journal"])
    assert len(reproduce([squares()], folder=tmp_path, workers=1)[0].rows) == 30


def test_an_interruption(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        reproduce([squares(tiny.interrupted)], folder=tmp_path, workers=1)
    assert 0 < len(pd.read_csv(tmp_path / "squares.csv")) <= 6
    assert len(reproduce([squares()], folder=tmp_path, workers=1)[0].rows) == 30


@pytest.mark.parametrize("workers", [1, thorough(2)])
def test_a_full_disk(tmp_path, monkeypatch, workers):
    def full(file, content):
        if os.fstat(file).st_size > 1000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(file, content)

    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "write", full)
        with pytest.raises(OutputError, match="No space left on device"):
            reproduce([squares()], folder=tmp_path, workers=workers)
    assert [path.name for path in tmp_path.iterdir()] == ["squares.journal"]
    assert (tmp_path / "squares.journal").read_bytes().endswith(b"}\n")
    assert len(reproduce([squares()], folder=tmp_path, workers=1)[0].rows) == 30


@pytest.mark.thorough
@pytest.mark.system
def test_a_process_killed_at_any_moment_loses_what_was_in_flight_only(tmp_path, trace):
    code = (
        "import os, tiny_experiment\nfrom ordag.paper import reproduce\n"
        "reproduce([tiny_experiment.squares()], folder='out', workers=1,"
        " progress=lambda step: step.done >= 10 and os._exit(1))"
    )
    path = os.pathsep.join(filter(None, [os.path.dirname(tiny.__file__), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, timeout=600, check=False)
    assert done.returncode == 1
    assert len(trace()) <= 12
    reproduce([squares()], folder=tmp_path / "out", workers=1)
    assert len(trace()) == 20
    reproduce([squares()], folder=tmp_path / "whole", workers=1)
    assert csv(tmp_path / "out") == csv(tmp_path / "whole")


def test_progress_tells_how_far_it_is(tmp_path):
    steps = []
    reproduce([squares()], True, tmp_path, workers=1, progress=steps.append)
    assert [step.done for step in steps] == list(range(13))
    assert steps[0].tasks == 12
    assert steps[0].seconds == pytest.approx(12 * 0.2)
    assert steps[-1].seconds_done == pytest.approx(steps[-1].seconds)
    reproduce([squares()], True, tmp_path, workers=1, progress=steps.append)
    assert steps[-1].done == 12


def test_tasks_come_replicate_by_replicate():
    tasks = tasks_of(squares(), quick=False, replicates=3, complete=True)
    assert len(tasks) == len(set(tasks)) == 3 * 7
    assert [task.replicate for task in tasks] == [0] * 7 + [1] * 7 + [2] * 7
    single = tasks_of(squares(), quick=True, replicates=None, complete=False)
    assert set(single) <= set(tasks)


def test_batches_hold_what_takes_about_as_long():
    tasks = tasks_of(squares(), quick=False, replicates=4, complete=False)
    assert [task for batch in batches(tasks, lambda task: 0.2) for task in batch] == tasks
    assert {len(batch) for batch in batches(tasks, lambda task: 0.2)} == {2}
    assert {len(batch) for batch in batches(tasks, lambda task: 60.0)} == {1}
    assert len(list(batches(tasks, lambda task: 1e-6))) == 1


def test_settings_that_cannot_be(tmp_path):
    for settings, words in (({"replicates": 0}, "replicates=0"), ({"workers": 0}, "workers=0")):
        with pytest.raises(SettingError, match=words):
            reproduce([squares()], folder=tmp_path, **settings)
    with pytest.raises(SettingError, match=r"There is no experiment figure99\. There are section2, figure2"):
        reproduce(["figure99"], folder=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="could not be made"):
        reproduce([squares()], folder=tmp_path / "file")


@pytest.mark.thorough
def test_figures_are_png_and_svg(tmp_path):
    drawing = squares(figures=tiny.drawn)
    result = reproduce([drawing], True, tmp_path, workers=1)[0]
    assert sorted(path.name for path in result.files) == ["squares.csv", "squares.md", "squares.png", "squares.svg"]
    png, svg = (tmp_path / "squares.png").read_bytes(), (tmp_path / "squares.svg").read_text()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png[-8:-4] == b"IEND"
    assert svg.rstrip().endswith("</svg>")
    assert "x²" in svg
    page = (tmp_path / "squares.md").read_text()
    assert "![Squares and cubes](squares.png)" in page
    assert "| method | value |" in page
    assert "- The paper says that squares are positive; here all 12 are." in page
    again = reproduce([drawing], True, tmp_path / "again", workers=1)[0]
    assert [path.read_bytes() for path in again.files] == [path.read_bytes() for path in result.files]
    assert np.isfinite(result.rows["value"]).all()


@pytest.mark.parametrize("name", ["squares.csv", "squares.md", "squares.png", "squares-more.svg", "squares_more.png"])
def test_files_that_no_run_wrote_are_refused_before_the_work(tmp_path, trace, name):
    (tmp_path / "results").mkdir()
    mine = tmp_path / "results" / name
    for target in (None, tmp_path / "elsewhere.csv"):
        (target or mine).write_bytes(b"mine")
        if target is not None:
            mine.unlink()
            mine.symlink_to(target)
        for _ in range(2):
            with pytest.raises(OutputError, match=rf"{name} is none of the files that this command wrote.*--out"):
                reproduce([squares()], True, tmp_path / "results", workers=1)
        assert mine.read_bytes() == b"mine"
    assert trace() == []
    assert os.listdir(tmp_path / "results") == [name]


def test_files_of_an_earlier_run_are_replaced_unless_they_were_changed(tmp_path, trace):
    reproduce([squares()], True, tmp_path, workers=1)
    table = csv(tmp_path)
    reproduce([squares()], False, tmp_path, workers=1)
    assert csv(tmp_path) != table
    (tmp_path / "squares.csv").write_bytes(table)  # an older one of its own
    reproduce([squares()], False, tmp_path, workers=1)
    assert csv(tmp_path) != table
    with open(tmp_path / "squares.md", "a") as page:
        page.write("My own words.")
    trace()
    with pytest.raises(OutputError, match=r"squares\.md is none of the files that this command wrote, or was changed"):
        reproduce([squares()], False, tmp_path, workers=1)
    assert (tmp_path / "squares.md").read_text().endswith("My own words.")
    (tmp_path / "squares.md").unlink()
    reproduce([squares()], False, tmp_path, workers=1)
    assert (tmp_path / "squares.md").exists()


def test_a_file_that_appears_during_the_work_is_left_alone(tmp_path):
    def appear(step):
        (tmp_path / "squares.csv").write_bytes(b"mine")

    with pytest.raises(OutputError, match=r"squares\.csv is none of the files"):
        reproduce([squares()], True, tmp_path, workers=1, progress=appear)
    assert csv(tmp_path) == b"mine"
