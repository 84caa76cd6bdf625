"""Save and load: everything comes back, and nothing but a saved fit is read."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ordag
from ordag.errors import OutputError, UnreadableError
from ordag.saved import CLASSES, FORMAT

KNOWN = {"tiers": [["algebra"], ["vectors", "analysis", "statistics", "mechanics"]]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("pooled", {"draws": 8}),
        ("pooled", {"draws": 8, "bootstrap": 6, "knowledge": KNOWN}),
        ("pooled", {"draws": 0, "min_effect": 0.3}),
        ("cvs", {"test": "t", "bootstrap": 6}),
        ("cvs", {"parents": "adaptive", "variance": "auto"}),
        ("cvs", {"variance": "robust", "transform": {"algebra": "log"}}),
        ("pc", {"knowledge": {"required": [["algebra", "vectors"]]}}),
        ("ges", {"orient_by_order": "class"}),
        ("ges", {}),
        ("gds", {"seed": 3}),
    ],
)
def test_everything_comes_back(method: str, settings: dict[str, Any], tmp_path: Path) -> None:
    fit = ordag.learn("marks", method, forecast=3, **settings)
    fit.save(tmp_path / "fit.ordag")
    again = ordag.load(tmp_path / "fit.ordag")
    assert again.to_json() == fit.to_json()
    assert str(again) == str(fit)
    assert again.method_settings == fit.method_settings
    if not fit.graph.undirected:
        assert str(again.effect("algebra", "mechanics", interval="given-graph")) == str(
            fit.effect("algebra", "mechanics", interval="given-graph")
        )
        assert again.check(draws=2).to_json() == fit.check(draws=2).to_json()


@pytest.mark.parametrize("rows", [40, 12])
def test_badly_conditioned_and_few_rows_come_back(rows: int, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    X = random.standard_normal((40, 6))
    X[:, 3] = X[:, 0] + 1e-7 * X[:, 3]
    fit = ordag.learn(X[:rows] if rows == 40 else random.standard_normal((31, 40)), "pooled", draws=4)
    fit.save(tmp_path / "fit.ordag")
    assert ordag.load(tmp_path / "fit.ordag").to_json() == fit.to_json()


def test_arrays_that_come_back_are_read_only(tmp_path: Path) -> None:
    ordag.learn("marks", "cvs").save(tmp_path / "fit.ordag")
    fit = ordag.load(tmp_path / "fit.ordag")
    with pytest.raises(ValueError, match="read-only"):
        fit.moments.R[0, 0] = 1.0


def test_functions_of_the_user_are_not_saved(tmp_path: Path) -> None:
    def test(r: Any, n: int, k: Any) -> Any:
        return np.abs(r)

    with pytest.raises(OutputError, match=r"fit\.ordag: .*cannot be saved"):
        ordag.learn("marks", "cvs", test=test).save(tmp_path / "fit.ordag")
    assert not list(tmp_path.iterdir())


def _changed(content: bytes, **parts: bytes) -> bytes:
    """Return an archive with other content for these members; an empty one is left out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            one = parts.get(name.split("/")[0].split(".")[0], old.read(name))
            if one:
                new.writestr(name, one)
    return out.getvalue()


def _tree(content: bytes, change: Any) -> bytes:
    """Return an archive whose tree was changed, with the right checksum."""
    import hashlib

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        tree = json.loads(archive.read("fit.json"))
    change(tree)
    text = json.dumps(tree).encode()
    return _changed(content, fit=text, sha256=hashlib.sha256(text).hexdigest().encode())


def test_what_is_no_saved_fit_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "fit.ordag"
    ordag.learn("marks", "cvs").save(path)
    good = path.read_bytes()

    def other_class(tree: Any) -> None:
        tree["fit"]["class"] = "Popen"

    def no_fit(tree: Any) -> None:
        tree["fit"] = {"class": "Profile", "state": {}, "id": 0}

    def missing_part(tree: Any) -> None:
        del tree["fit"]["state"]["moments"]

    hostile = [
        b"",
        b"text",
        good[:-30],
        good[:200] + b"xxxx" + good[204:],
        _changed(good, fit=b"{}"),
        _changed(good, sha256=b""),
        _changed(good, arrays=b"no array"),
        *(_tree(good, change) for change in (other_class, no_fit, missing_part)),
    ]
    for content in hostile:
        path.write_bytes(content)
        with pytest.raises(UnreadableError, match="is not a saved fit, or is damaged"):
            ordag.load(path)
    with pytest.raises(UnreadableError, match="cannot be opened"):
        ordag.load(tmp_path / "absent.ordag")
    with pytest.raises(UnreadableError, match="not a saved fit"):
        ordag.load(5)  # type: ignore[arg-type]


def test_another_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fit.ordag"
    ordag.learn("marks", "cvs").save(path)

    def newer(tree: Any) -> None:
        tree["format"] = FORMAT + 1

    path.write_bytes(_tree(path.read_bytes(), newer))
    with pytest.raises(UnreadableError, match=f"format {FORMAT + 1} .* reads format {FORMAT}"):
        ordag.load(path)


def test_only_listed_classes_are_made() -> None:
    assert all(cls.__module__.startswith("ordag.") for cls in CLASSES.values())
