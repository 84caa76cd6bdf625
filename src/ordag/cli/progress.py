"""How far things are, on one line of the terminal."""

from __future__ import annotations

import shutil
import sys
import threading
import time

import click

from ordag.words import News, harmless

BAR, LEAST_BAR = 20, 5
"""Letters of a bar that shows how much is done, and the fewest of one where words leave little room."""

REDRAWN = 0.25
"""Seconds after which a line of progress is drawn again, whether there is news or not."""


class Progress:
    """Says on standard error how far things are, once they have taken a second and if someone is there to see it.

    Where the share that is done is known there is a bar, and the time that is left if it goes on at the same pace. A step
    that says nothing for long is shown with the time that it has taken.
    """

    def __enter__(self) -> Progress:
        self.start = self.since = time.monotonic()
        self.last = self.share = 0.0
        self.visible = sys.stderr.isatty()
        self.shown = False
        self.news: str = ""
        self.drawing, self.ended = threading.Lock(), threading.Event()
        if self.visible:
            self.clock = threading.Thread(target=self._keep_drawing, daemon=True)
            self.clock.start()
        return self

    def _keep_drawing(self) -> None:
        while not self.ended.wait(REDRAWN):
            if self.news:
                self._draw(time.monotonic())

    def __call__(self, news: str) -> None:
        now = time.monotonic()
        share = news.share if isinstance(news, News) else None
        if share is None or share < self.share:  # another step has begun
            self.since = now
        self.share, self.news = share or 0.0, news
        if self.visible and now - self.last > 0.2:
            self._draw(now)

    def _draw(self, now: float) -> None:
        with self.drawing:
            if now - self.start > 1.0 and not self.ended.is_set():
                click.echo(f"\r{self.line(self.news, now, _width())}", nl=False, err=True)
                self.last, self.shown = now, True

    def line(self, news: str, now: float, width: int) -> str:
        """What to show now: a bar if the share is known, the news, and how long it has taken or will take."""
        words, elapsed = harmless(news), now - self.start
        if not self.share:
            return f"{words}, {elapsed:.0f} s"[:width].ljust(width)
        left = (now - self.since) * (1.0 - self.share) / self.share
        more = f", about {left:.0f} s left" if now - self.since > 0.5 and self.share > 0.01 else ""
        said = f"{100 * self.share:3.0f} %  {words}{more}"
        letters = min(BAR, width - len(said) - 3)
        filled = round(self.share * letters)
        bar = f"[{'#' * filled}{'.' * (letters - filled)}] " if letters >= LEAST_BAR else ""
        return f"{bar}{said}"[:width].ljust(width)

    def __exit__(self, *_: object) -> None:
        with self.drawing:
            self.ended.set()
        if self.visible:
            self.clock.join()
        if self.shown:
            click.echo("\r" + " " * _width() + "\r", nl=False, err=True)


def _width() -> int:
    """Letters of a line of the terminal, the last of which stays free."""
    return max(20, min(shutil.get_terminal_size().columns, 120)) - 1
