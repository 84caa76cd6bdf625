"""`Table`: what a learner is given. It asks for moments in the precision that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ordag.checks import check_function
from ordag.data.gate import LeastRows, Missing, check_missing, check_moments, check_size, least_squares_rows
from ordag.data.moments import Moments, quick_moments, read_moments, resolved_moments
from ordag.data.profile import Profile, Sampler
from ordag.data.sources import Source, open_source, refuse_reading
from ordag.words import counted


class Table:
    """Data of any kind that Ordag takes, opened and checked, not yet computed with."""

    def __init__(
        self,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        missing: Missing = "error",
        progress: Callable[[str], None] | None = None,
        **reading: Any,
    ) -> None:
        check_missing(missing)
        check_function("progress", progress)
        self.missing: Missing = missing
        self._progress = progress
        self._least_rows: LeastRows = least_squares_rows
        self.source: Source | None = None
        self._sampler: Sampler | None = None
        self._given: Moments | None = None
        if isinstance(data, Moments):
            refuse_reading(reading, "Moments")
            self._given = data if columns is None else data.select(columns)
            self.description = "moments"
        else:
            self.source = open_source(data, columns=columns, **reading)
            self.description = self.source.describe

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, known before any row is read."""
        if self._given is not None:
            return self._given.names
        assert self.source is not None
        return tuple(self.source.names)

    def tell(self, news: str) -> None:
        """Pass on how far things are."""
        if self._progress is not None:
            self._progress(news)

    def _rows_read(self, rows: int) -> None:
        self.tell(f"{counted(rows, 'row')} read")

    def needing(self, least_rows: LeastRows) -> Table:
        """The same data, refused where they have fewer rows than this; unless said, than regressions on all columns need."""
        if least_rows is self._least_rows:
            return self
        other = Table.__new__(Table)
        kept = {name: value for name, value in vars(self).items() if name not in ("quick", "moments", "exact")}
        other.__dict__.update(kept, _least_rows=least_rows)
        return other

    def _check_rows(self) -> None:
        """Refuse too few rows before anything is computed from them, where their number is known."""
        if self.source is not None and self.source.rows is not None:
            check_size(self.source.rows, self.names, self._least_rows)

    @cached_property
    def quick(self) -> Moments | None:
        """Moments through a Gram matrix of rows in memory: the fast way, with half the digits. None for other data."""
        if self.source is None:
            return None
        self._check_rows()
        quick = quick_moments(self.source)
        return None if quick is None else self._checked(quick)

    @cached_property
    def moments(self) -> Moments:
        """Moments with every digit that the data have."""
        if self._given is not None:
            return self._checked(self._given)
        assert self.source is not None
        resolved = None if self.quick is None else resolved_moments(self.quick)
        return self._read() if resolved is None else self._checked(resolved)

    @cached_property
    def exact(self) -> Moments:
        """Moments by orthogonal transformations of the rows, whatever their conditioning."""
        if self._given is not None:
            return self.moments
        return self._read()

    def _read(self) -> Moments:
        """All rows once, and a sample of them kept as they go by."""
        assert self.source is not None
        self._check_rows()
        sampler = Sampler(len(self.names))
        moments = read_moments(
            self.source, missing=self.missing, progress=self._rows_read, sampler=sampler, least_rows=self._least_rows
        )
        self._sampler = sampler
        return self._checked(moments)

    def _checked(self, moments: Moments) -> Moments:
        check_moments(moments.n, moments.mean, moments.spread, moments.names, self._least_rows)
        return moments

    @property
    def profile(self) -> Profile | None:
        """What the rows say beside their moments, once they have been read; None where there are none."""
        if self._sampler is not None:
            return self._sampler.profile
        if self.source is None or self.source.array is None or self.quick is None:
            return None
        return Profile.of(self.source.array)


READING = ("separator", "encoding", "header", "decimal")


def split_reading(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of reading text files, and all others."""
    reading = {name: value for name, value in settings.items() if name in READING}
    return reading, {name: value for name, value in settings.items() if name not in READING}
