"""Pictures of the workbench for its guide, in a browser as a person would see it: python -m tools.workbench_pictures (takes Chromium)."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
SIZE = {"width": 1280, "height": 800}
PATIENCE = 120_000  # milliseconds
COLOURS = 160  # of a picture: enough for text and lines, and a third of the bytes


@contextmanager
def serving(*words: str) -> Iterator[str]:
    """The address of a workbench, while it is needed."""
    server = subprocess.Popen(
        [sys.executable, "-m", "ordag", "explore", *words, "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(timeout=60)


def keep(page: Page, name: str, **options: Any) -> None:
    """Write what is in sight into docs/figures."""
    page.mouse.move(SIZE["width"] - 2, 2)  # away from what shows a card under the pointer
    page.locator("#bench[aria-busy=false]").wait_for()
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled", **options)))
    path = FIGURES / f"workbench_{name}.png"
    shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


def answered(page: Page, act: Callable[[], object]) -> None:
    """Do something, and wait for what comes of it."""
    with page.expect_response(lambda response: response.url.endswith("api/answer")):
        act()
    page.locator("#bench[aria-busy=false]").wait_for()


def unit(page: Page, column: str, change: str) -> None:
    """Give a column another unit."""
    row = page.locator("#columns .column").filter(has=page.get_by_label(column, exact=True))
    if row.locator(".unit-edit").is_hidden():
        row.locator("button.unit").click()
    answered(page, row.locator(".unit-edit").get_by_role("button", name=change, exact=True).click)


def arrow(page: Page, source: str, target: str) -> None:
    """Select an arrow by its row in the list, and come back to the graph."""
    page.locator("#arrows-body tbody tr").filter(has_text=source).filter(has_text=target).first.click()
    page.locator("#card h3").filter(has_text=target).wait_for()
    page.evaluate("scrollTo(0, 0)")


def draw(page: Page) -> None:
    keep(page, "start")
    page.get_by_role("button", name="Close the hint").click()
    unit(page, "mechanics", "÷10")
    keep(page, "turned")
    page.keyboard.press("Control+z")
    page.locator("#redo:not([disabled])").wait_for()
    arrow(page, "vectors", "mechanics")
    answered(page, page.locator("#card .actions").get_by_role("button", name="forbid", exact=True).first.click)
    page.locator("#knowledge").scroll_into_view_if_needed()
    keep(page, "known")
    page.reload()
    page.locator("#again-body code").first.wait_for()
    page.fill("#what-if-cause", "algebra")
    page.keyboard.press("Enter")
    page.locator("#whatif-body").get_by_role("button", name="show").click()
    page.locator("#whatif-body .changes tbody tr").first.wait_for()
    page.locator("#whatif").evaluate(
        "part => { part.parentElement.scrollTop = part.offsetTop - part.parentElement.offsetTop }"
    )
    page.evaluate("scrollTo(0, 0)")
    keep(page, "whatif")


def main() -> None:
    with serving("marks") as address, sync_playwright() as drive:
        browser = drive.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.locator("#again-body code").first.wait_for()
        draw(page)
        browser.close()


if __name__ == "__main__":
    main()
