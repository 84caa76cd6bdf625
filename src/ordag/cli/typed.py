"""A sentence about settings in, the same sentence with options as they are typed out.

The library speaks of `min_effect=2` and of `correction='bh' (--correction bh)`; on the command line the first is
`--min-effect 2`, and of the second only the option is left. Which parameter is which option, the commands say.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Mapping

import click

from ordag.errors import OrdagError
from ordag.words import harmless

_VALUE = r"""(?:'[^']*'|"[^"]*"|\[(?:'[^']*'|"[^"]*"|[^\]'"])*\]|\([^)]*\)|…|[^\s,;:()…]*[^\s,;:()….])"""
_BOTH = re.compile(rf"\b\w+={_VALUE}(?: \((--.+?) on the command line\)| \((--[^()]+)\)|, (--[\w-]+))")


def options_of(commands: Iterable[click.Command]) -> dict[str, str]:
    """The long option of every parameter that has one."""
    return {
        parameter.name: max(parameter.opts, key=len)
        for command in commands
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.name
    }


def typed(error: OrdagError, options: Mapping[str, str]) -> str:
    """What the error says, to someone who types options."""
    text = _BOTH.sub(lambda both: both[1] or both[2] or both[3], harmless(str(error)))
    text = re.sub(rf"\b({'|'.join(options)})=({_VALUE})", lambda one: _option(options[one[1]], one[2]), text)
    alone = [name for name in options if "_" in name or name in error.settings]
    if not alone:
        return text
    return re.sub(rf"(?<![\w-])({'|'.join(alone)})(?![\w=-])", lambda name: options[name[1]], text)


def _option(option: str, written: str) -> str:
    """`--correction bh` for what Python writes as 'bh'."""
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        value = written
    if value is True or value == "…":
        return option
    items = value if isinstance(value, list | tuple) else [value]
    return f"{option} {shlex.quote(','.join(map(str, items)))}"
