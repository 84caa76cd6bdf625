"""Files of knowledge: plain text, YAML or those of Tetrad, with errors that name the line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from ordag.common.checks import short
from ordag.common.words import joined
from ordag.errors import SettingError
from ordag.knowledge.rules import KEYS, Contradiction, Entry, check_rules
from ordag.knowledge.tetrad import TetradFaultError, is_tetrad, tetrad_items

HEADING = re.compile(r"\s*([^\W\d]\w*)\s*:")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
MARK = re.compile(r"->|[→,|]")
BARE = re.compile(r'(?:(?!->|\s#)[^,|"→])+')
PLAIN = re.compile(r'(?!.*(?:->|[,|"→:#]))\S(?:.*\S)?')

LARGEST, LARGEST_YAML = 2**26, 2**20
"""Bytes of a file at most. PyYAML takes a minute for ten million."""

DEEPEST = 8
"""Nested lists in a YAML file at most; knowledge needs three."""


class Token(NamedTuple):
    """A name, or one of the marks → , |"""

    text: str
    is_name: bool


class FaultError(SettingError):
    """A syntax error, before its line is added."""


def read_entries(path: str | PathLike[str]) -> Mapping[str, Any]:
    """Read the entries of a file: YAML if its name ends in .yaml or .yml, else text."""
    if not isinstance(path, str | PathLike):
        raise SettingError(f"knowledge={short(path)}: give the path of a file.")
    where = fspath(path)
    try:
        with Path(where).open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise SettingError(f"The knowledge file {where} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:  # a zero byte, or half a surrogate pair
        raise SettingError(f"knowledge={short(where)} is no path of a file: {error}.") from error
    return entries_of(content, where)


def entries_of(content: bytes, where: str) -> Mapping[str, Any]:
    """Read the entries from the bytes of a file, by the ending of its name."""
    is_yaml = where.lower().endswith((".yaml", ".yml"))
    most = LARGEST_YAML if is_yaml else LARGEST
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingError(f"The knowledge file {where} is not UTF-8 text (byte {error.start}).") from error
    if len(content) > most:
        remedy = "write it as plain text, in a file with another ending." if is_yaml else "is it the right file?"
        raise SettingError(f"The knowledge file {where} is larger than {most >> 20} MB: {remedy}")
    return _yaml(text, where) if is_yaml else parsed_entries(text, where)


def parsed_entries(text: str, source: str) -> dict[str, list[Any]]:
    """Read the entries from text and check them for contradictions; `source` is the file's name in errors."""
    if not isinstance(text, str):
        raise SettingError(f"{short(text)} is not text, so there is no knowledge in it.")
    entries: dict[str, list[Any]] = {key: [] for key in KEYS}
    lines: dict[Entry, list[int]] = {}
    try:
        for number, key, item in tetrad_items(text) if is_tetrad(text) else _items(text):
            entries[key].append(item)
            for name in item if key == "tiers" else [item]:
                lines.setdefault((key, name), []).append(number)
    except (FaultError, TetradFaultError) as fault:
        raise SettingError(f"{source}, {fault}.") from None
    try:
        check_rules(**entries)
    except Contradiction as clash:
        numbers = sorted({number for entry in clash.entries for number in lines.get(entry, ())})
        word = "line" if len(numbers) == 1 else "lines"
        raise SettingError(
            f"{source}, {word} {joined([str(number) for number in numbers], len(numbers))}: {clash}"
        ) from None
    return entries


def _items(text: str) -> Iterator[tuple[int, str, Any]]:
    """Yield the number of the line, key and value of every entry."""
    key: str | None = None
    for number, whole in enumerate(text.split("\n"), 1):
        try:
            heading = HEADING.match(whole)
            if heading:
                key = _key(heading[1])
            rest = whole[heading.end() :] if heading else whole
            tokens = list(_tokens(rest))
            if tokens and key is None:
                raise FaultError(f"begin with one of {', '.join(KEYS)} and a colon, as in 'roots: age'")
            for item in _grouped(key, tokens) if key is not None and tokens else []:
                yield number, str(key), item
        except FaultError as fault:
            raise FaultError(f"line {number}: {fault}") from None


def parsed_value(key: str, value: Any) -> Any:
    """Return the value of an entry with text, whole or in a list, parsed as in a file; other values are unchanged."""
    try:
        if isinstance(value, str):
            return [item for line in value.split("\n") for item in _grouped(key, list(_tokens(line)))]
        if key in ("roots", "sinks") or not isinstance(value, list | tuple):
            return value
        pieces = [_grouped(key, list(_tokens(item))) if isinstance(item, str) else [item] for item in value]
        return [item for piece in pieces for item in piece]
    except FaultError as fault:
        raise SettingError(f"The entry {key!r} of the knowledge: {fault}.") from None


def written(entries: Mapping[str, Any]) -> str:
    """Write the entries as text: a line each for tiers, roots and sinks, and a line for every arrow."""
    lines = []
    for key in KEYS:
        values = entries.get(key, ())
        if key in ("required", "forbidden"):
            lines += [f"{key}: {_written(source)} -> {_written(target)}" for source, target in values]
        elif values:
            groups = values if key == "tiers" else [values]
            lines.append(f"{key}: " + " | ".join(", ".join(map(_written, group)) for group in groups))
    return "".join(line + "\n" for line in lines)


def _written(name: str) -> str:
    return name if PLAIN.fullmatch(name) and name.isprintable() else json.dumps(name)


def _key(word: str) -> str:
    if word.lower() in KEYS:
        return word.lower()
    raise FaultError(f"{word!r} is not known: use {', '.join(KEYS)}; a name with a colon goes in double quotes")


def _tokens(line: str) -> Iterator[Token]:
    """Yield the names and marks of a line, up to a comment: # at its beginning or after a space, outside quotes."""
    start = 0
    while start < len(line):
        if line[start].isspace():
            start += 1
            continue
        if line[start] == "#" and (start == 0 or line[start - 1].isspace()):
            return
        if line[start] == '"':
            match = QUOTED.match(line, start)
            if match is None:
                raise FaultError(f"a double quote is not closed: {line[start:].strip()}")
            yield Token(_unquoted(match[0]), True)
        elif match := MARK.match(line, start):
            yield Token("→" if match[0] == "->" else match[0], False)
        else:
            match = BARE.match(line, start)
            assert match is not None
            yield Token(match[0].strip(), True)
        start = match.end()


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except json.JSONDecodeError as error:
        raise FaultError(f"{text} cannot be read as quoted text: {error.msg}") from None


def _grouped(key: str, tokens: list[Token]) -> list[Any]:
    """Return the tiers, arrows, or names in the tokens of one line."""
    if key == "tiers":
        tiers = [tuple(_separated(part, ",")) for part in _split(tokens, "|")]
        if () in tiers:
            raise FaultError("there is a tier without names: put names between |")
        return tiers
    if key in ("roots", "sinks"):
        return list(_separated(tokens, ","))
    found = []
    for part in _split(tokens, ","):
        if [token.is_name for token in part] != [True, False, True] or part[1].text != "→":
            words = " ".join(token.text for token in part)
            raise FaultError(f"{words!r} is no arrow: write source -> target, with commas between arrows")
        found.append((part[0].text, part[2].text))
    return found


def _separated(tokens: list[Token], mark: str) -> Iterator[str]:
    for part in _split(tokens, mark):
        if len(part) != 1 or not part[0].is_name:
            words = " ".join(token.text for token in part)
            raise FaultError(f"a name is missing, or there is more than one in {words!r}: put commas between names")
        yield part[0].text


def _split(tokens: list[Token], mark: str) -> list[list[Token]]:
    """Split the tokens at the marks; a mark at the end of a line is ignored."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token == (mark, False):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts[-1] else parts[:-1]


def _yaml(text: str, where: str) -> Mapping[str, Any]:
    try:
        yaml = import_module("yaml")
    except ImportError:
        raise SettingError(
            f"{where} is YAML, for which PyYAML must be installed; or write the knowledge as plain text, in a file with "
            "another ending."
        ) from None
    try:
        entries = yaml.load(text, _strict_loader(yaml, where))
    except SettingError:
        raise
    except (yaml.YAMLError, ValueError) as error:
        raise SettingError(f"{where} cannot be read as YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(entries, Mapping):
        raise SettingError(f"{where} holds no entries: give some of {', '.join(KEYS)}.")
    return entries


def _strict_loader(yaml: Any, where: str) -> Any:
    """Return PyYAML's safe loader, made to refuse what would be silently lost or grow without bound: a repeated key,
    aliases, and deep nesting. Names such as no, 007 and 2024-05-01 stay as written."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        depth = 0
        yaml_implicit_resolvers = {  # noqa: RUF012
            first: [(tag, pattern) for tag, pattern in resolvers if tag.endswith(":null")]
            for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                raise SettingError(f"{where}, line {line}: *{event.anchor} stands for an earlier part; write that out.")
            if self.depth == DEEPEST:
                raise SettingError(
                    f"{where}, line {line}: lists are nested more than {DEEPEST} deep; knowledge needs 3."
                )
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            lines: dict[str, int] = {}
            for key, _ in node.value:
                line, word = key.start_mark.line + 1, str(key.value)
                if word in lines:
                    both = f"line {line}" if line == lines[word] else f"lines {lines[word]} and {line}"
                    raise SettingError(f"{where}, {both}: the key {word!r} stands twice; make one entry of the two.")
                lines[word] = line
            return super().construct_mapping(node, deep)

    return Loader
