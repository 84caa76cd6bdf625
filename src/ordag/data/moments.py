"""`Moments`: everything that the learners need to know of a table of numbers."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from ordag.arrays import Array
from ordag.checks import as_numbers, check_function, is_whole, short
from ordag.data.moments_checks import check_finite, frozen, is_triangle, name_list, not_positive_definite, shaped
from ordag.data.moments_file import ENDING, Content, parse, pieces, read
from ordag.data.parts import Scan, scan
from ordag.data.profile import Sampler
from ordag.data.reading import Missing, Reading
from ordag.data.scatter import (
    WELL_CONDITIONED,
    WIDE,
    Accumulator,
    Products,
    chunk_rows,
    gram_rows,
    merge_roots,
    root_of_scatter,
    scatter_of,
)
from ordag.data.sources import ScatteredSource, Source, TensorSource, open_source
from ordag.data.sources.paths import locate
from ordag.data.table_checks import SMALLEST, LeastRows, RowCheck, check_names, check_size
from ordag.data.transform import Changes, open_table
from ordag.errors import ColumnError, CovarianceError, DataError, NonFiniteError, OutputError, SettingError
from ordag.files import write_whole
from ordag.linalg import lengths, triangle
from ordag.markup import card, isolated, table
from ordag.words import counted, listed, number, quoted, shown

Progress = Callable[[int], None]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Moments:
    """Number of rows, mean, names, and the triangular root R of the centred scatter: RᵀR = (X − x̄)ᵀ(X − x̄).

    `squared` tells that R was computed from a matrix of squares and products (a covariance matrix) and so holds
    conditional variances to half as many digits as one that came from the rows. `scatter` is that matrix, in its lower
    triangle, or None where it is not at hand. `dropped` rows had missing values, `outlying` ones were left out by robust moments. Arrays
    are read-only, in copies too.
    """

    n: int
    mean: Array
    names: tuple[str, ...]
    scatter: Array | None
    squared: bool
    dropped: int
    outlying: int

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
    ) -> None:
        if (R is None) == (scatter is None):
            raise SettingError("Moments: give either R or scatter.")
        if not is_whole(n):
            raise SettingError(f"n={short(n)}: the number of rows is a whole number from 0 on.")
        names = check_names(names)
        p = len(names)
        if not p:
            raise ColumnError("Moments: there are no columns, and moments are of at least one.")
        mean = shaped(mean, "mean", p)
        known: dict[str, Any] = {"squared": squared or R is None, "dropped": dropped, "outlying": outlying}
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
            raise CovarianceError(not_positive_definite(self.scatter, self.names))
        return frozen(root[0])

    @property
    def p(self) -> int:
        return len(self.names)

    @property
    def variances(self) -> Array:
        """The diagonal of the centred scatter (not divided by anything)."""
        with np.errstate(over="ignore"):
            return self.scatter.diagonal() if self.scatter is not None else lengths(self.R) ** 2

    @property
    def spread(self) -> Array:
        """The lengths of the centred columns, where their squares vanish or overflow too."""
        if self.scatter is not None:
            return np.asarray(np.sqrt(np.maximum(self.scatter.diagonal(), 0.0)))
        largest = np.abs(self.R).max(axis=0, initial=0.0)
        scale = np.where((largest > 0.0) & np.isfinite(largest), largest, 1.0)
        return np.asarray(lengths(self.R / scale) * scale)

    def covariance(self) -> Array:
        """The sample covariance matrix, with divisor n − 1."""
        return (self.R.T @ self.R) / (self.n - 1)

    def select(self, columns: Sequence[str]) -> Moments:
        """The same rows with these columns only, in this order."""
        columns = name_list(columns, "columns")
        place = {name: k for k, name in enumerate(self.names)}
        unknown = [name for name in columns if name not in place]
        if unknown:
            raise ColumnError(f"There is no column {listed(unknown)}: the columns are {listed(self.names)}.")
        if not columns:
            raise SettingError("columns is empty: name at least one column, or leave columns out to use all.")
        index = [place[name] for name in columns]
        if self.scatter is not None:
            full = np.tril(self.scatter) + np.tril(self.scatter, -1).T
            known: dict[str, Any] = {"scatter": full[np.ix_(index, index)]}
        else:
            known = {"R": triangle(self.R[:, index])}
        return Moments(self.n, self.mean[index], columns, **known, **self._history)

    def scaled(self, factors: Sequence[float] | Array) -> Moments:
        """Those of the same rows with every column multiplied by its factor."""
        factors = shaped(factors, "factors", self.p)
        wrong = [self.names[j] for j in np.flatnonzero(~np.isfinite(factors) | (factors == 0.0))]
        if wrong:
            raise SettingError(f"The factor of {listed(wrong)} is 0 or not finite: give a number other than 0.")
        known: dict[str, Any] = {}
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self.scatter is not None:
                known["scatter"] = np.asfortranarray(self.scatter * np.outer(factors, factors))
            else:
                known["R"] = np.asfortranarray(self.R * factors * np.sign(factors)[:, None])
            return Moments(self.n, self.mean * factors, self.names, **known, **self._history)

    def _rooted(self, R: Array) -> Moments:
        """The same by a root that was computed here, with the digits of one from the rows: it is not looked at again."""
        same = Moments.__new__(Moments)
        same.__setstate__(vars(self) | {"R": R, "scatter": None, "squared": False})
        return same

    @property
    def _history(self) -> dict[str, Any]:
        """What is known of how they came about, beside their numbers."""
        return {"squared": self.squared, "dropped": self.dropped, "outlying": self.outlying}

    def read_as(self, reading: Reading, describe: str = "Moments") -> Moments:
        """These columns of them in these units, as far as moments can tell."""
        reading.refuse_layout(describe)
        columns = None if reading.columns is None else name_list(reading.columns, "columns")
        chosen = self if columns is None or tuple(columns) == self.names else self.select(columns)
        changes = Changes.of(reading.transform or {}, chosen.names, "the table")
        if changes.logs.any():
            names = [chosen.names[j] for j in np.flatnonzero(changes.logs)]
            raise DataError(
                f"transform takes logarithms of {quoted(names)}, which needs the rows, and only moments were given: give the rows.",
                ["transform"],
            )
        factors = changes.divided(chosen.spread / np.sqrt(max(chosen.n - 1.0, 1.0))).factors
        return chosen.scaled(factors) if (factors != 1.0).any() else chosen

    def merge(self, *others: Moments) -> Moments:
        """The moments of all the rows together. Columns are matched by name; any grouping gives the same result."""
        if not others:
            return self
        for other in others:
            if not isinstance(other, Moments):
                raise SettingError(f"{short(other)} cannot be merged: give Moments.")
            _check_same_columns(self, other, "Those to merge")
        aligned = [self, *(o if o.names == self.names else o.select(self.names) for o in others)]
        filled = [(m.n, m.mean, m.R) for m in aligned if m.n > 0]
        n, mean, R = merge_roots(filled) if filled else (0, self.mean, self.R)
        return Moments(
            n,
            mean,
            self.names,
            R=R,
            squared=any(m.squared for m in aligned),
            dropped=sum(m.dropped for m in aligned),
            outlying=sum(m.outlying for m in aligned),
        )

    @classmethod
    def from_rows(cls, data: Any, names: Sequence[str] | None = None, *, missing: Missing = "error") -> Moments:
        """From an array or data frame in memory. With `names`: what to call the columns of an array.

        Well-conditioned columns go through a Gram matrix, others through QR: either way R has the digits it needs.
        """
        source = open_source(data, missing=missing)
        names = None if names is None else name_list(names, "names")
        if names is not None and len(names) != len(source.names):
            raise ColumnError(f"{counted(len(names), 'name')} for {counted(len(source.names), 'column')}.")
        gram = gram_moments(source)
        moments = (None if gram is None else moments_of_gram(gram)) or read_moments(source, missing=missing)
        return cls(moments.n, moments.mean, names or moments.names, R=moments.R, dropped=moments.dropped)

    @classmethod
    def from_covariance(
        cls, covariance: Any, n: int, *, mean: Any = None, names: Sequence[str] | None = None
    ) -> Moments:
        """From a covariance matrix (with divisor n − 1) of n rows. A data frame brings its own names."""
        if names is None:
            names = [str(c) for c in covariance.columns] if hasattr(covariance, "columns") else None
        S = as_numbers(covariance, "The covariance matrix", CovarianceError)
        if S.ndim != 2 or S.shape[0] != S.shape[1] or not len(S):
            raise CovarianceError(f"A covariance matrix is square, and this one has shape {S.shape}.")
        names = [f"X{j + 1}" for j in range(len(S))] if names is None else name_list(names, "names")
        if len(names) != len(S):
            raise ColumnError(f"{counted(len(names), 'name')} for {counted(len(S), 'column')}.")
        if not is_whole(n, 2):
            raise SettingError(
                f"n={short(n)}: the number of rows behind the covariance matrix is a whole number from 2 on."
            )
        if not np.isfinite(S).all():
            where = [names[j] for j in np.flatnonzero(~np.isfinite(S).all(axis=0)).tolist()]
            raise NonFiniteError(f"The covariance matrix has missing or infinite entries, at {listed(where)}.")
        spread = np.sqrt(np.abs(S.diagonal()))
        with np.errstate(over="ignore"):
            skew = np.abs(S - S.T) > 1e-8 * np.outer(spread, spread)
            scatter = np.asfortranarray((S / 2 + S.T / 2) * float(n - 1))
        if skew.any():
            i, j = (int(k) for k in np.argwhere(skew)[0])
            raise CovarianceError(
                f"The covariance matrix is not symmetric: {S[i, j]:g} at ({shown(names[i])}, {shown(names[j])}) "
                f"but {S[j, i]:g} at ({shown(names[j])}, {shown(names[i])})."
            )
        if not np.isfinite(scatter).all():
            large = [names[j] for j in np.flatnonzero(~np.isfinite(scatter).all(axis=0)).tolist()]
            raise NonFiniteError(
                f"The covariances of {listed(large)} times n − 1 are too large for float64: use a larger unit."
            )
        moments = cls(int(n), np.zeros(len(S)) if mean is None else mean, names, scatter=scatter)
        _ = moments.R  # not positive definite: say so here and now
        return moments

    @classmethod
    def scan(
        cls,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        missing: Missing = "error",
        progress: Progress | None = None,
        **reading: Any,
    ) -> Moments:
        """From a file, a folder of Parquet files, a frame or an array, in one pass over batches of rows; on a cluster, by its workers."""
        check_function("progress", progress)
        return scanned(
            open_table(data, columns=columns, missing=missing, **reading), missing=missing, progress=progress
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write them to a file, whose name ends in .moments: docs/scale.md has its format. R is what is kept, not the scatter."""
        if not str(path).lower().endswith(ENDING):
            raise OutputError(f"{path}: end the name of a file of moments in {ENDING}.")
        write_whole(path, pieces(self._content))

    def to_bytes(self) -> bytes:
        """What `save` writes, for an engine that carries bytes."""
        return b"".join(pieces(self._content))

    @classmethod
    def from_bytes(cls, data: bytes) -> Moments:
        """What `to_bytes` gave."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise SettingError(f"Moments.from_bytes: {short(data)} is no bytes; Moments.load reads files.")
        return of_bytes(data, "What was given")

    @property
    def _content(self) -> Content:
        return Content(self.n, self.mean, self.names, self.R, self.squared, self.dropped)

    @classmethod
    def load(cls, *paths: str | PathLike[str]) -> Moments:
        """What `save` has written; of several files, the moments of all their rows together."""
        if not paths:
            raise SettingError("Moments.load: give the path of at least one file.")
        return loaded(paths)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # also for copied and unpickled arrays, which could be written to
        self.__dict__.update({key: frozen(v) if isinstance(v, np.ndarray) else v for key, v in state.items()})

    def _repr_html_(self) -> str:
        sd = self.spread / np.sqrt(max(self.n - 1.0, 1.0))
        rows = ([isolated(one), number(float(self.mean[j])), number(float(sd[j]))] for j, one in enumerate(self.names))
        return card(repr(self), table(["column", "mean", "standard deviation"], rows))

    def __repr__(self) -> str:
        return f"Moments(n={self.n}, p={self.p}, names={listed(self.names)})"


def loaded(paths: Sequence[str | PathLike[str]], columns: Sequence[str] | None = None) -> Moments:
    """The moments of files together. A file that is there twice, under whatever name, would count its rows twice."""
    seen: dict[bytes, str | PathLike[str]] = {}

    def read_all() -> Iterator[tuple[str, Moments]]:
        for path in paths:
            content, checksum = read(*locate(path))
            if content.n and checksum in seen:
                raise DataError(
                    f"{path} holds the same moments as {seen[checksum]}, so that every row would count twice: give each file once."
                )
            seen[checksum] = path
            yield str(path), Moments(**content._asdict())

    return merged(read_all(), columns)


def merged(parts: Iterable[tuple[str, Moments]], columns: Sequence[str] | None) -> Moments:
    """All of these, each with what messages call it; no more than two at a time are kept."""
    found: tuple[str, Moments] | None = None
    for describe, part in parts:
        try:
            used = part if columns is None else part.select(columns)
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
    odd = sorted(set(one.names) ^ set(other.names))
    if odd:
        raise ColumnError(
            f"{describe} hold moments of different columns: {listed(odd)} is in one of them only. Choose columns that all of them have "
            "(columns=…, --columns)."
        )


def of_bytes(data: bytes, describe: str, widest: int | None = None) -> Moments:
    return Moments(**parse(io.BytesIO(data), describe, widest)[0]._asdict())


def gram_moments(source: Source) -> Moments | None:
    """Moments through a Gram matrix, for rows in memory; None for files, and where values are missing or infinite."""
    X = source.tensor if isinstance(source, TensorSource) else source.array
    if X is None or not len(X):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        mean, scatter = source.scatter() if isinstance(source, TensorSource) else scatter_of(X)
    return Moments(len(X), mean, source.names, scatter=scatter) if _usable(mean, scatter) else None


def _usable(mean: Array, scatter: Array) -> bool:
    variances = scatter.diagonal()
    finite = np.isfinite(mean).all() and np.isfinite(variances).all()
    return bool(finite and variances.min(initial=SMALLEST**2) >= SMALLEST**2)


def moments_of_gram(gram: Moments) -> Moments | None:
    """Moments with all their digits from a Gram matrix, where its conditioning allows; None where it takes the rows anew."""
    if gram.n > gram.p and gram.scatter is not None:
        root = root_of_scatter(gram.scatter)
        if root is not None and root[1] >= WELL_CONDITIONED:
            return gram._rooted(root[0])
    return None


def scanned(source: Source, *, missing: Missing = "error", progress: Progress | None = None) -> Moments:
    """Moments with every digit that the rows have: those of a wide file are read anew where a Gram matrix loses some."""
    gram, p = None, len(source.names)
    if source.repeatable and p >= WIDE and (source.rows is None or source.rows > p):
        gram = read_gram(source, missing=missing, progress=progress)
    return (None if gram is None else moments_of_gram(gram)) or read_moments(source, missing=missing, progress=progress)


def moments_of_scan(found: Scan) -> Moments:
    """The moments of a table in parts."""
    n, mean, R = found.root
    return Moments(n, mean, found.check.names, R=R, dropped=found.check.dropped)


def read_moments(
    source: Source,
    *,
    missing: Missing = "error",
    progress: Progress | None = None,
    sampler: Sampler | None = None,
    least_rows: LeastRows | None = None,
) -> Moments:
    """Moments by orthogonal transformations, in one pass over the rows; the sampler sees them go by.

    With `least_rows`, only of as many rows as a learner needs: fewer are refused before any p × p matrix is made.
    """
    p = len(source.names)
    if p == 0:
        raise DataError("There are no columns: a graph needs at least two.")
    if isinstance(source, ScatteredSource):
        return moments_of_scan(scan(source, missing))
    total = Accumulator(p)
    with np.errstate(over="ignore", invalid="ignore"):
        dropped = _gone_through(source, missing, chunk_rows(p), total, sampler, progress, least_rows)
        n, mean, R = total.finish()
    return Moments(n, mean, source.names, R=R, dropped=dropped)


def read_gram(
    source: Source,
    sampler: Sampler | None = None,
    *,
    missing: Missing = "error",
    progress: Progress | None = None,
    least_rows: LeastRows | None = None,
) -> Moments | None:
    """Moments through a Gram matrix, in one pass over the rows of a file; None where that loses digits. As `read_moments` otherwise."""
    p = len(source.names)
    total = Products(p)
    with np.errstate(over="ignore", invalid="ignore"):
        dropped = _gone_through(source, missing, gram_rows(p), total, sampler, progress, least_rows)
        mean, scatter = total.finish()
    if not _usable(mean, scatter) or not total.kept(scatter):
        return None
    return Moments(total.rows, mean, source.names, scatter=scatter, dropped=dropped)


def _gone_through(
    source: Source,
    missing: Missing,
    at_once: int,
    total: Accumulator | Products,
    sampler: Sampler | None,
    progress: Progress | None,
    least_rows: LeastRows | None,
) -> int:
    """Every usable row of a table to `total` and to the sampler; gives how many were left out.

    The first rows wait until there are as many as the learner needs: with fewer, nothing is computed.
    """
    rows = RowCheck(source.names, missing)
    least = 0 if least_rows is None else least_rows(len(source.names))
    waiting: list[Array] = []
    if progress is not None:
        progress(0)
    for block in source.batches(at_once):
        waiting.append(rows.admit(block))
        if rows.rows - rows.dropped >= least:
            for clean in waiting:
                total.add(clean)
                if sampler is not None:
                    sampler.add(clean)
            waiting.clear()
        if progress is not None:
            progress(rows.rows)
    rows.verdict(source.place)
    if least_rows is not None:
        check_size(rows.rows - rows.dropped, source.names, least_rows, source.place)
    return rows.dropped
