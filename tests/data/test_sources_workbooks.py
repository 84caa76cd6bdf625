"""Workbooks of Excel and OpenDocument: which sheet, where the table begins, and files that must not end the process."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from strictly import open_source

import ordag
from ordag.data.reading import Reading
from ordag.data.sources import Upload
from ordag.data.sources.workbooks import _has_uncomputed, _repeated_extent
from ordag.data.table import Table
from ordag.errors import OrdagError

OLD = Path(__file__).parent / "files" / "old.xls"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TABLE = [["a", "b"], [1, 2.5], [2, 3.5], [3, 1.25]]


def cell(address: str, value: object) -> str:
    if value is None:
        return f'<c r="{address}" s="0"/>'
    if isinstance(value, str) and value.startswith("="):
        return f'<c r="{address}"><f>{value[1:]}</f></c>'  # a formula that nothing has computed
    if isinstance(value, str) and value.startswith("#"):
        return f'<c r="{address}" t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        return f'<c r="{address}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{address}"><v>{value}</v></c>'


FAR = cell("A1", 1) + cell("XFD99999", 1)


def sheet_of(rows: list[list[object]], merged: str = "") -> str:
    lines = [
        f'<row r="{i}">{"".join(cell(f"{chr(65 + j)}{i}", value) for j, value in enumerate(row))}</row>'
        for i, row in enumerate(rows, start=1)
    ]
    return f"<sheetData>{''.join(lines)}</sheetData>" + (
        f'<mergeCells><mergeCell ref="{merged}"/></mergeCells>' if merged else ""
    )


def xlsx(sheets: dict[str, str], hidden: str = "") -> bytes:
    """Write a workbook with these sheets: the least that readers take."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        parts = {name: f"/xl/worksheets/sheet{k}.xml" for k, name in enumerate(sheets, start=1)}
        types = "".join(
            f'<Override PartName="{part}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
            for part in parts.values()
        )
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" '
            'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
            f'sheet.main+xml"/>{types}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
            f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(
            f'<sheet name="{name}" sheetId="{k}" r:id="r{k}" state="{("visible", "hidden")[name == hidden]}"/>'
            for k, name in enumerate(sheets, start=1)
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>'
        )
        links = "".join(
            f'<Relationship Id="r{k}" Type="{RELATIONS}/worksheet" Target="{part}"/>'
            for k, part in enumerate(parts.values(), start=1)
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{links}</Relationships>',
        )
        for part, content in zip(parts.values(), sheets.values(), strict=True):
            archive.writestr(part[1:], f'<worksheet xmlns="{MAIN}">{content}</worksheet>')
    return file.getvalue()


def archive_of(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def ods(rows: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry '
            'manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>',
        )
        prefix = "urn:oasis:names:tc:opendocument:xmlns"
        archive.writestr(
            "content.xml",
            f'<office:document-content xmlns:office="{prefix}:office:1.0" xmlns:table="{prefix}:table:1.0" '
            f'xmlns:text="{prefix}:text:1.0"><office:body><office:spreadsheet><table:table table:name="one">{rows}'
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
    return file.getvalue()


def ods_row(values: list[object], repeated: int = 1) -> str:
    cells = "".join(
        f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        if not isinstance(value, str)
        else f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        for value in values
    )
    rest = '<table:table-cell table:number-columns-repeated="16000"/>'
    return f'<table:table-row table:number-rows-repeated="{repeated}">{cells}{rest}</table:table-row>'


def read(
    content: bytes, name: str = "t.xlsx", **reading: object
) -> tuple[tuple[str, ...], np.ndarray, tuple[str, ...]]:
    source = open_source(Upload(name, content, 1 << 24, 4000), Reading(**reading))  # type: ignore[arg-type]
    assert source.array is not None
    return source.names, source.array, source.notes


def refusal(content: bytes, name: str = "t.xlsx", **reading: object) -> str:
    with pytest.raises(OrdagError) as refused:
        read(content, name, **reading)
    return str(refused.value)


def test_the_first_sheet_with_anything_in_it_is_read_and_the_others_named() -> None:
    book = xlsx({"nothing": sheet_of([]), "one": sheet_of(TABLE), "two": sheet_of([["c", "d"], [1, 2]])})
    names, X, notes = read(book)
    assert (names, X.tolist()) == (("a", "b"), TABLE[1:])
    assert notes == ("Sheet one is read; others are two (sheet=…, --sheet)",)
    assert read(book, sheet="two")[0::2] == (("c", "d"), ())
    assert "has no sheet 'tow'. Did you mean 'two'?" in refusal(book, sheet="tow")


def test_a_hidden_sheet_is_read_where_it_is_asked_for() -> None:
    book = xlsx({"lists": sheet_of([["x", "y"], [1, 2]]), "one": sheet_of(TABLE)}, hidden="lists")
    assert read(book)[0] == ("a", "b")
    assert read(book, sheet="lists")[0] == ("x", "y")


@pytest.mark.parametrize("ending", ["xlsx", "xlsm", ""])
def test_titles_merged_cells_and_empty_rows_above_the_header(ending: str) -> None:
    rows = [["Heights of 1990", None, None], [], [None, *TABLE[0]], *([None, *row] for row in TABLE[1:])]
    names, X, notes = read(xlsx({"one": sheet_of(rows, merged="A1:C1")}), f"t.{ending}".rstrip("."))
    assert (names, X.tolist(), notes) == (("a", "b"), TABLE[1:], ("1 row above the header left out",))


def test_a_row_of_units_below_the_header() -> None:
    names, X, notes = read(OLD.read_bytes(), "old.xls")
    assert names == ("height", "weight")
    assert X.tolist() == [[1.5 * i, 1.5 * i + 1] for i in range(4)]
    assert notes == ("The row below the header is read as units (cm and kg)",)


def test_formulas_without_values_errors_and_words_for_missing_are_missing() -> None:
    rows = [["a", "b"], [1, "=A2*2"], [2, "#DIV/0!"], [3, "n/a"], [4, 1.5], [5, None]]
    _, X, notes = read(xlsx({"one": sheet_of(rows)}))
    assert np.isnan(X[:, 1]).tolist() == [True, True, True, False, True]
    assert notes == (
        "Formulas that no program has computed are missing values: open the workbook, save it, and read it again",
    )
    assert read(xlsx({"one": sheet_of([["a", "b"], [1, 2], [2, None], [3, 4]])}))[2] == ()
    old = OLD.read_bytes()
    assert not _has_uncomputed(Upload("old.xls", old), old)


@pytest.mark.parametrize("merged", ["A1:A2", "A2:A5"])
def test_cells_merged_down_a_column(merged: str) -> None:
    rows = [["site", "before", "after"], [None, "x", "y"]] if merged == "A1:A2" else [["site", "x", "y"]]
    body = [["north", 1, 2.5], [None, 2, 1.5], [None, 5, 3.5], [None, 3, 1]]
    content = xlsx({"one": sheet_of([*rows, *body], merged=merged)})
    table = Table(Upload("t.xlsx", content), adjust=["site"])
    told = [note for note in table.source.notes if "merged" in note]
    if merged == "A1:A2":
        assert not told  # the name of the first column stands a row higher
    else:
        assert told == ["The value of merged cells counts for each of their rows in site"]
        assert next(iter(table.source.batches(9)))[:, 2].tolist() == [0, 0, 0, 0]


def test_words_in_a_column_of_numbers_are_named_with_a_way_on() -> None:
    body = [[k, "n.d." if k == 3 else k * k, "?" if k == 5 else 1 / (k + 1)] for k in range(12)]
    content = Upload("t.xlsx", xlsx({"one": sheet_of([["a", "b", "c"], *body])}))
    with pytest.raises(
        OrdagError, match=r"column 'b' holds 'n\.d\.' in data row 4; column 'c' holds '\?' in data row 6.*na=\['n\.d\.'"
    ) as refused:
        ordag.learn(content, role={"a": "variable"})
    assert refused.value.way == {"na": ["n.d.", "?"]}
    assert Table(content, **refused.value.way, role={"a": "variable"}).moments.missing == "em"
    assert Table(content, drop=["b"], role={"a": "variable"}, na=["?"]).names == ("a", "c")
    codes = [["a", "b", "c"], *([k * k % 5, "7A" if k == 3 else k, k * k] for k in range(12))]
    assert Table(Upload("t.xlsx", xlsx({"one": sheet_of(codes)}))).names == ("a", "c")


def test_years_as_names_beside_words() -> None:
    assert read(xlsx({"one": sheet_of([["a", 2001], [1, 2], [2, 3]])}))[0] == ("a", "2001")
    assert "no header" in refusal(xlsx({"one": sheet_of([[1, 2], [2, 3], [3, 5]])}))
    assert read(xlsx({"one": sheet_of([[1, 2], [2, 3]])}), header=False)[1].tolist() == [[1, 2], [2, 3]]


def test_an_opendocument_sheet_with_its_thousands_of_repeated_empty_cells() -> None:
    content = ods(
        ods_row(["a", "b"])
        + ods_row([1, 2.5])
        + ods_row([2, 3.5], 2)
        + '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    )
    names, X, _ = read(content, "t.ods")
    assert (names, X.tolist()) == (("a", "b"), [[1, 2.5], [2, 3.5], [2, 3.5]])


def test_the_extent_of_an_opendocument_file_is_that_of_its_largest_sheet() -> None:
    """Rows begin anew with every sheet, and may be repeated, empty cells too."""
    empty = '<table:table-row table:number-rows-repeated="7"><table:table-cell/></table:table-row>'
    first = f'<table:table table:name="a">{empty}{ods_row([1, 2], 3)}{ods_row([4])}</table:table>'
    second = f'<table:table table:name="b">{ods_row([1, 2, 3], 2)}</table:table>'
    for sheets, extent in ((first, (11, 2)), (second, (2, 3)), (first + second, (11, 3)), (second + first, (11, 3))):
        assert _repeated_extent(iter([sheets.encode()])) == extent


def test_a_workbook_is_read_like_the_same_numbers_in_text(tmp_path: Path) -> None:
    marks = ordag.Moments.scan("marks")
    rows = np.round(np.random.default_rng(0).normal(size=(30, 3)), 3)
    (tmp_path / "t.xlsx").write_bytes(xlsx({"one": sheet_of([["a", "b", "c"], *rows.tolist()])}))
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header="a,b,c", comments="", fmt="%.3f")
    assert np.array_equal(ordag.Moments.scan(tmp_path / "t.xlsx").R, ordag.Moments.scan(tmp_path / "t.csv").R)
    assert marks.n == 88


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (xlsx({"one": sheet_of([])}), "t.xlsx", "holds only empty sheets"),
        (xlsx({"one": sheet_of([["a", "b"]])}), "t.xlsx", "no rows below"),
        (xlsx({"one": f"<sheetData><row>{FAR}</row></sheetData>"}), "t.xlsx", "too far apart"),
        (ods(ods_row(["a", "b"]) + ods_row([1] * 99, 1 << 20)), "t.ods", "too far apart"),
        (xlsx({"one": sheet_of(TABLE)})[:-30], "t.xlsx", "damaged, cut off"),
        (OLD.read_bytes()[:-100], "old.xls", "is cut off"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(480), "t.xlsx", "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), "t.xls", "damaged, cut off"),
        (b"a,b\n1,2\n", "t.xlsx", "not a workbook, despite its name"),
        (xlsx({"one": sheet_of(TABLE)}), "t.csv", "has the ending .xlsx"),
        (archive_of({"xl/workbook.bin": b""}), "t.xlsb", "binary workbook (.xlsb): save it as .xlsx"),
        (archive_of({"META-INF/manifest.xml": b"<manifest:encryption-data>"}), "t.ods", "password"),
        (xlsx({"one": " " * (1 << 25)}), "t.xlsx", "unpacks to more than"),
        (xlsx({"one": f"<sheetData><row r='1'>{cell('A1', 1)}{cell('XFD1', 1)}</row></sheetData>"}), "t.xlsx", "more than 4,000 columns"),
    ],
)  # fmt: skip
def test_hostile_workbooks(content: bytes, name: str, said: str) -> None:
    assert said in refusal(content, name)


def test_settings_of_other_files() -> None:
    assert "separator" in refusal(xlsx({"one": sheet_of(TABLE)}), separator=";")
    assert "sheet: t.csv has no sheets" in refusal(b"a,b\n1,2\n2,4\n", "t.csv", sheet="one")


def test_the_reader_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert "python -m pip install python-calamine" in refusal(xlsx({"one": sheet_of(TABLE)}))
