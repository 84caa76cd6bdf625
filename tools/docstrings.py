"""Docstrings as Markdown, for the reference: an extension of Griffe, which reads them from the source."""

from __future__ import annotations

import inspect
import re
from pydoc import locate
from typing import Any

from griffe import Docstring, Extension, Object

NAMED = re.compile(r"^([a-z_]\w*(?:, [a-z_]\w*)*): ", re.IGNORECASE)


def as_markdown(text: str) -> str:
    """Sessions become blocks of Python, lines such as `seed: that of the samples` a list, and names of pages links to them."""
    text = re.sub(r"\bdocs/(\w+)\.md\b", r"[\1](../\1.md)", text)
    return "\n\n".join(_paragraph(one) for one in re.split(r"\n{2,}", text.strip("\n")))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if lines[0].lstrip().startswith(">>> "):
        return f"```pycon\n{text}\n```"
    heads = [line for line in lines if not line.startswith(" ")]
    if all(map(NAMED.match, heads)) and (len(lines) > len(heads) or len(heads) > 1):
        return "\n".join(NAMED.sub(r"- **\1**: ", line) for line in lines)
    return text


class Docstrings(Extension):
    """Every docstring of the package goes through `as_markdown`, those that classes get when they are made included."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is None and obj.is_class and not obj.name.startswith("_"):
            text = inspect.getdoc(locate(obj.path))
            obj.docstring = Docstring(text, parent=obj) if text else None
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
