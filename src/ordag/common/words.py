"""Words for messages: names that are safe to show, lists, counts, numbers."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile
from os import PathLike
from typing import Any

LEFT_TO_RIGHT = "\u200e"
"""The mark that ends a name written from right to left, so that the text after it stays in place."""

UNDECODED = re.compile("[\udc80-\udcff]")
"""The characters that stand for bytes of a path that are not UTF-8."""

_JOINERS = ("\u200c", "\u200d")  # used between letters in many scripts


class News(str):
    """A progress message; `share` is the part of this step that is done, from 0 to 1, or None if unknown."""

    share: float | None

    def __new__(cls, words: str, share: float | None = None) -> News:
        news = super().__new__(cls, words)
        news.share = share
        return news


def spelled(path: str | PathLike[str]) -> str:
    r"""Return the path as text in which bytes that are not UTF-8 are escapes such as \xf6."""
    return UNDECODED.sub(lambda byte: _escape(byte[0]), os.fspath(path))


def in_marks(path: str | PathLike[str]) -> str:
    """Return the path in quotation marks, with the same escapes."""
    text = os.fspath(path)
    return f"'{spelled(text)}'" if UNDECODED.search(text) else repr(text)


def harmless(text: str) -> str:
    r"""Return the text with escapes such as \x1b for characters that control a terminal or the writing direction."""
    if text.isprintable():
        return text
    return "".join(letter if _is_plain(letter) else " " if _is_space(letter) else _escape(letter) for letter in text)


def shown(name: str) -> str:
    """Return a name that is safe to show: quoted and escaped where it would not read as one piece of text."""
    plain = name.isprintable() or all(map(_is_plain, name))
    line = name if plain and name == name.strip() and name else in_marks(name)
    leftwards = not line.isascii() and any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in line)
    return line + LEFT_TO_RIGHT if leftwards else line


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return 'a, b and c' of names as they are `shown`; past `most`, the number of the others."""
    return joined([shown(name) for name in names], most)


def joined(phrases: list[str], most: int = 8) -> str:
    """Join phrases as `listed` joins names."""
    if len(phrases) > most:
        return f"{', '.join(phrases[:most])} and {len(phrases) - most} more"
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def quoted(names: Sequence[str], most: int = 8) -> str:
    """Return the names in quotation marks; past `most`, the number of the others."""
    line = ", ".join(repr(name) for name in names[:most])
    return line if len(names) <= most else f"{line} and {len(names) - most} more"


MAX_COMPARED_LETTERS = 200
"""Letters up to which names are compared: the time is proportional to the product of both lengths."""


def did_you_mean(name: str | Sequence[str], names: Iterable[str], each: int = 1) -> str:
    """Return " Did you mean 'x'?" with up to `each` of `names` that resemble each unknown name; '' without any."""
    known = {one.casefold(): one for one in names if len(one) <= MAX_COMPARED_LETTERS}
    unknown = [
        one.casefold() for one in ([name] if isinstance(name, str) else name) if len(one) <= MAX_COMPARED_LETTERS
    ]
    close = list(dict.fromkeys(known[match] for one in unknown for match in get_close_matches(one, known, n=each)))
    return f" Did you mean {quoted(close)}?" if close else ""


def cut(text: str, most: int = 40) -> str:
    """Return the text, cut to `most` letters and … if it is longer."""
    return text if len(text) <= most else f"{text[:most]}…"


def shortened(text: str, most: int = 40) -> str:
    """Return the text with … for the middle of a long one, because names often differ at both ends."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - (most - 1) // 2 :]}"


def shortened_apart(texts: Iterable[str], most: int) -> dict[str, str]:
    """Map each text to a short one as `shortened` does; texts that would read alike keep the part in which they differ."""
    short = {text: shortened(text, most) for text in texts}
    waiting = [list(short)]
    while waiting:
        groups: dict[str, list[str]] = {}
        for text in waiting.pop():
            groups.setdefault(short[text], []).append(text)
        for alike in groups.values():
            if len(alike) > 1:
                made = _with_what_differs(alike, most)
                short.update(zip(alike, made, strict=True))
                if len(set(made)) > 1:
                    waiting.append(alike)
    return short


def _with_what_differs(texts: Sequence[str], most: int) -> list[str]:
    """Return the part in which texts differ, with as much of their ends as fits."""
    before = _shared(texts)
    after = _shared([text[before:][::-1] for text in texts])
    one = texts[0]
    for _ in range(4):  # 13 and 14 differ as a whole
        before -= before > 0 and one[before - 1].isdigit()
        after -= after > 0 and one[-after].isdigit()
    made = []
    for text in texts:
        middle = shortened(text[before : len(text) - after], most - 2)
        room = most - 2 - len(middle)
        tail = min(after, room // 2)
        head = min(before, room - tail)
        left, right = "…" if head < before else "", "…" if tail < after else ""
        made.append(f"{text[:head]}{left}{middle}{right}{text[len(text) - tail :]}")
    return made


def _shared(texts: Sequence[str]) -> int:
    """Return the length of the common beginning."""
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))


def collinear(name: str, others: Sequence[str]) -> str:
    """Return the sentence that refuses a column that is a combination of others."""
    one = len(others) == 1
    what = (
        f"a copy of {shown(others[0])}, up to shift and scale" if one else f"a linear combination of {listed(others)}"
    )
    return f"Column {shown(name)} is {what}, to the last digit that float64 holds: leave one of these columns out."


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Return '1 row' or '2,000 rows'; `nouns` is the plural if it is irregular."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def mean_digits(means: Iterable[float]) -> int:
    """Return the digits to write means with: four, and more for large ones, so that none has an exponent."""
    return max([4, *(len(f"{abs(mean):.0f}") for mean in means if abs(mean) < 1e9)])


LARGE = 1e7
"""The size from which numbers are written with an exponent."""


def number(value: float | None, digits: int = 4) -> str:
    """Write a number in a table, up to ten million without an exponent; '' for None and nan."""
    if value is None or value != value:
        return ""
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e+" in text and abs(value) < LARGE else text


def probability(value: float | None) -> str:
    """Write a probability in a table; '' for None and nan."""
    return "< 1e-16" if value is not None and value < 1e-16 else number(value, 2)


def chance(p_value: float) -> str:
    """Write a p-value in a sentence: "p = 0.03"."""
    return f"p {'' if p_value < 1e-16 else '= '}{probability(p_value)}"


def percent(value: float) -> str:
    """Write a share in a table, to the nearest percent."""
    return f"{100 * value:.0f} %"


def share(value: float) -> str:
    """Write a share in a sentence; only all is 100 % and only none is 0 %."""
    nearest = percent(value)
    if nearest == "100 %" and value < 1:
        return "more than 99 %"
    return "less than 1 %" if nearest == "0 %" and value > 0 else nearest


def about(value: float) -> str:
    """Write an estimated share: "about 5 %", "less than 1 %"."""
    said = share(value)
    return said if "than" in said else f"about {said}"


def amount(value: float) -> str:
    """Write a number of any size in a sentence: "1,234", "0.567"."""
    return f"{value:,.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"


def shell_word(word: str) -> str:
    """Quote a word for a shell; control characters become escapes that bash and zsh read."""
    if harmless(word) == word:
        return shlex.quote(word)
    return f"$'{''.join(map(_shell_letter, word))}'"


def option_words(option: str, value: Any) -> list[str]:
    """Return an option and its value as words of a command line; an option alone for True.

    Items of a list stand between commas; if one of them has a comma or ends in spaces, the option is repeated, at least once.
    """
    if value is True:
        return [option]
    if isinstance(value, Mapping):
        return [word for key, one in value.items() for word in (option, f"{key}={one}")]
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [option, "tab" if value == "\t" else str(value)]
    items = list(map(str, value))
    if all("," not in item and item == item.strip() for item in items):
        return [option, ",".join(items)]
    return [word for item in (items if len(items) > 1 else items * 2) for word in (option, item)]


def typed(option: str, value: Any) -> str:
    """Write an option with its value for a shell."""
    return " ".join(map(shell_word, option_words(option, value)))


def _shell_letter(letter: str) -> str:
    if letter in "\\'":
        return f"\\{letter}"
    if harmless(letter) == letter:
        return letter
    if UNDECODED.match(letter):
        return harmless(letter)
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_plain(letter: str) -> bool:
    return letter.isprintable() or letter in _JOINERS or letter == LEFT_TO_RIGHT


def _is_space(letter: str) -> bool:
    return unicodedata.category(letter) == "Zs"


def _escape(letter: str) -> str:
    if UNDECODED.match(letter):
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter.encode("unicode_escape").decode("ascii")
