"""How far things are, on one line of the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from typing import ClassVar

import click

from ordag.words import News, cut, harmless

BAR, LEAST_BAR = 20, 5
"""Letters of a bar that shows how much is done, and the fewest of one where words leave little room."""

REDRAWN = 0.25
"""Seconds after which a line of progress is drawn again, whether there is news or not."""

WIPE = "\r\x1b[K"
"""Back to the start of the line, and nothing on it."""

BEGUN = time.monotonic()
"""When the command line was started: this is imported before anything that takes long."""


class Progress:
    """Says on standard error how far things are, once a second has passed and if someone is there to see it.

    Where the share that is done is known there is a bar, and the time that is left if it goes on at the same pace. A step
    that says nothing for long is shown with the time that it has taken.
    """

    seen: ClassVar[Progress | None] = None

    def __init__(self, news: str = "starting") -> None:
        self.news = news

    def __enter__(self) -> Progress:
        self.start, self.since = BEGUN, time.monotonic()
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
        while not self.ended.wait(REDRAWN):
            self._draw(time.monotonic())

    def __call__(self, news: str) -> None:
        now = time.monotonic()
        share = news.share if isinstance(news, News) else None
        if share is None or self.share is None or share < self.share:  # another step has begun
            self.since, self.before = now, share or 0.0
        self.share, self.news = share, news
        if self.visible and now - self.last > 0.2:
            self._draw(now)

    def _draw(self, now: float) -> None:
        with self.drawing:
            if now - BEGUN > 1.0 and not self.ended.is_set():
                self.last, self.shown = now, True
                click.echo(f"\r{self.line(self.news, now, _width())}\x1b[K", nl=False, err=True)

    def line(self, news: str, now: float, width: int) -> str:
        """What to show now: a bar if the share is known, the news, and how long it has taken or will take."""
        words, elapsed = harmless(news), f", after {_length(now - self.start)}"
        if not self.share:
            return cut(words, width - len(elapsed) - 1) + elapsed
        done, passed = self.share - self.before, now - self.since
        ends = [elapsed]
        if passed > 0.5 and done > 0.01 and self.share < 1.0:
            left = f"{_length(passed * (1.0 - self.share) / done)} left"
            ends = [f", about {left}", f", {left}"]
        part = f"{100 * self.share:3.0f} %  "
        for end in ends:
            letters = min(BAR, width - len(part + words + end) - 3)
            if letters >= LEAST_BAR:
                filled = round(self.share * letters)
                return f"[{'#' * filled}{'.' * (letters - filled)}] {part}{words}{end}"
        return part + cut(words, width - len(part + ends[-1]) - 1) + ends[-1]

    def wipe(self) -> None:
        """Leave the line empty until it is drawn again."""
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
    """A sentence on standard error, above the line of progress where there is one."""
    if Progress.seen is None:
        click.echo(sentence, err=True)
        return
    with Progress.seen.drawing:
        Progress.seen.wipe()
        click.echo(sentence, err=True)


def _length(seconds: float) -> str:
    """A length of time, in a unit that fits."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.0f} h"


def _width() -> int:
    """Letters of a line of the terminal. The last three stay free: for the cursor, and for what Ctrl-C leaves there."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # standard error is no file, or no terminal after all
        columns = 0
    return max(20, min(columns or shutil.get_terminal_size().columns, 120)) - 3
