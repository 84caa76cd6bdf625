"""Sentences and tables that fit the width of a terminal; files and pipes have no width.

Variable names are truncated last. A table too wide for the screen first wraps its titles and its prose, then drops columns of
numbers, the least important first, and says which; only then are names wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import NoReturn

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from ordag.common.words import harmless, shown

UNLIMITED = 1 << 20
"""Width of a file or pipe, in characters."""

GAP = "  "
LEAST_WIDTH = 10
"""Characters of a name that stay on one line on the narrowest screen."""


class Screen(Console):
    """Standard output, as wide as the terminal or the environment variable COLUMNS; a file or pipe is unlimited.

    typed: how settings in a sentence are written here, such as `--adjust sex` for `adjust=['sex']`.
    """

    def __init__(self, typed: Callable[[str], str] = str) -> None:
        super().__init__(highlight=False, markup=False)
        self.typed = typed
        if not self.is_terminal and not (self._environ.get("COLUMNS") or "").isdigit():
            self.width = UNLIMITED

    def on_broken_pipe(self) -> NoReturn:
        """Let the command line handle a reader that has gone."""
        raise


@dataclass(frozen=True)
class Column:
    """A title and its cells.

    rank: columns with the lowest rank are dropped first; columns without one stay. prose: cells may be wrapped between words.
    """

    title: str
    cells: Sequence[str]
    right: bool = False
    rank: int | None = None
    prose: bool = False
    style: str = ""

    @property
    def least(self) -> int:
        """The width of the cells without a break inside a name."""
        whole = max(map(cell_len, self.cells), default=0)
        if not self.prose:
            return whole
        longest_word = max((cell_len(word) for cell in self.cells for word in cell.split()), default=0)
        return max(longest_word, min(LEAST_WIDTH, whole))

    def broken(self) -> list[str]:
        """Return the title, on two lines if it is wider than the cells, broken where that makes it narrowest."""
        words = self.title.split()
        if cell_len(self.title) <= self.least or len(words) == 1:
            return [self.title]
        ways = [[" ".join(words[:k]), " ".join(words[k:])] for k in range(1, len(words))]
        return min(ways, key=lambda way: max(map(cell_len, way)))


def print_head(console: Console, description: str, sizes: str) -> None:
    """Print the first line of an answer: what was read, and its size."""
    say(console, Text.assemble(("Ordag", "bold"), f" · {shown(description)} · " if description else " · ", sizes))


def as_text(show: Callable[[Console], None], width: int) -> str:
    """Return what a function prints on a terminal of this width, without colours."""
    lines = StringIO()
    show(Console(file=lines, width=width, highlight=False, markup=False, color_system=None))
    return lines.getvalue().rstrip("\n")


def section(console: Console, title: str) -> None:
    """Print the title of a part of an answer."""
    console.print()
    console.print(Text(title, style="bold"))


def print_rest(console: Console, count: int, what: str, options: str = "--json") -> None:
    """Say how many more rows there are than were printed, and which option has them."""
    if count > 0:
        say(console, f"… and {count} more {what}: see {options}", "  ", style="dim")


def written(console: Console, sentence: str) -> str:
    """Return a sentence that is safe to show, with settings as they are written on this screen."""
    return harmless(console.typed(sentence) if isinstance(console, Screen) else sentence)


def say(console: Console, text: str | Text, indent: str = "", style: str = "") -> None:
    """Print a sentence, wrapped between words at the width of the screen, every line with the same indent."""
    whole = text if isinstance(text, Text) else Text(text, style=style)
    for line in whole.wrap(console, max(console.width - len(indent), LEAST_WIDTH)):
        line.rstrip()
        console.print(Text(indent) + line, soft_wrap=True)


def show_table(console: Console, columns: Sequence[Column], indent: str = GAP, elsewhere: str = "") -> list[str]:
    """Print as many columns side by side as fit; `elsewhere` tells where to find the others, whose titles are returned."""
    space = console.width - len(indent)
    kept = list(columns)
    heads = {id(column): [column.title] for column in columns}

    def least() -> int:
        wide = [max([column.least, *map(cell_len, heads[id(column)])]) for column in kept]
        return sum(wide) + len(GAP) * (len(wide) - 1)

    if sum(_widths(kept, list(heads.values()), UNLIMITED)) + len(GAP) * (len(kept) - 1) > space:
        heads = {id(column): column.broken() for column in columns}
    ranked = sorted((column for column in columns if column.rank is not None), key=lambda column: column.rank or 0)
    for column in ranked:
        if least() <= space:
            break
        kept = [other for other in kept if other is not column]
    titles = [heads[id(column)] for column in kept]
    widths = _widths(kept, titles, space)
    if any(column.title for column in kept):
        depth = max(map(len, titles))
        _print_row(console, indent, kept, [[""] * (depth - len(title)) + title for title in titles], widths, "dim")
    for row in zip(*(column.cells for column in kept), strict=True):
        folded = [folds(cell, width) for cell, width in zip(row, widths, strict=True)]
        depth = max(map(len, folded))
        _print_row(console, indent, kept, [lines + [""] * (depth - len(lines)) for lines in folded], widths)
    left_out = [column.title for column in columns if all(column is not other for other in kept)]
    if left_out:
        say(console, f"left out at this width: {', '.join(left_out)}{elsewhere}", indent, style="dim")
    return left_out


def folds(text: str, width: int) -> list[str]:
    """Wrap a text: at spaces, in longer words at punctuation, and else anywhere."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cell_len(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines += _pieces(word, width)
    return lines


def _pieces(word: str, width: int) -> list[str]:
    if cell_len(word) <= width:
        return [word]
    lines = [""]
    for part in re.findall(r"[^_./:-]+[_./:-]*|[_./:-]+", word):
        if lines[-1] and cell_len(lines[-1] + part) > width:
            lines.append("")
        *whole, last = chop_cells(lines[-1] + part, width)
        lines[-1:] = [*whole, last]
    return lines


def _widths(columns: Sequence[Column], titles: Sequence[Sequence[str]], space: int) -> list[int]:
    """Return the widths of the columns; where they exceed the space, the widest prose shrinks first, then the widest names."""
    found = [max(map(cell_len, [*column.cells, *title])) for column, title in zip(columns, titles, strict=True)]
    prose = [k for k, column in enumerate(columns) if column.prose]
    names = [k for k, column in enumerate(columns) if column.rank is None and not column.right]
    for group, least in ((prose, [column.least for column in columns]), (names, [LEAST_WIDTH] * len(columns))):
        while sum(found) + len(GAP) * (len(found) - 1) > space:
            able = [k for k in group if found[k] > least[k]]
            if not able:
                break
            found[max(able, key=lambda k: found[k])] -= 1
    return found


def _print_row(
    console: Console,
    indent: str,
    columns: Sequence[Column],
    cells: Sequence[Sequence[str]],
    widths: Sequence[int],
    style: str = "",
) -> None:
    for line in zip(*cells, strict=True):
        text = Text(indent)
        for column, cell, width in zip(columns, line, widths, strict=True):
            blank = " " * (width - cell_len(cell))
            text.append(blank + cell if column.right else cell + blank, style=style or column.style)
            text.append(GAP)
        text.rstrip()
        console.print(text, soft_wrap=True)
