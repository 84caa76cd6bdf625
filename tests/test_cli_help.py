"""What the command line says of itself: help on every width of terminal, completion, version."""

from __future__ import annotations

import shutil
import subprocess

import click
import pytest

from ordag import __version__
from ordag.cli import COMMANDS, cli
from ordag.cli.help import SHELLS, in_options
from ordag.errors import OrdagError

WORDS = {name: cli.get_command(click.Context(cli), name) for name in COMMANDS}


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("Learn, with time='year' and lags=1 (--time year --lags 1).", "Learn, with --time year --lags 1."),
        ("They may agree, with kicks=500 (--kicks 500).", "They may agree, with --kicks 500."),
        ("Say units='commensurable' (--units commensurable); else not.", "Say --units commensurable; else not."),
    ],
)
def test_sentences_name_options_where_they_are_typed(said, typed):
    assert in_options(OrdagError(said), [WORDS["learn"]]) == typed


def test_version(run):
    assert run("--version")[:2] == (0, f"ordag, version {__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("columns", [52, 60, 80, 200])
def test_help_fits_the_terminal(run, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    status, out, err = run(name, "--help")
    assert (status, err) == (0, "")
    told, _, examples = out.partition("\nExamples:\n")
    assert all(len(line) <= columns for line in told.splitlines() if not line.startswith("  -"))
    lines, _, status_lines = examples.partition("\n\nExit status:\n")
    assert all("ordag " in line for line in lines.splitlines())
    assert [
        line.split()[0].rstrip(",") for line in status_lines.splitlines() if line.startswith("  ") and line[2].isdigit()
    ] == [
        "0",
        "2",
        "130",
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name):
    for one in WORDS[name].params:
        if isinstance(one, click.Option):
            assert one.help, f"{name} {one.opts}"
            assert one.help.rstrip(")").endswith("."), f"{name} {one.opts}: {one.help}"


def test_the_list_of_commands_says_what_their_help_says():
    for name, sentence in COMMANDS.items():
        assert WORDS[name].parts()[0][0].startswith(sentence.rstrip(".")), name


def complete(monkeypatch, run, *words):
    monkeypatch.setenv("_ORDAG_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["ordag", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    status, out, err = run()
    assert (status, err) == (0, "")
    return out.split()


def test_completion_knows_commands_options_choices_and_names(run, monkeypatch):
    assert complete(monkeypatch, run, "si") == ["plain,simulate"]
    assert complete(monkeypatch, run, "learn", "marks", "--varia") == ["plain,--variance"]
    assert complete(monkeypatch, run, "learn", "marks", "--variance", "ro") == ["plain,robust"]
    assert complete(monkeypatch, run, "learn", "ma") == ["plain,marks"]
    assert complete(monkeypatch, run, "simulate", "ho") == ["plain,homogeneous"]
    assert complete(monkeypatch, run, "reproduce", "figure2", "fig") == [
        "plain,figure2",
        "plain,figure3",
        "plain,figure4",
    ]


def test_completion_of_data_prefers_files(run, monkeypatch, tmp_path):
    (tmp_path / "march.csv").write_text("a,b\n1,2\n")
    assert complete(monkeypatch, run, "learn", "ma") == ["file,ma"]


@pytest.mark.system
@pytest.mark.parametrize("shell", SHELLS)
def test_completion_scripts(run, shell):
    status, out, _ = run("completion", shell)
    assert status == 0
    assert f"_ORDAG_COMPLETE={shell}_complete" in out
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=out, text=True, check=True, timeout=600)


def test_other_shells_are_refused_with_those_known(run):
    status, out, err = run("completion", "tcsh")
    assert (status, out) == (2, "")
    assert all(shell in err for shell in SHELLS)


def test_what_is_nearly_a_command_or_a_design_is_answered_with_the_right_ones(run):
    assert run("lern", "marks") == (
        2,
        "",
        "Error: There is no command 'lern'. Did you mean 'learn'? See ordag --help.\n",
    )
    assert run("completion")[2].startswith("Error: Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish.")
    status, out, err = run("simulate", "homogenous")
    assert (status, out) == (2, "")
    assert "homogeneous" in err
