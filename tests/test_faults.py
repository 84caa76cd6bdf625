"""What goes wrong around a calculation: files that change while they are read, full disks, lost processes."""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import os
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import feather, ipc

import ordag
from ordag import Moments
from ordag.cli import cli
from ordag.common.workers import in_parallel
from ordag.data import moments_file
from ordag.data.sources import open_source
from ordag.errors import OutputError, UnreadableError, WorkerError
from ordag.paper import reproduce

X = np.random.default_rng(5).standard_normal((20_000, 3)).cumsum(axis=1)
TABLE = pa.table({name: X[:, j] for j, name in enumerate("abc")})


def written(path: Path) -> Path:
    """The table in a file of the format that its name says, in several row groups or batches."""
    if path.suffix == ".parquet":
        pq.write_table(TABLE, path, row_group_size=5000)
    elif path.suffix == ".csv":
        path.write_text("a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()) + "\n")
    elif path.suffix == ".feather":
        feather.write_feather(TABLE, path, chunksize=5000)
    else:
        with ipc.new_stream(path, TABLE.schema) as writer:
            writer.write_table(TABLE, max_chunksize=5000)
    return path


@pytest.fixture(params=["x.parquet", "x.csv", "x.feather", "x.arrows"])
def path(request, tmp_path):
    return written(tmp_path / request.param)


@pytest.mark.slow
def test_a_file_that_becomes_shorter_while_it_is_read_is_refused(path):
    batches = open_source(path).batches(1000)
    next(batches)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(UnreadableError, match=rf"^{path.name} changed while it was read: wait .* run again, or read"):
        list(batches)


@pytest.mark.slow
@pytest.mark.parametrize("begun", [False, True])
def test_a_file_in_the_place_of_another_is_refused(path, begun):
    """Of the same size and date, as a copy may be."""
    batches = open_source(path).batches(1000)
    found = [next(batches)] if begun else []
    before, other = path.stat(), path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, path)
    with pytest.raises(UnreadableError, match=rf"^{path.name} changed while it was read"):
        found += batches


@pytest.mark.slow
def test_a_file_that_is_written_anew_with_as_many_bytes_is_refused(path):
    batches = open_source(path).batches(1000)
    next(batches)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    with pytest.raises(UnreadableError, match="changed while it was read"):
        list(batches)


def test_a_file_of_moments_that_changes_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.moments"
    Moments.from_rows(X).save(path)

    def parse(*words, parse=moments_file._parse):
        os.utime(path, ns=(0, 0))
        return parse(*words)

    monkeypatch.setattr(moments_file, "_parse", parse)
    with pytest.raises(UnreadableError, match=r"x\.moments changed while it was read"):
        Moments.load(path)


@pytest.mark.slow
def test_a_file_that_becomes_longer_while_it_is_read_is_refused(path):
    batches = open_source(path).batches(1000)
    next(batches)
    with path.open("ab") as file:
        file.write(b"1,2,3\n")
    with pytest.raises(UnreadableError, match="changed while it was read"):
        list(batches)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a file that is open cannot be removed")
def test_a_file_that_is_removed_while_it_is_read_is_read_to_its_end(path):
    source = open_source(path)
    batches = source.batches(1000)
    found = [next(batches)]
    path.unlink()
    found += list(batches)
    np.testing.assert_array_equal(np.concatenate(found), X)
    assert source.news(40_000).endswith("rows read")


@pytest.mark.slow
def test_a_file_that_is_gone_before_it_is_read_is_refused(path):
    source = open_source(path)
    path.unlink()
    with pytest.raises(UnreadableError, match=path.name):
        list(source.batches(1000))


def cut(content: bytes) -> bytes:
    """The first half, of text up to the first number of a row: the end of the last number could be cut off and nobody would know."""
    half = content[: len(content) // 2]
    return half[: half.rfind(b"\n") + 4] if content.startswith(b"a,b,c\n") else half


@pytest.mark.slow
def test_a_file_cut_off_is_refused(path):
    path.write_bytes(cut(path.read_bytes()))
    with pytest.raises(UnreadableError, match=path.name):
        Moments.scan(path)


def test_a_stream_that_lacks_its_last_batches_is_refused(tmp_path):
    path = written(tmp_path / "x.arrows")
    path.write_bytes(path.read_bytes()[:-8])  # whole batches, and no mark at the end
    with pytest.raises(
        UnreadableError, match=r"x\.arrows is cut off: the mark at the end of an Arrow stream is missing"
    ):
        Moments.scan(path)


def test_a_damaged_row_group_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(TABLE, path, row_group_size=2500, write_page_checksum=True, use_dictionary=False)
    column = pq.ParquetFile(path).metadata.row_group(5).column(1)
    content = bytearray(path.read_bytes())
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=r"x\.parquet could not be read as Parquet \(a page does not match"):
        Moments.scan(path)
    assert Moments.scan(path, columns=["a", "c"]).n == 20_000


PACKING = {
    "csv": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": lambda content: pa.Codec("zstd").compress(content, asbytes=True),
    "arrows": None,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PACKING)
def test_standard_input_of_every_kind_whole_and_cut_off(kind, tmp_path):
    pack = PACKING[kind] or bytes
    content = pack(written(tmp_path / ("x.arrows" if kind == "arrows" else "x.csv")).read_bytes())
    out = tmp_path / "y.moments"
    result = CliRunner().invoke(cli, ["moments", "-", "--out", str(out)], input=content)
    assert result.exit_code == 0, result.exception
    assert Moments.load(out).n == 20_000
    out.unlink()
    result = CliRunner().invoke(cli, ["moments", "-", "--out", str(out)], input=cut(content))
    assert isinstance(result.exception, UnreadableError)
    assert "standard input" in str(result.exception)
    assert not out.exists()


@pytest.mark.system
def test_standard_input_that_is_closed(monkeypatch):
    code = "import os, sys; os.close(0); sys.argv[1:] = ['learn', '-']; from ordag.cli import main; sys.stdin = None; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("Error: Standard input is closed")


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_no_space_to_keep_standard_input(monkeypatch):
    monkeypatch.setattr("ordag.cli.options.Path.open", lambda *_: _Full())
    result = CliRunner().invoke(cli, ["learn", "-"], input="a,b\n1,2\n")
    assert "could not be kept in the folder" in str(result.exception)
    assert "Set TMPDIR" in str(result.exception)


class _Full:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    write = no_space


FIT = ordag.learn("marks", "cvs")
WRITERS = {
    "report.html": lambda path: FIT.report(path, check=False),
    "graph.dot": FIT.save,
    "graph.json": FIT.save,
    "edges.csv": FIT.save,
    "picture.svg": FIT.save,
    "picture.png": FIT.save,
    "m.moments": FIT.moments.save,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_whole_and_nothing_else(name, call, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_text("before")
    monkeypatch.setattr(f"ordag.common.files.os.{call}", no_space)
    with pytest.raises(OutputError, match=r"No space left on device\. What was there before is unchanged"):
        WRITERS[name](path)
    assert [one.name for one in tmp_path.iterdir()] == [name]
    assert path.read_text() == "before"


def test_a_full_disk_while_the_paper_is_reproduced(tmp_path, monkeypatch):
    monkeypatch.setattr("ordag.paper.journal.write", no_space)
    with pytest.raises(OutputError, match=r"figure4\.journal could not be written: No space left"):
        reproduce(["figure4"], quick=True, folder=tmp_path, workers=1)
    assert [one.name for one in tmp_path.iterdir()] == ["figure4.journal"]
    assert (tmp_path / "figure4.journal").read_bytes() == b""


LIMITED = """
import json, resource, sys
sys.dont_write_bytecode = True  # Python would keep what it could write of a module, for all who import it later
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
from ordag.cli import main

for words in json.load(sys.stdin):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as stop:
        print(stop.code)
"""

GROWING = [
    ["simulate", "-n", "5000", "--seed", "1", "--out", "x.csv"],
    ["simulate", "-n", "5000", "--seed", "1", "--out", "x.parquet"],
    ["learn", "marks", "--method", "cvs", "--report", "x.html"],
    ["learn", "marks", "--method", "cvs", "--plot", "x.png"],
    ["moments", "wide.csv", "--out", "x.moments"],
]


@pytest.mark.thorough
@pytest.mark.system
@pytest.mark.skipif(os.name == "nt", reason="limits of processes")
def test_files_that_may_not_grow(tmp_path):
    (tmp_path / "wide.csv").write_text(
        "\n".join(
            ",".join(map(str, row)) for row in [[f"v{j}" for j in range(60)], *(np.eye(60) + np.eye(60, k=1)).tolist()]
        )
        + "\n"
    )
    names = [words[-1] for words in GROWING]
    for name in names:
        (tmp_path / name).write_text("before")
    result = subprocess.run(
        [sys.executable, "-c", LIMITED],
        input=json.dumps(GROWING),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.stdout.split() == ["2"] * len(names), result.stderr
    refusals = result.stderr.splitlines()
    assert len(refusals) == len(names)
    for name, refusal in zip(names, refusals, strict=True):
        assert f"{name} could not be written: File too large. What was there before is unchanged." in refusal
        assert (tmp_path / name).read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(["wide.csv", *names])


KILLED = """
import os, signal, threading, time
import ordag.resampling.replicates as replicates
import joblib.externals.loky.backend.synchronize as synchronize
from joblib.externals.loky import reusable_executor
from ordag.cli import main
from ordag.cli.progress import Progress

replicates.PATIENCE = replicates.BATCH_SECONDS = 0.001

# The thread that feeds the workers, where it is the last to hold a semaphore, is slow to give it back.
unlink = synchronize.sem_unlink

def slow_to_give_back(name):
    unlink(name)
    time.sleep(0.5 if threading.current_thread().daemon else 0)

synchronize.sem_unlink = slow_to_give_back

def kill_a_worker(self, news):
    executor = reusable_executor._executor
    for pid in list(executor._processes)[:1] if executor is not None and executor._processes else ():
        os.kill(pid, signal.SIGKILL)

Progress.__call__ = kill_a_worker
main()
"""


@pytest.mark.system
def test_a_killed_worker_is_an_error_of_ordag(monkeypatch):
    def broken(self, calls):
        raise BrokenProcessPool("a process was killed")

    monkeypatch.setattr("joblib.Parallel.__call__", broken)
    with pytest.raises(WorkerError, match=r"A worker process was killed.*workers=1"):
        list(in_parallel(abs, [1, 2], 2, ordered=True))


@pytest.mark.system
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_killed_worker_of_the_bootstrap_is_one_sentence():
    words = ["learn", "marks", "--method", "gds", "--bootstrap", "3000", "--workers", "2"]
    result = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True, text=True, timeout=600)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith("Error: A worker process was killed")
    assert "Traceback" not in result.stderr


@pytest.mark.system
@pytest.mark.thorough  # test_cli.py has a closed pipe for every change
@pytest.mark.parametrize(
    "words", [["learn", "marks", "--json"], ["simulate", "-n", "20000"], ["check", "marks", "--json"]]
)
def test_a_reader_that_goes_away_is_no_error(words):
    process = subprocess.Popen(
        [sys.executable, "-m", "ordag", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=600) == 0


def test_too_little_memory_on_a_device_is_one_sentence(monkeypatch):
    torch = pytest.importorskip("torch")

    def pivot(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("ordag.order.on_device.pivot_in_place", pivot)
    with pytest.raises(ordag.errors.SettingError, match=r"device='cpu:0' has too little memory for 5 variables"):
        ordag.learn("marks", "cvs", device="cpu:0")
