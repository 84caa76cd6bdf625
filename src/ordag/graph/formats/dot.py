"""Graphviz DOT.

Names are quoted identifiers, so none of them can be a keyword, an HTML label or a port. Graphviz has two layers of
escapes: in any quoted text only the quote is escaped; in drawn text, backslashes, HTML entities and (in record shapes)
braces, bars and angles have a meaning too. A name with any of these gets its own label, in which they are escaped. Graphviz
treats an identifier that begins with % as anonymous and draws a number; such a name, or one with control characters, gets a
stand-in, and is kept percent-encoded in an attribute. Weights are the attribute `coefficient`, since `weight` affects the
layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ordag.graph.formats.edge_list import EdgeList
from ordag.graph.formats.parsing import NAME, BraceReader, encoded, identifiers

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_AWKWARD = re.compile(rf"\A%|{_CONTROL.pattern}")
_DRAWN_OTHERWISE = re.compile(r"\A%|[\\&{}|<>\x00-\x1f\x7f]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
_LABEL_ESCAPES = _ESCAPES | {"&": "&amp;"} | {mark: "\\" + mark for mark in "{}|<>"}


def write(edges: EdgeList) -> str:
    """Write a digraph that lists every node; undirected edges have `dir=none`."""
    identifier = identifiers(edges.nodes, _AWKWARD)
    lines = []
    for name in edges.nodes:
        attributes = []
        if _DRAWN_OTHERWISE.search(name):
            attributes.append(f"label={_label(name)}")
        if identifier[name] != name:
            attributes.append(f'{NAME}="{encoded(name)}"')
        if name in edges.categories:
            attributes += ['kind="category"', 'shape="box"', 'style="rounded,dashed"']
        lines.append(_quoted(identifier[name]) + _listed(attributes))
    for source, target in edges.directed:
        weight = edges.weights.get((source, target))
        attributes = [] if weight is None else [f'label="{weight:.3g}"', f'coefficient="{weight!r}"']
        attributes += [f'{key}="{value}"' for key, value in edges.attributes.get((source, target), {}).items()]
        lines.append(f"{_quoted(identifier[source])} -> {_quoted(identifier[target])}{_listed(attributes)}")
    lines += [
        f"{_quoted(identifier[first])} -> {_quoted(identifier[second])} [dir=none]"
        for first, second in edges.undirected
    ]
    return "digraph {\n" + "".join(f"  {line};\n" for line in lines) + "}\n"


def read(text: str) -> EdgeList:
    """Read a digraph or graph; of the attributes, only `dir` and `coefficient` are used."""
    return _DotReader(text).read()


class _DotReader(BraceReader):
    language = "DOT"
    pattern = re.compile(
        r"""(?P<skip>[ \t\r\n]+|//[^\n]*|/\*[\s\S]*?\*/|\#[^\n]*)
        |(?P<quoted>"(?:[^"\\]|\\[\s\S])*+")
        |(?P<edge>->|--)
        |(?P<name>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|[A-Za-z_\x80-\U0010ffff][0-9A-Za-z_\x80-\U0010ffff]*)
        |(?P<mark>[][{}=;,:+])""",
        re.VERBOSE,
    )
    keywords = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})
    arrows = True

    def header(self) -> None:
        words = self.tokens
        if words.next.text.lower() == "strict":
            words.take()
        if words.next.text.lower() not in {"digraph", "graph"}:
            words.fail("'digraph' or 'graph'")
        self.arrows = words.take().text.lower() == "digraph"
        if words.next.text != "{":
            self.identifier()

    def unquoted(self, text: str) -> str:
        meaning = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\\n": ""}
        return re.sub(r"\\[\s\S]", lambda match: meaning.get(match[0], match[0]), text[1:-1])

    def edge(self, source: str, operator: str, target: str, attributes: Mapping[str, str]) -> None:
        if operator != ("->" if self.arrows else "--"):
            self.tokens.fail("-> in a digraph and -- in a graph before this")
        direction = attributes.get("dir", "forward" if self.arrows else "none").lower()
        if direction == "none":
            self.undirected.append((source, target))
        elif direction in {"forward", "back"}:
            edge = (source, target) if direction == "forward" else (target, source)
            self.directed.append(edge)
            if "coefficient" in attributes:
                self.weight(edge, attributes["coefficient"])
        else:
            self.tokens.fail(f"dir to be forward, back or none, not {direction!r}, before this")


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(letter, letter) for letter in text) + '"'


def _label(name: str) -> str:
    visible = re.sub(_CONTROL, " ", name)
    return '"' + "".join(_LABEL_ESCAPES.get(letter, letter) for letter in visible) + '"'


def _listed(attributes: list[str]) -> str:
    return f" [{', '.join(attributes)}]" if attributes else ""
