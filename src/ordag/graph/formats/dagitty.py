"""DAGitty's model code.

Its strings have one escape, the quote; a backslash is literal, so no string can end in one, and strings cannot hold
control characters. No variable may be called `graph` or `node`. Such a name gets a stand-in identifier with a label for
the reader, and is kept percent-encoded in an attribute, which DAGitty leaves unchanged. Weights are the attribute `beta`,
as in DAGitty's own path models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ordag.common.words import shown
from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import EdgeList
from ordag.graph.formats.parsing import NAME, BraceReader, encoded, identifiers

_AWKWARD = re.compile(r"[\x00-\x1f\x7f]|\\\Z|\A(?:graph|node)\Z")


def write(edges: EdgeList) -> str:
    """Write a `dag`, or a `pdag` if there are undirected edges."""
    identifier = identifiers(edges.nodes, _AWKWARD)
    lines = []
    for name in edges.nodes:
        line = _quoted(identifier[name])
        if identifier[name] != name:
            label = re.sub(r"[\x00-\x1f\x7f]|\\\Z", " ", name)
            line += f' [label={_quoted(label)}, {NAME}="{encoded(name)}"]'
        lines.append(line)
    for source, target in edges.directed:
        weight = edges.weights.get((source, target))
        attributes = "" if weight is None else f' [beta="{weight!r}"]'
        lines.append(f"{_quoted(identifier[source])} -> {_quoted(identifier[target])}{attributes}")
    lines += [f"{_quoted(identifier[first])} -- {_quoted(identifier[second])}" for first, second in edges.undirected]
    kind = "pdag" if edges.undirected else "dag"
    return "\n".join([f"{kind} {{", *lines, "}"]) + "\n"


def read(text: str) -> EdgeList:
    """Read a dag or pdag, or its statements without `dag { }` around them."""
    if not re.match(r"\s*(strict\s+)?(graph|digraph|dag|pdag|mag|pag)\b[^{\[]*\{", text, re.IGNORECASE):
        try:
            return _DagittyReader(f"dag {{{text}}}").read()
        except GraphFormatError as error:
            if "}" in text:
                raise
            raise GraphFormatError(str(error).replace("found '}'", "found the end of the text")) from error
    return _DagittyReader(text).read()


class _DagittyReader(BraceReader):
    language = "DAGitty"
    pattern = re.compile(
        r"""(?P<skip>[ \n\r\t]+)
        |(?P<quoted>"(?:\\[\n\r]+|\\"|[^"])*+")
        |(?P<edge><->|->|<-@|<-|--@|--|@->|@-@|@--)
        |(?P<name>-?[0-9A-Za-z_.]+)
        |(?P<mark>[][{}=;,+])""",
        re.VERBOSE,
    )
    keywords = frozenset({"graph", "node"})

    def header(self) -> None:
        kind = self.tokens.take().text.lower()
        if kind == "strict":
            kind = self.tokens.take().text.lower()
        if kind in {"mag", "pag"}:
            self.tokens.refuse(f"a {kind} is neither a dag nor a pdag, and only these are read")
        if self.tokens.next.text != "{":
            self.identifier()

    def unquoted(self, text: str) -> str:
        return re.sub(r'\\(?:"|[\n\r]+)', lambda match: '"' if match[0] == '\\"' else "", text[1:-1])

    def edge(self, source: str, operator: str, target: str, attributes: Mapping[str, str]) -> None:
        if operator == "--":
            self.undirected.append((source, target))
        elif operator in {"->", "<-"}:
            edge = (source, target) if operator == "->" else (target, source)
            self.directed.append(edge)
            if "beta" in attributes:
                self.weight(edge, attributes["beta"])
        else:
            ends = f"{shown(source)} {operator} {shown(target)}"
            self.tokens.refuse(f"{ends}: only ->, <- and -- are read; a hidden common cause cannot be in the graph")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
