"""Sources as the tables stand: no column is set aside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ordag.data.reading import Reading
from ordag.data.sources import Source
from ordag.data.sources import open_source as open_any


def open_source(data: Any, reading: Reading | None = None) -> Source:
    return open_any(data, replace(reading or Reading(), strict=True))
