"""`Table`: the data of a learner, which asks for moments in the precision that it needs; a file is read once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.checks import check_function
from ordag.common.words import counted, listed, quoted, shown
from ordag.data.covariates import CONDITIONS, HELD
from ordag.data.given_moments import given_moments, read_as
from ordag.data.holding import indicators
from ordag.data.labelled import Labels
from ordag.data.labels import RowLabels
from ordag.data.moments import Moments, resolved
from ordag.data.passes import Pass, Scan, draw_sample, gram_in_memory, gram_pass, root_pass, scan, summed_up
from ordag.data.profile import Profile, Rows, Sampler, sample_size, stride_of
from ordag.data.reading import FEWEST_COLUMNS, Reading
from ordag.data.relations import WIDEST_RELATION, confirmed
from ordag.data.roles import ColumnRole
from ordag.data.scatter import MANY_COLUMNS
from ordag.data.sentinels import sentinel_sentence
from ordag.data.series import Series, SeriesSource
from ordag.data.set_aside import set_aside_sentence
from ordag.data.sources import DaskSource, Source, TensorSource
from ordag.data.sources.paths import paths_of
from ordag.data.table_checks import (
    LARGEST,
    SMALLEST,
    LeastRows,
    RowCheck,
    check_moments,
    check_size,
    check_variables,
    least_squares_rows,
    unchanging,
)
from ordag.data.transform import Changes, changed, held_fixed, open_table
from ordag.errors import CollinearError, ColumnWarning, DataError, SettingError

KNOWN = ("_gram", "gram_moments", "moments", "qr_moments", "_unadjusted", "rows_source", "_scan", "_sample")
"""What a table keeps of its rows once they have been read."""

NOTHING = 1e-9
"""Standard deviations up to which covariates leave nothing of a value."""


class Table:
    """Data of any kind that Ordag takes, opened and checked, not yet computed with.

    `reading` are the settings of `Reading`. `keep` is how many numbers of a file's rows to keep when they are read, for `rows`.
    `names` are those of the variables, known before any row is read; `source` has the rows, None for moments; `transform`
    are the changes of columns, by name; `inputs` are the files and folders that are read. Moments and rows have `covariates` held
    fixed: they are what regressions on them leave, at their means. `columns` are the roles of all columns. `choice` says why "auto"
    takes another method than usual.
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
        self._judged = False  # whether columns may be set aside
        self._profile: Profile | None = None  # of moments, where one is known
        self._like: Moments | None = None
        self._between, self.both_levels = settings.clusters == "between", settings.clusters == "both"
        self._leave_out = tuple(settings.leave_out)
        self._sampler: Sampler | None = None
        self.choice = ""
        self._given = given_moments(data, settings, progress)
        self.source: Source | None = None
        self.series: Series | None = None
        if self._given is None:
            self.source = open_table(data, settings)
            self.names, self.covariates = self.source.names, self.source.covariates
            if isinstance(self.source, SeriesSource):
                self.series = self.source.series
            self.columns = self.source.columns
            self._judged = not settings.strict and settings.columns is None
            if self.row_labels is not None and self.missing != "refuse":
                if self.missing == "em":
                    raise SettingError(
                        f"missing='em' does not go with {next(iter(settings.row_columns), 'lags')}: incomplete rows are left out there "
                        "(missing='drop').",
                        ["missing"],
                    )
                self.missing = "drop"
            if self.source.suspects:
                self._settle()
            check_variables(self.names, self.columns, self.source.prefix)
        else:
            self.names, self.covariates = self._given.variables, self._given.covariates
            self.columns = tuple(ColumnRole(name, "variable") for name in self.names)
        self.inputs = paths_of(data)

    @classmethod
    def of_rows(cls, names: Sequence[str], X: Array, like: Moments | None = None) -> Table:
        """Make a table of rows in memory under given names; they count for as much as those behind the moments `like`."""
        table = cls(dict(zip(names, X.T, strict=True)), strict=True)
        table._like = like
        return table

    @classmethod
    def of_moments(
        cls,
        moments: Moments,
        profile: Profile | None,
        progress: Callable[[str], None] | None = None,
        series: Series | None = None,
    ) -> Table:
        """Make a table of moments, with the profile of their rows, and what they are in time, where these are known."""
        table = cls(moments, progress=progress)
        table._profile, table.series = profile, series
        return table

    def leaving_out(self, labels: Sequence[str]) -> Table:
        """Return the table without the rows of these conditions, with what has been read already."""
        table = copy(self)
        table._profile, table._leave_out = None, (*self._leave_out, *labels)
        moments = self._unadjusted.leaving_out(labels)
        for known in KNOWN:
            if known != "_scan":
                vars(table).pop(known, None)
        if self.source is None:
            table._given = moments
        else:
            vars(table)["_unadjusted"] = moments
        return table

    def transformed(self, transform: Mapping[str, float | str] | None, columns: Sequence[str] | None = None) -> Table:
        """Return the table that the settings `transform` and `columns` would give, with what has been read already.

        Rows are read again only for logarithms of more rows than were kept, and where rows with missing values were left out
        and fewer columns are used now: other rows may be complete then.
        """
        if self.transform:
            raise SettingError(
                f"The columns {quoted(list(self.transform))} have been changed already: open the table anew."
            )
        changing = Reading(transform=transform).transform or {}
        if self.series is not None and self.series.lags:
            if changing:
                raise SettingError(
                    "transform: the values of earlier times have been taken already: change the units when the table is opened "
                    "(--transform).",
                    ["transform"],
                )
            kept = (
                self.series.names if columns is None else [name for name in self.series.names if name in set(columns)]
            )
            columns = self.series.select(kept).columns
        same = columns is None or tuple(columns) == self.names
        moments = self.moments if columns is None or same else self.moments.select(columns)
        names = moments.names
        raw = self._unadjusted.select(names) if self.covariates or self.source is None else moments
        changes = Changes.of(changing, names, "the table" if self.source is None else self.source.describe)
        table = copy(self)
        table.names, table.transform = names, _changing(changing)
        if self.series is not None and not same:
            table.series = self.series.select([name for name in self.series.names if name in names])
        table._sampler = table._profile = None
        for known in KNOWN:
            vars(table).pop(known, None)
        if self.source is None:
            table._given = read_as(raw, Reading(transform=changing))
            return table
        settled = changes.divided(raw.spread[raw.p - len(names) :] / np.sqrt(max(raw.n - 1.0, 1.0)))
        table.source = changed(self.source, names, settled, self.missing)
        if same or moments.holes is None:
            table._take(self, moments, raw, settled)
        return table

    def _take(self, other: Table, moments: Moments, raw: Moments, changes: Changes) -> None:
        """Take over what another table of the same rows has read: its moments, of these columns, and its sample."""
        if isinstance(self.source, DaskSource):
            return
        where = {name: k for k, name in enumerate(other.names)}
        columns = [where[name] for name in self.names]
        sample = None if other._sampler is None else other._sample
        exact = sample is not None and "qr_moments" in vars(other)
        if changes.logs.any():
            whole = sample is not None and sample.stride == 1 and moments.holes is None
            if exact and sample is not None and whole and not self.covariates:
                assert self.source is not None
                rows = changes.apply(sample.rows[:, columns], self.names, self.source.describe, 1)
                logs = Moments.from_rows(dict(zip(self.names, rows.T, strict=True)))
                vars(self)["qr_moments"] = self._checked(logs)
                vars(self)["_sample"] = Profile(rows, 1, rows.min(axis=0), rows.max(axis=0))
            return
        spread = moments.spread * np.abs(changes.factors)
        if not ((spread >= SMALLEST) & (spread <= LARGEST)).all():
            return  # reading the rows gives the best error
        if exact:
            vars(self)["_unadjusted"] = raw.scaled(changes.factors)
            vars(self)["qr_moments"] = self._checked(moments.scaled(changes.factors))
        elif other.gram_moments is not None:
            gram = other.gram_moments if len(columns) == len(other.names) else other.gram_moments.select(self.names)
            vars(self)["_gram"] = gram.scaled(changes.factors)
            _ = self.gram_moments  # checked
            vars(self)["moments"] = moments.scaled(changes.factors)
        if sample is not None:
            vars(self)["_sample"] = sample.scaled(columns, changes.factors)

    def _settle(self) -> None:
        """Set aside the columns that all rows show to be constant or made up by others, where the first rows did so."""
        assert self.source is not None
        moments = self._first_moments()
        whole = np.hypot(moments.spread, np.sqrt(moments.n) * moments.mean)
        self._set_aside(confirmed(self.source.suspects, moments.names, whole, moments.R))

    def _first_moments(self) -> Moments:
        """Return the moments of any number of rows, unchecked."""
        self._least_rows = _any_rows
        try:
            fast = None if self.covariates else self._gram
            return self._unadjusted if fast is None else fast
        finally:
            self._least_rows = least_squares_rows

    def _set_aside(self, found: Sequence[ColumnRole]) -> None:
        """Leave columns out, with what has been read already."""
        assert self.source is not None
        roles = {one.name: one for one in found}
        names = tuple(name for name in self.names if name not in roles)
        self.columns = tuple(roles.get(one.name, one) for one in self.columns)
        if roles and len(names) >= FEWEST_COLUMNS:
            known = {name: vars(self).pop(name) for name in KNOWN if name in vars(self)}
            if self._sampler is not None:
                self._sampler.select([j for j, name in enumerate(self.source.all_names) if name not in roles])
            self.source = changed(self.source, names, Changes.of({}, names, self.source.describe), self.missing)
            for name in ("_gram", "_unadjusted"):
                moments = known.get(name)
                if moments is not None and moments.missing != "em":
                    vars(self)[name] = moments.select(names)
        self.names = names

    def _leave_out_made_up(self) -> None:
        """Set aside the columns that others make up, where missing values could not be estimated beside them."""
        while len(self.names) > FEWEST_COLUMNS:
            try:
                self._first_moments()
                return
            except CollinearError as error:
                if not error.columns:
                    raise
                out = error.columns[-1]
                self._set_aside([ColumnRole(out, "derived", f"follows from {listed(error.columns[:-1])}")])
                check_variables(self.names, self.columns, self.source.prefix if self.source is not None else "")

    def _leave_out_same_within(self) -> None:
        """Set aside the columns that never change within clusters or conditions, whose relations are learned."""
        labels = self.row_labels
        groups = [] if labels is None else [at for at in (labels.cluster, labels.condition) if at is not None]
        if labels is None or not groups or self.source is None:
            return
        moments = self._first_moments()
        same = unchanging(moments.n, moments.mean, moments.spread)
        gone = [one for one, is_same in zip(moments.names, same, strict=True) if is_same and one in self.names]
        within = f"each {shown(labels.names[groups[0]].name)}" if len(groups) == 1 else "the groups of rows"
        self._set_aside([ColumnRole(one, "constant", f"the same within {within}") for one in gone])
        check_variables(self.names, self.columns, self.source.prefix)

    @property
    def row_labels(self) -> Labels | None:
        """The columns that say what rows are; None without any."""
        labelled = any(one.use not in HELD for one in self.covariates)
        return Labels(len(self.names), self.covariates) if labelled else None

    @property
    def cause_names(self) -> list[str]:
        """The names of the categories that may be causes."""
        given = None if self._given is None else self._given.causes
        return [
            one.name for one in (*self.covariates, *(() if given is None else given.covariates)) if one.use == "cause"
        ]

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on the columns that were set aside, how the table was read and why this method, where there is anything to say."""
        aside = set_aside_sentence(self.columns)
        notes = () if self.source is None else self.source.notes
        holes = None if self._known is None else self._known.holes
        read = "; ".join(note if k == 0 else f"{note[0].lower()}{note[1:]}" for k, note in enumerate(notes))
        question = sentinel_sentence({one.name: one.sentinels for one in self.columns if one.sentinels})
        said = [f"{sentence}." for sentence in (aside, read, question) if sentence]
        return (*said, *(() if holes is None else holes.sentences), *filter(None, [self.choice]))

    def warn(self) -> Table:
        """Warn of the columns that were set aside."""
        if self._judged and self.missing in ("auto", "em") and len(self.names) <= WIDEST_RELATION:
            self._leave_out_made_up()
        if self._judged and self.series is None and not self._between:
            self._leave_out_same_within()
        aside = set_aside_sentence(self.columns)
        if aside:
            warnings.warn(f"{aside}.", ColumnWarning, stacklevel=_outside())
        return self

    def announce(self, news: str) -> None:
        """Report progress."""
        if self._progress is not None:
            self._progress(news)

    def announce_rows(self, rows: int) -> None:
        """Report how many rows have been read."""
        self.announce(f"{counted(rows, 'row')} read" if self.source is None else self.source.news(rows))

    def needing(self, least_rows: LeastRows) -> Table:
        """Refuse this table from now on if it has fewer rows; the default is the number for regressions on all columns."""
        self._least_rows = least_rows
        if self._known is not None:
            check_size(self._known.n, self.names, least_rows, "" if self.source is None else self.source.prefix)
        return self

    @property
    def _known(self) -> Moments | None:
        """Moments that have been computed or given."""
        return next((one for one in vars(self).values() if isinstance(one, Moments)), None)

    @property
    def is_estimated(self) -> bool:
        """Whether incomplete rows are used, so that the moments are not those of the complete rows."""
        return (self._known or self.moments).missing == "em"

    @property
    def n(self) -> int:
        """The number of usable rows."""
        if self._given is not None and not self.covariates:
            return self._given.n
        return self.qr_moments.n if self.gram_moments is None else self.gram_moments.n

    @property
    def starts(self) -> tuple[int, ...]:
        """Complete rows before each partition of a table of Dask; 0 for another table."""
        return self._scan.starts if isinstance(self.source, DaskSource) else (0,)

    def _check_rows(self) -> None:
        """Refuse too few rows before anything is computed from them, where their number is known."""
        if self.source is not None and self.source.rows is not None:
            check_size(self.source.rows, self.names, self._least_rows, self.source.prefix)

    def _checked(self, moments: Moments) -> Moments:
        counted = moments if self._like is None else moments.counted_like(self._like)
        labels = None if self._between else self.row_labels
        within = (
            ""
            if labels is None or labels.cluster is None
            else f" within the clusters of {shown(labels.names[labels.cluster].name)}"
        )
        check_moments(counted.n, counted.mean, counted.spread, counted.names, self._least_rows, within)
        return counted

    @cached_property
    def moments(self) -> Moments:
        """Moments with every digit of the data."""
        exact = None if self.gram_moments is None else resolved(self.gram_moments)
        return self.qr_moments if exact is None else self._checked(exact)

    @property
    def has_experiments(self) -> bool:
        """Whether variables were acted on in some rows."""
        given = () if self._given is None else self._given.conditions
        uses = [*(one.kind for one in given), *(one.use for one in self.covariates)]
        return any(use in CONDITIONS and use != "environment" for use in uses)

    @cached_property
    def gram_moments(self) -> Moments | None:
        """Moments through a Gram matrix: the fast way, with half the digits, for rows in memory and for wide files. None for other data."""
        return None if self._gram is None else self._checked(self._gram)

    @cached_property
    def _gram(self) -> Moments | None:
        """The same, unchecked."""
        self._check_rows()
        if self.source is None:
            return None
        by_pass = self._is_wide_file and not self.covariates
        gram = gram_pass(self.source, self._pass()) if by_pass else gram_in_memory(self.source)
        moments = None if gram is None else Moments(**gram._asdict())
        if moments is not None and moments.scatter is None:  # estimated
            vars(self)["_unadjusted"] = moments
            return None
        return moments

    @cached_property
    def qr_moments(self) -> Moments:
        """Moments by orthogonal transformations of the rows, for any conditioning; given moments as they are."""
        whole = self._unadjusted.between() if self._between else self._unadjusted
        prefix = "" if self.source is None else self.source.prefix
        if whole.weightless and not whole.rows:
            raise DataError("All rows have the weight 0: a weight says how many cases a row stands for.", ["weights"])
        labels = self.row_labels
        if labels is not None:
            clusters = None if labels.cluster is None or self.series is not None else whole.clusters
            labels.refuse_useless(whole.n, whole.rows, clusters, self._least_rows(len(self.names)), prefix)
        return self._checked(whole.adjusted())

    @cached_property
    def _unadjusted(self) -> Moments:
        """The same with the columns of the covariates, which are not held fixed yet."""
        if self.source is None:
            assert self._given is not None
            return self._given
        self._check_rows()
        if isinstance(self.source, DaskSource):
            summary = summed_up(self.source, self._scan, self.announce)
        else:
            summary = root_pass(self.source, self._pass())
        if self.series is not None and self.series.taken:
            summary = summary._replace(n=max(summary.n - self.series.taken, 0), rows=summary.rows or summary.n)
        return Moments(**summary._asdict()).leaving_out(self._leave_out)

    @property
    def apart(self) -> Moments:
        """Moments with a part for each condition, unchecked: a condition may have a single row."""
        return self._unadjusted

    @property
    def _cluster_means(self) -> Array | None:
        """The means of the clusters, with covariates held fixed, where these are the rows; else None."""
        if not self._between or self.source is None:
            return None
        left = self._unadjusted.adjustment.left(self._unadjusted.clusters)
        assert left is not None
        return left.means

    @cached_property
    def rows_source(self) -> Source | None:
        """The source of the rows, with covariates held fixed; None for moments."""
        if self.source is None or not self.covariates:
            return self.source
        return held_fixed(self.source, self._unadjusted.adjustment.of_variables(len(self.names)))

    @property
    def _is_wide_file(self) -> bool:
        """Whether the rows go through a Gram matrix first: if its digits do not suffice, they can be read again."""
        return self.source is not None and self.source.repeatable and len(self.names) >= MANY_COLUMNS

    @property
    def _sample_limit(self) -> int:
        return sample_size(len(self.names), self._keep)

    def _pass(self) -> Pass:
        """Return how the rows are to be passed over, with a new sampler."""
        self._sampler = Sampler(len(self.names) + len(self.covariates), self._sample_limit)
        return Pass(self.missing, self.announce_rows, self.announce, self._sampler, self._least_rows)

    @cached_property
    def _scan(self) -> Scan:
        """One pass over the partitions of a table of Dask."""
        assert isinstance(self.source, DaskSource)
        self.announce(f"{counted(len(self.source.partitions), 'partition')} on the cluster")
        found = scan(self.source, self.missing)
        self.announce_rows(found.check.rows)
        return found

    @cached_property
    def _sample(self) -> Profile:
        """The rows that were kept when the rows were first read; of a table elsewhere, drawn there."""
        source = self.source
        if isinstance(source, TensorSource) and self.gram_moments is not None:
            stride = stride_of(len(source.tensor), self._sample_limit)
            return Profile(source.every(stride), stride, *source.extremes())
        if isinstance(source, DaskSource):
            assert isinstance(self.rows_source, DaskSource)
            sample = draw_sample(self.rows_source, self._scan, self._sample_limit)
            return sample._replace(rows=sample.rows[self._telling(sample.rows)])
        if self._sampler is None:
            _ = self.gram_moments if self._is_wide_file else self.qr_moments
        assert self._sampler is not None
        sample = self._sampler.finish()
        sample = sample if self.is_estimated else sample.complete
        if not self.covariates:
            return sample
        p = len(self.names)
        rows, labels = self._fixed(sample.rows)
        return Profile(rows, sample.stride, sample.least[:p], sample.most[:p], labels)

    def _fixed(self, block: Array) -> tuple[Array, RowLabels | None]:
        """Return rows of the source with the covariates held fixed, about the means of conditions and clusters, and their labels."""
        if not self.covariates:
            return block, None
        columns, p = self.row_labels, len(self.names)
        if columns is None:
            return self._fixed_within(block)
        adjusted_for = columns.adjusted_for
        rows = self._unadjusted.adjustment.residuals(block[:, : p + len(adjusted_for)], adjusted_for)
        labels = self._placed(columns.of(block))
        if labels.condition is not None:  # the rows of some conditions are left out
            used = labels.condition >= 0
            rows, labels = rows[used], labels.of(used)
        rows = labels.centred(rows)
        left = self._telling(rows)
        return rows[left], labels.of(left)

    def _fixed_within(self, block: Array) -> tuple[Array, RowLabels | None]:
        """Return rows of the source with what is to be held fixed at its means, and the indicators of the categories that are causes."""
        p, adjustment = len(self.names), self._unadjusted.adjustment
        fixed = len(adjustment.covariates)
        mine = self._unadjusted.covariates[fixed:]
        Z = indicators(block[:, p + fixed :], self.covariates[fixed:], mine) if mine else block[:, :0]
        q = Z.shape[1]
        rows = np.concatenate([Z, block[:, : p + fixed]], axis=1)
        if fixed:
            rows = adjustment.residuals(rows, self.covariates[:fixed])
        left = self._telling(rows[:, q:]) if fixed else np.ones(len(rows), dtype=bool)
        return rows[left, q:], RowLabels(causes=rows[left, :q]) if mine else None

    def _placed(self, labels: RowLabels) -> RowLabels:
        """Return labels with the places of conditions among those of the moments."""
        if labels.condition is None or self.row_labels is None or self.row_labels.condition is None:
            return labels
        place = {one.label: k for k, one in enumerate(self._unadjusted.conditions)}
        positions = np.array([place.get(one, -1) for one in self.row_labels.levels(self.row_labels.condition)], np.intp)
        return labels._replace(condition=positions[labels.condition])

    def _telling(self, rows: Array) -> Mask:
        """Return the rows of which covariates leave something; of the only one of a group they leave nothing."""
        if not self.covariates:
            return np.ones(len(rows), dtype=bool)
        moments = self.qr_moments
        return np.asarray((np.abs(rows - moments.mean) > NOTHING * moments.spread / np.sqrt(moments.n)).any(axis=1))

    @property
    def rows(self) -> Rows | None:
        """The complete rows: all that are in memory, of a file an even sample. None for moments, which have no rows."""
        if self.source is None:
            return None
        means = self._cluster_means
        if means is not None:
            return Rows(means, 1)
        X = self.source.array
        if X is not None:
            check = RowCheck(self.source.all_names, "refuse" if self.missing == "refuse" else "drop")
            complete = check.admit(X)
            check.verdict(self.source.prefix)
            return _rows(*self._fixed(complete))
        sample = self._sample.complete
        return Rows(sample.rows, sample.stride, sample.labels)

    @property
    def used_rows(self) -> Rows | None:
        """The rows behind the moments, as `rows`: where incomplete rows are used, with NaN for missing values."""
        if self.source is None or not self.is_estimated:
            return self.rows
        X = self.source.array
        if X is not None:
            every = RowCheck(self.source.all_names, "em", variables=len(self.names)).split(X)[1]
            return _rows(*self._fixed(every))
        return Rows(self._sample.rows, self._sample.stride, self._sample.labels)

    @property
    def profile(self) -> Profile | None:
        """An even sample of the rows and the extremes of the columns; None for moments without one."""
        if self.source is None or (self.row_labels is not None and isinstance(self.source, DaskSource)):
            return self._profile
        means = self._cluster_means
        if means is not None:
            return Profile.of(means)
        known = "qr_moments" in vars(self) or self.covariates
        X = None if known or self.gram_moments is None else self.source.array
        return self._sample.thinned(sample_size(len(self.names))) if X is None else Profile.of(X)


def _rows(values: Array, labels: RowLabels | None) -> Rows:
    return Rows(values, 1, labels)


def _any_rows(_: int) -> int:
    return 1


def _outside() -> int:
    """Return the level of the call, for a warning, that came from outside of Ordag."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("ordag."):
        frame, level = frame.f_back, level + 1
    return level


def _changing(transform: Mapping[str, float | str] | None) -> Mapping[str, float | str]:
    """Leave out the factors of 1."""
    return {name: change for name, change in (transform or {}).items() if change != 1.0}
