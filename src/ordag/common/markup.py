"""HTML of results in a notebook, without scripts, legible on light and dark backgrounds.

All text is escaped here, and names are isolated, so that a name written from right to left does not turn the arrow beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

from ordag.common.words import harmless, shortened, shown

MAX_NAME_LETTERS = 40
"""Letters of a name in a table; the tooltip has the whole name."""

MOST_ROWS = 30
"""Rows of a table in a notebook."""

STYLE = """
.ordag { font-family: system-ui, sans-serif; line-height: 1.45; max-width: 60rem; }
.ordag table { border-collapse: collapse; margin: .5rem 0; }
.ordag th, .ordag td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid rgba(128, 128, 128, .35); }
.ordag th:first-child, .ordag td:first-child, .ordag .prose th, .ordag .prose td { text-align: left; vertical-align: top; }
.ordag p { margin: .35rem 0; }
.ordag .warning { border-left: 4px solid #D55E00; padding: .1rem .8rem; }
.ordag .note { opacity: .75; }
.ordag figure { margin: .5rem 0; background: #ffffff; border-radius: 6px; display: inline-block; max-width: 100%; overflow-x: auto; }
.ordag figure svg { display: block; }
"""


def card(title: str, *parts: str) -> str:
    """Return a titled block of HTML parts; empty parts are left out."""
    head = f"<p><strong>{escape(harmless(title))}</strong></p>"
    return "\n".join([f"<style>{STYLE}</style><div class='ordag'>", head, *filter(None, parts), "</div>"])


def isolated(text: str) -> str:
    """Return a name, isolated from the writing direction around it."""
    full = shown(text)
    short = shortened(full, MAX_NAME_LETTERS)
    title = f" title='{escape(full)}'" if short != full else ""
    return f"<bdi{title}>{escape(short)}</bdi>"


def arrow(source: str, target: str, joint: str = "→") -> str:
    """Return two names with an arrow or another mark between them."""
    return f"{isolated(source)} {joint} {isolated(target)}"


def sentence(text: str, kind: str = "") -> str:
    """Return a paragraph; kind: "note", "warning" or none."""
    start = f"<p class='{kind}'>" if kind else "<p>"
    return f"{start}{escape(harmless(text))}</p>" if text else ""


def figure(picture: str | None) -> str:
    """Return an SVG picture on a white background; wide pictures scroll."""
    return f"<figure>{picture}</figure>" if picture else ""


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    most: int = MOST_ROWS,
    total: int | None = None,
    where: str = "",
    prose: bool = False,
) -> str:
    """Return a table, or "" without rows. The first cell of a row is HTML (a name, an arrow), the others are text.

    most: rows to write; a note below counts the others (of `total`, if `rows` has only the first) and says `where` they are.
    prose: cells are sentences instead of numbers.
    """
    ahead = iter(rows)
    lines = list(islice(ahead, most))
    more = sum(1 for _ in ahead) if total is None else total - len(lines)
    if not lines:
        return ""
    head = "".join(f"<th>{escape(title)}</th>" for title in heads)
    body = "".join(
        f"<tr><td>{first}</td>{''.join(f'<td>{escape(harmless(cell))}</td>' for cell in cells)}</tr>"
        for first, *cells in lines
    )
    kind = " class='prose'" if prose else ""
    cut = f"<p class='note'>… and {more:,} more{escape(where)}.</p>" if more > 0 else ""
    return f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{cut}"
