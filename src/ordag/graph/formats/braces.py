"""Text in the DOT family of languages in, its nodes and edges out: what DOT and DAGitty have in common."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar
from urllib.parse import quote, unquote

from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import Edge, EdgeList
from ordag.graph.formats.tokens import Tokens
from ordag.words import shown

# The attribute that holds, percent-encoded, a name that the language cannot hold as an identifier.
NAME = "ordag_name"


class BraceReader(ABC):
    """A reader of `TYPE NAME { statements }`; a subclass says what its words and edges mean.

    A statement is a node, a chain of edges between nodes or `{groups}`, a nested group, `key = value`, or
    defaults for what follows (`edge [key = value]`); each may be followed by attributes in brackets. Kinds of
    tokens: `name` (bare words), `quoted`, `edge` and `mark`.
    """

    language: ClassVar[str]
    pattern: ClassVar[re.Pattern[str]]
    keywords: ClassVar[frozenset[str]]

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text, self.pattern, self.language)
        self.nodes: dict[str, str] = {}
        self.directed: list[Edge] = []
        self.undirected: list[Edge] = []
        self.weights: dict[Edge, float] = {}

    @abstractmethod
    def header(self) -> None:
        """Read what stands before the opening brace."""

    @abstractmethod
    def unquoted(self, text: str) -> str:
        """What a quoted string says, given with its quotes."""

    @abstractmethod
    def edge(self, source: str, operator: str, target: str, attributes: Mapping[str, str]) -> None:
        """Enter one edge."""

    def read(self) -> EdgeList:
        """The whole text."""
        self.header()
        self.tokens.expect("{")
        self.statements({})
        if self.tokens.next.kind != "end":
            self.tokens.fail("the end of the text")
        renamed = self.nodes

        def pairs(edges: Iterable[Edge]) -> tuple[Edge, ...]:
            return tuple((renamed[source], renamed[target]) for source, target in edges)

        weights = dict(zip(pairs(self.weights), self.weights.values(), strict=True))
        return EdgeList(tuple(renamed.values()), pairs(self.directed), pairs(self.undirected), weights)

    def statements(self, edge_defaults: dict[str, str]) -> list[str]:
        """Statements up to the closing brace; the nodes that they name."""
        named: list[str] = []
        while not self.tokens.accept("}"):
            if self.tokens.accept(";", ","):
                continue
            keyword = self.keyword()
            if keyword in {"node", "edge", "graph"}:
                self.tokens.take()
                attributes = self.attributes()
                if keyword == "edge":
                    edge_defaults |= attributes
            elif self.tokens.after_next.text == "=" and self.tokens.after_next.kind == "mark":
                self.identifier()
                self.tokens.take()
                self.identifier()
            else:
                named += self.chain(edge_defaults)
        return named

    def chain(self, edge_defaults: dict[str, str]) -> list[str]:
        """A node or a group, and the edges that follow it."""
        ends = [self.endpoint(edge_defaults)]
        operators = []
        while self.tokens.next.kind == "edge":
            operators.append(self.tokens.take().text)
            ends.append(self.endpoint(edge_defaults))
        attributes = self.attributes()
        if not operators and len(ends[0]) == 1 and NAME in attributes:
            self.nodes[ends[0][0]] = unquote(attributes[NAME])
        for sources, operator, targets in zip(ends, operators, ends[1:], strict=False):
            for source in sources:
                for target in targets:
                    self.edge(source, operator, target, edge_defaults | attributes)
        return [name for end in ends for name in end]

    def endpoint(self, edge_defaults: dict[str, str]) -> list[str]:
        """One node, or all the nodes that a group names."""
        if self.keyword() == "subgraph":
            self.tokens.take()
            if self.tokens.next.text != "{":
                self.identifier()
        if self.tokens.accept("{"):
            return list(dict.fromkeys(self.statements(dict(edge_defaults))))
        name = self.identifier()
        while self.tokens.accept(":"):
            self.identifier()
        self.nodes.setdefault(name, name)
        return [name]

    def keyword(self) -> str:
        """The keyword that comes, left in its place; '' if none comes."""
        word = self.tokens.next
        return word.text.lower() if word.kind == "name" and word.text.lower() in self.keywords else ""

    def attributes(self) -> dict[str, str]:
        """`[key = value, key, …]`, any number of them, or nothing."""
        found: dict[str, str] = {}
        while self.tokens.accept("["):
            while not self.tokens.accept("]"):
                if not self.tokens.accept(",", ";"):
                    key = self.identifier()
                    found[key] = self.identifier() if self.tokens.accept("=") else "true"
        return found

    def identifier(self) -> str:
        """A bare word, or quoted strings joined by +."""
        token = self.tokens.next
        if token.kind == "name":
            return self.tokens.take().text
        if token.kind != "quoted":
            self.tokens.fail("a name")
        text = self.unquoted(self.tokens.take().text)
        while self.tokens.accept("+"):
            if self.tokens.next.kind != "quoted":
                self.tokens.fail("a quoted string")
            text += self.unquoted(self.tokens.take().text)
        return text

    def weight(self, edge: Edge, text: str) -> None:
        """Enter the weight of an arrow."""
        try:
            self.weights[edge] = float(text)
        except ValueError:
            raise GraphFormatError(
                f"{self.language}: the weight {text!r} of {shown(edge[0])} → {shown(edge[1])} is not a number"
            ) from None


def identifiers(nodes: Iterable[str], awkward: re.Pattern[str]) -> dict[str, str]:
    """An identifier for each node: its name, or a stand-in where the pattern finds the name awkward."""
    names = list(nodes)
    taken = set(names)
    found = {}
    for place, name in enumerate(names):
        identifier = name
        if awkward.search(name):
            identifier = f"node_{place}"
            while identifier in taken:
                identifier += "_"
            taken.add(identifier)
        found[name] = identifier
    return found


def encoded(name: str) -> str:
    """The value of the attribute that holds an awkward name."""
    return quote(name, safe="")
