"""Names, lists and counts in, the words of a sentence out: what every message is made with."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

LEFT_TO_RIGHT = "\u200e"
"""The mark that ends a name written from right to left, so that what follows is not drawn on its other side."""

_JOINERS = ("\u200c", "\u200d")  # between letters of many scripts


def harmless(text: str) -> str:
    r"""The text with an escape such as \x1b for every character that would act on a terminal or turn the direction."""
    if text.isprintable():
        return text
    return "".join(letter if _is_plain(letter) else " " if _is_space(letter) else _escape(letter) for letter in text)


def shown(name: str) -> str:
    """The name as a reader may see it: quoted and escaped where it would not read as one piece of text."""
    plain = name.isprintable() or all(map(_is_plain, name))
    line = name if plain and name == name.strip() and name else repr(name)
    leftwards = not line.isascii() and any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in line)
    return line + LEFT_TO_RIGHT if leftwards else line


def listed(names: Iterable[str], most: int = 8) -> str:
    """'a, b and c', every name as it is `shown`; past `most`, how many more there are."""
    return joined([shown(name) for name in names], most)


def joined(phrases: list[str], most: int = 8) -> str:
    """As `listed`, for phrases that are written already."""
    if len(phrases) > most:
        return f"{', '.join(phrases[:most])} and {len(phrases) - most} more"
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def counted(count: int, noun: str, nouns: str = "") -> str:
    """'1 row', '2,000 rows': the number and the noun that goes with it; `nouns` where the plural is no plain s."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def _is_plain(letter: str) -> bool:
    return letter.isprintable() or letter in _JOINERS or letter == LEFT_TO_RIGHT


def _is_space(letter: str) -> bool:
    return unicodedata.category(letter) == "Zs"


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
