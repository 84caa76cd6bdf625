"""What tests of several rooms use."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from chromium import browser, watched  # noqa: F401
from hypothesis import settings
from threadpoolctl import threadpool_limits

from ordag.cli import main

os.environ.setdefault("OMP_NUM_THREADS", "1")
threadpool_limits(int(os.environ["OMP_NUM_THREADS"]))
"""One thread of BLAS, here and in what tests start: two of them wait for each other in the many small products of oracles."""

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "new"))
"""A developer's run looks for new cases every time; with HYPOTHESIS_PROFILE=same, as in CI, they are always the same ones."""

if (
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN
):  # as in the background of a shell: what the tests start would never hear of Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW = (
    "benchmarks/",
    "browser/",
    "diagnosis/test_diagnosis.py",
    "evidence/test_forecast.py",
    "evidence/test_verdict.py",
    "explore/test_jobs.py",
    "explore/test_load.py",
    "explore/test_page_",
    "explore/test_routes.py",
    "explore/test_server.py",
    "graph/test_equivalence.py::test_equals_the_union",
    "graph/test_graph_formats.py",
    "graph/test_links.py::test_a_wide_graph",
    "graph/test_links.py::test_few_edges_take",
    "graph/test_partly_directed.py::test_knowledge_is_carried",
    "learners/test_few_rows.py::test_auto_compares",
    "learners/test_gds",
    "learners/test_ges_",
    "learners/test_knowledge_",
    "learners/test_pc_",
    "learners/test_pooled_",
    "learners/test_regressions.py",
    "learners/test_small_effects.py",
    "model/test_identifiability.py",
    "model/test_refit.py::test_keeps_its_digits",
    "order/test_on_device.py",
    "order/test_sparse.py::test_compiled_and_plain",
    "order/test_sparse.py::test_population",
    "paper/",
    "parents/test_adaptive.py",
    "parents/test_parents.py::test_bic_announces",
    "picture/test_layout.py::test_any_graph",
    "show/test_again.py",
    "show/test_charts.py",
    "show/test_notebooks.py",
    "show/test_plots.py::test_charts_too",
    "show/test_plots.py::test_every_kind",
    "show/test_plots.py::test_names_that",
    "show/test_plots.py::test_plotting_needs",
    "show/test_plots.py::test_the_same_fit",
    "show/test_screen.py::test_a_pipe",
    "show/test_screen.py::test_lines",
    "show/test_screen.py::test_odd_names",
    "show/test_text.py::test_the_table_of_arrows",
    "test_bootstrapping.py",
    "test_cli.py::test_a_closed_pipe",
    "test_cli.py::test_methods_by_one_word",
    "test_cli_process.py",
    "test_cli_progress.py::test_in_a_real_terminal",
    "test_docs.py",
    "test_effects.py",
    "test_faults.py",
    "test_learning.py::test_a_pooled_answer",
    "test_learning.py::test_any_unit",
    "test_learning.py::test_every_kind_of_table",
    "test_learning.py::test_what_float64",
    "test_learning.py::test_what_learn_gives",
)
"""Longer tests, by the beginnings of their addresses, beside single ones that are marked themselves: `make check` leaves them out."""


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if f"{item.path.relative_to(here).as_posix()}::{item.name}".startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def short_forecasts():
    """Every answer has a verdict, and every verdict a forecast: from fewer tables than a user's, where nobody says how many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordag.evidence.forecast.MOST", 40)
        yield


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run `ordag` with these words in an empty folder; gives status, output, messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # set where tests run in several processes: a pipe has no width

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["ordag", *map(str, words)])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = stop.code or 0
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call
