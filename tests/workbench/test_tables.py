"""What the workbench keeps of tables and of what is made of them stays within bounds."""

from __future__ import annotations

import gc
import io
import weakref

import numpy as np
import pandas as pd
import pytest
from asking import finished, state

import ordag
from ordag.data.datasets import DATASETS
from ordag.errors import DataError
from ordag.show.provenance import OF_BYTES, Origin, fingerprint, provenance
from ordag.workbench.documents import brief, effect_of
from ordag.workbench.state import read_state
from ordag.workbench.tables import Cache, Tables, numbers_of
from ordag.workbench.tasks import search
from ordag.workbench.workbench import MOST_FIT_NUMBERS, OTHER_NUMBERS, Workbench, _weight


def text(rows, p, seed=0):
    """A table of numbers as the bytes of a CSV file."""
    written = io.BytesIO()
    header = ",".join(f"v{j}" for j in range(p))
    X = np.random.default_rng(seed).normal(size=(rows, p))
    np.savetxt(written, X, delimiter=",", header=header, comments="", fmt="%.4f")
    return written.getvalue()


def chosen(opened, **changes):
    return read_state(state({"id": opened.id}, **changes)).for_columns(opened.table.names)


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"transform": {"v0": 2.0}}, {"columns": ["v0", "v1"]}])
def test_tables_that_had_to_go_are_freed_with_all_that_was_made_of_them(changes):
    tables, alive = Tables(2**12), []
    for seed in range(6):
        opened = tables.upload(f"{seed}.csv", text(200, 3, seed))
        tables.changed(opened, chosen(opened, **changes))
        alive.append(weakref.ref(opened.request.data))
    gc.collect()
    assert [one() is None for one in alive] == 5 * [True] + [False]


def test_a_table_in_other_units_is_kept_while_its_table_is_open():
    tables = Tables(2**24)
    opened = tables.upload("one.csv", text(50, 3))
    metres = chosen(opened, transform={"v0": 2.0})
    made = tables.changed(opened, metres)
    tables.upload("other.csv", text(50, 3, 1))
    assert tables.changed(opened, metres).moments is made.moments
    tables.start_with("marks", "marks", {})
    state_of_first = read_state(state({"id": tables.first.id}, columns=["algebra", "vectors"]))
    made = tables.changed(tables.first, state_of_first)
    tables.upload("third.csv", text(50, 3, 2))
    assert tables.changed(tables.first, state_of_first).moments is made.moments


def test_an_answer_is_whole_as_soon_as_its_verdict_is_known():
    fit = ordag.learn("marks", "cvs", alpha=0.05)
    first = brief(fit, Origin("marks"), layout=False)["verdict"]
    assert first["pending"]
    assert fit.verdict.sentence
    then = brief(fit, Origin("marks"), layout=False)["verdict"]
    assert not then["pending"]
    assert then == brief(fit, Origin("marks"), layout=False, whole=True)["verdict"]


def test_an_effect_is_written_with_three_digits():
    found = effect_of(ordag.learn("marks", "cvs", alpha=0.05), "algebra", "statistics")
    ends = " to ".join(f"{found[name]:.3g}" for name in ("low", "high"))
    assert f"makes statistics {found['total']:.3g} more in expectation, along " in found["sentence"]
    assert f" interval {ends}, " in found["sentence"]


def test_a_search_in_another_process_is_that_of_the_library():
    fit = ordag.learn("marks", "cvs", alpha=0.05)
    found = search(fit.moments, fit.profile, fit.method_settings, progress=lambda news: None)
    assert (found.graph, found.names, found.moments.n) == (fit.graph, fit.names, fit.n)


def test_what_is_unwanted_no_longer_counts():
    cache = Cache(3)
    for name in "ab":
        cache.put(name, name.upper(), 1)
    cache.drop(lambda key: key == "a")
    cache.put("c", "C", 2)
    assert ["a" in cache, cache.get("b"), cache.get("c")] == [False, "B", "C"]


@pytest.mark.thorough
def test_fits_are_weighed_with_their_samples_of_rows():
    """More columns in other units than there is room for: those not used for longest are gone."""
    workbench = Workbench(Tables(2**24))
    opened = workbench.tables.upload("large.csv", text(20_000, 4))
    room = MOST_FIT_NUMBERS // opened.table.profile.rows.size
    asked = [state({"id": opened.id}, transform={"v0": 2.0 + k}) for k in range(room + 5)]

    async def ask_all():
        for one in asked:
            await workbench.fit(await workbench.question(one))

    finished(ask_all)
    workbench.close()
    kept = [fit for fit, _ in workbench._fits._values.values()]
    assert sum(fit.profile.rows.size for fit in kept) <= MOST_FIT_NUMBERS
    assert 0 < len(kept) < room


def test_a_file_is_bounded_by_what_its_columns_become(monkeypatch):
    monkeypatch.setattr("ordag.workbench.tables.MOST_COLUMNS", 3)
    tables = Tables(2**20)
    assert len(tables.upload("t.csv", text(50, 3)).table.names) == 3
    with pytest.raises(DataError, match=r"has more than 3 columns.*ordag learn"):
        tables.upload("t.csv", text(50, 4))


def test_the_fingerprint_says_what_it_is_of(tmp_path):
    """That of a file is of its bytes; a folder has none of its own."""
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=list("abc"))
    for k in range(2):
        rows[25 * k : 25 * k + 25].to_parquet(tmp_path / f"{k}.parquet")
    file = tmp_path / "0.parquet"
    for path in (tmp_path, file):
        workbench = Workbench(Tables(2**20))
        workbench.tables.start_with(str(path), path.name, {})
        asked = finished(workbench.question, state({"id": workbench.tables.first.id}))
        said = provenance(finished(workbench.fit, asked), asked.origin)
        workbench.close()
        assert (said["digest"], said["digest_of"]) == fingerprint(ordag.learn(path, "cvs"), path)
        assert (said["digest_of"] == OF_BYTES) == (path == file)


def test_a_fit_weighs_its_matrices_its_sample_and_its_resamples():
    fit = ordag.learn("marks", "cvs")
    alone = 8 * 5**2 + numbers_of(fit.profile) + OTHER_NUMBERS
    assert _weight(fit) == alone
    resampled = ordag.learn("marks", "cvs", bootstrap=3, seed=1, workers=1)
    assert _weight(resampled) == alone + 12 * 5**2 + resampled.support.positions.size


def test_a_built_in_table_is_not_a_file_with_its_name_and_bytes():
    tables = Tables(2**20)
    uploaded = tables.upload("marks", DATASETS["marks"].path.read_bytes())
    assert (uploaded.request.builtin, tables.builtin("marks").request.builtin) == (None, "marks")
