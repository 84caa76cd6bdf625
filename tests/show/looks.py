"""Fits with something of everything that can be looked at, under names that are hard to write down; and lines of a screen."""

from __future__ import annotations

import io
import re
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
from rich.console import Console

import ordag

NAMES = ("<b>bold</b>", 'it\'s "quoted"', "two\nlines", "\u0639\u0645\u0631", "[red]mark[/red]", "\x1b[31ma & b;")
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe]")
"""What would act on a terminal or turn the direction of a line, or is forbidden in XML."""

SEM = ordag.LinearSEM.from_edges(
    NAMES,
    {(NAMES[0], NAMES[2]): 1.0, (NAMES[1], NAMES[2]): -1.2, (NAMES[2], NAMES[3]): 0.8, (NAMES[4], NAMES[5]): 1.0},
)
SETTINGS = {
    "cvs": {"method": "cvs"},
    "bh": {"method": "cvs", "correction": "bh"},
    "bic": {"method": "cvs", "parents": "bic"},
    "adaptive": {"method": "cvs", "parents": "adaptive"},
    "pooled": {"method": "pooled", "bootstrap": 10, "seed": 1},
    "class": {"method": "pc"},
    "scored class": {"method": "ges"},
    "searched": {"method": "gds", "seed": 0},
    "bootstrap": {"method": "cvs", "bootstrap": 20, "seed": 1},
    "knowledge": {"method": "cvs", "knowledge": {"required": [(NAMES[5], NAMES[4])]}},
    "small": {"method": "cvs", "alpha": 0.3, "min_effect": 0.2},
    "no edges": {"method": "cvs", "correction": "bonferroni"},
}
KINDS = tuple(SETTINGS)


@cache
def rows(n=300):
    return pd.DataFrame(SEM.sample(n, seed=1), columns=NAMES)


@cache
def fit_of(kind):
    lone = pd.DataFrame(np.random.default_rng(0).standard_normal((200, 6)), columns=NAMES)
    return ordag.learn(lone if kind == "no edges" else rows(), forecast=10, **SETTINGS[kind])


@cache
def wide_fit(p=50):
    """A chain of many variables: more than a screen shows."""
    names = [f"v{k:02d}" for k in range(p)]
    sem = ordag.LinearSEM.from_edges(names, dict.fromkeys(pairwise(names), 0.9))
    return ordag.learn(pd.DataFrame(sem.sample(600, seed=2), columns=names), "cvs", correction="bonferroni")


def lines_of(show, *arguments, width=200, **console):
    """The lines that a function prints on a screen of this width, where markup would be followed if somebody gave any."""
    screen = Console(file=io.StringIO(), width=width, **console)
    show(arguments[0], screen, *arguments[1:])
    return screen.file.getvalue().splitlines()


def section(lines, title):
    """The lines under a title, up to the next empty one."""
    start = lines.index(title) + 1
    return lines[start : lines.index("", start) if "" in lines[start:] else len(lines)]


def cells(line):
    """What stands in the columns of a line, which two spaces part."""
    return re.split(r" {2,}", line.strip())
