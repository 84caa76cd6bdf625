"""Parsing: the tokens of a text, and a reader of the DOT family of languages, which DOT and DAGitty share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple, NoReturn
from urllib.parse import quote, unquote

from ordag.common.words import shown
from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import Edge, EdgeList

NAME = "ordag_name"
"""The attribute that holds, percent-encoded, a name that the language cannot hold as an identifier."""


class Token(NamedTuple):
    """A piece of the text: its kind (a group's name in the pattern), the text, and its line."""

    kind: str
    text: str
    line: int


class Tokens:
    """The tokens of a text, read from the front.

    The pattern's named groups are the kinds; what matches the group `skip` is left out. A token of the kind `end`
    follows the last one.
    """

    def __init__(self, text: str, pattern: re.Pattern[str], language: str) -> None:
        self.language = language
        self._list = []
        position, line = 0, 1
        while position < len(text):
            match = pattern.match(text, position)
            if match is None or match.end() == position:
                raise GraphFormatError(f"{language}, line {line}: cannot read {text[position : position + 20]!r}")
            kind = match.lastgroup or "skip"
            if kind != "skip":
                self._list.append(Token(kind, match[0], line))
            line += match[0].count("\n")
            position = match.end()
        self._list.append(Token("end", "", line))
        self._next = 0

    @property
    def next(self) -> Token:
        """The next token, not consumed."""
        return self._list[self._next]

    @property
    def after_next(self) -> Token:
        """The token after the next one."""
        return self._list[min(self._next + 1, len(self._list) - 1)]

    def take(self) -> Token:
        """Consume and return the next token."""
        token = self.next
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, *texts: str) -> str:
        """Consume the next token if it is one of these marks, and return its text; else return ''."""
        return self.take().text if self.next.kind == "mark" and self.next.text in texts else ""

    def expect(self, *texts: str) -> str:
        """Consume the next token, which must be one of these marks."""
        return self.accept(*texts) or self.fail(" or ".join(repr(text) for text in texts))

    def fail(self, expected: str) -> NoReturn:
        """Raise an error that names what was expected before the next token."""
        found = "the end of the text" if self.next.kind == "end" else repr(self.next.text[:40])
        self.refuse(f"expected {expected}, found {found}")

    def refuse(self, reason: str) -> NoReturn:
        """Raise an error with the line of the next token."""
        raise GraphFormatError(f"{self.language}, line {self.next.line}: {reason}")


HIDDEN = {"latent", "unobserved"}
"""Attributes with which DAGitty marks a variable that is not measured."""


class BraceReader(ABC):
    """A reader of `TYPE NAME { statements }`; a subclass defines the tokens, the header and the edges.

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
        self.unmeasured: list[str] = []

    @abstractmethod
    def header(self) -> None:
        """Read what precedes the opening brace."""

    @abstractmethod
    def unquoted(self, text: str) -> str:
        """Return the content of a quoted string, given with its quotes."""

    @abstractmethod
    def edge(self, source: str, operator: str, target: str, attributes: Mapping[str, str]) -> None:
        """Record one edge."""

    def read(self) -> EdgeList:
        """Read the whole text."""
        self.header()
        self.tokens.expect("{")
        self.statements({})
        if self.tokens.next.kind != "end":
            self.tokens.fail("the end of the text")
        renamed = self.nodes

        def pairs(edges: Iterable[Edge]) -> tuple[Edge, ...]:
            return tuple((renamed[source], renamed[target]) for source, target in edges)

        weights = dict(zip(pairs(self.weights), self.weights.values(), strict=True))
        hidden = tuple(renamed[name] for name in dict.fromkeys(self.unmeasured))
        return EdgeList(
            tuple(renamed.values()), pairs(self.directed), pairs(self.undirected), weights, unmeasured=hidden
        )

    def statements(self, edge_defaults: dict[str, str]) -> list[str]:
        """Read statements up to the closing brace; return the nodes that they name."""
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
        """Read a node or a group, and the edges that follow it; return the nodes."""
        ends = [self.endpoint(edge_defaults)]
        operators = []
        while self.tokens.next.kind == "edge":
            operators.append(self.tokens.take().text)
            ends.append(self.endpoint(edge_defaults))
        attributes = self.attributes()
        if not operators and len(ends[0]) == 1 and NAME in attributes:
            self.nodes[ends[0][0]] = unquote(attributes[NAME])
        if not operators and attributes.keys() & HIDDEN:
            self.unmeasured += ends[0]
        for sources, operator, targets in zip(ends, operators, ends[1:], strict=False):
            for source in sources:
                for target in targets:
                    self.edge(source, operator, target, edge_defaults | attributes)
        return [name for end in ends for name in end]

    def endpoint(self, edge_defaults: dict[str, str]) -> list[str]:
        """Read one node, or a group; return its nodes."""
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
        """Return the next token if it is a keyword, without consuming it; else ''."""
        word = self.tokens.next
        return word.text.lower() if word.kind == "name" and word.text.lower() in self.keywords else ""

    def attributes(self) -> dict[str, str]:
        """Read any number of `[key = value, key, …]`."""
        found: dict[str, str] = {}
        while self.tokens.accept("["):
            while not self.tokens.accept("]"):
                if not self.tokens.accept(",", ";"):
                    key = self.identifier()
                    found[key] = self.identifier() if self.tokens.accept("=") else "true"
        return found

    def identifier(self) -> str:
        """Read a bare word, or quoted strings joined by +."""
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
        """Record the weight of an arrow."""
        try:
            self.weights[edge] = float(text)
        except ValueError:
            raise GraphFormatError(
                f"{self.language}: the weight {text!r} of {shown(edge[0])} → {shown(edge[1])} is not a number"
            ) from None


def identifiers(nodes: Iterable[str], awkward: re.Pattern[str]) -> dict[str, str]:
    """Return an identifier for each node: its name, or a stand-in if the pattern matches the name."""
    names = list(nodes)
    taken = set(names)
    found = {}
    for k, name in enumerate(names):
        identifier = name
        if awkward.search(name):
            identifier = f"node_{k}"
            while identifier in taken:
                identifier += "_"
            taken.add(identifier)
        found[name] = identifier
    return found


def encoded(name: str) -> str:
    """Percent-encode a name for the attribute NAME."""
    return quote(name, safe="")
