"""Tabs that change something all the time, and what a server makes of it.

ordag explore table.csv --no-browser &
python tests/explore/load.py ADDRESS PID
"""

from __future__ import annotations

import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import psutil
from asking import state


@dataclass
class Load:
    """Seconds that every answer took, what went wrong, and the bytes of the server after a third of the time and at its end."""

    took: list[float]
    errors: list[str]
    memory: list[int]
    cpu: float

    @property
    def count(self):
        return len(self.took)

    @property
    def sentence(self):
        ordered = sorted(self.took)
        return (
            f"{self.count} answers, {len(self.errors)} errors; median {1e3 * statistics.median(ordered):.0f} ms, "
            f"95 % within {1e3 * ordered[int(0.95 * self.count)]:.0f} ms; {1e3 * self.cpu / self.count:.0f} ms of processor time each; "
            f"{self.memory[0] >> 20} MB in use after a third of the time, {self.memory[-1] >> 20} MB at the end"
        )


def run(address, pid, *, seconds=30, rate=50, tabs=4):
    """So many changes a second, by several tabs in turn, each when its time has come; late ones follow at once."""
    server = psutil.Process(pid)
    with httpx.Client(base_url=address, timeout=60) as client:
        data = client.get("api/start").json()["data"]
        client.post("api/answer", json={"state": state(data), "layout": True}).raise_for_status()
    begun, used = time.monotonic() + 0.5, sum(server.cpu_times()[:2])
    memory, errors = [], []

    def tab(number):
        took = []
        with httpx.Client(base_url=address, timeout=60) as client:
            for k in range(number, seconds * rate, tabs):
                due = begun + k / rate
                time.sleep(max(0.0, due - time.monotonic()))
                asked = {"state": change(data, k), "layout": False}
                began = time.monotonic()
                answer = client.post("api/answer", json=asked)
                took.append(time.monotonic() - began)
                if answer.status_code != 200 or not answer.json()["document"]["names"]:
                    errors.append(answer.text[:200])
                if k in (seconds * rate // 3, seconds * rate - 1):
                    memory.append(server.memory_info().rss)
        return took

    with ThreadPoolExecutor(tabs) as pool:
        took = [one for found in pool.map(tab, range(tabs)) for one in found]
    return Load(took, errors, memory, sum(server.cpu_times()[:2]) - used)


def change(data, k):
    """The state after the k-th change: another level each time, and now and then something else with it."""
    names = data["names"]
    chosen = {
        "settings": {"alpha": round(0.001 + 0.00005 * (k % 1000), 6), "correction": ("none", "bh")[k // 1000 % 2]}
    }
    if k % 10 == 3:
        chosen["knowledge"] = {"forbidden": [[names[k % len(names)], names[(k + 7) % len(names)]]]}
    if k % 10 == 6:
        chosen["transform"] = {names[k % len(names)]: 2.0 + k % 5}
    if k % 10 == 9:
        chosen["columns"] = [name for name in names if name != names[k % len(names)]]
    return state(data, **chosen)


if __name__ == "__main__":
    print(run(sys.argv[1], int(sys.argv[2])).sentence)
