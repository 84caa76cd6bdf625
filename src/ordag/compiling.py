"""`compiled`: a function of numbers and arrays as machine code, where numba is there; as it stands where it is not."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function compiled by numba, when it is first called; what was compiled is kept on disk where there is a place for it.

    With ORDAG_COMPILED=0, and without numba, the function itself.
    """
    if os.environ.get("ORDAG_COMPILED") == "0":
        return function
    try:
        import numba
    except ImportError:  # not installed, or not for this Python
        return function
    try:
        return numba.njit(function, cache=True, nogil=True)  # type: ignore[no-any-return, unused-ignore]
    except RuntimeError:  # no folder can be written to
        return numba.njit(function, nogil=True)  # type: ignore[no-any-return, unused-ignore]
