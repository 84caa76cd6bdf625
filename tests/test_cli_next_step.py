"""The next command is said to a person at a terminal, and to nobody else."""

from __future__ import annotations

import io
import shlex

import click
import pytest

from ordag.cli import answers
from ordag.cli.answers import as_words, say_next


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_one_line_on_a_terminal_alone(monkeypatch, capsys, terminal):
    monkeypatch.setattr(answers.sys, "stdout", Terminal() if terminal else io.StringIO())
    monkeypatch.setattr(answers.sys, "stderr", error := Terminal())
    say_next("the effect", "effect", "my data.csv", "--from", "a $b", "--to", "c")
    line = click.unstyle(error.getvalue())
    assert line.count("\n") == terminal
    if terminal:
        words = shlex.split(line.partition("effect: ")[2])
        assert words == ["ordag", "effect", "my data.csv", "--from", "a $b", "--to", "c"]


def test_standard_input_is_a_dash_again():
    assert as_words(["a.csv", "/tmp/x/standard input"]) == ["a.csv", "-"]
    assert as_words(None) == []
