"""lavaan's model syntax.

Every node has its error variance, `x ~~ x`, which also fixes the order of the nodes and keeps those without edges; the
regressions follow, `y ~ x + z`. Weights are starting values, `start(0.5)*x`. lavaan accepts only syntactic names of R, has
no undirected edges, and fails on a variable called `efa`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from ordag.common.words import listed, shown
from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import Edge, EdgeList
from ordag.graph.formats.parsing import Tokens

_RESERVED = frozenset(
    "if else repeat while function for next break in TRUE FALSE NULL Inf NaN NA NA_integer_ NA_real_"
    " NA_character_ NA_complex_ ... efa".split()
)
_HEADER = "# Fit with lavaan::lavaan(model, data, fixed.x = FALSE); sem() would add covariances to this graph.\n"
_PATTERN = re.compile(
    r"""(?P<skip>[ \t\r]+|[\#!][^\n]*)
    |(?P<stop>[\n;]+)
    |(?P<number>-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][-+]?[0-9]+)?(?![\w.]))
    |(?P<name>[^\W\d][\w.]*|\.[\w.]*)
    |(?P<mark>=~|~~|<~|:=|==|[~+*()<>:|])""",
    re.VERBOSE,
)


def write(edges: EdgeList) -> str:
    """Write the variances, then a regression for each node with parents."""
    return regressions(edges)


def regressions(edges: EdgeList, variances: Mapping[str, float] | None = None) -> str:
    """Write what `write` does, with starting values of the variances where they are given."""
    if edges.undirected:
        first, second = edges.undirected[0]
        raise GraphFormatError(f"lavaan has no undirected edges such as {shown(first)} — {shown(second)}; write a Dag")
    impossible = [name for name in edges.nodes if not is_lavaan_name(name)]
    if impossible:
        raise GraphFormatError(
            f"lavaan takes only names made of letters, digits, . and _ that begin with a letter and are no"
            f" reserved words of R; rename {listed(impossible)}"
        )
    parents: dict[str, list[str]] = {name: [] for name in edges.nodes}
    for source, target in edges.directed:
        weight = edges.weights.get((source, target))
        parents[target].append(source if weight is None else f"start({weight!r})*{source}")
    starts = {name: f"start({value!r})*" for name, value in (variances or {}).items()}
    lines = [f"{name} ~~ {starts.get(name, '')}{name}\n" for name in edges.nodes]
    lines += [f"{name} ~ {' + '.join(terms)}\n" for name, terms in parents.items() if terms]
    return _HEADER + "".join(lines)


def is_lavaan_name(name: str) -> bool:
    """Return whether the name is syntactic in R (see ?make.names) and a variable to lavaan."""
    letters = all(letter in "._0123456789" or unicodedata.category(letter).startswith("L") for letter in name)
    start = re.match(r"[^\W\d_]|\.(?![0-9])", name)
    return letters and start is not None and name not in _RESERVED and not re.fullmatch(r"\.\.[0-9]+", name)


def read(text: str) -> EdgeList:
    """Read regressions and variances; intercepts, and covariances fixed to 0, are skipped."""
    return _LavaanReader(text).read()


class _LavaanReader:
    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text, _PATTERN, "lavaan")
        self.nodes: dict[str, None] = {}
        self.directed: list[Edge] = []
        self.weights: dict[Edge, float] = {}

    def read(self) -> EdgeList:
        while self.tokens.next.kind != "end":
            if self.tokens.next.kind == "stop":
                self.tokens.take()
            else:
                self.formula()
        return EdgeList(tuple(self.nodes), tuple(self.directed), (), self.weights)

    def formula(self) -> None:
        left = [self.name()]
        while self.tokens.accept("+"):
            left.append(self.name())
        if self.tokens.next.text in {"=~", "<~"}:
            kind = "latent" if self.tokens.next.text == "=~" else "composite"
            self.tokens.refuse(
                f"{shown(left[0])} is a {kind} variable ({self.tokens.next.text}), and only measured ones are read"
            )
        operator = self.tokens.expect("~", "~~")
        self.nodes |= dict.fromkeys(left)
        more = True
        while more:
            self.pass_newlines()
            value, right = self.term()
            for target in left if right else ():
                self.record(target, operator, value, right)
            more = bool(self.tokens.accept("+"))
        if self.tokens.next.kind not in {"stop", "end"}:
            self.tokens.fail("+ or the end of the line")

    def record(self, target: str, operator: str, value: float | None, source: str) -> None:
        self.nodes[source] = None
        if operator == "~":
            self.directed.append((source, target))
            if value is not None:
                self.weights[source, target] = value
        elif source != target and value != 0:
            self.tokens.refuse(
                f"the covariance {shown(target)} ~~ {shown(source)} is no arrow: leave it out, or give it a direction (~)"
            )

    def term(self) -> tuple[float | None, str]:
        """Read `x`, `0.5*x`, `start(0.5)*x` or `label*x`; or the intercept `1`, which gives an empty name."""
        value = None
        while True:
            token = self.tokens.take()
            if token.kind == "number":
                value = float(token.text)
            elif token.kind != "name":
                self.tokens.fail("a variable before this")
            elif self.tokens.accept("("):
                if token.text != "start" or self.tokens.next.kind != "number":
                    self.tokens.fail("start(number), the only modifier that is understood,")
                value = float(self.tokens.take().text)
                self.tokens.expect(")")
            if not self.tokens.accept("*"):
                break
        return (None, "") if token.kind == "number" else (value, token.text)

    def name(self) -> str:
        if self.tokens.next.kind != "name":
            self.tokens.fail("a variable")
        return self.tokens.take().text

    def pass_newlines(self) -> None:
        while self.tokens.next.kind == "stop":
            self.tokens.take()
