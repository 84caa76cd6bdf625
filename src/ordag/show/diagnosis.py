"""A Diagnosis in, lines out: the verdict first, then the findings by level. Names are text, never markup."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from ordag.trust.diagnosis import Diagnosis
    from ordag.trust.verdict import Verdict

TITLES = {"warning": "Warnings", "look": "Worth a look", "fine": "Fine", "unchecked": "Not checked"}
STYLES = {"warning": "bold red", "look": "bold yellow", "fine": "bold green", "unchecked": "bold"}
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
    return f"check · {fit.n} rows · {len(fit.names)} variables · {arrows} {'arrow' if arrows == 1 else 'arrows'}"


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
    from rich.padding import Padding
    from rich.text import Text

    title = Text("Verdict", style="bold")
    if verdict.tier is not None:
        title = Text.assemble(title, " · ", (TIERS[verdict.tier], TIER_STYLES[verdict.tier]))
    console.print(title)
    console.print(Padding(Text(verdict.sentence), (0, 0, 0, 2), expand=False))
    if verdict.help:
        console.print(Padding(Text(verdict.help, style="dim"), (0, 0, 0, 2), expand=False))


def print_diagnosis(diagnosis: Diagnosis, console: Console, description: str = "") -> None:
    """The verdict, then the findings from warnings to what is fine."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    start = f" · {description} · " if description else " · "
    console.print(Text.assemble(("Ordag", "bold"), start, heading(diagnosis)))
    console.print()
    print_verdict(diagnosis.verdict, console)
    width = max(len(finding.key) for finding in diagnosis.findings)
    for level, findings in diagnosis.by_level().items():
        console.print()
        console.print(Text(TITLES[level], style=STYLES[level]))
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(no_wrap=True, min_width=width, style="cyan")
        table.add_column(overflow="fold")
        for finding in findings:
            table.add_row(Text(title(finding.key)), Text(finding.sentence))
        console.print(Padding(table, (0, 0, 0, 2), expand=False))
    for sentence in diagnosis.fit.warnings:
        console.print()
        console.print(Text.assemble(("Warning ", "bold yellow"), sentence))
