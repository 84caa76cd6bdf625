"""How a fit can be made again: the Python call, the command line, the settings, and a fingerprint of the data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ordag import __version__
from ordag.bootstrapping import IN_MEMORY
from ordag.common.settings import declared
from ordag.common.words import shell_word, spelled
from ordag.data.datasets import DATASETS
from ordag.data.reading import Reading, setting_words
from ordag.graph.dag import Dag
from ordag.knowledge.knowledge import Knowledge

if TYPE_CHECKING:
    from ordag.data.table import Table
    from ordag.fit import Fit

MAX_VARIABLES_FOR_R = 1000
"""Variables up to which a fingerprint covers R; beyond, only the sums of squares, because R takes a factorisation."""

MAX_HASHED_BYTES = 2**31
"""Size of the largest file that is read again for its fingerprint."""

MAX_CALL_WIDTH = 100
"""Characters of the longest Python call that is written on one line."""

OF_BYTES = "the bytes of the file"

KNOWLEDGE_FILE = "knowledge.txt"
"""Name of the knowledge file in a command line."""

OBJECT_SETTINGS = ("test", "variance")
"""Settings whose value may be a Python object."""


@dataclass(frozen=True)
class Origin:
    """Where the data of a fit came from, as far as known.

    data: the file, or the name of a built-in table. reading: how it was read. command: the command line that was typed.
    digest: a fingerprint computed earlier and what it covers; the file is then not opened, and need not exist.
    """

    data: str | PathLike[str] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None
    digest: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """The name of the data for a heading, without its folder."""
        return "" if self.data is None else spelled(Path(self.data).name)


def provenance(fit: Fit, origin: Origin) -> dict[str, Any]:
    """Return everything needed to make the fit again, in plain values."""
    digest, of = origin.digest or fingerprint(fit, origin.data)
    settings: dict[str, Any] = {"method": fit.method}
    if fit.transform:
        settings["transform"] = dict(fit.transform)
    settings |= fit.settings
    if fit.support is not None:
        settings |= {
            "bootstrap": fit.support.replicates,
            "bootstrap_kind": fit.support.kind,
            "bootstrap_seed": fit.support.entropy,
        }
    return {
        "version": __version__,
        "python": python_call(fit, origin),
        "command": origin.command or command_line(fit, origin),
        "knowledge": fit.method_settings.knowledge.to_text()
        if isinstance(fit.method_settings.knowledge, Knowledge)
        else None,
        "settings": [
            [name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]
            for name, value in settings.items()
        ],
        "digest": digest,
        "digest_of": of,
    }


def fingerprint(fit: Fit | Table, data: str | PathLike[str] | None = None) -> tuple[str, str]:
    """Return a SHA-256 hash and what it covers: the file, or else rows, names, means and R of the moments."""
    path = DATASETS[data].path if isinstance(data, str) and data in DATASETS else Path(data or "")
    if data is not None and path.is_file() and path.stat().st_size <= MAX_HASHED_BYTES:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), OF_BYTES
    moments = fit.moments
    digest = hashlib.sha256(json.dumps([moments.n, list(moments.names)]).encode())
    wide = moments.p > MAX_VARIABLES_FOR_R
    for values in (moments.mean, np.asarray(moments.variances) if wide else moments.R):
        digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    what = "sums of squares of the centred columns" if wide else "triangular root R of the moments"
    return digest.hexdigest(), f"the number of rows, the names, the means and the {what}, as 64-bit numbers"


def python_call(fit: Fit, origin: Origin) -> str:
    """Write the Python code that learns this graph."""
    words, before = ["data" if origin.data is None else repr(_file_argument(origin.data))], []
    if origin.data is None:
        before.append("data = …  # the table: a file, a data frame, an array")
    given = {"method": fit.method, **_changed_reading(fit, origin), **_changed_settings(fit), **_resampling(fit)}
    for name, value in given.items():
        raw = getattr(fit.method_settings, name, None)
        if isinstance(raw, Dag):
            words.append(f"{name}=ordag.Dag.from_edges({list(raw.nodes)!r}, {list(raw.directed)!r})")
        elif name == "seed" and not isinstance(value, int):
            words.append(f"{name}=numpy.random.SeedSequence({value!r})")
            before.insert(0, "import numpy")
        elif name in OBJECT_SETTINGS and not isinstance(raw, str | None):
            words.append(f"{name}={name}")
            before.append(f"{name} = …  # an object of your own: {value}")
        else:
            words.append(f"{name}={value!r}")
    call = f"fit = ordag.learn({', '.join(words)})"
    if len(call) > MAX_CALL_WIDTH:
        call = "\n".join(["fit = ordag.learn(", *(f"    {word}," for word in words), ")"])
    return "\n".join(["import ordag", "", *before, call, 'fit.report("report.html")'])


def command_line(fit: Fit, origin: Origin) -> str:
    """Write the command that learns this graph; a comment at the end names settings that have no option.

    Knowledge is read from `KNOWLEDGE_FILE`.
    """
    known, unwritten = declared(type(fit.method_settings)), []
    words = ["ordag", "learn", "DATA" if origin.data is None else _file_argument(origin.data), "--method", fit.method]
    for name, value in _changed_reading(fit, origin).items():
        words += setting_words(name, value)
    for name, value in _changed_settings(fit).items():
        option, typed = f"--{name.replace('_', '-')}", known[name].typed
        if name == "knowledge":
            words += [option, KNOWLEDGE_FILE]
        elif typed is bool:
            words.append(option)
        elif name != "seed" or fit.support is None:
            text = ";".join(",".join(group) for group in value) if name == "groups" else str(value)
            if typed is None or typed(text) != getattr(fit.method_settings, name):
                unwritten.append(name)
            else:
                words += [option, text]
    for name, value in _resampling(fit).items():
        if name in ("kind", "level") or (name == "seed" and not isinstance(value, int)):
            unwritten.append(name)
        else:
            words += [f"--{name}", str(value)]
    comment = f"  # no option for {', '.join(unwritten)}: use the Python code" if unwritten else ""
    return " ".join(map(shell_word, [*words, "--report", "report.html"])) + comment


def _file_argument(data: str | PathLike[str]) -> str:
    """Write a path so that it cannot be read as a built-in table or as an option."""
    text = str(data)
    ambiguous = (isinstance(data, PathLike) and text in DATASETS) or text.startswith("-")
    return f"./{text}" if ambiguous else text


def _changed_reading(fit: Fit, origin: Origin) -> dict[str, Any]:
    """Return how the table was read where that differs from the defaults, with the changes of columns."""
    defaults = Reading()
    given = {**origin.reading, "transform": dict(fit.transform) or None}
    return {
        name: given[name]
        for name in declared(Reading)
        if name in given and given[name] != getattr(defaults, name) and given[name] != []
    }


def _changed_settings(fit: Fit) -> dict[str, Any]:
    defaults = {one.name: one.default for one in fields(fit.method_settings)}
    return {
        name: value
        for name, value in fit.method_settings.plain().items()
        if getattr(fit.method_settings, name) != defaults[name]
    }


def _resampling(fit: Fit) -> dict[str, Any]:
    """Return the arguments of `learn` beside the method: tables of the forecast, resamples and their seed."""
    given: dict[str, Any] = {} if fit.forecast_tables is None else {"forecast": fit.forecast_tables}
    if fit.support is None:
        return given
    given |= {"bootstrap": fit.support.replicates, "seed": fit.support.entropy}
    if fit.support.level != 0.95:
        given["level"] = fit.support.level
    in_memory = fit.rows * len(fit.names) <= IN_MEMORY
    default_kind = "wishart" if fit.profile is None else "rows" if in_memory else "poisson"
    if fit.support.kind != default_kind:
        given["kind"] = fit.support.kind
    return given
