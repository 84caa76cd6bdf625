"""`python -m benchmarks honesty`: what the verdict says of its arrows beside what is true of them, into docs/trust.md."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.accuracy.drawing import network_folder
from benchmarks.honesty.kinds import BROKEN, KINDS, Kind
from benchmarks.timing import machine, table
from ordag.common.arrays import Mask

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
BEGIN, END = "<!-- honesty -->", "<!-- end of honesty -->"
TABLES = {"cvs": 60, "pooled": 10}

COUNTED = ("dependent_rows", "groups_of_rows", "duplicate_rows", "filled_cells", "influence", "hidden_causes")
"""Cautions that are counted where nothing is broken."""
TIERS = ("tested", "untested", "assumed", "uninformative")


class Table(NamedTuple):
    """What was said of one table, and what there was: shares of wrong arrows and of turned ones."""

    tier: str
    said: tuple[float, float]
    was: tuple[float, float]
    arrows: int
    cautions: tuple[str, ...]
    green: bool


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks honesty", description=__doc__)
    parser.add_argument("--tables", type=int, help=f"of each kind; {TABLES} unless given")
    parser.add_argument(
        "--kinds",
        default="",
        help="only kinds whose name has this in it, or one of several between |; nothing is written",
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first table")
    parser.add_argument("--methods", default="cvs,pooled")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; one for each core unless given")
    parser.add_argument("--peers-python", default=".venv-peers/bin/python", help="a Python that has pgmpy")
    parser.add_argument("--kept", type=Path, help="a folder for what is done: started again, the program goes on")
    given = parser.parse_args(arguments)
    if given.kept is not None:
        given.kept.mkdir(parents=True, exist_ok=True)
    networks = network_folder(given.peers_python) or network_folder(sys.executable)
    parts = given.kinds.split("|")
    kinds = [kind for kind in KINDS if any(part in kind.name for part in parts) and (networks or not kind.network)]
    lines: dict[str, list[list[str]]] = {method: [] for method in given.methods.split(",")}
    for method in lines:
        count, clean = given.tables or TABLES[method], []
        for kind in kinds:
            numbers = range(given.first, given.first + count)
            tasks = (delayed(kept_or_measured)(kind, method, number, networks, given.kept) for number in numbers)
            found = [one for one in Parallel(n_jobs=given.jobs)(tasks) if one is not None]
            clean += found if kind.group != BROKEN else []
            line = summary(kind, method, found)
            lines[method].append(line)
            print(" | ".join(line), flush=True)
        print(false_alarms(clean), flush=True)
    if not given.kinds:
        _write(lines, {method: given.tables or TABLES[method] for method in lines}, given.first)


def measured(kind: Kind, method: str, number: int, networks: Path | None) -> Table | None:
    """One table; None where nothing was found in it."""
    drawn = kind.draw(number, networks)
    with threadpool_limits(1):
        try:
            fit = ordag.learn(drawn.X, method, **({"alpha": 0.01} if method == "cvs" else {}))
            verdict = fit.verdict
        except ordag.errors.TooFewRowsError:
            return None
    arrows = fit.graph.adjacency
    if not arrows.any():
        return None
    expected = verdict.expected
    said = (np.nan, np.nan) if expected is None else (expected.wrong, expected.turned)
    return Table(
        str(verdict.tier),
        said,
        shares(arrows, drawn.truth),
        int(arrows.sum()),
        tuple(one.key for one in verdict.cautions),
        verdict.light == "green",
    )


def kept_or_measured(kind: Kind, method: str, number: int, networks: Path | None, kept: Path | None) -> Table | None:
    """One table, from the folder of what is done if it is there."""
    file = None if kept is None else kept / f"{method}-{KINDS.index(kind)}-{number}.json"
    if file is not None and file.exists():
        saved = json.loads(file.read_text(encoding="utf-8"))
        return None if saved is None else Table(**saved)
    found = measured(kind, method, number, networks)
    if file is not None:
        part = file.with_suffix(".part")
        part.write_text(json.dumps(None if found is None else found._asdict()), encoding="utf-8")
        part.replace(file)
    return found


def shares(found: Mask, truth: Mask) -> tuple[float, float]:
    """Wrong arrows among those found, and turned ones among those between joined variables."""
    right, turned = int((found & truth).sum()), int((found & truth.T).sum())
    return 1.0 - right / int(found.sum()), turned / (right + turned) if right + turned else np.nan


def summary(kind: Kind, method: str, found: list[Table]) -> list[str]:
    """A line of the page: tiers, what was said and what there was, over all tables and over those called tested."""
    tiers = Counter(one.tier for one in found)
    cells = [kind.name]
    if method == "cvs":
        cells += [f"{tiers[tier]}" for tier in TIERS]
        tested = [one for one in found if one.tier == "tested"]
        cells += [_pair(tested, 0), _pair(tested, 1)]
    cells += [_pair(found, 0), _pair(found, 1)]
    green = f"{100 * np.mean([one.green for one in found]):.0f}" if found else "–"
    return cells if method == "cvs" else [*cells, _cautions(found), green]


def false_alarms(clean: list[Table]) -> str:
    """How many of the tables in which nothing is broken have each caution."""
    counts = Counter(key for one in clean for key in one.cautions)
    shares = (
        f"{key.replace('_', ' ')} {counts[key]} ({100 * counts[key] / len(clean):.1f} %)" for key in COUNTED if clean
    )
    return f"Of {len(clean)} tables of a model that holds: {', '.join(shares)}."


def _cautions(found: list[Table]) -> str:
    """The share of tables with a caution, and the most frequent one."""
    counts = Counter(key for one in found for key in one.cautions)
    some = sum(1 for one in found if one.cautions)
    most = f": {counts.most_common(1)[0][0].replace('_', ' ')}" if counts else ""
    return f"{100 * some / len(found):.0f}{most}" if found else "–"


def _pair(found: list[Table], which: int) -> str:
    """'said / was', in percent; the first a dash where nothing was said."""
    if not found:
        return "–"
    said = [one.said[which] for one in found if np.isfinite(one.said[which])]
    was = [one.was[which] for one in found if np.isfinite(one.was[which])]
    return " / ".join(f"{100 * np.mean(values):.0f}" if values else "–" for values in (said, was))


def _write(lines: dict[str, list[list[str]]], tables: dict[str, int], first: int) -> None:
    """Put the tables of these methods into the page, and leave those of others."""
    heads = {
        "cvs": ["tables", *TIERS, "tested: wrong", "tested: turned", "all: wrong", "all: turned"],
        "pooled": ["tables", "wrong", "turned", "with a caution, %", "green, %"],
    }
    groups = {kind.name: kind.group for kind in KINDS}
    page = PAGE.read_text(encoding="utf-8")
    now = page[page.index(BEGIN) + len(BEGIN) : page.index(END)].strip()
    parts = dict(re.findall(r"^\*\*(\w+)\*\*(.*?)(?=^\*\*\w|\Z)", now, flags=re.DOTALL | re.MULTILINE))
    for method, rows in lines.items():
        shown: list[list[object]] = []
        for row in rows:
            heading = f"*{groups[row[0]]}*"
            if heading not in [str(line[0]) for line in shown]:
                shown.append([heading, *[""] * (len(row) - 1)])
            shown.append(list(row))
        which = f"`python -m benchmarks honesty --methods {method} --tables {tables[method]} --first {first}`"
        said = f", {tables[method]} tables of each kind ({which}):"
        parts[method] = f"{said}\n\n{table(heads[method], shown)}\n\n*{machine()}*"
    text = "\n\n".join([BEGIN, *(f"**{name}**{parts[name].rstrip()}" for name in TABLES if name in parts), END])
    PAGE.write_text(page.replace(page[page.index(BEGIN) : page.index(END) + len(END)], text), encoding="utf-8")
