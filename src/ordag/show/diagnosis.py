"""A Diagnosis in, lines out: the verdict first, then the findings by level. Names are text, never markup."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ordag.assumptions.check import TITLES, Diagnosis
from ordag.show.screen import Column, print_head, say, show_table
from ordag.show.terminal import print_verdict
from ordag.words import harmless

STYLES = {"warning": "bold red", "look": "bold yellow", "fine": "bold green", "unchecked": "bold"}
NARROW = 60  # letters


def print_diagnosis(diagnosis: Diagnosis, console: Console, description: str = "") -> None:
    """The verdict, then the findings from warnings to what is fine; on a narrow screen each under its key."""
    print_head(console, description, diagnosis.heading)
    console.print()
    print_verdict(diagnosis.verdict, console, verbose=True)
    width = max(len(finding.key) for finding in diagnosis.findings)
    for level, findings in diagnosis.by_level().items():
        console.print()
        console.print(Text(TITLES[level], style=STYLES[level]))
        if console.width < NARROW:
            for finding in findings:
                say(console, finding.title, "  ", style="cyan")
                say(console, harmless(finding.sentence), "    ")
        else:
            keys = [finding.title.ljust(width) for finding in findings]
            sentences = [harmless(finding.sentence) for finding in findings]
            show_table(console, [Column("", keys, style="cyan"), Column("", sentences, prose=True)])
    for sentence in diagnosis.fit.warnings:
        console.print()
        say(console, Text.assemble(("Warning ", "bold yellow"), harmless(sentence)))
