"""Knowledge files of Tetrad (https://github.com/cmu-phil/tetrad, SimpleDataLoader): tiers, forbidden and required arrows.

    /knowledge
    addtemporal
    1 age sex
    2* smokes drinks
    forbiddirect
    age drinks
    requiredirect
    sex smokes
    forbiddengroup
    age sex
    drinks

Nothing leads from a later tier to an earlier one, and nothing at all within a tier that has a star. A forbidden group forbids all arrows
from the names in its first line to those in its second. Older files count tiers from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

START = "/knowledge"
SECTIONS = ("addtemporal", "forbiddirect", "requiredirect", "forbiddengroup", "requiredgroup")
WORD = re.compile(r'"([^"]*)"|([^\s,"]+)')
TIER = re.compile(r"(\d{1,9})(\*?)")


class TetradFaultError(Exception):
    """A line that cannot be read."""


def is_tetrad(text: str) -> bool:
    """Return whether text is a knowledge file of Tetrad."""
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("//")), "")
    return first.strip().lower() == START


def tetrad_items(text: str) -> Iterator[tuple[int, str, Any]]:
    """Yield the number of the line, key and value of every entry; tiers come last, in their order."""
    section, pending = "", None
    tiers: dict[int, list[str]] = {}
    last = 1
    for number, line in enumerate(text.split("\n"), start=1):
        words = [quoted or bare for quoted, bare in WORD.findall(line)]
        if not words or line.startswith("//") or words[0].lower() == START:
            continue
        last = number
        if len(words) == 1 and words[0].lower() in SECTIONS:
            section = words[0].lower()
            if section == "requiredgroup":
                raise TetradFaultError(
                    f"line {number}: groups of required arrows are not read: write them under requiredirect"
                )
        elif section == "addtemporal":
            tier = TIER.fullmatch(words[0])
            if tier is None:
                raise TetradFaultError(f"line {number}: a tier begins with its number, as in '1 age sex'")
            names = tiers.setdefault(int(tier[1]), [])
            names += words[1:]
            if tier[2]:
                yield from ((number, "forbidden", (a, b)) for a in words[1:] for b in words[1:] if a != b)
        elif section in ("forbiddirect", "requiredirect"):
            if len(words) != 2:
                raise TetradFaultError(f"line {number}: an arrow is two names, its source and its target")
            yield number, "forbidden" if section == "forbiddirect" else "required", (words[0], words[1])
        elif section == "forbiddengroup":
            if pending is not None:
                yield from ((number, "forbidden", (a, b)) for a in pending for b in words if a != b)
            pending = words if pending is None else None
        else:
            raise TetradFaultError(f"line {number}: expected one of {', '.join(SECTIONS)}")
    for _, names in sorted(tiers.items()):
        if names:
            yield last, "tiers", tuple(names)
