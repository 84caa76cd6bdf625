"""`Moments`: number of rows, mean and the root of the centred scatter, all that the learners need of a table of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import as_numbers, check_function, is_whole, short
from ordag.common.files import write_whole
from ordag.common.linalg import lengths, triangle
from ordag.common.markup import card, isolated, table
from ordag.common.words import counted, joined, listed, number, quoted
from ordag.data.causes import checked_causes
from ordag.data.covariates import HELD, Condition, Covariate, Groups, Root, of_conditions
from ordag.data.covariates import merged as merged_roots
from ordag.data.holding import Adjustment
from ordag.data.holes import Holes
from ordag.data.missing import Announce
from ordag.data.moments_file import ENDING, pieces, read
from ordag.data.passes import Pass, Progress, Summary, gram_in_memory, gram_pass, root_pass
from ordag.data.reading import Missing, PartReading, Reading
from ordag.data.scatter import MANY_COLUMNS, WELL_CONDITIONED, root_of_scatter
from ordag.data.sources import Source, Upload, open_source
from ordag.data.sources.paths import DiskFile, locate
from ordag.data.table_checks import (
    check_adjusted,
    check_covariance,
    check_finite,
    check_names,
    is_triangle,
    name_list,
    not_positive_definite,
    shaped,
)
from ordag.data.transform import open_table
from ordag.errors import ColumnError, CovarianceError, DataError, NonFiniteError, OutputError, SettingError

HISTORY = "squared dropped outlying rows covariates adjusted_for holes conditions clusters causes".split()
"""What moments record beside the numbers."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Moments:
    """Number of rows, mean, names, and the triangular root R of the centred scatter: RᵀR = (X − x̄)ᵀ(X − x̄).

    With `squared`, R was computed from a matrix of squares and products (a covariance matrix) and holds conditional variances to
    half as many digits as a root of the rows. `scatter` is that matrix, in its lower triangle, or None. `dropped` rows had missing
    values, `outlying` ones were left out by robust moments. `rows` were used; they count for n, which every formula takes. `holes` are
    their missing values. Arrays are read-only, in copies too.

    `covariates` are to be held fixed: the first columns are theirs, and `adjusted` takes them out. Afterwards they are `adjusted_for`, the
    mean is still that of the columns, R is the root of what regressions on the covariates leave of them, and n is the number that the
    `rows` are worth: one less for every column that was taken out.

    `conditions` are those under which the rows were measured: R is about their means then, and each has a root of [Z | X] of its own,
    with the covariates not taken out. R is about the means of `clusters`, which are a single one where rows have nothing but weights.

    `causes` is the root of [Z | X] of the same rows, Z the indicators of the categories that may be causes of variables; it has what is
    held fixed taken out. Before `adjusted` they are among the covariates.
    """

    n: int
    rows: int
    mean: Array
    names: tuple[str, ...]
    scatter: Array | None
    squared: bool
    dropped: int
    outlying: int
    holes: Holes | None
    covariates: tuple[Covariate, ...]
    adjusted_for: tuple[Covariate, ...]
    conditions: tuple[Condition, ...]
    clusters: Groups | None
    causes: Root | None

    def __init__(
        self,
        n: int,
        mean: Array,
        names: Sequence[str],
        *,
        R: Array | None = None,
        scatter: Array | None = None,
        squared: bool = False,
        dropped: int = 0,
        outlying: int = 0,
        rows: int | None = None,
        holes: Holes | None = None,
        covariates: Sequence[Covariate] = (),
        adjusted_for: Sequence[Covariate] = (),
        conditions: Sequence[Condition] = (),
        clusters: Groups | None = None,
        causes: Root | None = None,
    ) -> None:
        if (R is None) == (scatter is None):
            raise SettingError("Moments: give either R or scatter.")
        if not is_whole(n):
            raise SettingError(f"n={short(n)}: the number of rows is a whole number from 0 on.")
        names = check_names(names)
        p = len(names)
        if not p:
            raise ColumnError("Moments: there are no columns; at least one is needed.")
        mean = shaped(mean, "mean", p)
        known: dict[str, Any] = {"squared": squared or R is None, "dropped": dropped, "outlying": outlying}
        known |= {"rows": int(n if rows is None else rows), "covariates": tuple(covariates), "holes": holes}
        known |= {"adjusted_for": tuple(adjusted_for), "conditions": tuple(conditions)}
        known |= {"clusters": clusters, "causes": causes}
        if R is not None:
            R = shaped(R, "R", p, p)
            check_finite(mean, R, names)
            known["R"] = R if is_triangle(R) else triangle(R)
        else:
            scatter = shaped(scatter, "scatter", p, p)
            check_finite(mean, scatter.diagonal(), names)
        self.__setstate__({"n": int(n), "mean": mean, "names": names, "scatter": scatter, **known})

    @cached_property
    def R(self) -> Array:
        assert self.scatter is not None
        root = root_of_scatter(self.scatter)
        if root is None:
            raise not_positive_definite(self.scatter, self.names)
        return _frozen(root[0])

    @property
    def missing(self) -> Missing:
        """How missing values were treated: "em" where incomplete rows were used, else "drop"."""
        return "em" if self.holes is not None and self.holes.how == "em" else "drop"

    @property
    def p(self) -> int:
        return len(self.names)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns that are not those of a covariate to be held fixed."""
        return self.names[self._width :]

    @property
    def _width(self) -> int:
        return sum(len(one.columns) for one in self.covariates)

    @property
    def adjustment(self) -> Adjustment:
        """What the covariates that are held fixed explain of the other columns: indicators of categories that are causes, and variables."""
        held = tuple(one for one in self.covariates if one.use == "adjust")
        return Adjustment.of(Root(self.n, self.mean, self.R, held))

    def adjusted(self) -> Moments:
        """Return the moments of the variables with the covariates held fixed, which takes one row for each of their columns."""
        if not self.covariates:
            return self
        found = self.adjustment
        causes = self.covariates[len(found.covariates) :]
        n, q = self.n - found.rank, sum(len(one.columns) for one in causes)
        R = found.R if not q else triangle(found.R[:, q:])
        if found.covariates:
            left, whole = lengths(R), lengths(self.R[:, self._width :])
            held = joined([str(one) for one in found.covariates])
            check_adjusted(self.n, found.rank, left / np.where(whole > 0.0, whole, 1.0), self.variables, held)
        history = self._history | {"covariates": (), "adjusted_for": (*self.adjusted_for, *found.covariates)}
        history["clusters"] = found.left(self.clusters)
        if causes:
            history["causes"] = checked_causes(Root(n, self.mean[self._width - q :], found.R, causes), self.variables)
        return Moments(n, self.mean[self._width :], self.variables, R=R, **history)

    def pooled(self) -> Moments:
        """Return the same without conditions: what is common to them, about the means of each."""
        if not self.conditions:
            return self
        return self._with(conditions=())

    def leaving_out(self, labels: Sequence[str]) -> Moments:
        """Return the moments without the rows of these conditions."""
        if not labels:
            return self
        known = [one.label for one in self.conditions]
        unknown = [label for label in labels if label not in known]
        if unknown or not set(known) - set(labels):
            what = f"there is no condition {quoted(unknown)}" if unknown else "no rows are left"
            those = (
                f"the conditions are {quoted(known)}"
                if known
                else "name their column first (experiment or environment)"
            )
            raise SettingError(f"leave_out={short(list(labels))}: {what}; {those}.", ["leave_out"])
        root = of_conditions([one for one in self.conditions if one.label not in labels])
        summary = Summary.of_root(self.variables, root, self.dropped)
        return Moments(
            **summary._asdict()
            | {"adjusted_for": self.adjusted_for, "squared": self.squared, "outlying": self.outlying}
        )

    @property
    def weightless(self) -> int:
        """How many rows were left out because their weight is 0."""
        each = [self.clusters] if self.clusters is not None else [one.root.groups for one in self.conditions]
        return sum(one.nothing for one in each if one is not None)

    def between(self) -> Moments:
        """Return the moments of the means of the clusters, each of which counts once."""
        if self.clusters is None:
            return self
        n, mean, R = self.clusters.between
        return Moments(n, mean, self.names, R=R, dropped=self.dropped, covariates=self.covariates, rows=n)

    def counted_like(self, whole: Moments) -> Moments:
        """Return the same where rows count for as much each as those of another table, whose covariates they have been freed of."""
        if whole.n == whole.rows and not whole.adjusted_for:
            return self
        n = int(self.rows * (whole.n / whole.rows))
        return self._with(n=n, adjusted_for=whole.adjusted_for)

    def holding(self, columns: Sequence[str], causes: Sequence[str] = ()) -> Moments:
        """Return the moments with these columns, which hold numbers, as covariates that are to be held fixed.

        Categories among the covariates can be held fixed or be causes, whatever was said when the moments were made.
        """
        known = {one.name for one in self.covariates}
        absent = [name for name in causes if name not in known]
        if absent:
            raise ColumnError(
                f"cause names {listed(absent)}, and moments hold the categories that were named when they were made: give cause then.",
                ["cause"],
            )
        if set(causes) | set(columns):
            self = self._used_as(dict.fromkeys(columns, "adjust") | dict.fromkeys(causes, "cause"))
        more = [name for name in name_list(columns, "adjust") if name not in known]
        unknown = [name for name in more if name not in self.variables]
        if unknown:
            raise ColumnError(
                f"adjust names {listed(unknown)}, and there is no such column: the columns are {listed(self.variables)}.",
                ["adjust"],
            )
        if not more:
            return self
        held = sum(len(one.columns) for one in self.covariates if one.use == "adjust")
        before, behind = self.names[:held], self.names[held : self._width]
        names = [*before, *more, *behind, *(name for name in self.variables if name not in more)]
        where = {name: k for k, name in enumerate(self.names)}
        index = [where[name] for name in names]
        uses = [[one for one in self.covariates if one.use == use] for use in HELD]
        history = self._history | {"covariates": (*uses[0], *map(Covariate, more), *uses[1])}
        if self.conditions:
            raise DataError("adjust: these moments have conditions, so give adjust when they are made.", ["adjust"])
        return Moments(self.n, self.mean[index], names, R=triangle(self.R[:, index]), **history)

    def _used_as(self, uses: Mapping[str, str]) -> Moments:
        """Return the same where these covariates are used otherwise."""
        numbers = [one.name for one in self.covariates if one.levels is None and uses.get(one.name) == "cause"]
        if numbers:
            raise ColumnError(
                f"cause: {listed(numbers)} was read as a number, and a cause is a category: say so when the moments are made.",
                ["cause"],
            )
        changed = [replace(one, use=uses.get(one.name, one.use)) for one in self.covariates]
        if changed == list(self.covariates):
            return self
        ordered = sorted(changed, key=lambda one: HELD.index(one.use))
        columns = [*(column for one in ordered for column in one.columns), *self.variables]
        where = {name: k for k, name in enumerate(self.names)}
        index = [where[name] for name in columns]
        history = self._history | {"covariates": tuple(ordered)}
        return Moments(self.n, self.mean[index], columns, R=triangle(self.R[:, index]), **history)

    @property
    def variances(self) -> Array:
        """The diagonal of the centred scatter, not divided by n."""
        with np.errstate(over="ignore"):
            return self.scatter.diagonal() if self.scatter is not None else lengths(self.R) ** 2

    @property
    def spread(self) -> Array:
        """The lengths of the centred columns, also where their squares vanish or overflow."""
        if self.scatter is not None:
            return np.asarray(np.sqrt(np.maximum(self.scatter.diagonal(), 0.0)))
        largest = np.abs(self.R).max(axis=0, initial=0.0)
        scale = np.where((largest > 0.0) & np.isfinite(largest), largest, 1.0)
        return np.asarray(lengths(self.R / scale) * scale)

    def covariance(self) -> Array:
        """Return the sample covariance matrix, with divisor n − 1."""
        return (self.R.T @ self.R) / (self.n - 1)

    def select(self, columns: Sequence[str]) -> Moments:
        """Return the moments of these columns, in this order, and of the covariates."""
        columns = name_list(columns, "columns")
        where = {name: k for k, name in enumerate(self.names)}
        unknown = [name for name in columns if name not in self.variables]
        if unknown:
            raise ColumnError(f"There is no column {listed(unknown)}: the columns are {listed(self.variables)}.")
        if not columns:
            raise SettingError("columns is empty: name at least one column, or leave columns out to use all.")
        columns = [*self.names[: self._width], *columns]
        index = [where[name] for name in columns]
        if self.scatter is not None:
            full = np.tril(self.scatter) + np.tril(self.scatter, -1).T
            known: dict[str, Any] = {"scatter": full[np.ix_(index, index)]}
        else:
            known = {"R": triangle(self.R[:, index])}
        history = self._history | self._parts_of(index, np.ones(len(index)))
        if self.holes is not None:
            history["holes"] = self.holes.of_columns(columns)
        return Moments(self.n, self.mean[index], columns, **known, **history)

    def _parts_of(self, index: Sequence[int], factors: Array) -> dict[str, Any]:
        """Return conditions, clusters and causes with these columns, each multiplied by its factor."""
        known: dict[str, Any] = {
            "conditions": tuple(  # with columns of covariates before these, which have been taken out of the moments
                one._replace(root=one.root.of_columns(index, factors, one.root.width - self._width))
                for one in self.conditions
            )
        }
        known["clusters"] = None if self.clusters is None else self.clusters.of_columns(index, factors)
        known["causes"] = None if self.causes is None else self.causes.of_columns(index, factors, self.causes.width)
        return known

    def scaled(self, factors: Sequence[float] | Array) -> Moments:
        """Return the moments with every variable multiplied by its factor."""
        factors = shaped(factors, "factors", len(self.variables))
        wrong = [self.variables[j] for j in np.flatnonzero(~np.isfinite(factors) | (factors == 0.0))]
        if wrong:
            raise SettingError(f"The factor of {listed(wrong)} is 0 or not finite: give a number other than 0.")
        factors = np.concatenate([np.ones(self._width), factors])
        known: dict[str, Any] = {}
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self.scatter is not None:
                known["scatter"] = np.asfortranarray(self.scatter * np.outer(factors, factors))
            else:
                known["R"] = np.asfortranarray(self.R * factors * np.sign(factors)[:, None])
            history = self._history | self._parts_of(range(self.p), factors)
            return Moments(self.n, self.mean * factors, self.names, **known, **history)

    def _with(self, **changed: Any) -> Moments:
        """Return the same moments with other attributes, which are not checked again."""
        same = Moments.__new__(Moments)
        same.__setstate__(vars(self) | changed)
        return same

    @property
    def _history(self) -> dict[str, Any]:
        """What is recorded beside the numbers."""
        return {name: getattr(self, name) for name in HISTORY}

    def merge(self, *others: Moments) -> Moments:
        """Return the moments of all the rows together. Columns are matched by name; any grouping gives the same result.

        Covariates that are to be held fixed are those of all the rows: take them out of the whole, not of the parts.
        """
        if not others:
            return self
        for other in others:
            if not isinstance(other, Moments):
                raise SettingError(f"{short(other)} cannot be merged: give Moments.")
            _check_same_columns(self, other, "Those to merge")
        held = [one for m in (self, *others) for one in (*m.adjusted_for, *(m.causes.covariates if m.causes else ()))]
        if held:
            raise DataError(
                f"{listed([one.name for one in held])} has been taken out of one part already, and parts differ in it: merge first, then "
                "hold it fixed."
            )
        aligned = [self, *(o if o.variables == self.variables else o.select(self.variables) for o in others)]
        whole = merged_roots(
            [
                Root(m.n, m.mean, m.R, m.covariates, None if m.n == m.rows else m.rows, m.conditions, m.clusters)
                for m in aligned
            ]
        )
        summary = Summary.of_root(self.variables, whole, sum(m.dropped for m in aligned))
        return Moments(
            **summary._asdict() | {"squared": any(m.squared for m in aligned), "rows": sum(m.rows for m in aligned)},
            outlying=sum(m.outlying for m in aligned),
        )

    @classmethod
    def from_rows(cls, data: Any, names: Sequence[str] | None = None, *, missing: Missing = "auto") -> Moments:
        """Compute the moments of an array or data frame in memory; `names` are the names of an array's columns.

        Well-conditioned columns go through a Gram matrix, others through QR: either way R has the digits it needs.
        """
        source = open_source(data, Reading(missing=missing, strict=True))
        names = None if names is None else name_list(names)
        if names is not None and len(names) != len(source.names):
            raise ColumnError(f"{counted(len(names), 'name')} for {counted(len(source.names), 'column')}.")
        gram = gram_in_memory(source)
        moments = None if gram is None else resolved(cls(**gram._asdict()))
        if moments is None:
            moments = cls(**root_pass(source, Pass(missing))._asdict())
        history = moments._history
        if names is not None and moments.holes is not None:
            history["holes"] = moments.holes.renamed(names)
        return cls(moments.n, moments.mean, names or moments.names, R=moments.R, **history)

    @classmethod
    def from_covariance(
        cls, covariance: Any, n: int, *, mean: Any = None, names: Sequence[str] | None = None
    ) -> Moments:
        """Make moments of a covariance matrix (with divisor n − 1) of n rows. A data frame brings its own names."""
        if names is None:
            names = [str(c) for c in covariance.columns] if hasattr(covariance, "columns") else None
        S = as_numbers(covariance, "The covariance matrix", CovarianceError)
        if S.ndim != 2 or S.shape[0] != S.shape[1] or not len(S):
            raise CovarianceError(f"A covariance matrix is square, and this one has shape {S.shape}.")
        names = [f"X{j + 1}" for j in range(len(S))] if names is None else name_list(names)
        if len(names) != len(S):
            raise ColumnError(f"{counted(len(names), 'name')} for {counted(len(S), 'column')}.")
        if not is_whole(n, 2):
            raise SettingError(
                f"n={short(n)}: the number of rows behind the covariance matrix is a whole number from 2 on."
            )
        check_covariance(S, names)
        with np.errstate(over="ignore"):
            scatter = np.asfortranarray((S / 2 + S.T / 2) * float(n - 1))
        if not np.isfinite(scatter).all():
            large = [names[j] for j in np.flatnonzero(~np.isfinite(scatter).all(axis=0)).tolist()]
            raise NonFiniteError(
                f"The covariances of {listed(large)} times n − 1 are too large for float64: use a larger unit."
            )
        moments = cls(int(n), np.zeros(len(S)) if mean is None else mean, names, scatter=scatter)
        _ = moments.R  # refuses a matrix that is not positive definite
        return moments

    @classmethod
    def scan(
        cls,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        missing: Missing = "auto",
        progress: Progress | None = None,
        **reading: Any,
    ) -> Moments:
        """Compute the moments of a file, a folder of files, a frame or an array in one pass over batches of rows.

        A table of Dask is read by its workers. Columns to be held fixed (`adjust`) are not taken out yet, so that the moments of parts
        can be merged.
        """
        check_function("progress", progress)
        settings = PartReading(columns=columns, missing=missing, **reading)
        return scan_source(open_table(data, settings), settings.missing, progress)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the moments to a file, whose name ends in .moments; docs/scale.md has its format. R is stored, not the scatter."""
        if not str(path).lower().endswith(ENDING):
            raise OutputError(f"{path}: end the name of a file of moments in {ENDING}.")
        write_whole(path, pieces(self._content))

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes."""
        return b"".join(pieces(self._content))

    @classmethod
    def from_bytes(cls, data: bytes) -> Moments:
        """Return the moments that `to_bytes` made bytes of."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise SettingError(f"Moments.from_bytes: {short(data)} is no bytes; Moments.load reads files.")
        return cls(**read(Upload("What was given", bytes(data)))[0]._asdict())

    @property
    def _content(self) -> Summary:
        kept = {name: value for name, value in self._history.items() if name not in ("outlying", "causes")}
        if self.causes is not None:
            whole, kept["covariates"] = self.causes, self.causes.covariates
            columns = [column for one in whole.covariates for column in one.columns]
            return Summary((*columns, *self.names), self.n, whole.mean, R=whole.R, **kept)
        return Summary(self.names, self.n, self.mean, R=self.R, **kept)

    @classmethod
    def load(cls, *paths: str | PathLike[str]) -> Moments:
        """Read files that `save` has written; of several, return the moments of all their rows together."""
        if not paths:
            raise SettingError("Moments.load: give the path of at least one file.")
        return loaded(paths)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # also for copied and unpickled arrays, which could be written to
        self.__dict__.update({key: _frozen(v) if isinstance(v, np.ndarray) else v for key, v in state.items()})

    def _repr_html_(self) -> str:
        sd = self.spread / np.sqrt(max(self.n - 1.0, 1.0))
        rows = ([isolated(one), number(float(self.mean[j])), number(float(sd[j]))] for j, one in enumerate(self.names))
        return card(repr(self), table(["column", "mean", "standard deviation"], rows))

    def __repr__(self) -> str:
        return f"Moments(n={self.n}, p={self.p}, names={listed(self.names)})"


def _frozen(values: Array) -> Array:
    values = values.view()
    values.flags.writeable = False
    return values


def loaded(paths: Sequence[str | PathLike[str]], columns: Sequence[str] | None = None) -> Moments:
    """Return the moments of files together. A file that is given twice, under any name, is refused: its rows would count twice."""
    seen: dict[bytes, str | PathLike[str]] = {}

    def read_all() -> Iterator[tuple[str, Moments]]:
        for path in paths:
            content, checksum = read(DiskFile(*locate(path)))
            if content.n and checksum in seen:
                raise DataError(
                    f"{path} holds the same moments as {seen[checksum]}, so that every row would count twice: give each file once."
                )
            seen[checksum] = path
            yield str(path), Moments(**content._asdict())

    return merged(read_all(), columns)


def merged(parts: Iterable[tuple[str, Moments]], columns: Sequence[str] | None) -> Moments:
    """Merge moments, each with its name in messages; no more than two are kept at a time."""
    found: tuple[str, Moments] | None = None
    for describe, part in parts:
        try:
            known = {one.name for one in part.covariates}
            used = part if columns is None else part.select([name for name in columns if name not in known])
        except ColumnError as error:
            raise ColumnError(f"{describe}: {error}") from error
        if found is None:
            found = describe, used
        else:
            _check_same_columns(found[1], used, f"{describe} and {found[0]}")
            found = found[0], found[1].merge(used)
    assert found is not None
    return found[1]


def _check_same_columns(one: Moments, other: Moments, describe: str) -> None:
    odd = sorted(set(one.variables) ^ set(other.variables))
    if odd:
        raise ColumnError(
            f"{describe} hold moments of different columns: {listed(odd)} is in one of them only. Choose columns that all of them have "
            "(columns=…, --columns)."
        )


def resolved(gram: Moments) -> Moments | None:
    """Return moments with all the digits of the rows from their scatter, or None where its conditioning is too poor for that."""
    if gram.missing == "em":
        return gram
    if gram.n > gram.p and gram.scatter is not None:
        root = root_of_scatter(gram.scatter)
        if root is not None and root[1] >= WELL_CONDITIONED:
            return gram._with(R=root[0], scatter=None, squared=False)  # with the digits of a root of the rows
    return None


def scan_source(
    source: Source, missing: Missing = "auto", progress: Progress | None = None, announce: Announce | None = None
) -> Moments:
    """Compute moments with all the digits of the rows; a wide file is read again where a Gram matrix loses some."""
    p, how = len(source.names), Pass(missing, progress, announce)
    if source.repeatable and not source.covariates and p >= MANY_COLUMNS and (source.rows is None or source.rows > p):
        gram = gram_pass(source, how)
        moments = None if gram is None else resolved(Moments(**gram._asdict()))
        if moments is not None:
            return moments
    return Moments(**root_pass(source, how)._asdict())
