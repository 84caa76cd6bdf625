r"""Formulas between dollar signs as MathML, which browsers draw without a script: an extension of Python-Markdown.

`$…$` stands in a sentence, `$$…$$` in a paragraph of its own. A dollar sign before a space, as in `$ ordag learn`, opens nothing.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

FORMULA = r"(?<![\\$])(\${1,2})(?=[^\s$])([^$]*[^\s$\\])\1(?!\$)"
BEFORE_ESCAPES = 185
"""Backticks come at 190 and keep their dollar signs; backslashes of formulas must not be read as escapes, at 180."""

WRITTEN = {"top": r"\mathsf{T}", "arg": r"\operatorname{arg}"}
"""What the converter does not know, or takes for another sign: the transpose is no tautology."""


def mathml(text: str, *, display: bool = False) -> Element:
    """A formula of LaTeX as an element."""
    text = re.sub(r"\\(top|arg)\b", lambda found: WRITTEN[found[1]], " ".join(text.split()))
    return fromstring(re.sub(r' xmlns="[^"]*"', "", convert(text, display="block" if display else "inline")))


class _Formula(InlineProcessor):
    def handleMatch(self, match: re.Match[str], data: str) -> tuple[Any, int, int]:  # type: ignore[override]
        element = mathml(match[2], display=match[1] == "$$")
        for part in element.iter():  # what stands in a formula is no Markdown
            part.text = None if part.text is None else self.md.htmlStash.store(part.text)
        return element, match.start(0), match.end(0)


class Formulas(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.inlinePatterns.register(_Formula(FORMULA, md), "formulas", BEFORE_ESCAPES)


def makeExtension(**settings: Any) -> Formulas:
    """The name by which Python-Markdown finds an extension."""
    return Formulas(**settings)
