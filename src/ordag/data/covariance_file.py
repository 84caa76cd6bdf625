"""Covariance matrices in text files of Tetrad (https://github.com/cmu-phil/tetrad, SimpleDataLoader and DataWriter).

    /covariance
    100
    X1  X2  X3
    1.4
    3.2  9.3
    2.5  3.2  5.3

The first line may be missing; the number of rows, the names and the lower triangle follow, and lines with // are comments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import short
from ordag.data.sources.paths import DiskFile, File, Upload, locate, path_of
from ordag.data.sources.text_layout import NUMBER
from ordag.errors import CovarianceError

HEADER = "/covariance"
ROWS = re.compile(r"\d{1,15}")
WORD = re.compile(r'"([^"]*)"|([^\s,;"]+)')
START = 1 << 16  # bytes that tell such a file from a table
SHORTEST = 3  # lines that tell it


class TriangleOfText(NamedTuple):
    """A covariance matrix with the number of rows behind it and the names."""

    covariance: Array
    n: int
    names: list[str]


def covariance_in(data: Any) -> File | None:
    """Return the file, if data is the path of a covariance matrix of Tetrad or an upload of one."""
    if isinstance(data, Upload):
        return data if _begins(data) else None
    if not isinstance(data, str | PathLike):
        return None
    try:
        if not path_of(data).is_file():
            return None
    except (OSError, ValueError):  # the reader that opens it next reports it
        return None
    file = DiskFile(*locate(data))
    return file if _begins(file) else None


def _begins(file: File) -> bool:
    """Return whether a file begins with a number of rows, names, and rows of one and two numbers."""
    with file.open() as raw:
        start = raw.read(START)
    if b"\0" in start:
        return False
    lines = _lines(start.decode("latin-1"))
    if lines and lines[0] == [HEADER]:
        return True
    if len(lines) <= SHORTEST or len(lines[0]) != 1 or not ROWS.fullmatch(lines[0][0]) or len(lines[1]) < 2:
        return False
    return [len(line) for line in lines[2:4]] == [1, 2] and not any(map(NUMBER.fullmatch, lines[1]))


def _lines(text: str) -> list[list[str]]:
    """Return the words of the lines that have any, comments left out."""
    lines = [
        [quoted or bare for quoted, bare in WORD.findall(line)]
        for line in re.split(r"\r\n|\r|\n", text)
        if line[:2] != "//"
    ]
    lines = [line for line in lines if line]
    if lines and lines[0][0].lower() == HEADER:
        lines[0] = [HEADER]
    return lines


def read_covariance(file: File) -> TriangleOfText:
    """Read the matrix, its number of rows and the names. What Tetrad writes below it, knowledge, is left out."""
    describe = file.describe
    with file.unchanged(), file.open() as raw:
        try:
            lines = _lines(raw.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise CovarianceError(
                f"{describe} is not encoded in UTF-8 (byte {error.start + 1}): save it as such."
            ) from error
    lines = lines[1:] if lines[0] == [HEADER] else lines
    if len(lines) < 2 or len(lines[0]) != 1 or not ROWS.fullmatch(lines[0][0]):
        raise CovarianceError(
            f"{describe}: a covariance matrix begins with its number of rows, alone in a line, and the names."
        )
    names = lines[1]
    file.check_width(len(names))
    rows = lines[2 : 2 + len(names)]
    S = np.zeros((len(names), len(names)))
    for i, row in enumerate(rows):
        S[i, : i + 1] = _numbers(row, i, describe)
    if len(rows) < len(names):
        raise CovarianceError(
            f"{describe} is cut off: it has {len(names)} names and {len(rows)} rows of the lower triangle."
        )
    return TriangleOfText(S + np.tril(S, -1).T, int(lines[0][0]), names)


def _numbers(row: Sequence[str], i: int, describe: str) -> list[float]:
    wrong = next((word for word in row if not NUMBER.fullmatch(word)), None)
    if wrong is not None:
        raise CovarianceError(f"{describe}: row {i + 1} of the matrix holds {short(wrong)}, which is not a number.")
    if len(row) != i + 1:
        raise CovarianceError(f"{describe}: row {i + 1} of the lower triangle has {len(row)} numbers and not {i + 1}.")
    return [float(word) for word in row]
