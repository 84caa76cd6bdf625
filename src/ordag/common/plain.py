"""Records and columns as values that JSON can hold, and as data frames."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays to Python values; nan and inf become None."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        plain_already = value.dtype.kind in "biuU" or (value.dtype.kind == "f" and bool(np.isfinite(value).all()))
        return value.tolist() if plain_already else [plain(one) for one in value.tolist()]
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one mapping per row of a table given by its columns."""
    values = {name: plain(column) for name, column in columns.items()}
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def to_json(document: Any, indent: int | None = 2) -> str:
    return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)


def frame(columns: Any) -> pd.DataFrame:
    """Return a data frame of columns, or of records."""
    import pandas as pd

    return pd.DataFrame(columns)


class Document(ABC):
    """An answer that can be written as JSON."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer in plain values."""

    def to_json(self, indent: int | None = 2) -> str:
        """Return the document that the command line prints with --json."""
        return to_json(self.to_dict(), indent)


class Tabular:
    """An answer with a table: its class says what a row of `columns` is."""

    @cached_property
    def table(self) -> pd.DataFrame:
        """The columns as a data frame."""
        return frame(self.columns)  # type: ignore[attr-defined]  # a field of some classes, a property of others
