"""A Fit in, how to make it again out: the Python call, the command line, the settings, and a fingerprint of the data."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag import __version__
from ordag.data.datasets import DATASETS
from ordag.data.reading import Reading
from ordag.settings import declared

if TYPE_CHECKING:
    from ordag.fit import Fit

WIDE = 1000
"""Variables beyond which a fingerprint is not that of R."""

LARGEST = 2**31
"""Bytes of a file up to which all of it is read once more, for its fingerprint."""


@dataclass(frozen=True)
class Origin:
    """Where a fit is from, as far as somebody has said: the file or the name of a built-in table, how it was read, what was typed."""

    data: str | PathLike[str] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None

    @property
    def title(self) -> str:
        """The data in a word, for a heading: never the folder they lie in."""
        return "" if self.data is None else Path(self.data).name


def again(fit: Fit, origin: Origin) -> dict[str, Any]:
    """All that it takes, in plain values."""
    digest, of = fingerprint(fit, origin.data)
    return {
        "version": __version__,
        "python": python_call(fit, origin),
        "command": origin.command or command_line(fit, origin),
        "settings": [[name, _written(value)] for name, value in _settings(fit).items()],
        "digest": digest,
        "digest_of": of,
    }


def fingerprint(fit: Fit, data: str | PathLike[str] | None = None) -> tuple[str, str]:
    """SHA-256 of the file that was read, or else of what was learned from: rows, names, means and R of the moments; of a wide table
    their diagonal alone, for R takes a factorisation."""
    path = DATASETS[data].path if isinstance(data, str) and data in DATASETS else Path(data or "")
    if data is not None and path.is_file() and path.stat().st_size <= LARGEST:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), "the bytes of the file"
    moments = fit.moments
    digest = hashlib.sha256(json.dumps([moments.n, list(moments.names)]).encode())
    wide = moments.p > WIDE
    for values in (moments.mean, np.asarray(moments.variances) if wide else moments.R):
        digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    what = "sums of squares of the centred columns" if wide else "triangular root R of the moments"
    return digest.hexdigest(), f"the number of rows, the names, the means and the {what}, as 64-bit numbers"


def python_call(fit: Fit, origin: Origin) -> str:
    """The lines of Python that learn this graph."""
    usual = Reading()
    read = {name: value for name, value in origin.reading.items() if value != getattr(usual, name)}
    given = {"method": fit.method, **read, **_changed(fit)}
    if fit.bootstrap is not None:
        given |= {"bootstrap": fit.bootstrap.replicates, "seed": fit.bootstrap.entropy}
    data = "data" if origin.data is None else repr(str(origin.data))
    words = ", ".join([data, *(f"{name}={value!r}" for name, value in given.items())])
    first = ["data = …  # the table: a file, a data frame, an array"] if origin.data is None else []
    return "\n".join(["import ordag", "", *first, f"fit = ordag.learn({words})", 'fit.report("report.html")'])


def command_line(fit: Fit, origin: Origin) -> str:
    """The same for a terminal, as far as settings can be typed there; knowledge is said in a file of its own."""
    words = ["ordag", "learn", "DATA" if origin.data is None else str(origin.data), "--method", fit.method]
    known = declared(type(fit.recipe))
    for name, value in _changed(fit).items():
        option = f"--{name.replace('_', '-')}"
        if value is None:  # a seed that was drawn
            continue
        if name == "knowledge":
            words += [option, "knowledge.json"]
        elif known[name].typed is bool:
            words.append(option)
        elif name == "groups":
            words += [option, ";".join(",".join(group) for group in value)]
        elif known[name].typed is not None:
            words += [option, str(value)]
    if fit.bootstrap is not None:
        words += ["--bootstrap", str(fit.bootstrap.replicates)]
        words += ["--seed", str(fit.bootstrap.entropy)] if isinstance(fit.bootstrap.entropy, int) else []
    return shlex.join([*words, "--report", "report.html"])


def _settings(fit: Fit) -> dict[str, Any]:
    resampled = {} if fit.bootstrap is None else {"bootstrap": fit.bootstrap.replicates, "bootstrap_kind": fit.bootstrap.kind,
                                                  "bootstrap_seed": fit.bootstrap.entropy}  # fmt: skip
    return {"method": fit.method, **fit.settings, **resampled}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _changed(fit: Fit) -> dict[str, Any]:
    """The settings that are not as they would be anyway."""
    usual = {one.name: one.default for one in fields(fit.recipe)}
    said = fit.recipe.plain()
    return {name: value for name, value in said.items() if getattr(fit.recipe, name) != usual[name]}
