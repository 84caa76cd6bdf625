"""Write docs/settings.md and src/ordag/keywords.py from the settings classes: `make settings`. A test compares them."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from ordag.data.reading import Reading
from ordag.learners.methods import METHODS
from ordag.learners.settings import MethodSettings
from ordag.settings import Settings, declared

ROOT = Path(__file__).parent.parent

HOMES = {
    "Any": "typing",
    "Dag": "ordag.graph.dag",
    "Groups": "ordag.learners.pooled.method",
    "Knowledge": "ordag.knowledge.knowledge",
    "Mapping": "collections.abc",
    "PathLike": "os",
    "Penalty": "ordag.learners.prices",
    "Seed": "ordag.checks",
    "Sequence": "collections.abc",
    "Test": "ordag.parents.tests",
}
"""Where the names in the types of settings come from."""

BOOTSTRAP = {"kind": "str", "level": "float", "workers": "int | None"}
"""What `learn` takes beside settings where it is to learn again from resamples."""


def page() -> str:
    """docs/settings.md."""
    every = {field.name for field in fields(MethodSettings)}
    parts = [
        "# Settings\n",
        "Every setting of every method, as `ordag.learn`, `ordag.bootstrap`, `ordag.compare` and the estimators take it "
        "(these call `seed` `random_state`), and as it is typed on the command line. A setting is checked before any row is read.\n",
    ]
    for name, method in METHODS.items():
        text = " ".join((inspect.getdoc(method.settings) or "").split())
        parts += [f"## {name}\n", f"{text}\n", _table(method.settings, every)]
    parts += ["## All methods\n", _table(MethodSettings, set())]
    parts += ["## Reading a table\n", _table(Reading, set())]
    return "\n".join(parts)


def _table(settings: type[Settings], without: set[str]) -> str:
    defaults = {field.name: field.default for field in fields(settings)}
    rows = ["| setting | default | command line | what it is |", "|---|---|---|---|"]
    for name, known in declared(settings).items():
        if name not in without:
            option = f"`--{name.replace('_', '-')}`" if known.typed is not None else "–"
            choices = f" ({', '.join(f'`{word}`' for word in known.choices)})" if known.choices else ""
            rows.append(f"| `{name}` | `{_written(defaults[name])}` | {option} | {known.help}{choices} |")
    return "\n".join([*rows, ""])


def _written(value: Any) -> str:
    return repr(value).replace("'", '"')


def keywords() -> str:
    """src/ordag/keywords.py."""
    types: dict[str, str] = {}
    for settings in (*(method.settings for method in METHODS.values()), Reading):
        types |= {field.name: str(field.type) for field in fields(settings) if field.name not in ("columns", "missing")}
    names = sorted({name for written in types.values() for name in re.findall(r"\b[A-Z]\w+", written)} - {"None"})
    modules = sorted({HOMES[name] for name in names}, key=lambda module: (module.startswith("ordag"), module))
    imports = [f"from {m} import {', '.join(name for name in names if HOMES[name] == m)}" for m in modules]
    first = sum(not module.startswith("ordag") for module in modules)
    lines = [
        '"""The keywords that `learn` and its kin take, for editors. Made by `make settings`: do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        *imports[:first],
        "from typing import TypedDict" if "typing" not in modules else "",
        "",
        *imports[first:],
        "",
        "",
        "class Keywords(TypedDict, total=False):",
        '    """All settings of all methods, and of reading a table."""',
        "",
        *(f"    {name}: {written}" for name, written in types.items()),
        "",
    ]
    text = "\n".join(lines)
    return text.replace("from typing import Any\n\n", "from typing import Any, TypedDict\n")


def bootstrap_keywords() -> str:
    return ""


def main() -> None:
    (ROOT / "docs" / "settings.md").write_text(page(), encoding="utf-8")
    (ROOT / "src" / "ordag" / "keywords.py").write_text(keywords(), encoding="utf-8")


if __name__ == "__main__":
    main()
