"""`Table`: what a learner is given. It asks for moments in the precision that it needs; a file is read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ordag.arrays import Array
from ordag.checks import check_function
from ordag.data.given_moments import called, known_moments
from ordag.data.moments import (
    Moments,
    gram_moments,
    moments_of_gram,
    moments_of_scan,
    read_gram,
    read_moments,
)
from ordag.data.parts import PartSampler, scan
from ordag.data.profile import Profile, Rows, Sampler, sample_size, stride_of
from ordag.data.reading import Reading
from ordag.data.scatter import WIDE
from ordag.data.sources import ScatteredSource, Source, TensorSource
from ordag.data.sources.paths import paths_of
from ordag.data.table_checks import (
    LARGEST,
    SMALLEST,
    LeastRows,
    RowCheck,
    check_moments,
    check_size,
    least_squares_rows,
)
from ordag.data.transform import Changes, changed, open_table
from ordag.errors import SettingError
from ordag.words import counted, quoted


class Table:
    """Data of any kind that Ordag takes, opened and checked, not yet computed with.

    `reading` are the settings of `Reading`. `keep` is how many numbers of a file's rows to keep when they are read, for `rows`.
    `names` are those of the columns, known before any row is read; `source` is where the rows are, None for moments; `transform`
    is what was done to columns, by name; `inputs` are the files and folders that are read.
    """

    def __init__(
        self, data: Any, *, progress: Callable[[str], None] | None = None, keep: int = 0, **reading: Any
    ) -> None:
        settings = Reading(**reading)
        check_function("progress", progress)
        self.missing = settings.missing
        self.transform: Mapping[str, float | str] = _changing(settings.transform)
        self._progress, self._keep = progress, keep
        self._least_rows: LeastRows = least_squares_rows
        self.source: Source | None = None
        self._profile: Profile | None = None
        self._sampler: Sampler | Kept | None = None
        self.starts: tuple[int, ...] = (
            0,
        )  # of a table in parts: how many good rows come before each, once it has been read
        held = known_moments(data, settings.columns, progress)
        if held is not None:
            self._given = held.read_as(settings, called(data))
            self.names = self._given.names
        else:
            self.source = open_table(data, **reading)
            self.names = self.source.names
        self.inputs = paths_of(data)

    @classmethod
    def of_rows(cls, names: Sequence[str], X: Array) -> Table:
        """A table of rows in memory under given names."""
        return cls(dict(zip(names, X.T, strict=True)))

    @classmethod
    def of_moments(
        cls, moments: Moments, profile: Profile | None, progress: Callable[[str], None] | None = None
    ) -> Table:
        """A table of moments with what is known of the rows beside them."""
        table = cls(moments, progress=progress)
        table._profile = profile
        return table

    def transformed(self, transform: Mapping[str, float | str] | None, columns: Sequence[str] | None = None) -> Table:
        """The table with its columns changed, as the settings `transform` and `columns` would have it, read already.

        Rows are gone through again only for logarithms of more rows than were kept, and where rows with missing values were left out
        and columns go out now: other rows may be complete then.
        """
        if self.transform:
            raise SettingError(
                f"The columns {quoted(list(self.transform))} have been changed already: open the table anew."
            )
        asked = Reading(transform=transform).transform or {}
        same = columns is None or tuple(columns) == self.names
        moments = self.moments if columns is None or same else self.moments.select(columns)
        names = moments.names
        changes = Changes.of(asked, names, "the table" if self.source is None else self.source.describe)
        table = copy(self)
        table.names, table.transform = names, _changing(asked)
        table._sampler = table._profile = None
        for known in ("gram_moments", "moments", "qr_moments", "_read", "_gram_of_file", "_of_tensor"):
            vars(table).pop(known, None)
        if self.source is None:
            table._given = moments.read_as(Reading(transform=asked))
            return table
        settled = changes.divided(moments.spread / np.sqrt(max(moments.n - 1.0, 1.0)))
        table.source = changed(self.source, names, settled, self.missing)
        if same or not moments.dropped:
            table._take(self, moments, settled)
        return table

    def _take(self, other: Table, moments: Moments, changes: Changes) -> None:
        """What another table of the same rows has read: its moments, of these columns, and its rows."""
        place = {name: k for k, name in enumerate(other.names)}
        places = [place[name] for name in self.names]
        sampler: Any = vars(other)["_read"][1] if "_read" in vars(other) else None
        kept = sampler.rows if isinstance(sampler, Sampler) else None
        if changes.logs.any():
            if kept is None or kept.stride > 1 or moments.dropped:
                return
            assert self.source is not None
            rows = changes.apply(kept.values[:, places], self.names, self.source.describe, 1)
            logs = Moments.from_rows(dict(zip(self.names, rows.T, strict=True)))
            vars(self)["_read"] = self._checked(logs), Kept(Rows(rows, 1), Profile.of(rows))
            return
        spread = moments.spread * np.abs(changes.factors)
        if not ((spread >= SMALLEST) & (spread <= LARGEST)).all():
            return  # the rows say best what is wrong
        if kept is not None:
            vars(self)["_read"] = (
                self._checked(moments.scaled(changes.factors)),
                _kept(sampler, places, changes.factors),
            )
        elif other.gram_moments is not None:
            gram = other.gram_moments if len(places) == len(other.names) else other.gram_moments.select(self.names)
            vars(self)["gram_moments"] = self._checked(gram.scaled(changes.factors))
            vars(self)["moments"] = moments.scaled(changes.factors)
            if isinstance(other._sampler, Sampler):
                self._sampler = _kept(other._sampler, places, changes.factors)

    def tell(self, news: str) -> None:
        """Pass on how far things are."""
        if self._progress is not None:
            self._progress(news)

    def tell_rows(self, rows: int) -> None:
        """Pass on how many rows have been read."""
        self.tell(f"{counted(rows, 'row')} read" if self.source is None else self.source.news(rows))

    def needing(self, least_rows: LeastRows) -> Table:
        """This table, from now on refused with fewer rows than this; unless said, than regressions on all columns need."""
        self._least_rows = least_rows
        known = next((one for one in vars(self).values() if isinstance(one, Moments)), None)
        if known is not None:
            check_size(known.n, self.names, least_rows)
        return self

    @property
    def n(self) -> int:
        """The number of usable rows."""
        if self.source is None:
            return self._given.n
        return self.qr_moments.n if self.gram_moments is None else self.gram_moments.n

    def _check_rows(self) -> None:
        """Refuse too few rows before anything is computed from them, where their number is known."""
        if self.source is not None and self.source.rows is not None:
            check_size(self.source.rows, self.names, self._least_rows, self.source.place)

    def _checked(self, moments: Moments) -> Moments:
        check_moments(moments.n, moments.mean, moments.spread, moments.names, self._least_rows)
        return moments

    @cached_property
    def gram_moments(self) -> Moments | None:
        """Moments through a Gram matrix: the fast way, with half the digits, for rows in memory and for wide files. None for other data."""
        self._check_rows()
        if self.source is None:
            return None
        gram = self._gram_of_file if self._wide_file else gram_moments(self.source)
        return None if gram is None else self._checked(gram)

    @property
    def _wide_file(self) -> bool:
        """Whether the rows go through a Gram matrix first: should its digits not suffice, they can be read again."""
        return self.source is not None and self.source.repeatable and len(self.names) >= WIDE

    @cached_property
    def _gram_of_file(self) -> Moments | None:
        assert self.source is not None
        self._sampler = sampler = Sampler(len(self.names), self._keep)
        return read_gram(
            self.source,
            sampler,
            missing=self.missing,
            progress=self.tell_rows,
            least_rows=self._least_rows,
        )

    @property
    def _kept(self) -> Sampler | PartSampler | Kept:
        """What was kept of the rows when they were read, the first time that they were."""
        if isinstance(self.source, TensorSource) and self.gram_moments is not None:
            return self._of_tensor
        if self._wide_file:
            _ = self.gram_moments
            assert self._sampler is not None
            return self._sampler
        return self._read[1]

    @cached_property
    def _of_tensor(self) -> Kept:
        """A sample of rows on a device, which do not all come to the host for it."""
        source, p = self.source, len(self.names)
        assert isinstance(source, TensorSource)
        stride = stride_of(len(source.tensor), max(sample_size(p), self._keep // max(p, 1)))
        rows = Rows(source.every(stride), stride)
        few = rows.thinned(sample_size(p))
        return Kept(rows, Profile(few.values, few.stride, *source.ends()))

    @cached_property
    def moments(self) -> Moments:
        """Moments with every digit that the data have."""
        resolved = None if self.gram_moments is None else moments_of_gram(self.gram_moments)
        return self.qr_moments if resolved is None else self._checked(resolved)

    @cached_property
    def qr_moments(self) -> Moments:
        """Moments by orthogonal transformations of the rows, whatever their conditioning; those that were given, as they are."""
        return self._checked(self._given) if self.source is None else self._read[0]

    @cached_property
    def _read(self) -> tuple[Moments, Sampler | PartSampler | Kept]:
        """All rows once, and what is kept of them as they go by; of rows on a cluster, what may be asked of it."""
        assert self.source is not None
        self._check_rows()
        if isinstance(self.source, ScatteredSource):
            self.tell(f"{counted(self.source.part_count, 'partition')} on the cluster")
            found = scan(self.source, self.missing)
            self.starts = found.starts
            self.tell_rows(found.check.rows)
            return self._checked(moments_of_scan(found)), PartSampler(self.source, found, self._keep)
        sampler = Sampler(len(self.names), self._keep)
        moments = read_moments(
            self.source, missing=self.missing, progress=self.tell_rows, sampler=sampler, least_rows=self._least_rows
        )
        return self._checked(moments), sampler

    @property
    def rows(self) -> Rows | None:
        """The complete rows: all that are in memory, of a file an even sample. None for moments, which have no rows."""
        if self.source is None:
            return None
        X = self.source.array
        return self._kept.rows if X is None else Rows(RowCheck(self.names, "drop").admit(X), 1)

    @property
    def profile(self) -> Profile | None:
        """What the rows say beside their moments; None for moments, which have no rows."""
        if self.source is None:
            return self._profile
        X = None if "_read" in vars(self) or self.gram_moments is None else self.source.array
        return self._kept.profile if X is None else Profile.of(X)


class Kept(NamedTuple):
    """What a `Sampler` has kept, changed."""

    rows: Rows
    profile: Profile


def _kept(sampler: Sampler, places: list[int], factors: Array) -> Kept:
    rows, profile = sampler.rows, sampler.profile
    ends = profile.least[places] * factors, profile.most[places] * factors
    return Kept(
        Rows(np.ascontiguousarray(rows.values[:, places] * factors), rows.stride),
        Profile(profile.rows[:, places] * factors, profile.stride, np.minimum(*ends), np.maximum(*ends)),
    )


def _changing(transform: Mapping[str, float | str] | None) -> Mapping[str, float | str]:
    """Without what stays as it is."""
    return {name: change for name, change in (transform or {}).items() if change != 1.0}
