"""A Diagnosis in, lines out: the verdict first, then the findings by level. Names are text, never markup."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ordag.show.screen import Column, print_head, say, show_table
from ordag.words import counted, harmless

if TYPE_CHECKING:
    from ordag.diagnosis.diagnosis import Diagnosis
    from ordag.evidence.verdict import Verdict

TITLES = {"warning": "Warnings", "look": "Worth a look", "fine": "Fine", "unchecked": "Not checked"}
STYLES = {"warning": "bold red", "look": "bold yellow", "fine": "bold green", "unchecked": "bold"}
NARROW = 60  # letters
TIERS = {
    "tested": "1 of 4, tested",
    "untested": "2 of 4, untested",
    "assumed": "3 of 4, assumed",
    "uninformative": "4 of 4, uninformative",
}
TIER_STYLES = {
    "tested": "bold green",
    "untested": "bold yellow",
    "assumed": "bold yellow",
    "uninformative": "bold red",
}


def heading(diagnosis: Diagnosis) -> str:
    fit, arrows = diagnosis.fit, diagnosis.fit.graph.edge_count
    return f"check · {counted(fit.n, 'row')} · {counted(len(fit.names), 'variable')} · {counted(arrows, 'arrow')}"


def title(key: str) -> str:
    return key.replace("_", " ")


def plain(diagnosis: Diagnosis) -> str:
    """What `print(diagnosis)` shows."""
    tier = diagnosis.verdict.tier
    lines = [f"Diagnosis: {heading(diagnosis)}", f"Verdict ({TIERS[tier]})" if tier else "Verdict"]
    lines += textwrap.wrap(diagnosis.verdict.sentence, 98, initial_indent="  ", subsequent_indent="  ")
    for level, findings in diagnosis.by_level().items():
        lines.append(TITLES[level])
        if level == "unchecked":
            lines.append(f"  {', '.join(title(finding.key) for finding in findings)}")
            continue
        width = max(len(finding.key) for finding in diagnosis.findings)
        for finding in findings:
            start = f"  {title(finding.key):<{width}}  "
            lines += textwrap.wrap(
                finding.sentence, 98, initial_indent=start, subsequent_indent=" " * len(start), break_long_words=False
            )
    return "\n".join(lines)


def print_verdict(verdict: Verdict, console: Console) -> None:
    """The verdict alone, with how often such verdicts go with wrong arrows, or where probabilities come from."""
    title = Text("Verdict", style="bold")
    if verdict.tier is not None:
        title = Text.assemble(title, " · ", (TIERS[verdict.tier], TIER_STYLES[verdict.tier]))
    console.print(title)
    say(console, harmless(verdict.sentence), "  ")
    if verdict.help:
        say(console, harmless(verdict.help), "  ", style="dim")


def print_diagnosis(diagnosis: Diagnosis, console: Console, description: str = "") -> None:
    """The verdict, then the findings from warnings to what is fine; on a narrow screen each under its key."""
    print_head(console, description, heading(diagnosis))
    console.print()
    print_verdict(diagnosis.verdict, console)
    width = max(len(finding.key) for finding in diagnosis.findings)
    for level, findings in diagnosis.by_level().items():
        console.print()
        console.print(Text(TITLES[level], style=STYLES[level]))
        if console.width < NARROW:
            for finding in findings:
                say(console, title(finding.key), "  ", style="cyan")
                say(console, harmless(finding.sentence), "    ")
        else:
            keys = [title(finding.key).ljust(width) for finding in findings]
            sentences = [harmless(finding.sentence) for finding in findings]
            show_table(console, [Column("", keys, style="cyan"), Column("", sentences, prose=True)])
    for sentence in diagnosis.fit.warnings:
        console.print()
        say(console, Text.assemble(("Warning ", "bold yellow"), harmless(sentence)))
