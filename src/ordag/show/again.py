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
from ordag.bootstrapping import IN_MEMORY
from ordag.data.datasets import DATASETS
from ordag.data.reading import Reading
from ordag.graph.dag import Dag
from ordag.knowledge.knowledge import Knowledge
from ordag.settings import declared
from ordag.words import UNDECODED, harmless, spelled

if TYPE_CHECKING:
    from ordag.data.table import Table
    from ordag.fit import Fit

WIDE = 1000
"""Variables beyond which a fingerprint is not that of R."""
OF_BYTES = "the bytes of the file"

KNOWLEDGE = "knowledge.txt"
"""What a command line calls the file with what is known."""

OBJECTS = ("test", "variance")
"""Settings that may be an object of Python's."""

LONGEST = 100
"""Letters of a call that stands on one line."""

LARGEST = 2**31
"""Bytes of a file up to which all of it is read once more, for its fingerprint."""


@dataclass(frozen=True)
class Origin:
    """Where a fit is from, as far as somebody has said: the file or the name of a built-in table, how it was read, what was typed.

    digest: its fingerprint, where somebody knows it, and what of that is; the file is not opened then, and need not be there.
    """

    data: str | PathLike[str] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None
    digest: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """The data in a word, for a heading: never the folder they lie in."""
        return "" if self.data is None else spelled(Path(self.data).name)


def again(fit: Fit, origin: Origin) -> dict[str, Any]:
    """All that it takes, in plain values."""
    digest, of = origin.digest or fingerprint(fit, origin.data)
    return {
        "version": __version__,
        "python": python_call(fit, origin),
        "command": origin.command or command_line(fit, origin),
        "knowledge": fit.recipe.knowledge.to_text() if isinstance(fit.recipe.knowledge, Knowledge) else None,
        "settings": [[name, _written(value)] for name, value in _settings(fit).items()],
        "digest": digest,
        "digest_of": of,
    }


def fingerprint(fit: Fit | Table, data: str | PathLike[str] | None = None) -> tuple[str, str]:
    """SHA-256 of the file that was read, or else of what was learned from, and what it is of. The latter are rows, names, means and R of
    the moments; of a wide table their diagonal alone, for R takes a factorisation."""
    path = DATASETS[data].path if isinstance(data, str) and data in DATASETS else Path(data or "")
    if data is not None and path.is_file() and path.stat().st_size <= LARGEST:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), OF_BYTES
    moments = fit.moments
    digest = hashlib.sha256(json.dumps([moments.n, list(moments.names)]).encode())
    wide = moments.p > WIDE
    for values in (moments.mean, np.asarray(moments.variances) if wide else moments.R):
        digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    what = "sums of squares of the centred columns" if wide else "triangular root R of the moments"
    return digest.hexdigest(), f"the number of rows, the names, the means and the {what}, as 64-bit numbers"


def python_call(fit: Fit, origin: Origin) -> str:
    """The lines of Python that learn this graph."""
    given = {"method": fit.method, **_reading(fit, origin), **_changed(fit), **_around(fit)}
    words, before = ["data" if origin.data is None else repr(_named(origin.data))], []
    if origin.data is None:
        before.append("data = …  # the table: a file, a data frame, an array")
    for name, value in given.items():
        raw = getattr(fit.recipe, name, None)
        if isinstance(raw, Dag):
            words.append(f"{name}=ordag.Dag.from_edges({list(raw.nodes)!r}, {list(raw.directed)!r})")
        elif name == "seed" and not isinstance(value, int):
            words.append(f"{name}=numpy.random.SeedSequence({value!r})")
            before.insert(0, "import numpy")
        elif name in OBJECTS and not isinstance(raw, str | None):
            words.append(f"{name}={name}")
            before.append(f"{name} = …  # what was given: {value}")
        else:
            words.append(f"{name}={value!r}")
    call = f"fit = ordag.learn({', '.join(words)})"
    if len(call) > LONGEST:
        call = "\n".join(["fit = ordag.learn(", *(f"    {word}," for word in words), ")"])
    return "\n".join(["import ordag", "", *before, call, 'fit.report("report.html")'])


def command_line(fit: Fit, origin: Origin) -> str:
    """The same for a terminal; knowledge is in a file of its own, KNOWLEDGE. What cannot be typed there is said at the end."""
    known, untold = declared(type(fit.recipe)), []
    words = ["ordag", "learn", "DATA" if origin.data is None else _named(origin.data), "--method", fit.method]
    for name, value in _reading(fit, origin).items():
        words += _typed_reading(name, value)
    for name, value in _changed(fit).items():
        option = f"--{name.replace('_', '-')}"
        if name == "knowledge":
            words += [option, KNOWLEDGE]
        elif known[name].typed is bool:
            words.append(option)
        elif name == "seed" and fit.bootstrap is not None:
            continue
        else:
            text = ";".join(",".join(group) for group in value) if name == "groups" else str(value)
            typed = known[name].typed
            if typed is None or typed(text) != getattr(fit.recipe, name):
                untold.append(name)
            else:
                words += [option, text]
    for name, value in _around(fit).items():
        if name in ("kind", "level") or (name == "seed" and not isinstance(value, int)):
            untold.append(name)
        else:
            words += [f"--{name}", str(value)]
    said = f"  # {', '.join(untold)} cannot be typed: take the Python code" if untold else ""
    return " ".join(map(typed_word, [*words, "--report", "report.html"])) + said


def typed_word(word: str) -> str:
    """A word for a shell. One with line ends or other characters that no page can show is written with the escapes of bash and zsh."""
    if harmless(word) == word:
        return shlex.quote(word)
    return f"$'{''.join(map(_typed_letter, word))}'"


def _typed_letter(letter: str) -> str:
    if letter in "\\'":
        return f"\\{letter}"
    if harmless(letter) == letter:
        return letter
    if UNDECODED.match(letter):
        return harmless(letter)
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _named(data: str | PathLike[str]) -> str:
    """A file as it is typed: never to be taken for a built-in table, or for an option."""
    text = str(data)
    other = (isinstance(data, PathLike) and text in DATASETS) or text.startswith("-")
    return f"./{text}" if other else text


def _reading(fit: Fit, origin: Origin) -> dict[str, Any]:
    """How the table was read, as far as it is not as usual; what was done to columns the fit knows itself."""
    usual = Reading()
    said = {**origin.reading, "transform": dict(fit.transform) or None}
    return {name: said[name] for name in declared(Reading) if name in said and said[name] != getattr(usual, name)}


def _typed_reading(name: str, value: Any) -> list[str]:
    if name == "columns":
        plain = all("," not in column and column == column.strip() for column in value)
        return ["--columns", ",".join(value)] if plain else [word for one in value for word in ("--columns", one)]
    if name == "transform":
        return [word for column, change in value.items() for word in ("--transform", f"{column}={change}")]
    if name == "header":
        return ["--no-header"]
    return [f"--{name}", "tab" if value == "\t" else str(value)]


def _around(fit: Fit) -> dict[str, Any]:
    """What `learn` was asked for beside the method: resamples and their seed, tables of a forecast."""
    said: dict[str, Any] = {} if fit.forecast_tables is None else {"forecast": fit.forecast_tables}
    if fit.bootstrap is not None:
        said |= {"bootstrap": fit.bootstrap.replicates, "seed": fit.bootstrap.entropy}
        said |= {} if fit.bootstrap.level == 0.95 else {"level": fit.bootstrap.level}
        said |= {} if fit.bootstrap.kind == _usual_kind(fit) else {"kind": fit.bootstrap.kind}
    return said


def _usual_kind(fit: Fit) -> str:
    """Of resamples, where nobody asks for another."""
    if fit.profile is None:
        return "wishart"
    return "rows" if fit.n * len(fit.names) <= IN_MEMORY else "poisson"


def _settings(fit: Fit) -> dict[str, Any]:
    resampled = {} if fit.bootstrap is None else {"bootstrap": fit.bootstrap.replicates, "bootstrap_kind": fit.bootstrap.kind,
                                                  "bootstrap_seed": fit.bootstrap.entropy}  # fmt: skip
    transformed = {"transform": dict(fit.transform)} if fit.transform else {}
    return {"method": fit.method, **transformed, **fit.settings, **resampled}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _changed(fit: Fit) -> dict[str, Any]:
    """The settings that are not as they would be anyway."""
    usual = {one.name: one.default for one in fields(fit.recipe)}
    said = fit.recipe.plain()
    return {name: value for name, value in said.items() if getattr(fit.recipe, name) != usual[name]}
