"""Answers on a terminal: a fit, its verdict, a diagnosis, a comparison. Names are printed as text, never as markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ordag.assess.clusters import both_levels
from ordag.assess.verdict import TIERS, Verdict
from ordag.checking import TITLES, Diagnosis
from ordag.common.words import counted, harmless, number, shown
from ordag.comparison import Comparison
from ordag.data.roles import ColumnRole
from ordag.data.set_aside import few_values_sentence, set_aside_sentence
from ordag.show.cells import (
    arrows,
    differences,
    edge_cells,
    group_cells,
    legend,
    lines_without_direction,
    margin,
    present,
    sources,
    tied_with,
)
from ordag.show.screen import Column, as_text, print_head, print_rest, say, section, show_table, written
from ordag.show.text import (
    heading,
    kinds_of_rows,
    left_out,
    levels_in_words,
    order_title,
    other_units,
    other_warnings,
    resampled,
    scored,
)

if TYPE_CHECKING:
    from ordag.decisions.environment_changes import EnvironmentChanges
    from ordag.fit import Fit

MOST_ROWS = 40
"""Rows of a table on a terminal."""

MOST_CHANGES = 15
"""Rows of the table of equations that differ."""

FILES = "--json or --out"

ARROW_COLUMNS = ("robust", "s.e.", "edge", "p direction", "p edge", "direction", "support", "arrow")
"""Columns of the table of arrows in the order in which a narrow screen drops them; columns not listed go first."""

METHOD_COLUMNS = ("seconds", "class_hamming", "undirected", "bic")
"""Columns of a comparison in the order in which a narrow screen drops them; the others always stay."""

STYLES = {"warning": "bold red", "look": "bold yellow", "fine": "bold green", "unchecked": "bold"}

NARROW = 60
"""Screen width in characters below which each finding is printed under its title instead of beside it."""


def print_fit(fit: Fit, console: Console, description: str = "", *, verbose: bool = False) -> None:
    """Print the order, the graph, the table of arrows, the verdict and the notes; if `verbose`, what the verdict rests on."""
    print_head(console, description, heading(fit))
    _print_aside(fit.columns, console)
    for sentence in kinds_of_rows(fit):
        say(console, harmless(f"{sentence}."))
    if fit.order is not None:
        section(console, order_title(fit))
        if fit.ordering is not None:
            _print_steps(fit, console)
        else:
            order = present(fit)
            more = f" and {len(order) - MOST_ROWS} more" if len(order) > MOST_ROWS else ""
            say(console, f"{', '.join(map(shown, order[:MOST_ROWS]))}{more}", "  ")
    section(console, "Graph")
    _print_graph(fit, console)
    section(console, "Arrows")
    _print_arrows(fit, console)
    _print_groups(fit, console)
    _print_lines(fit, console)
    if fit.between is not None:
        _print_levels(fit, console)
    if fit.changes is not None:
        _print_changes(fit.changes, console)
    console.print()
    print_verdict(fit.verdict, console, verbose=verbose)
    for sentence in (
        few_values_sentence(fit.columns),
        other_units(fit),
        fit.result.note(fit),
        scored(fit) if verbose else "",
        left_out(fit),
        resampled(fit),
    ):
        if sentence:
            say(console, f"{written(console, sentence)}.", style="dim")
    for sentence in other_warnings(fit):
        _warn(console, sentence)


def print_verdict(verdict: Verdict, console: Console, *, verbose: bool = False) -> None:
    """Print the verdict and, if `verbose`, what it rests on."""
    title = Text("Verdict", style=f"bold {verdict.light}")
    if verdict.tier is not None:
        title = Text.assemble(title, f" · {TIERS[verdict.tier]}")
    console.print(title)
    say(console, written(console, verdict.sentence), "  ")
    if verbose:
        grounds = verdict.help
        for caution in verdict.cautions:
            if caution.sentence in verdict.sentence:  # said above
                grounds = " ".join(grounds.replace(caution.sentence, "").split())
        say(console, written(console, grounds), "  ", style="dim")


def print_diagnosis(diagnosis: Diagnosis, console: Console, description: str = "") -> None:
    """Print the verdict, then the findings from warnings to what is fine."""
    print_head(console, description, diagnosis.heading)
    _print_aside(diagnosis.fit.columns, console)
    for sentence in kinds_of_rows(diagnosis.fit):
        say(console, harmless(f"{sentence}."))
    console.print()
    print_verdict(diagnosis.verdict, console, verbose=True)
    width = max(len(finding.key) for finding in diagnosis.findings)
    for level, findings in diagnosis.by_level().items():
        console.print()
        console.print(Text(TITLES[level], style=STYLES[level]))
        if console.width < NARROW:
            for finding in findings:
                say(console, finding.title, "  ", style="cyan")
                say(console, written(console, finding.sentence), "    ")
        else:
            titles = [finding.title.ljust(width) for finding in findings]
            sentences = [written(console, finding.sentence) for finding in findings]
            show_table(console, [Column("", titles, style="cyan"), Column("", sentences, prose=True)])
    for sentence in other_warnings(diagnosis.fit):
        console.print()
        _warn(console, sentence)


def print_comparison(comparison: Comparison, console: Console, description: str = "") -> None:
    """Print the methods, the pairs that they share, and the pairs on which they differ."""
    sizes = f"{counted(comparison.rows, 'row')} · {counted(len(comparison.names), 'variable')}"
    print_head(console, description, sizes)
    _print_aside(next((one.fit.columns for one in comparison.outcomes if one.fit is not None), ()), console)
    console.print()
    cells = comparison.cells
    methods = []
    for k, (key, title) in enumerate(comparison.titles.items()):
        rank = METHOD_COLUMNS.index(key) if key in METHOD_COLUMNS else None
        methods.append(Column(title, [row[k] for row in cells], right=k > 0, rank=rank))
    show_table(console, methods, elsewhere="; see --json")
    found = [outcome.method for outcome in comparison.outcomes if outcome.fit is not None]
    said: dict[str, list[str]] = {}
    for outcome in comparison.outcomes:
        for sentence in [outcome.problem] if outcome.problem else (other_warnings(outcome.fit) if outcome.fit else ()):
            said.setdefault(sentence, []).append(outcome.method)
    for sentence, methods_saying in said.items():
        if len(comparison.outcomes) > 1 and len(methods_saying) >= len(comparison.outcomes):
            _warn(console, sentence)
        else:
            names = ", ".join(dict.fromkeys(methods_saying))
            say(console, Text.assemble((f"{names}: ", "bold yellow"), written(console, sentence)))
    if len(found) > 1:
        section(console, "Adjacent pairs in common")
        shared = comparison.shared
        counts = [Column(name, [str(row[k]) for row in shared], right=True, rank=-k) for k, name in enumerate(found)]
        show_table(console, [Column("", found), *counts], elsewhere="; see --json")
    rows = comparison.edge_rows
    differing = [row for row in rows if len(set(list(row.values())[2:])) > 1]
    console.print()
    agreed = counted(len(rows) - len(differing), "pair")
    say(console, f"All agree on {agreed}, and differ on {len(differing)}", style="bold")
    if differing:
        first = differing[:MOST_ROWS]
        pairs = Column("", [f"{shown(row['first'])} · {shown(row['second'])}" for row in first], prose=True)
        graphs = list(first[0])[2:]
        marks = [Column(name, [row[name] for row in first], right=True, rank=-k) for k, name in enumerate(graphs)]
        show_table(console, [pairs, *marks], elsewhere="; see --json")
        print_rest(console, len(differing) - MOST_ROWS, "pairs")


def fit_text(fit: Fit, width: int, *, verbose: bool = False) -> str:
    """Return what `print_fit` prints on a terminal of this width, without colours."""
    return as_text(lambda console: print_fit(fit, console, verbose=verbose), width)


def _print_aside(columns: Sequence[ColumnRole], console: Console) -> None:
    """Print which columns were set aside, if any was."""
    sentence = set_aside_sentence(columns)
    if sentence:
        say(console, f"{written(console, sentence)}.")


def _warn(console: Console, sentence: str) -> None:
    say(console, Text.assemble(("Warning ", "bold yellow"), written(console, sentence)))


def _print_levels(fit: Fit, console: Console) -> None:
    """Print the pairs that the graph joins, or that of the means of clusters, beside each other."""
    section(console, "Within and between clusters")
    rows = both_levels(fit)
    if rows:
        first, second, inside, outside, r, s = (list(cells) for cells in zip(*rows[:MOST_ROWS], strict=True))
        columns = [
            Column("", first),
            Column("within", [one or "–" for one in inside]),
            Column("between", [one or "–" for one in outside]),
            Column("", second),
            Column("r within", r, right=True, rank=1),
            Column("r between", s, right=True, rank=1),
        ]
        show_table(console, columns, elsewhere=f"; see {FILES}")
        print_rest(console, len(rows) - MOST_ROWS, "pairs")
    say(console, harmless(levels_in_words(fit)), "  ")


def _print_changes(changes: EnvironmentChanges, console: Console) -> None:
    """Print which equations differ between environments, and in what."""
    section(console, "Equations that differ between environments")
    rows = differences(changes)
    if not rows:
        say(console, harmless(f"{changes.sentence}."), "  ")
        return
    each = zip(*rows[:MOST_CHANGES], strict=True)
    variables, environments, what, p_values = (list(column) for column in each)
    columns = [
        Column("equation of", variables),
        Column("in", environments),
        Column("differs", what, prose=True),
        Column("p", p_values, right=True, rank=1),
    ]
    show_table(console, columns, elsewhere="; see --json")
    print_rest(console, len(changes.found) - MOST_CHANGES, "differences")


def _print_steps(fit: Fit, console: Console) -> None:
    columns = fit.step_columns
    count = min(len(columns["node"]), MOST_ROWS)
    tied = tied_with(fit)[:MOST_ROWS]
    table = [
        Column("step", [str(k + 1) for k in range(count)], right=True, rank=1),
        Column("variable", [shown(node) for node in columns["node"][:count]]),
        Column("variance given earlier", [number(value) for value in columns["variance"][:count]], right=True, rank=2),
        Column("margin to runner-up", [margin(value) for value in columns["margin"][:count]], right=True, rank=0),
    ]
    show_table(
        console, [*table, Column("tied with", tied, prose=True)] if any(tied) else table, elsewhere=f"; see {FILES}"
    )
    print_rest(console, len(columns["node"]) - MOST_ROWS, "steps", FILES)
    if any(cell.endswith("!") for cell in tied):
        note = "! the graph has an edge among these variables, and the variances do not settle its direction"
        say(console, note, "  ", style="dim")


def _print_graph(fit: Fit, console: Console) -> None:
    lines = arrows(fit)
    if len(lines) > MOST_ROWS:
        lines = [line for line in lines if line[1]]
    names, pointing = [name for name, _ in lines[:MOST_ROWS]], [line for _, line in lines[:MOST_ROWS]]
    show_table(console, [Column("", names, style="cyan"), Column("", pointing, prose=True)])
    print_rest(console, len(lines) - MOST_ROWS, "variables", FILES)


def _print_arrows(fit: Fit, console: Console) -> None:
    columns = fit.edge_columns
    count = min(len(columns["source"]), MOST_ROWS)
    if not count:
        console.print("  none")
        return
    table = [
        Column("source", [shown(name) for name in sources(fit, count)]),
        Column("", ["→"] * count),
        Column("target", [shown(name) for name in columns["target"][:count]]),
    ]
    for title, cells in edge_cells(fit, count).items():
        rank = ARROW_COLUMNS.index(title) if title in ARROW_COLUMNS else -1
        table.append(Column(title, cells, right=title != "direction", rank=None if title == "weight" else rank))
    left_out = show_table(console, table, elsewhere=f"; see {FILES}")
    print_rest(console, len(columns["source"]) - MOST_ROWS, "arrows", FILES)
    for sentence in legend(fit, left_out):
        say(console, sentence, "  ", "dim")


def _print_groups(fit: Fit, console: Console) -> None:
    if not fit.cause_arrows:
        return
    section(console, "Categories as causes")
    cells = group_cells(fit, MOST_ROWS)
    prose = list(cells)[-1]
    ranks = {"F test": 0, "p": 1}
    columns = [
        Column(title, values, right=title == "p", prose=title == prose, rank=ranks.get(title))
        for title, values in cells.items()
    ]
    show_table(console, columns, elsewhere=f"; see {FILES}")
    print_rest(console, len(fit.cause_arrows) - MOST_ROWS, "arrows from categories", FILES)


def _print_lines(fit: Fit, console: Console) -> None:
    lines = lines_without_direction(fit)
    if not lines:
        return
    section(console, "Without direction")
    first = lines[:MOST_ROWS]
    table = [
        Column("", [shown(a) for (a, _), _ in first]),
        Column("", ["—"] * len(first)),
        Column("", [shown(b) for (_, b), _ in first]),
    ]
    if any(p_value for _, p_value in first):
        table.append(Column("p edge", [p_value for _, p_value in first], right=True))
    show_table(console, table)
    print_rest(console, len(lines) - MOST_ROWS, "edges", FILES)
