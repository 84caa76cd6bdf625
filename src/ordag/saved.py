"""Save a fit with everything that belongs to it, and load it again: files with the ending .ordag.

Such a file is a zip archive. `fit.json` is a tree of plain values with the version of the format; `arrays/0.npy`, `arrays/1.npy`, … are
the arrays that the tree refers to by number; `sha256` is the checksum of the tree. An object is the name of a class and its attributes
(or its `arguments`, where it keeps caches), and the name must be one of `CLASSES`. So loading a file never runs code from it, and a file
cannot create anything but the records listed here.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ordag import __version__
from ordag.common.checks import short
from ordag.errors import OutputError, UnreadableError
from ordag.fit import Fit
from ordag.learners.methods import METHODS
from ordag.parents.tests import TESTS

ENDING = ".ordag"
FORMAT = 2
LARGEST_TREE = 2**30
"""Bytes of the tree beyond which a file is refused: a damaged or hostile archive may unpack to anything."""

RECORDS = {
    "bootstrapping": "Bootstrap",
    "data.causes": "Categories",
    "data.covariates": "Condition Covariate Groups Root",
    "data.environments": "Environments",
    "data.equations": "Equations",
    "data.holes": "Holes",
    "data.labels": "RowLabels",
    "data.moments": "Moments",
    "data.profile": "Profile",
    "data.roles": "ColumnRole Glance",
    "data.sentinels": "Sentinel",
    "data.series": "End Series",
    "data.trends": "Trends",
    "fit": "Fit",
    "graph.cpdag": "Cpdag",
    "graph.dag": "Dag",
    "graph.links": "Links",
    "knowledge.knowledge": "Knowledge",
    "knowledge.masks": "Constraints",
    "learners.along_order": "SelectedParents",
    "learners.causes": "CauseRules FoundCauses",
    "learners.found": "LeftOut",
    "learners.gds.search": "GdsResult",
    "learners.ges.search": "GesResult",
    "learners.order_search.engine": "Optimum",
    "learners.orient": "Oriented",
    "learners.pc.search": "PcResult",
    "learners.pooled.cause_resampling": "CausedPosterior",
    "learners.pooled.cause_search": "CausedResult",
    "learners.pooled.environments": "Changed",
    "learners.pooled.posterior": "Posterior Probabilities",
    "learners.pooled.score": "PooledScore",
    "learners.pooled.result": "PooledResult",
    "learners.pooled.variances": "GramRegressions OwnVariances RootRegressions",
    "learners.result": "Result",
    "learners.sparse_parents": "ArrowTest SparseParents",
    "order.factor": "Factor",
    "order.ordering": "Ordering",
    "parents.selection": "Selection",
    "resampling.intervals": "Intervals",
}
"""The classes of a saved fit, by module."""

CLASSES: dict[str, type] = {
    name: getattr(import_module(f"ordag.{module}"), name) for module, names in RECORDS.items() for name in names.split()
} | {method.settings.__name__: method.settings for method in METHODS.values()}

DAMAGED = (
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    MemoryError,
    RuntimeError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
)
"""What reading an archive that is not a saved fit may raise."""

HELD = {"R", "adjacency", "links"}
"""Cached properties that an object may have been made from. All others are computed again when asked for."""


def save(fit: Fit, path: str | PathLike[str]) -> bytes:
    """Return the content of the file for a fit; `path` is for the message if it cannot be saved."""
    tree = _Tree()
    try:
        node = tree.node(fit)
    except TypeError as error:
        raise OutputError(
            f"{path}: {error} cannot be saved. Give the names of built-in tests and estimators instead of functions, "
            "or save the answer as .json."
        ) from error
    document = json.dumps({"format": FORMAT, "ordag": __version__, "fit": node}, allow_nan=False).encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, array in enumerate(tree.arrays):
            with archive.open(f"arrays/{number}.npy", "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
        archive.writestr("fit.json", document)
        archive.writestr("sha256", hashlib.sha256(document).hexdigest())
    return content.getvalue()


def load(path: str | PathLike[str]) -> Fit:
    """Return the fit that `fit.save("name.ordag")` wrote, with its evidence, probabilities and resamples."""
    try:
        path = Path(path)
        with zipfile.ZipFile(path) as archive:
            return _fit(archive, path)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be opened: {error.strerror or error}.") from error
    except DAMAGED as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError(
            f"{short(str(path))} is not a saved fit, or is damaged: give a file that fit.save wrote, with the ending {ENDING}."
        ) from error


def _fit(archive: zipfile.ZipFile, path: Path) -> Fit:
    if archive.getinfo("fit.json").file_size > LARGEST_TREE:
        raise ValueError
    document = archive.read("fit.json")
    if archive.read("sha256").decode() != hashlib.sha256(document).hexdigest():
        raise ValueError
    tree = json.loads(document)
    if tree["format"] != FORMAT:
        raise UnreadableError(
            f"{path} has format {tree['format']!r} of Ordag {tree['ordag']!r}, and this is Ordag {__version__}, which reads format "
            f"{FORMAT}: load it with that version, or learn again."
        )
    fit = _Reader(archive).value(tree["fit"])
    if not isinstance(fit, Fit) or fit.graph.nodes != fit.moments.names:
        raise ValueError
    return fit


class _Tree:
    """Plain values for objects, each object once, and the arrays that they refer to."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray[Any, Any]] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []

    def node(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, np.generic):
            return self.node(value.item())
        if isinstance(value, float):
            return value if math.isfinite(value) else {"number": str(value)}
        if isinstance(value, np.ndarray):
            return self._once(value, lambda: {"array": self._stored(value)})
        if isinstance(value, Path):
            return {"path": str(value)}
        if isinstance(value, np.random.SeedSequence):
            return {"seed": [self.node(value.entropy), list(value.spawn_key)]}
        if callable(value):
            for name, test in TESTS.items():
                if test is value:
                    return {"test": name}
        if type(value) in CLASSES.values():
            return self._once(value, lambda: self._object(value))
        if isinstance(value, list):
            return [self.node(one) for one in value]
        if isinstance(value, tuple):
            return {"tuple": [self.node(one) for one in value]}
        if isinstance(value, frozenset):
            return {"set": [self.node(one) for one in sorted(value)]}
        if isinstance(value, dict):
            return {"dict": [[self.node(key), self.node(one)] for key, one in value.items()]}
        raise TypeError(f"{getattr(value, '__name__', type(value).__name__)} ({type(value).__name__})")

    def _stored(self, array: np.ndarray[Any, Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _once(self, value: Any, node: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the node of a value, or a reference to it where it was met before."""
        known = self._numbers.get(id(value))
        if known is not None:
            return {"same": known}
        self._alive.append(value)
        number = self._numbers[id(value)] = len(self._numbers)
        return {**node(), "id": number}

    def _object(self, value: Any) -> dict[str, Any]:
        cls = type(value)
        if hasattr(cls, "arguments"):
            state = value.arguments()
        elif isinstance(value, tuple):
            fields: Sequence[str] = getattr(cls, "_fields")  # noqa: B009 - of a named tuple
            state = dict(zip(fields, value, strict=True))
        else:
            cached = {name for name in dir(cls) if isinstance(getattr(cls, name, None), cached_property)} - HELD
            state = {name: one for name, one in vars(value).items() if name not in cached}
        return {"class": cls.__name__, "state": {name: self.node(one) for name, one in state.items()}}


class _Reader:
    """Objects for the nodes of a tree."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._met: dict[int, Any] = {}

    def value(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.value(one) for one in node]
        if not isinstance(node, dict):
            return node
        if "same" in node:
            return self._met[node["same"]]
        if "class" in node or "array" in node:
            made = self._array(node["array"]) if "array" in node else self._object(node)
            self._met[node["id"]] = made
            return made
        ((kind, content),) = node.items()
        if kind == "number":
            return float(content)
        if kind == "path":
            return Path(content)
        if kind == "test":
            return TESTS[content]
        if kind == "seed":
            return np.random.SeedSequence(self.value(content[0]), spawn_key=tuple(content[1]))
        if kind == "dict":
            return {self.value(key): self.value(one) for key, one in content}
        values = [self.value(one) for one in content]
        return {"tuple": tuple, "set": frozenset}[kind](values)

    def _array(self, number: int) -> np.ndarray[Any, Any]:
        with self._archive.open(f"arrays/{int(number)}.npy") as file:
            array: np.ndarray[Any, Any] = np.lib.format.read_array(file, allow_pickle=False)
        array.flags.writeable = False
        return array

    def _object(self, node: dict[str, Any]) -> Any:
        cls = CLASSES[node["class"]]
        state = {name: self.value(one) for name, one in node["state"].items()}
        if hasattr(cls, "arguments") or issubclass(cls, tuple):
            return cls(**state)
        made = object.__new__(cls)
        made.__dict__.update(state)
        return made
