"""Text and a pattern in, its tokens one by one out."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from ordag.errors import GraphFormatError


class Token(NamedTuple):
    """A piece of the text: its kind (a group's name in the pattern), the text itself, and its line."""

    kind: str
    text: str
    line: int


class Tokens:
    """The tokens of a text, read from the front.

    The pattern's named groups are the kinds; what matches the group `skip` is left out. After the last token
    comes one of the kind `end`.
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
        """The token that comes, left in its place."""
        return self._list[self._next]

    @property
    def after_next(self) -> Token:
        """The token behind the one that comes."""
        return self._list[min(self._next + 1, len(self._list) - 1)]

    def take(self) -> Token:
        """The token that comes, and step past it."""
        token = self.next
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, *texts: str) -> str:
        """The token's text if it is one of these marks, stepping past it; else ''."""
        return self.take().text if self.next.kind == "mark" and self.next.text in texts else ""

    def expect(self, *texts: str) -> str:
        """As `accept`, but it has to be there."""
        return self.accept(*texts) or self.fail(" or ".join(repr(text) for text in texts))

    def fail(self, expected: str) -> NoReturn:
        """Stop: something else was expected here."""
        found = "the end of the text" if self.next.kind == "end" else repr(self.next.text[:40])
        raise GraphFormatError(f"{self.language}, line {self.next.line}: expected {expected}, found {found}")
