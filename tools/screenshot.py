"""A picture of the report of the exam marks in a browser, for the documentation: python -m tools.screenshot (takes Chromium)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import ordag

PICTURE = Path(__file__).parents[1] / "docs" / "figures" / "report_marks.png"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as drive:
        page = Path(folder) / "marks.html"
        ordag.learn("marks", units="commensurable").report(page, data="marks")
        browser = drive.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1180, "height": 900})
        view.goto(page.as_uri())
        view.get_by_text("vectors", exact=True).first.click()
        view.mouse.move(1170, 5)  # away from the graph, which shows a card under the pointer
        view.screenshot(path=PICTURE, animations="disabled")
        browser.close()
    print(PICTURE.name)


if __name__ == "__main__":
    main()
