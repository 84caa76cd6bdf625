"""Conversion of records and columns to values that JSON can hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


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
