"""Compile functions of numbers and arrays with numba, where it is installed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function on its first call, and cache the machine code on disk if a folder can be written to.

    With ORDAG_COMPILED=0, and without numba, return the function unchanged. The function makes no arrays, only views of those that it is
    given: counting references to views would take 40 % of the time of a search with 20 variables.
    """
    return allocating(function, _nrt=False)


def allocating(function: Function, **options: Any) -> Function:
    """Compile a function that makes arrays, as `compiled` does."""
    return _with_numba(
        function, cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, **options
    )


def inlined(function: Function) -> Function:
    """Compile a function inline: every call in a compiled function is a copy."""
    return _with_numba(function, inline="always")


def _with_numba(function: Function, **options: Any) -> Function:
    if os.environ.get("ORDAG_COMPILED") == "0":
        return function
    try:
        import numba
    except ImportError:  # not installed, or not for this Python
        return function
    try:
        return numba.njit(function, **options)  # type: ignore[no-any-return, unused-ignore]
    except RuntimeError:  # no folder can be written to
        return numba.njit(function, **(options | {"cache": False}))  # type: ignore[no-any-return, unused-ignore]


def is_compiled(function: Callable[..., Any]) -> bool:
    """Return whether a function is compiled by numba."""
    return hasattr(function, "py_func")


def will_compile(function: Any) -> bool:
    """Return whether the first call has to compile, because no earlier process has cached the machine code."""
    if not is_compiled(function) or function.signatures:
        return False
    folder, code = function.stats.cache_path, function.py_func.__code__
    return folder is None or not any(Path(folder).glob(f"{Path(code.co_filename).stem}.{code.co_name}-*.nbi"))
