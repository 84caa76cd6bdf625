"""The file format of `Moments` (docs/scale.md).

From the first byte to the last: the mark `ordag\\0mo`, the version of the format and the length of the header as unsigned 32-bit numbers;
the header, JSON in UTF-8: `names`, `rows` (what the rows count for), `used` (their number), `dropped`, `squared`, `covariates` and
`held`, each a list of `name`, `levels` and, for categories that are causes, `use`; the means; the triangle of R row by row, each row
from its diagonal on; and the SHA-256 of everything before. All numbers have their lowest byte first, means and triangle are float64.
Version 4 has causes, version 2 covariates, version 1 neither.

Version 3 has conditions or clusters. Its header has `conditions`, a list of `label`, `kind`, `rows`, `used`, `covariates` and `clusters`,
and `clusters`: null, or `names`, `rows`, `squares`, the sum of squared weights, and `nothing`, the rows of weight 0 where there are some.
Before the checksum come the weights of all clusters and their means, row by row, and for every condition its means, triangle, and the
weights and means of its clusters.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Iterator, Sequence
from itertools import chain, starmap
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ordag.common.arrays import Array
from ordag.data.covariates import CONDITIONS, HELD, Condition, Covariate, Groups, Root
from ordag.data.passes import Summary
from ordag.data.sources.paths import File
from ordag.data.table_checks import check_names
from ordag.errors import ColumnError, UnreadableError

ENDING = ".moments"
MARK = b"ordag\0mo"
VERSIONS = (1, 2, 3, 4)
START = struct.Struct("<8sII")
LONGEST_HEADER = 2**28  # bytes
LONGEST_LIST = 16  # commas in the header for each column that an upload may have: some names have a few


def pieces(moments: Summary) -> Iterator[bytes]:
    """Yield the bytes of a file piece by piece."""
    used = moments.n if moments.rows is None else moments.rows
    counts = {"rows": moments.n, "used": used, "dropped": moments.dropped, "squared": bool(moments.squared)}
    columns: dict[str, Any] = {
        "covariates": [one.to_dict() for one in moments.covariates],
        "held": [one.to_dict() for one in moments.adjusted_for],
    }
    labelled = bool(moments.conditions) or moments.clusters is not None
    if labelled:
        columns |= {"conditions": list(map(_condition, moments.conditions)), "clusters": _clusters(moments.clusters)}
    header = json.dumps({"names": list(moments.names), **counts, **columns}).encode("ascii")
    total = hashlib.sha256()
    assert moments.R is not None
    numbers = [_root(moments.mean, moments.R), _means(moments.clusters)]
    for one in moments.conditions:
        numbers += [_root(one.root.mean, one.root.R), _means(one.root.groups)]
    version = 3 if labelled else 2 if moments.covariates else 1
    version = 4 if any(one.use == "cause" for one in moments.covariates) else version
    start = START.pack(MARK, version, len(header)) + header
    for piece in chain([start], map(_numbers, chain.from_iterable(numbers))):
        total.update(piece)
        yield piece
    yield total.digest()


def _root(mean: Array, R: Array) -> Iterator[Array]:
    yield mean
    yield from (R[k, k:] for k in range(len(mean)))


def _means(groups: Groups | None) -> Iterator[Array]:
    if groups is not None:
        yield groups.weights
        yield groups.means


def _condition(one: Condition) -> dict[str, Any]:
    root = one.root
    known = {"label": one.label, "kind": one.kind, "rows": root.n, "used": root.used}
    return {**known, "covariates": [c.to_dict() for c in root.covariates], "clusters": _clusters(root.groups)}


def _clusters(groups: Groups | None) -> dict[str, Any] | None:
    if groups is None:
        return None
    known = {"names": list(groups.numbers), "rows": groups.rows, "squares": groups.squares}
    return known | ({"nothing": groups.nothing} if groups.nothing else {})


def _numbers(values: Array) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def is_moments(path: Path) -> bool:
    """Recognise a file of moments by its name or its first bytes."""
    if path.suffix.lower() == ENDING:
        return True
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK
    except (OSError, ValueError):  # the reader that opens it next reports it
        return False


def read(file: File) -> tuple[Summary, bytes]:
    """Read a file; return its content and its checksum, which has been verified."""
    with file.unchanged(), file.open() as opened:
        try:
            return _parse(opened, file)
        except OSError as error:
            raise UnreadableError(f"{file.describe} could not be read: {error.strerror or error}.") from error


def _parse(file: BinaryIO, origin: File) -> tuple[Summary, bytes]:
    describe = origin.describe
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if not size:
        raise UnreadableError(f"{describe} is empty (0 bytes): there are no moments in it.")
    start = file.read(START.size)
    if start[: len(MARK)] != MARK[: len(start)]:
        raise UnreadableError(
            f"{describe} is not a file of moments, despite its name: `ordag moments` and Moments.save write them."
        )
    cut = UnreadableError(f"{describe} is cut off ({size:,} bytes): copy it again, or make it again.")
    if len(start) < START.size:
        raise cut
    _, version, length = START.unpack(start)
    if version not in VERSIONS:
        raise UnreadableError(
            f"{describe} has version {version} of the format, and this Ordag reads up to version {VERSIONS[-1]}: use the one that wrote it."
        )
    if length > LONGEST_HEADER or length > size:
        raise cut if length <= LONGEST_HEADER else _damaged(describe)
    header = file.read(length)
    origin.check_width(header.count(b",") // LONGEST_LIST)  # each name becomes a text in memory
    names, known = _header(header, describe)
    p = len(names)
    origin.check_width(p)
    variables = p - _width(known["covariates"])
    parts = [(p, known["clusters"])]
    parts += [(variables + _width(one["covariates"]), one["clusters"]) for one in known["conditions"]]
    expected = START.size + length + 8 * sum(starmap(_size, parts)) + 32
    if size < expected:
        raise cut
    if size > expected:
        raise _damaged(describe)
    total = hashlib.sha256(start + header)
    (mean, R, clusters), *roots = [_read_root(file, total, *part) for part in parts]
    if total.digest() != file.read(32):
        raise _damaged(describe)
    conditions = tuple(
        Condition(one["label"], one["kind"], Root(one["rows"], *root[:2], one["covariates"], one["used"], (), root[2]))
        for one, root in zip(known["conditions"], roots, strict=True)
    )
    if not all(map(_is_finite, [(mean, R, clusters), *roots])):
        raise UnreadableError(f"{describe} holds numbers that are not finite: make it again from the rows.")
    try:
        check_names(names)
    except ColumnError as error:
        raise UnreadableError(f"{describe} has invalid names. {error}") from error
    history = {key: known[key] for key in ("squared", "dropped", "covariates")}
    history |= {"adjusted_for": known["held"], "conditions": conditions, "clusters": clusters}
    return Summary(names, known["rows"], mean, R=R, rows=known.get("used", known["rows"]), **history), total.digest()


def _header(header: bytes, describe: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    try:
        known = json.loads(header)
        whole = [key for key in ("rows", "dropped", "used") if key != "used" or key in known]
        counts = all(type(known[key]) is int and known[key] >= 0 for key in whole)
        named = known["names"] and all(type(name) is str for name in known["names"])
        known |= {key: tuple(map(_covariate, known.get(key, ()))) for key in ("covariates", "held")}
        known |= {"conditions": list(map(_read_condition, known.get("conditions", ())))}
        known |= {"clusters": _read_clusters(known.get("clusters"))}
        first = [column for one in known["covariates"] for column in one.columns]
        if counts and named and type(known["squared"]) is bool and known["names"][: len(first)] == first:
            return tuple(known["names"]), known
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise _damaged(describe)


def _covariate(known: dict[str, Any]) -> Covariate:
    name, levels, use = known["name"], known["levels"], known.get("use", "adjust")
    if use not in HELD or type(name) is not str or not (levels is None or all(type(level) is str for level in levels)):
        raise ValueError
    return Covariate(name, None if levels is None else tuple(levels), use)


def _read_condition(known: dict[str, Any]) -> dict[str, Any]:
    counts = all(type(known[key]) is int and known[key] >= 0 for key in ("rows", "used"))
    if not counts or type(known["label"]) is not str or known["kind"] not in CONDITIONS:
        raise ValueError
    covariates, clusters = tuple(map(_covariate, known["covariates"])), _read_clusters(known["clusters"])
    return {**known, "covariates": covariates, "clusters": clusters}


def _read_clusters(known: dict[str, Any] | None) -> dict[str, Any] | None:
    if known is None:
        return None
    named = all(type(name) is str for name in known["names"]) and len(set(known["names"])) == len(known["names"])
    squares = known["squares"]
    counts = type(known["rows"]) is int and known["rows"] >= 0 and isinstance(squares, float | int) and squares >= 0
    nothing = known.get("nothing", 0)
    if not named or not counts or not math.isfinite(squares) or type(nothing) is not int or nothing < 0:
        raise ValueError
    return known


def _width(covariates: Sequence[Covariate]) -> int:
    return sum(len(one.columns) for one in covariates)


def _size(p: int, clusters: dict[str, Any] | None) -> int:
    """Return how many numbers a root takes, with the weights and means of its clusters."""
    return p + p * (p + 1) // 2 + (0 if clusters is None else len(clusters["names"]) * (p + 1))


def _read_root(
    file: BinaryIO, total: Any, p: int, clusters: dict[str, Any] | None
) -> tuple[Array, Array, Groups | None]:
    mean, R = _array(file, total, p), np.zeros((p, p))
    for k in range(p):
        R[k, k:] = _array(file, total, p - k)
    if clusters is None:
        return mean, R, None
    count = len(clusters["names"])
    numbers = {name: k for k, name in enumerate(clusters["names"])}
    weights, means = _array(file, total, count), _array(file, total, count * p).reshape(count, p)
    return (
        mean,
        R,
        Groups(numbers, weights, means, clusters["rows"], float(clusters["squares"]), clusters.get("nothing", 0)),
    )


def _is_finite(root: tuple[Array, Array, Groups | None]) -> bool:
    mean, R, groups = root
    known = [mean, R] if groups is None else [mean, R, groups.weights, groups.means]
    return all(bool(np.isfinite(one).all()) for one in known)


def _array(file: BinaryIO, total: Any, count: int) -> Array:
    values = file.read(8 * count)
    total.update(values)
    return np.frombuffer(values.ljust(8 * count, b"\0"), dtype="<f8").astype(np.float64)


def _damaged(describe: str) -> UnreadableError:
    return UnreadableError(f"{describe} is damaged: it does not match its checksum. Copy it again, or make it again.")
