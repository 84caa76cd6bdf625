"""What tests of several rooms use."""

from __future__ import annotations

import sys

import pytest

from ordag.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run `ordag` with these words in an empty folder; gives status, output, messages."""
    monkeypatch.chdir(tmp_path)

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
