"""The line of progress on a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from typing import ClassVar

import click

from ordag.common.words import News, cut, harmless

MAX_BAR, MIN_BAR = 20, 5
"""Characters of the bar; below the second there is none."""

REDRAW_SECONDS = 0.25

WIPE = "\r\x1b[K"
"""Terminal codes that empty the line."""

BEGUN = time.monotonic()
"""When the command line was started: this module is imported before anything slow."""


class Progress:
    """Shows progress on standard error if that is a terminal, after the first second.

    Where the share done is known, the line has a bar and the time left at the present pace; else the time since the command began.
    """

    seen: ClassVar[Progress | None] = None

    def __init__(self, news: str = "starting") -> None:
        self.news = news

    def __enter__(self) -> Progress:
        self.start = BEGUN
        self.since = self.told = time.monotonic()
        self.last = self.before = 0.0
        self.share: float | None = None
        self.visible = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.shown = False
        self.drawing, self.ended = threading.Lock(), threading.Event()
        if self.visible:
            Progress.seen = self
            self.clock = threading.Thread(target=self._keep_drawing, daemon=True)
            self.clock.start()
        return self

    def _keep_drawing(self) -> None:
        while not self.ended.wait(REDRAW_SECONDS):
            self._draw(time.monotonic())

    def __call__(self, news: str) -> None:
        now = time.monotonic()
        share = news.share if isinstance(news, News) else None
        if share is None or self.share is None or share < self.share:  # a new step
            self.since, self.before = now, share or 0.0
        self.share, self.news, self.told = share, news, now
        if self.visible and now - self.last > 0.2:
            self._draw(now)

    def _draw(self, now: float) -> None:
        with self.drawing:
            if now - BEGUN > 1.0 and not self.ended.is_set():
                self.last, self.shown = now, True
                click.echo(f"\r{self.line(self.news, now, _width())}\x1b[K", nl=False, err=True)

    def line(self, news: str, now: float, width: int) -> str:
        """Return the line: a bar if the share is known, the news, and the time left or passed."""
        share = self.share  # another thread may change it
        words, elapsed = harmless(news), f", after {_length(now - self.start)}"
        if not share:
            return _fitted(words, elapsed, width)
        ends = [elapsed]
        done, passed = share - self.before, self.told - self.since
        if passed > 0.5 and done > 0.01:
            left = passed * (1.0 - share) / done - (now - self.told)
            ends = [f", about {_length(left)} left", f", {_length(left)} left"] if left >= 0.5 else ends
        part = f"{100 * share:3.0f} %  "
        for end in ends:
            letters = min(MAX_BAR, width - len(part + words + end) - 3)
            if letters >= MIN_BAR:
                filled = round(share * letters)
                return f"[{'#' * filled}{'.' * (letters - filled)}] {part}{words}{end}"
        end = next((end for end in ends if len(part + words + end) < width), ends[-1])
        return _fitted(part + words, end, width)

    def wipe(self) -> None:
        """Empty the line until it is drawn again."""
        if self.shown:
            click.echo(WIPE, nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        with self.drawing:
            self.ended.set()
        if self.visible:
            Progress.seen = None
            self.clock.join()
        self.wipe()


def say(sentence: str) -> None:
    """Print a sentence on standard error, above the line of progress if there is one."""
    if Progress.seen is None:
        click.echo(sentence, err=True)
        return
    with Progress.seen.drawing:
        Progress.seen.wipe()
        click.echo(sentence, err=True)


def _fitted(words: str, end: str, width: int) -> str:
    """Join the words and their end in at most `width` characters, cutting the words."""
    return (cut(words, max(width - len(end) - 1, 0)) + end)[:width]


def _length(seconds: float) -> str:
    """Write a length of time to the second: 59 s, 2:05 min, 1:02:05 h."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


def _width() -> int:
    """Return the width of the terminal less three characters, for the cursor and the ^C of Ctrl-C."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # standard error is no file, or no terminal
        columns = 0
    return max(20, min(columns or shutil.get_terminal_size().columns, 120)) - 3
