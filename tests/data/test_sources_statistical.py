"""Files of Stata, SPSS, SAS and R: their numbers, labels and missing codes, and files that are cut off."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import rdata
from strictly import open_source
from test_sources_workbooks import sheet_of, xlsx

from ordag.data.reading import Reading
from ordag.data.sources import Upload
from ordag.data.sources.paths import DiskFile
from ordag.data.sources.statistical import FORMATS
from ordag.errors import OrdagError

FROM_R = Path(rdata.TESTDATA_PATH) / "generated"
"""Files that R wrote; they come with the package that reads them."""


@pytest.fixture(autouse=True)
def within_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files without a process of their own, which tests/test_watched.py tries."""
    monkeypatch.setattr("ordag.data.sources.readers.watched", lambda work, *given: work(*given))


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame({"a": rng.normal(size=20), "b": 1e9 * rng.normal(size=20), "c": np.arange(20.0)})


def written(frame: pd.DataFrame, path: Path, **more: Any) -> Path:
    if path.suffix == ".dta":
        frame.to_stata(path, write_index=False, **more)
    elif path.suffix == ".rds":
        rdata.write_rds(path, frame)
    elif path.suffix == ".por":
        pyreadstat.write_por(frame, str(path), **more)
    elif path.suffix == ".xpt":
        pyreadstat.write_xport(frame, str(path), **more)
    else:
        pyreadstat.write_sav(frame, str(path), compress=path.suffix == ".zsav", **more)
    return path


def numbers(data: Any) -> np.ndarray:
    source = open_source(data)
    assert source.array is not None
    return source.array


def refusal(data: Any) -> str:
    with pytest.raises(OrdagError) as refused:
        open_source(data)
    return str(refused.value)


@pytest.mark.parametrize(
    ("ending", "more"),
    [("dta", {}), ("dta", {"version": 119}), ("sav", {}), ("zsav", {}), ("por", {}), ("rds", {})]
    + [("xpt", {"file_format_version": version}) for version in (5, 8)],
)
def test_numbers_come_back_as_they_were(ending: str, more: dict[str, Any], frame: pd.DataFrame, tmp_path: Path) -> None:
    path = written(frame, tmp_path / f"t.{ending}", **more)
    rounded = (
        1e-9 if ending == "por" else 1e-15 if ending == "xpt" else 0
    )  # SAS counts in powers of 16, .por writes digits
    np.testing.assert_allclose(numbers(path), frame.to_numpy(), rtol=rounded)
    assert np.array_equal(numbers(path), numbers(Upload(path.name, path.read_bytes(), 1 << 20, 10)))
    assert [name.lower() for name in open_source(path).names] == ["a", "b", "c"]


@pytest.mark.parametrize("ending", ["dta", "sav", "xpt"])
def test_a_file_without_its_ending_is_recognised(ending: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    content = written(frame, tmp_path / f"t.{ending}").read_bytes()
    assert numbers(Upload("t.data", content)).shape == (20, 3)


def labels_of(path: Path) -> dict[str, Any]:
    """Return the columns as the reader gives them."""
    found = next(one for one in FORMATS if path.suffix in one.endings)
    from ordag.data.sources.paths import DiskFile

    return dict(found.read(DiskFile(path, path.name)))


@pytest.mark.parametrize("version", [102, 103, 104, 105, 108, 110, 111, 113, 114, 115])
@pytest.mark.parametrize("order", [1, 2])
def test_old_files_of_stata_are_known_by_their_first_bytes(
    version: int, order: int, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_: Any, number: int, *__: Any, **more: Any) -> pd.DataFrame:
        assert FORMATS[number].endings == (".dta",)
        return frame

    monkeypatch.setattr("ordag.data.sources.statistical.read_apart", read)
    assert numbers(Upload("t", bytes([version, order, 1, 0]))).shape == frame.shape


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_codes_with_labels_for_all_values_are_a_category(ending: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    frame["sex"], frame["mood"] = np.arange(20) % 2 + 1, np.arange(20) % 5 + 1
    labels = {"sex": {1: "woman", 2: "man", 3: "not said"}, "mood": {1: "low", 5: "high"}}
    key = "value_labels" if ending == "dta" else "variable_value_labels"
    found = labels_of(written(frame, tmp_path / f"t.{ending}", **{key: labels}))
    assert str(found["sex"].dtype) == "category"
    assert found["sex"].tolist() == ["woman", "man"] * 10
    assert found["mood"].tolist() == frame["mood"].tolist()


def test_one_label_for_two_codes_leaves_the_numbers(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame["sex"] = np.arange(20) % 2 + 1
    path = written(frame, tmp_path / "t.sav", variable_value_labels={"sex": {1: "x", 2: "x"}})
    assert numbers(path)[:, 3].tolist() == [1, 2] * 10


def test_codes_that_are_declared_missing_are_missing(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.loc[3, "a"] = -9.0
    path = written(frame, tmp_path / "t.sav", missing_ranges={"a": [-9]}, variable_value_labels={"a": {-9: "refused"}})
    assert np.flatnonzero(np.isnan(numbers(path))).tolist() == [9]


def test_missing_values_of_stata_with_and_without_a_letter(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.loc[2, "a"] = np.nan
    assert np.flatnonzero(np.isnan(numbers(written(frame, tmp_path / "t.dta")))).tolist() == [6]


def test_data_frames_that_r_wrote() -> None:
    source = open_source(FROM_R / "test_dataframe_float_with_na_nan__xdr__version_3.rds")
    assert source.array is not None
    assert np.isnan(source.array).any()
    with pytest.raises(OrdagError, match="holds text"):
        open_source(FROM_R / "test_dataframe__ascii__version_2.rds")
    factor = open_source(FROM_R / "test_dataframe__xdr__version_3.rds", Reading(columns=["value"]))
    assert factor.array is not None
    assert factor.array.ravel().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "kind", ["function", "environment_global_default", "s4", "list", "expression", "builtin", "matrix"]
)
def test_other_objects_of_r_are_refused_and_not_run(kind: str) -> None:
    (path,) = FROM_R.glob(f"test_{kind}__xdr__version_3.rds")
    said = refusal(path)
    assert "not a data frame: save one" in said
    assert ("holds a matrix, not" in said) == (kind == "matrix")


def test_dates_of_r_are_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    from ordag.data.sources.r_data import _days, _seconds

    assert _days([0.0, 1.5], {})[1] == pd.Timestamp("1970-01-02 12:00")
    assert _seconds([60.0], {})[0] == pd.Timestamp("1970-01-01 00:01")


def test_a_workspace_of_r_is_not_opened() -> None:
    assert 'saveRDS(x, "mine.rds")' in refusal(Upload("mine.RData", b"RDX3\nX\n"))


@pytest.mark.parametrize("ending", ["dta", "sav", "zsav", "xpt", "rds"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9, 0.999])
def test_files_that_are_cut_off(ending: str, share: float, frame: pd.DataFrame, tmp_path: Path) -> None:
    content = written(frame, tmp_path / f"t.{ending}").read_bytes()
    assert "t." in refusal(Upload(f"t.{ending}", content[: int(share * len(content))], 1 << 20, 10))


@pytest.mark.parametrize("ending", ["dta", "sav", "zsav", "xpt", "por", "rds", "xlsx"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    ending: str, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(self: DiskFile, usual: Any = DiskFile.open) -> Any:
        raw = usual(self)
        times.append(os.utime(self.path, ns=(0, 10**9 * len(times))))
        return raw

    path, times = tmp_path / f"t.{ending}", []
    if ending == "xlsx":
        path.write_bytes(xlsx({"one": sheet_of([["a", "b"], [1, 2.5], [2, 3.5], [3, 1.25]])}))
    else:
        written(frame, path)
    monkeypatch.setattr(DiskFile, "open", opened)
    assert refusal(path).startswith(f"t.{ending} changed while it was read")


@pytest.mark.parametrize("ending", ["dta", "sav", "xpt", "por", "sas7bdat", "rds"])
def test_text_with_the_wrong_ending(ending: str) -> None:
    assert f"t.{ending}" in refusal(Upload(f"t.{ending}", b"a,b\n1,2\n2,3\n"))


@pytest.mark.parametrize("ending", ["sav", "rds"])
def test_an_upload_that_is_too_wide_or_unpacks_to_too_much(ending: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    content = written(frame, tmp_path / f"t.{ending}").read_bytes()
    assert "unpacks to more than 200 bytes" in refusal(Upload(f"t.{ending}", content, 200, 10))


@pytest.mark.parametrize("ending", ["dta", "sav", "zsav", "xpt", "por", "rds"])
def test_an_upload_with_too_many_columns_is_refused_before_its_numbers_are_read(
    ending: str, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **given: Any) -> Any:
        raise AssertionError("numbers were read")

    content = written(frame, tmp_path / f"t.{ending}").read_bytes()
    monkeypatch.setattr("pandas.io.stata.StataReader.read", never)
    monkeypatch.setattr("rdata.parser.parse_data", never)
    for name in ("read_sav", "read_por", "read_xport"):
        metadata = getattr(pyreadstat, name)
        monkeypatch.setattr(
            pyreadstat,
            name,
            lambda raw, metadataonly=False, read=metadata: read(raw, metadataonly=metadataonly or never()),
        )
    assert refusal(Upload(f"t.{ending}", content, 1 << 20, 2)).startswith(f"t.{ending} has more than 2 columns")


def test_a_data_frame_of_r_in_text_has_no_more_columns_than_are_allowed() -> None:
    path = FROM_R / "test_dataframe__ascii__version_2.rds"
    assert "has more than 1 columns" in refusal(Upload("t.rds", path.read_bytes(), 1 << 20, 1))


@pytest.mark.parametrize("version", [2, 3])
def test_columns_of_r_are_counted_before_they_are_read(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = FROM_R / f"test_dataframe__xdr__version_{version}.rds"
    monkeypatch.setattr("rdata.parser.parse_data", lambda *_, **__: pytest.fail("it was read"))
    assert "has more than 1 columns" in refusal(Upload("t.rds", path.read_bytes(), 1 << 20, 1))


def test_an_upload_of_r_unpacks_in_pieces() -> None:
    assert "unpacks to more than" in refusal(Upload("t.rds", gzip.compress(bytes(1 << 24)), 1 << 20, 10))


@pytest.mark.parametrize(("module", "ending"), [("pyreadstat", "sav"), ("rdata", "rds")])
def test_the_reader_that_is_not_installed_is_named(
    module: str, ending: str, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(frame, tmp_path / f"t.{ending}")
    monkeypatch.setitem(sys.modules, module, None)
    assert f"python -m pip install {module}" in refusal(path)
