"""Work in a watched process: whatever happens to it, this process goes on and says what happened."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from budgets import thorough

from ordag.common.watched import WatchedError, watched
from ordag.data.sources import Upload, open_source
from ordag.errors import OrdagError, UnreadableError

pytestmark = pytest.mark.system


def doubled(values: Mapping[str, int]) -> dict[str, int]:
    return {name: 2 * value for name, value in values.items()}


def refuses(sentence: str) -> None:
    raise UnreadableError(sentence)


def crashes() -> None:
    ctypes.string_at(0)


def takes_memory() -> int:
    return len(np.ones(1 << 40))


def takes_long() -> None:
    time.sleep(600)


def says_much() -> int:
    print("x" * 100_000)
    os.write(2, b"y" * 100_000)
    return 1


def children() -> int:
    """Count the processes below this one; 0 where the system does not tell."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return len(file.read().split())
    except OSError:
        return 0


@pytest.mark.thorough
def test_results_and_errors_come_back():
    assert watched(doubled, {"a": 2}) == {"a": 4}
    assert watched(says_much) == 1
    with pytest.raises(UnreadableError, match=r"^this file$"):
        watched(refuses, "this file")


@pytest.mark.skipif(sys.platform == "win32", reason="statuses are others there")
def test_a_crash_too_much_memory_and_too_much_time_are_errors():
    before = children()
    with pytest.raises(WatchedError, match=rf"status -{signal.SIGSEGV.value}, SIGSEGV"):
        watched(crashes)
    with pytest.raises(WatchedError, match="took more than 9 GB of memory"):
        watched(takes_memory)
    with pytest.raises(WatchedError, match="took more than 0 seconds"):
        watched(takes_long, seconds=0.2)
    assert children() == before


def test_without_an_interpreter_of_its_own_the_work_is_done_here(monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    assert watched(os.getpid) == os.getpid()


@pytest.mark.parametrize("ending", ["sav", thorough("dta"), thorough("sas7bdat"), thorough("duckdb")])
def test_damaged_files_are_refused_with_a_sentence(ending, tmp_path):
    frame = pd.DataFrame({"a": np.arange(30.0) % 4, "b": np.arange(30.0) ** 2, "c": np.arange(30.0) % 7})
    path = tmp_path / f"t.{ending}"
    if ending == "sav":
        pytest.importorskip("pyreadstat").write_sav(frame, str(path))
    elif ending == "dta":
        frame.to_stata(path, write_index=False)
    elif ending == "duckdb":
        with pytest.importorskip("duckdb").connect(str(path)) as base:
            base.execute("CREATE TABLE t AS SELECT * FROM frame")
    else:
        from ordag.data.sources.statistical import SAS

        path.write_bytes(SAS + bytes(range(256)) * 300)
    if ending != "sas7bdat":
        assert open_source(path).names == ("a", "b", "c")
    whole = bytearray(path.read_bytes())
    for seed in range(3):
        random = np.random.default_rng(seed)
        damaged = bytearray(whole)
        for at in random.integers(24, min(len(whole), 1500), 40):
            damaged[at] = random.integers(256)
        try:
            open_source(Upload(f"t.{ending}", bytes(damaged)))
        except OrdagError as error:
            assert str(error).startswith(f"t.{ending}")


def test_a_reader_that_crashes_is_one_sentence_that_names_the_file():
    from ordag.data.sources import readers

    with pytest.raises(UnreadableError) as refused:
        readers.read_apart(crashes, describe="t.sav", what="a file of SPSS")
    assert str(refused.value).startswith(
        "t.sav could not be read as a file of SPSS: the library that reads such files ended the process that ran it (status "
    )
    assert str(refused.value).endswith("write or copy it again, or save the table as CSV.")
