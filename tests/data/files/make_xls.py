"""Make old.xls, with xlwt 1.3.0, which is not kept up any more and no dependency of the tests: python tests/data/files/make_xls.py."""

from pathlib import Path

import xlwt

book = xlwt.Workbook()
book.add_sheet("empty")
sheet = book.add_sheet("numbers")
for j, (name, unit) in enumerate((("height", "cm"), ("weight", "kg"))):
    sheet.write(0, j, name)
    sheet.write(1, j, unit)
    for i in range(4):
        sheet.write(i + 2, j, 1.5 * i + j)
book.save(Path(__file__).with_name("old.xls"))
