"""Compile functions of numbers and arrays with numba, where it is installed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and keep the machine code on disk where there is a place for it.

    With ORDAG_COMPILED=0, and without numba, return the function as it stands.
    """
    return _with_numba(function, cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


def inlined(function: Function) -> Function:
    """Compile a function as a part of every compiled function that calls it: each call is one more copy."""
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
    """Whether `compiled` gave machine code, rather than the function as it stands."""
    return hasattr(function, "py_func")


def will_compile(function: Any) -> bool:
    """Whether the first call takes the time to compile, because nothing is kept from an earlier process."""
    if not is_compiled(function) or function.signatures:
        return False
    folder, code = function.stats.cache_path, function.py_func.__code__
    return folder is None or not any(Path(folder).glob(f"{Path(code.co_filename).stem}.{code.co_name}-*.nbi"))
