"""Fits whose reports are opened, with names that are hard to write down among them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import ordag

HOSTILE = [
    "<script>alert(1)</script>", "\"quotes\" & 'apostrophes'", "😀 👩‍👩‍👧", "\u202egnp.exe", "عمر الطفل", "x" * 300, "</script><b>",
    "two\nlines",
]  # fmt: skip


INHERITED = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf", "isPrototypeOf", "__defineGetter__"]
"""Names that every object of JavaScript has for something of its own."""


def inherited():
    """A table with such names, in which each column acts on the next."""
    X = np.random.default_rng(4).normal(size=(400, len(INHERITED)))
    for j in range(1, len(INHERITED)):
        X[:, j] += X[:, j - 1]
    return pd.DataFrame(X.round(4), columns=INHERITED)


@cache
def sparse(p, n, degree=2.0, seed=1):
    """Rows of a sparse model with error variances of one."""
    random = np.random.default_rng(seed)
    B = np.triu(
        (random.random((p, p)) < degree / p) * random.uniform(0.4, 1.0, (p, p)) * random.choice([-1, 1], (p, p)), 1
    )
    X = random.standard_normal((n, p)) @ np.linalg.inv(np.eye(p) - B)
    return X[:, random.permutation(p)]


def table(p, n, **more):
    return pd.DataFrame(sparse(p, n, **more), columns=[f"v{j:03d}" for j in range(p)])


def grouped():
    """site → a → b, and sex → b; a value and a name that are hard to write down."""
    random = np.random.default_rng(6)
    site, sex = random.integers(0, 3, 300), random.integers(0, 2, 300)
    a = site + random.standard_normal(300)
    b = a + 1.5 * sex + random.standard_normal(300)
    names = np.array(["x", "</script>", "z"])[site]
    return pd.DataFrame({"a": a, "b": b, "<b>site": names, "sex": np.array(["f", "m"])[sex]})


LONG = [f"the average income in region number {j} of the country, before taxes" for j in (1, 2, 3, 13, 14, 6)]
"""They differ in the middle only."""

KNOWN = {"forbidden": [("algebra", "analysis")], "required": [("vectors", "statistics")]}

FITS = {
    "marks": lambda: ordag.learn("marks", "cvs", alpha=0.05),
    "pooled": lambda: ordag.learn("marks", bootstrap=20, seed=1, workers=1),
    "knowledge": lambda: ordag.learn("marks", "cvs", alpha=0.05, knowledge=KNOWN),
    "dense": lambda: ordag.learn(table(20, 2000, degree=16.0, seed=3), "cvs"),
    "large": lambda: ordag.learn(table(300, 1500), "cvs", correction="bh", alpha=0.05),
    "hostile": lambda: ordag.learn(pd.DataFrame(sparse(8, 500, 4.0, 5), columns=HOSTILE), "cvs", alpha=0.05),
    "inherited": lambda: ordag.learn(inherited(), "cvs", knowledge={"forbidden": [("__proto__", "constructor")]}),
    "class": lambda: ordag.learn("marks", "pc"),
    "categories": lambda: ordag.learn(grouped(), cause=["<b>site", "sex"], draws=64),
    "numbered": lambda: ordag.learn(sparse(40, 400), "cvs"),
    "long": lambda: ordag.learn(pd.DataFrame(sparse(6, 500, 4.0, 5), columns=LONG), "cvs", alpha=0.05),
    "empty": lambda: ordag.learn(np.random.default_rng(0).standard_normal((200, 6)), "cvs", correction="bonferroni"),
}
OPTIONS = {
    "marks": {"data": "marks", "compare": ("pc", "ges")},
    **{name: {"check": False} for name in ("pooled", "dense", "numbered", "long", "inherited")},
}


@cache
def fit_of(name):
    return FITS[name]()
