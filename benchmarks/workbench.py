"""What does a workbench make of fifty changes a second, by several tabs at once? And how soon does the graph follow each control?"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

SECONDS, RATE, TABS, P, N = 30, 50, 4, 50, 1000

CHANGES = 10
"""Of each control."""

CHOICES = {
    "correction": ("bh", "bonferroni"),
    "parents": ("adaptive", "bic"),
    "test": ("t", "fisher-z"),
    "direction": ("backward", "forward"),
}
TITLES = {"parents": "rule for parents"}
DENSER, APART = 6.0, 4.0
"""Of a second table: arrows for each variable, and how many times as large some error variances are."""

METHODS = ("cvs", "pc", "ges", "pooled", "gds")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@dataclass(frozen=True)
class Load:
    """Seconds that every answer took, what went wrong, the bytes of the server after a third of the time and at its end, and its
    processor time."""

    took: list[float]
    errors: list[str]
    memory: list[int]
    cpu: float

    @property
    def sentence(self) -> str:
        ordered, count = sorted(self.took), len(self.took)
        return (
            f"{count:,} answers, {len(self.errors)} errors; the median answer took {1e3 * statistics.median(ordered):.0f} ms, "
            f"95 % of them at most {1e3 * ordered[int(0.95 * count)]:.0f} ms, and the server's processor "
            f"{1e3 * self.cpu / count:.0f} ms for each. It had "
            f"{self.memory[0] >> 20} MB of memory in use after a third of the time, and {self.memory[-1] >> 20} MB at the end."
        )


def run() -> str:
    return f"""## The workbench

`ordag explore` on a table of {N:,} rows and {P} variables: {RATE} changes a second for {SECONDS} s, by {TABS} tabs over the
loopback address, each with another level, and some with other knowledge, units or columns (`cvs`; answers without the forecast
and without places for the drawing). {loaded().sentence}

{followed()}"""


def loaded(changes: int = SECONDS * RATE, rate: float = RATE, tabs: int = TABS) -> Load:
    """A server of its own under load."""
    with _serving() as (address, pid):
        return under_load(address, pid, changes, rate, tabs)


@contextmanager
def _serving(degree: float = 3.0, spread: float = 1.0) -> Iterator[tuple[str, int]]:
    """The address and the process of a server on a table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        _write(path, degree, spread)
        words = [sys.executable, "-m", "ordag", "explore", str(path), "--no-browser"]
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **one_thread}) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip(), process.pid
            finally:
                process.send_signal(signal.SIGTERM)


def followed() -> str:
    """How soon the graph follows each control, as tables; or a sentence where there is no browser to measure in."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        return "How soon the graph follows a control was not measured: there is no Chromium here."
    from playwright.sync_api import sync_playwright

    def measured(address: str, methods: bool) -> str:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = _Page(browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"), address)
            times = ({} if methods else page.settings()) | page.methods()
            browser.close()
        lines = [
            f"| {control} | {statistics.median(took):.0f} ms | {min(took):.0f} ms | {max(took):.0f} ms |"
            for control, took in times.items()
        ]
        return "\n".join(["| control | median | least | most |", "|---|---|---|---|", *lines])

    with _serving() as (address, _):
        usual = measured(address, methods=False)
    with _serving(DENSER, APART) as (address, _):
        denser = measured(address, methods=True)
    return f"""From the event in the page to the painted graph, in headless Chromium on the same table, {CHANGES} changes of each
control, none of them to a state that was asked for before.

{usual}

The methods on a table of the same size with about {DENSER / 2:g} arrows for each variable (half as many before), and error
variances of which some are up to {APART:g} times as large as others:

{denser}"""


class _Page:
    """A page of the workbench, and hands for its controls."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.fresh = page, 0
        page.set_default_timeout(120_000)
        page.goto(address)
        page.locator("#again-body code").first.wait_for()

    def settings(self) -> dict[str, list[float]]:
        """Milliseconds that the changes of each setting took."""
        self._warm()
        slider = self.page.locator("#set-alpha")
        slide = "(one, place) => { one.value = place; one.dispatchEvent(new Event('input')) }"
        drag = range(200, 200 + 50 * CHANGES, 50)
        times = {"level, dragged": [self._took(lambda place=place: slider.evaluate(slide, place)) for place in drag]}
        slider.dispatch_event("change")
        for name, values in CHOICES.items():
            field = self.page.locator(f"#set-{name}")
            for k in range(CHANGES * len(values)):
                self._anew()
                value = values[k % len(values)]
                took = self._took(lambda field=field, value=value: field.select_option(value))
                times.setdefault(f"{TITLES.get(name, name)}: {value}", []).append(took)
            self._took(self.page.locator("#usual").click)
        return times

    def methods(self) -> dict[str, list[float]]:
        """The same for each method."""
        self._warm()
        times: dict[str, list[float]] = {}
        for name in METHODS * CHANGES:
            self._method("pc" if name == "cvs" else "cvs")
            self._anew()
            times.setdefault(f"method: {name}", []).append(self._method(name))
        return times

    def _warm(self) -> None:
        """The first of all questions waits for a process to start."""
        for name in (*METHODS, "cvs"):
            self._method(name)

    def _method(self, name: str) -> float:
        return self._took(self.page.get_by_role("radio", name=name, exact=True).click)

    def _anew(self) -> None:
        """A least effect too small to matter that no state had before, so that no answer is there already."""
        self.fresh += 1
        field = self.page.locator("#set-min_effect")
        field.fill(f"{self.fresh}e-9")
        self._took(lambda: field.press("Tab"))

    def _took(self, act: Any) -> float:
        """What the page itself measures, from the event to the paint; then it has come to rest."""
        page = self.page
        page.evaluate("performance.clearMeasures()")
        act()
        took = page.evaluate("""() => new Promise((give) => {
            const look = () => { const [one] = performance.getEntriesByName("change"); one ? give(one.duration) : setTimeout(look, 10) };
            look();
        })""")
        page.locator("#bench[aria-busy=false]").wait_for()
        return float(took)


def under_load(address: str, pid: int, changes: int, rate: float, tabs: int) -> Load:
    """Changes at so many a second, by the tabs in turn, each when its time has come; those that are late follow at once."""
    server = psutil.Process(pid)
    with httpx.Client(base_url=address, timeout=60) as client:
        data = client.get("api/start").json()["data"]
        client.post("api/answer", json={"state": _change(data, 0), "layout": True}).raise_for_status()
    begun, used = time.monotonic(), sum(server.cpu_times()[:2])
    memory: list[int] = []
    errors: list[str] = []

    def tab(number: int) -> list[float]:
        took = []
        with httpx.Client(base_url=address, timeout=60) as client:
            for k in range(number, changes, tabs):
                time.sleep(max(0.0, begun + k / rate - time.monotonic()))
                began = time.monotonic()
                answer = client.post("api/answer", json={"state": _change(data, k), "layout": False})
                took.append(time.monotonic() - began)
                if answer.status_code != 200 or "result" not in json.loads(answer.text.splitlines()[-1]):
                    errors.append(answer.text[:200])
                if k in (changes // 3, changes - 1):
                    memory.append(server.memory_info().rss)
        return took

    with ThreadPoolExecutor(tabs) as pool:
        took = [one for found in pool.map(tab, range(tabs)) for one in found]
    return Load(took, errors, memory, sum(server.cpu_times()[:2]) - used)


def _change(data: dict[str, Any], k: int) -> dict[str, Any]:
    """The state after the k-th change: another level each time, and now and then something else with it that no state had before."""
    names = data["names"]
    said: dict[str, Any] = {
        "format": "ordag-workbench",
        "version": 1,
        "data": data,
        "method": "cvs",
        "settings": {"alpha": round(0.001 + 0.00002 * k, 6)},
    }
    if k % 10 == 3:
        said["knowledge"] = {"forbidden": [[names[k // 10 % P], names[(k // 10 + 7) % P]]]}
    if k % 10 == 6:
        said["transform"] = {names[k // 10 % P]: 2.0 + k / 100}
    if k % 10 == 9:
        said["columns"] = [name for name in names if name != names[k // 10 % P]]
    return said


def _write(path: Path, degree: float, spread: float) -> None:
    rng = np.random.default_rng(0)
    B = np.triu(rng.uniform(0.3, 0.9, (P, P)) * (rng.random((P, P)) < degree / P), 1)
    X = rng.normal(size=(N, P)) * rng.uniform(1.0, spread**0.5, P) @ np.linalg.inv(np.eye(P) - B)
    np.savetxt(path, X, delimiter=",", header=",".join(f"v{j}" for j in range(P)), comments="")
