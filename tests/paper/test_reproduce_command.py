"""`ordag reproduce` as a person uses it, with a tiny experiment in the place of the paper's."""

import sys

import pytest
import tiny_experiment as tiny
from click.testing import CliRunner
from tiny_experiment import squares

import ordag.paper
from ordag.cli.reproduce import duration, reproduce
from ordag.paper import ReproductionError

module = sys.modules["ordag.cli.reproduce"]


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command with these words in an empty folder; gives the outcome."""
    monkeypatch.chdir(tmp_path)

    def call(*words, experiment=None):
        monkeypatch.setattr("ordag.paper.reproduction.EXPERIMENTS", {"squares": experiment or squares()})
        return CliRunner().invoke(reproduce, list(words))

    return call


@pytest.mark.slow
def test_tables_and_sentences(run, tmp_path):
    outcome = run("--quick", "--workers", "1")
    assert outcome.exit_code == 0
    assert "Squares and cubes" in outcome.stdout
    assert "square" in outcome.stdout
    assert "· The paper says that squares are positive; here all 12 are." in outcome.stdout
    assert "12 tasks; about 2 seconds with 1 worker. Results go to ordag-results" in outcome.stderr
    names = sorted(path.name for path in (tmp_path / "ordag-results").iterdir())
    assert names == ["squares.csv", "squares.journal", "squares.md", "squares.png", "squares.svg"]


@pytest.mark.slow
def test_going_on(run):
    run("squares", "--quick", "--workers", "1", "--out", "deep/er")
    outcome = run("squares", "--replicates", "3", "--workers", "1", "--out", "deep/er")
    assert "18 tasks, 12 of them done already" in outcome.stderr
    assert "here all 18 are" in outcome.stdout
    assert "21 tasks" in run("--complete", "--replicates", "3", "--workers", "1").stderr


def test_the_list(run):
    outcome = run("--list")
    assert outcome.stdout == "squares  Squares and cubes\n"


def test_the_papers_own_list():
    outcome = CliRunner().invoke(reproduce, ["--list"])
    names = [line.split()[0] for line in outcome.stdout.splitlines()]
    assert names == ["section2", "figure2", "figure3", "figure4", "table1", "marks", "beyond", "authors"]


@pytest.mark.slow
def test_lines_now_and_then_without_a_terminal(run, monkeypatch):
    monkeypatch.setattr(module, "REPORT_SECONDS", -1.0)
    outcome = run("--quick", "--workers", "1")
    assert "squares: 12 of 12 tasks done, about 1 seconds left" in outcome.stderr


@pytest.mark.slow
def test_a_bar_on_a_terminal(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("ordag.cli.progress.BEGUN", -100.0)
    with module.Progress() as line:
        ordag.paper.reproduce([squares()], True, tmp_path, workers=1, progress=module.Steps("out", line))
        assert "100 %  squares: 12 of 12 tasks done" in line.line(line.news, line.told, 80)
    announced, _, drawn = capsys.readouterr().err.partition("\n")
    assert "12 tasks; about" in announced
    assert "squares: " in drawn


def test_an_interruption_says_how_to_go_on(run, tmp_path):
    outcome = run("--workers", "1", "--out", "results", experiment=squares(tiny.interrupted))
    assert outcome.exit_code == 130
    assert outcome.stderr.endswith(
        "stopped. Finished tasks are kept in results: the same command continues from there.\n"
    )
    assert (tmp_path / "results" / "squares.journal").exists()


def test_the_system_may_stop_it_too(run):
    from ordag.cli import Terminated

    def terminated(*_):
        raise Terminated

    assert run("--workers", "1", experiment=squares(terminated)).exit_code == 143


def test_what_goes_wrong_comes_as_an_error_of_ordag(run):
    outcome = run("--workers", "1", experiment=squares(tiny.broken))
    assert isinstance(outcome.exception, ReproductionError)
    assert "no cube today" in str(outcome.exception)
    assert run("figure99").exception.args[0] == "There is no experiment figure99. There are squares."
    assert run("--replicates", "0").exit_code == 2


def test_lengths_of_time():
    assert [duration(seconds) for seconds in (0.1, 75, 150, 7200)] == [
        "1 seconds",
        "75 seconds",
        "2 minutes",
        "2.0 hours",
    ]
