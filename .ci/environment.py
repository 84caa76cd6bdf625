"""Print the Python of an environment with the test tools: `environment.py 3.12`, or `environment.py lowest`.

uv resolves what pyproject.toml asks for; an environment made from the same resolution before is taken again, whichever checkout it
was made for. So the project itself is not installed there: run with PYTHONPATH=src. Without an argument, print the versions that
this machine has, and `lowest`: the oldest Python with the oldest libraries allowed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ordag-environments"
OLDEST = 11


def main() -> None:
    if len(sys.argv) == 1:
        print(*(f"3.{minor}" for minor in sorted(pythons())), "lowest")
    else:
        print(environment(sys.argv[1]))


def environment(version: str) -> Path:
    """The Python of the environment for this version, made if there is none."""
    lowest = version == "lowest"
    interpreter = pythons()[OLDEST if lowest else int(version.partition(".")[2])]
    words = ["compile", "pyproject.toml", "--extra", "test", "--python", interpreter, "--no-header", "--no-annotate"]
    lock = uv("pip", *words, *(["--resolution", "lowest-direct"] if lowest else []))
    folder = KEPT / f"{version}-{hashlib.sha256((interpreter + lock).encode()).hexdigest()[:16]}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv("venv", "--python", interpreter, str(folder))
        (folder / "lock.txt").write_text(lock, encoding="utf-8")
        uv("pip", "install", "--compile-bytecode", "--python", str(python), "-r", str(folder / "lock.txt"))
        (folder / "complete").touch()
    return python


def uv(*words: str) -> str:
    """What uv prints; its messages go where ours go."""
    return subprocess.run(["uv", "--quiet", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def pythons() -> dict[int, str]:
    """A Python of every minor version from 3.11 on, the one that runs this first."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [
        sys.executable,
        *(f"python3.{minor}" for minor in range(OLDEST, 30)),
        *map(str, sorted(pyenv.glob("versions/3.*/bin/python"))),
    ]
    found: dict[int, str] = {}
    for candidate in candidates:
        minor = minor_version(candidate)
        if minor is not None and minor >= OLDEST:
            found.setdefault(minor, candidate)
    return found


def minor_version(python: str) -> int | None:
    """12 for a Python 3.12 that runs; None for a name with nothing behind it, such as the shim of a version not chosen."""
    try:
        words = [python, "-c", "import sys; print(sys.version_info[1])"]
        return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


if __name__ == "__main__":
    main()
