"""Run the tests with every Python from 3.11 on that this machine has, and once with the oldest libraries allowed.

Each run has a virtual environment of its own (.venv-3.12, …, .venv-lowest), made by the Makefile. Pages are tested in a browser
with the first Python only: what they do there does not depend on it. Tests go one after the other here, so that none that looks at
time or memory is in the way of another. `make test-versions` calls this.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    pythons = found()
    for minor in sorted(supported() - set(pythons)):
        print(f"skipped: Python 3.{minor} is not on this machine", flush=True)
    runs = {
        f"Python 3.{minor}": ["test", f"VENV=.venv-3.{minor}", f"PYTHON={pythons[minor]}"] for minor in sorted(pythons)
    }
    runs["the lowest versions of the libraries"] = ["test-lowest", f"PYTHON={pythons[min(pythons)]}"]
    failed = []
    for name, words in runs.items():
        print(f"== tests with {name}", flush=True)
        pages = {} if name == next(iter(runs)) else {"ORDAG_BROWSER": "none"}
        if subprocess.run(["make", *words, "JOBS=0"], cwd=ROOT, env={**os.environ, **pages}, check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"The tests failed with {', '.join(failed)}.")
    print(f"The tests passed with {', '.join(runs)}.")


def found() -> dict[int, str]:
    """A Python of every minor version from 3.11 on, the one that runs this first."""
    pythons: dict[int, str] = {}
    for candidate in candidates():
        minor = minor_version(candidate)
        if minor is not None and minor >= 11:
            pythons.setdefault(minor, candidate)
    return pythons


def candidates() -> Iterator[str]:
    yield sys.executable
    yield from (f"python3.{minor}" for minor in range(11, 30))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob("versions/3.*/bin/python")))


def minor_version(python: str) -> int | None:
    """12 for a Python 3.12 that runs; None for a name with nothing behind it, such as the shim of a version not chosen."""
    try:
        answer = subprocess.run(
            [python, "-c", "import sys; print(sys.version_info[1])"], capture_output=True, text=True, check=True
        )
        return int(answer.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def supported() -> set[int]:
    """The minor versions that pyproject.toml names."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return {int(minor) for minor in re.findall(r"Python :: 3\.(\d+)", text)}


if __name__ == "__main__":
    main()
