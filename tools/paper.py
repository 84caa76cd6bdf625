"""Put the results of `ordag reproduce` into docs/paper.md: figures, tables and sentences; what is written around them stays.

python -m tools.paper ordag-results
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"(<!-- results:(\w+) -->\n)(.*?)(<!-- end:\2 -->)", re.DOTALL)


def main(folder: Path) -> None:
    page = DOCS / "paper.md"
    page.write_text(BLOCK.sub(lambda found: block(found, folder), page.read_text("utf-8")), "utf-8")


def block(found: re.Match[str], folder: Path) -> str:
    """The block of an experiment with its page in the folder in the place of all up to its last sentence."""
    start, name, old, end = found.groups()
    source = folder / f"{name}.md"
    if not source.is_file():
        return found[0]
    results = source.read_text("utf-8").partition("\n\n")[2]
    for picture in re.findall(r"\]\((.+?\.png)\)", results):
        shutil.copyfile(folder / picture, DOCS / "figures" / picture)
    results = re.sub(r"\]\((?=.+?\.png\))", "](figures/", results)
    return f"{start}{results.rstrip()}\n\n{comment(old)}{end}"


def comment(old: str) -> str:
    """What follows the last sentence of a list."""
    lines = old.splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line.startswith("- "))
    return "".join(lines[last + 1 :]).lstrip("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
