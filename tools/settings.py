"""Write docs/settings.md and src/ordag/keywords.py from the settings classes: `make settings`. A test compares them."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from ordag.common.settings import Settings, declared
from ordag.data.reading import COLUMN_LISTS, Reading
from ordag.learners.methods import METHODS
from ordag.learners.settings import MethodSettings

ROOT = Path(__file__).parent.parent

HOMES = {
    "Any": "typing",
    "Dag": "ordag.graph.dag",
    "Groups": "ordag.learners.pooled.method",
    "KnowledgeLike": "ordag.knowledge.knowledge",
    "Mapping": "collections.abc",
    "PathLike": "os",
    "RowTest": "ordag.parents.row_tests",
    "Penalty": "ordag.learners.settings",
    "Phase": "ordag.learners.ges.operators",
    "Seed": "ordag.common.checks",
    "Sequence": "collections.abc",
    "Test": "ordag.parents.tests",
    "VarianceEstimator": "ordag.order",
}
"""Where the names in the types of settings come from."""

OTHERWISE = {"transform": "--transform", "header": "--no-header", "role": "--role"} | {
    name: f"--{name}" for name in COLUMN_LISTS
}
"""Options that the command line words in its own way."""

EXPLICIT = ("columns", "transform", "missing")
"""What `learn` names itself."""

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
    bar = "\\|"
    rows = ["| setting | default | command line | what it is |", "|---|---|---|---|"]
    for name, known in declared(settings).items():
        if name not in without:
            typed = f"--{name.replace('_', '-')}" if known.typed is not None else OTHERWISE.get(name)
            option = "–" if typed is None else f"`{typed}`"
            choices = f" ({', '.join(f'`{word}`' for word in known.choices)})" if known.choices else ""
            rows.append(
                f"| `{name}` | `{_written(defaults[name])}` | {option} | {known.help.replace('|', bar)}{choices} |"
            )
    return "\n".join([*rows, ""])


def _written(value: Any) -> str:
    return repr(value).replace("'", '"')


def keywords() -> str:
    """src/ordag/keywords.py."""
    types: dict[str, str] = {}
    own = {name: _types(method.settings) for name, method in METHODS.items()}
    for written in (*own.values(), _types(Reading)):
        for name in (one for one in written if one not in EXPLICIT):
            types[name] = " | ".join(
                dict.fromkeys([*types.get(name, written[name]).split(" | "), *written[name].split(" | ")])
            )
    again = {"seed": types.pop("seed"), **BOOTSTRAP}
    classes = [
        _class(
            "BootstrapKeywords", "TypedDict, total=False", "The settings of all methods, and of reading a table.", types
        ),
        _class(
            "Keywords",
            "BootstrapKeywords, total=False",
            "These, and the settings of learning again from resamples.",
            again,
        ),
    ]
    for name, written in own.items():
        told = {"random_state" if setting == "seed" else setting: one for setting, one in written.items()}
        title = METHODS[name].settings.__name__.removesuffix("Settings")
        classes.append(
            _class(f"{title}Keywords", "TypedDict, total=False", f"The settings of the estimator of {name}.", told)
        )
    names = {name for one in classes for line in one[2:] for name in re.findall(r"\b[A-Z]\w+", line)} - {"None"}
    imports: dict[str, list[str]] = {"typing": ["TypedDict"]}
    for name in sorted(names):
        imports.setdefault(HOMES[name], []).append(name)
    lines = {home: f"from {home} import {', '.join(sorted(found))}" for home, found in sorted(imports.items())}
    return "\n".join(
        [
            '"""The keywords of the calls and estimators, for editors. Made from the settings by `make settings`: do not edit."""\n',
            "from __future__ import annotations\n",
            *(line for home, line in lines.items() if not home.startswith("ordag")),
            "",
            *(line for home, line in lines.items() if home.startswith("ordag")),
            *("\n".join(["\n", *one]) for one in classes),
            "",
        ]
    )


def _types(settings: type[Settings]) -> dict[str, str]:
    return {field.name: str(field.type) for field in fields(settings)}


def _class(name: str, bases: str, about: str, types: dict[str, str]) -> list[str]:
    body = [f"    {setting}: {written}" for setting, written in types.items()]
    return [f"class {name}({bases}):", f'    """{about}"""\n', *body]


def main() -> None:
    (ROOT / "docs" / "settings.md").write_text(page(), encoding="utf-8")
    (ROOT / "src" / "ordag" / "keywords.py").write_text(keywords(), encoding="utf-8")


if __name__ == "__main__":
    main()
