"""`make bench`: run every measurement (or those named) and write docs/benchmarks.md.

`python -m benchmarks accuracy`, `… honesty`, `… high_dimension` and `… estimators` have pages and options of their own (see --help there);
`… halves FOLDER` and `… tables FOLDER` take a folder of tables.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.timing import machine

SECTIONS = [
    "literal",
    "floor",
    "growth",
    "around",
    "rows",
    "startup",
    "digits",
    "rivals",
    "peers",
    "calibration",
    "parents",
    "pooled",
    "search",
    "sizes",
    "probabilities",
    "missing",
    "witte",
    "kinds_of_rows",
    "environments",
    "series",
    "causes",
    "replicates",
    "effects",
    "hidden",
    "decisions",
    "workbench",
]
ASKED = ["gpu"]
"""Sections that take another machine: measured only if they are named, and kept otherwise."""

PAGES = {
    "accuracy": "benchmarks.accuracy.run",
    "honesty": "benchmarks.honesty.run",
    "high_dimension": "benchmarks.high_dimension",
    "estimators": "benchmarks.estimators",
    "halves": "benchmarks.halves",
    "tables": "benchmarks.tables",
}
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by `make bench`; one section alone is measured again with `python -m benchmarks NAME`. Times are the best of several
runs, ratios are of times measured in the same run on the same data. Speed is never asserted in a test.
"""


def main() -> None:
    if sys.argv[1:2] and sys.argv[1] in PAGES:
        import_module(PAGES[sys.argv[1]]).main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sections", nargs="*", help=f"of {', '.join(SECTIONS)}, which are all unless named, or {', '.join(ASKED)}"
    )
    chosen = parser.parse_args().sections or SECTIONS
    unknown = [name for name in chosen if name not in SECTIONS + ASKED]
    if unknown:
        parser.error(f"no section {', '.join(unknown)}: there are {', '.join(SECTIONS + ASKED)}")
    parts = _sections(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    for name in chosen:
        print(f"measuring: {name} …", file=sys.stderr)
        text = import_module(f"benchmarks.{name}").run().strip()
        parts[name] = f"<!-- {name} -->\n{text}\n\n*{machine()}*\n"
        print(text)
        PAGE.write_text("\n".join([HEAD, *(parts[s] for s in SECTIONS + ASKED if s in parts)]), encoding="utf-8")


def _sections(page: str) -> dict[str, str]:
    pieces = re.split(r"^<!-- (\w+) -->\n", page, flags=re.MULTILINE)
    return {name: f"<!-- {name} -->\n{text.rstrip()}\n" for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}


if __name__ == "__main__":
    main()
