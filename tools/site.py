"""Build the site of the documentation into site/, and check it: `make docs`.

What stands in docs/ goes into build/pages as it is, and with it what is made here: a page of the reference for every module that has
something public, and CHANGELOG.md and CONTRIBUTING.md with links that hold there. Zensical makes the site of that in its strict mode.
It looks at links of the pages; what is checked here is the site itself: that every link of every page leads somewhere, that every page
is in the navigation, and that nothing is taken from the network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import ordag

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "site"

PARTS = {
    "Learning": [
        "ordag.learning",
        "ordag.fit",
        "ordag.saved",
        "ordag.exploring",
        "ordag.learners.found",
        "ordag.estimators",
        "ordag.knowledge.knowledge",
    ],
    "Trust": [
        "ordag.assess.verdict",
        "ordag.assess.forecast",
        "ordag.checking",
        "ordag.assess.finding",
        "ordag.bootstrapping",
        "ordag.resampling.support",
        "ordag.comparison",
    ],
    "Graphs and models": [
        "ordag.graph.graph",
        "ordag.graph.dag",
        "ordag.graph.cpdag",
        "ordag.graph.distances",
        "ordag.graph.formats",
        "ordag.model.sem",
        "ordag.model.refit",
        "ordag.total_effects",
        "ordag.model.effects",
        "ordag.assess.causes",
        "ordag.model.identifiability",
        "ordag.model.simulate",
    ],
    "Decisions": [
        "ordag.decisions.testing",
        "ordag.decisions.tested_graph",
        "ordag.decisions.adjusting",
        "ordag.graph.adjustment",
        "ordag.decisions.intervening",
        "ordag.decisions.changing",
        "ordag.decisions.explaining",
        "ordag.decisions.in_time",
        "ordag.decisions.joint_effects",
        "ordag.decisions.possible_effects",
    ],
    "Data": ["ordag.data.moments"],
    "To extend": ["ordag.order", "ordag.order.ordering", "ordag.parents.row_tests"],
    "Errors": ["ordag.errors"],
}
"""The modules with a page in the reference: those that hold a public name, and what those give back."""

SHIM = "https://unpkg.com/iframe-worker/shim"


def public_names() -> dict[str, str]:
    """Every name that `import ordag` brings, with the module that holds it."""
    names = (name for name in ordag.__all__ if name != "__version__")
    return {name: getattr(ordag, name).__module__ for name in names}


def reference() -> dict[str, str]:
    """The pages of the reference: one with all public names, and one for every module."""
    pages = {}
    for module in (module for part in PARTS.values() for module in part):
        pages[f"reference/{module}.md"] = f"# {module}\n\n::: {module}\n"
    return {"reference/ordag.md": _overview(), **pages}


def _overview() -> str:
    lines = [
        "# ordag",
        "",
        "What `import ordag` brings. The pages have the names of the modules; what is found there beside these names is what they"
        " give back.",
    ]
    homes = public_names()
    for part, modules in PARTS.items():
        held = [(name, home) for home in modules for name in homes if homes[name] == home]
        if held:
            lines += ["", f"## {part}", "", "| name | what it is |", "|---|---|"]
            lines += [f"| [`ordag.{name}`]({home}.md#{home}.{name}) | {_first_sentence(name)} |" for name, home in held]
    return "\n".join([*lines, ""])


def _first_sentence(name: str) -> str:
    text = (getattr(ordag, name).__doc__ or "").strip().partition("\n\n")[0]
    return re.split(r"(?<=[.:])\s", " ".join(text.split()))[0].rstrip(".:").replace("|", "\\|") + "."


def moved(text: str) -> str:
    """A page from the root as it stands among the pages of docs/."""
    return (
        text.replace("](docs/", "](")
        .replace("](CONTRIBUTING.md", "](contributing.md")
        .replace("](CHANGELOG.md", "](changelog.md")
    )


def write_pages() -> Path:
    """Everything that the generator reads, in build/; the path of its configuration."""
    import yaml

    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    made = reference()
    for name in ("CHANGELOG", "CONTRIBUTING"):
        made[f"{name.lower()}.md"] = moved((ROOT / f"{name}.md").read_text(encoding="utf-8"))
    for page in PAGES.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(
            re.sub(r"^( *)```python\n(?=\s*>>> )", r"\1```pycon\n", text, flags=re.MULTILINE), encoding="utf-8"
        )
    for path, text in made.items():
        (PAGES / path).parent.mkdir(exist_ok=True)
        (PAGES / path).write_text(text, encoding="utf-8")
    settings: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings |= {"docs_dir": "pages", "site_dir": "site"}
    python = next(one["mkdocstrings"] for one in settings["plugins"] if isinstance(one, dict))["handlers"]["python"]
    python["paths"] = [str(ROOT / "src")]
    python["options"]["extensions"] = [{f"{ROOT / 'tools' / 'docstrings.py'}": {}}]
    chapters = next(chapter["Reference"] for chapter in settings["nav"] if "Reference" in chapter)
    chapters[1:1] = [
        {part: [{module: f"reference/{module}.md"} for module in modules]} for part, modules in PARTS.items()
    ]
    written = PAGES.parent / "mkdocs.yml"
    written.write_text(yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return written


def keep_from_network(site: Path) -> None:
    """The script that lets the search work from disk is our own."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        here = "../" * (len(path.relative_to(site).parts) - 1)
        path.write_text(text.replace(SHIM, f"{here}worker.js"), encoding="utf-8")


class _Page(HTMLParser):
    """What a page of the site has to be pointed at, what it points at, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.navigation: list[str] = []
        self.depth = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.names |= {found[name] for name in ("id", "name") if name in found}
        self.depth += tag == "nav"
        if tag == "a" and "href" in found:
            (self.navigation if self.depth else self.links).append(found["href"])
        elif tag in ("img", "script", "iframe", "source") and "src" in found:
            self.loads.append(found["src"])
        elif tag == "link" and "href" in found and found.get("rel") != "canonical":
            self.loads.append(found["href"])

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "nav"


def problems(site: Path) -> Iterator[str]:
    """What is wrong with a site: links that lead nowhere, pages that no navigation leads to, and what comes from elsewhere."""
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    led_to = {(site / "404.html").resolve()}
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in page.loads:
            if urlsplit(link).netloc:
                yield f"{path.relative_to(site)}: {link} is loaded from the network"
        for link in [*page.links, *page.navigation, *page.loads]:
            if not urlsplit(link).scheme and not urlsplit(link).netloc:
                file, anchor = urldefrag(link)
                target = (path.parent / unquote(file)).resolve() if file else path
                target = target / "index.html" if target.is_dir() else target
                if link in page.navigation:
                    led_to.add(target)
                if not target.exists():
                    yield f"{path.relative_to(site)}: {link} leads nowhere"
                elif anchor and target in pages and unquote(anchor) not in pages[target].names:
                    yield f"{path.relative_to(site)}: {link} has no such place"
    for path in pages.keys() - led_to:
        yield f"{path.relative_to(site)}: no navigation leads here"
    for style in site.rglob("*.css"):
        for link in re.findall(r"url\(\s*[\"']?(https?:[^)\"']*)", style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)}: {link} is loaded from the network"


def main() -> None:
    settings = write_pages()
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", str(settings)],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
    )
    if built.returncode:
        sys.exit("The documentation could not be built: see above.")
    keep_from_network((PAGES.parent / "site").resolve())
    found = sorted(problems((PAGES.parent / "site").resolve()))
    if found:
        sys.exit("\n".join([*found, f"{len(found)} problems in the site."]))
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(PAGES.parent / "site", SITE)
    print(f"{len(list(SITE.rglob('*.html')))} pages in {SITE.name}/: open {SITE.name}/index.html")


if __name__ == "__main__":
    main()
